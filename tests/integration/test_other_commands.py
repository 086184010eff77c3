"""`codesearch status`, `remove`, `doctor`, and `codesearch` without a command."""

import json
import os
import re
import shutil
import time
from dataclasses import replace
from pathlib import Path

import pytest

import codesearch
from codesearch.cli.main import COMMANDS
from codesearch.engine.engine import Engine
from codesearch.errors import IndexStoreError
from codesearch.files import scratch_folder
from codesearch.store.catalogue import index_folder, remove_unused
from tests.conftest import index_by_engine, write_tree
from tests.git import repository
from tests.tiny_bundle import change_one_byte


def test_status_shows_what_is_indexed(indexed, command):
    done = command("status", "--changes", "--warnings")
    assert (done.returncode, done.stderr) == (0, "")
    root, documents, age, model, changes = done.stdout.splitlines()
    assert root == str(indexed)
    assert documents == "  documents  13 from 6 files: python 5, go 2, java 2, ruby 2, and 2 more"
    assert re.fullmatch(r"  indexed    just now, in \d+\.\d s, \d+ kB", age)
    assert re.fullmatch(r"  model      tiny \([0-9a-f]{16}\)", model)
    assert changes == "  changes    0 files new or changed, 0 removed"


def test_status_marks_the_index_around_the_working_directory_and_shows_only_the_roots_that_are_named(
    indexed, command, home
):
    other = write_tree(command.folder / "other", {"a.py": "def f():\n    return 1\n"})
    assert command("index", "other").returncode == 0

    def roots(*arguments: object, cwd: Path = indexed / "go") -> list[str]:
        done = command("status", *arguments, cwd=cwd)
        assert (done.returncode, done.stderr) == (0, "")
        return [line for line in done.stdout.splitlines() if not line.startswith(" ")]

    assert sorted(roots()) == [str(other), f"{indexed}  (you are here)"]
    assert sorted(roots(cwd=command.folder)) == [str(other), str(indexed)]
    assert roots(".") == roots(indexed) == roots(indexed / "python") == [f"{indexed}  (you are here)"]
    assert roots(other, indexed) == [str(other), f"{indexed}  (you are here)"]
    (entry,) = json.loads(command("status", other, "--json", cwd=other).stdout)
    assert (entry["root"], entry["current"]) == (str(other), True)
    done = command("status", "absent")
    assert (done.returncode, done.stderr) == (
        2,
        "error: absent is no folder and no imported index: see `codesearch status`\n",
    )


def test_status_in_json_has_every_field_and_counts_changes(indexed, command, home):
    (indexed / "new.py").write_text("x = 1\n")
    (indexed / "go" / "reader.go").unlink()
    (entry,) = json.loads(command("status", "--json", "--changes").stdout)
    assert entry["bytes"] == sum(
        path.stat().st_size for path in home.glob("indexes/*/segments/**/*") if path.is_file()
    )
    assert (entry["root"], entry["folder"]) == (str(indexed), str(index_folder(home, indexed)))
    assert (entry["documents"], entry["files"]) == (13, 6)
    assert entry["changes"] == {"to_parse": 1, "removed": 1}
    assert (entry["not_indexed"], entry["folders_not_entered"], entry["warnings"]) == ({}, {}, [])
    assert entry["settings"]["max_file_bytes"] == 8_000_000
    assert set(entry) >= {"languages", "created", "model"}


def test_index_and_status_end_with_what_is_not_indexed(command, indexed):
    write_tree(indexed, {"new.py": "x = 1\n", "node_modules/a.js": ""})
    write_tree(indexed, dict.fromkeys(("README.md", "docs/a.md", "a.yml", "a.xyz"), ""))
    (indexed / "data.py").write_bytes(b"\0x")
    told = (
        "  not indexed\n"
        "    4 files that --content would add (.md 2, .xyz 1, .yml 1)\n"
        "    1 binary file (.py 1)\n"
        "    1 folder that is always skipped (node_modules 1)\n"
    )
    assert command("index", "tiny").stdout.endswith(told)
    assert command("status").stdout.endswith(told)
    for name in ("README.md", "docs/a.md", "a.yml", "a.xyz"):
        (indexed / name).unlink()
    (indexed / "more.xyz").write_text("")
    assert "nothing to do" in command("index", "tiny").stdout
    (entry,) = json.loads(command("status", "--json").stdout)
    assert entry["not_indexed"] == {"other content": {".xyz": 1}, "binary": {".py": 1}}
    assert entry["folders_not_entered"] == {"always": {"node_modules": 1}}
    (indexed / "data.py").unlink()
    command.succeeds("index", "tiny")
    (entry,) = json.loads(command("status", "--json").stdout)
    assert entry["not_indexed"] == {"other content": {".xyz": 1}}


