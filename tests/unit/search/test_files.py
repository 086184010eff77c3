"""Files are ranked by their best definition, their other definitions and their names."""

from __future__ import annotations

import pytest

from codesearch.search.request import SearchRequest
from codesearch.search.searcher import Searcher
from tests.conftest import write_tree

SESSION = "def load():\n    '''Load the session.'''\n    return session\n"
TREE = {
    "a.py": SESSION,
    "b.py": SESSION
    + "\n\ndef save():\n    '''Save the session.'''\n    return session\n"
    + "\n\ndef drop():\n    '''Drop the session.'''\n    return session\n",
    "z.py": "def unrelated():\n    return 1\n",
}


@pytest.fixture
def searcher(tmp_path, index_tree, encoder):
    def of(tree: dict[str, str]) -> Searcher:
        return Searcher([index_tree(write_tree(tmp_path / "src", tree))], encoder)

    return of


def found(searcher: Searcher, query: str, top_k: int = 10) -> list[str]:
    hits = searcher.answer(SearchRequest(query, top_k, by_file=True)).hits
    assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
    return [hit.path for hit in hits]


def test_each_file_is_one_hit_also_if_files_have_copies_of_a_definition(searcher):
    assert sorted(found(searcher(TREE), "load the session")) == ["a.py", "b.py", "z.py"]


def test_other_definitions_that_match_raise_a_file(searcher):
    of_tree = searcher(TREE)
    assert found(of_tree, "load the session")[0] == "b.py"
    best = of_tree.answer(SearchRequest("load the session", 1, by_file=True)).hits[0]
    assert best.name == "load" and best.parts["file_support"] > 0
    assert sum(best.parts.values()) == pytest.approx(best.score, abs=1e-5)


def test_the_name_of_a_file_raises_it(searcher):
    tree = searcher({"other.py": SESSION, "sessions.py": SESSION})
    assert found(tree, "load the session") == ["sessions.py", "other.py"]


def test_the_name_of_the_folder_counts_for_a_file_that_has_none_of_its_own(searcher):
    tree = searcher({"alpha/__init__.py": SESSION, "sessions/__init__.py": SESSION})
    assert found(tree, "load the session") == ["sessions/__init__.py", "alpha/__init__.py"]


def test_a_request_gets_as_many_files_as_it_asks_for(searcher):
    assert len(found(searcher({f"f{number}.py": SESSION for number in range(30)}), "session", 20)) == 20
