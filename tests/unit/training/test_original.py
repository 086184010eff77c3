"""The settings of CodeSearchNet's released code, and its `neuralbow` written down directly, on one small corpus."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.unit.training.conftest import part, train_tokenizer
from training.batches import sample_batches
from training.build import build_model
from training.config import config_path, read_train_recipe
from training.encoders.bag import BagTower
from training.encoders.cnn import CnnBody
from training.encoders.joint import JointEncoder
from training.evaluation.mrr import _shuffled, validate
from training.pipeline import fit
from training.samples import make_samples

ORIGINALS = ("neuralbow", "1dcnn", "rnn", "selfatt", "convselfatt")
POOL = 100


def settings(name):
    return read_train_recipe(config_path(f"csn-{name}")).settings


def test_the_settings_of_the_five_architectures_are_those_of_the_released_code():
    found = {name: settings(name) for name in ORIGINALS}
    assert [(its.architecture, its.loss, its.batch_size, its.learning_rate) for its in found.values()] == [
        ("nbow", "cosine", 1000, 0.01),
        ("cnn", "softmax", 1000, 5e-4),
        ("birnn", "softmax", 1000, 0.01),
        ("selfatt", "softmax", 450, 5e-4),
        ("cnn-selfatt", "softmax", 650, 5e-4),
    ]
    of_all = {
        (its.dim, its.gradient_clip, its.patience, its.pooling, its.documents) for its in found.values()
    }
    assert of_all == {(128, 1.0, 5, "sigmoid", "code")}
    assert (found["neuralbow"].margin, found["neuralbow"].similarity) == (1.0, "cosine")
    assert (found["1dcnn"].positions, found["1dcnn"].kernel_size, found["1dcnn"].layers) == (True, 16, 3)


class Original:
    """neuralbow of the released code: `weighted_mean` of `nbow_seq_encoder.py`, the loss `cosine` of `model.py`."""

    def __init__(self, model, learning_rate):
        self.tables = [
            side.table.weight.detach().clone().requires_grad_()
            for side in (model.query, model.document("go"))
        ]
        self.weights = [torch.zeros(table.shape[1], requires_grad=True) for table in self.tables]
        self.optimizer = torch.optim.Adam([*self.tables, *self.weights], learning_rate)

    def representations(self, texts, side):
        rows = []
        for ids in texts:
            embeddings = self.tables[side][torch.from_numpy(ids.astype(np.int64))]
            token_weights = torch.sigmoid(embeddings @ self.weights[side])
            rows.append((embeddings * token_weights[:, None]).sum(0) / (token_weights.sum() + 1e-8))
        found = torch.stack(rows)
        return found / (found.norm(dim=1, keepdim=True) + 1e-10)

    def similarities(self, samples, indices):
        queries = self.representations([samples.queries[index] for index in indices], 0)
        return queries @ self.representations([samples.documents[index] for index in indices], 1).T

    def step(self, samples, indices, margin):
        similarities = self.similarities(samples, indices)
        without_own = similarities + torch.diag(torch.full((len(indices),), -torch.inf))
        wrong = torch.relu(without_own).amax(dim=1)
        loss = torch.clamp(margin - similarities.diag() + wrong, min=0).mean()
        self.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_([*self.tables, *self.weights], 1.0)
        self.optimizer.step()
        return float(loss.detach())

    def mrr(self, samples, pool):
        with torch.no_grad():
            scores = self.similarities(samples, _shuffled(samples)["go"][:pool])
        return float((1 / (scores >= scores.diag()[:, None]).sum(dim=1)).mean())


def test_a_run_has_the_losses_and_the_mrr_of_the_released_code(synthetic_rows, tmp_path):
    config = replace(
        settings("neuralbow"), dim=16, batch_size=50, epochs=3, name_share=0.0, table_dropout=0.0
    )
    # Bags of the same words would tie, in an order that rounding decides.
    rows = list({frozenset(row.docstring.split()): row for row in synthetic_rows(500, 1)}.values())
    tokenizer = train_tokenizer(rows, 300)
    held_out, learned = rows[:POOL], rows[POOL:]
    train, valid = (
        make_samples(its, tokenizer, max_query_tokens=30, max_document_tokens=60, documents="code")
        for its in (learned, held_out)
    )
    model = build_model(config, tokenizer.vocabulary_size, [train])
    original = Original(model, config.learning_rate)
    expected = [
        np.mean(
            [original.step(train, its.indices, 1.0) for its in sample_batches([part(train)], config, epoch)]
        )
        for epoch in range(config.epochs)
    ]
    fit(model, config, [part(train)], [part(valid)], tmp_path, pool=POOL)
    lines = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert [line["loss"] for line in lines] == pytest.approx(expected, abs=0.01)
    found = validate(model, [(part(valid), POOL)], config, torch.device("cpu"))["average"]
    assert found == pytest.approx(original.mrr(valid, POOL), abs=0.01)
    assert expected[-1] < 0.7 * expected[0] and found > 0.3


def test_the_dropout_of_the_table_is_the_same_in_all_texts_and_only_in_training():
    tower = BagTower(9, 64, "sigmoid", table_dropout=0.5)
    ids, mask = torch.tensor([[3], [3]]), torch.ones(2, 1, dtype=torch.int64)
    one, other = tower.train()(ids, mask, unit=False)
    assert torch.equal(one, other) and 10 < int((one == 0).sum()) < 54
    kept = one != 0
    torch.testing.assert_close(one[kept], 2 * tower.table.weight[3][kept])
    torch.testing.assert_close(tower.eval()(ids, mask, unit=False)[0], tower.table.weight[3])
    sequence = JointEncoder(replace(settings("1dcnn"), dim=64, dropout=0.0, table_dropout=0.5), 9, ["go"])
    one, other = sequence.train().query(ids, mask, unit=False)
    assert torch.equal(one, other) and 10 < int((one == 0).sum()) < 54


def test_a_convolution_of_even_width_sees_one_more_token_after_than_before():
    body = CnnBody(1, layers=1, kernel_size=4, dropout=0.0)
    with torch.no_grad():
        body.layers[0].weight.copy_(torch.tensor([[[1000.0, 100.0, 10.0, 1.0]]]) * 1e-6)
        states = torch.tensor([[[1.0], [2.0], [3.0], [4.0], [5.0]]])
        added = body(states, torch.ones(1, 5)) - states
    seen = [[0, 1, 2, 3], [1, 2, 3, 4], [2, 3, 4, 5], [3, 4, 5, 0], [4, 5, 0, 0]]
    expected = [
        sum(value * 10 ** (3 - place) for place, value in enumerate(window)) * 1e-6 for window in seen
    ]
    assert added.flatten().tolist() == pytest.approx(expected, rel=1e-3)


def test_a_convolution_with_positions_gives_equal_tokens_other_states():
    model = JointEncoder(replace(settings("1dcnn"), dim=16), 9, ["go"]).eval()
    positions = model.query.body.bodies[0].positions
    assert positions.shape == (30, 16) and not positions.any()
    text = torch.tensor([[4, 4, 4]]), torch.ones(1, 3, dtype=torch.int64)
    before = model.query(*text)
    torch.nn.init.normal_(positions)
    assert not torch.allclose(model.query(*text), before)
