"""Indexes and models as last opened, for as long as what lies on disk is what was opened.

A command opens what it needs once; a service keeps it from one command to the next.
"""

from __future__ import annotations

from pathlib import Path

from codesearch.encoding.encoder import OnnxEncoder
from codesearch.index.manifest import MANIFEST
from codesearch.index.reader import IndexReader
from codesearch.segments.digest import check_sizes

_MAX_INDEXES = 16
_MAX_ENCODERS = 4
Stamp = tuple[tuple[str, int, int, int], ...]


class Opened:
    """Hands out what is open, or opens it; what was used last stands last."""

    def __init__(self) -> None:
        self._indexes: dict[Path, tuple[Stamp, IndexReader]] = {}
        self._encoders: dict[tuple[Path, str], tuple[Stamp, OnnxEncoder]] = {}

    def index(self, folder: Path) -> IndexReader:
        """Return the committed generation of an index.

        Raises:
            IndexNotFoundError: nothing was committed.
            IndexFormatError: another version wrote it.
            IndexCorruptError: files do not match the manifest.
        """
        folder = folder.absolute()  # Parts are opened late, perhaps in another working directory.
        stamp = _index_stamp(folder)  # Taken first: what changes while it is opened is opened again.
        kept, reader = self._indexes.pop(folder, (None, None))
        if reader and kept == stamp:
            check_sizes(reader.generation, reader.manifest.files, reader.manifest.root)
        else:
            if reader:
                reader.close()
            reader = IndexReader.open(folder)
        self._indexes[folder] = stamp, reader
        return reader

    def encoder(self, folder: Path, device: str) -> OnnxEncoder:
        """Return the encoder of a bundle.

        Raises:
            ModelBundleError: the bundle is damaged.
            MissingExtraError: ONNX Runtime is not installed.
            ConfigError: CUDA was asked for and is not there.
        """
        folder = folder.absolute()
        stamp = _stamp(*sorted(folder.glob("*")))
        kept, encoder = self._encoders.pop((folder, device), (None, None))
        if not encoder or kept != stamp:
            encoder = OnnxEncoder.load(folder, device)
        self._encoders[folder, device] = stamp, encoder
        return encoder

    def tidy(self) -> None:
        """Close indexes that were removed or updated, and what was not used for longest beyond a few."""
        spare = list(self._indexes)[:-_MAX_INDEXES]
        for folder, (stamp, reader) in list(self._indexes.items()):
            if folder in spare or stamp != _index_stamp(folder):
                reader.close()
                del self._indexes[folder]
        for key in list(self._encoders)[:-_MAX_ENCODERS]:
            del self._encoders[key]


def _index_stamp(folder: Path) -> Stamp:
    return _stamp(folder / MANIFEST)


def _stamp(*paths: Path) -> Stamp:
    """Tell files from those that were there before; one that is gone is left out."""
    found = []
    for path in paths:
        try:
            seen = path.stat()
        except OSError:
            continue
        found.append((path.name, seen.st_ino, seen.st_size, seen.st_mtime_ns))
    return tuple(found)
