"""An index folder -> its current generation, opened for queries."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from codesearch.errors import IndexCorruptError
from codesearch.index.manifest import Manifest, read_manifest
from codesearch.segments.digest import check_sizes
from codesearch.segments.graph import GRAPH_FILE
from codesearch.segments.postings import PostingsReader
from codesearch.segments.rows import RowReader
from codesearch.segments.store import FileRecord, StoreReader
from codesearch.segments.vectors import VectorReader


class IndexReader:
    """One generation, open: whatever a writer commits later, it goes on reading this one.

    Attributes:
        folder: the index.
        manifest: of the generation.
        generation: its folder.
        store: files and documents.
        rows: numbers for filters.
        postings: the keyword half.
        vectors: the semantic half.
    """

    def __init__(self, index_folder: Path, manifest: Manifest) -> None:
        self.folder = index_folder
        self.manifest = manifest
        self.generation = index_folder / manifest.folder
        check_sizes(self.generation, manifest.files, manifest.root)
        self.rows = RowReader(self.generation, manifest.root)
        self.postings = PostingsReader(self.generation, manifest.root)
        self.vectors = VectorReader(
            self.generation,
            manifest.documents,
            int(manifest.model["dim"]),
            root=manifest.root,
            graph_entry=manifest.files.get(GRAPH_FILE),
        )
        self.store = StoreReader(self.generation, manifest.root)

    @classmethod
    def open(cls, index_folder: Path) -> IndexReader:
        """Open the committed generation.

        Raises:
            IndexNotFoundError: nothing was committed.
            IndexFormatError: another version wrote it.
            IndexCorruptError: files do not match the manifest.
        """
        try:
            return cls(index_folder, read_manifest(index_folder))
        except IndexCorruptError:
            # A writer may have committed and cleaned up meanwhile; then the manifest is another one now.
            return cls(index_folder, read_manifest(index_folder))

    @property
    def root(self) -> Path:
        """The indexed folder."""
        return Path(self.manifest.root)

    @cached_property
    def files(self) -> list[FileRecord]:
        """All files; a file_id is a position here."""
        return list(self.store.files().values())

    @cached_property
    def languages(self) -> NDArray[np.str_]:
        """Language of each file."""
        return np.array([file.language for file in self.files], dtype=np.str_)

    def close(self) -> None:
        """Close the database."""
        self.store.close()
