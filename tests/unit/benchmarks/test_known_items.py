"""Questions to whole trees: how they are kept, and what is counted of the answers."""

from __future__ import annotations

import pytest

from benchmarks.known_items import QUESTIONS, ask, document_key, figures, measure, read_questions
from codesearch.config import RankConfig
from codesearch.errors import ConfigError
from codesearch.evaluation.options import BenchOptions
from codesearch.evaluation.pool import open_pool
from codesearch.evaluation.stages import StageClock
from codesearch.evaluation.systems import System


@pytest.mark.parametrize("language", ["python", "go", "ruby"])
def test_every_question_is_asked_once_and_says_what_answers_it(language):
    questions = read_questions(language)
    assert len(questions) == len((QUESTIONS / f"{language}.tsv").read_text("utf-8").splitlines())
    for question, right in questions.items():
        assert question and all(":" in answer and answer.strip() == answer for answer in right)


def test_ranks_become_shares():
    assert figures([1.0, 0.5, 0.1, 0.05, 0.0]) == {"mrr": 0.33, "first": 0.2, "in_ten": 0.6}


def test_all_of_a_tree_competes_classes_too(tiny_repo, tmp_path):
    pytest.importorskip("onnxruntime")
    options = BenchOptions(home=tmp_path, device="cpu")
    questions = {"Stack": {"python/convert.py:Stack"}, "convert int to string": {"python/convert.py:missing"}}
    with open_pool(tiny_repo, options, StageClock(), document_key) as pool:
        ranks = ask(pool, System("default", "hybrid", "", RankConfig()), questions)
    assert ranks == [1.0, 0.0]


def test_another_tree_is_refused_by_the_question_that_it_cannot_answer(tiny_repo):
    pytest.importorskip("onnxruntime")
    with pytest.raises(ConfigError, match="nothing answers 'copy a directory recursively'"):
        measure("ruby", tiny_repo)
