"""Batches of several sources and the loss of pairs, against loops."""

import copy
import io
from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.unit.training.conftest import part
from training import objectives
from training.batches import also_answering, make_batch
from training.bpe import train_tokenizer
from training.build import build_model
from training.config import TrainConfig
from training.files import TrainingError
from training.losses import make_loss
from training.objectives import PairObjective, language_weights, make_objective
from training.samples import DTYPES, Pair, SampleWriter, samples_of

CPU = torch.device("cpu")
CONFIG = TrainConfig(dim=8, token_dropout=0.0, hard_negatives=2, temperature=0.2, batch_size=64)
WORDS = "red green blue open close read write file line list map tree sort find".split()


def samples_from(pairs):
    tokenizer = train_tokenizer((word for word in WORDS for _ in range(3)), 200)
    writer = SampleWriter(lambda _: io.BytesIO(), tokenizer, 20, 20)
    writer.add_all(pairs)
    arrays = {name: np.frombuffer(file.getvalue(), DTYPES[name]) for name, file in writer.files.items()}
    return tokenizer, samples_of(arrays, writer.facts())


def pairs(count=10):
    for number in range(count):
        query, right, *wrong = (WORDS[(number + shift) % len(WORDS)] for shift in (0, 3, 5, 7, 9))
        yield Pair(query, right, "go", "p", 0.5 + number / 10, tuple(wrong))


@pytest.fixture
def learned():
    """Return a model with random vectors."""

    def make(config, *samples):
        model = build_model(config, 200, samples)
        torch.nn.init.normal_(model.query.table.weight, generator=torch.Generator().manual_seed(1))
        return model

    return make


def texts_of(tokenizer, texts):
    known = {number: token for token, number in tokenizer._tokenizer.get_vocab().items()}
    ids, mask = texts
    return [
        " ".join(known[one] for one in row[here > 0].tolist()) for row, here in zip(ids, mask, strict=True)
    ]


def test_a_batch_has_each_wrong_document_once_and_no_right_one_as_a_wrong_one():
    tokenizer, samples = samples_from(pairs())
    config = TrainConfig(hard_negatives=3, token_dropout=0.0)
    batch = make_batch(part(samples), np.arange(10), config, counts=False, seed=1)
    documents = texts_of(tokenizer, batch.documents)
    assert len(documents) == len(set(documents))
    expected = {WORDS[(number + shift) % len(WORDS)] for number in range(10) for shift in (3, 5, 7, 9)}
    assert set(documents) == expected
    assert documents[:10] == [WORDS[(number + 3) % len(WORDS)] for number in range(10)]


def test_a_step_draws_some_wrong_documents_by_its_seed():
    _, samples = samples_from(pairs(3))
    config = TrainConfig(hard_negatives=1, token_dropout=0.0)
    rows = {
        seed: make_batch(part(samples), np.arange(3), config, counts=False, seed=seed).documents[0].tolist()
        for seed in range(6)
    }
    again = make_batch(part(samples), np.arange(3), config, counts=False, seed=0).documents[0].tolist()
    assert rows[0] == again
    assert len({str(its) for its in rows.values()}) > 1
    assert all(len(its) <= 6 for its in rows.values())


def test_a_step_takes_a_share_of_the_names_as_queries_and_hides_them_in_the_documents():
    tokenizer, samples = samples_from(
        Pair(f"red {word}", f"open {word}", "go", by_name=(word, "open") if word != "map" else ("", ""))
        for word in WORDS
    )
    seen = {word: set() for word in WORDS}
    for seed in range(12):
        config = TrainConfig(name_share=0.5, token_dropout=0.0)
        batch = make_batch(part(samples), np.arange(len(WORDS)), config, counts=False, seed=seed)
        texts = (texts_of(tokenizer, side) for side in (batch.queries, batch.documents))
        for word, query, document in zip(WORDS, *texts, strict=True):
            seen[word].add((query, document))
    assert seen["map"] == {("red map", "open map")}
    for word in WORDS:
        if word != "map":
            assert seen[word] == {(f"red {word}", f"open {word}"), (word, "open")}


def test_no_two_chunks_of_a_run_have_the_same_dropout(learned, monkeypatch):
    _, samples = samples_from(pairs())
    config = replace(CONFIG, chunk=4)
    objective = PairObjective(learned(config, samples), config, [part(samples)], CPU)
    objective.start(0)
    seeds = []
    monkeypatch.setattr("torch.manual_seed", seeds.append)
    for step in range(3):
        objective.backward(objective.prepare(0, step), step)
    # Both passes over a chunk drop the same.
    assert len(seeds) > 12
    assert len(set(seeds)) == len(seeds) // 2


