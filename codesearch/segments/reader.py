"""A segment's folder, opened for queries."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codesearch.segments.digest import check_sizes
from codesearch.segments.graph import GRAPH_FILE
from codesearch.segments.postings import PostingsReader
from codesearch.segments.rows import RowReader
from codesearch.segments.store import FileRecord, StoreReader
from codesearch.segments.vectors import VectorReader


class SegmentReader:
    """Files and documents, numbered from 0, some of them dead.

    Attributes:
        folder: of the segment.
        root: the indexed folder.
        store: files and documents.
        rows: small numbers of each document.
        postings: lists of terms.
        vectors: of each document.
        dead_files: file_ids whose documents do not count.
    """

    def __init__(
        self,
        folder: Path,
        root: str,
        *,
        documents: int,
        dim: int,
        files: Mapping[str, Mapping[str, Any]],
        dead_files: Collection[int] = (),
    ) -> None:
        """Open everything; a merge may delete the folder later.

        Args:
            folder: of the segment.
            root: the indexed folder.
            documents: N.
            dim: length of a vector, D.
            files: path inside the folder -> size and digest.
            dead_files: file_ids whose documents do not count.

        Raises:
            IndexCorruptError: a file is missing or has another size.
        """
        check_sizes(folder, files, root)
        self.folder, self.root = folder, root
        self.dead_files = dead_files
        self.rows = RowReader(folder, root)
        self.postings = PostingsReader(folder, root)
        self.vectors = VectorReader(folder, documents, dim, root=root, graph_entry=files.get(GRAPH_FILE))
        self.store = StoreReader(folder, root)

    def __len__(self) -> int:
        """Count the documents, dead ones among them."""
        return len(self.rows.files)

    @cached_property
    def files(self) -> list[FileRecord]:
        """All files; a file_id is a position here."""
        return list(self.store.files().values())

    @cached_property
    def dead(self) -> NDArray[np.int64]:
        """The dead documents, ascending: int64."""
        if not self.dead_files:
            return np.empty(0, np.int64)
        return np.flatnonzero(np.isin(self.rows.files, list(self.dead_files)))

    def close(self) -> None:
        """Close the database."""
        self.store.close()
