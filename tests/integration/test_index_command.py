"""`codesearch index`: its output, its files and its exit codes."""

import json
import os
import re
from pathlib import Path

import pytest

from codesearch.store.catalogue import index_folder
from tests.command import Command
from tests.conftest import break_format, settle, write_tree


def snapshot(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Return content and time stamp of every file except the lock, which names its last holder."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != "lock"]
    return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


def only_file(home: Path, pattern: str) -> Path:
    (path,) = (home / "indexes").glob(pattern)
    return path


@pytest.fixture
def index(command: Command, tiny_repo: Path, tiny_bundle: Path):
    """Index the tiny repository from its parent folder, by name."""
    return lambda *options: command("index", "tiny", "--model", tiny_bundle, *options)


def test_a_first_index_says_what_was_read_and_prints_no_progress(index):
    done = index()
    assert (done.returncode, done.stderr) == (0, "")
    head, *rest = done.stdout.splitlines()
    assert re.fullmatch(r"tiny: 13 documents from 6 files in \d+\.\d s", head)
    assert rest == [
        "  languages  python 5, go 2, java 2, ruby 2, javascript 1, php 1",
        "  files      6 parsed, 0 unchanged, 0 removed",
        "  model      tiny on cpu: 13 texts embedded",
    ]


def test_a_second_index_has_nothing_to_do_and_changes_no_file(indexed, command, home):
    settle(indexed, home)  # On a busy machine, the second run would find that the stamps are old enough.
    before = snapshot(home)
    done = command("index", "tiny")
    assert (done.returncode, done.stderr) == (0, "")
    assert re.fullmatch(r"tiny: nothing to do, 13 documents are up to date \(\d+\.\d\d s\)\n", done.stdout)
    assert snapshot(home) == before
    here = Command(indexed, home, command.variables)("index")
    assert here.stdout.startswith("tiny: nothing to do")


def test_only_what_changed_is_read_again(indexed, command):
    write_tree(indexed, {"new.py": "def brand_new():\n    pass\n"})
    (indexed / "go" / "reader.go").unlink()
    done = command("index", "tiny")
    assert done.stdout.splitlines()[0].startswith("tiny: 12 documents from 6 files")
    assert "  files      1 parsed, 5 unchanged, 1 removed" in done.stdout
    assert "1 text embedded" in done.stdout


def test_options_are_remembered_until_a_rebuild(index, command, tiny_repo, home):
    index("--exclude", "*.go", "--exclude", "*.rb")
    write_tree(tiny_repo, {"other.go": "package x\n\nfunc Other() {\n}\n"})
    assert "9 documents" in command("index", "tiny").stdout
    settings = json.loads(command("status", "--json").stdout)[0]["settings"]
    assert settings["exclude"] == ["*.go", "*.rb"]
    assert "options    exclude *.go *.rb" in command("status").stdout
    assert index("--rebuild").stdout.startswith("tiny: 14 documents")


def test_several_folders_are_indexed_one_after_the_other(command, tiny_repo, tiny_bundle, tmp_path):
    write_tree(tmp_path / "more", {"a.py": "def a():\n    pass\n"})
    done = command("index", "tiny", "more", "--model", tiny_bundle)
    heads = [line for line in done.stdout.splitlines() if not line.startswith(" ")]
    assert [line.split(" in ")[0] for line in heads] == [
        "tiny: 13 documents from 6 files",
        "more: 1 document from 1 file",
    ]


def test_an_empty_tree_is_a_warning(command, tmp_path, tiny_bundle):
    (tmp_path / "empty").mkdir()
    done = command("index", "empty", "--model", tiny_bundle)
    assert done.returncode == 0
    assert done.stdout.startswith("empty: 0 documents from 0 files")
    assert done.stderr == "warning: empty: no functions or classes found in any supported language\n"
    asked = command("query", "--all", "anything")
    said = f"no document is indexed in {tmp_path}/empty: `codesearch status` counts what is not indexed\n"
    assert (asked.returncode, asked.stderr) == (1, said)
    assert asked.stdout.startswith("no hits from 0 documents")


@pytest.mark.parametrize(
    ("folder", "reason"), [("absent", "no such folder"), ("tiny/go/reader.go", "not a folder")]
)
def test_a_path_that_is_not_a_folder_is_an_error_and_leaves_no_index(
    command, tiny_repo, tiny_bundle, home, folder, reason
):
    said = command.fails("index", folder, "--model", tiny_bundle)
    assert said == f"error: {folder}: {reason}: give the folder to index\n"
    assert not home.exists()


def test_a_home_that_cannot_be_created_is_named(command, tiny_repo, tiny_bundle, tmp_path):
    (tmp_path / "file").write_text("")
    said = command.fails("index", "tiny", "--model", tiny_bundle, "--home", "file")
    folder = index_folder(tmp_path / "file", tiny_repo)
    assert said == f"error: {folder}: Not a directory: give another --home\n"


def test_an_index_of_another_format_is_rebuilt(indexed, index, home):
    break_format(only_file(home, "*/manifest.json").parent)
    done = index()
    assert (done.returncode, done.stderr) == (0, "")
    assert "6 parsed, 0 unchanged" in done.stdout
    assert "13 texts embedded" in done.stdout
    assert [path.name for path in only_file(home, "*").glob("segments/*")] == ["000002"]


def test_an_index_of_an_earlier_version_is_rebuilt_with_its_settings(index, home):
    assert index("--exclude", "*.go").returncode == 0
    break_format(only_file(home, "*/manifest.json").parent, 5)
    done = index()
    assert (done.returncode, done.stderr) == (
        0,
        "note: an earlier version of codesearch made the index of tiny; it was made again\n",
    )
    assert "5 parsed, 0 unchanged" in done.stdout and "1 ignored file (.go 1)" in done.stdout
    assert (index().stderr, index("--rebuild").stderr) == ("", "")


def test_an_option_that_changes_no_document_says_that_nothing_was_parsed(indexed, index):
    told = r"tiny: nothing to parse, 13 documents are up to date \(.* s\)\n"
    assert re.fullmatch(told, index("--max-file-mb", "20").stdout)


def test_optimize_merges_all_segments_and_then_has_nothing_to_do(indexed, index, home):
    for number in range(2):
        (indexed / "go" / f"more{number}.go").write_text(
            f"package more\n\nfunc More{number}() int {{ return 1 }}\n"
        )
        assert index().returncode == 0
    assert re.fullmatch(r"tiny: merged, 15 documents are up to date \(.* s\)\n", index("--optimize").stdout)
    assert len(list(only_file(home, "*").glob("segments/*"))) == 1
    assert index("--optimize").stdout.startswith("tiny: nothing to do")
    (indexed / "go" / "more1.go").unlink()
    assert "1 removed" in index("--optimize").stdout
    assert len(list(only_file(home, "*").glob("segments/*"))) == 1


def test_names_that_no_terminal_can_show_are_escaped(command, tmp_path, tiny_bundle):
    name = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9")
    write_tree(Path(name), {"a.py": 'def f():\n    """Sort — 日本."""\n'})
    strict = Command(command.folder, command.home, {"PYTHONIOENCODING": "utf-8:strict"})
    done = strict("index", name, "--model", tiny_bundle)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"{tmp_path}/caf\\udce9: 1 document from 1 file in ")
    ascii_only = Command(command.folder, command.home, {"PYTHONIOENCODING": "ascii"})
    (hit,) = json.loads(ascii_only("query", "--all", "sort", "--json").stdout)["hits"]
    assert (hit["docstring"], hit["root"]) == ("Sort — 日本.", name)
    assert '"""Sort \\u2014 \\u65e5\\u672c."""' in ascii_only("query", "--all", "sort").stdout
