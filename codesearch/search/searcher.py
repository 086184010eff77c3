"""A query from start to end: `Searcher.answer` names the steps, and `Searcher.ranking` those of a ranking.

A new signal is computed in `propose`, or in `adjust` if it needs a ranking. Parts of a definition that match are chosen
in `hits`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence, Set
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from codesearch.config import RankConfig
from codesearch.errors import ConfigError, index_command
from codesearch.parsing.identifiers import words
from codesearch.search.confidence import Confidence, confidence_of, shipped_calibration
from codesearch.search.exact import NOWHERE, ExactText, documents_with
from codesearch.search.filters import allowed_documents
from codesearch.search.forms import has_identifier, is_code, is_long, parse_asked
from codesearch.search.heuristics import adjust
from codesearch.search.hits import hydrate, passages_for
from codesearch.search.lexical import LexicalScorer, Pool
from codesearch.search.literals import KEY, literals_of, quoted_documents
from codesearch.search.ranking import AnalysedQuery, Ranking, fuse, propose
from codesearch.search.request import Filters, SearchRequest
from codesearch.search.screen import group_by_file, group_copies
from codesearch.store.segments import IndexReader
from codesearch.store.snapshot import Snapshot
from codesearch.text.onnx import OnnxEncoder
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
    unknown_words: tuple[str, ...] = ()  # Words of the query that no document has.

    @property
    def unseen(self) -> dict[str, int]:
        """Count what is known of an exact text and not in the hits, and the files that were not read for it."""
        shown = sum(1 + len(hit.others) + hit.copy_count for hit in self.hits)
        return {"not read": self.exact.unread_files, "not shown": max(len(self.exact.doc_ids) - shown, 0)}

    @property
    def low_confidence(self) -> bool:
        """Say whether the project probably has nothing about the subject, so that the user should see a note."""
        return self.confidence is not None and self.confidence.subject < shipped_calibration().threshold


class Searched:
    """The documents that are open for searches: those of indexes of this machine; a server replaces all methods.

    Attributes:
        snapshot: the documents; none if they are on a server.
        roots: the indexed folders that are searched.
        manifests: those of the indexes, if they are on this machine.
        model_folder: folder of the model that the documents were made with; None if it is not known.
    """

    is_local = True

    def __init__(self, indexes: Sequence[IndexReader] = ()) -> None:
        """Set the indexes."""
        self.indexes = list(indexes)
        self.snapshot = Snapshot(self.indexes)
        self.manifests = [index.manifest for index in self.indexes]
        self.roots = tuple(manifest.root for manifest in self.manifests)
        self.model_folder = self.manifests[0].model_folder if indexes else None

    @property
    def document_count(self) -> int:
        """The number of live documents."""
        return self.snapshot.document_count

    def check_model(self, encoder: OnnxEncoder) -> None:
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
        """Return the documents that pass the filters and may be candidates for a query."""
        lexical = LexicalScorer(self.snapshot, config)
        if query.exact is not None:
            having = np.zeros(self.snapshot.size, dtype=bool)
            having[query.exact.doc_ids] = True
            return Pool(self.snapshot, lexical, having, dict.fromkeys(query.exact.doc_ids, 0))
        allowed = allowed_documents(filters, self.snapshot)
        pool = Pool(self.snapshot, lexical, allowed)
        return replace(pool, literal=quoted_documents(query.literals, query.message, query.terms, pool))

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
        searched: Searched | Sequence[IndexReader],
        encoder: OnnxEncoder | None,
        config: RankConfig | None = None,
    ) -> None:
        """Make a searcher."""
        self.searched = Searched(searched) if isinstance(searched, Sequence) else searched
        self.encoder = encoder
        self.config = config or RankConfig()
        if encoder:
            self.searched.check_model(encoder)

    def answer(self, request: SearchRequest) -> Found:
        """Return the best documents for a query, and the probability that one of them answers it."""
        # What the query says: its words, their vector, and what it quotes; or where an exact text stands.
        if request.fixed:
            query = self._exact(request)
        else:
            query = self.analyse(request.query, request.mode, reports=True)
        # The documents that pass the filters, by keywords, vectors, names, paths and texts, the best first.
        ranking = self.ranking(query, request.filters, all_code=request.all_code)
        # Whether they answer the query.
        confidence = self._confidence(query, ranking, request.mode)
        if confidence and confidence.answer < request.min_confidence:
            return Found([], confidence)
        # Those to show: without copies, of each file the best definitions, with their code.
        hits = self.hits(query, ranking, request)
        return Found(hits, confidence, query.exact or NOWHERE, unknown_words(query, set(ranking.idf)))

    def ranking(
        self,
        query: AnalysedQuery,
        filters: Filters | None = None,
        candidate_count: int | None = None,
        *,
        all_code: bool = False,
    ) -> Ranking:
        """Return the candidates for a query among the documents that pass the filters, with their scores."""
        config = self.config.all_code() if all_code else self.config
        config = replace(config, candidate_count=candidate_count or config.candidate_count)
        # The documents that may be found.
        pool = self.searched.pool(query, filters or Filters(), config)
        # Candidates: each way of finding proposes its best documents, and each signal of all of them is computed.
        ranking = propose(pool, query, config)
        # The score: a weighted sum of these signals.
        fuse(ranking, config.keywords_for(code=query.pasted, named=has_identifier(query.text)))
        # What needs a ranking: direction of conversions, penalties, different files, and what the query names first.
        adjust(query, ranking, config)
        # The candidates of two queries to a server are numbered independently.
        if query.report is None or not self.searched.is_local:
            return ranking
        # The title of a report was ranked; now all of its text, and the code that it names.
        from codesearch.search.report import combined, of_text

        text = self.ranking(of_text(query.report), filters, candidate_count, all_code=all_code)
        return combined(query.report, ranking, text)

    def hits(
        self, query: AnalysedQuery, ranking: Ranking, request: SearchRequest, left_out: Collection[int] = ()
    ) -> list[Hit]:
        """Return as many hits as a request asks for, whose files still exist; copies share one hit."""
        hits: list[Hit] = []
        for wider, count in self._widened(query, ranking, request):
            if request.by_file:
                screen = request.screen, request.columns
                candidates = group_by_file(query.words, wider, self.config, count, *screen)
            else:
                candidates = group_copies(query.words, wider, count, left_out)
            hits = hydrate(wider.documents, candidates, request.context, passages_for(query, wider))
            if len(hits) >= request.count:
                break
        return hits if request.screen else hits[: request.count]

    def _widened(
        self, query: AnalysedQuery, ranking: Ranking, request: SearchRequest
    ) -> Iterator[tuple[Ranking, int]]:
        """Yield a ranking, and how many of its candidates to group: each time more, then of more documents.

        That is needed if copies and lost files leave too few hits.
        """
        count, candidate_count = request.count, self.config.candidate_count
        yield ranking, count
        while True:
            if count < len(ranking.doc_ids):
                count *= 4
            elif candidate_count <= len(ranking.doc_ids):
                candidate_count *= 4
                ranking = self.ranking(query, request.filters, candidate_count, all_code=request.all_code)
            else:  # All documents that match are candidates.
                return
            yield ranking, count

    def _confidence(self, query: AnalysedQuery, ranking: Ranking, mode: str) -> Confidence | None:
        """Return the confidence in a ranking by keywords and vectors of a query in words."""
        if self.encoder is None or mode != "hybrid" or not query.text:
            return None
        return confidence_of(ranking.of_title or ranking, self.encoder.model_id)

    def _exact(self, request: SearchRequest) -> AnalysedQuery:
        """Return a query for the documents that an exact text stands in."""
        if not self.searched.is_local:
            raise ConfigError(
                "an exact text is looked for in the files of this machine", "leave --backend out"
            )
        exact = documents_with(request.query, self.searched.snapshot, request.filters, request.seconds)
        return AnalysedQuery("", query_terms(request.query), None, exact=exact)

    def analyse(self, text: str, mode: str = "hybrid", *, reports: bool = False) -> AnalysedQuery:
        """Return the terms and the vector of a query, as far as the mode needs them; of a report, its title's."""
        report = None
        if reports and mode != "semantic" and is_long(text):
            from codesearch.search.report import read_report

            report = read_report(text)
        query = report.title if report else text
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
            message="" if code or mode == "semantic" else query,
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


def unknown_words(query: AnalysedQuery, known: Set[str]) -> tuple[str, ...]:
    """Return the words of a query, not of a report or a path, whose terms are all unknown: in no document.

    >>> unknown_words(AnalysedQuery("read a HAR file", ["read", "har", "file"], None), {"read", "file"})
    ('HAR',)
    """
    if query.report or "/" in query.text or known >= set(query.terms):
        return ()
    spelled = [word for word in words(query.text) if word.isalpha()]
    forms = {word: set(query_terms(word)) & set(query.terms) for word in spelled}
    return tuple(word for word, terms in forms.items() if terms and terms.isdisjoint(known))
