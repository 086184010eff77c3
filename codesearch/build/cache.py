"""A cache of vectors by text digest. All indexes of a home that use a model share it, so no text is embedded twice.

    <home>/cache/<model id>.sqlite    vectors (digest BLOB PRIMARY KEY, row BLOB: crc32 of digest and rest, float32
                                      scale, int8 [D])

If the file is damaged, it is renamed and a new one is made. A damaged row, or one of another digest, counts as missing.
Models that only add up rows of a table have no cache. They embed a text about as fast as a cache finds a vector.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from itertools import chain
from pathlib import Path
from typing import TypeVar
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from codesearch.errors import IndexStoreError
from codesearch.files import create_private, make_folder
from codesearch.store.catalogue import list_indexes
from codesearch.store.database import StoreReader, storage_error
from codesearch.store.manifest import Manifest

_SCHEMA = "CREATE TABLE IF NOT EXISTS vectors (digest BLOB PRIMARY KEY, row BLOB NOT NULL)"
_BATCH = 500
_SPARE = 10_000
"""Number of unused vectors that are kept, because deleting so few is not worth the time."""
T = TypeVar("T")


def cache_path(home: Path, model_id: str) -> Path:
    """Return the path of a model's cache."""
    return home / "cache" / f"{model_id}.sqlite"


class VectorCache:
    """Reads and adds quantized vectors by the digests of their token ids."""

    def __init__(self, home: Path, model_id: str, dim: int) -> None:
        self._path = cache_path(home, model_id)
        self._dim = dim
        make_folder(self._path.parent)
        self._connection = self._open()
        try:
            self._unless_damaged(self._prepare)
        except BaseException:
            self._connection.close()
            raise

    def _open(self) -> sqlite3.Connection:
        with suppress(OSError):  # SQLite reports the same error.
            create_private(self._path)
        connection = sqlite3.connect(self._path, timeout=30)
        connection.text_factory = bytes  # Damage can turn a row into text that cannot be decoded.
        return connection

    def _prepare(self) -> None:
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = NORMAL")
        self._connection.execute(_SCHEMA)

    def _unless_damaged(self, work: Callable[[], T]) -> T:
        """Do `work`; if the file is damaged, replace it by an empty one and do `work` again."""
        try:
            return work()
        except sqlite3.DatabaseError as error:
            if not _is_damage(error) and (known := storage_error(error, self._path)):
                raise known from error
            self._connection.close()
            for suffix in ("-wal", "-shm"):
                self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
            self._path.replace(self._path.with_suffix(".damaged"))
            self._connection = self._open()
            self._prepare()
            return work()

    def find(self, digests: Sequence[bytes]) -> dict[bytes, tuple[NDArray[np.int8], np.float32]]:
        """Return the cached vectors for `digests`: digest -> (int8 [D], scale)."""
        return self._unless_damaged(lambda: self._find(digests))

    def _find(self, digests: Sequence[bytes]) -> dict[bytes, tuple[NDArray[np.int8], np.float32]]:
        found = {}
        for start in range(0, len(digests), _BATCH):
            batch = list(digests[start : start + _BATCH])
            marks = ",".join("?" * len(batch))
            for digest, row in self._connection.execute(
                f"SELECT digest, row FROM vectors WHERE digest IN ({marks})", batch
            ):
                is_row = isinstance(row, bytes) and len(row) == 8 + self._dim
                if is_row and _checksum(digest, row[4:]) == row[:4]:
                    scale = np.frombuffer(row, dtype=np.float32, count=1, offset=4)[0]
                    found[digest] = (np.frombuffer(row, dtype=np.int8, offset=8), scale)
        return found

    def add(self, digests: Sequence[bytes], rows: NDArray[np.int8], scales: NDArray[np.float32]) -> None:
        """Add vectors: int8 [B, D] and float32 [B]; commit immediately, so an interrupted build keeps them."""
        vectors = (scale.tobytes() + row.tobytes() for row, scale in zip(rows, scales, strict=True))
        entries = [
            (digest, _checksum(digest, row) + row) for digest, row in zip(digests, vectors, strict=True)
        ]

        def insert() -> None:
            with self._connection:
                self._connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", entries)

        self._unless_damaged(insert)

    def __len__(self) -> int:
        """Count the vectors."""
        query = "SELECT count(*) FROM vectors"
        return self._unless_damaged(lambda: int(self._connection.execute(query).fetchone()[0]))

    def keep_only(self, digests: Iterable[bytes]) -> None:
        """Delete all vectors with other digests and free their disk space."""
        connection = self._connection
        with connection:
            connection.execute("CREATE TEMP TABLE live (digest BLOB PRIMARY KEY)")
            connection.executemany("INSERT OR IGNORE INTO live VALUES (?)", ((digest,) for digest in digests))
            connection.execute("DELETE FROM vectors WHERE digest NOT IN (SELECT digest FROM live)")
        connection.execute("DROP TABLE live")
        connection.execute("VACUUM")

    def close(self) -> None:
        """Close the database."""
        self._connection.close()


def collect_vectors(home: Path, model_id: str, dim: int) -> None:
    """Delete the vectors that no index uses, if they outnumber the used ones.

    If an index of the home cannot be read, or the cache cannot be written, delete nothing. Vectors of a running build
    may be deleted, because the build has copies of them.
    """
    entries = list_indexes(home)
    if any(entry.manifest is None for entry in entries) or not cache_path(home, model_id).exists():
        return
    users = {
        entry.folder: entry.manifest
        for entry in entries
        if entry.manifest and entry.manifest.model["id"] == model_id
    }
    documents = sum(manifest.documents for manifest in users.values())
    with suppress(IndexStoreError, sqlite3.Error), closing(VectorCache(home, model_id, dim)) as cache:
        if len(cache) > 2 * documents + _SPARE:
            digests = (_digests(folder, manifest) for folder, manifest in users.items())
            cache.keep_only(chain.from_iterable(digests))


def _digests(index_folder: Path, manifest: Manifest) -> Iterator[bytes]:
    """Yield the text digests of all documents of an index, including those of dead files."""
    for segment in manifest.segments:
        with closing(StoreReader(index_folder / segment.folder, manifest.root)) as store:
            yield from store.text_digests()


def _checksum(digest: bytes, row: bytes) -> bytes:
    return crc32(row, crc32(digest)).to_bytes(4, "little")


def _is_damage(error: sqlite3.DatabaseError) -> bool:
    """Say whether a database is damaged, and not only locked, full or not writable."""
    if not isinstance(error, sqlite3.OperationalError):
        return True
    # A table or a column has another name.
    return getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_ERROR
