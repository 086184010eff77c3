"""An index folder -> its current generation, opened for queries."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from codesearch.errors import IndexCorruptError
from codesearch.index.manifest import Manifest, check_sizes, read_manifest
from codesearch.index.postings import PostingsReader
from codesearch.index.rows import RowReader
from codesearch.index.store import FileRecord, StoreReader
from codesearch.index.vectors import GRAPH_FILE, VectorReader


class IndexReader:
    """One generation, open; each structure is mapped when first used."""

    def __init__(self, index_folder: Path, manifest: Manifest) -> None:
        self.folder = index_folder
        self.manifest = manifest
        self.generation = index_folder / manifest.folder

    @classmethod
    def open(cls, index_folder: Path) -> IndexReader:
        """Open the committed generation.

        Raises:
            IndexNotFoundError: nothing was committed.
            IndexFormatError: another version wrote it.
            IndexCorruptError: files do not match the manifest.
        """
        manifest = read_manifest(index_folder)
        try:
            check_sizes(index_folder / manifest.folder, manifest)
        except IndexCorruptError:
            # A writer may have committed and cleaned up between the two reads; then the manifest is new.
            again = read_manifest(index_folder)
            check_sizes(index_folder / again.folder, again)
            manifest = again
        return cls(index_folder, manifest)

    @property
    def root(self) -> Path:
        """The indexed folder."""
        return Path(self.manifest.root)

    @cached_property
    def store(self) -> StoreReader:
        """Files and documents."""
        return StoreReader(self.generation, self.manifest.root)

    @cached_property
    def rows(self) -> RowReader:
        """Numbers for filters."""
        return RowReader(self.generation, self.manifest.root)

    @cached_property
    def postings(self) -> PostingsReader:
        """The keyword half."""
        return PostingsReader(self.generation, self.manifest.root)

    @cached_property
    def vectors(self) -> VectorReader:
        """The semantic half."""
        return VectorReader(
            self.generation,
            self.manifest.documents,
            int(self.manifest.model["dim"]),
            self.manifest.root,
            self.manifest.files.get(GRAPH_FILE),
        )

    @cached_property
    def files(self) -> list[FileRecord]:
        """All files; a file_id is a position here."""
        return list(self.store.files().values())

    def close(self) -> None:
        """Close the database, if it was opened."""
        if "store" in self.__dict__:
            self.store.close()
