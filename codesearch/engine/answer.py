"""What the engine returns: for a question, and about indexes and the installation."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from codesearch.errors import index_command
from codesearch.store.catalogue import Building
from codesearch.store.manifest import Counts, Manifest, Tally
from codesearch.structure.text import counted
from codesearch.types import Coverage, Definition, Hit
from codesearch.visible import visible

if TYPE_CHECKING:
    from codesearch.duplicates import Group
    from codesearch.structure.lines import Lines
    from codesearch.structure.usages import Usages

T = TypeVar("T")
_SHOWN_PLACES = 5
"""Of an exact text outside of definitions."""
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
    PARTIAL = "partial"
    """Its first index is not finished."""
    WITH_CODE, WITHOUT_CODE = "with code", "without code"
    """It was imported, and its sources are not on this machine."""
    UNCHECKED = "unchecked"
    """Its folder cannot be compared with it."""
    UNREADABLE = "unreadable"
    """It cannot be read, or its folder cannot be compared with a git revision, so it is left out."""


@dataclass(frozen=True, slots=True)
class Freshness:
    """Whether an index is up to date with its folder."""

    root: str  # The indexed folder.
    state: State  # How it compares with its folder.
    # What was or would be updated; nothing if it is behind and finding out would take longer than allowed.
    changes: Changes = Changes(0, 0)
    # Why it is unchecked or unreadable, and the cure; what is known of a first index that is not finished.
    error: str = ""

    @property
    def note(self) -> str:
        """What to know if the index is older than its folder or cannot be compared, and what to do; else ""."""
        root, command = visible(self.root), visible(index_command(self.root))
        changed = self.changes.to_parse + self.changes.removed
        behind = f"{counted(changed, 'file')} changed since {root} was indexed: run {command}"
        if not changed:
            watch = visible(index_command(self.root, command="watch"))
            slow = f"{root} has changed, and a query has no time to find out what"
            behind = f"{slow}: run {command}, or keep {watch} running"
        notes = {
            State.LOCKED: f"{root} is being indexed by another process: this is the last complete index",
            State.WITH_CODE: f"the sources of {root} are not here: hits have the code that was indexed",
            State.WITHOUT_CODE: f"the sources of {root} are not here: hits have no code",
            State.BEHIND: behind,
            State.PARTIAL: f"only a part of {root} is indexed, so this is not complete: {visible(self.error)}",
            State.UNCHECKED: f"{root} was not compared with its index: {visible(self.error)}",
            State.UNREADABLE: f"{root} is left out: {visible(self.error)}",
        }
        return notes.get(self.state, "")


FILES = {
    "other language": "file{s} of another language than --lang",
    "other content": "file{s} that --content would add",
    "too large": "file{s} over the limit of --max-file-mb",
    "binary": "binary file{s}",
    "minified": "minified file{s}",
    "generated": "generated file{s}",
    "data": "file{s} of data",
    "notebook": "notebook{s} without code in Python",
    "never": "picture{s}, lock file{s}, licence{s} or secret{s}",
    "unreadable": "file{s} that cannot be read",
    "crashed": "file{s} whose parser takes too much or crashes",
    "only as blocks": "file{s} only as blocks, because the parser takes too much or crashes",
    "partly as blocks": "file{s} with lines that the parser does not understand",
    "no code": "file{s} with nothing but imports and comments",
    "ignored": "ignored file{s}",
    "hidden": "hidden file{s}",
    "link": "symbolic link{s}",
    "rules": "ignore file{s} whose rules are not applied",
}
FOLDERS = {
    "ignored": "ignored folder{s}",
    "hidden": "hidden folder{s}",
    "work tree": "linked work tree{s} of git",
    "always": "folder{s} that {are} always skipped",
    "unreadable": "folder{s} that cannot be read",
}
"""Reason why files and folders are not indexed -> name, in the order shown."""
_OTHERS = {
    "not indexed yet": "file{s} not indexed yet",
    "changed": "file{s} that changed since",
    "not compared": "index{es} not compared with the folder",
    "unreadable index": "index{es} that cannot be read",
    "not read": "file{s} not read, because there are too many or no time was left",
    "not shown": "place{s} not shown",
    "folded": "line{s} or definition{s} folded",
    "shallow": "shallow clone{s} without older commits",
    "short": "function{s} shorter than --min-lines",
    "other code": "function{s} in tests, examples, migrations, generated or vendored code",
}
_UNREAD = frozenset(("not read", "not indexed yet", "changed", "unreadable index"))
"""Reasons why a count may be one of a part."""
_LISTED, _NAMED = 5, 2
"""Names with their numbers; reasons why files are not indexed that a note names."""
WIDTH = 80
"""Characters of a line that lists such names."""
_SEEN = ("binary", "link", "partly as blocks", "no code")
"""Reasons that hide no text: a link leads to a file with a path of its own, and exact text finds imports."""


def named(count: int, name: str) -> str:
    """Return a number with a name, in which {s}, {es} and {are} depend on it."""
    words = {"s": "", "es": "", "are": "is"} if count == 1 else {"s": "s", "es": "es", "are": "are"}
    return f"{count:,} {name.format_map(words)}"


def counts(numbers: Mapping[str, int], room: int = sys.maxsize) -> str:
    """List the most frequent names with their numbers: as many as have room, but at least one.

    >>> numbers = {".md": 1200, ".a": 1, ".b": 1, ".c": 1, ".d": 1, ".e": 1, ".f": 1}
    >>> counts(numbers), counts(numbers, 30)
    ('.md 1,200, .a 1, .b 1, .c 1, .d 1, and 2 more', '.md 1,200, .a 1, and 5 more')
    """
    ordered = sorted(numbers.items(), key=lambda entry: (-entry[1], entry[0]))
    names = [f"{name or 'no extension'} {number:,}" for name, number in ordered]
    most = len(names) if len(names) <= _LISTED + 1 else _LISTED  # "and 1 more" is as long as a name.
    text = ""
    for count in range(most, 0, -1):
        more = [f"and {len(names) - count} more"] * (count < len(names))
        text = ", ".join([*names[:count], *more])
        if len(text) <= room:
            break
    return text


def not_indexed(files: Counts, folders: Counts) -> Iterator[str]:
    """Yield a heading and a line for each reason; yield nothing if everything is indexed."""
    heading = ["  not indexed"]
    for names, numbers in ((FILES, files), (FOLDERS, folders)):
        for reason, name in names.items():
            if total := sum(numbers.get(reason, {}).values()):
                yield from heading
                heading = []
                begun = f"    {named(total, name)}"
                yield f"{begun} ({counts(numbers[reason], WIDTH - len(begun) - 3)})"


def coverage_of(
    manifests: Iterable[Manifest], freshness: Sequence[Freshness], more: Mapping[str, int]
) -> Coverage:
    """Return what an answer from some indexes did not see; `more` are reasons in the answer itself."""
    counts = Counter(more)
    for index in freshness:
        if index.state in (State.BEHIND, State.LOCKED):
            counts["changed"] += max(index.changes.to_parse + index.changes.removed, 1)
        counts["not compared"] += index.state == State.UNCHECKED
        counts["unreadable index"] += index.state == State.UNREADABLE
    compared = {index.root for index in freshness}
    for manifest in manifests:
        counts["not compared"] += manifest.root not in compared
        counts["not indexed yet"] += manifest.left
        for noun, skipped in (("", manifest.not_indexed), (" folder", manifest.walked.folders)):
            counts.update({f"{reason}{noun}": sum(skipped[reason].values()) for reason in skipped})
    folders = {f"{reason} folder": name for reason, name in FOLDERS.items()}
    texts = {**FILES, **folders, **_OTHERS}
    reasons = {reason: counts[reason] for reason in texts if counts[reason] and reason not in _SEEN}
    left_out = [reason for reason in reasons if reason not in _OTHERS]
    short = left_out[_NAMED:] if len(left_out) > _NAMED + 1 else []
    texts_of = [named(reasons[reason], texts[reason]) for reason in reasons if reason not in short]
    if short:
        count = sum(reasons[reason] for reason in short)
        texts_of.insert(_NAMED, f"{count:,} others that `codesearch status` lists")
    return Coverage(not reasons, reasons, ", ".join(texts_of))


@dataclass(frozen=True, slots=True)
class Answer:
    """Hits, best first, and how they were found."""

    query: str  # As asked; FILE:LINE where code was given.
    mode: str  # Of the request, "exact" or "similar".
    model: str  # Name of the model; "" if none was needed.
    device: str  # Where it ran, "cpu" or "cuda".
    documents: int  # How many were searched.
    seconds: float  # To search, without opening indexes and models.
    hits: list[Hit]
    # Probability that the first hit answers the query, 0 to 1; None if it is not calibrated.
    confidence: float | None = None
    # Probability that the project has code about what the query asks for; likewise.
    subject: float | None = None
    low_confidence: bool = False  # The subject is so improbable that the user should know.
    unknown_words: tuple[str, ...] = ()  # Words of the query that no definition has.
    # Whether each index is up to date with its folder, if that was checked; also each that is unreadable.
    freshness: tuple[Freshness, ...] = ()
    roots: tuple[str, ...] = ()  # The indexed folders that were searched.
    filters_match: bool = True  # False if there are no hits because no document passes the filters.
    # How many files differ from the revision of the request; None if it has none.
    changed_files: int | None = None
    # Where an exact text is in no definition: root, path and line.
    outside: tuple[tuple[str, str, int], ...] = ()
    lines: int = 0  # On how many lines an exact text begins.
    files: int = 0  # How many files have it.
    coverage: Coverage = field(default_factory=Coverage)  # What was not seen.

    @property
    def screen(self) -> list[Hit]:
        """Every definition that is shown: each hit, followed by the other definitions of its file."""
        return [shown for hit in self.hits for shown in (hit, *hit.others)]

    @property
    def unknown_note(self) -> str:
        """Say which words of the query no definition has; "" if there are none."""
        listed = ", ".join(f'"{visible(word)}"' for word in self.unknown_words)
        return f"no definition here has {listed}" if listed else ""

    def text_note(self, shown_path: Callable[[str, str], str]) -> str:
        """Return how often an exact text is there, and where outside of definitions; "" if it is nowhere.

        `shown_path` takes the root and the path of a file.
        """
        if not self.lines:
            return ""
        shown = [f"{shown_path(root, path)}:{line}" for root, path, line in self.outside[:_SHOWN_PLACES]]
        more = len(self.outside) - len(shown)
        places = f"; outside of definitions: {', '.join(shown)}" if shown else ""
        places += f" and {more:,} more" if more > 0 else ""
        verb = "has" if self.lines == 1 else "have"
        is_part = not _UNREAD.isdisjoint(self.coverage.reasons)
        lines = ("at least " if is_part else "") + counted(self.lines, "line")
        return f"{lines} in {counted(self.files, 'indexed file')} {verb} the text{places}\n"


@dataclass(frozen=True, slots=True)
class PlacesAnswer(Generic[T]):
    """What is at the first of the `place_count` places that a text names; the last fields are those of `Answer`."""

    places: tuple[T, ...]
    place_count: int
    roots: tuple[str, ...]
    freshness: tuple[Freshness, ...]
    coverage: Coverage


@dataclass(frozen=True, slots=True)
class FoundAnswer(Generic[T]):
    """Where a name is used (`Usages`), or which lines have a text (`Lines`); the last fields are those of `Answer`."""

    found: T
    roots: tuple[str, ...]
    freshness: tuple[Freshness, ...]
    coverage: Coverage


@dataclass(frozen=True, slots=True)
class DuplicatesAnswer:
    """Functions that do the same, and what was compared; the last fields are those of `Answer`."""

    groups: tuple[Group, ...]  # Those with most lines to save first; of changed functions by their files.
    functions: int  # Number of functions that were compared.
    changed: int | None  # How many differ from the revision; None if all were compared with each other.
    seconds: float  # Of the search, without a refresh.
    roots: tuple[str, ...]
    freshness: tuple[Freshness, ...]
    coverage: Coverage


def usages_fields(answer: FoundAnswer[Usages] | FoundAnswer[Lines]) -> dict[str, Any]:
    """Return usages as `codesearch usages --json` prints them, or lines in the same way."""
    values = asdict(answer)
    return {**values.pop("found"), **values}


def answer_fields(answer: Answer) -> dict[str, Any]:
    """Return an answer as `codesearch query --json` prints it."""
    return {**asdict(answer), "hits": [hit_fields(hit) for hit in answer.hits]}


def hit_fields(hit: Hit) -> dict[str, Any]:
    """Return a hit as `codesearch query --jsonl` prints it."""
    found = asdict(hit)
    return {**{name: found[name] for name in _FIRST}, **found}


_UNREADABLE = Manifest(
    settings={},
    options={},
    model={},
    root="",
    commit=0,
    created="",
    config_digest="",
    documents=0,
    source_files=0,
    languages={},
    walked=Tally(),
    parsed=Tally(),
    missing_grammars={},
    seconds=0.0,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OfIndex:
    """Facts about an index."""

    manifest: Manifest  # It also has the settings, the model, the size and the time.

    @property
    def documents(self) -> int:
        """Number of documents in the index."""
        return self.manifest.documents

    @property
    def files(self) -> int:
        """Number of source files in the index."""
        return self.manifest.source_files

    @property
    def languages(self) -> dict[str, int]:
        """Language -> documents."""
        return self.manifest.languages

    @property
    def not_indexed(self) -> Counts:
        """Reason -> extension -> files that are not in the index, or only as blocks of lines."""
        return self.manifest.not_indexed

    @property
    def folders_not_entered(self) -> Counts:
        """Reason -> name -> folders."""
        return self.manifest.walked.folders

    @property
    def warnings(self) -> list[str]:
        """Warnings of the last run, one line each."""
        return self.manifest.warnings


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexSummary(OfIndex):
    """What `Engine.index` did."""

    root: Path  # The folder as it was named.
    built: bool  # False if the index was up to date and nothing was written.
    seconds: float  # Wall time.
    parsed: int = 0  # Files that were new or changed.
    kept: int = 0  # Files that did not change.
    removed: int = 0  # Files that are gone.
    embedded: int = 0  # Texts that went through the model.
    model: str = ""  # Name of the model; "" if nothing was written.
    device: str = ""  # Where the model ran.
    # Whether an earlier version wrote the last index, so all files were indexed again.
    was_earlier_format: bool = False
    # Whether the index is new and started with the documents of a similar folder's index.
    seeded: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexStatus(OfIndex):
    """One index of a home. If it cannot be read, only `folder` and `error` are set."""

    folder: Path  # The folder of the index.
    error: str = ""  # Why it cannot be read; "" if it can.
    manifest: Manifest = _UNREADABLE
    changes: Changes | None = None  # What an update would do; None if that was not asked for.
    unchecked: str = ""  # Why that is not known, although it was asked for; "" otherwise.
    # The process that makes the first index now; None if none does. There may be no manifest yet.
    building: Building | None = None

    @property
    def root(self) -> str:
        """The indexed folder, or the name of an index that was imported without it."""
        return self.building.root if self.building else self.manifest.root

    @property
    def unfinished(self) -> str:
        """How far a first index is, and who makes it; "" if it is complete."""
        if self.error or (self.building is None and self.manifest.complete):
            return ""
        indexed = f"{self.manifest.percent}% of its files are indexed; " if self.manifest.commit else ""
        interrupted = "the first index was interrupted: run `codesearch index` again"
        return indexed + (self.building.text if self.building else interrupted)


@dataclass(frozen=True, slots=True)
class Check:
    """One finding of `Engine.verify`."""

    name: str  # What was checked.
    state: str  # "ok", "none" (an optional part is absent) or "FAIL".
    detail: str  # What was found, and the cure of a failure.
