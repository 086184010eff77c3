"""An index's own documented functions -> a linear map that brings its questions nearer to its code.

Documentation stands in for questions, the function without it for the answer. The map starts as the identity and is
moved a little by gradient descent, so that each documentation is nearest to its own function among those of a batch
(softmax of cosines over `_TEMPERATURE`). Names and abbreviations that a project uses in its own way are learned so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from codesearch.encoding.encoder import Encoder
from codesearch.encoding.text import join_fields
from codesearch.errors import ConfigError
from codesearch.index.adaptation import Adaptation, map_vectors
from codesearch.index.reader import IndexReader
from codesearch.parsing.docstrings import first_paragraph
from codesearch.parsing.extract import extract
from codesearch.parsing.languages import language_named
from codesearch.types import Document

MIN_PAIRS = 500
MIN_GAIN = 0.01
_MAX_PAIRS = 20_000
_MIN_WORDS = 3
_HELD_OUT = 5
"""One pair of so many is not learned from."""
_EPOCHS, _BATCH, _RATE, _TEMPERATURE = 4, 256, 1e-3, 0.05
_BETAS = (0.9, 0.999)
_SEED = 0
Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Learned:
    """An adaptation, and by how much its gain in held-out MRR may be chance: half of the 95% interval."""

    adaptation: Adaptation
    margin: float

    @property
    def gain(self) -> float:
        """Held-out MRR after less that before."""
        return self.adaptation.mrr_after - self.adaptation.mrr_before

    @property
    def is_kept(self) -> bool:
        """Say whether it is worth having: `MIN_GAIN` or more, and more than chance gives."""
        return self.gain >= MIN_GAIN and self.gain > self.margin


def adapt(index: IndexReader, encoder: Encoder) -> Learned:
    """Learn a map from four fifths of an index's documented functions and measure it on the others.

    A held-out documentation is to find its function among all documented functions of the index.

    Raises:
        ConfigError: fewer than `MIN_PAIRS` functions are documented.
    """
    documents = list(islice(_documented(index), _MAX_PAIRS))
    if len(documents) < MIN_PAIRS:
        raise ConfigError(
            f"{index.root}: {len(documents):,} documented functions, {MIN_PAIRS:,} are needed to learn from"
        )
    queries, answers = _encode(documents, encoder)
    held_out = np.random.default_rng(_SEED).permutation(len(queries)) % _HELD_OUT == 0
    matrix = learn(queries[~held_out], answers[~held_out])
    rows = np.flatnonzero(held_out)
    before = reciprocal_ranks(queries[rows], answers, rows)
    after = reciprocal_ranks(map_vectors(matrix, queries[rows]), answers, rows)
    return Learned(
        Adaptation(
            matrix=matrix,
            model=encoder.model_id,
            pairs=int((~held_out).sum()),
            mrr_before=float(before.mean()),
            mrr_after=float(after.mean()),
            created=datetime.now(UTC).isoformat(timespec="seconds"),
        ),
        margin=float(1.96 * (after - before).std() / len(rows) ** 0.5),
    )


def _documented(index: IndexReader) -> Iterator[Document]:
    """Read the documented functions of an index from its files, each documentation once."""
    seen: set[str] = set()
    for file in index.files:
        spec = language_named(file.language)
        try:
            source = (index.root / file.path).read_bytes() if file.doc_count else b""
        except OSError:
            continue
        for document in extract(source, file.path, spec).documents if spec and source else []:
            query = first_paragraph(document.docstring)
            if document.kind != "class" and len(query.split()) >= _MIN_WORDS and query not in seen:
                seen.add(query)
                yield document


def _encode(documents: Sequence[Document], encoder: Encoder) -> tuple[Vectors, Vectors]:
    """Embed documentation as queries and the functions without it as documents: float32 [P, D] each."""
    texts = (join_fields(document.qualified_name, "", document.code) for document in documents)
    tokens = [
        encoder.tokenizer.encode_document(text, encoder.max_document_tokens, document.language)
        for text, document in zip(texts, documents, strict=True)
    ]
    queries = encoder.encode_queries([first_paragraph(document.docstring) for document in documents])
    return queries, encoder.encode_documents(tokens)


def learn(queries: Vectors, answers: Vectors) -> Vectors:
    """Learn the map by Adam: float32 [D, D]."""
    dim = queries.shape[1]
    matrix = np.eye(dim, dtype=np.float32)
    mean, square = np.zeros_like(matrix), np.zeros_like(matrix)
    chance = np.random.default_rng(_SEED)
    step = 0
    for _ in range(_EPOCHS):
        for rows in np.array_split(chance.permutation(len(queries)), max(1, len(queries) // _BATCH)):
            gradient = _gradient(matrix, queries[rows], answers[rows])
            step += 1
            mean = _BETAS[0] * mean + (1 - _BETAS[0]) * gradient
            square = _BETAS[1] * square + (1 - _BETAS[1]) * gradient**2
            change = mean / (1 - _BETAS[0] ** step) / (np.sqrt(square / (1 - _BETAS[1] ** step)) + 1e-8)
            matrix = (matrix - _RATE * change).astype(np.float32)
    return matrix


def _gradient(matrix: Vectors, queries: Vectors, answers: Vectors) -> Vectors:
    """Differentiate the mean softmax loss of a batch, in which row i answers row i, by the matrix: [D, D]."""
    mapped = queries @ matrix
    length = np.linalg.norm(mapped, axis=1, keepdims=True)
    unit = mapped / length
    logits = unit @ answers.T / _TEMPERATURE
    shares = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    shares[np.diag_indices(len(shares))] -= 1
    by_unit = shares @ answers / (_TEMPERATURE * len(queries))
    by_mapped = (by_unit - (by_unit * unit).sum(axis=1, keepdims=True) * unit) / length
    return np.asarray(queries.T @ by_mapped, dtype=np.float32)


def reciprocal_ranks(queries: Vectors, answers: Vectors, right: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return 1 / rank of answer `right[i]` for query i among all answers: float64 [Q]; ties count against it."""
    found = []
    for start in range(0, len(queries), _BATCH):
        scores = queries[start : start + _BATCH] @ answers.T
        of_right = np.take_along_axis(scores, right[start : start + _BATCH, None], axis=1)
        found.append(1.0 / (scores >= of_right).sum(axis=1))
    return np.concatenate(found)
