"""Each loss, including skip-gram, against a naive loop."""

import math
from typing import get_args

import numpy as np
import pytest
import torch

from training.batches import without_some
from training.config import Loss, TrainConfig
from training.encoders.joint import JointEncoder
from training.losses import make_loss, similarities
from training.objectives import neighbour_pairs, skipgram_loss

BATCH, MINED, TEMPERATURE, MARGIN = 4, 3, 0.2, 0.4


def naive(name, cosines):
    """Return a loss computed with loops. `cosines` is a list of rows, [B][B + H]."""
    batch = range(BATCH)

    def entropy(row, right):
        return math.log(sum(math.exp(value / TEMPERATURE) for value in row)) - row[right] / TEMPERATURE

    by_query = sum(entropy(cosines[i], i) for i in batch) / BATCH
    by_document = sum(entropy([cosines[j][i] for j in batch], i) for i in batch) / BATCH
    wrong = [[value for j, value in enumerate(cosines[i]) if j != i] for i in batch]
    return {
        "symmetric-softmax": (by_query + by_document) / 2,
        "softmax": by_query,
        "triplet": sum(
            sum(faults) / max(1, len(faults))
            for i in batch
            if (faults := [fault for value in wrong[i] if (fault := MARGIN - cosines[i][i] + value) > 0])
        )
        / BATCH,
        "cosine": sum(max(0, MARGIN - cosines[i][i] + max(0, *wrong[i])) for i in batch) / BATCH,
        # The sum of the softmax is the same for all of a row, so it cancels out.
        "max-margin": sum(max(0, MARGIN - (cosines[i][i] - max(wrong[i])) / TEMPERATURE) for i in batch)
        / BATCH,
    }[name]


@pytest.mark.parametrize("mined", [0, MINED])
@pytest.mark.parametrize("name", get_args(Loss))
def test_a_loss_agrees_with_a_naive_loop(name, mined):
    generator = torch.Generator().manual_seed(1)
    queries, documents = (
        torch.nn.functional.normalize(torch.randn(count, 6, generator=generator), dim=1)
        for count in (BATCH, BATCH + mined)
    )
    loss = make_loss(TrainConfig(loss=name, temperature=TEMPERATURE, margin=MARGIN))(queries @ documents.T)
    assert loss.shape == (BATCH,)
    assert float(loss.mean()) == pytest.approx(naive(name, (queries @ documents.T).tolist()), abs=1e-5)


def test_the_triplet_loss_compares_distances():
    queries, documents = torch.tensor([[0.0, 0.0], [3.0, 4.0]]), torch.tensor([[0.0, 0.0], [3.0, 0.0]])
    found = similarities(queries, documents, "triplet")
    assert found.tolist() == [[0.0, -3.0], [-5.0, -4.0]]
    assert make_loss(TrainConfig(loss="triplet", margin=2.0))(found).tolist() == [0.0, 1.0]


def test_the_cosine_loss_does_not_push_wrong_documents_below_zero():
    queries = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    opposite, right_angle = (torch.tensor([[0.6, 0.8], [x, y]]) for x, y in ((-1.0, 0.0), (0.0, -1.0)))
    losses = [
        make_loss(TrainConfig(loss="cosine", margin=1.0))(queries[:1] @ d.T) for d in (opposite, right_angle)
    ]
    assert [round(float(loss), 5) for loss in losses] == [0.4, 0.4]


def test_the_skipgram_loss_agrees_with_a_naive_loop():
    torch.manual_seed(0)
    model = JointEncoder(TrainConfig(architecture="ncs", dim=8), 10, ["go"])
    torch.nn.init.normal_(model.query.table.weight)
    torch.nn.init.normal_(model.context.weight)
    centers, neighbours, drawn = torch.tensor([2, 3, 2]), torch.tensor([3, 4, 5]), torch.tensor([6, 7])
    vectors, contexts = model.query.table.weight.tolist(), model.context.weight.tolist()

    def log_sigmoid(a, b, sign):
        return -math.log1p(math.exp(-sign * np.dot(a, b)))

    total = 0.0
    for center, neighbour in zip(centers.tolist(), neighbours.tolist(), strict=True):
        total += log_sigmoid(vectors[center], contexts[neighbour], 1)
        total += 5 * sum(log_sigmoid(vectors[center], contexts[n], -1) for n in drawn.tolist()) / len(drawn)
    found = skipgram_loss(model, centers, neighbours, drawn, 5).detach()
    assert float(found) == pytest.approx(-total / 3, abs=1e-5)


def test_neighbours_are_within_the_window_and_the_text():
    tokens, neighbours = neighbour_pairs(np.array([10, 11, 12, 13, 20]), np.array([0, 0, 0, 0, 1]), 2)
    found = sorted(zip(tokens.tolist(), neighbours.tolist(), strict=True))
    one_way = [(10, 11), (10, 12), (11, 12), (11, 13), (12, 13)]
    assert found == sorted([*one_way, *((b, a) for a, b in one_way)])


def test_dropped_tokens_are_removed_from_a_sequence_and_masked_in_a_bag():
    ids, mask = torch.arange(2, 42).reshape(1, 40), torch.ones(1, 40, dtype=torch.int64)
    generator = torch.Generator()
    same, kept = without_some(ids, mask, 0.5, generator.manual_seed(0), counts=True)
    assert torch.equal(same, ids) and 5 < int(kept.sum()) < 35
    closed, shorter = without_some(ids, mask, 0.5, generator.manual_seed(0), counts=False)
    left = int(shorter.sum())
    assert left == int(kept.sum())
    assert shorter[0].tolist() == [1] * left + [0] * (40 - left)
    assert closed[0, :left].tolist() == ids[0][kept[0] > 0].tolist()


def test_a_text_never_loses_all_tokens():
    ids, mask = torch.tensor([[5, 0], [7, 8]]), torch.tensor([[1, 0], [2, 1]])
    for seed in range(20):
        _, kept = without_some(ids, mask, 0.99, torch.Generator().manual_seed(seed), counts=True)
        assert kept.any(dim=1).all()


@pytest.mark.parametrize("name", get_args(Loss))
def test_a_document_that_answers_too_does_not_count_as_wrong(name):
    cosines = torch.tensor([[0.7, 0.8, 0.6], [0.2, 0.7, 0.3], [0.0, 0.1, 0.5]])
    loss = make_loss(TrainConfig(loss=name, temperature=TEMPERATURE, margin=MARGIN))
    masked = cosines.clone()
    masked[0, 1] = -torch.inf
    lower = cosines.clone()
    lower[0, 1] = -50.0
    assert loss(masked)[0] < loss(cosines)[0]
    torch.testing.assert_close(loss(masked), loss(lower))
