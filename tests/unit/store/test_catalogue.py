"""Which index a query searches, and how indexes are named, listed and removed."""

import os
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from codesearch.errors import IndexFormatError, IndexLockedError
from codesearch.files import default_home
from codesearch.store import catalogue
from codesearch.store.catalogue import index_folder, list_indexes, remove_indexes, writer_lock
from tests.command import TIMEOUT
from tests.conftest import break_format


def test_the_name_of_an_index_shows_the_folder_and_differs_by_its_path(home, tmp_path):
    a, b = index_folder(home, tmp_path / "a" / "src"), index_folder(home, tmp_path / "b" / "src")
    assert a.parent == home / "indexes"
    assert re.fullmatch(r"src-[0-9a-f]{8}", a.name)
    assert a.name != b.name
    assert index_folder(home, Path("/")).name.startswith("root-")


def test_all_spellings_of_a_path_give_the_same_name(home, tmp_path, monkeypatch):
    (tmp_path / "src").mkdir()
    (tmp_path / "link").symlink_to("src")
    monkeypatch.chdir(tmp_path)
    names = {
        index_folder(home, Path(p)).name
        for p in ("src", "./src/", "src/../src", str(tmp_path / "src"), "link")
    }
    assert len(names) == 1


def test_listing_shows_the_error_of_an_index_that_cannot_be_read(home, nested_roots):
    break_format(index_folder(home, nested_roots["two"]))
    entries = {entry.folder: entry for entry in list_indexes(home)}
    broken = entries.pop(index_folder(home, nested_roots["two"]))
    assert broken.manifest is None
    assert isinstance(broken.error, IndexFormatError)
    assert sorted(entry.manifest.root for entry in entries.values()) == [
        str(nested_roots["one"]),
        str(nested_roots["inner"]),
    ]


def test_removing_an_index_leaves_the_sources_and_the_others(home, nested_roots):
    remove_indexes({index_folder(home, nested_roots["one"]): str(nested_roots["one"])})
    assert (nested_roots["one"] / "a.py").read_text() == "def f():\n    pass\n"
    assert sorted(entry.manifest.root for entry in list_indexes(home)) == [
        str(nested_roots["inner"]),
        str(nested_roots["two"]),
    ]
    assert not index_folder(home, nested_roots["one"]).exists()


def test_an_index_that_is_being_written_is_not_removed(home, nested_roots, monkeypatch):
    monkeypatch.setattr(catalogue, "_REMOVE_WAIT_S", 0.0)
    monkeypatch.setattr(catalogue, "_OWN_WAIT_S", 0.0)
    folder = index_folder(home, nested_roots["one"])
    with writer_lock(folder, "one"), pytest.raises(IndexLockedError):
        remove_indexes({folder: "one"})
    assert (folder / "manifest.json").exists()


def test_a_removal_waits_for_a_short_update(home, nested_roots, monkeypatch):
    monkeypatch.setattr(catalogue, "_REMOVE_WAIT_S", TIMEOUT)
    folder = index_folder(home, nested_roots["one"])
    locked = threading.Event()

    def update() -> None:
        with writer_lock(folder, "one"):
            locked.set()
            time.sleep(0.7)  # Longer than threads of one process wait for each other anyway.

    with ThreadPoolExecutor() as pool:
        writer = pool.submit(update)
        locked.wait()
        remove_indexes({folder: "one"})
        writer.result()
    assert not folder.exists()


def test_a_removal_deletes_the_lock_that_a_waiting_writer_makes_again(home, nested_roots, monkeypatch):
    folder, unlink = index_folder(home, nested_roots["one"]), os.unlink

    def unlink_and_open_again(path, **options):
        unlink(path, **options)
        if str(path).endswith("lock"):
            monkeypatch.undo()
            (folder / "lock").touch()

    monkeypatch.setattr(os, "unlink", unlink_and_open_again)
    remove_indexes({folder: "one"})
    assert not folder.exists()


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"CODESEARCH_HOME": "/a", "XDG_DATA_HOME": "/b", "HOME": "/c"}, "/a"),
        ({"CODESEARCH_HOME": "~/mine", "HOME": "/c"}, "/c/mine"),
        ({"XDG_DATA_HOME": "/b", "HOME": "/c"}, "/b/codesearch"),
        ({"HOME": "/c"}, "/c/.local/share/codesearch"),
    ],
)
def test_the_home_is_the_variable_or_the_data_folder(monkeypatch, variables, expected):
    for name in ("CODESEARCH_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert default_home() == expected
