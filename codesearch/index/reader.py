"""An index folder -> its committed segments, opened for queries."""

from __future__ import annotations

from pathlib import Path

from codesearch.errors import IndexCorruptError
from codesearch.index.manifest import Manifest, read_manifest
from codesearch.segments.digest import check_sizes
from codesearch.segments.reader import SegmentReader


class IndexReader:
    """One commit, open: whatever a writer commits later, it goes on reading this one.

    Attributes:
        folder: the index.
        manifest: of the commit.
        segments: open, in the order of the manifest.
    """

    def __init__(self, index_folder: Path, manifest: Manifest) -> None:
        self.folder = index_folder
        self.manifest = manifest
        self.segments: list[SegmentReader] = []
        try:
            for entry in manifest.segments:
                self.segments.append(
                    SegmentReader(
                        index_folder / entry.folder,
                        manifest.root,
                        documents=entry.documents,
                        dim=int(manifest.model["dim"]),
                        files=entry.files,
                        dead_files=entry.dead_files,
                    )
                )
        except BaseException:
            self.close()
            raise

    @classmethod
    def open(cls, index_folder: Path) -> IndexReader:
        """Open the current commit.

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

    def check(self) -> None:
        """Check that every file is still there at its size.

        Raises:
            IndexCorruptError: one is not.
        """
        for segment, entry in zip(self.segments, self.manifest.segments, strict=True):
            check_sizes(segment.folder, entry.files, self.manifest.root)

    def close(self) -> None:
        """Close the databases."""
        for segment in self.segments:
            segment.close()
