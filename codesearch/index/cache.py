"""Text digest -> vector, for one model, shared by all roots of a home: unchanged text is never embedded twice.

    <home>/cache/<model id>.sqlite    vectors (digest BLOB PRIMARY KEY, row BLOB: float32 scale, int8 [D])

Only a cache: a damaged one is set aside and made anew.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

_SCHEMA = "CREATE TABLE IF NOT EXISTS vectors (digest BLOB PRIMARY KEY, row BLOB NOT NULL)"
_BATCH = 500
T = TypeVar("T")


def cache_path(home: Path, model_id: str) -> Path:
    """Name the file of a model's vectors."""
    return home / "cache" / f"{model_id}.sqlite"


class VectorCache:
    """Reads and adds quantized vectors by the digest of what was embedded."""

    def __init__(self, home: Path, model_id: str, dim: int) -> None:
        self._path = cache_path(home, model_id)
        self._dim = dim
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._connection = self._open()
        try:
            self._unless_damaged(self._prepare)
        except BaseException:
            self._connection.close()
            raise

    def _open(self) -> sqlite3.Connection:
        return sqlite3.connect(self._path, timeout=30)

    def _prepare(self) -> None:
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = NORMAL")
        self._connection.execute(_SCHEMA)

    def _unless_damaged(self, work: Callable[[], T]) -> T:
        """Do `work`; when the file turns out to be damaged, once more with an empty one."""
        try:
            return work()
        except sqlite3.OperationalError:  # Locked, full or not writable, but whole.
            raise
        except sqlite3.DatabaseError:
            self._connection.close()
            for suffix in ("-wal", "-shm"):
                self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
            self._path.replace(self._path.with_suffix(".damaged"))
            self._connection = self._open()
            self._prepare()
            return work()

    def find(self, digests: Sequence[bytes]) -> dict[bytes, tuple[NDArray[np.int8], np.float32]]:
        """Return what is known of `digests`: digest -> (int8 [D], scale)."""
        return self._unless_damaged(lambda: self._find(digests))

    def _find(self, digests: Sequence[bytes]) -> dict[bytes, tuple[NDArray[np.int8], np.float32]]:
        found = {}
        for start in range(0, len(digests), _BATCH):
            batch = list(digests[start : start + _BATCH])
            marks = ",".join("?" * len(batch))
            for digest, row in self._connection.execute(
                f"SELECT digest, row FROM vectors WHERE digest IN ({marks})", batch
            ):
                if len(row) == 4 + self._dim:
                    scale = np.frombuffer(row, dtype=np.float32, count=1)[0]
                    found[digest] = (np.frombuffer(row, dtype=np.int8, offset=4), scale)
        return found

    def known(self, digests: Sequence[bytes]) -> set[bytes]:
        """Return which of `digests` have a vector."""
        return self._unless_damaged(lambda: self._known(digests))

    def _known(self, digests: Sequence[bytes]) -> set[bytes]:
        found: set[bytes] = set()
        for start in range(0, len(digests), _BATCH):
            batch = list(digests[start : start + _BATCH])
            query = f"SELECT digest FROM vectors WHERE digest IN ({','.join('?' * len(batch))})"
            found.update(digest for (digest,) in self._connection.execute(query, batch))
        return found

    def add(self, digests: Sequence[bytes], rows: NDArray[np.int8], scales: NDArray[np.float32]) -> None:
        """Keep vectors: int8 [B, D] and float32 [B]; committed at once, so an interrupted run keeps them."""
        entries = [
            (digest, scale.tobytes() + row.tobytes())
            for digest, row, scale in zip(digests, rows, scales, strict=True)
        ]
        self._unless_damaged(lambda: self._add(entries))

    def _add(self, entries: list[tuple[bytes, bytes]]) -> None:
        with self._connection:
            self._connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", entries)

    def close(self) -> None:
        """Close the database."""
        self._connection.close()
