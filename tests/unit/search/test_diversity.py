"""File diversity: one file does not fill the ranking, and the order inside a file is kept."""

import pytest

from codesearch.config import RankConfig
from codesearch.search.searcher import Searcher
from tests.conftest import search

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
def index(index_of):
    return index_of(TREE)


def ranked(index, penalty: float, *others):
    config = RankConfig(file_diversity_penalty=penalty)
    return search(Searcher([index, *others], None, config), QUERY, 20, mode="lexical")


def test_another_file_ranks_above_the_second_hit_of_a_file(index):
    assert [hit.path for hit in ranked(index, 0.0)] == ["a/sorts.py"] * 6 + ["b/order.py"]
    assert [hit.path for hit in ranked(index, 0.5)][:2] == ["a/sorts.py", "b/order.py"]


def test_the_order_inside_a_file_is_kept(index):
    plain, spread = (
        [hit.name for hit in ranked(index, penalty) if hit.path == "a/sorts.py"] for penalty in (0.0, 0.5)
    )
    assert spread == plain


def test_the_penalty_grows_with_up_to_four_hits_of_the_file_above(index):
    plain = {hit.name: hit.score for hit in ranked(index, 0.0)}
    lowered = [plain[hit.name] - hit.score for hit in ranked(index, 0.02) if hit.path == "a/sorts.py"]
    assert lowered == pytest.approx([0.0, 0.02, 0.04, 0.06, 0.08, 0.08], abs=1e-6)


def test_files_with_one_path_in_two_roots_are_different_files(index, index_of):
    # The code differs, because copies would be one hit.
    other = {"a/sorts.py": SORTS.replace("sorted(items", "sorted(list(items)")}
    hits = ranked(index, 0.02, index_of(other, "other"))
    assert [hit.signals["file_diversity"] for hit in hits if hit.path == "a/sorts.py"][:2] == [0.0, 0.0]


def test_pasted_code_has_no_diversity_penalty(index, encoder):
    hits = search(Searcher([index], encoder), "def order(items):\n    return len(sorted(items))", 20)
    assert all("file_diversity" not in hit.signals for hit in hits)