def test_status_shows_an_unreadable_index_and_a_deleted_folder(indexed, command, home):
    shutil.rmtree(indexed)
    assert command("status", "--changes").stdout.startswith(f"{indexed}  (this folder is gone)\n")
    (manifest,) = home.glob("indexes/*/manifest.json")
    manifest.write_text("{")
    done = command("status")
    assert done.returncode == 0
    assert done.stdout.splitlines()[1].startswith(f"  unusable   {manifest}: cannot be read (")


def test_status_of_an_empty_home_exits_with_one_in_every_form(command, home):
    done = command("status")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"nothing is indexed in {home}: run `codesearch index FOLDER` first\n"
    done = command("status", "--json")
    assert (done.returncode, done.stdout, done.stderr) == (1, "[]\n", "")


def test_remove_deletes_the_index_and_keeps_the_sources(indexed, command, home):
    before = {path: path.read_bytes() for path in indexed.rglob("*.*")}
    done = command("remove", "tiny")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "tiny: index removed\n"
    assert list(home.rglob("*")) == [home / "indexes"]
    assert {path: path.read_bytes() for path in indexed.rglob("*.*")} == before


def test_remove_of_all_names_each_and_leaves_no_home(command, home, tmp_path):
    root = repository(tmp_path / "tiny")
    command.succeeds("index", "tiny")
    command.succeeds("query", "push", "--at", "HEAD", "--auto-index", cwd=root)
    command("history", "push", cwd=root)
    assert {"commits", "indexes", "revisions"} <= set(os.listdir(home))
    done = command("remove", "--all")
    assert (done.returncode, f"{root}: index removed" in done.stdout.splitlines()) == (0, True)
    assert not home.exists()


def test_remove_of_all_keeps_what_is_not_of_codesearch(indexed, command, home, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    write_tree(tmp_path / "elsewhere", {"x/commits.sqlite": "mine"})
    (home / "commits").symlink_to(tmp_path / "elsewhere")
    mine = {
        "cache/mine.txt": "",
        "commits/mine/commits.sqlite": "notes",
        "revisions/12345678/mine@0123456789ab/a.py": "x = 1",
        "scratch/mine/a.txt": "",
        "indexes/mine/manifest.json": '{"name": "a plug-in"}',
        "indexes/broken/manifest.json": "{",
        "indexes/broken/segments/000001/a.txt": "",
        f"indexes/{index_folder(home, indexed).name}/notes.txt": "",
        f"indexes/{index_folder(home, indexed).name}/segments/notes.txt": "",
    }
    write_tree(home, mine)
    old = time.time() - 90 * 86_400
    for path in home.glob("*/*"):
        os.utime(path, (old, old))
    remove_unused(home)
    with scratch_folder(home):
        pass
    assert len(command.succeeds("status").splitlines()) > 3 and "unusable" not in command("status").stdout
    assert command("remove", "--all").returncode == 0
    left = {path.relative_to(home).as_posix() for path in home.rglob("*") if path.is_file()}
    assert left | {"commits/mine/commits.sqlite"} == set(mine)
    assert (home / "commits/mine/commits.sqlite").read_text() == "notes"


def test_remove_deletes_all_or_nothing(indexed, command, home, tmp_path, monkeypatch):
    command.succeeds("index", write_tree(tmp_path / "other", {"a.py": "def f():\n    pass\n"}))
    locks = ("lock", "turn")
    before = {
        path: path.is_file() and path.read_bytes() for path in home.rglob("*") if path.name not in locks
    }
    locked = index_folder(home, tmp_path / "other") / "segments" / "000001"
    monkeypatch.setattr(
        os, "access", lambda path, mode, real=os.access: str(path) != str(locked) and real(path, mode)
    )
    engine = Engine(home)
    for remove in (lambda: engine.remove(indexed, tmp_path / "other"), engine.remove_all):
        with pytest.raises(
            IndexStoreError, match=f"{locked} cannot be written, so no index was removed: make it"
        ):
            remove()
        files = (path for path in home.rglob("*") if path.name not in locks)
        after = {path: path.is_file() and path.read_bytes() for path in files}
        assert after == before
    monkeypatch.undo()
    monkeypatch.setattr(
        shutil, "rmtree", lambda path: (_ for _ in ()).throw(OSError(13, "Permission denied", path))
    )
    with pytest.raises(IndexStoreError, match="Permission denied: make it writable, then remove it again"):
        engine.remove(indexed)
    assert len(engine.status()) == 2
    monkeypatch.undo()
    engine.remove_all()
    assert not home.exists()


def test_remove_of_a_folder_without_an_index_removes_nothing(indexed, command, home):
    assert (
        command.fails("remove", "tiny", "absent") == "error: absent is not indexed: see `codesearch status`\n"
    )
    assert index_folder(home, indexed).exists()
    assert command("remove").stderr == ("error: nothing to remove: name an indexed folder, or give --all\n")


def test_doctor_checks_the_installation_the_model_and_every_byte_of_an_index(
    indexed, command, home, tiny_bundle, tmp_path
):
    damaged = write_tree(tmp_path / "damaged", {"a.py": "def f():\n    pass\n"})
    index_by_engine(damaged, home, tiny_bundle)
    (path,) = index_folder(home, damaged).glob("segments/*/vectors.int8")
    change_one_byte(path)
    bundle = Path(shutil.copytree(tiny_bundle, tmp_path / "bundle"))
    change_one_byte(bundle / "query.onnx")
    done = command("doctor", "--device", "cpu", shipped=bundle)
    assert (done.returncode, done.stderr) == (2, "")
    lines = done.stdout.splitlines()
    assert lines[0].startswith(f"ok    codesearch   {codesearch.__version__}, Python 3.")
    assert "ok    device       cpu (--device cpu)" in lines
    assert f"ok    index        {indexed}: 13 documents, every byte checked" in lines
    assert sorted(line for line in lines if line.startswith("FAIL")) == [
        f"FAIL  index        {path}: its bytes were changed: run `codesearch index --rebuild {damaged}`",
        f"FAIL  model        {bundle}/query.onnx: sha256 differs from manifest.json, the file is damaged: "
        "install or export the model again",
    ]


def test_the_version_and_an_unknown_command(command):
    assert command("--version").stdout == f"codesearch {codesearch.__version__}\n"
    said = "error: no such command 'bogus': did you mean `codesearch query bogus`?\n"
    assert command.fails("bogus") == said


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (("stauts",), "'status'"),
        (("serch", "read a file"), "`codesearch query 'read a file'`"),
        (("grep", "foo", "src/"), "`codesearch query foo src/`"),
        (("read a file", "-n", "3"), "`codesearch query 'read a file' -n 3`"),
        (("xyz\x1b[2J", "a"), "`codesearch query 'xyz\\x1b[2J' a`"),
    ],
)
def test_words_without_a_command_are_answered_with_the_command_that_was_probably_meant(command, words, meant):
    assert command.fails(*words).endswith(f": did you mean {meant}?\n")


