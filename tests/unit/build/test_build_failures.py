"""A build that fails or is stopped leaves the last good index and no partly written files."""

import errno
import io
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryFile

import pytest

from codesearch import files as files_module
from codesearch.build import build as build_module
from codesearch.errors import IndexCorruptError, IndexStoreError
from codesearch.store import segments, sorting
from codesearch.store.catalogue import index_folder
from codesearch.store.database import StoreWriter
from codesearch.store.manifest import MANIFEST
from codesearch.store.postings import PostingsWriter
from codesearch.store.segments import IndexReader
from codesearch.store.vectors import VectorWriter
from tests.conftest import HashEncoder, break_format, build, contents, write_tree


@pytest.fixture
def last_good(tiny_repo: Path, home: Path, encoder: HashEncoder):
    """Build an index and change its tree; return a check that the index is still the old one."""
    build(tiny_repo, home, encoder)
    folder = index_folder(home, tiny_repo)
    index = IndexReader.open(folder)
    expected, names = contents(index), [path.relative_to(folder) for path in sorted(folder.rglob("*"))]
    index.close()
    (tiny_repo / "python" / "new.py").write_text("def brand_new():\n    return 'x'\n")

    def check() -> None:
        assert [path.relative_to(folder) for path in sorted(folder.rglob("*"))] == names
        index = IndexReader.open(folder)
        assert contents(index) == expected
        index.close()

    return check


class InterruptedEncoder(HashEncoder):
    def encode_documents(self, documents):
        if documents:
            raise KeyboardInterrupt
        return super().encode_documents(documents)


@pytest.mark.parametrize("stage", ["parse", "write", "commit"])
def test_an_interrupt_at_any_stage_leaves_the_last_index(tiny_repo, home, encoder, last_good, stage):
    def interrupt(progress):
        if progress.stage == stage:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build(tiny_repo, home, encoder, on_progress=interrupt)
    last_good()


def test_an_interrupt_before_the_first_commit_leaves_no_index(tiny_repo, home, tokenizer_path):
    with pytest.raises(KeyboardInterrupt):
        build(tiny_repo, home, InterruptedEncoder(tokenizer_path))
    assert [path.name for path in index_folder(home, tiny_repo).rglob("*")] == ["segments"]


def test_an_interrupt_after_the_commit_leaves_the_new_index(
    tiny_repo, home, encoder, last_good, monkeypatch, index_tree
):
    folder = index_folder(home, tiny_repo)
    real = files_module.sync_folder

    def interrupt(path):
        real(path)
        if path == folder:
            raise KeyboardInterrupt

    monkeypatch.setattr(files_module, "sync_folder", interrupt)
    with pytest.raises(KeyboardInterrupt):
        build(tiny_repo, home, encoder)
    monkeypatch.undo()
    index = IndexReader.open(folder)
    assert index.manifest.documents == 14
    index.close()


BULK = {f"bulk/{number}.py": f"def bulk{number}():\n    return {number}\n" for number in range(9)}


def test_a_first_build_with_a_costly_model_commits_more_often(tmp_path, home, encoder, monkeypatch):
    root = write_tree(tmp_path / "bulk", BULK)
    monkeypatch.setattr(build_module, "_COSTLY_SEGMENT_BYTES", 60)
    assert len(build(root, tmp_path / "cheap", encoder).manifest.segments) == 1
    monkeypatch.setattr(encoder, "is_costly", True, raising=False)
    assert len(build(root, home, encoder).manifest.segments) == 4  # The first one is smaller.


