"""A query from start to end: analyse -> filter -> propose -> fuse -> adjust -> group -> hydrate."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from codesearch.config import MODES, RankConfig
from codesearch.errors import ConfigError, index_command
from codesearch.search.confidence import Confidence, confidence_of, shipped_calibration
from codesearch.search.filters import allowed_documents
from codesearch.search.forms import has_identifier, is_code, is_long, parse_asked
from codesearch.search.heuristics import adjust
from codesearch.search.lexical import LexicalScorer
from codesearch.search.literals import (
    KEY,
    NOWHERE,
    ExactText,
    documents_with,
    literal_documents,
    literals_of,
)
from codesearch.search.ranking import AnalysedQuery, Pool, Ranking, fuse, propose
from codesearch.search.request import Filters, SearchRequest
from codesearch.search.screen import group_by_file, group_copies, hydrate
from codesearch.store.manifest import Manifest
from codesearch.store.reader import IndexReader
from codesearch.store.snapshot import Snapshot
from codesearch.text.onnx import Encoder
from codesearch.text.terms import query_terms
from codesearch.types import Hit

MAX_CODE_TERMS = 64
"""If the query is code, only this many terms are used. They are enough, and more would be slow."""
_SHOWN_QUERY = 80
"""Characters of a query that an error shows."""


@dataclass(frozen=True, slots=True)
class Found:
    """Hits, best first."""

    hits: list[Hit]
    confidence: Confidence | None = None  # Whether the hits answer the query; None if that is unknown.
    exact: ExactText = NOWHERE  # Where the text stands, if an exact one was asked for.

    @property
    def unseen(self) -> dict[str, int]:
        """Count what is known of an exact text and not in the hits, and the files that were not read for it."""
        shown = sum(1 + len(hit.others) + hit.copy_count for hit in self.hits)
        return {"not read": self.exact.unread_files, "not shown": max(len(self.exact.doc_ids) - shown, 0)}

    @property
    def low_confidence(self) -> bool:
        """Say whether the project probably has nothing about the subject, so that the user should see a note."""
        return self.confidence is not None and self.confidence.subject < shipped_calibration().threshold


class Searchable(Protocol):
    """The documents that are open for searches: those of indexes of this machine, or of a server.

    Attributes:
        snapshot: the documents, if they are on this machine.
        document_count: number of live documents.
        roots: the indexed folders that are searched.
        manifests: those of the indexes that are searched, if they are on this machine.
        model_folder: folder of the model that the documents were made with; None if it is not known.
    """

    @property
    def snapshot(self) -> Snapshot | None: ...  # noqa: D102
    @property
    def document_count(self) -> int: ...  # noqa: D102
    @property
    def roots(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def manifests(self) -> Sequence[Manifest]: ...  # noqa: D102
    @property
    def model_folder(self) -> Path | None: ...  # noqa: D102

    def check_model(self, encoder: Encoder) -> None:
        """Raise an error if the documents were not made with the model of an encoder."""
        ...

    def pool(self, query: AnalysedQuery, filters: Filters, config: RankConfig) -> Pool:
        """Return the documents that pass the filters and may be candidates for a query."""
        ...

    def any_passes(self, filters: Filters) -> bool:
        """Say whether any document passes the filters."""
        ...

    def changed_files(self, filters: Filters, revision: str) -> tuple[frozenset[str], dict[str, ConfigError]]:
        """Return the absolute paths of files that differ from a git revision, and an error for each root without."""
        ...


class LocalIndexes:
    """Indexes of this machine that are open; `Searchable` describes its attributes and methods."""

    def __init__(self, indexes: Sequence[IndexReader]) -> None:
        self.indexes = list(indexes)
        self.snapshot = Snapshot(self.indexes)
        self.document_count = self.snapshot.document_count
        self.roots = tuple(index.manifest.root for index in self.indexes)
        self.manifests = [index.manifest for index in self.indexes]
        self.model_folder = self.indexes[0].manifest.model_folder if self.indexes else None

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

    def pool(self, query: AnalysedQuery, filters: Filters, config: RankConfig) -> Pool:
        """Return the documents that pass the filters."""
        lexical = LexicalScorer(self.snapshot, config)
        if query.exact is not None:
            having = np.zeros(self.snapshot.size, dtype=bool)
            having[list(query.exact)] = True
            return Pool(self.snapshot, lexical, having, query.exact)
        allowed = allowed_documents(filters, self.snapshot)
        literal = literal_documents(query.literals, query.terms, self.snapshot, lexical, allowed)
        return Pool(self.snapshot, lexical, allowed, literal)

    def any_passes(self, filters: Filters) -> bool:
        """Say whether any document passes the filters; True without filters."""
        allowed = None if filters.allow_all else allowed_documents(filters, self.snapshot)
        return allowed is None or bool(allowed.any())

    def changed_files(self, filters: Filters, revision: str) -> tuple[frozenset[str], dict[str, ConfigError]]:
        """Return the absolute paths of files that differ from a git revision, and an error for each root without."""
        from codesearch.search.changes import changed_lines

        changed, failed = changed_lines(self.snapshot, filters, revision, with_lines=False)
        return frozenset(changed), failed


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
            if self.searched.snapshot is None:
                raise ConfigError(
                    "an exact text is looked for in the files of this machine", "leave --backend out"
                )
            exact = documents_with(request.query, self.searched.snapshot, request.filters)
            query = AnalysedQuery("", query_terms(request.query), None, exact=exact.doc_ids)
            ranking = self.ranking(query, request.filters, all_code=request.all_code)
            hits = self.hits(query, ranking, request)
            return Found(hits, exact=exact)
        query = self.analyse(request.query, request.mode, reports=True)
        ranking = self.ranking(query, request.filters, all_code=request.all_code)
        confidence = None
        if self.encoder and request.mode == "hybrid" and query.text:
            confidence = confidence_of(ranking.of_title or ranking, self.encoder.model_id)
        if confidence and confidence.answer < request.min_confidence:
            return Found([], confidence)
        return Found(self.hits(query, ranking, request), confidence)

    def ranking(
        self,
        query: AnalysedQuery,
        filters: Filters | None = None,
        candidate_count: int | None = None,
        *,
        all_code: bool = False,
    ) -> Ranking:
        """Filter the documents, propose the best as candidates, fuse their signals and adjust the scores."""
        config = self.config.all_code() if all_code else self.config
        config = replace(config, candidate_count=candidate_count or config.candidate_count)
        pool = self.searched.pool(query, filters or Filters(), config)
        ranking = propose(pool, query, config)
        fuse(ranking, config.keywords_for(code=query.pasted, named=has_identifier(query.text)))
        adjust(query.text, ranking, config)
        # The candidates of two queries to a server are numbered independently.
        if query.report is None or self.searched.snapshot is None:
            return ranking
        from codesearch.search.report import MOST_TERMS, combined

        words = query_terms(query.report.text)[:MOST_TERMS]
        text = AnalysedQuery("", words, None, literals=query.report.literals)
        return combined(
            query.report, ranking, self.ranking(text, filters, candidate_count, all_code=all_code)
        )

    def hits(
        self,
        query: AnalysedQuery,
        ranking: Ranking,
        request: SearchRequest,
        left_out: Collection[int] = (),
    ) -> list[Hit]:
        """Return the first `request.top_k` hits whose files still exist; copies share one hit.

        If copies and lost files leave too few hits, group more candidates, then rank more documents.
        """
        count, candidate_count = request.top_k, self.config.candidate_count
        while True:
            if request.by_file:
                candidates = group_by_file(
                    query.words, ranking, self.config, count, request.screen, request.columns
                )
            else:
                candidates = group_copies(ranking, count, left_out)
            hits = hydrate(ranking.documents, candidates, request.context)
            if len(hits) >= request.top_k:
                return hits if request.screen else hits[: request.top_k]
            if count < len(ranking.doc_ids):
                count *= 4
            elif candidate_count <= len(ranking.doc_ids):
                candidate_count *= 4
                ranking = self.ranking(query, request.filters, candidate_count, all_code=request.all_code)
            else:  # All documents that match are candidates.
                return hits

    def analyse(self, text: str, mode: str = "hybrid", *, reports: bool = False) -> AnalysedQuery:
        """Return the terms and the vector of a query, as far as the mode needs them; of a report, its title's."""
        report = None
        if reports and mode != "semantic" and is_long(text):
            from codesearch.search.report import read_report

            report = read_report(text)
        query = report.title if report else text
        if mode not in MODES:
            raise ConfigError(f"mode {mode!r}", f"choose one of {', '.join(MODES)}")
        terms = query_terms(query)
        if not terms:
            shown = query if len(query) <= _SHOWN_QUERY else f"{query[:_SHOWN_QUERY]}…"
            raise ConfigError(f"query {shown!r} has no words to search for")
        code = is_code(query)
        return AnalysedQuery(
            text="" if code else query,  # Code is neither a name nor a request for a conversion.
            terms=terms[: MAX_CODE_TERMS if code else None] if mode != "semantic" else (),
            vector=self._query_vector(query, code) if mode != "lexical" else None,
            pasted=code,
            literals=() if parse_asked(query).names and not KEY.fullmatch(query) else literals_of(query),
            report=report,
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
