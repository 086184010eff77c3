"""An index folder -> its committed segments, checked and opened for queries."""

from __future__ import annotations

from pathlib import Path

from codesearch.errors import IndexCorruptError
from codesearch.store.digest import check_intact
from codesearch.store.manifest import Manifest, read_manifest
from codesearch.store.segment import SegmentReader


class IndexReader:
    """One open commit. It stays readable after later commits."""

    def __init__(self, index_folder: Path, manifest: Manifest) -> None:
        self.folder = index_folder  # The index folder.
        self.manifest = manifest  # The manifest of the commit.
        self.segments: list[SegmentReader] = []  # The open segments, in the order of the manifest.
        try:
            for entry in manifest.segments:
                self.segments.append(SegmentReader(index_folder, manifest, entry))
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

    @property
    def root(self) -> Path:
        """The indexed folder."""
        return Path(self.manifest.root)

    def check(self) -> None:
        """Check that every file is still the one that was opened or an intact copy."""
        check_intact(self.folder, self.manifest)

    def close(self) -> None:
        """Close the databases."""
        for segment in self.segments:
            segment.close()
