"""Files that are not UTF-8 are found, shown and counted like others."""

import shutil
from pathlib import Path

import pytest

from codesearch import Scope, SearchRequest
from tests.command import Command
from tests.git import git, repository

CODE = (
    '# Zählt\ndef count_tickets():\n    """Größe der Schlange."""\n    return open_tickets(1)\n\n\nTAIL = 1\n'
)
WAYS = {
    "utf16": CODE.encode("utf-16"),
    "utf32": CODE.encode("utf-32"),
    "latin1": CODE.encode("latin-1"),
    "mac": CODE.replace("\n", "\r").encode(),
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    for name, content in WAYS.items():
        (root / f"{name}.py").write_bytes(content)
    return root


@pytest.fixture
def command(root: Path, home: Path) -> Command:
    return Command(root, home)


def test_definitions_text_usages_and_lines_are_those_of_the_text(command, engine, root):
    indexed = command("index", ".")
    assert indexed.stderr == ""
    for name in WAYS:
        shown = command("read", f"{name}.py::count_tickets").stdout
        assert shown.startswith(f"{name}.py:2-4  count_tickets") and "Größe der Schlange" in shown
        assert "7 | TAIL = 1" in command("read", f"{name}.py:7").stdout
    (hit,) = engine.session(Scope((root,))).search(SearchRequest("Größe der", fixed=True)).hits
    places = {f"{hit.path}:{hit.start_line}", *hit.copies}
    assert (places, hit.stale) == ({f"{name}.py:2" for name in WAYS}, False)
    usages = engine.session(Scope((root,))).usages("open_tickets")
    places = [(usage.path, usage.line, usage.column) for usage in usages.found.usages]
    assert sorted(places) == sorted((f"{name}.py", 4, 12) for name in WAYS)


def test_comments_end_where_a_carriage_return_ends_the_line(command, root):
    (root / "mac.py").unlink()
    (root / "mac.js").write_bytes(
        b"// Adds one.\rfunction add(n) {\r  return n + 1 // more\r}\rvar last = 2\r"
    )
    command.succeeds("index", ".")
    assert command("read", "mac.js::add").stdout.startswith("mac.js:2-4  add")


def test_a_portable_file_has_the_code(command, root, tmp_path):
    command.succeeds("index", ".")
    assert command("export", tmp_path / "x.csx", "--with-code").returncode == 0
    assert command("import", tmp_path / "x.csx", "--name", "x").returncode == 0
    found = command("query", "count tickets", "--root", "x", "--full", "--flat", "--path", "utf16.py")
    assert "Größe der Schlange" in found.stdout


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_revisions_and_histories_have_them_too(command, root):
    repository(root, {})
    for name, content in WAYS.items():
        (root / f"{name}.py").write_bytes(
            content + "\n".encode("utf-16-le" if name == "utf16" else "ascii") * 4
        )
    git(root, "commit", "-qam", "more lines")
    command.succeeds("index", ".")
    assert "Größe" in command("read", "utf16.py::count_tickets", "--at", "HEAD~", "--auto-index").stdout
    for name in WAYS:
        found = command("history", f"{name}.py::count_tickets")
        assert found.returncode == 0, found.stderr
