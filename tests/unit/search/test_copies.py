"""Copies of one function are one hit, and the source is the one that is shown."""

from dataclasses import replace

import numpy as np
import pytest

from codesearch.config import MODES, IndexConfig, RankConfig, WalkConfig
from codesearch.search.request import Filters, Place, SearchRequest
from codesearch.search.searcher import Searcher
from codesearch.search.similar import search_similar
from codesearch.types import MAX_COPIES
from tests.conftest import best, search, write_tree

JOIN = "function joinPath(a, b) {\n  return a + '/' + b;\n}\n"
SPLIT = "function splitPath(path) {\n  return path.split('/');\n}\n"
BUNDLE = f"if (this) {{\n{JOIN}{SPLIT}}}\n"
EVERYTHING = IndexConfig(walk=WalkConfig(ignore_files=False))
TREE = {"dist/a.js": BUNDLE, "dist/esm/a.js": JOIN + SPLIT, "lib/join.js": JOIN, "lib/split.js": SPLIT}


@pytest.fixture
def searcher(searcher_of) -> Searcher:
    return searcher_of(TREE)


def places(hits) -> list[tuple[str, int, tuple[str, ...], int]]:
    return [(hit.path, hit.start_line, hit.copies, hit.copy_count) for hit in hits]


@pytest.mark.parametrize("mode", MODES)
def test_copies_are_one_hit_and_the_source_is_shown(searcher, mode):
    first, second = search(searcher, "join path", mode=mode)
    assert (first.rank, first.path, first.start_line, first.copy_count) == (1, "lib/join.js", 1, 2)
    assert sorted(first.copies) == ["dist/a.js:2", "dist/esm/a.js:1"]
    assert (second.rank, second.path, second.copy_count) == (2, "lib/split.js", 2)
    assert second.score < first.score


def test_a_hit_has_the_score_of_its_best_copy(searcher):
    ranked = best(searcher, "join path", 10)
    assert len(ranked) == 6
    assert search(searcher, "join path")[0].score == ranked[0].score


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ("lib/a.js", "dist/a.js"),
        ("lib/a.js", "a.min.js"),
        ("lib/a.js", "lib/a.test.js"),
        ("lib/a.js", "node_modules/x/a.js"),
        ("vendor/a.js", "out/a.js"),
        ("src/a.js", "build/lib/a.js"),
    ],
)
@pytest.mark.parametrize("all_code", [False, True])
def test_source_is_shown_instead_of_build_output_tests_and_vendored_code(
    searcher_of, better, worse, all_code
):
    ranking = RankConfig().all_code() if all_code else RankConfig()
    (hit,) = search(searcher_of({better: JOIN, worse: JOIN}, ranking, config=EVERYTHING), "join path")
    assert places([hit]) == [(better, 1, (f"{worse}:1",), 1)]


def test_the_first_path_of_equal_copies_is_shown_after_any_updates(
    tmp_path, index_tree, encoder, never_merged
):
    root = tmp_path / "tree"
    for name in ("c.js", "a.js", "dist/a.js", "b.js"):
        index = index_tree(write_tree(root, {name: JOIN}))
    assert len(index.segments) == 4
    expected = [("a.js", 1, ("b.js:1", "c.js:1", "dist/a.js:1"), 3)]
    assert places(search(Searcher([index], encoder), "join path", mode="lexical")) == expected
    fresh = index_tree(root, rebuild=True)
    assert len(fresh.segments) == 1
    assert places(search(Searcher([fresh], encoder), "join path", mode="lexical")) == expected


def test_a_source_inside_of_a_function_is_shown_instead_of_build_output(searcher_of):
    tree = {"dist/a.js": JOIN, "lib/a.js": f"define(function () {{\n{JOIN}}});\n"}
    hits = search(searcher_of(tree), "join path", mode="lexical")
    assert ("lib/a.js", 2, ("dist/a.js:1",), 1) in places(hits)


