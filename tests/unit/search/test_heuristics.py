"""Direction and penalties change the scores of the first candidates."""

import pytest

from codesearch.config import RankConfig
from codesearch.search.searcher import Searcher
from codesearch.store.segments import IndexReader
from tests.conftest import best, search

TREE = {
    "a.py": 'def string_to_int(value):\n    """Convert a string to an int."""\n    return value\n',
    "b.py": 'def int_to_string(value):\n    """Convert an int to a string."""\n    return value\n',
    "c_test.py": 'def test_join_paths():\n    """Join paths."""\n    join_paths()\n',
    "d.py": 'def join_paths(first, second):\n    """Put one path below another."""\n    return value\n',
}


@pytest.fixture
def index(index_of) -> IndexReader:
    return index_of(TREE)


def names(index: IndexReader, query: str, config: RankConfig | None = None) -> list[str]:
    return [hit.name for hit in search(Searcher([index], None, config), query, 2, mode="lexical")]


def test_each_of_two_inverse_functions_is_first_for_its_own_query(index):
    assert names(index, "convert int to string") == ["int_to_string", "string_to_int"]
    assert names(index, "convert string to int") == ["string_to_int", "int_to_string"]


def test_a_test_ranks_below_what_it_tests(index):
    query = "join the paths"
    without = RankConfig(test_penalty=0.0, summary_weight=0.0, uses_weight=0.0, extra_penalty=0.0)
    assert names(index, query, without) == ["test_join_paths", "join_paths"]
    assert names(index, query) == ["join_paths", "test_join_paths"]


def test_a_query_for_tests_finds_them_first(index):
    assert names(index, "test join paths") == ["test_join_paths", "join_paths"]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("tests for joining a path below another", "test_join_paths"),
        ("a test that joins a path below another", "test_join_paths"),
        ("test and join a path below another", "join_paths"),
    ],
)
def test_a_query_that_wants_tests_ranks_them_above_what_they_test(index, query, first):
    assert names(index, query)[0] == first


def test_a_heuristics_count_of_zero_keeps_the_fused_order(index):
    plain, default = RankConfig(heuristics_count=0), RankConfig()
    searchers = [Searcher([index], None, config) for config in (plain, default)]
    found = [best(searcher, "join the paths", 2, mode="lexical") for searcher in searchers]
    doc_ids = ([place.doc_id for place in run] for run in found)
    paths = [[ref.path for ref in searchers[0].searched.snapshot.refs(run)] for run in doc_ids]
    assert paths == [["c_test.py", "d.py"], ["d.py", "c_test.py"]]
    assert {place.signals["test"] for place in found[0]} == {0}


def test_a_signal_without_a_penalty_is_positive_zero(index):
    hits = search(Searcher([index], None), "join the paths", 2, mode="lexical")
    assert [str(hit.signals["generated"]) for hit in hits] == ["0.0", "0.0"]
