"""What the engine returns for a query."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from codesearch.types import Definition, Hit

if TYPE_CHECKING:
    from codesearch.duplicates.records import Group
    from codesearch.structure.usages import Usages

_FIRST = ("rank", "score", "root", *(field.name for field in fields(Definition)), "code", "signals", "parts")
"""The first fields of a hit in JSON."""


@dataclass(frozen=True, slots=True)
class Changes:
    """What an update would do: files that are new or changed, and files that are gone."""

    to_parse: int
    removed: int


class State(StrEnum):
    """Whether an index is up to date with its folder."""

    CURRENT = "current"
    UPDATED = "updated"
    """It was brought up to date just now."""
    BEHIND = "behind"
    """The update would take longer than allowed."""
    LOCKED = "locked"
    """Another process is updating it."""
    WITH_CODE, WITHOUT_CODE = "with code", "without code"
    """It was imported, and its sources are not on this machine."""
    UNCHECKED = "unchecked"
    """Its folder cannot be compared with it."""
    UNREADABLE = "unreadable"
    """It cannot be read, or its folder cannot be compared with a git revision, so it is left out."""


@dataclass(frozen=True, slots=True)
class Freshness:
    """Whether an index is up to date with its folder.

    Attributes:
        root: the indexed folder.
        state: how it compares with its folder.
        changes: what was or would be updated; nothing if it is behind and finding out would take longer than allowed.
        error: why it is unchecked or unreadable, and the cure.
    """

    root: str
    state: State
    changes: Changes = Changes(0, 0)
    error: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """Hits, best first, and how they were found.

    Attributes:
        query: as asked; FILE:LINE where code was given.
        mode: of the request, "exact" or "similar".
        model: name of the model; "" if none was needed.
        device: where it ran, "cpu" or "cuda".
        documents: how many were searched.
        seconds: to search, without opening indexes and models.
        confidence: probability that a definition on the first screen answers the query, 0 to 1; None if it is not
            calibrated.
        subject: probability that the project has code about what the query asks for; likewise.
        low_confidence: the subject is so improbable that the user should know.
        freshness: whether each index is up to date with its folder, if that was checked; also each that is unreadable.
        roots: the indexed folders that were searched.
        filters_match: False if there are no hits because no document passes the filters.
        outside: "path:line" where an exact text is in no definition.
        unread_files: how many more files may have an exact text and were not read, because there are too many.
        left_out: how many files are not in the indexes because they crash parsers or go over a limit of time or memory.
        changed_files: how many files differ from the revision of the request; None if it has none.
    """

    query: str
    mode: str
    model: str
    device: str
    documents: int
    seconds: float
    hits: list[Hit]
    confidence: float | None = None
    subject: float | None = None
    low_confidence: bool = False
    freshness: tuple[Freshness, ...] = ()
    roots: tuple[str, ...] = ()
    filters_match: bool = True
    changed_files: int | None = None
    outside: tuple[str, ...] = ()
    unread_files: int = 0
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class UsagesAnswer:
    """Where a name is used, and what was searched; `roots` and `freshness` are those of `Answer`."""

    found: Usages
    roots: tuple[str, ...]
    freshness: tuple[Freshness, ...] = ()


@dataclass(frozen=True, slots=True)
class DuplicatesAnswer:
    """Functions that do the same, and what was compared; `roots` and `freshness` are those of `Answer`.

    Attributes:
        groups: those with most lines to save first; those of changed functions in the order of their files.
        functions: number of functions that were compared.
        changed: number of functions that differ from the revision; None if all were compared with each other.
        seconds: of the search, without a refresh.
    """

    groups: tuple[Group, ...]
    functions: int
    changed: int | None
    seconds: float
    roots: tuple[str, ...]
    freshness: tuple[Freshness, ...] = ()


def usages_fields(answer: UsagesAnswer) -> dict[str, Any]:
    """Return usages as `codesearch usages --json` prints them."""
    values = asdict(answer)
    return {**values.pop("found"), **values}


def answer_fields(answer: Answer) -> dict[str, Any]:
    """Return an answer as `codesearch query --json` prints it."""
    return {**asdict(answer), "hits": [hit_fields(hit) for hit in answer.hits]}


def hit_fields(hit: Hit) -> dict[str, Any]:
    """Return a hit as `codesearch query --jsonl` prints it."""
    found = asdict(hit)
    return {**{name: found[name] for name in _FIRST}, **found}
