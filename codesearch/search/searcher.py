"""A query from start to end: analyse -> candidates by keywords and vectors -> fuse -> heuristics -> hydrate."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from codesearch.config import MODES, RankConfig
from codesearch.errors import ConfigError, index_command
from codesearch.search.candidates import AnalysedQuery, gather
from codesearch.search.confidence import confidence_of, shipped_calibration
from codesearch.search.files import places_of_files
from codesearch.search.filters import allowed_documents
from codesearch.search.forms import is_code, is_long, parse_asked
from codesearch.search.fusion import Ranked, Ranking, fuse
from codesearch.search.heuristics import apply_heuristics
from codesearch.search.hydrate import hydrate, places_with_copies
from codesearch.search.lexical import LexicalScorer
from codesearch.search.literals import (
    ExactText,
    check_has_code,
    documents_with,
    literal_documents,
    literals_of,
)
from codesearch.search.lookup import Example, indexed_example
from codesearch.search.request import Filters, Place, SearchRequest
from codesearch.store.reader import IndexReader
from codesearch.store.snapshot import Snapshot
from codesearch.text.encoder import Encoder
from codesearch.text.terms import query_terms
from codesearch.types import Hit

if TYPE_CHECKING:
    from codesearch.search.documents import Documents

MAX_CODE_TERMS = 64
"""If the query is code, only this many terms are used. They are enough, and more would be slow."""
_SHOWN_QUERY = 80
"""Characters of a query that an error shows."""


@dataclass(frozen=True, slots=True)
class Found:
    """Hits, best first.

    Attributes:
        confidence: probability that one of the hits answers the query, 0 to 1; None if it is unknown.
        outside: "path:line" where an exact text is in no document.
        unread_files: how many more files may have an exact text and were not read, because there are too many.
    """

    hits: list[Hit]
    confidence: float | None = None
    outside: tuple[str, ...] = ()
    unread_files: int = 0

    @property
    def low_confidence(self) -> bool:
        """Say whether the confidence is below the threshold at which the user should see a note."""
        return self.confidence is not None and self.confidence < shipped_calibration().threshold


class Searchable(Protocol):
    """The documents that a backend has opened for searches."""

    @property
    def document_count(self) -> int:
        """Number of live documents."""
        ...

    @property
    def roots(self) -> tuple[str, ...]:
        """The indexed folders that are searched."""
        ...

    @property
    def left_out(self) -> int:
        """Number of files that are missing because they crash parsers or go over a limit."""
        ...

    @property
    def model_folder(self) -> Path | None:
        """Folder of the model that the documents were made with; None if it is not known."""
        ...

    def check_model(self, encoder: Encoder) -> None:
        """Raise an error if the documents were not made with the model of an encoder."""
        ...

    def ranking(self, query: AnalysedQuery, filters: Filters, config: RankConfig) -> Ranking:
        """Propose the best candidates for a query that pass the filters, and rank them with the statistics of all."""
        ...

    def documents_with(self, text: str, filters: Filters) -> ExactText:
        """Return the documents that have an exact text and pass the filters."""
        ...

    def any_passes(self, filters: Filters) -> bool:
        """Say whether any document passes the filters."""
        ...

    def example(self, place: Place) -> Example | None:
        """Return the definition at a line as it is stored; None if it is not stored or has changed."""
        ...

    def changed_files(self, filters: Filters, revision: str) -> tuple[frozenset[str], dict[str, ConfigError]]:
        """Return the absolute paths of files that differ from a git revision, and an error for each root without."""
        ...


class LocalIndexes:
    """Indexes of this machine that are open."""

    def __init__(self, indexes: Sequence[IndexReader]) -> None:
        self.indexes = list(indexes)
        self.snapshot = Snapshot(self.indexes)

    @property
    def document_count(self) -> int:
        """Number of live documents."""
        return self.snapshot.document_count

    @property
    def roots(self) -> tuple[str, ...]:
        """The indexed folders that are searched."""
        return tuple(index.manifest.root for index in self.indexes)

    @property
    def left_out(self) -> int:
        """Number of files that are missing because they crash parsers or go over a limit."""
        return sum(index.manifest.left_out for index in self.indexes)

    @property
    def model_folder(self) -> Path | None:
        """Folder of the model of the first index."""
        return self.indexes[0].manifest.model_folder if self.indexes else None

    def check_model(self, encoder: Encoder) -> None:
        """Raise ConfigError if an index was not made with the model of an encoder."""
        for index in self.indexes:
            made_with = index.manifest.model
            if made_with["id"] != encoder.model_id:
                cure = f"run {index_command(index.root)} again, with the same --model if you gave one"
                if not index.manifest.has_sources:
                    cure = "give the folder of its model with --model, or search with --mode lexical"
                raise ConfigError(
                    f"{index.root} was indexed with model {made_with['name']} ({made_with['id']}), not with "
                    f"{encoder.name} ({encoder.model_id})",
                    cure,
                )

    def ranking(self, query: AnalysedQuery, filters: Filters, config: RankConfig) -> Ranking:
        """Rank the documents that pass the filters."""
        lexical = LexicalScorer(self.snapshot, config)
        if query.exact is not None:
            having = np.zeros(self.snapshot.size, dtype=bool)
            having[list(query.exact)] = True
            return rank_documents(self.snapshot, lexical, query, having, config, query.exact)
        allowed = allowed_documents(filters, self.snapshot)
        literal = literal_documents(query.literals, query.terms, self.snapshot, lexical, allowed)
        return rank_documents(self.snapshot, lexical, query, allowed, config, literal)

    def documents_with(self, text: str, filters: Filters) -> ExactText:
        """Return the documents that have an exact text and pass the filters."""
        check_has_code(self.indexes)
        return documents_with(text, self.snapshot, LexicalScorer(self.snapshot, RankConfig()), filters)

    def any_passes(self, filters: Filters) -> bool:
        """Say whether any document passes the filters; True without filters."""
        allowed = None if filters.allow_all else allowed_documents(filters, self.snapshot)
        return allowed is None or bool(allowed.any())

    def example(self, place: Place) -> Example | None:
        """Return the definition at a line as it is stored; None if it is not stored or has changed."""
        return next(filter(None, (indexed_example(index, place) for index in self.indexes)), None)

    def changed_files(self, filters: Filters, revision: str) -> tuple[frozenset[str], dict[str, ConfigError]]:
        """Return the absolute paths of files that differ from a git revision, and an error for each root without."""
        from codesearch.search.changes import changed_files

        return changed_files(self.snapshot, filters, revision)


class Searcher:
    """Answers queries over documents that were made with the same model."""

    def __init__(
        self,
        searched: Searchable | Sequence[IndexReader],
        encoder: Encoder | None,
        config: RankConfig | None = None,
    ) -> None:
        """Make a searcher."""
        self.searched = LocalIndexes(searched) if isinstance(searched, Sequence) else searched
        self.encoder = encoder
        self.config = config or RankConfig()
        if encoder:
            self.searched.check_model(encoder)

    def answer(self, request: SearchRequest) -> Found:
        """Return the best documents for a query and the probability that one of them answers it."""
        if request.fixed:
            return self._with_text(request)
        ask = partial(self.rankings, request.query, request.mode, request.filters, all_code=request.all_code)
        analysed, first, ranking = ask()
        confidence = None
        if self.encoder and request.mode == "hybrid" and analysed.text:
            confidence = confidence_of(first, self.encoder.model_id)
        if confidence is not None and confidence < request.min_confidence:
            return Found([], confidence)
        hits = self.hits(analysed, ranking, request, again=lambda count: ask(candidate_count=count)[2])
        return Found(hits, confidence)

    def rankings(
        self,
        text: str,
        mode: str,
        filters: Filters | None,
        *,
        candidate_count: int | None = None,
        all_code: bool = False,
    ) -> tuple[AnalysedQuery, Ranking, Ranking]:
        """Return an analysed query, its ranking, and the one to show. The first two are of a report's title."""
        report = None
        if mode != "semantic" and is_long(text):
            from codesearch.search.report import MOST_TERMS, combined, read_report

            report = read_report(text)
        analysed = self.analyse(report.title if report else text, mode)
        first = self.ranking(analysed, filters, candidate_count, all_code=all_code)
        # The candidates of two queries to a server are numbered independently.
        if report is None or not isinstance(self.searched, LocalIndexes):
            return analysed, first, first
        whole = AnalysedQuery("", query_terms(report.text)[:MOST_TERMS], None, literals=report.literals)
        second = self.ranking(whole, filters, candidate_count, all_code=all_code)
        return analysed, first, combined(report, first, second)

    def _with_text(self, request: SearchRequest) -> Found:
        """Return the documents that have the query as it is, ranked by its words."""
        exact = self.searched.documents_with(request.query, request.filters)
        query = AnalysedQuery("", query_terms(request.query), None, exact=exact.doc_ids)
        ranking = self.ranking(query, request.filters, all_code=request.all_code)
        hits = self.hits(query, ranking, request)
        return Found(hits, outside=tuple(exact.outside), unread_files=exact.unread_files)

    def hits(
        self,
        query: AnalysedQuery,
        ranking: Ranking,
        request: SearchRequest,
        left_out: Collection[int] = (),
        again: Callable[[int], Ranking] | None = None,
    ) -> list[Hit]:
        """Return the first `request.top_k` hits whose files still exist; copies share one hit.

        If copies leave too few hits, rank more candidates.
        """
        again = again or partial(self.ranking, query, request.filters, all_code=request.all_code)
        hits = self._hits(query, ranking, request, left_out)
        count = self.config.candidate_count
        # With fewer candidates than wanted, all documents that match are candidates.
        while len(hits) < request.top_k and count <= len(ranking.doc_ids):
            count *= 4
            ranking = again(count)
            hits = self._hits(query, ranking, request, left_out)
        return hits

    def _hits(
        self, query: AnalysedQuery, ranking: Ranking, request: SearchRequest, left_out: Collection[int]
    ) -> list[Hit]:
        count = request.top_k
        while True:
            if request.by_file:
                places = places_of_files(query.text, ranking, self.config, count)
            else:
                places = places_with_copies(ranking, count, left_out)
            hits = hydrate(ranking.snapshot, places, request.context)[: request.top_k]
            if len(hits) == request.top_k or count >= len(ranking.doc_ids):
                return hits
            count *= 4

    def rank(
        self, query: str, top_k: int, filters: Filters | None = None, mode: str = "hybrid"
    ) -> list[Ranked]:
        """Return the places of the `top_k` best documents, best first."""
        return self.rankings(query, mode, filters)[2].ranked(top_k)

    def ranking(
        self,
        query: AnalysedQuery,
        filters: Filters | None = None,
        candidate_count: int | None = None,
        *,
        all_code: bool = False,
    ) -> Ranking:
        """Gather, fuse and rank the candidates for an analysed query."""
        config = self.config.all_code() if all_code else self.config
        config = replace(config, candidate_count=candidate_count or config.candidate_count)
        return self.searched.ranking(query, filters or Filters(), config)

    def analyse(self, query: str, mode: str = "hybrid") -> AnalysedQuery:
        """Return the terms and the vector of a query, as far as the mode needs them."""
        if mode not in MODES:
            raise ConfigError(f"mode {mode!r}", f"choose one of {', '.join(MODES)}")
        terms = query_terms(query)
        if not terms:
            raise ConfigError(f"query {_shown(query)!r} has no words to search for")
        code = is_code(query)
        return AnalysedQuery(
            text="" if code else query,  # Code is neither a name nor a request for a conversion.
            terms=terms[: MAX_CODE_TERMS if code else None] if mode != "semantic" else (),
            vector=self._query_vector(query, code) if mode != "lexical" else None,
            pasted=code,
            literals=() if parse_asked(query).names else literals_of(query),
        )

    def _query_vector(self, query: str, code: bool) -> NDArray[np.float32] | None:
        if self.encoder is None:
            raise ConfigError("no model is loaded", "only mode lexical can answer")
        vector = self.document_vector(query) if code else self.encoder.encode_queries([query])[0]
        return vector if vector.any() else None

    def document_vector(self, text: str, language: str = "") -> NDArray[np.float32]:
        """Embed a text like a document of an index: float32 [D]."""
        if self.encoder is None:
            raise ConfigError("no model is loaded", "similar code is found by vectors")
        tokens = self.encoder.tokenizer.encode_document(text, self.encoder.max_document_tokens, language)
        return np.asarray(self.encoder.encode_documents([tokens])[0])


def rank_documents(
    snapshot: Documents,
    lexical: LexicalScorer,
    query: AnalysedQuery,
    allowed: NDArray[np.bool_] | None,
    config: RankConfig,
    literal: Sequence[int] = (),
) -> Ranking:
    """Gather and fuse the candidates of a snapshot, and apply the heuristics; the arguments are those of `gather`."""
    candidates = gather(snapshot, lexical, query, allowed=allowed, config=config, literal=literal)
    ranking = fuse(candidates, snapshot, config.for_code() if query.pasted else config)
    apply_heuristics(query.text, ranking, config)
    return ranking


def _shown(query: str) -> str:
    return query if len(query) <= _SHOWN_QUERY else f"{query[:_SHOWN_QUERY]}..."
