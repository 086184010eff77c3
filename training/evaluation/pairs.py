"""Documented functions -> every query against every code of a set: the protocols that measure encoders.

A query is the first paragraph of a function's documentation. Its answer is that function's code without documentation.
These protocols use only the encoder and BM25F of the product. They see the text of the code, but no name and no path.
"""

from __future__ import annotations

import logging
import math
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from codesearch.config import RankConfig
from codesearch.errors import ConfigError, MissingExtraError
from codesearch.evaluation.data import field
from codesearch.evaluation.metrics import AVERAGE
from codesearch.evaluation.result import Interval, SystemResult
from codesearch.languages import language_named
from codesearch.parsing.docstrings import first_paragraph
from codesearch.parsing.extract import extract
from codesearch.search.lexical import LexicalScorer
from codesearch.store.postings import PostingsReader, PostingsWriter, field_statistics, make_block
from codesearch.store.snapshot import Snapshot, average_lengths
from codesearch.text.onnx import OnnxEncoder
from codesearch.text.terms import document_chunks, query_terms
from codesearch.text.tokenizer import join_fields
from codesearch.types import Document

Scores = NDArray[np.float32]
SYSTEMS = ("bm25", "dense", "fused")


@dataclass(frozen=True, slots=True)
class Pair:
    """A query, and the code that answers it."""

    query: str
    code: str


def one_file(folder: Path, pattern: str) -> Path:
    """Return the one file of a folder that matches a pattern."""
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        raise ConfigError(
            f"{folder}: {len(found)} files {pattern}, expected 1", "give --data the suite's folder"
        )
    return found[0]


def read_pair(place: str, record: Mapping[str, Any], code_fields: Sequence[str]) -> Pair:
    """Make a pair from a record in CodeSearchNet's form; lists of tokens are joined with spaces.

    `place` names the record in errors. The first of `code_fields` that it has is the code.
    """
    docstring = field(place, record, "docstring", "func_documentation_string", "docstring_tokens")
    tokens = record.get("docstring_tokens") or record.get("func_documentation_tokens")
    code = field(place, record, *code_fields)
    return Pair(
        query=" ".join(map(str, tokens)) if tokens else first_paragraph(docstring),
        code=without_docstring(code) if record.get("language", "python") == "python" else code,
    )


def without_docstring(code: str, docstring: str = "") -> str:
    r"""Remove the docstring from a Python function, because it would reveal the answer.

    If the parser finds none, the first occurrence of `docstring` is removed.

    >>> without_docstring("def f(x):\n    'Add one.'\n    return x + 1")
    'def f(x):\n    \n    return x + 1'
    """
    python = language_named("python")
    assert python is not None
    documents = extract(code.encode("utf-8", "replace"), "", python).documents
    if documents and documents[0].docstring:
        return documents[0].code
    return code.replace(docstring, "", 1) if docstring else code


class _Codes:
    """Pieces of code as one segment without dead files."""

    dead = None

    def __init__(self, postings: PostingsReader) -> None:
        self.postings = postings
        self.size = self.document_count = len(postings.field_lengths)
        sums, counts = field_statistics(postings.field_lengths)
        self.average_lengths = average_lengths([sums], [counts])

    def based_postings(self) -> Iterator[tuple[int, PostingsReader]]:
        yield 0, self.postings


