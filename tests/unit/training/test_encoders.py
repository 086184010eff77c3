"""Token ids to vectors: shapes, padding, poolings and NCS, compared with hand-computed values."""

import math
from typing import get_args

import pytest
import torch

from training.batches import counted, encode_by_length
from training.config import Architecture, Pooling, SequenceModel, TrainConfig
from training.encoders.bag import BagTower
from training.encoders.joint import JointEncoder
from training.encoders.ncs import NcsTower
from training.files import TrainingError
from training.pooling import AttentionPooling, MeanPooling, make_pooling

STATES = torch.tensor([[[1.0, -2.0], [3.0, -6.0], [9.0, 9.0]]])
MASK, IDS = torch.tensor([[1, 1, 0]]), torch.tensor([[4, 5, 0]])
EMPTY = torch.zeros(1, 3, dtype=torch.int64)


def encoder(architecture, pooling="token-weights", **options):
    torch.manual_seed(0)
    config = TrainConfig(architecture=architecture, pooling=pooling, dim=16, layers=2, **options)
    model = JointEncoder(config, 50, ["go", "php"])
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    return model.eval()


def batch(lengths, width):
    ids, mask = torch.zeros(len(lengths), width, dtype=torch.int64), torch.zeros(len(lengths), width)
    for row, length in enumerate(lengths):
        ids[row, :length] = torch.arange(2, 2 + length)
        mask[row, :length] = 1
    return ids, mask.to(torch.int64)


@pytest.mark.parametrize("architecture", get_args(Architecture))
@pytest.mark.parametrize("pooling", get_args(Pooling))
def test_vectors_have_unit_length_and_padding_changes_nothing(architecture, pooling):
    model = encoder(architecture, pooling)
    for tower in (model.query, model.document("go")):
        vectors = tower(*batch([3, 9, 1], 9))
        assert vectors.shape == (3, 16)
        torch.testing.assert_close(vectors.norm(dim=1), torch.ones(3))
        torch.testing.assert_close(tower(*batch([3, 9, 1], 20)), vectors)
        torch.testing.assert_close(tower(*batch([3], 3)), vectors[:1])


@pytest.mark.parametrize("architecture", get_args(Architecture))
def test_an_empty_text_is_zero(architecture):
    assert not encoder(architecture).document("go")(EMPTY, EMPTY).any()


@pytest.mark.parametrize("architecture", [name for name in get_args(Architecture) if name != "bert"])
def test_only_sequence_models_depend_on_the_order_of_tokens(architecture):
    tower = encoder(architecture, "mean").document("go")
    there, back = (
        tower(torch.tensor([ids]), torch.ones(1, 3, dtype=torch.int64)) for ids in ([5, 6, 7], [7, 6, 5])
    )
    assert torch.allclose(there, back, atol=1e-4) is not (architecture in get_args(SequenceModel))


def test_untrained_query_and_document_encoders_give_equal_vectors():
    torch.manual_seed(0)
    for architecture in ("nbow", "unif", *get_args(SequenceModel)):
        model = JointEncoder(TrainConfig(architecture=architecture, dim=16), 50, ["go"])
        text = batch([6], 6)
        torch.testing.assert_close(model.query(*text), model.document("go")(*text))


def test_each_language_can_have_its_own_code_encoder():
    model = encoder("nbow", code_encoders="per-language")
    text = batch([6], 6)
    assert not torch.allclose(model.document("go")(*text), model.document("php")(*text))
    assert model.languages(["go", "ruby"]) == ["go"]
    with pytest.raises(TrainingError, match="no encoder of ruby"):
        model.document("ruby")
    shared = encoder("nbow")
    assert shared.document("go") is shared.document("ruby")


def test_the_mean_equals_hand_computed_values():
    assert MeanPooling()(STATES, MASK, IDS).tolist() == [[2.0, -4.0]]
    assert MeanPooling()(STATES, EMPTY, IDS).tolist() == [[0.0, 0.0]]


def test_attention_weights_are_a_softmax_without_padding():
    pooling = AttentionPooling(2)
    # The scores differ by log 3, so the weights are 1/4 and 3/4.
    pooling.attention.data = torch.tensor([math.log(3.0) / 2, 0.0])
    torch.testing.assert_close(pooling(STATES, MASK, IDS), torch.tensor([[2.5, -5.0]]))
    assert not pooling(STATES, EMPTY, IDS).any()


def test_sigmoid_weights_are_independent_of_each_other():
    pooling = make_pooling("sigmoid", 9, 2)
    assert pooling(STATES, MASK, IDS).tolist() == [[2.0, -4.0]]
    pooling.attention.data = torch.tensor([1.0, 0.0])
    first, second = (1 / (1 + math.exp(-x)) for x in (1, 3))
    expected = [(first + 3 * second) / (first + second), (-2 * first - 6 * second) / (first + second)]
    torch.testing.assert_close(pooling(STATES, MASK, IDS), torch.tensor([expected]))


@pytest.mark.parametrize("architecture", [name for name in get_args(Architecture) if name != "ncs"])
@pytest.mark.parametrize("pooling", get_args(Pooling))
def test_vectors_that_keep_their_length_do_not_depend_on_that_of_the_text(architecture, pooling):
    tower = encoder(architecture, pooling).document("go")
    ids, mask = batch([3, 9], 9)
    vectors = tower(ids, mask, unit=False)
    torch.testing.assert_close(torch.nn.functional.normalize(vectors, dim=1), tower(ids, mask))
    if architecture in ("nbow", "unif"):
        torch.testing.assert_close(tower(ids, 2 * mask, unit=False), vectors)


