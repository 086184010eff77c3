"""A whole query: fusion, exact names, filters, several roots and a deterministic order."""

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from codesearch.config import MODES, IndexConfig, RankConfig, VectorConfig
from codesearch.errors import ConfigError
from codesearch.search.request import Filters
from codesearch.search.searcher import Searcher
from codesearch.store.segments import IndexReader
from tests.conftest import TINY_REPO, HashEncoder, best, only, search, write_tree

IndexTree = Callable[..., IndexReader]


@pytest.fixture
def searcher(built_index, encoder) -> Searcher:
    return Searcher([built_index], encoder)


def names(hits) -> list[str]:
    return [hit.qualified_name for hit in hits]


def test_the_best_hits_share_words_with_the_query(searcher):
    hits = search(searcher, "convert an integer to its decimal string", 2)
    assert names(hits) == ["int_to_string", "string_to_int"]
    assert [hit.rank for hit in hits] == [1, 2]
    assert names(search(searcher, "encrypt with aes", 1)) == ["encryptAes"]
    assert names(search(searcher, "send http request", 1)) == ["getJson"]


def test_the_score_is_the_weighted_sum_of_the_signals(built_index, encoder):
    config = RankConfig(
        semantic_weight=0.7,
        lexical_weight=0.4,
        name_weight=0.3,
        data_penalty=0,
        file_diversity_penalty=0.1,
        summary_weight=0.2,
        opposite_penalty=0,
        extra_penalty=0,
        uses_weight=0.3,
    )
    hits = search(Searcher([built_index], encoder, config), "push", 13)
    for hit in hits:
        signals = hit.signals
        semantic = signals["cosine"] * signals["length_prior"]
        expected = (
            0.7 * semantic
            + 0.1 * signals["window"]
            + 0.4 * signals["bm25_normalised"]
            + 0.3 * signals["name"]
        )
        expected += 0.2 * signals["summary"] + 0.3 * signals["uses"] + 0.4 * signals["file_diversity"]
        assert hit.score == pytest.approx(expected, abs=1e-6)
    assert 0.5 < max(hit.signals["bm25_normalised"] for hit in hits) < 1.0


def test_keywords_of_pasted_code_have_more_weight(built_index, encoder):
    config = RankConfig(
        semantic_weight=1.0,
        lexical_weight=0.4,
        code_lexical_weight=2.0,
        window_weight=0,
        file_diversity_penalty=0,
        data_penalty=0,
        summary_weight=0,
        opposite_penalty=0,
        extra_penalty=0,
        uses_weight=0,
    ).all_code()
    for query, weight in (("push an item", 0.4), ("items.push(item);\nreturn items;", 2.0)):
        hits = search(Searcher([built_index], encoder, config), query, 13)
        assert max(hit.signals["bm25_normalised"] for hit in hits) > 0.2
        for hit in hits:
            semantic = hit.signals["cosine"] * hit.signals["length_prior"]
            assert hit.score == pytest.approx(semantic + weight * hit.signals["bm25_normalised"], abs=1e-6)


def test_the_length_prior_grows_with_the_length_of_the_body(built_index, encoder):
    def length_priors(half: float) -> dict[str, float]:
        hits = search(
            Searcher([built_index], encoder, RankConfig(length_prior_half=half)), "push an item", 13
        )
        return {hit.qualified_name: hit.signals["length_prior"] for hit in hits}

    priors = length_priors(5.0)
    # Stack.push has 8 tokens: def, push, self, item, self, items, append, item.
    assert priors["Stack.push"] == pytest.approx(8 / 13)
    assert priors["Stack"] == priors["Sorter"] == pytest.approx(30 / 35)
    assert priors["Reader.Close"] < priors["PriorityQueue.push"] < priors["getJson"]
    assert set(length_priors(0.0).values()) == {1.0}


def test_the_signals_are_cosine_and_bm25(searcher, built_index, encoder):
    (hit,) = search(searcher, "sort a list of strings", 1)
    vector = encoder.encode_queries(["sort a list of strings"])[0]
    assert (hit.qualified_name, hit.signals["name"]) == ("Sorter.sortStrings", 0.0)
    assert hit.signals["cosine"] == pytest.approx(float(only(built_index).vectors.similarities(vector)[3]))
    assert hit.signals["bm25"] > 0


def test_lexical_and_semantic_mode_use_only_their_signal(built_index, encoder):
    searcher = Searcher([built_index], encoder, RankConfig(data_penalty=0, file_diversity_penalty=0))
    lexical = search(searcher, "decimal string", 13, mode="lexical")
    assert names(lexical) == "int_to_string string_to_int Sorter.sortStrings encryptAes ReadLines".split()
    assert {hit.signals["cosine"] for hit in lexical} == {0.0}
    semantic = search(searcher, "decimal string", 13, mode="semantic")
    assert len(semantic) == 13
    assert {hit.signals["bm25"] for hit in semantic} == {0.0}
    cosines = [hit.signals["cosine"] * hit.signals["length_prior"] for hit in semantic]
    assert cosines == sorted(cosines, reverse=True)


