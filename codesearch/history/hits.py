"""Ids of commits -> what is shown of them: message, files and changed definitions, all from git's objects.

The definitions come from the contents of the files before and after a commit. A process with limits of time and memory
parses them, because a commit can contain anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from codesearch.build.parse import extract_each
from codesearch.config import ParseConfig
from codesearch.git import Blob, Repository
from codesearch.history.log import Change, Commit, Span, read_changes, without_trailers
from codesearch.parsing.decoding import decoded
from codesearch.parsing.flags import file_flags
from codesearch.parsing.languages import language_of_path
from codesearch.search.lookup import innermost, whole_spans
from codesearch.search.snippets import best_lines
from codesearch.structure.text import counted, cut
from codesearch.types import NESTED, TEST, TEXT_KINDS, Document
from codesearch.visible import visible

_LAST_SECOND = 253_402_300_799
"""Of the year 9999, the last one that a date can have."""
_MAX_FILES = 20
"""Of one commit; a commit with more changes is described by its paths."""
_MAX_BYTES = 400_000
_SHORT = 10
_SHOWN_LINES = _SHOWN_FILES = 3
_SHOWN_NAMES = 5


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

    `commits` were searched, of which `added` were indexed for this answer. A `shallow` clone lacks older ones.
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
    by_id = {commit.id: commit for commit in read_changes(repository, scores)}
    commits = [by_id[commit] for commit in scores if commit in by_id]
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


def changed_definitions(
    repository: Repository, commits: Sequence[Commit]
) -> dict[str, tuple[ChangedDefinition, ...]]:
    """Return the definitions that each commit changed, by its id, those of tests last.

    What is inside of a function belongs to it. Files that a commit added or deleted have no definitions here, and
    neither have large files and those that git lacks.
    """
    changes = {commit.id: _parsed_changes(commit) for commit in commits}
    paths = {
        blob: change.path
        for of_commit in changes.values()
        for change in of_commit
        for blob in (change.old, change.new)
    }
    parsed = _parsed(repository, paths)
    return {
        commit: tuple(
            definition
            for change in of_commit
            if change.old in parsed and change.new in parsed
            for definition in _changed(change, parsed[change.old], parsed[change.new])
        )
        for commit, of_commit in changes.items()
    }


def _parsed_changes(commit: Commit) -> list[Change]:
    """Return the changes of source files that were there before and after, if there are not too many."""
    changes = [
        change
        for change in commit.changes
        if change.old and change.new and change.hunks and language_of_path(change.path)
    ]
    changes.sort(key=lambda change: file_flags(change.path, b"") & TEST)
    return changes if len(changes) <= _MAX_FILES else []


@dataclass(frozen=True, slots=True)
class _Parsed:
    """The definitions of a file, in source order, and its lines."""

    documents: Sequence[Document]
    lines: Sequence[bytes]

    def innermost_in(self, spans: Iterable[Span]) -> list[Document]:
        """Return the definitions that are innermost at a line of some spans, each once, in source order.

        Blank lines do not count. A span without lines is a place between two lines; both must be in the definition.
        """
        own = whole_spans(self.documents)
        found = set[int | None]()
        for first, count in spans:
            text = [
                line for line in range(first, first + count) if b"".join(self.lines[line - 1 : line]).strip()
            ]
            found.update(innermost(own, line) for line in text)
            if not count and (around := innermost(own, first)) == innermost(own, first + 1):
                found.add(around)
        return [self.documents[position] for position in sorted(at for at in found if at is not None)]


def _parsed(repository: Repository, paths: Mapping[str, str]) -> dict[str, _Parsed]:
    """Parse the contents of files, given as ids with the path of each."""
    sizes = repository.sizes(list(paths)) if paths else {}
    blobs = [Blob(paths[blob], blob, size, False) for blob, size in sizes.items() if size <= _MAX_BYTES]
    contents = [(blob, content, language_of_path(blob.path)) for blob, content in repository.contents(blobs)]
    known = [(blob, decoded(content), spec) for blob, content, spec in contents if spec]
    extracted = extract_each(((source, blob.path, spec) for blob, source, spec in known), ParseConfig())
    return {
        blob.object_id: _Parsed(list(filter(_is_shown, extraction.documents)), source.split(b"\n"))
        for (blob, source, _), extraction in zip(known, extracted, strict=True)
        if extraction
    }


def _is_shown(document: Document) -> bool:
    return document.kind not in TEXT_KINDS and not document.flags & NESTED


def _changed(change: Change, old: _Parsed, new: _Parsed) -> Iterator[ChangedDefinition]:
    names = {document.qualified_name for document in new.documents}
    changed = [(document, False) for document in new.innermost_in(span for _, span in change.hunks)]
    before = old.innermost_in(span for span, _ in change.hunks)
    changed += [(document, True) for document in before if document.qualified_name not in names]
    for document, removed in sorted(changed, key=lambda pair: pair[0].start_line):
        yield ChangedDefinition(
            change.path, document.qualified_name, document.kind, document.start_line, removed
        )


def history_lines(answer: HistoryAnswer, width: int) -> Iterator[str]:
    """Yield the lines of each commit: date, id, subject, author, the best lines of its message, and what it changed."""
    for hit in answer.hits:
        name = hit.author.rpartition(" <")[0] or hit.author
        yield cut(f"{hit.date}  {hit.id[:_SHORT]}  {hit.subject}  ({name})", width)
        lines = without_trailers(hit.body).split("\n")
        # The subject takes the place of a definition's head, which is always chosen.
        chosen = best_lines("\n".join([hit.subject, *lines]), answer.question, _SHOWN_LINES + 1)
        yield from (cut(f"    | {lines[at - 1].strip()}", width) for at in sorted(chosen) if at)
        yield from (cut(f"    {line}", width) for line in _changed_files(hit, answer.path))
        yield ""
    commits = counted(len(answer.hits), "commit") if answer.hits else "no commits"
    of = f" that changed {answer.place}" if answer.place else ""
    yield visible(f"{commits} of {answer.commits:,}{of}")


def _changed_files(hit: CommitHit, place: str) -> Iterator[str]:
    """Yield a line for each of the first changed files; the place and those with known definitions come first."""
    names: dict[str, list[str]] = {}
    for changed in hit.definitions:
        names.setdefault(changed.path, []).append(f"{changed.name}{' (removed)' * changed.removed}")
    paths = [*names, *(path for path in hit.paths if path not in names)]
    paths.sort(key=lambda path: path != place)
    for path in paths[:_SHOWN_FILES]:
        of_file = names.get(path, [])
        more = f", {len(of_file) - _SHOWN_NAMES:,} more" if len(of_file) > _SHOWN_NAMES else ""
        yield f"{path}: {', '.join(of_file[:_SHOWN_NAMES])}{more}" if of_file else path
    if len(paths) > _SHOWN_FILES:
        yield counted(len(paths) - _SHOWN_FILES, "more file")
