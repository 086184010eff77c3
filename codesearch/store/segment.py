"""A segment's folder, opened for queries."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codesearch.config import WalkConfig
from codesearch.store.arrays import SOURCES, RowReader, SourceReader
from codesearch.store.database import FileRecord, StoreReader
from codesearch.store.digest import check_sizes
from codesearch.store.postings import PostingsReader
from codesearch.store.vectors import GRAPH_FILE, VectorReader


class SegmentReader:
    """Files and documents of a segment, numbered from 0. Some of them may be dead.

    Attributes:
        folder: the segment's folder.
        root: the indexed folder.
        store: files and documents.
        rows: kind, file, flags and copy key of each document.
        postings: inverted lists.
        vectors: the vector of each document.
        walk: which files of the root may be read.
        sources: the source files, if the index was imported with code.
        dead_files: file_ids of the dead files, whose documents are not searched.
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
        walk: WalkConfig | None = None,
    ) -> None:
        """Open all files now, because a merge may delete the folder later.

        `documents` is their number, N, `dim` the length of a vector, D, and `files` maps the path of each file in the
        folder to its size and digest. The other arguments are the attributes; `walk` has the defaults when None.
        """
        check_sizes(folder, files, root)
        self.folder, self.root = folder, root
        self.walk = walk or WalkConfig()
        self.dead_files = dead_files
        self.rows = RowReader(folder, root)
        self.postings = PostingsReader(folder, root)
        self.vectors = VectorReader(folder, documents, dim, root=root, graph_entry=files.get(GRAPH_FILE))
        self.sources = SourceReader(folder, root) if SOURCES in files else None
        self.store = StoreReader(folder, root)

    def __len__(self) -> int:
        """Count the documents, including dead ones."""
        return len(self.rows.files)

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
        return np.flatnonzero(np.isin(self.rows.files, list(self.dead_files)))

    def close(self) -> None:
        """Close the database."""
        self.store.close()
