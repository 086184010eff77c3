"""The recipes of docs/editors.md run in the editors themselves, with queries that a shell could misinterpret."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.command import ROOT, TIMEOUT, Command
from tests.conftest import index_by_engine, write_tree

PAGE = (ROOT / "docs/editors.md").read_text("utf-8")
QUERY = """push "an" item's 100% | $HOME `x` # top"""
HIT = "a b.py:4:1:def push(item)"
SOURCE = '"""A name with a space."""\n\ndef push(item):\n    """Put an item on top."""\n    return item\n'

pytestmark = pytest.mark.skipif(os.name == "nt", reason="replaces the command by a shell script")


def recipe(heading: str) -> str:
    """Return the first block of code below a heading of the page."""
    match = re.search(rf"^##+ {heading}\n.*?^```\w+\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    assert match, heading
    return match[1]


@pytest.fixture
def run(tmp_path, home, tiny_bundle):
    """Run a program in an indexed folder, with `codesearch` on its path."""
    folder = write_tree(tmp_path / "src", {"a b.py": SOURCE})
    index_by_engine(folder, home, tiny_bundle)
    command = Command(folder, home, {"CODESEARCH_MODE": "lexical"})
    script = write_tree(
        tmp_path / "bin",
        {"codesearch": f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m codesearch "$@"\n'},
    )
    (script / "codesearch").chmod(0o755)
    variables = {
        **command.environment,
        "PATH": f"{script}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(tmp_path),
    }

    def run(*words: object) -> subprocess.CompletedProcess[str]:
        if shutil.which(str(words[0])) is None and words[0] != "codesearch":
            pytest.skip(f"{words[0]} is not installed")
        return subprocess.run(
            list(map(str, words)),
            cwd=folder,
            env=variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )

    return run


# Vim lists notes of stderr too, such as that a busy machine had no time to look for changes: they lead nowhere.
WRITE = (
    "call writefile([json_encode(map(filter(getqflist(), 'v:val.valid'), "
    "'[bufname(v:val.bufnr), v:val.lnum, v:val.col, v:val.text]'))], '{}')"
)


def test_vim_lists_the_hits(run, tmp_path):
    (tmp_path / "vimrc").write_text(recipe("Vim"))
    (tmp_path / "typed").write_text(f"CodeSearch {QUERY}\n{WRITE.format(tmp_path / 'list')}\nqall!\n")
    done = run("vim", "-es", "-N", "-u", tmp_path / "vimrc", "-S", tmp_path / "typed")
    assert json.loads((tmp_path / "list").read_text()) == [["a b.py", 4, 1, "def push(item)"]], done


def test_neovim_lists_the_hits(run, tmp_path):
    (tmp_path / "init.lua").write_text(recipe("Neovim"))
    wait = "call wait(100000, {-> len(getqflist()) > 0})"
    (tmp_path / "typed").write_text(f"CodeSearch {QUERY}\n{wait}\n{WRITE.format(tmp_path / 'list')}\nqall!\n")
    done = run("nvim", "--headless", "-u", tmp_path / "init.lua", "-S", tmp_path / "typed")
    assert json.loads((tmp_path / "list").read_text()) == [["a b.py", 4, 1, "def push(item)"]], done


def test_neovim_shows_the_error(run, tmp_path):
    (tmp_path / "init.lua").write_text(recipe("Neovim"))
    said = tmp_path / "said"
    wait = "call wait(100000, {-> execute('messages') =~ 'no index covers'})"
    typed = (
        f"cd /\nCodeSearch x\n{wait}\ncall writefile([execute('messages'), winnr('$')], '{said}')\nqall!\n"
    )
    (tmp_path / "typed").write_text(typed)
    done = run("nvim", "--headless", "-u", tmp_path / "init.lua", "-S", tmp_path / "typed")
    assert "error: no index covers /" in said.read_text() and said.read_text().endswith("\n1\n"), done


OTHER = '''"""Another module."""


def push_all(items):
    """Put items on top."""
    return [push(1) for _ in items]
'''


def test_neovim_asks_the_language_server(run, tmp_path, home, tiny_bundle):
    pytest.importorskip("pygls")
    index_by_engine(write_tree(tmp_path / "src", {"c.py": OTHER}), home, tiny_bundle)
    shown = run("nvim", "--version").stdout
    is_old = int(re.search(r"NVIM v0\.(\d+)", shown)[1]) < 11
    heading = "Neovim 0.7 to 0.10 with the language server" if is_old else "Neovim with the language server"
    (tmp_path / "init.lua").write_text(recipe(heading))
    asking = Path(__file__).with_name("ask.lua").read_text("utf-8")
    (tmp_path / "ask.lua").write_text(asking.replace("LIST", str(tmp_path / "list")))
    done = run("nvim", "--headless", "-u", tmp_path / "init.lua", "-S", tmp_path / "ask.lua")
    answers = json.loads((tmp_path / "list").read_text())
    assert "error" not in answers, (answers, done)
    assert sorted(answers["project"]) == [
        ["a b.py", 3, 5, "[Function] push"],
        ["c.py", 4, 5, "[Function] push_all"],
    ]
    assert [line for _, line, *_ in answers["file"]] == [3]
    lines = [
        [one["range"]["start"]["line"] for one in answers[name]] for name in ("definition", "references")
    ]
    assert lines == [[2], [2, 8]]
    assert "Put an item on top." in answers["hover"]["contents"]["value"]


def test_eglot_asks_the_language_server(run, tmp_path):
    pytest.importorskip("pygls")
    typed = """
(find-file "a b.py")
(setq eglot-sync-connect t)
(apply #'eglot (eglot--guess-contact))
(search-forward "push")
(dolist (found `(,@(xref-backend-apropos 'eglot "put an item on top")
                 ,@(xref-backend-definitions 'eglot (xref-backend-identifier-at-point 'eglot))))
  (princ (format "%s:%d\\n" (xref-item-summary found) (xref-location-line (xref-item-location found)))))
"""
    (tmp_path / "init.el").write_text(recipe("Emacs with the language server") + typed)
    done = run("emacs", "--batch", "-q", "-f", "package-initialize", "-l", tmp_path / "init.el")
    if "eglot" in done.stderr and "No such file" in done.stderr:
        pytest.skip("eglot is not installed")
    assert done.stdout == 2 * "def push(item)::3\n", done


def test_emacs_visits_the_hit(run, tmp_path):
    typed = f"""
(let ((buffer (codesearch {json.dumps(QUERY)})))
  (while (get-buffer-process buffer) (accept-process-output nil 0.1))
  (with-current-buffer buffer
    (goto-char (point-min))
    (let ((visited (save-window-excursion (next-error 1) (current-buffer))))
      (with-current-buffer (get-file-buffer "a b.py")
        (princ (format "%s:%d" (file-name-nondirectory buffer-file-name) (line-number-at-pos)))))))
"""
    (tmp_path / "init.el").write_text(recipe("Emacs") + typed)
    done = run("emacs", "--batch", "-Q", "-l", tmp_path / "init.el")
    assert done.stdout.endswith("a b.py:4"), done


def test_fzf_gets_the_hits_and_the_preview_shows_the_code(run):
    text = recipe("fzf")
    listed = run(
        "bash", "-c", f'fzf() {{ command fzf "$@" --filter "push"; }}\n{text}cs {shlex.quote(QUERY)}'
    )
    if shutil.which("fzf") is None:
        pytest.skip("fzf is not installed")
    assert listed.stdout == f"{HIT}\n", listed
    path, line = HIT.split(":")[:2]
    command = re.search(r"--preview '(.*?)'", text)[1]
    shown = run("sh", "-c", command.replace("{1}", shlex.quote(path)).replace("{2}", f"'{line}'"))
    assert shown.stdout == '    """Put an item on top."""\n    return item\n'


def test_fzf_does_not_start_after_an_error(run):
    done = run("bash", "-c", f"fzf() {{ echo started; }}\n{recipe('fzf')}cd /; cs x")
    assert (done.returncode, done.stdout) == (2, "") and "error: no index covers /" in done.stderr


def test_the_task_of_vs_code_matches_real_output(run):
    (task,) = json.loads(recipe("VS Code"))["tasks"]
    words = [QUERY if word == "${input:query}" else word for word in task["args"]]
    pattern = task["problemMatcher"]["pattern"]
    (line,) = run("sh", "-c", shlex.join([task["command"], *words])).stdout.splitlines()
    found = re.search(pattern["regexp"], line)
    values = [found[pattern[name]] for name in ("file", "line", "column", "message")]
    assert values == ["a b.py", "4", "1", "def push(item)"]


def test_the_arguments_of_jetbrains_find_the_hit(run):
    arguments = re.search(r"the arguments\s`(.*?)`", PAGE)[1]
    assert (
        run("sh", "-c", "codesearch " + arguments.replace("$Prompt$", "put an item")).stdout
        == "a b.py:3:1:def push(item)\n"
    )


def test_completion_in_bash_completes_commands_options_and_values(run):
    typed = """
eval "$(codesearch --show-completion)"
for line in "codesearch qu" "codesearch similar --chan" "codesearch query --kind me" \
  "codesearch query --lang csh" "codesearch duplicates --same ren" \
  "codesearch read pu" "codesearch usages PU" "codesearch read nowhere"; do
  COMP_WORDS=($line); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  _codesearch_completion codesearch
  echo "${COMPREPLY[@]}"
done
"""
    done = run("bash", "-c", typed)
    assert done.stdout.splitlines() == [
        *("query", "--changed", "method", "csharp", "renamed"),
        *("push", "push", ""),
    ], done


def test_completion_of_names_speaks_the_forms_of_zsh_and_fish(run):
    asks = "_CODESEARCH_COMPLETE=complete_{} _TYPER_COMPLETE_ARGS='codesearch outline {}' {} codesearch"
    is_args, get_args = (f"_TYPER_COMPLETE_FISH_ACTION={action}" for action in ("is-args", "get-args"))
    zsh = run("sh", "-c", asks.format("zsh", "pu", ""))
    fish = run("sh", "-c", asks.format("fish", "pu", get_args))
    assert (zsh.stdout, fish.stdout) == ("_arguments '*: :((\"push\"))'\n", "push\n")
    assert run("sh", "-c", asks.format("fish", "pu", is_args)).stdout == ""
    assert run("sh", "-c", asks.format("zsh", "none", "")).stdout == "_files\n"


def test_completion_after_a_class_has_its_methods_and_none_of_a_deleted_file(tmp_path, home, tiny_bundle):
    method = "class {}:\n    def pop_{}(self):\n        return 1\n"
    folder = write_tree(
        tmp_path / "src", {f"{name}.py": method.format(name, name) for name in ("Stack", "Heap")}
    )
    command = Command(folder, home, {"CODESEARCH_HOME": str(home), "_CODESEARCH_COMPLETE": "complete_fish"})
    ask = {"_TYPER_COMPLETE_FISH_ACTION": "get-args"}

    def completed(word: str) -> list[str]:
        variables = {**command.variables, **ask, "_TYPER_COMPLETE_ARGS": f"codesearch read {word}"}
        return replace(command, variables=variables)().stdout.split()

    index_by_engine(folder, home, tiny_bundle)
    assert (completed("Stack.p"), completed("pop")) == (["Stack.pop_Stack"], ["pop_Heap", "pop_Stack"])
    (folder / "Heap.py").unlink()
    index_by_engine(folder, home, tiny_bundle)
    assert completed("pop") == ["pop_Stack"]
