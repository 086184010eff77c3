"""Keep indexes and models open. All threads share what is open until the files on disk change."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from codesearch.files import Stamp, stamp_of
from codesearch.store.catalogue import IndexEntry
from codesearch.store.manifest import MANIFEST, Manifest, manifest_at

if TYPE_CHECKING:
    from codesearch.store.database import StoreReader
    from codesearch.store.segments import IndexReader
    from codesearch.text.onnx import OnnxEncoder


@dataclass(slots=True)
class _Held:
    """An open index; one that is replaced stays open until its last user is done."""

    stamp: Stamp
    reader: IndexReader
    users: int = 0
    replaced: bool = False
    is_new: bool = False  # Whether a query has just written its files, so that it need not check them.

    def close_if_unused(self) -> None:
        if self.replaced and not self.users:
            self.reader.close()


class Pool:
    """Lends indexes and models, and opens them if they are not open. The index used last is last in the list."""

    def __init__(self, max_indexes: int = 16, max_encoders: int = 4) -> None:
        """Set how many indexes and encoders `tidy` leaves open."""
        self._max_indexes, self._max_encoders = max_indexes, max_encoders
        # Says whether an index is known to have all changes of its root; a query then skips the check. A watcher sets
        # it, and several threads call it.
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
        from codesearch.store.segments import IndexReader

        folder = entry.folder.absolute()
        # Take the stamp first, so an index that changes while it opens is opened again.
        stamp = stamp_of(str(folder / MANIFEST))
        held = self._indexes.get(folder)
        if not held or held.stamp != stamp or not (held.is_new or held.reader.is_whole()):
            self._replace(folder)
            held = _Held(stamp, IndexReader.open(folder, manifest_at(folder, stamp)))
        held.is_new = False
        self._indexes.pop(folder, None)
        self._indexes[folder] = held
        return held

    def _replace(self, folder: Path) -> None:
        if held := self._indexes.pop(folder, None):
            held.replaced = True
            held.close_if_unused()

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

    def follow(
        self, folder: Path, manifest: Manifest, stores: dict[int, StoreReader], *, opens: bool
    ) -> None:
        """Open the commit that the caller has just written, with open databases, if the last one is open or `opens`."""
        from codesearch.store.segments import IndexReader

        folder = folder.absolute()
        with self._lock:
            if opens or folder in self._indexes:
                self._replace(folder)
                stamp = stamp_of(str(folder / MANIFEST))
                self._indexes[folder] = _Held(stamp, IndexReader(folder, manifest, stores), is_new=opens)

    def tidy(self) -> None:
        """Close indexes that were removed or updated, and the longest unused beyond a few."""
        with self._lock:
            spare = list(self._indexes)[: -self._max_indexes]
            for folder, held in list(self._indexes.items()):
                if folder in spare or held.stamp != stamp_of(str(folder / MANIFEST)):
                    self._replace(folder)
            for key in list(self._encoders)[: -self._max_encoders]:
                del self._encoders[key]

    def close(self) -> None:
        """Close every index that nobody uses, and the others as soon as their users are done."""
        with self._lock:
            for folder in list(self._indexes):
                self._replace(folder)
            self._encoders.clear()