def test_lexical_mode_needs_no_model(built_index):
    searcher = Searcher([built_index], None)
    assert names(search(searcher, "priority", 1, mode="lexical")) == ["PriorityQueue.push"]
    with pytest.raises(ConfigError, match="no model is loaded: only mode lexical can answer"):
        search(searcher, "priority")


def test_filters_apply_before_the_top_k_is_cut(searcher_of):
    parse = "def parse_json(text):\n    return json.loads(text){}\n"
    files = {f"{n:02}.py": parse.format(f"[{n}]") for n in range(30)}
    weak = "package x\n\nfunc Weak{}(a int) int {{\n\treturn a\n}}\n"
    files |= {f"z{n}.go": weak.format(n) for n in range(5)}
    searcher = searcher_of(files, RankConfig(candidate_count=4))
    assert {hit.language for hit in search(searcher, "parse the json", 4)} == {"python"}
    hits = search(searcher, "parse the json", 4, Filters(languages=("go",)))
    assert [hit.language for hit in hits] == ["go"] * 4
    assert len(search(searcher, "parse the json", 10, Filters(languages=("python",)), mode="lexical")) == 10


def test_filters_do_not_change_the_order_or_signals_of_the_remaining_hits(searcher):
    every = search(searcher, "push an item", 13)
    of_python = search(searcher, "push an item", 13, Filters(languages=("python",)))
    expected = [hit for hit in every if hit.language == "python"]
    assert names(of_python) == names(expected)
    assert [hit.signals["cosine"] for hit in of_python] == [hit.signals["cosine"] for hit in expected]


QUERIES = ("sort strings", "push", "convert int to string", "read_lines", "stack.push(item); return item;")
FILTERS = (Filters(), Filters(languages=("python", "java")), Filters(kinds=("method",), paths=("[jpr]*/",)))


def test_several_roots_score_like_one_root_with_all_files(encoder, index_of):
    split = [{p: t for p, t in TINY_REPO.items() if (p < "k") is early} for early in (True, False)]
    parts = [index_of(files, f"part{i}") for i, files in enumerate(split)]
    whole = Searcher([index_of(TINY_REPO, "whole")], encoder)
    for indexes in (parts, parts[::-1]):
        searcher = Searcher(indexes, encoder)
        for query, mode, filters in product(QUERIES, MODES, FILTERS):
            found = search(searcher, query, 13, filters, mode)
            moved = [replace(hit, root=whole.searched.indexes[0].manifest.root) for hit in found]
            assert moved == search(whole, query, 13, filters, mode), (query, mode, filters)


@pytest.mark.parametrize("query", ["", "   ", "?!", "-> ()"])
def test_a_query_without_words_is_an_error(searcher, query):
    with pytest.raises(ConfigError) as caught:
        search(searcher, query)
    assert str(caught.value) == f"query {query!r} has no words to search for"


def test_an_index_of_another_model_is_refused_with_the_cure(built_index, tokenizer_path, tiny_repo):
    with pytest.raises(ConfigError) as caught:
        Searcher([built_index], HashEncoder(tokenizer_path, "newer"))
    assert str(caught.value) == (
        f"{tiny_repo} was indexed with model hash (hash), not with hash (newer): "
        f"run `codesearch index {tiny_repo}` again, with the same --model if you gave one"
    )


def test_the_graph_gives_the_ranking_of_the_exact_scan(tmp_path, encoder, index_tree):
    pytest.importorskip("hnswlib")
    code = "def f{0}(a, b):\n    return a{0} + word{1} * other{2}\n"
    files = {f"f{n}.py": code.format(n, n % 7, n % 11) for n in range(150)}
    root = write_tree(tmp_path / "src", files)
    exact = best(Searcher([index_tree(root)], encoder), "word3 times other5", 10, mode="semantic")
    config = IndexConfig(vectors=VectorConfig(hnsw_threshold=100))
    index = index_tree(root, config=config)
    assert only(index).vectors.has_graph
    assert best(Searcher([index], encoder), "word3 times other5", 10, mode="semantic") == exact


RANK = """
import sys
from pathlib import Path
from tests.conftest import HashEncoder, best
from codesearch.store.catalogue import index_folder
from codesearch.store.segments import IndexReader
from codesearch.search.searcher import Searcher
index = IndexReader.open(Path(sys.argv[1]))
searcher = Searcher([index], HashEncoder(Path(sys.argv[2])))
for query in ("push an item", "string", "read lines of a file"):
    for mode in ("hybrid", "lexical", "semantic"):
        print(best(searcher, query, 13, mode=mode))
"""


def test_a_ranking_is_the_same_under_every_hash_seed(built_index, tokenizer_path):
    outputs = set()
    for seed in ("0", "4242"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(__file__).parents[3])}
        command = [sys.executable, "-c", RANK, str(built_index.folder), str(tokenizer_path)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        outputs.add(done.stdout)
    assert len(outputs) == 1
    assert outputs.pop().count("\n") == 9
