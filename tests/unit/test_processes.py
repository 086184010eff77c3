"""Other processes start in one module, and no program or module comes from the working directory."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from codesearch import processes
from codesearch.agents.clients import CLIENTS, entry_of
from codesearch.processes import find_program, python_command, run_git, start_python
from tests.command import TIMEOUT

PACKAGE = Path(__file__).parents[2] / "codesearch"
STARTS = {
    *("subprocess", "multiprocessing", "pty", "webbrowser", "runpy", "ProcessPoolExecutor", "__import__"),
    *("create_subprocess_exec", "create_subprocess_shell", "subprocess_exec", "subprocess_shell"),
    *"os.system popen startfile fork forkpty posix_spawn posix_spawnp which executable".split(),
    *(
        f"{kind}{form}"
        for kind in ("exec", "spawn")
        for form in ("l", "le", "lp", "lpe", "v", "ve", "vp", "vpe")
    ),
}
"""Names of modules and functions that start a process, or find a program."""
# One prints a command, and the other reads files in a copy of its process. Neither looks for a program.
OTHERS = {"installation.py": {"subprocess", "executable"}, "search/exact.py": {"fork"}}


def names_in(path: Path) -> set[str]:
    """Return every name that the code of a file has: variables, attributes, and what it imports."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import | ast.ImportFrom):
            found.update(part for alias in node.names for part in alias.name.split("."))
            module = getattr(node, "module", None) or ""
            found.update([*module.split("."), *(f"{module}.{alias.name}" for alias in node.names)])
        elif isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.update([node.attr, ast.unparse(node)])
    return found


def test_only_one_module_starts_programs():
    files = [path for path in PACKAGE.rglob("*.py") if "sources" not in path.parts]
    assert len(files) > 100
    found = {path.relative_to(PACKAGE).as_posix(): names_in(path) & STARTS for path in files}
    assert found.pop("processes.py") == {"subprocess", "execve", "executable"}
    assert {name: starts for name, starts in found.items() if starts} == OTHERS


@pytest.fixture
def hostile(tmp_path, monkeypatch) -> Path:
    """Enter a folder with a program of each name that codesearch starts, and modules that Python would import."""
    monkeypatch.chdir(tmp_path)
    owned = f"import pathlib; pathlib.Path({str(tmp_path / 'owned')!r}).touch()\n"
    (tmp_path / "codesearch").mkdir()
    for name in ("codesearch/__init__.py", "codesearch/__main__.py", "typer.py", "numpy.py", "pickle.py"):
        (tmp_path / name).write_text(owned)
    for name in ("git", "less", "python", "codesearch.exe"):
        (tmp_path / name).write_text("#!/bin/sh\ntouch owned\n")
        (tmp_path / name).chmod(0o755)
    return tmp_path


@pytest.mark.parametrize("path", ["", ".", "bin:.", "{git}:.", ".:{git}"])
def test_a_program_is_never_found_in_the_working_directory(hostile, monkeypatch, path):
    git = os.path.dirname(find_program("git") or "")
    monkeypatch.setenv("PATH", path.format(git=git))
    assert find_program("git") == (os.path.join(git, "git") if "{git}" in path else None)
    assert [find_program(name) for name in ("./less", os.path.join("bin", "..", "less"))] == [None, None]
    assert find_program(str(hostile / "less")) == str(hostile / "less")


def test_git_that_is_only_in_the_working_directory_is_not_installed(hostile, monkeypatch):
    monkeypatch.setenv("PATH", ".")
    with pytest.raises(FileNotFoundError, match="git is not installed"):
        run_git(["--version"], str(hostile), os.environ, timeout_s=10)
    assert not (hostile / "owned").exists()


@pytest.mark.parametrize("python_path", ["", ".", os.pathsep, f".{os.pathsep}/nowhere"])
def test_python_imports_nothing_from_the_working_directory(hostile, monkeypatch, python_path):
    monkeypatch.setenv("PYTHONPATH", python_path)
    process = start_python("codesearch.build.worker")
    assert process.communicate(b"", timeout=TIMEOUT) == (b"", None)
    assert process.returncode == 0
    assert not (hostile / "owned").exists()


@pytest.mark.skipif(os.name != "posix", reason="other systems name files in UTF-8")
def test_a_command_in_a_locale_without_utf8_imports_nothing_from_the_working_directory(hostile):
    script = "import sys; from codesearch.cli.entry import run; sys.argv[1:] = ['--version']; run()"
    unset = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    legacy = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    package = f"import sys; sys.path.insert(0, {str(PACKAGE.parent)!r}); "
    done = subprocess.run(
        [sys.executable, "-P", "-c", package + script], env=unset | legacy, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr, done.stdout.split()[0]) == (0, "", "codesearch")
    assert not (hostile / "owned").exists()


def test_python_m_codesearch_imports_nothing_else_from_the_working_directory(hostile):
    for path in (hostile / "codesearch").iterdir():
        path.unlink()
    (hostile / "codesearch").rmdir()
    environment = os.environ | {"PYTHONPATH": str(PACKAGE.parent)}
    done = subprocess.run([sys.executable, "-m", "codesearch", "--version"], env=environment, check=False)
    assert done.returncode == 0
    assert not (hostile / "owned").exists()


@pytest.mark.parametrize("path", ["", ".", "{project}"])
def test_clients_get_an_absolute_command_that_does_not_depend_on_the_project(hostile, monkeypatch, path):
    monkeypatch.setattr("sysconfig.get_path", lambda name: "/nowhere")
    monkeypatch.setenv("PATH", path.format(project=hostile / "bin"))
    entry = entry_of(CLIENTS["cursor"])
    assert [entry["command"], *entry["args"]] == python_command("codesearch", "mcp")
    assert os.path.isabs(entry["command"]) and entry["args"][0] == "-P"


@pytest.mark.parametrize(
    ("machine", "limit", "budget"),
    [
        (24_000_000_000, "max", 4_000_000_000),
        (8_000_000_000, "max", 2_000_000_000),
        (8_000_000_000, "2000000000", 500_000_000),
        (512_000_000, "max", 300_000_000),
    ],
)
def test_workers_have_a_quarter_of_the_memory_together(tmp_path, monkeypatch, machine, limit, budget):
    (tmp_path / "memory.max").write_text(f"{limit}\n")
    monkeypatch.setattr(processes, "LIMITS", (str(tmp_path / "memory.max"), str(tmp_path / "missing")))
    monkeypatch.setattr(
        processes.os, "sysconf", {"SC_PAGE_SIZE": 1, "SC_PHYS_PAGES": machine}.get, raising=False
    )
    assert processes.memory_budget_bytes() == budget
