"""A segment's folder: written once, then opened for queries. First builds, updates and merges use the same writer."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from codesearch.config import VectorConfig
from codesearch.files import make_folder
from codesearch.store.arrays import ROW, ROWS, SOURCES, SourceReader, load_array, save_array
from codesearch.store.database import DocumentRow, FileRecord, StoreReader, StoreWriter
from codesearch.store.manifest import Manifest, SegmentEntry
from codesearch.store.postings import PostingsBlock, PostingsReader, PostingsWriter
from codesearch.store.vectors import GRAPH_FILE, VectorReader, VectorWriter
from codesearch.types import KINDS


class SegmentReader:
    """Files and documents of a segment, numbered from 0. Some of them may be dead."""

    def __init__(self, index_folder: Path, manifest: Manifest, entry: SegmentEntry) -> None:
        """Open all files now, because a merge may delete the folder later."""
        folder, root, dim = index_folder / entry.folder, manifest.root, int(manifest.model["dim"])
        graph = entry.files.get(GRAPH_FILE)
        self.folder, self.root = folder, root
        self.walk = manifest.walk_config()  # Which files of the root may be read.
        # File_ids of the dead files, whose documents are not searched.
        self.dead_files: Collection[int] = entry.dead_files
        self.rows = load_array(folder / ROWS, root)  # Numbers of each document: `ROW` [N].
        self.postings = PostingsReader(folder, root)  # Inverted lists.
        # The vector of each document.
        self.vectors = VectorReader(folder, entry.documents, dim, root=root, graph_entry=graph)
        # The source files, if the index was imported with code.
        self.sources = SourceReader(folder, root) if SOURCES in entry.files else None
        self.store = StoreReader(folder, root)  # Files and documents.

    def __len__(self) -> int:
        """Count the documents, including dead ones."""
        return len(self.rows)

    @property
    def has_sources(self) -> bool:
        """Say whether the indexed folder is on this machine; if not, `root` is only a name."""
        return os.path.isabs(self.root)

    @cached_property
    def files(self) -> list[FileRecord]:
        """All files; a file_id is a position in this list."""
        return [record for _, record in self.store.numbered_files()]

    @cached_property
    def dead(self) -> NDArray[np.int64]:
        """Numbers of the dead documents, ascending: int64."""
        if not self.dead_files:
            return np.empty(0, np.int64)
        return np.flatnonzero(np.isin(self.rows["file_id"], list(self.dead_files)))

    def close(self) -> None:
        """Close the database."""
        self.store.close()


class SegmentWriter:
    """Writes files in the order of their paths; doc_ids and file_ids count up from 0."""

    def __init__(self, folder: Path, dim: int) -> None:
        """Make the folder and open the writers of its parts."""
        make_folder(folder.parent)
        folder.mkdir(0o700)
        self.folder = folder  # The segment's folder.
        self._rows = bytearray()
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
            save_array(self.folder / ROWS, np.frombuffer(self._rows, ROW))
            for number, segment in self._merged.items():
                self._postings.keep(segment.postings, self._new_ids[number])
            self._postings.write()

    def abandon(self) -> None:
        """Close without finishing."""
        self._opened.close()

    def _add(self, record: FileRecord, rows: Sequence[DocumentRow]) -> None:
        file_id = self._store.file_count
        numbers = [(row.copy_key, row.shape_key, file_id, KINDS.index(row.kind), row.flags) for row in rows]
        self._rows += np.array(numbers, ROW).tobytes()
        self._store.add_file(record, rows)
