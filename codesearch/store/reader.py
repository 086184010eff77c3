"""An index folder -> its committed segments, checked and opened for queries."""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from codesearch.errors import IndexCorruptError
from codesearch.files import Stamp
from codesearch.memo import Memo
from codesearch.store.arrays import PASSAGES, ROWS, SOURCES, SourceReader, load_array
from codesearch.store.database import FileRecord, StoreReader
from codesearch.store.digest import check_intact
from codesearch.store.manifest import Manifest, SegmentEntry, read_manifest
from codesearch.store.postings import PostingsReader
from codesearch.store.vectors import PASSAGE_VECTORS, VectorReader
from codesearch.store.words import WordsReader, words_of
from codesearch.text.terms import FIELDS, query_terms

_NAME = FIELDS.index("name")
_REMEMBERED = 1 << 14
"""Number of names whose counts an open segment remembers."""


class SegmentReader:
    """Files and documents of a segment, numbered from 0. Some of them may be dead."""

    def __init__(
        self, index_folder: Path, manifest: Manifest, entry: SegmentEntry, store: StoreReader | None = None
    ) -> None:
        """Open all files now, because a merge may delete the folder later; the database may be open already."""
        folder, root, dim = index_folder / entry.folder, manifest.root, int(manifest.model["dim"])
        self.folder, self.root, self.has_sources = folder, root, manifest.has_sources
        self.walk = manifest.walk_config()  # Which files of the root may be read.
        self.dead_files: Collection[int] = entry.dead_files  # Their documents are not searched.
        self.rows = load_array(folder / ROWS, root)  # Numbers of each document: `ROW` [N].
        self.postings = PostingsReader(folder, root)
        self.words = WordsReader(folder, root)
        self.vectors = VectorReader(folder, entry.documents, dim, root=root, files=entry.files)
        self.passages = load_array(folder / PASSAGES, root)  # See `codesearch.store.arrays`: uint32 [P, 11].
        self.passage_vectors = VectorReader(
            folder, len(self.passages), dim, root=root, name=PASSAGE_VECTORS, files=entry.files
        )
        # Name -> number of live files that have its words, and of live documents with the name.
        self.name_counts = Memo(self._count_name, _REMEMBERED)
        self.unchanged: dict[str, Stamp] = {}  # Stamps of source files that had the recorded digest.
        # The source files, if the index was imported with code.
        self.sources = SourceReader(folder, root) if SOURCES in entry.files else None
        self.store = store or StoreReader(folder, root)

    def __len__(self) -> int:
        return len(self.rows)

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

    @cached_property
    def passage_documents(self) -> NDArray[np.int64]:
        """The document of each passage, ascending: int64 [P]."""
        return self.passages[:, 0].astype(np.int64)

    def passages_of(self, record: FileRecord) -> slice:
        """Return which passages are in the documents of a file."""
        bounds = record.first_doc, record.first_doc + record.doc_count
        return slice(*self.passage_documents.searchsorted(bounds).tolist())

    def files_with(self, words: Collection[bytes]) -> set[int]:
        """Return the file_ids of live files that have all of some words (see `codesearch.store.words`)."""
        found = [set(self.words.files_with(word).tolist()) for word in words]
        return set.intersection(*found).difference(self.dead_files) if found else set()

    def _count_name(self, name: str) -> tuple[int, int]:
        defining = self.postings.with_all(
            query_terms(name)[:1], _NAME
        )  # Of several terms, the first is all of it.
        return len(self.files_with(words_of(name.encode()))), len(defining[~np.isin(defining, self.dead)])

    def close(self) -> None:
        """Close the database."""
        self.store.close()


class IndexReader:
    """One open commit. It stays readable after later commits."""

    def __init__(
        self, index_folder: Path, manifest: Manifest, stores: dict[int, StoreReader] | None = None
    ) -> None:
        """Open the segments; this takes over open databases out of `stores`, by number of segment."""
        self.folder, self.manifest, self.root = index_folder, manifest, Path(manifest.root)
        self.segments: list[SegmentReader] = []  # In the order of the manifest.
        stores = {} if stores is None else stores
        try:
            for entry in manifest.segments:
                self.segments.append(SegmentReader(index_folder, manifest, entry, stores.get(entry.number)))
                stores.pop(entry.number, None)
        except BaseException:
            self.close()
            raise

    @classmethod
    def open(cls, index_folder: Path, manifest: Manifest | None = None) -> IndexReader:
        """Open the current commit; a manifest that was just read need not be read again."""
        try:
            return cls._checked(index_folder, manifest or read_manifest(index_folder))
        except IndexCorruptError:
            # Try again with the current manifest, because a writer may have committed and deleted the old files.
            return cls._checked(index_folder, read_manifest(index_folder))

    @classmethod
    def _checked(cls, index_folder: Path, manifest: Manifest) -> IndexReader:
        check_intact(index_folder, manifest)
        return cls(index_folder, manifest)

    def is_whole(self) -> bool:
        """Say whether every file is still the one that was opened or an intact copy; a writer may replace them."""
        try:
            check_intact(self.folder, self.manifest)
        except IndexCorruptError:
            return False
        return True

    def close(self) -> None:
        """Close the databases."""
        for segment in self.segments:
            segment.close()
