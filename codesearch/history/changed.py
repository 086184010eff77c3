"""Commits with hunks -> the definitions that they changed, from the contents of the files before and after.

A process with limits of time and memory parses the files, because a commit can contain anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from codesearch.build.parse import extract_each
from codesearch.config import ParseConfig
from codesearch.git import Blob, Repository
from codesearch.history.log import Change, Commit, Span
from codesearch.parsing.flags import file_flags
from codesearch.parsing.languages import language_of_path
from codesearch.types import NESTED, TEST, Document

_MAX_FILES = 20
"""Of one commit; a commit with more changes is described by its paths."""
_MAX_BYTES = 400_000
_NO_DEFINITIONS = ("module", "section", "setting")


@dataclass(frozen=True, slots=True)
class ChangedDefinition:
    """A definition that a commit changed.

    Attributes:
        path: of the file, below the top of the repository.
        name: qualified name.
        kind: such as "function".
        line: its first line after the commit, or before it if the commit removed it.
        removed: whether the commit removed it.
    """

    path: str
    name: str
    kind: str
    line: int
    removed: bool = False


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
        owners: dict[int, Document] = {}
        for document in self.documents:  # An inner definition comes after the outer one.
            owners.update(dict.fromkeys(range(document.start_line, document.last_line + 1), document))
        found: dict[int, Document] = {}
        for first, count in spans:
            places = [line for line in range(first, first + count) if self._has_text(line)]
            if not count and owners.get(first) is owners.get(first + 1):
                places = [first]
            found |= {owners[line].start_byte: owners[line] for line in places if line in owners}
        return [found[start] for start in sorted(found)]

    def _has_text(self, line: int) -> bool:
        return bool(b"".join(self.lines[line - 1 : line]).strip())


def _parsed(repository: Repository, paths: Mapping[str, str]) -> dict[str, _Parsed]:
    """Parse the contents of files, given as ids with the path of each."""
    sizes = repository.sizes(list(paths)) if paths else {}
    blobs = [Blob(paths[one], one, size, False) for one, size in sizes.items() if size <= _MAX_BYTES]
    sources = [(blob, source, language_of_path(blob.path)) for blob, source in repository.contents(blobs)]
    known = [(blob, source, spec) for blob, source, spec in sources if spec]
    extracted = extract_each(((source, blob.path, spec) for blob, source, spec in known), ParseConfig())
    return {
        blob.object_id: _Parsed(list(filter(_is_shown, found.documents)), source.split(b"\n"))
        for (blob, source, _), found in zip(known, extracted, strict=True)
        if found
    }


def _is_shown(document: Document) -> bool:
    return document.kind not in _NO_DEFINITIONS and not document.flags & NESTED


def _changed(change: Change, old: _Parsed, new: _Parsed) -> Iterator[ChangedDefinition]:
    names = {document.qualified_name for document in new.documents}
    found = [(document, False) for document in new.innermost_in(span for _, span in change.hunks)]
    before = old.innermost_in(span for span, _ in change.hunks)
    found += [(document, True) for document in before if document.qualified_name not in names]
    for document, removed in sorted(found, key=lambda one: one[0].start_line):
        yield ChangedDefinition(
            change.path, document.qualified_name, document.kind, document.start_line, removed
        )
