"""The terms of a text -> the files that may have it, to be read from the disk.

A file is proposed if one of its documents has all terms, or if it has no document. The first document of a file also
has the terms of words that are in none of its documents, such as imports.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from codesearch.errors import IndexNotFoundError
from codesearch.search.filters import passing_files
from codesearch.search.lexical import LexicalScorer
from codesearch.search.request import Filters
from codesearch.store.database import FileRecord
from codesearch.store.reader import IndexReader
from codesearch.store.segment import SegmentReader
from codesearch.store.snapshot import Snapshot, inner_folders
from codesearch.store.source import read_source
from codesearch.store.topk import distinct

MOST_FILES, MOST_BYTES = 300, 12_000_000
"""How many files with a text are shown, and how much is read to find them."""


class Proposed(NamedTuple):
    """A file of an index.

    Attributes:
        base: doc_id of the first document of its segment.
        segment: the segment that has it.
        file: its record.
    """

    base: int
    segment: SegmentReader
    file: FileRecord


def check_has_code(indexes: Sequence[IndexReader]) -> None:
    """Check that the sources of some index can be read."""
    if not any(index.manifest.has_sources or index.manifest.has_code for index in indexes):
        roots = ", ".join(index.manifest.root for index in indexes)
        raise IndexNotFoundError(f"{roots} has no code to look in", "export it with --with-code")


def proposed_files(
    snapshot: Snapshot, lexical: LexicalScorer, terms: Sequence[str], filters: Filters
) -> list[Proposed]:
    """Return the live files that pass the filters and may have a text with these terms, by path and root."""
    doc_ids = lexical.with_all(terms)
    inner = inner_folders(snapshot.roots)
    found = []
    for base, segment in snapshot.based_segments():
        own = doc_ids[(doc_ids >= base) & (doc_ids < base + len(segment))] - base
        file_ids = set(distinct(segment.rows.files[own].astype(np.int64)).tolist())
        file_ids.update(segment.store.files_without_documents() - set(segment.dead_files))
        if not filters.allow_all or inner[segment.root]:
            passes = passing_files(filters, segment, inner[segment.root])
            file_ids = {file_id for file_id in file_ids if passes[file_id]}
        files = segment.store.files_of(file_ids)
        found += [Proposed(base, segment, files[file_id]) for file_id in file_ids]
    return sorted(found, key=lambda one: (one.file.path, one.segment.root))


def read_with(
    has: Callable[[bytes, str], bool], files: Sequence[Proposed]
) -> tuple[list[tuple[Proposed, bytes, bool]], int]:
    """Return the first files with a text as they are now, and how many more were not read, because that is too much.

    Returns:
        Each file with its source and whether it changed after it was indexed; and a number of files.
    """
    found: list[tuple[Proposed, bytes, bool]] = []
    left = MOST_BYTES
    for count, one in enumerate(files):
        left -= one.file.size
        if len(found) == MOST_FILES or (count and left < 0):
            return found, len(files) - count
        source, stale = read_source(one.segment, one.file) or (b"", False)
        if has(source, one.file.language):
            found.append((one, source, stale))
    return found, 0
