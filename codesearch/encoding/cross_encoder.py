"""The second stage: a cross-encoder that reads the query together with each of the best candidates.

An encoder embeds a query and a document separately. A cross-encoder reads both texts at once, so it sees which words
of one match which of the other. It is too slow for all documents, so it only reorders the best ones.

*Source*: Nogueira and Cho 2019, "Passage re-ranking with BERT".
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codesearch.encoding.bundle import MODELS, TOKENIZER, checked_files, count_in, read_manifest
from codesearch.encoding.onnx import open_session
from codesearch.encoding.text import place_of
from codesearch.encoding.tokenizer import SubtokenTokenizer, padded
from codesearch.parsing.identifiers import subtokens

SHIPPED = MODELS / "reranker"
MODEL = "model.onnx"
_MAX_DOCSTRING_CHARS = 300
_MAX_CODE_CHARS = 4_000
_MAX_WORDS = 120
_KEYWORDS = frozenset(
    "abstract and begin bool boolean break case catch char class const continue def default defined do double elif "
    "else elseif elsif end endif enum except explicit export extends extern false final finally fn for foreach func "
    "function global if impl implements import in inline int interface internal is let local long namespace new nil "
    "none not null nullptr or override package private protected public pub readonly ref require return self short "
    "signed sizeof static str string struct super switch template then this throw throws true try type typename "
    "undefined unless unsigned use using val var virtual void volatile when while with yield".split()
)
"""Words that code of any topic has."""


def candidate_text(path: str, qualified_name: str, docstring: str, code: str) -> str:
    """Join what tells a candidate from others: its name, documentation, file, and each word of its code once.

    Code repeats its identifiers and has many symbols, which would fill the few tokens that a model reads.
    """
    name = " ".join(subtokens(qualified_name))
    file = " ".join(subtokens(place_of(path)))
    documentation = " ".join(docstring.partition("\n\n")[0].split())[:_MAX_DOCSTRING_CHARS]
    seen = {*_KEYWORDS, *subtokens(qualified_name)}
    body = []
    for word in subtokens(code[:_MAX_CODE_CHARS]):
        if word not in seen and len(word) > 1:
            seen.add(word)
            body.append(word)
    return " ; ".join(part for part in (name, documentation, file, " ".join(body[:_MAX_WORDS])) if part)


def pair_ids(
    query: NDArray[np.uint32], candidates: Sequence[NDArray[np.uint32]], max_tokens: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Join a query with each candidate.

    Args:
        query: ids that begin and end with a mark.
        candidates: ids of each candidate, without the mark at the start.
        max_tokens: longer pairs are cut.

    Returns:
        ids and mask, int64 [N, T], padding last.
    """
    return padded([np.concatenate([query, candidate])[:max_tokens] for candidate in candidates])


class CrossEncoder:
    """Runs a bundle of `exporters.cross_encoder` on the CPU. It opens at its first use; threads can share it."""

    def __init__(self, folder: Path) -> None:
        """Verify a bundle.

        Raises:
            ModelBundleError: it is missing or damaged.
        """
        manifest = read_manifest(folder)
        checked_files(folder, manifest, (MODEL, TOKENIZER))
        self._folder = folder
        self.name = str(manifest["name"])
        self._max_query_tokens = count_in(manifest, "max_query_tokens")
        self._max_tokens = count_in(manifest, "max_tokens")
        self._tokenizer = SubtokenTokenizer.load(folder / TOKENIZER)
        self._opening = threading.Lock()

    @cached_property
    def _session(self) -> Any:  # noqa: ANN401 - ONNX Runtime has no types.
        return open_session(self._folder / MODEL, "cpu", threads=0, precise=True)

    def scores(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return how well each text answers a query: logits, float32 [N]; zeros for a query without tokens.

        Args:
            query: in words.
            texts: of `candidate_text`.

        Raises:
            MissingExtraError: ONNX Runtime is not installed.
            ModelBundleError: ONNX Runtime cannot read the model.
        """
        asked = self._tokenizer.encode(query, self._max_query_tokens)
        if not len(asked) or not texts:
            return np.zeros(len(texts), np.float32)
        candidates = [self._tokenizer.encode(text, self._max_tokens)[1:] for text in texts]
        ids, mask = pair_ids(asked, candidates, self._max_tokens)
        with self._opening:
            session = self._session
        (logits,) = session.run(["logit"], {"input_ids": ids, "attention_mask": mask})
        return np.asarray(logits, np.float32)[:, 0]
