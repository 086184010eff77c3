"""Only the owner of a home can read what is in it, whatever the umask is and whatever made the home."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from codesearch import Engine, IndexOptions, Scope
from codesearch.config import VectorConfig
from codesearch.files import default_home, make_private
from codesearch.store.catalogue import list_indexes
from tests.conftest import index_by_engine, write_tree

pytestmark = pytest.mark.skipif(not hasattr(os, "getuid"), reason="the system has no permissions")


@pytest.fixture(params=[0o000, 0o077])
def umask(request) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def open_to_others(home: Path) -> list[str]:
    """Return what others may read, write or enter."""
    found = (home, *home.rglob("*"))
    return sorted(str(path.relative_to(home.parent)) for path in found if path.lstat().st_mode & 0o077)


def opened(home: Path) -> None:
    """Give a home the permissions that earlier versions gave."""
    for path in (home, *home.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)


def test_every_file_of_a_home_is_private_under_every_umask(umask, tiny_repo, tmp_path):
    home = tmp_path / "new" / "home"
    engine = Engine(home, device="cpu", vectors=VectorConfig(hnsw_threshold=1))
    engine.index(tiny_repo)
    write_tree(tiny_repo, {"more.py": "def push_more(item): pass\n"})
    engine.search("push", Scope(roots=(tiny_repo,)))
    engine.index(tiny_repo, IndexOptions(hidden=True), optimize=True)
    engine.export(tmp_path / "x.codesearch", tiny_repo, with_code=True)
    engine.import_index(tmp_path / "x.codesearch", name="x")
    engine.search("push", Scope(("x",)))
    assert engine.verify()
    engine.close()
    assert len(list(home.rglob("*"))) > 35
    assert open_to_others(home) == []
    assert (tmp_path / "x.codesearch").stat().st_mode & 0o777 == 0o666 & ~umask


def test_a_home_of_an_earlier_version_is_closed_to_others(tiny_repo, home):
    index_by_engine(tiny_repo, home)
    opened(home)
    Engine(home)
    assert home.stat().st_mode & 0o777 == 0o700


def test_a_folder_with_other_files_stays_as_it_is(tiny_repo, home):
    index_by_engine(tiny_repo, home)
    opened(home)
    (home / "notes.txt").write_text("mine\n")
    make_private(str(home))
    assert home.stat().st_mode & 0o777 == 0o755
    (home / "notes.txt").unlink()
    make_private(str(home))
    assert home.stat().st_mode & 0o777 == 0o700


def test_a_file_system_without_permissions_is_no_error(tiny_repo, home, monkeypatch):
    index_by_engine(tiny_repo, home)
    opened(home)
    changed: list[str] = []
    monkeypatch.setattr(os, "chmod", lambda path, mode, **_: changed.append(str(path)))
    engine = Engine(home)
    assert {hit.name for hit in engine.search("push", Scope(roots=(tiny_repo,))).hits} >= {"push"}
    assert set(changed) == {str(home)}
    assert len(list_indexes(home)) == 1


def test_a_relative_data_folder_is_not_used(monkeypatch, tmp_path):
    monkeypatch.delenv("CODESEARCH_HOME", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", "data")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_home() == str(tmp_path / ".local/share/codesearch")
