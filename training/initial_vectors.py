"""A vocabulary -> initial vectors: the embedding of each single token by a pretrained encoder of sentences.

Tokens of the same meaning start near each other. Pairs of text and code teach this only for frequent tokens. The idea
is model2vec's, but here training changes the vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from codesearch.errors import MissingExtraError
from codesearch.text.tokenizer import CONTINUATION
from training.pretrained import ids_of, pretrained_folder


def vocabulary_of(tokenizer_path: Path) -> list[str]:
    """List the tokens of a `tokenizer.json` by id, without the mark of tokens that continue a word."""
    return [token.removeprefix(CONTINUATION) for token in ids_of(tokenizer_path)]


def teacher_vectors(tokens: Sequence[str]) -> NDArray[np.float32]:
    """Embed each token as a sentence with all-MiniLM-L6-v2: float32 [V, 384].

    Raises:
        MissingExtraError: the teacher is not installed.
    """
    folder = pretrained_folder()
    try:
        from sentence_transformers import SentenceTransformer
    except ModuleNotFoundError:
        raise MissingExtraError("sentence-transformers") from None
    model = SentenceTransformer(str(folder), device="cpu")
    return np.asarray(model.encode(list(tokens), batch_size=256, show_progress_bar=True), dtype=np.float32)


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
