"""Files and documents -> the folder of a new segment. First builds, updates and merges use the same writer."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from codesearch.config import VectorConfig
from codesearch.files import make_folder
from codesearch.store.arrays import RowWriter
from codesearch.store.database import DocumentRow, FileRecord, StoreWriter
from codesearch.store.postings import PostingsBlock, PostingsWriter
from codesearch.store.segment import SegmentReader
from codesearch.store.vectors import VectorWriter


class SegmentWriter:
    """Writes files in the order of their paths; doc_ids and file_ids count up from 0.

    Attributes:
        folder: the segment's folder.
        vectors: the writer for the vectors of all documents, in doc_id order.
    """

    def __init__(self, folder: Path, dim: int) -> None:
        """Make the folder and open the writers of its parts."""
        make_folder(folder.parent)
        folder.mkdir(0o700)
        self.folder = folder
        self._rows = RowWriter()
        self._new_ids: dict[int, NDArray[np.int64]] = {}
        self._merged: dict[int, SegmentReader] = {}
        with ExitStack() as opened:  # If a writer cannot be opened, the ones before it are closed.
            self._store = StoreWriter(folder)
            opened.callback(self._store.abandon)
            self.vectors = VectorWriter(folder, dim)
            opened.callback(self.vectors.abandon)
            self._postings = PostingsWriter(folder)
            opened.callback(self._postings.abandon)
            self._opened = opened.pop_all()

    @property
    def documents(self) -> int:
        """Count the documents so far."""
        return self._store.document_count

    @property
    def source_files(self) -> int:
        """Count the files so far."""
        return self._store.file_count

    def add_parsed(self, record: FileRecord, rows: Sequence[DocumentRow], block: PostingsBlock) -> None:
        """Add a file with its documents and their terms."""
        first = self.documents
        self._add(record, rows)
        self._postings.add(block, first)

    def add_kept(self, record: FileRecord, number: int, segment: SegmentReader) -> None:
        """Copy a file with its documents from another segment, which has the given number."""
        first = self.documents
        self._add(record, segment.store.document_rows(record.first_doc, record.doc_count))
        self._merged[number] = segment
        new_ids = self._new_ids.setdefault(number, np.full(len(segment), -1, dtype=np.int64))
        new_ids[record.first_doc : record.first_doc + record.doc_count] = np.arange(first, self.documents)

    def finish(self, config: VectorConfig) -> None:
        """Write the rest of the segment; all vectors must have been added before."""
        with self._opened:
            self._store.finish()
            self.vectors.finish(config)
            self._rows.write(self.folder)
            for number, segment in self._merged.items():
                self._postings.keep(segment.postings, self._new_ids[number])
            self._postings.write()

    def abandon(self) -> None:
        """Close without finishing."""
        self._opened.close()

    def _add(self, record: FileRecord, rows: Sequence[DocumentRow]) -> None:
        self._rows.add(self._store.file_count, rows)
        self._store.add_file(record, rows)


def field_statistics(lengths: NDArray[np.uint16]) -> tuple[list[int], list[int]]:
    """Return the sums of documents' field lengths [N, F], and the numbers of lengths above 0: [F] each."""
    return lengths.sum(axis=0, dtype=np.int64).tolist(), np.count_nonzero(lengths, axis=0).tolist()
