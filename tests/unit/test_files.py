"""Files that are replaced atomically, also when a write is interrupted, and the default folder of the indexes."""

import ntpath
import os
import posixpath
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from codesearch import files
from codesearch.files import atomic_writer, scratch_folder, write_atomically
from tests.conftest import write_tree


def test_a_file_is_created_and_replaced_and_no_other_file_is_left(tmp_path):
    path = tmp_path / "a.json"
    write_atomically(path, b"first")
    write_atomically(path, b"2")
    assert path.read_bytes() == b"2"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("interruption", [OSError, KeyboardInterrupt])
def test_an_interrupted_write_keeps_the_old_file_and_leaves_no_temporary_file(tmp_path, interruption):
    path = tmp_path / "a.json"
    path.write_bytes(b"old")
    with pytest.raises(interruption), atomic_writer(path) as file:
        file.write(b"half of the ne")
        file.flush()
        assert path.read_bytes() == b"old"
        raise interruption
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_cannot_be_replaced_leaves_no_temporary_file(tmp_path):
    (tmp_path / "taken").mkdir()
    with pytest.raises(OSError):
        write_atomically(tmp_path / "taken", b"content")
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


def test_a_missing_folder_is_not_created(tmp_path):
    with pytest.raises(FileNotFoundError):
        write_atomically(tmp_path / "none" / "a", b"content")
    assert list(tmp_path.iterdir()) == []


def test_the_content_is_synced_before_the_rename_and_the_folder_after_it(tmp_path, monkeypatch):
    path = tmp_path / "a"
    synced = []
    monkeypatch.setattr(
        os, "fsync", lambda descriptor: synced.append((path.exists(), os.fstat(descriptor).st_size))
    )
    write_atomically(path, b"content", sync=True)
    assert [exists for exists, _ in synced] == [False, True]
    assert synced[0][1] == len(b"content")
    assert path.read_bytes() == b"content"


def test_a_write_without_sync_is_not_synced(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda _: pytest.fail("synced"))
    write_atomically(tmp_path / "a", b"content")


@pytest.mark.parametrize("name", ["x" * 255, "ü" * 127, ".hidden", "no.suffix.at all"])
def test_any_name_that_a_file_may_have_can_be_written(tmp_path, name):
    write_atomically(tmp_path / name, b"content")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [(name, b"content")]


def test_of_several_writers_of_one_file_one_wins(tmp_path):
    contents = [bytes([number]) * 50_000 for number in range(20)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda content: write_atomically(tmp_path / "a", content), contents))
    assert (tmp_path / "a").read_bytes() in contents
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_the_permissions_are_those_of_any_new_file(tmp_path):
    (tmp_path / "plain").write_bytes(b"")
    write_atomically(tmp_path / "a", b"")
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_replacement_waits_for_readers_where_open_files_cannot_be_replaced(tmp_path, monkeypatch):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    real, refusals = os.replace, [PermissionError, PermissionError]

    def busy(source, target):
        if refusals:
            raise refusals.pop()
        real(source, target)

    monkeypatch.setattr(files, "OPEN_FILES_STAY", True)
    monkeypatch.setattr(os, "replace", busy)
    write_atomically(path, b"new")
    assert (path.read_bytes(), refusals) == (b"new", [])


@pytest.mark.parametrize("stay", [True, False])
def test_a_file_that_cannot_be_replaced_is_an_error(tmp_path, monkeypatch, stay):
    def refuse(source, target):
        raise PermissionError

    monkeypatch.setattr(files, "OPEN_FILES_STAY", stay)
    monkeypatch.setattr(files, "BUSY_S", 0.05)
    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(PermissionError):
        write_atomically(tmp_path / "a", b"new")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_opened_is_not_synced(tmp_path, monkeypatch):
    real = os.open

    def open_files_only(path, *arguments):
        if os.path.isdir(path):
            raise PermissionError
        return real(path, *arguments)

    monkeypatch.setattr(os, "open", open_files_only)
    write_atomically(tmp_path / "a", b"content", sync=True)
    assert (tmp_path / "a").read_bytes() == b"content"


@pytest.mark.parametrize("path", ["theirs/content/a.py", "theirs/lock"])
def test_an_old_folder_of_somebody_else_in_the_scratch_folder_stays(tmp_path, path):
    write_tree(tmp_path / "scratch", {path: ""})
    os.utime(tmp_path / "scratch/theirs", (0, 0))
    with scratch_folder(tmp_path):
        pass
    assert (tmp_path / "scratch" / path).exists()


WINDOWS = {"LOCALAPPDATA": r"C:\Users\me\AppData\Local", "USERPROFILE": r"C:\Users\me"}


@pytest.mark.parametrize(
    ("system", "variables", "expected"),
    [
        ("posix", {"LOCALAPPDATA": "/x"}, "~/.local/share/codesearch"),
        ("nt", WINDOWS, r"C:\Users\me\AppData\Local\codesearch"),
        ("nt", {**WINDOWS, "CODESEARCH_HOME": "D:\\mine"}, "D:\\mine"),
        ("nt", {"USERPROFILE": "C:\\me"}, "~/.local/share\\codesearch"),
    ],
)
def test_each_operating_system_has_its_data_folder(monkeypatch, system, variables, expected):
    paths = ntpath if system == "nt" else posixpath
    path = SimpleNamespace(join=paths.join, isabs=paths.isabs, expanduser=lambda text: text)
    monkeypatch.setattr(files, "os", SimpleNamespace(name=system, environ=variables, path=path))
    assert files.default_home() == expected
