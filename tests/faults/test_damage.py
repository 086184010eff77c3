"""Damaged files of an index: a right answer or a one-line error, never a wrong answer or a traceback."""

import errno
import os
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from codesearch.engine.engine import Engine
from codesearch.engine.scope import Scope
from codesearch.errors import IndexStoreError
from codesearch.store import digest
from codesearch.store.catalogue import index_folder
from tests.command import Command
from tests.conftest import TINY_REPO, write_tree

QUERIES = ("convert int to string", "read all lines", "Stack.push", "sort strings", "close file")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "tree", TINY_REPO)


@pytest.fixture
def engine(home: Path, tiny_bundle: Path) -> Iterator[Engine]:
    opened = Engine(home, model=tiny_bundle)
    yield opened
    opened.close()


def answers(home: Path, bundle: Path, tree: Path) -> list[list[tuple[str, int, float]]]:
    """Return the answers of a new engine, as in a new process."""
    engine = Engine(home, model=bundle)
    try:
        scope = Scope(roots=(tree,))
        return [
            [(hit.path, hit.start_line, hit.score) for hit in engine.search(query, scope, refresh=False).hits]
            for query in QUERIES
        ]
    finally:
        engine.close()


def overwrite(path: Path, seed: int = 0) -> None:
    """Replace the bytes of a file by random ones of the same number."""
    path.write_bytes(random.Random(seed).randbytes(path.stat().st_size))


@pytest.mark.parametrize(
    "name",
    (
        "vectors.int8 vectors.scales postings/field_lengths.npy postings/doc_ids.npy rows.npy "
        "words.npy passages.npy documents.sqlite"
    ).split(),
)
def test_damage_of_the_same_size_is_noticed_by_the_next_query(engine, tree, home, tiny_bundle, name):
    engine.index(tree)
    path = index_folder(home, tree) / "segments/000001" / name
    before = path.stat()
    overwrite(path)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))  # The change time (ctime) still differs.
    with pytest.raises(IndexStoreError, match="its bytes were changed: run `codesearch index --rebuild"):
        answers(home, tiny_bundle, tree)


def test_a_service_that_has_the_index_open_notices_it_too(engine, tree, home):
    engine.index(tree)
    assert engine.search("push", Scope()).hits
    overwrite(index_folder(home, tree) / "segments/000001/vectors.scales")
    with pytest.raises(IndexStoreError, match="its bytes were changed"):
        engine.search("push", Scope(), refresh=False)


def test_a_copied_home_is_checked_once_and_then_remembered(
    engine, tree, home, tmp_path, tiny_bundle, monkeypatch
):
    engine.index(tree)
    expected = answers(home, tiny_bundle, tree)
    copy = shutil.copytree(home, tmp_path / "copy")
    checked: list[str] = []
    from codesearch.store import digest

    original = digest.check_digest

    def counted(path: Path, entry: dict[str, object], root: str) -> None:
        checked.append(path.name)
        original(path, entry, root)

    monkeypatch.setattr(digest, "check_digest", counted)
    assert answers(copy, tiny_bundle, tree) == expected
    assert "vectors.int8" in checked
    checked.clear()
    assert answers(copy, tiny_bundle, tree) == expected
    assert checked == []


def test_a_changed_manifest_is_a_one_line_error(engine, tree, home, tiny_bundle):
    engine.index(tree)
    manifest = index_folder(home, tree) / "manifest.json"
    text = manifest.read_text()
    manifest.write_text(text.replace('"documents": 13', '"documents": 12'))
    with pytest.raises(
        IndexStoreError, match=rf"its bytes were changed: run `codesearch index --rebuild {tree}`"
    ):
        answers(home, tiny_bundle, tree)


def test_the_command_reports_damage_in_one_line_with_exit_code_2(tree, home, tiny_bundle):
    run = Command(tree, home)
    assert run("index", ".", "--model", tiny_bundle).returncode == 0
    overwrite(index_folder(home, tree) / "segments/000001/vectors.int8")
    for arguments in (
        ("query", "push"),
        ("similar", "python/convert.py:5"),
        ("index", "."),
        ("export", "x.codesearch"),
    ):
        write_tree(tree, {"another.py": f"def another():\n    return {len(arguments[0])}\n"})
        done = run(*arguments, "--no-refresh") if arguments[0] in ("query", "similar") else run(*arguments)
        assert done.returncode == 2, (arguments, done.stdout)
        assert done.stderr.count("\n") == 1 and "its bytes were changed" in done.stderr, done.stderr
    assert run("index", ".", "--rebuild", "--model", tiny_bundle).returncode == 0
    assert run("query", "push").returncode == 0


def test_a_home_where_checks_cannot_be_stored_still_answers(engine, tree, home, tiny_bundle):
    engine.index(tree)
    expected = answers(home, tiny_bundle, tree)
    checked = index_folder(home, tree) / "checked"
    checked.unlink()
    checked.mkdir()  # Unlike permissions, a folder also stops the superuser.
    assert answers(home, tiny_bundle, tree) == expected
    assert [path.name for path in checked.parent.glob("*.part")] == []


def test_a_file_that_the_disk_cannot_read_is_a_one_line_error(engine, tree, home, tiny_bundle, monkeypatch):
    engine.index(tree)
    (index_folder(home, tree) / "checked").unlink()

    def unreadable(*_: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(digest.hashlib, "file_digest", unreadable)
    with pytest.raises(IndexStoreError, match=r"documents.sqlite: Input/output error: run `codesearch index"):
        answers(home, tiny_bundle, tree)