def test_text_that_begins_like_an_option_goes_behind_two_hyphens(command):
    said = "error: no such option: ->: put -- before text that begins with -\n"
    assert command("query", "-F", "->getCard(").stderr == said


def test_the_help_of_a_command_shows_what_to_type(command):
    first = command("query", "--help").stdout.splitlines()[0]
    assert first == "Usage: codesearch query [OPTIONS] TEXT... [PATH]..."


@pytest.mark.parametrize("arguments", [[], ["--help"]], ids=["nothing", "--help"])
def test_help_lists_every_command(command, arguments):
    done = command(*arguments)
    assert done.returncode == (0 if arguments else 2)
    listed = (done.stdout if arguments else done.stderr).partition("Commands:\n")[2].splitlines()
    *listed, blank, start, _ = listed
    assert blank == "" and "codesearch query" in start
    assert [line.split()[0] for line in listed] == list(COMMANDS)
    assert [line for line in listed if line.endswith("...")] == []


def test_the_help_of_a_command_with_many_options_has_headings(command):
    lines = command("query", "--help").stdout.splitlines()
    headings = [line for line in lines if line.endswith(":") and line[:1].isupper()]
    names = [
        "Arguments",
        "Output",
        "What is searched",
        "How to search",
        "Indexes, model and server",
        "Options",
    ]
    assert headings == [f"{name}:" for name in names]
    at = [
        next(n for n, line in enumerate(lines) if line.strip().startswith(flag))
        for flag in ("--full", "--lang", "-F")
    ]
    assert at == sorted(at)


def test_an_outline_that_leaves_something_out_says_how_to_see_it(command, home, tiny_bundle):
    tree = write_tree(
        command.folder / "wide", {"wide.py": "".join(f"def f{n}():\n    return {n}\n" for n in range(60))}
    )
    index_by_engine(tree, home, tiny_bundle)
    run = replace(command, folder=tree)
    cut, whole = run("outline", "wide.py"), run("outline", "wide.py", "--max-lines", "100")
    assert cut.stderr == "not all is shown: give --max-lines 200, or a folder, file or class from it\n"
    assert (whole.stderr, "(" in whole.stdout.splitlines()[-1].replace("()", "")) == ("", False)
