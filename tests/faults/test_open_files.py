"""Many indexed folders under a low limit of open files, and what a query says when the limit is reached."""

import os
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from codesearch import Engine, Scope
from codesearch.engine.session import AS_INDEXED
from codesearch.errors import IndexCorruptError, IndexStoreError, unreadable
from codesearch.store import database as store
from codesearch.store.catalogue import list_indexes
from codesearch.store.segments import IndexReader
from tests.conftest import write_tree

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="counts the open files in /proc")
FOLDERS = 30


@contextmanager
def at_most_open(more: int) -> Iterator[None]:
    """Let this process open only so many more files."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    highest = max(map(int, os.listdir("/proc/self/fd")))
    resource.setrlimit(resource.RLIMIT_NOFILE, (highest + 1 + more, hard))
    taken: list[int] = []
    try:
        while True:
            taken.append(os.open(os.devnull, os.O_RDONLY))
    except OSError:
        pass
    for descriptor in taken[len(taken) - more :]:
        os.close(descriptor)
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        for descriptor in taken[: len(taken) - more]:
            os.close(descriptor)


@pytest.fixture(scope="module")
def full_home(tmp_path_factory: pytest.TempPathFactory, tiny_bundle: Path) -> Path:
    folder = tmp_path_factory.mktemp("many")
    with closing(Engine(folder / "home", model=tiny_bundle, device="cpu")) as engine:
        for number in range(FOLDERS):
            files = {"a.py": f"def find_the_giraffe_{number}():\n    return {number}\n"}
            engine.index(write_tree(folder / f"r{number}", files))
    return folder / "home"


@pytest.fixture
def engine(full_home: Path, tiny_bundle: Path) -> Iterator[Engine]:
    with closing(Engine(full_home, model=tiny_bundle, device="cpu")) as engine:
        yield engine


def test_many_folders_are_searched_with_few_open_files(engine, monkeypatch):
    monkeypatch.setattr(store, "MOST_OPEN", 5)
    before = len(os.listdir("/proc/self/fd"))
    with at_most_open(16):
        answer = engine.search("find_the_giraffe_7", Scope(everything=True), top_k=FOLDERS)
        assert (answer.hits[0].name, len(answer.hits)) == ("find_the_giraffe_7", FOLDERS)
        assert len(answer.roots) == FOLDERS
        assert all(hit.code.startswith("def find_the_giraffe_") for hit in answer.hits)
    assert len(os.listdir("/proc/self/fd")) <= before + 5  # The databases.
    engine.close()
    assert len(os.listdir("/proc/self/fd")) <= before


def test_a_database_that_was_closed_while_others_were_read_opens_again(engine, monkeypatch):
    monkeypatch.setattr(store, "MOST_OPEN", 1)
    with engine.session(Scope(everything=True), AS_INDEXED).indexes() as indexes:
        first, second = (index.segments[0].store for index in indexes[:2])
        files = first.numbered_files()
        assert next(files)[1].path == "a.py"
        assert [record.path for _, record in second.numbered_files()] == ["a.py"]
        assert list(files) == []
        assert [record.path for _, record in first.numbered_files()] == ["a.py"]


def test_without_free_files_an_error_names_the_cause_and_not_the_index(engine):
    entry = list_indexes(engine.home)[0]
    found = None
    with at_most_open(0):
        try:
            IndexReader.open(entry.folder)
        except IndexStoreError as error:  # `pytest.raises` would open files.
            found = error
    assert type(found) is IndexStoreError
    cure = "Too many open files: raise the limit with `ulimit -n 4096`, or search fewer folders"
    assert str(found) == f"{entry.folder / 'manifest.json'}: {cure}"


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        (PermissionError(13, "Permission denied"), IndexStoreError, "f: Permission denied: make it readable"),
        (FileNotFoundError(2, "gone"), IndexCorruptError, "f: missing: run `codesearch index --rebuild /r`"),
        (
            OSError(5, "Input/output error"),
            IndexCorruptError,
            "f: Input/output error: run `codesearch index --rebuild /r`",
        ),
    ],
)
def test_only_a_missing_or_broken_file_is_a_damaged_index(error, kind, message):
    found = unreadable(Path("f"), error, "/r")
    assert (type(found), str(found)) == (kind, message)
