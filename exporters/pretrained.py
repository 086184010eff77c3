"""all-MiniLM-L6-v2, not fine-tuned -> a bundle: the tokens that code and its documentation use, one graph, int8."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from codesearch.encoding.bundle import QUERY, TOKENIZER
from codesearch.encoding.tokenizer import SubtokenTokenizer
from exporters.bundle import write_manifest
from exporters.onnx import Dtype, tower_graph
from exporters.parity import measure, padded_texts, require
from training.encoders.bert import Bert
from training.pretrained import LICENCE, SOURCE, load_bert, prune_tokenizer, pruned

_MAX_QUERY_TOKENS = 32
_CHECKED_TEXTS = 300


def write_pretrained(
    model_folder: Path,
    out: Path,
    texts: Iterable[str],
    *,
    name: str,
    vocabulary_size: int,
    max_tokens: int,
    dtype: Dtype = "int8",
) -> dict[str, Any]:
    """Export a pretrained model with the most frequent tokens of some texts; return the manifest.

    Args:
        model_folder: as Hugging Face stores it.
        out: the bundle to write.
        texts: texts to count tokens in; some of them are checked against torch.
        name: in the manifest.
        vocabulary_size: tokens to keep.
        max_tokens: documents are cut to this length, and later positions are not kept.
        dtype: how weights are stored.

    Raises:
        ParityError: the graph does not compute the same as torch.
    """
    out.mkdir(parents=True, exist_ok=True)
    texts = list(texts)
    vocabulary = prune_tokenizer(model_folder / TOKENIZER, out / TOKENIZER, texts, vocabulary_size)
    model = pruned(load_bert(model_folder), vocabulary, max_tokens)
    (out / QUERY).write_bytes(tower_graph(model, dtype).SerializeToString())
    _check(model, out, texts[:: max(1, len(texts) // _CHECKED_TEXTS)], max_tokens, dtype)
    manifest = {
        "name": name,
        "architecture": "bert",
        "dtype": dtype,
        "dim": int(model.table.weight.shape[1]),
        "vocabulary_size": len(vocabulary),
        "max_query_tokens": min(max_tokens, _MAX_QUERY_TOKENS),
        "max_document_tokens": max_tokens,
        "document_graph": QUERY,
        "licence": LICENCE,
        "source": SOURCE,
    }
    return write_manifest(out, manifest, (QUERY, TOKENIZER))


def _check(model: Bert, bundle: Path, texts: list[str], max_tokens: int, dtype: Dtype) -> None:
    tokenizer = SubtokenTokenizer.load(bundle / TOKENIZER)
    found = measure(model, bundle / QUERY, *padded_texts(texts, tokenizer, max_tokens))
    print(f"{bundle / QUERY}: {found}")
    require(QUERY, found, dtype)
