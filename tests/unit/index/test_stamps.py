"""Time stamps show whether a file or folder changed since the last walk. Doubtful ones count as changed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from codesearch.files import stamp_of
from codesearch.index.catalogue import index_folder
from codesearch.index.stamps import FILE, Stamps, changed_files, changed_folders, read_stamps, write_stamps
from tests.conftest import HashEncoder, build

OLD = (1_600_000_000, 1_600_000_000)
STAMPS = Stamps(
    files={"a.py": (3, 1_600_000_000_123_456_789), "b/\udce9\n.py": (0, 0)},
    watched={"": (0, 2**62), "b": (0, 5), "/etc/ignore": (7, -1)},
)


def test_stamps_with_any_file_names_are_read_as_they_were_written(tmp_path):
    write_stamps(tmp_path, STAMPS, 7)
    assert read_stamps(tmp_path) == read_stamps(tmp_path, 7) == STAMPS
    assert list(read_stamps(tmp_path).files) == list(STAMPS.files)
    assert read_stamps(tmp_path, 8) == Stamps()


@pytest.mark.parametrize("content", [b"", b"{}\n", b"[]\n", b"3", b"\xff\n", b'{"commit": 7, "files": 1}\n'])
def test_an_invalid_file_has_no_stamps(tmp_path, content):
    assert read_stamps(tmp_path) == Stamps()
    (tmp_path / FILE).write_bytes(content)
    assert read_stamps(tmp_path) == Stamps()


def test_a_truncated_file_has_no_stamps(tmp_path):
    write_stamps(tmp_path, STAMPS, 7)
    whole = (tmp_path / FILE).read_bytes()
    for length in range(len(whole)):
        (tmp_path / FILE).write_bytes(whole[:length])
        assert read_stamps(tmp_path) == Stamps(), length


@pytest.fixture
def stamped(tiny_repo: Path, home: Path, encoder: HashEncoder) -> Stamps:
    """Return the stamps of the tiny repository, all old enough to be trusted."""
    for path in (tiny_repo, *tiny_repo.rglob("*")):
        os.utime(path, OLD)
    manifest = build(tiny_repo, home, encoder).manifest
    return read_stamps(index_folder(home, tiny_repo), manifest.commit)


def test_an_unchanged_tree_is_current_and_every_file_and_folder_has_its_stamp(tiny_repo, stamped):
    assert is_current(str(tiny_repo), stamped)
    files = {path.relative_to(tiny_repo).as_posix(): stamp_of(str(path)) for path in tiny_repo.rglob("*.*")}
    assert stamped.files == files
    folders = {os.path.normpath(tiny_repo / path) for path in stamped.watched}
    assert {str(tiny_repo), *(str(path) for path in tiny_repo.iterdir())} <= folders


def is_current(root: str, stamps: Stamps) -> bool:
    return changed_folders(root, stamps) == frozenset() and changed_files(root, stamps) == {}


def edit(root: Path) -> None:
    path = root / "go/reader.go"
    path.write_text(path.read_text().replace("whole", "WHOLE"))


def add(root: Path) -> None:
    (root / "go/new.go").write_text("package reader\n")


def remove(root: Path) -> None:
    (root / "go/reader.go").unlink()


def rename(root: Path) -> None:
    (root / "go/reader.go").rename(root / "go/writer.go")


def add_folder(root: Path) -> None:
    (root / "new").mkdir()


def ignore(root: Path) -> None:
    (root / "go/.gitignore").write_text("*.go\n")


def touch(root: Path) -> None:
    os.utime(root / "go/reader.go")


def replace_by_folder(root: Path) -> None:
    (root / "go/reader.go").unlink()
    (root / "go/reader.go").mkdir()


CHANGES = (edit, add, remove, rename, add_folder, ignore, touch, replace_by_folder)


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_change_is_noticed(tiny_repo, stamped, change):
    change(tiny_repo)
    assert not is_current(str(tiny_repo), stamped)


@pytest.mark.parametrize("place", ["", "go"])
def test_a_change_to_an_ignore_file_is_noticed(tiny_repo, home, encoder, place):
    rules = tiny_repo / place / ".gitignore"
    rules.write_text("*.tmp\n")
    for path in (tiny_repo, *tiny_repo.rglob("*")):
        os.utime(path, OLD)
    manifest = build(tiny_repo, home, encoder).manifest
    stamps = read_stamps(index_folder(home, tiny_repo), manifest.commit)
    assert is_current(str(tiny_repo), stamps)
    rules.write_text("*.py\n*.go")  # Written in place: the folder keeps its stamp.
    assert not is_current(str(tiny_repo), stamps)


def test_recent_files_and_folders_always_count_as_changed(tiny_repo, home, encoder):
    manifest = build(tiny_repo, home, encoder).manifest
    stamps = read_stamps(index_folder(home, tiny_repo), manifest.commit)
    assert {mtime_ns for _, mtime_ns in stamps.files.values()} == {0}
    assert not is_current(str(tiny_repo), stamps)


def test_without_stamps_a_tree_is_not_current(tiny_repo):
    assert not is_current(str(tiny_repo), Stamps())