def test_languages_can_count_the_same():
    _, samples = samples_from(Pair(word, word, "php" if word == "map" else "go") for word in WORDS)
    factors = language_weights([part(samples)])
    assert factors["php"] == pytest.approx(13 * factors["go"])
    assert factors["php"] + 13 * factors["go"] == pytest.approx(14)


def test_equal_queries_and_equal_documents_are_not_wrong_for_each_other():
    queries = torch.tensor([[1], [2], [1], [3]])
    documents = torch.tensor([[5], [6], [7], [5], [7], [8]])
    assert also_answering(queries, documents).tolist() == [
        [False, False, True, True, True, False],
        [False, False, False, False, False, False],
        [True, False, False, True, True, False],
        [True, False, False, False, False, False],
    ]


def test_a_batch_says_which_documents_answer_in_addition():
    tokenizer, samples = samples_from(
        [
            Pair("red", "open", "go"),
            Pair("red", "close", "go", wrong=("open", "map")),
            Pair("blue", "tree", "go"),
        ]
    )
    batch = make_batch(part(samples), np.arange(3), TrainConfig(token_dropout=0.0), counts=False, seed=0)
    documents = texts_of(tokenizer, batch.documents)
    right = [[documents[at] for at in np.flatnonzero(row)] for row in batch.also_right.numpy()]
    assert documents == ["open", "close", "tree", "open", "map"]
    assert right == [["close", "open"], ["open", "open"], []]


def test_the_weight_of_a_pair_and_of_its_source_multiply_its_loss(learned):
    _, samples = samples_from(pairs())
    model = learned(CONFIG, samples)
    objective = PairObjective(model, CONFIG, [part(samples, weight=3.0)], CPU)
    assert objective.start(0) == 1
    batch = objective.prepare(0, 5)
    cosines = model.query(*batch.queries) @ model.document("go")(*batch.documents).T
    losses = make_loss(CONFIG)(cosines.masked_fill(batch.also_right, -torch.inf))
    assert sorted(batch.weights.tolist()) == pytest.approx([3 * (0.5 + number / 10) for number in range(10)])
    assert float(objective.backward(batch, 5)) == pytest.approx(
        float((losses * batch.weights).mean().detach()), abs=1e-6
    )


def test_keeping_cosines_adds_their_squared_difference_to_the_original_ones(learned):
    _, samples = samples_from(pairs())
    model = learned(CONFIG, samples)
    original = copy.deepcopy(model).requires_grad_(False)
    torch.nn.init.normal_(model.document("go").table.weight, generator=torch.Generator().manual_seed(2))
    found = {}
    for keep in (0.0, 4.0):
        config = TrainConfig(dim=8, token_dropout=0.0, hard_negatives=2, temperature=0.2, keep=keep)
        objective = PairObjective(model, config, [part(samples)], CPU, original)
        objective.start(0)
        batch = objective.prepare(0, 3)
        found[keep] = float(objective.backward(batch, 3))
    now, before = (
        side.query(*batch.queries) @ side.document("go")(*batch.documents).T for side in (model, original)
    )
    assert found[4.0] - found[0.0] == pytest.approx(
        4 * float(((now - before) ** 2).mean().detach()), abs=1e-5
    )


@pytest.mark.parametrize("architecture", ["nbow", "cnn-selfatt"])
def test_a_batch_in_chunks_has_the_gradients_of_the_whole_batch(architecture, learned):
    _, samples = samples_from(pairs())
    gradients = {}
    for chunk in (0, 4):
        config = TrainConfig(dim=8, architecture=architecture, hard_negatives=2, chunk=chunk, keep=1.0)
        model = learned(config, samples)
        original = learned(config, samples).requires_grad_(False)
        objective = PairObjective(model, config, [part(samples)], CPU, original)
        objective.start(0)
        loss = objective.backward(objective.prepare(0, 3), 3)
        gradients[chunk] = (loss, {name: its.grad for name, its in model.named_parameters()})
    torch.testing.assert_close(gradients[0], gradients[4], atol=1e-6, rtol=1e-4)


def test_an_architecture_for_one_process_says_so(monkeypatch):
    monkeypatch.setattr(objectives, "world", lambda: 2)
    with pytest.raises(TrainingError, match="ncs: trains in one process: start it without torchrun"):
        make_objective(None, TrainConfig(architecture="ncs"), [], torch.device("cpu"))