def stop_after(commits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Interrupt a build of small segments after a number of commits."""
    monkeypatch.setattr(build_module, "_SEGMENT_BYTES", 60)

    def commit(*arguments, real=build_module.commit_manifest):
        real(*arguments)
        made.append(arguments)
        if len(made) == commits:
            raise KeyboardInterrupt

    made: list[object] = []
    monkeypatch.setattr(build_module, "commit_manifest", commit)


def test_an_interrupted_first_build_continues_after_its_last_commit(
    tmp_path, home, encoder, monkeypatch, index_tree
):
    root = write_tree(tmp_path / "bulk", BULK)
    for commits in (1, 2):
        with monkeypatch.context() as patch:
            stop_after(1, patch)
            with pytest.raises(KeyboardInterrupt):
                build(root, home, encoder)
        with closing(IndexReader.open(index_folder(home, root))) as half:
            assert (half.manifest.complete, half.manifest.commit, len(half.segments)) == (
                False,
                commits,
                commits,
            )
            documents = half.manifest.documents
            assert 0 < documents == half.manifest.source_files < 9
    report = build(root, home, encoder)
    assert (report.kept, report.parsed, report.embedded) == (documents, 9 - documents, 9 - documents)
    assert (report.manifest.complete, report.manifest.documents) == (True, 9)
    build(root, tmp_path / "fresh", encoder)
    with (
        closing(IndexReader.open(index_folder(home, root))) as whole,
        closing(IndexReader.open(index_folder(tmp_path / "fresh", root))) as fresh,
    ):
        assert contents(whole) == contents(fresh)


@pytest.mark.parametrize("merging", ["usual", "always_merged"])
def test_only_the_last_commit_of_an_update_removes_documents(
    tiny_repo, home, encoder, monkeypatch, request, merging
):
    if merging != "usual":
        request.getfixturevalue(merging)
    build(tiny_repo, home, encoder)
    before = {path for path, _ in documents_of(home, tiny_repo)}
    for path in tiny_repo.rglob("*.*"):
        path.write_text(path.read_text() + "\n")
    write_tree(tiny_repo, BULK)
    stop_after(1, monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        build(tiny_repo, home, encoder)
    assert before <= {path for path, _ in documents_of(home, tiny_repo)}


def test_only_the_last_commit_of_a_rebuild_removes_documents(tiny_repo, home, encoder, monkeypatch):
    build(tiny_repo, home, encoder)
    before = documents_of(home, tiny_repo)
    stop_after(1, monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        build(tiny_repo, home, encoder, rebuild=True)
    assert documents_of(home, tiny_repo) == before


def documents_of(home: Path, root: Path) -> set[tuple[str, int]]:
    with closing(IndexReader.open(index_folder(home, root))) as index:
        return set(contents(index)["documents"])


def test_a_manifest_that_is_temporarily_unreadable_costs_no_segment(
    tiny_repo, home, tokenizer_path, last_good, monkeypatch
):
    def fail(*_):
        raise IndexCorruptError(Path(MANIFEST), "cannot be read (Too many open files)", "FOLDER")

    with monkeypatch.context() as patch:
        patch.setattr(segments, "manifest_at", fail)
        with pytest.raises(KeyboardInterrupt):
            build(tiny_repo, home, InterruptedEncoder(tokenizer_path))
    last_good()


def test_an_interrupt_does_not_change_an_index_of_another_format(tiny_repo, home, encoder):
    def interrupt(progress):
        raise KeyboardInterrupt

    build(tiny_repo, home, encoder)
    folder = index_folder(home, tiny_repo)
    break_format(folder)
    before = sorted(folder.rglob("*"))
    with pytest.raises(KeyboardInterrupt):
        build(tiny_repo, home, encoder, on_progress=interrupt)
    assert sorted(folder.rglob("*")) == before


FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
SQLITE_FULL = sqlite3.OperationalError("database or disk is full")
WRITES = {
    "a file's rows": (StoreWriter, "add_file", SQLITE_FULL),
    "the end of the database": (StoreWriter, "finish", SQLITE_FULL),
    "vectors": (VectorWriter, "add", FULL),
    "the end of the vectors": (VectorWriter, "finish", FULL),
    "postings": (PostingsWriter, "write", FULL),
    "an array": (segments, "save_array", FULL),
    "syncing": (build_module, "describe_files", FULL),
    "the manifest": (files_module.os, "replace", FULL),
}


@pytest.mark.parametrize(("owner", "name", "error"), WRITES.values(), ids=WRITES)
def test_full_storage_is_one_error_and_leaves_the_last_index(
    tiny_repo, home, encoder, last_good, monkeypatch, owner, name, error
):
    def fail(*_, **__):
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(owner, name, fail)
        with pytest.raises(IndexStoreError) as caught:
            build(tiny_repo, home, encoder)
    assert str(caught.value).startswith(f"no space left under {index_folder(home, tiny_repo)}: free some")
    last_good()
    assert build(tiny_repo, home, encoder).manifest.documents == 14


class FillingUp(io.BufferedRandom):
    """A scratch file on storage that has room for only a few writes."""

    room = 0

    def write(self, data):
        if not self.room:
            raise FULL
        self.room -= 1
        return super().write(data)


@pytest.mark.parametrize("room", [0, 1, 8, 12])
def test_full_storage_while_postings_are_sorted_leaves_the_last_index(
    tiny_repo, home, encoder, last_good, monkeypatch, always_merged, room
):
    def scratch(**options):
        file = FillingUp(TemporaryFile(buffering=0, **options))
        file.room = room
        return file

    with monkeypatch.context() as patch:
        patch.setattr(sorting, "RUN_WORDS", 40)
        patch.setattr(sorting, "TemporaryFile", scratch)
        with pytest.raises(IndexStoreError, match="^no space left under"):
            build(tiny_repo, home, encoder)
    last_good()


def test_parsing_has_stopped_when_a_failure_is_raised(tiny_repo, home, encoder, monkeypatch):
    stopped = []

    def parse_files(*arguments, real=build_module.parse_files, **options):
        try:
            yield from real(*arguments)
        finally:
            stopped.append(True)

    def fail(*_):
        raise FULL

    monkeypatch.setattr(build_module, "parse_files", parse_files)
    monkeypatch.setattr(StoreWriter, "add_file", fail)
    with pytest.raises(IndexStoreError) as caught:  # `caught` keeps all frames alive.
        build(tiny_repo, home, encoder)
    assert stopped, caught


def test_a_bug_is_not_reported_as_a_storage_error_and_leaves_the_last_index(
    tiny_repo, home, encoder, last_good, monkeypatch
):
    def fail(*_):
        raise ZeroDivisionError

    monkeypatch.setattr(PostingsWriter, "write", fail)
    with pytest.raises(ZeroDivisionError):
        build(tiny_repo, home, encoder)
    last_good()


def test_a_damaged_segment_is_an_error_that_names_the_cure(tiny_repo, home, encoder, last_good):
    (vectors,) = index_folder(home, tiny_repo).glob("segments/*/vectors.int8")
    vectors.write_bytes(b"")
    with pytest.raises(IndexCorruptError, match=f"codesearch index --rebuild {tiny_repo}"):
        build(tiny_repo, home, encoder)
    assert build(tiny_repo, home, encoder, rebuild=True).manifest.documents == 14


def test_a_home_that_cannot_be_written_is_named(tiny_repo, home, encoder, monkeypatch):
    refused = "segments/000001"

    def mkdir(path, *arguments, real=Path.mkdir, **options):
        if path.is_relative_to(home) and path.match(refused):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        real(path, *arguments, **options)

    monkeypatch.setattr(Path, "mkdir", mkdir)
    with pytest.raises(IndexStoreError, match=rf"/{refused}: Permission denied$"):
        build(tiny_repo, home, encoder)