@pytest.mark.parametrize(
    "architecture",
    [
        name if name in ("nbow", "selfatt") else pytest.param(name, marks=pytest.mark.thorough)
        for name in get_args(Architecture)
        if name != "birnn"
    ],
)
def test_a_compiled_encoder_is_one_graph(architecture):
    pooling = "token-weights" if architecture == "nbow" else "attention"
    tower = encoder(architecture, pooling, count_power=0.5).train().document("go")
    explained = torch._dynamo.explain(tower)(*batch([3, 9], 9))
    assert (explained.graph_count, explained.graph_break_count) == (1, 0), explained.break_reasons


def test_queries_can_have_another_architecture():
    model = encoder("selfatt", query_architecture="nbow")
    assert isinstance(model.query, BagTower) and not model.takes_counts
    ids, mask = batch([3, 9], 9)
    torch.testing.assert_close(model.query(*counted(ids, mask)), model.query(ids, mask))


def test_each_token_has_its_own_weight():
    pooling = make_pooling("token-weights", 9, 2)
    pooling.log_weight.data[4] = math.log(2.0)
    torch.testing.assert_close(pooling(STATES, MASK, IDS), torch.tensor([[5 / 3, -10 / 3]]))


def test_the_weight_of_a_token_is_a_power_of_its_count():
    tower = BagTower(9, 2, "mean", count_power=0.5)
    tower.table.weight.data.copy_(torch.eye(9)[:, :2])
    ids, mask = torch.tensor([[0, 1, 0, 0, 0]]), torch.ones(1, 5, dtype=torch.int64)
    expected = torch.nn.functional.normalize(torch.tensor([[2.0, 1.0]]))  # The tokens occur 4 times and once.
    torch.testing.assert_close(tower(ids, mask), expected)
    torch.testing.assert_close(tower(*counted(ids, mask)), expected)
    torch.testing.assert_close(
        tower(ids, torch.tensor([[1, 1, 1, 0, 0]])), (expected * 0 + torch.tensor([[2**0.5, 1.0]])) / 3**0.5
    )


@pytest.mark.parametrize("architecture", ["nbow", "cnn"])
def test_repetition_counts_in_full_in_a_query_and_less_in_a_document(architecture):
    model = JointEncoder(TrainConfig(architecture=architecture, dim=8, count_power=0.5), 9, ["go"]).eval()
    ids, once = torch.tensor([[2, 2, 2, 2, 3]]), torch.tensor([[2, 3]])
    weighted = {4.0: model.query, 2.0: model.document("go")}
    for weight, tower in weighted.items():
        vectors = tower.table.weight[once[0]]
        expected = torch.nn.functional.normalize((torch.tensor([[weight], [1.0]]) * vectors).sum(0), dim=0)
        torch.testing.assert_close(tower(ids, torch.ones_like(ids))[0], expected)


def test_vectors_of_batches_by_length_are_in_the_original_order():
    tower = encoder("selfatt").document("go")
    ids, mask = batch([5, 1, 9, 0, 3, 7], 9)
    torch.testing.assert_close(encode_by_length(tower, ids, mask, mask.sum(dim=1), 3), tower(ids, mask))


def test_ncs_weights_are_tf_times_idf():
    table = torch.nn.Embedding.from_pretrained(torch.tensor([[0.0, 0.0], [2.0, 0.0], [0.0, 5.0]]))
    tower = NcsTower(table, is_query=False)
    tower.idf.copy_(torch.tensor([0.0, 1.0, 3.0]))
    ids, mask = torch.tensor([[1, 1, 2, 1]]), torch.ones(1, 4, dtype=torch.int64)
    expected = torch.nn.functional.normalize(torch.tensor([[1 + math.log(3), 3.0]]))
    torch.testing.assert_close(tower(ids, mask), expected)
    torch.testing.assert_close(tower(*counted(ids, mask)), expected)
    mean = torch.nn.functional.normalize(torch.tensor([[3.0, 1.0]]))
    torch.testing.assert_close(NcsTower(table, is_query=True)(ids, mask), mean)


def test_ncs_subtracts_the_common_component_of_its_vectors():
    table = torch.nn.Embedding.from_pretrained(torch.tensor([[9.0, 9.0], [3.0, 1.0], [1.0, 3.0]]))
    tower = NcsTower(table, is_query=True)
    tower.shares.copy_(torch.tensor([0.0, 0.5, 0.5]))  # The common component is (2, 2).
    half = 0.5**0.5
    torch.testing.assert_close(tower.unit_table()[1:], torch.tensor([[half, -half], [-half, half]]))


def test_ncs_scales_all_directions_to_the_same_variance():
    corners = torch.tensor([[9.0, 1.0], [9.0, -1.0], [-9.0, 1.0], [-9.0, -1.0]])
    tower = NcsTower(torch.nn.Embedding.from_pretrained(corners), is_query=True)
    tower.shares.fill_(0.25)
    torch.testing.assert_close(tower.unit_table(), corners.sign() * 0.5**0.5, atol=1e-3, rtol=0)
