"""No file crowds the others out of a ranking, and inside a file nothing changes places."""

from __future__ import annotations

from pathlib import Path

import pytest

from codesearch.config import RankConfig
from codesearch.index.catalogue import index_folder
from codesearch.index.reader import IndexReader
from codesearch.search.searcher import Searcher
from tests.conftest import HashEncoder, build, search, write_tree

SORTS = "".join(
    f'def sort_{how}(items):\n    """Sort items {how}."""\n    return sorted(items, key={how})\n\n\n'
    for how in ("fast", "slowly", "twice", "never", "later", "again")
)
TREE = {
    "a/sorts.py": SORTS,
    "b/order.py": 'def order(items):\n    """Sort items and count them."""\n    return len(sorted(items))\n',
}
QUERY = "sort items"


@pytest.fixture
def index(tmp_path: Path, home: Path, encoder: HashEncoder) -> IndexReader:
    root = write_tree(tmp_path / "tree", TREE)
    build(root, home, encoder)
    return IndexReader.open(index_folder(home, root))


def ranked(index: IndexReader, penalty: float, *others: IndexReader):
    config = RankConfig(file_diversity_penalty=penalty)
    return search(Searcher([index, *others], None, config), QUERY, 20, mode="lexical")


def test_another_file_rises_above_what_follows_the_best_of_one(index):
    assert [hit.path for hit in ranked(index, 0.0)] == ["a/sorts.py"] * 6 + ["b/order.py"]
    assert [hit.path for hit in ranked(index, 0.5)][:2] == ["a/sorts.py", "b/order.py"]


def test_inside_a_file_the_order_stays(index):
    plain, spread = (
        [hit.name for hit in ranked(index, penalty) if hit.path == "a/sorts.py"] for penalty in (0.0, 0.5)
    )
    assert spread == plain


def test_each_is_lowered_by_those_above_it_four_at_the_most(index):
    plain = {hit.name: hit.score for hit in ranked(index, 0.0)}
    lowered = [plain[hit.name] - hit.score for hit in ranked(index, 0.02) if hit.path == "a/sorts.py"]
    assert lowered == pytest.approx([0.0, 0.02, 0.04, 0.06, 0.08, 0.08], abs=1e-6)


def test_files_of_two_folders_are_told_apart(index, tmp_path, index_tree):
    # Copies would be one hit.
    other = {"a/sorts.py": SORTS.replace("sorted(items", "sorted(list(items)")}
    hits = ranked(index, 0.02, index_tree(write_tree(tmp_path / "other", other)))
    assert [hit.signals["file_diversity"] for hit in hits if hit.path == "a/sorts.py"][:2] == [0.0, 0.0]


def test_pasted_code_is_compared_as_it_is(index, encoder):
    hits = search(Searcher([index], encoder), "def order(items):\n    return len(sorted(items))", 20)
    assert all("file_diversity" not in hit.signals for hit in hits)
