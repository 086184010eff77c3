"""Ranks and metrics against naive loops, and NCS trained without pairs."""

import random

import numpy as np
import pytest
import torch

from tests.unit.training.conftest import part, train_tokenizer
from training import objectives
from training.build import build_model
from training.config import TrainConfig
from training.corpus.rows import Row
from training.evaluation import mrr
from training.evaluation.mrr import (
    batch_mrr,
    encode,
    encode_texts,
    figures,
    mrr_by_language,
    ranks_among,
    recalls,
)
from training.pipeline import fit
from training.samples import make_samples

LIMITS = {"max_query_tokens": 30, "max_document_tokens": 60}


@pytest.fixture(scope="module")
def data(synthetic_rows):
    rows = synthetic_rows(60, 1, languages=("go", "php"))
    tokenizer = train_tokenizer(rows, 300)
    return tokenizer, make_samples(rows, tokenizer, **LIMITS)


def unit(*shape):
    return torch.nn.functional.normalize(
        torch.randn(*shape, generator=torch.Generator().manual_seed(4)), dim=1
    )


def naive_rank(query, right, wrong):
    """Return the rank of the right answer, which is last among ties."""
    score = float(query @ right)
    return 1 + sum(float(query @ document) >= score for document in wrong)


def test_ranks_among_all_agree_with_a_naive_loop():
    queries, documents = unit(5, 4), unit(12, 4).flip(0)
    answers = np.array([3, 0, 11, 3, 7])
    expected = [
        naive_rank(queries[i], documents[answer], [d for j, d in enumerate(documents) if j != answer])
        for i, answer in enumerate(answers.tolist())
    ]
    assert ranks_among(queries, documents, answers).tolist() == expected


def test_processes_share_the_pools_of_a_validation(data, monkeypatch):
    tokenizer, samples = data
    model = build_model(TrainConfig(dim=8), tokenizer.vocabulary_size, [samples])
    expected = mrr_by_language(model, samples, pool=10, max_pools=2)
    embedded, gathered = [], []
    monkeypatch.setattr(mrr, "encode", lambda *rest: embedded.append(len(rest[2])) or encode(*rest))
    monkeypatch.setattr(mrr, "world", lambda: 3)
    for process in range(3):  # Each gets what the others before it found; the last one has all.
        monkeypatch.setattr(mrr, "rank", lambda process=process: process)
        monkeypatch.setattr(
            mrr, "gather_values", lambda own: gathered.append(own) or [all_pools(), *gathered]
        )
        found = mrr_by_language(model, samples, pool=10, max_pools=2)
    assert found == expected
    assert embedded == [10] * 4 and [sorted(own) for own in gathered] == [[0, 3], [1], [2]]


def all_pools():
    return dict.fromkeys(range(4), 0.0)


def test_validation_may_be_in_half_precision(data, monkeypatch):
    tokenizer, samples = data
    seen = []
    for architecture in ("nbow", "unif", "birnn", "cnn-selfatt", "bert"):
        config = TrainConfig(architecture=architecture, dim=32)
        model = build_model(config, tokenizer.vocabulary_size, [samples])
        exact = mrr_by_language(model, samples, pool=30)
        with monkeypatch.context() as patch:
            patch.setattr(mrr, "mixed_precision", lambda device: torch.autocast("cpu", torch.bfloat16))
            patch.setattr(mrr, "batch_mrr", lambda *sides: seen.append(sides) or batch_mrr(*sides))
            assert mrr_by_language(model, samples, pool=30) == pytest.approx(exact, abs=0.1)
    assert {side.dtype for queries, documents, _ in seen for side in (queries, documents)} == {torch.float32}


def test_an_incomplete_batch_is_dropped():
    queries, documents = torch.eye(5), torch.eye(5)
    documents[[3, 4]] = documents[[4, 3]]  # Wrong answers in the third batch, which is incomplete.
    documents[3] = queries[3]
    assert batch_mrr(queries, documents, 2) == 1.0
    assert batch_mrr(queries, documents, 5) < 1.0


def test_recall_counts_answers_up_to_each_rank():
    found = recalls(np.array([1, 2, 7, 20]))
    assert found["mrr_full"] == pytest.approx((1 + 1 / 2 + 1 / 7 + 1 / 20) / 4)
    assert (found["recall_at_1"], found["recall_at_5"], found["recall_at_10"]) == (0.25, 0.5, 0.75)


def test_vectors_come_in_the_order_asked_for(data):
    tokenizer, samples = data
    model = build_model(TrainConfig(architecture="cnn", dim=16), tokenizer.vocabulary_size, [samples]).eval()
    indices = np.flatnonzero(samples.languages == 1)[::-1].copy()
    queries, documents = encode(model, samples, indices)
    one_by_one = [encode(model, samples, indices[i : i + 1]) for i in range(len(indices))]
    torch.testing.assert_close(queries, torch.cat([query for query, _ in one_by_one]))
    torch.testing.assert_close(documents, torch.cat([document for _, document in one_by_one]))
    texts = [samples.documents[index] for index in indices]
    torch.testing.assert_close(encode_texts(model.document("php"), texts), documents)


def test_metrics_are_per_language_with_a_mean_and_need_a_full_pool(data, synthetic_rows):
    tokenizer, samples = data
    model = build_model(TrainConfig(dim=16), tokenizer.vocabulary_size, [samples])
    found = figures(model, samples, pool=30)
    # With all documents in the pool, the metrics are equal.
    assert found["mrr_999"] == found["mrr_full"]
    queries, documents = encode(model, samples, np.flatnonzero(samples.languages == 0))
    by_code = ranks_among(documents, queries, np.arange(30))
    assert found["mrr_999_by_code"]["go"] == pytest.approx((1 / by_code).mean())
    assert 0 < found["mrr_999_mixed"]["average"] < found["mrr_999"]["average"]
    assert found["mrr_999"]["average"] == pytest.approx(
        (found["mrr_999"]["go"] + found["mrr_999"]["php"]) / 2
    )
    rows = synthetic_rows(30, 1, languages=("go",))
    small = figures(model, make_samples(rows, tokenizer, **LIMITS), pool=31)
    assert set(small) == {"mrr_full", "recall_at_1", "recall_at_5", "recall_at_10"}


@pytest.mark.thorough
def test_ncs_learns_that_words_with_the_same_neighbours_are_similar(tmp_path, monkeypatch):
    """Synonyms never occur in one text, so only their neighbours show that they are similar."""
    things = [("remove", "delete"), ("begin", "start"), ("show", "print"), ("fetch", "get")]
    chance = random.Random(1)
    rows = []
    for number in range(400):
        thing = chance.randrange(4)
        code = " ".join(chance.sample([f"{letter}near{thing}" for letter in "abcdef"], 4))
        rows.append(Row("a/b", "b", "x", "", "", "go", code, things[thing][number % 2], ""))
    tokenizer = train_tokenizer(rows, 300)
    samples = make_samples(rows, tokenizer, **LIMITS)
    monkeypatch.setattr(objectives, "TEXTS", 50)
    monkeypatch.setattr(objectives, "FREQUENT", 1.0)
    config = TrainConfig(architecture="ncs", dim=8, learning_rate=0.05, epochs=40, patience=99)
    model = build_model(config, tokenizer.vocabulary_size, [samples])
    fit(model, config, [part(samples)], [part(samples)], tmp_path)
    first, second = (
        encode_texts(model.query, [tokenizer.encode(pair[side], 9) for pair in things]) for side in (0, 1)
    )
    assert (first @ second.T).argmax(dim=1).tolist() == [0, 1, 2, 3]
