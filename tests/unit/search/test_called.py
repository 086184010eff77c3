"""What the best definitions call ranks higher."""

from __future__ import annotations

from collections.abc import Callable

from codesearch.config import RankConfig
from codesearch.search.searcher import Searcher
from tests.conftest import search

TREE = {
    "app/page.py": "def save_page(page):\n    check(page)\n    return write_out(page)\n",
    "app/disk.py": "def write_out(thing):\n    return store(thing, 'page', sync=True)\n",
    "app/other.py": "def copy_out(page):\n    return store(page, 'other', sync=True)\n",
}


def test_a_definition_that_the_best_one_calls_is_above_its_equals(
    searcher_of: Callable[..., Searcher],
) -> None:
    searcher = searcher_of(TREE)
    found = {hit.name: hit for hit in search(searcher, "save a page", mode="lexical")}
    assert list(found)[:2] == ["save_page", "write_out"]
    assert found["write_out"].signals["called"] == 1
    assert not found["copy_out"].signals["called"]
    searcher.config = RankConfig(called_reward=0.0)
    assert [hit.name for hit in search(searcher, "save a page", mode="lexical")][1] == "copy_out"
