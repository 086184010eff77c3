"""Our metrics against `ir_measures` (which uses trec_eval), with whole grades, where the variants are the same."""

import random

import ir_measures
import pytest

from codesearch.evaluation.metrics import ndcg, ndcg_within, recall_at_k, reciprocal_rank

GAINS = {grade: 2**grade - 1 for grade in range(4)}
DOCUMENTS = [f"d{number:03}" for number in range(500)]


def judged_run(seed: int) -> tuple[list[str], dict[str, int]]:
    chance = random.Random(seed)
    run = chance.sample(DOCUMENTS, chance.randint(1, 400))
    grades = {document: chance.choice([0, 0, 1, 2, 3]) for document in chance.sample(DOCUMENTS, 60)}
    return run, grades | {chance.choice(DOCUMENTS): 3}


def theirs(measure: object, run: list[str], grades: dict[str, int]) -> float:
    qrels = [ir_measures.Qrel("q", document, grade) for document, grade in grades.items()]
    scored = [ir_measures.ScoredDoc("q", document, float(-rank)) for rank, document in enumerate(run)]
    return ir_measures.calc_aggregate([measure], qrels, scored)[measure]


@pytest.mark.parametrize("seed", range(20))
def test_every_metric_agrees(seed):
    run, grades = judged_run(seed)
    judged_only = ir_measures.nDCG(gains=GAINS) @ 300
    within = [document for document in run[:300] if document in grades]
    relevant = {document for document, grade in grades.items() if grade}
    assert ndcg(run, grades) == pytest.approx(theirs(ir_measures.nDCG(gains=GAINS) @ 300, run, grades))
    assert recall_at_k(run, grades, 10) == pytest.approx(theirs(ir_measures.R @ 10, run, grades))
    assert reciprocal_rank(run, relevant) == pytest.approx(theirs(ir_measures.RR, run, grades))
    if within:
        assert ndcg_within(run, grades) == pytest.approx(theirs(judged_only, within, grades))