class CodeScorer:
    """Scores all pieces of code of a set for a batch of queries."""

    def __init__(self, codes: Sequence[str], encoder: OnnxEncoder) -> None:
        self._encoder = encoder
        self._config = RankConfig()
        # Windows does not delete files that are still mapped.
        self._scratch = tempfile.TemporaryDirectory(prefix="codesearch-codes-", ignore_cleanup_errors=True)
        snapshot = _Codes(_postings(codes, Path(self._scratch.name)))
        self._lexical = LexicalScorer(cast(Snapshot, snapshot), self._config)
        self._terms: dict[str, tuple[NDArray[np.intp], Scores, float]] = {}
        texts = [
            encoder.tokenizer.encode(join_fields("", "", code), encoder.max_document_tokens) for code in codes
        ]
        self._embeddings = encoder.encode_documents(texts)

    def scores(self, queries: Sequence[str]) -> dict[str, Scores]:
        """Score every code for each query: float32 [B, N] of "bm25", divided by the sum of idf, and of "dense"."""
        lexical = np.zeros((len(queries), len(self._embeddings)), np.float32)
        for row, query in zip(lexical, queries, strict=True):
            ceiling = 0.0
            for term in query_terms(query):
                codes, scores, idf = self._of_term(term)
                row[codes] += scores
                ceiling += idf
            row /= np.float32(ceiling or 1.0)
        return {"bm25": lexical, "dense": self._encoder.encode_queries(queries) @ self._embeddings.T}

    def fused(self, bm25: Scores, dense: Scores) -> Scores:
        """Add both with the weights of the product's ranking: float32 [B, P]."""
        semantic, lexical = np.float32(self._config.semantic_weight), np.float32(self._config.lexical_weight)
        return np.asarray(semantic * dense + lexical * bm25, np.float32)

    def _of_term(self, term: str) -> tuple[NDArray[np.intp], Scores, float]:
        """Return the pieces of code with a term, its addition to each score, and its idf; queries share most terms."""
        if term not in self._terms:
            scores, idf, _ = self._lexical.scores([term])
            codes = np.flatnonzero(scores)
            self._terms[term] = codes, scores[codes], idf
        return self._terms[term]

    def close(self) -> None:
        """Remove the files that were written."""
        self._scratch.cleanup()


class EnglishScorer:
    """Scores pieces of code by BM25 as ElasticSearch's English analyser does: words, stop words, Porter's stems.

    An identifier is one word, whatever its case or underscores.
    """

    def __init__(self, codes: Sequence[str]) -> None:
        """Index the codes."""
        try:
            import bm25s
            import Stemmer
        except ModuleNotFoundError:
            raise MissingExtraError("bm25s", "PyStemmer") from None
        logging.getLogger("bm25s").setLevel(logging.WARNING)  # It logs every step.
        options = {"stopwords": "en", "stemmer": Stemmer.Stemmer("porter"), "token_pattern": r"\w+"}
        self._tokens = partial(bm25s.tokenize, **options, return_ids=False, show_progress=False)
        self._index = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
        self._index.index(self._tokens(list(codes)), show_progress=False)
        self._size = len(codes)

    def scores(self, queries: Sequence[str]) -> Scores:
        """Score every code for each query: float32 [B, N]."""
        known = self._index.vocab_dict
        asked = ([token for token in tokens if token in known] for tokens in self._tokens(list(queries)))
        none = np.zeros(self._size, np.float32)
        return np.stack([self._index.get_scores(tokens) if tokens else none for tokens in asked])


def _postings(codes: Sequence[str], folder: Path) -> PostingsReader:
    writer = PostingsWriter(folder)
    writer.add(make_block(document_chunks(_document(code)) for code in codes), 0)
    writer.write()
    return PostingsReader(folder, "")


def _document(code: str) -> Document:
    return Document("", "", "function", "", "", "", "", 1, 1, 1, code=code, start_byte=0, end_byte=0)


def ranks(scores: NDArray[np.floating[Any]], right: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """Return the 1-based rank of the right document of each query. Documents with its score, or NaN, rank above it.

    Scores [B, N] and the columns [B] of the right documents -> int64 [B]; the mean of `1 / ranks` is the MRR.

    >>> ranks(np.array([[0.5, 0.5, 0.1], [0.2, 0.1, 0.9]]), np.array([0, 2]))
    array([2, 1])
    """
    of_right = np.take_along_axis(scores, right[:, None], axis=1)
    return np.asarray((~(scores < of_right)).sum(axis=1), np.int64)


def summarise_means(scores: Mapping[str, Mapping[str, NDArray[np.float64]]]) -> SystemResult:
    """Make means and 95% intervals of metric -> group -> scores, for too many queries for a bootstrap or a list.

    The interval is that of the normal distribution, with the standard error of each group's mean.
    """
    metrics: dict[str, dict[str, float]] = {}
    ci95: dict[str, dict[str, Interval]] = {}
    for metric, groups in scores.items():
        means = {group: float(values.mean()) for group, values in groups.items()}
        errors = {group: float(values.std()) / math.sqrt(len(values)) for group, values in groups.items()}
        means[AVERAGE] = sum(means.values()) / len(groups)
        errors[AVERAGE] = math.hypot(*errors.values()) / len(groups)
        metrics[metric] = means
        ci95[metric] = {
            group: (mean - 1.96 * errors[group], mean + 1.96 * errors[group]) for group, mean in means.items()
        }
    return SystemResult(metrics, ci95, {})
