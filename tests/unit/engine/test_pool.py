"""What stays open between queries, and what is opened again."""

import os
import shutil

import pytest

from codesearch.engine.pool import Pool
from codesearch.errors import IndexCorruptError, IndexNotFoundError, ModelBundleError
from codesearch.store.catalogue import IndexEntry, index_folder
from tests.conftest import build, only, write_tree
from tests.tiny_bundle import change_one_byte


@pytest.fixture
def folder(tiny_repo, home, encoder):
    build(tiny_repo, home, encoder)
    return index_folder(home, tiny_repo)


def lent(pool: Pool, folder):
    """Borrow an index and give it back at once."""
    with pool.index(IndexEntry(folder, None)) as index:
        return index


def is_closed(index) -> bool:
    closed = set()
    for segment in index.segments:
        try:
            list(segment.store.numbered_files())
            closed.add(False)
        except IndexCorruptError as error:
            assert "closed database" in str(error)
            closed.add(True)
    (all_of_them,) = closed
    return all_of_them


def test_an_index_stays_open_until_it_is_updated(folder, tiny_repo, home, encoder):
    kept = Pool()
    first = lent(kept, folder)
    kept.tidy()
    assert lent(kept, folder) is first and not is_closed(first)
    write_tree(tiny_repo, {"new.py": "def new():\n    pass\n"})
    build(tiny_repo, home, encoder)
    second = lent(kept, folder)
    assert is_closed(first)
    assert second.manifest.documents == first.manifest.documents + 1


def test_an_index_that_is_removed_or_replaced_is_closed(folder, tiny_repo, home, encoder):
    kept = Pool()
    first = lent(kept, folder)
    write_tree(tiny_repo, {"new.py": "def new():\n    pass\n"})
    build(tiny_repo, home, encoder)
    kept.tidy()
    assert is_closed(first)
    second = lent(kept, folder)
    shutil.rmtree(folder)
    kept.tidy()
    assert is_closed(second)
    with pytest.raises(IndexNotFoundError):
        lent(kept, folder)


def test_an_open_index_that_gets_damaged_is_noticed(folder):
    kept = Pool()
    path = only(lent(kept, folder)).folder / "rows.npy"
    path.write_bytes(path.read_bytes() + b"x")
    with pytest.raises(IndexCorruptError, match="rows.npy"):
        lent(kept, folder)


def test_the_least_recently_used_index_is_closed_first(tmp_path, home, encoder):
    kept, folders = Pool(max_indexes=2), []
    for name in "abc":
        root = write_tree(tmp_path / name, {"a.py": "def f():\n    pass\n"})
        build(root, home, encoder)
        folders.append(index_folder(home, root))
    a, b, c = (lent(kept, folder) for folder in folders)
    assert lent(kept, folders[0]) is a
    assert not any(map(is_closed, (a, b, c))), "closed before `tidy`"
    kept.tidy()
    assert [is_closed(index) for index in (a, b, c)] == [False, True, False]


def test_a_model_stays_open_until_its_files_change(tiny_bundle, tmp_path, monkeypatch):
    kept, folder = Pool(), shutil.copytree(tiny_bundle, tmp_path / "bundle")
    first = kept.encoder(folder, "cpu")
    monkeypatch.chdir(tmp_path)
    assert kept.encoder(folder.relative_to(tmp_path), "cpu") is first
    assert kept.encoder(folder, "auto") is not first
    change_one_byte(folder / "query.onnx")
    os.utime(folder / "query.onnx", ns=(1, 1))  # Differs even if the clock is coarse.
    with pytest.raises(ModelBundleError, match="damaged"):
        kept.encoder(folder, "cpu").encode_queries(["a"])


def test_only_a_few_models_stay_open(tiny_bundle, tmp_path):
    kept = Pool(max_encoders=1)
    first = kept.encoder(tiny_bundle, "cpu")
    other = shutil.copytree(tiny_bundle, tmp_path / "bundle")
    kept.encoder(other, "cpu")
    kept.tidy()
    assert kept.encoder(tiny_bundle, "cpu") is not first


def test_a_replaced_index_stays_open_while_it_is_in_use(folder, tiny_repo, home, encoder):
    kept = Pool()
    with kept.index(IndexEntry(folder, None)) as first:
        write_tree(tiny_repo, {"new.py": "def new():\n    pass\n"})
        build(tiny_repo, home, encoder)
        second = lent(kept, folder)
        kept.tidy()
        assert second is not first and not is_closed(first)
    assert is_closed(first) and not is_closed(second)
    kept.close()
    assert is_closed(second)
