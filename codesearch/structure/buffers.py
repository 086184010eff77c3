"""Texts that are open in an editor, in place of the files that were indexed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, lru_cache
from pathlib import Path
from threading import Lock

from codesearch.errors import CodeSearchError
from codesearch.parsing.decoding import decoded
from codesearch.parsing.extract import Extraction
from codesearch.parsing.flags import file_flags
from codesearch.search.exact import Proposed
from codesearch.search.lookup import live_file, paths_in
from codesearch.search.similar import extraction_of
from codesearch.store.database import DocumentRow, FileRecord, document_row
from codesearch.store.digest import content_digest
from codesearch.store.segments import IndexReader
from codesearch.store.snapshot import Snapshot
from codesearch.store.source import Ref, SourceFiles, read_source
from codesearch.structure.meaning import SourceFile
from codesearch.structure.places import distinct, exactly_named
from codesearch.types import OF_FILE, Document

_PARSED = 64
_FIRST_ID = -1_000_000
"""The first doc_id of a definition in a text; each text has as many below it."""
_PARSING = Lock()
"""An editor asks several questions about each change, and only the first one parses the text."""


def parsed(path: Path, text: str) -> Extraction:
    """Parse the text of a file; paths of the definitions are absolute."""
    with _PARSING:
        return _parsed(path, text)


@lru_cache(_PARSED)
def _parsed(path: Path, text: str) -> Extraction:
    return extraction_of(path, text, "all")


class Buffer(SourceFile):
    """A file as it is in an editor."""

    def __init__(self, proposed: Proposed, source: bytes, extraction: Extraction, first_id: int) -> None:
        super().__init__(proposed, source, stale=False)
        self._extraction, self._first_id = extraction, first_id
        self._flags = file_flags(self.path, source)

    @cached_property
    def rows(self) -> list[DocumentRow]:
        """Its definitions, outer ones first."""
        return list(map(self._row, self._extraction.documents))

    def _row(self, definition: Document) -> DocumentRow:
        """Return the row of a definition; folders above the index, such as `build`, say nothing about the file."""
        row = document_row(definition)
        return row._replace(flags=row.flags & ~OF_FILE | self._flags)

    def named(self, name: str) -> Iterator[Ref]:
        """Yield its definitions and members with a name."""
        definitions = (*self._extraction.documents, *self._extraction.members)
        for number, definition in enumerate(definitions):
            if definition.name == name:
                _, segment, file = self.proposed
                yield Ref(self._first_id - number, SourceFiles(segment), file, self._row(definition))


class Buffers:
    """Files as they are in an editor; `changed` has those that differ from what was indexed."""

    def __init__(self, indexes: Sequence[IndexReader], texts: Mapping[Path, str]) -> None:
        self._indexes = [index for index in indexes if index.segments and index.manifest.has_sources]
        self._indexes.sort(key=lambda index: -len(index.manifest.root))
        self.changed: dict[tuple[str, str], Buffer] = {}
        for number, (path, text) in enumerate(texts.items(), 1):
            content = text.encode("utf-8", "replace")
            proposed = self._proposed(path)
            if proposed is None or content_digest(content) == proposed.file.digest:
                continue
            with suppress(CodeSearchError):  # Such as a language without a parser.
                extraction = parsed(path, text)
                language = next(
                    (document.language for document in extraction.documents), proposed.file.language
                )
                file = FileRecord(proposed.file.path, language, len(content), b"")
                source = decoded(content, path.name)
                buffer = Buffer(proposed._replace(file=file), source, extraction, number * _FIRST_ID)
                self.changed[buffer.root, buffer.path] = buffer

    def file(self, path: Path) -> SourceFile | None:
        """Return a file as it is in the editor, else as it is saved; None if no index covers it."""
        proposed = self._proposed(path)
        if proposed is None:
            return None
        if buffer := self.changed.get(_key(proposed)):
            return buffer
        read = read_source(proposed.segment, proposed.file)
        return SourceFile(proposed, *read) if read else None

    def has(self, proposed: Proposed) -> bool:
        """Say whether a file of an index differs in the editor."""
        return _key(proposed) in self.changed

    def named(self, snapshot: Snapshot, name: str) -> list[Ref]:
        """Return the definitions and members with a name in this spelling."""
        refs = exactly_named(snapshot, name)
        if not self.changed:
            return refs
        new = [ref for buffer in self.changed.values() for ref in buffer.named(name)]
        return [ref for ref in refs if (ref.root, ref.path) not in self.changed] + distinct(new, (name,))

    def _proposed(self, path: Path) -> Proposed | None:
        """Return the file at a path; if it is not indexed, as a new file of the innermost index around it."""
        for index in self._indexes:
            if paths := paths_in(index, str(path)):
                live = next(filter(None, (live_file(index, below) for below in paths)), None)
                return Proposed(0, *(live or (index.segments[0], FileRecord(paths[0], "", 0, b""))))
        return None


def _key(proposed: Proposed) -> tuple[str, str]:
    return proposed.segment.root, proposed.file.path
