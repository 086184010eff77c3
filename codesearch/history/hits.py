"""Ids of commits -> what is shown of them: message, files and changed definitions, all from git's objects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from codesearch.git import Repository
from codesearch.history.changed import ChangedDefinition, changed_definitions
from codesearch.history.log import read_changes

_LAST_SECOND = 253_402_300_799
"""Of the year 9999, the last one that a date can have."""


@dataclass(frozen=True, slots=True)
class CommitHit:
    """A commit of an answer.

    Attributes:
        rank: 1-based.
        id: its full id.
        date: when it was committed, as YYYY-MM-DD in UTC.
        author: name and address.
        subject: the first line of its message.
        body: the rest of its message.
        paths: the files that it changed.
        definitions: those that it changed, as the product parses them.
        score: higher is better; None if there is no question.
    """

    rank: int
    id: str
    date: str
    author: str
    subject: str
    body: str
    paths: tuple[str, ...]
    definitions: tuple[ChangedDefinition, ...]
    score: float | None = None


@dataclass(frozen=True, slots=True)
class HistoryAnswer:
    """Commits for a question or a place.

    Attributes:
        question: as it was asked; "" if only a place was.
        place: as it was given; "" for the whole repository.
        path: of the place, below the top.
        top: the work tree.
        hits: the commits; best first, or newest first without a question.
        commits: how many were searched.
        added: how many of them were indexed for this answer.
        shallow: whether the clone lacks older commits.
    """

    question: str
    place: str
    path: str
    top: str
    hits: tuple[CommitHit, ...]
    commits: int
    added: int
    shallow: bool


def read_hits(repository: Repository, scores: Mapping[str, float | None]) -> tuple[CommitHit, ...]:
    """Return what is shown of commits, given as ids with scores, in the same order."""
    found = {commit.id: commit for commit in read_changes(repository, scores)}
    commits = [found[one] for one in scores if one in found]
    definitions = changed_definitions(repository, commits)
    return tuple(
        CommitHit(
            rank=rank,
            id=commit.id,
            date=datetime.fromtimestamp(min(commit.time, _LAST_SECOND), UTC).date().isoformat(),
            author=commit.author,
            subject=commit.subject,
            body=commit.body,
            paths=tuple(change.path for change in commit.changes),
            definitions=definitions[commit.id],
            score=scores[commit.id],
        )
        for rank, commit in enumerate(commits, 1)
    )
