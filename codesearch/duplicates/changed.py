"""A git revision -> the indexed functions that were added or changed since."""

from __future__ import annotations

import os

from codesearch.errors import ConfigError
from codesearch.search.changes import changed_lines
from codesearch.search.paths import slashes
from codesearch.search.request import Filters
from codesearch.store.snapshot import Snapshot


def changed_documents(
    snapshot: Snapshot, filters: Filters, revision: str
) -> tuple[list[int], dict[str, ConfigError]]:
    """Return the documents with lines that differ from a revision, and an error for each root without an answer."""
    changed, failed = changed_lines(snapshot, filters, revision)
    doc_ids = []
    for base, segment in snapshot.based_segments():
        for file_id, file in enumerate(segment.files):
            path = slashes(os.path.join(segment.root, file.path))
            if path in changed and file_id not in segment.dead_files:
                lines = changed[path]
                rows = segment.store.document_rows(file.first_doc, file.doc_count)
                doc_ids += [
                    base + file.first_doc + number
                    for number, row in enumerate(rows)
                    if lines is None
                    or any(row.start_line <= last and first <= row.end_line for first, last in lines)
                ]
    return doc_ids, failed
