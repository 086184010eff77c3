"""Open indexes and models. All threads share them until the files on disk change. Quick to import."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from codesearch.errors import IndexCorruptError
from codesearch.files import Stamp, stamp_of
from codesearch.store.catalogue import IndexEntry
from codesearch.store.manifest import MANIFEST, Manifest

if TYPE_CHECKING:
    from codesearch.store.reader import IndexReader
    from codesearch.text.onnx import OnnxEncoder


@dataclass(slots=True)
class _Held:
    """An open index; one that is replaced stays open until its last user is done."""

    stamp: Stamp
    reader: IndexReader
    users: int = 0
    replaced: bool = False

    def close_if_unused(self) -> None:
        if self.replaced and not self.users:
            self.reader.close()


class Pool:
    """Lends indexes and models, and opens them if they are not open. The index used last is last in the list.

    Attributes:
        is_unchanged: says of a manifest whether its index is known to have all changes of its root; a query then skips
            the check. A watcher sets it. It is called in several threads.
    """

    def __init__(self, max_indexes: int = 16, max_encoders: int = 4) -> None:
        """Set how many indexes and encoders `tidy` leaves open."""
        self._max_indexes, self._max_encoders = max_indexes, max_encoders
        self.is_unchanged: Callable[[Manifest], bool] = lambda manifest: False
        self._lock = threading.Lock()
        self._indexes: dict[Path, _Held] = {}
        self._encoders: dict[tuple[Path, str], tuple[tuple[Stamp, ...], OnnxEncoder]] = {}

    @contextmanager
    def index(self, entry: IndexEntry) -> Iterator[IndexReader]:
        """Lend the current commit of an index; it stays open while it is lent."""
        with self._lock:
            held = self._current(entry)
            held.users += 1
        try:
            yield held.reader
        finally:
            with self._lock:
                held.users -= 1
                held.close_if_unused()

    def _current(self, entry: IndexEntry) -> _Held:
        from codesearch.store.reader import IndexReader

        folder = entry.folder.absolute()
        # Take the stamp first, so an index that changes while it opens is opened again.
        stamp = stamp_of(str(folder / MANIFEST))
        held = self._indexes.pop(folder, None)
        try:
            if held and held.stamp == stamp and _is_whole(held.reader):
                current, held = held, None
            else:
                manifest = entry.manifest if entry.stamp == stamp else None
                current = _Held(stamp, IndexReader.open(folder, manifest))
        finally:
            if held:
                _replace(held)
        self._indexes[folder] = current
        return current

    def encoder(self, folder: Path, device: str) -> OnnxEncoder:
        """Return the encoder of a bundle."""
        from codesearch.text.onnx import OnnxEncoder

        folder = folder.absolute()
        with self._lock:
            stamp = tuple(stamp_of(str(path)) for path in sorted(folder.glob("*")))
            kept, encoder = self._encoders.pop((folder, device), (None, None))
            if not encoder or kept != stamp:
                encoder = OnnxEncoder.load(folder, device)
            self._encoders[folder, device] = stamp, encoder
            return encoder

    def tidy(self) -> None:
        """Close indexes that were removed or updated, and the longest unused beyond a few."""
        with self._lock:
            spare = list(self._indexes)[: -self._max_indexes]
            for folder, held in list(self._indexes.items()):
                if folder in spare or held.stamp != stamp_of(str(folder / MANIFEST)):
                    _replace(self._indexes.pop(folder))
            for key in list(self._encoders)[: -self._max_encoders]:
                del self._encoders[key]

    def close(self) -> None:
        """Close every index that nobody uses, and the others as soon as their users are done."""
        with self._lock:
            while self._indexes:
                _replace(self._indexes.popitem()[1])
            self._encoders.clear()


def _is_whole(reader: IndexReader) -> bool:
    """Say whether the files of an open index still exist; a writer may just have replaced them."""
    try:
        reader.check()
    except IndexCorruptError:
        return False
    return True


def _replace(held: _Held) -> None:
    held.replaced = True
    held.close_if_unused()
