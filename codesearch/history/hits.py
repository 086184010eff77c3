"""Ids of commits -> what is shown of them: message, files and changed definitions, which the table keeps.

A process with limits of time and memory parses the files before and after a commit, because anyone may have written
them. A definition is changed if its lines are, except for blank lines and those of the definitions in it.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import cache

from codesearch.build import workers
from codesearch.build.parse import extract_each
from codesearch.build.plan import digest_of
from codesearch.config import IndexConfig, ParseConfig
from codesearch.errors import ConfigError, IndexStoreError
from codesearch.git import Blob, Repository
from codesearch.history.table import Change, Commit, History, opened, read_commits, without_trailers
from codesearch.languages import language_of_path
from codesearch.parsing.decoding import decoded
from codesearch.parsing.flags import file_flags
from codesearch.search.snippets import best_lines
from codesearch.store.manifest import FORMAT_VERSION
from codesearch.structure.text import Row, counted, without_folders
from codesearch.types import NESTED, TEST, TEXT_KINDS, Coverage, Document
from codesearch.visible import visible

_LAST_SECOND = 253_402_300_799
"""Of the year 9999, the last one that a date can have."""
_MAX_FILES = 20
"""Of one commit; a commit with more changes is described by its paths."""
_MAX_BYTES = 400_000
_SHORT = 10
_SHOWN_LINES = _SHOWN_FILES = 3
_SHOWN_NAMES = 5
_LOST = IndexStoreError, sqlite3.Error, ValueError, TypeError, KeyError
"""What is kept only saves time, so an answer does without it."""
_Definitions = Sequence[tuple[Document, bytes]]
"""The definitions of a file, in source order, each with its own lines."""


@dataclass(frozen=True, slots=True)
class ChangedDefinition:
    """A definition that a commit changed; its line is the one after the commit, or before it if it was removed."""

    path: str
    name: str
    kind: str
    line: int
    removed: bool = False


@dataclass(frozen=True, slots=True)
class CommitHit:
    """A commit of an answer: its date is in UTC, and it has a score if there is a question."""

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
    """Commits for a question or a place, which is at `path` below the `top` of the work tree.

    `definition` is the name of the definition at the place, "" for a file, a folder or lines. `commits` were searched,
    of which `added` were indexed for this answer. A `shallow` clone lacks older ones.
    """

    question: str
    place: str
    definition: str
    path: str
    top: str
    hits: tuple[CommitHit, ...]
    commits: int
    added: int
    shallow: bool
    coverage: Coverage


def hits_of(history: History, scores: Mapping[str, float | None]) -> tuple[CommitHit, ...]:
    """Return what is shown of commits, given as ids with scores, in the same order."""
    hits = _kept(history, scores)
    if missing := [commit for commit in scores if commit not in hits]:
        workers.start_early()  # The process that parses what they changed imports its modules meanwhile.
        read = list(_read_hits(history.repository, missing))
        _keep(history, [hit for hit, is_complete in read if is_complete])
        hits |= {hit.id: hit for hit, _ in read}
    ranked = [hits[commit] for commit in scores if commit in hits]
    return tuple(replace(hit, rank=rank, score=scores[hit.id]) for rank, hit in enumerate(ranked, 1))


def _kept(history: History, ids: Iterable[str]) -> dict[str, CommitHit]:
    hits: dict[str, CommitHit] = {}
    with suppress(*_LOST), opened(history) as connection:
        for commit in ids:
            asked = "SELECT hit FROM hits WHERE id = ? AND parsers = ?", (commit, _parsers())
            if row := connection.execute(*asked).fetchone():
                values = json.loads(row[0])
                values["paths"] = tuple(values["paths"])
                values["definitions"] = tuple(ChangedDefinition(**each) for each in values["definitions"])
                hits[commit] = CommitHit(**values)
    return hits


def _keep(history: History, hits: Iterable[CommitHit]) -> None:
    rows = [(hit.id, _parsers(), json.dumps(asdict(hit))) for hit in hits]
    with suppress(*_LOST), opened(history) as connection:
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany("INSERT OR REPLACE INTO hits VALUES (?, ?, ?)", rows)
        connection.execute("COMMIT")


@cache
def _parsers() -> str:
    """Return what changes with the definitions that are found."""
    return digest_of(IndexConfig(), str(FORMAT_VERSION))


def _read_hits(repository: Repository, ids: Iterable[str]) -> Iterator[tuple[CommitHit, bool]]:
    """Yield what is shown of commits, without ranks, and whether all of their files could be parsed."""
    commits = [(commit, _parsed_changes(commit)) for commit in read_commits(repository, ids)]
    every = [change for _, changes in commits for change in changes]
    parsed = _parsed(repository, {blob: change.path for change in every for blob in (change.old, change.new)})
    for commit, changes in commits:
        there = [change for change in changes if change.old in parsed and change.new in parsed]
        pairs = [(change, parsed[change.old], parsed[change.new]) for change in there]
        hit = CommitHit(
            rank=0,
            id=commit.id,
            date=datetime.fromtimestamp(min(commit.time, _LAST_SECOND), UTC).date().isoformat(),
            author=commit.author,
            subject=commit.subject,
            body=commit.body,
            paths=tuple(change.path for change in commit.changes),
            definitions=tuple(
                definition
                for change, old, new in pairs
                if old is not None and new is not None
                for definition in _changed(change, old, new)
            ),
        )
        yield hit, all(old is not None and new is not None for _, old, new in pairs)


def _parsed_changes(commit: Commit) -> list[Change]:
    """Return the changes of source files that were there before and after, tests last, if there are not too many."""
    in_both = (change for change in commit.changes if change.old and change.new)
    changes = [change for change in in_both if language_of_path(change.path)]
    changes.sort(key=lambda change: file_flags(change.path, b"") & TEST)
    return changes if len(changes) <= _MAX_FILES else []


def _parsed(repository: Repository, paths: Mapping[str, str]) -> dict[str, _Definitions | None]:
    """Parse contents, given as ids with the path of each; large ones and those that git lacks are left out.

    The value is None for a file that the parser cannot cope with.
    """
    sizes: Mapping[str, int] = {}
    with suppress(ConfigError):  # A partial clone has no contents.
        sizes = repository.sizes(list(paths)) if paths else {}
    blobs = [Blob(paths[blob], blob, size, False) for blob, size in sizes.items() if size <= _MAX_BYTES]
    sources = [
        (blob.object_id, (decoded(content, blob.path), blob.path, spec))
        for blob, content in repository.contents(blobs)
        if (spec := language_of_path(blob.path))
    ]
    extracted = extract_each((given for _, given in sources), ParseConfig())
    return {
        blob: _with_own_lines(extraction.documents, source) if extraction else None
        for (blob, (source, *_)), extraction in zip(sources, extracted, strict=True)
    }


def _with_own_lines(documents: Iterable[Document], source: bytes) -> _Definitions:
    """Return the definitions that are in no function, each with the lines that are in no definition inside of it."""
    definitions = [
        document for document in documents if document.kind not in TEXT_KINDS and not document.flags & NESTED
    ]
    lines, nobody = source.split(b"\n"), len(definitions)
    owners = [nobody] * len(lines)
    for at, definition in enumerate(definitions):  # What is inside of another one comes later.
        first, last = definition.start_line - 1, definition.last_line
        owners[first:last] = [at] * (last - first)
    own: list[list[bytes]] = [[] for _ in range(nobody + 1)]
    for at, line in zip(owners, lines, strict=False):
        if line.strip():
            own[at].append(line)
    return list(zip(definitions, map(b"\n".join, own), strict=False))


def _changed(change: Change, old: _Definitions, new: _Definitions) -> Iterator[ChangedDefinition]:
    """Yield the definitions whose lines differ from those of before, and those that are gone, by line."""
    before = {(document.qualified_name, lines) for document, lines in old}
    names = {document.qualified_name for document, _ in new}
    changed = [(document, False) for document, lines in new if (document.qualified_name, lines) not in before]
    changed += [(document, True) for document, _ in old if document.qualified_name not in names]
    for document, removed in sorted(changed, key=lambda pair: pair[0].start_line):
        yield ChangedDefinition(
            change.path, document.qualified_name, document.kind, document.start_line, removed
        )


def history_lines(
    answer: HistoryAnswer, width: int, path_of: Callable[[str], str] = visible
) -> Iterator[str]:
    """Yield the lines of each commit: date, id, subject, author, the best lines of its message, and what it changed."""
    for hit in answer.hits:
        name = hit.author.rpartition(" <")[0] or hit.author
        about, subject, more = f"{hit.date}  ", f"  {hit.subject}", f"  ({name})"
        yield Row(width, about=about, place=hit.id[:_SHORT], name=subject, more=more)
        lines = without_trailers(hit.body).split("\n")
        # The subject takes the place of a definition's head, which is always chosen.
        chosen = best_lines("\n".join([hit.subject, *lines]), answer.question, _SHOWN_LINES + 1)
        told = [lines[at - 1].strip() for at in sorted(chosen) if at]
        more = " …" if told and len(told) < sum(map(bool, lines)) else ""
        yield from (Row(width, about="    | ", text=line) for line in told[:-1])
        yield from (Row(width, about="    | ", text=f"{line}{more}") for line in told[-1:])
        yield from _changed_files(hit, answer.path, width, path_of)
        yield ""
    place, name = answer.place, answer.definition
    changed = f" that changed {place if name in place else f'{name} ({place})'}" if place else ""
    if answer.commits:
        commits = counted(len(answer.hits), "commit") if answer.hits else "no commits"
        yield visible(f"{commits} of {answer.commits:,}{changed}")
    else:
        yield visible(f"no commits{changed}")


def _changed_files(hit: CommitHit, place: str, width: int, path_of: Callable[[str], str]) -> Iterator[str]:
    """Yield a line for each of the first changed files, those with known definitions first.

    If the place is a file, only that is shown, or one of its name if it had another folder then.
    """
    names: dict[str, list[str]] = {}
    for changed in hit.definitions:
        names.setdefault(changed.path, []).append(
            without_folders(changed.name, changed.path) + " (removed)" * changed.removed
        )
    paths = [*names, *(path for path in hit.paths if path not in names)]
    name = place.rpartition("/")[2]
    paths.sort(key=lambda path: (path != place, path.rpartition("/")[2] != name, f"{place}/" not in path))
    most = 1 if name and paths[:1] and paths[0].endswith(name) else _SHOWN_FILES
    for path in paths[:most]:
        of_file = names.get(path, [])
        more = f", {len(of_file) - _SHOWN_NAMES:,} more" if len(of_file) > _SHOWN_NAMES else ""
        shown = f": {', '.join(of_file[:_SHOWN_NAMES])}{more}" if of_file else ""
        yield Row(width, place=f"    {path_of(path)}", name=shown)
    if len(paths) > most:
        yield Row(width, more=f"    {counted(len(paths) - most, 'more file')}")
