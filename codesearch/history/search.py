"""A question -> commits, ranked as code is: keywords in the message, names and paths, and vectors.

The heuristics for code (direction, penalties, names) do not apply. Among equal commits, newer ones come first.
"""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from codesearch.config import RankConfig
from codesearch.errors import ConfigError
from codesearch.history.build import id_of, time_of
from codesearch.search.candidates import Pool, propose
from codesearch.search.filters import path_filter
from codesearch.search.lexical import LexicalScorer
from codesearch.search.ranking import fuse
from codesearch.search.request import Filters, keep_tuples
from codesearch.search.searcher import LocalIndexes, Searcher
from codesearch.store.reader import IndexReader

RANKING = RankConfig(semantic_weight=0.2, length_prior_half=0.0)
"""The weights. The model has learned code, so its vectors count less than for code. The length prior would ignore the
vectors of commits without hunks."""
_AGO = re.compile(r"(\d{1,4})[ .]?(day|week|month|year)s?(?:[ .]ago)?")
_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}
_DATE = re.compile(r"\d{4}(-\d\d(-\d\d)?)?")


@dataclass(frozen=True, slots=True)
class CommitFilters:
    """Which commits may be hits.

    Attributes:
        since: not older than this date, such as 2024, 2024-05 or 2024-05-31, or this time, such as "3 months"; "" for
            all.
        author: a part of the name or address of the author, in any case.
        paths: globs; one of the changed files must pass them.
        here: working directory; a glob may be relative to it.
        within: files and folders; one of the changed files must be in them. none for all.
        ids: only these commits; None for all.
    """

    since: str = ""
    author: str = ""
    paths: Sequence[str] = ()
    here: Path | str | None = None
    within: Sequence[Path | str] = ()
    ids: Collection[str] | None = None

    def __post_init__(self) -> None:
        keep_tuples(self, "paths", "within")

    @property
    def is_open(self) -> bool:
        """Say whether every commit passes."""
        return not (self.since or self.author or self.paths or self.within) and self.ids is None


def since_time(text: str) -> int:
    """Return the seconds since 1970 that a date or a time before now means.

    >>> since_time("2024-05"), since_time("1970-01-02")
    (1714521600, 86400)
    """
    if match := _AGO.fullmatch(text.strip().lower()):
        return int(time.time()) - int(match[1]) * _DAYS[match[2]] * 86_400
    try:
        if _DATE.fullmatch(text):
            day = datetime.fromisoformat((text + "-01-01")[: len("2024-01-01")])
            return int(day.replace(tzinfo=UTC).timestamp())
    except ValueError:  # There is no such day.
        pass
    raise ConfigError(
        f"--since {text!r}", 'give a date, such as 2024-05-31 or 2024, or a time, such as "3 months"'
    )


class CommitSearcher:
    """Ranks the commits of an index."""

    def __init__(self, index: IndexReader, top: str, searcher: Searcher) -> None:
        """Take the open index, the top of the work tree, which paths are relative to, and its searcher."""
        self._snapshot = LocalIndexes([index]).snapshot
        self._top = top
        self._searcher = searcher

    @property
    def commit_count(self) -> int:
        """Number of commits with a message."""
        return self._snapshot.document_count

    def ranked(
        self, question: str, filters: CommitFilters, top_k: int, mode: str = "hybrid"
    ) -> dict[str, float | None]:
        """Return the ids of the best commits with their scores; without a question, those of the newest."""
        if not question:
            paths = sorted(self._snapshot.paths_of(np.flatnonzero(self._allowed(filters))))
            return dict.fromkeys(map(id_of, paths[:top_k]))
        query = replace(self._searcher.analyse(question, mode), text="", literals=())
        config = replace(RANKING, candidate_count=max(RANKING.candidate_count, top_k))
        lexical = LexicalScorer(self._snapshot, config)
        allowed = None if filters.is_open else self._allowed(filters)
        ranking = propose(Pool(self._snapshot, lexical, allowed), query, config)
        fuse(ranking, config)
        best = ranking.order()[:top_k]
        paths = self._snapshot.paths_of(ranking.doc_ids[best])
        return {id_of(path): float(score) for path, score in zip(paths, ranking.scores[best], strict=True)}

    def _allowed(self, filters: CommitFilters) -> NDArray[np.bool_]:
        """Return which commits pass: bool [size]."""
        allowed = np.zeros(self._snapshot.size, dtype=bool)
        since = since_time(filters.since) if filters.since else None
        author, ids = filters.author.lower(), filters.ids
        narrow = Filters(paths=filters.paths, here=filters.here, within=filters.within)
        passes = path_filter(narrow, Path(self._top))
        for base, segment in self._snapshot.based_segments():
            authors = (
                [row.signature for row in segment.store.document_rows(0, len(segment))] if author else []
            )
            for file_id, file in enumerate(segment.files):
                if not file.doc_count or file_id in segment.dead_files:
                    continue
                allowed[base + file.first_doc] = (
                    (since is None or time_of(file.path) >= since)
                    and (ids is None or id_of(file.path) in ids)
                    and (not author or author in authors[file.first_doc].lower())
                    and (narrow.allow_all or any(map(passes, file.summary.split("\n"))))
                )
        return allowed