def test_only_copies_that_pass_the_filters_are_listed(searcher):
    (first, _) = search(searcher, "join path", filters=Filters(paths=("dist/",)))
    assert places([first]) == [("dist/a.js", 2, ("dist/esm/a.js:1",), 1)]


def test_many_copies_do_not_reduce_the_number_of_different_hits(searcher_of):
    files = {f"copy{n:02}.js": JOIN for n in range(40)} | {
        f"x{n}.js": f"{JOIN[:-3]}\n  + {n};\n}}\n" for n in range(4)
    }
    hits = search(searcher_of(files, RankConfig(candidate_count=5)), "join path", 5, mode="lexical")
    assert [hit.rank for hit in hits] == [1, 2, 3, 4, 5]
    assert sorted(hit.path for hit in hits) == ["copy00.js", "x0.js", "x1.js", "x2.js", "x3.js"]
    (copied,) = (hit for hit in hits if hit.path == "copy00.js")
    assert (copied.copy_count, len(copied.copies)) == (39, MAX_COPIES)
    assert copied.copies[:2] == ("copy01.js:1", "copy02.js:1")


def test_a_copy_is_shown_if_the_source_was_deleted(searcher, tmp_path):
    (tmp_path / "tree" / "lib" / "join.js").unlink()
    (first, _) = search(searcher, "join path")
    assert first.path.startswith("dist/")
    assert (first.code.startswith("function joinPath"), first.copy_count, len(first.copies)) == (True, 1, 1)
    for path in ("dist/a.js", "dist/esm/a.js"):
        (tmp_path / "tree" / path).unlink()
    assert [hit.path for hit in search(searcher, "join path")] == ["lib/split.js"]


def test_a_copy_in_another_folder_has_its_whole_path(tmp_path, index_tree, encoder):
    one, two = (index_tree(write_tree(tmp_path / name, {"a.js": JOIN})) for name in ("one", "two"))
    (hit,) = search(Searcher([one, two], encoder), "join path")
    assert (hit.root, places([hit])) == (
        str(tmp_path / "one"),
        [("a.js", 1, (f"{tmp_path / 'two' / 'a.js'}:1",), 1)],
    )


def test_the_copy_that_the_query_names_is_shown(searcher_of):
    files = {
        "src/paths.py": "def join(a, b):\n    return a + b\n",
        "src/build/other.py": "def join(a, b):\n    return a + b\n",
    }
    searcher = searcher_of(files)
    assert [hit.path for hit in search(searcher, "join")] == ["src/paths.py"]
    assert [hit.path for hit in search(searcher, "other.join")] == ["src/build/other.py"]


def test_different_functions_with_one_name_are_separate_hits(searcher_of):
    searcher = searcher_of({"lib/a.js": JOIN, "dist/a.js": JOIN.replace("a + '/'", "a - '/'")})
    assert sorted(hit.path for hit in search(searcher, "join path")) == ["dist/a.js", "lib/a.js"]


def test_the_function_of_a_similarity_search_is_not_listed_as_a_copy(searcher, tmp_path):
    place = Place(tmp_path / "tree" / "lib" / "join.js", 1)
    first, second = search_similar(searcher, place, SearchRequest("", 5)).hits
    assert places([first]) == [("dist/a.js", 2, ("dist/esm/a.js:1",), 1)]
    assert (second.name, second.path) == ("splitPath", "lib/split.js")


def test_evaluation_ranks_every_document(searcher):
    """A run must contain every judged document, even if a copy is shown in its place."""
    without = replace(searcher.config, file_diversity_penalty=0.0)
    ranked = best(Searcher(searcher.searched.indexes, searcher.encoder, without), "join path", 10)
    doc_ids = np.array([place.doc_id for place in ranked[:3]])
    assert (
        sorted(searcher.searched.snapshot.paths_of(doc_ids)) == "dist/a.js dist/esm/a.js lib/join.js".split()
    )
