"""The first query in a project indexes it. Elsewhere, or if this is switched off, an error names the command."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from codesearch.installation import how_to_add
from tests.command import Command
from tests.integration.test_terminal import on_terminal, plain

LINE = r"indexed {root}: 13 documents in \d+\.\d s\n"


@pytest.fixture
def project(tiny_repo: Path) -> Path:
    (tiny_repo / ".git").mkdir()
    return tiny_repo


@pytest.fixture
def ask(project: Path, command: Command, tmp_path: Path) -> Command:
    """The command in a folder of a project that is not indexed."""
    return Command(project / "python", command.home, {"CODESEARCH_AUTO_INDEX": "", "HOME": str(tmp_path)})


def test_the_first_query_indexes_the_project_and_answers_and_the_next_only_answers(ask, project, tiny_bundle):
    done = ask("query", "push", "-k", "2", "--vimgrep", "--model", tiny_bundle)
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        "convert.py:17:1:def push(self, item)",
        "../ruby/queue.rb:4:1:def push(element, priority)",
    ]
    assert re.fullmatch(LINE.format(root=project), done.stderr)
    again = ask("query", "push", "-k", "2", "--vimgrep")
    assert (again.returncode, again.stdout, again.stderr) == (0, done.stdout, "")


def test_json_on_stdout_is_valid_while_indexing(ask, tiny_bundle):
    done = ask("query", "push", "--json", "--model", tiny_bundle)
    assert json.loads(done.stdout)["documents"] == 13 and done.stderr.startswith("indexed ")


def test_similar_indexes_the_project_too(ask, project, tiny_bundle):
    done = ask("similar", "convert.py:5", "-k", "1", "--vimgrep", "--model", tiny_bundle)
    assert done.stdout == "convert.py:9:1:def string_to_int(text: str) -> int\n"
    assert re.fullmatch(LINE.format(root=project), done.stderr)


def test_a_terminal_shows_the_progress(ask, project, tiny_bundle):
    code, out, err = on_terminal(
        ask, "query", "push", "--vimgrep", "--model", tiny_bundle, stdout=False, stderr=True
    )
    assert code == 0 and out.startswith("convert.py:17:1:")
    assert re.search(r"tiny: (reading|writing|syncing)", plain(err))
    assert re.search(LINE.format(root=project).removesuffix(r"\n"), plain(err))


@pytest.mark.parametrize(("arguments", "variable"), [(("--no-index",), ""), ((), "no")])
def test_an_option_or_variable_prevents_indexing(ask, home, arguments, variable):
    done = replace(ask, variables={**ask.variables, "CODESEARCH_AUTO_INDEX": variable})(
        "query", "push", *arguments
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"error: nothing is indexed in {home}: run `codesearch index FOLDER` first\n"
    assert not home.exists()


def test_a_language_without_a_parser_is_named(ask, project, tiny_bundle):
    (project / "a.ts").write_text("function f() {}\n")
    hidden = project.parent / "hidden" / "sitecustomize.py"
    hidden.parent.mkdir()
    hidden.write_text(
        "import importlib.util as u\n"
        "find = u.find_spec\n"
        "u.find_spec = lambda name, *rest: None if name == 'tree_sitter_typescript' else find(name, *rest)\n"
    )
    path = f"{hidden.parent}:{ask.environment['PYTHONPATH']}"
    done = replace(ask, variables={**ask.variables, "PYTHONPATH": path})(
        "query", "push", "--model", tiny_bundle
    )
    assert done.stderr.splitlines()[1:] == [
        "warning: 1 typescript file cut into blocks: no parser installed: "
        f"{how_to_add('tree-sitter-typescript')}"
    ]
