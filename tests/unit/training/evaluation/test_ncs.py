"""Suite ncs on three methods, and its scores of the published score sheet."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from codesearch.errors import ConfigError
from codesearch.evaluation.judge import BenchOptions
from tests.unit.training.evaluation.test_aroma import HIDE, HIDE_IN_A_METHOD, SHOW_A_TOAST
from training.evaluation import ncs

SHARED = Path(__file__).parents[5] / "shared" / "data" / "ncs"
PUBLISHED = {
    "NCS": (33, 74, 98, 0.189),
    "NCS_postrank": (85, 151, 180, 0.400),
    "UNIF_android": (25, 75, 110, 0.178),
    "UNIF_stackoverflow": (104, 164, 188, 0.464),
}
"""Answered at 1, 5 and 10, and MRR in the sheet. The paper has 74 at 5 for UNIF_android, and .465 for the last."""


@pytest.fixture
def data(tmp_path):
    corpus = tmp_path / "ncs" / "corpus"
    corpus.mkdir(parents=True)
    (corpus / "Keyboard.java").write_text(f"class Keyboard {{{HIDE_IN_A_METHOD}}}\n")
    (corpus / "Toasts.java").write_text(f"class Toasts {{{SHOW_A_TOAST}}}\n")
    questions = [
        {"query": "close keyboard", "code": HIDE},
        {
            "id": "2",
            "query": "say toast",
            "code": "Toast.makeText(context, text, Toast.LENGTH_SHORT).show();",
        },
        {"query": "keyboard", "code": "Camera camera = Camera.open(); camera.unlock();"},
    ]
    (tmp_path / "ncs" / "questions.jsonl").write_text("".join(json.dumps(one) + "\n" for one in questions))
    return tmp_path / "ncs"


def test_a_method_similar_to_the_accepted_answer_is_a_hit(data, home, tiny_bundle):
    result = ncs.run(BenchOptions(home=home, data=data, model=tiny_bundle, device="cpu"))
    scores = {query[1]: found["mrr"] for query, found in result.systems["bm25"].queries.items()}
    assert scores == {"close keyboard": 1.0, "say toast": 1.0, "keyboard": 0.0}
    assert result.systems["bm25"].metrics["answered_at_1"]["average"] == pytest.approx(2 / 3)
    assert result.systems["bm25"].queries["java", "keyboard"]["mrr"] == 0.0
    assert (result.judged_queries, result.documents) == (3, 2)


def test_the_rank_of_a_question_is_that_of_its_first_hit(data):
    documents = {"a": ncs.features(SHOW_A_TOAST), "b": ncs.features(HIDE_IN_A_METHOD)}
    answer = ncs.features(HIDE)
    assert ncs.first_rank(["a", "b", "b"], answer, documents.__getitem__) == 2
    assert ncs.first_rank(["a"], answer, documents.__getitem__) is None
    assert ncs.first_rank(["a"] * 50 + ["b"], answer, documents.__getitem__) is None


def test_without_a_corpus_the_error_says_what_to_give(data, home, tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigError, match="no corpus to search: give --data a folder with"):
        ncs.run(BenchOptions(home=home, data=tmp_path / "empty"))
    with pytest.raises(ConfigError, match="suite ncs: no corpus to search"):
        ncs.run(BenchOptions(home=home))


@pytest.mark.skipif(not SHARED.exists(), reason="the published score sheet is not here")
@pytest.mark.parametrize("system", PUBLISHED)
def test_the_scorer_gives_the_published_totals(system):
    with open(SHARED / "score_sheet.csv", encoding="utf-8-sig", newline="") as file:
        ranks = [row[f"{system} FRank"] for row in csv.DictReader(file)]
    found = [ncs.scores(None if rank == "NF" else int(rank)) for rank in ranks]
    totals = [sum(score[f"answered_at_{depth}"] for score in found) for depth in ncs.DEPTHS]
    assert len(found) == 287
    assert (*totals, round(sum(score["mrr"] for score in found) / 287, 3)) == PUBLISHED[system]


@pytest.mark.skipif(not SHARED.exists(), reason="the questions are not here")
def test_every_published_question_has_features():
    pytest.importorskip("zstandard")
    questions = ncs.read_questions(SHARED)
    assert len(questions) == 287
    assert [question.text for question in questions if not ncs.features(question.code)] == []
