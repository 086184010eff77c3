"""Documentation against code: the pool, ranks, and both ways to choose the candidates."""

import gzip
import json

import numpy as np
import pytest

from benchmarks.compare import compare
from codesearch.errors import ConfigError
from codesearch.evaluation.judge import BenchOptions
from codesearch.evaluation.result import SuiteResult, write_json
from training.evaluation import csn_mrr
from training.evaluation.pairs import (
    CodeScorer,
    EnglishScorer,
    Pair,
    ranks,
    read_pair,
    summarise_means,
    without_docstring,
)
from training.files import TrainingError

CODES = [
    "def int_to_string(number): return str(number)",
    "def read_lines(path): pass",
    "def push(item): pass",
]
OFFICIAL = {
    "repo": "a/b",
    "path": "c.py",
    "func_name": "read",
    "original_string": "",
    "language": "python",
    "docstring": "Read all lines.\n\nSlowly.",
    "docstring_tokens": ["Read", "all", "lines", "."],
    "code": 'def read(path):\n    """Read all lines."""\n    return open(path)',
}


def test_a_pair_is_the_documentation_and_the_code_without_it():
    assert read_pair("f:1", OFFICIAL, ["code"]) == Pair(
        "Read all lines .", "def read(path):\n    \n    return open(path)"
    )
    own = {"language": "go", "docstring": "Read it.\n\nSlowly.", "code": "func Read() {}"}
    assert read_pair("f:1", own, ["function", "code"]) == Pair("Read it.", "func Read() {}")


def test_a_docstring_that_the_parser_does_not_find_is_removed_by_its_text():
    fragment = "x = 1  # Add one.\nreturn x  # Add one."
    assert without_docstring(fragment) == fragment
    assert without_docstring(fragment, "Add one.") == "x = 1  # \nreturn x  # Add one."
    whole = 'def f(x):\n    """Add one."""\n    return "Add two."'
    assert without_docstring(whole, "Add two.") == 'def f(x):\n    \n    return "Add two."'


def test_a_record_without_code_is_named():
    with pytest.raises(ConfigError, match="rows.jsonl:3: no field code or function"):
        read_pair("rows.jsonl:3", {"docstring": "Read."}, ["code", "function"])


def test_a_pool_scores_every_code_for_every_query(encoder):
    scorer = CodeScorer(CODES, encoder)
    scores = scorer.scores(["convert int to string", "push an item"])
    assert scores["bm25"].argmax(axis=1).tolist() == scores["dense"].argmax(axis=1).tolist() == [0, 2]
    assert scores["bm25"][0, 1] == 0.0
    fused = scorer.fused(scores["bm25"], scores["dense"])
    assert fused[1, 2] == pytest.approx(1.4 * scores["dense"][1, 2] + 0.6 * scores["bm25"][1, 2])
    assert 0.0 < scores["bm25"][1, 2] < 1.0
    scorer.close()


def test_intervals_agree_with_the_normal_distribution():
    result = summarise_means({"mrr": {"go": np.array([1.0, 0.0, 1.0, 0.0]), "php": np.full(4, 0.25)}})
    assert result.metrics == {"mrr": {"go": 0.5, "php": 0.25, "average": 0.375}}
    assert result.ci95["mrr"]["go"] == pytest.approx((0.5 - 1.96 * 0.25, 0.5 + 1.96 * 0.25))
    assert result.ci95["mrr"]["average"] == pytest.approx((0.375 - 1.96 * 0.125, 0.375 + 1.96 * 0.125))
    assert result.ci95["mrr"]["php"] == (0.25, 0.25)


def test_results_without_scores_of_queries_cannot_be_compared_query_by_query(tmp_path):
    systems = {"dense": summarise_means({"mrr": {"go": np.array([1.0, 0.5])}})}
    result = SuiteResult("csn-mrr", systems, judged_queries=2, documents=2)
    file = tmp_path / "result.json"
    write_json(file, result, "python -m training bench")
    with pytest.raises(ConfigError, match="suite csn-mrr keeps no scores of single queries"):
        compare(file, file)


def numbered(count: int) -> list[Pair]:
    """Return pairs whose query has one rare word, which only its code contains."""
    words = ["".join(chr(97 + (number // 26**place) % 26) for place in range(3)) for number in range(count)]
    return [Pair(f"the {word}q", f"def {word}q(): pass") for word in words]


def test_english_keywords_are_stems_without_stop_words_and_do_not_split_identifiers():
    codes = ["lines = reading(path)", "int_to_string(number)", "the lines of the readers, the lines"]
    scores = EnglishScorer(codes).scores(["Read the line", "string", "the", "int_to_string"])
    assert scores.shape == (4, 3)
    assert scores[0, 0] > scores[0, 2] > scores[0, 1] == 0.0
    assert not scores[1:3].any()
    assert scores[3].argmax() == 1


def test_pairs_that_do_not_fill_a_batch_are_dropped(encoder):
    found = csn_mrr.reciprocal_ranks(numbered(11), encoder, size=4)
    assert {len(values) for values in found.values()} == {8}
    assert found["bm25"].tolist() == [1.0] * 8


def test_equal_codes_all_rank_last(encoder):
    pairs = [Pair("read lines", "def read_lines(path): pass")] * 8
    found = csn_mrr.reciprocal_ranks(pairs, encoder, size=4)
    assert found["bm25"].tolist() == [0.25] * 8


def test_the_official_folder_layout_is_read_by_language(tmp_path, home, tiny_bundle, monkeypatch):
    monkeypatch.setattr(csn_mrr, "COMPETING", 2)
    folder = tmp_path / "python" / "final" / "jsonl" / "test"
    folder.mkdir(parents=True)
    with gzip.open(folder / "python_test_0.jsonl.gz", "wt") as file:
        file.write(f"{json.dumps(OFFICIAL)}\n{json.dumps({**OFFICIAL, 'language': 'ruby'})}\n")
        file.write(json.dumps({**OFFICIAL, "docstring_tokens": ["push"], "code": "def push(): pass"}) + "\n")
        file.write(json.dumps({**OFFICIAL, "docstring": "", "docstring_tokens": []}) + "\n")
    result = csn_mrr.run(BenchOptions(home=home, data=tmp_path, model=tiny_bundle, device="cpu"))
    assert result.details["pairs"] == {"python": 2, "ruby": 1}
    assert (result.judged_queries, result.documents) == (2, 2)
    assert list(result.systems["bm25"].metrics["mrr"]) == ["python", "average"]


def test_too_little_data_is_refused(tmp_path, home):
    with pytest.raises(TrainingError, match="no corpus in this folder"):
        csn_mrr.run(BenchOptions(home=home, data=tmp_path))
    (tmp_path / "test.jsonl").write_text(json.dumps(OFFICIAL) + "\n")
    with pytest.raises(ConfigError, match="no language has 1,000 functions"):
        csn_mrr.run(BenchOptions(home=home, data=tmp_path))


def test_the_right_answer_ranks_last_among_ties():
    scores = np.float32([[0.5, 0.5, 0.1], [0.5, 0.5, 0.1], [0.9, 0.1, 0.2]])
    assert ranks(scores, np.array([0, 2, 2])).tolist() == [2, 3, 2]
    assert ranks(np.zeros((2, 5)), np.array([0, 4])).tolist() == [5, 5]
    assert ranks(np.array([[np.nan, 0.1], [0.2, np.nan]]), np.array([0, 0])).tolist() == [2, 2]
