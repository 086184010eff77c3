"""Text digest -> vector, for one model, shared by all roots of a home: unchanged text is never embedded twice.

    <home>/cache/<model id>.sqlite    vectors (digest BLOB PRIMARY KEY, row BLOB: float32 scale, int8 [D])

Only a cache: a damaged one is set aside and made anew.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

_SCHEMA = "CREATE TABLE IF NOT EXISTS vectors (digest BLOB PRIMARY KEY, row BLOB NOT NULL) WITHOUT ROWID"
_BATCH = 500


class VectorCache:
    """Reads and adds quantized vectors by the digest of what was embedded."""

    def __init__(self, home: Path, model_id: str, dim: int) -> None:
        self._path = home / "cache" / f"{model_id}.sqlite"
        self._dim = dim
        self._path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._connection = self._open()
        except sqlite3.DatabaseError:
            self._path.replace(self._path.with_suffix(".damaged"))
            self._connection = self._open()

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, timeout=30)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(_SCHEMA)
        return connection

    def find(self, digests: Sequence[bytes]) -> dict[bytes, tuple[NDArray[np.int8], np.float32]]:
        """Return what is known of `digests`: digest -> (int8 [D], scale)."""
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

    def add(self, digests: Sequence[bytes], rows: NDArray[np.int8], scales: NDArray[np.float32]) -> None:
        """Keep vectors: int8 [B, D] and float32 [B]; committed at once, so an interrupted run keeps them."""
        with self._connection:
            self._connection.executemany(
                "INSERT OR REPLACE INTO vectors VALUES (?, ?)",
                (
                    (digest, scale.tobytes() + row.tobytes())
                    for digest, row, scale in zip(digests, rows, scales, strict=True)
                ),
            )

    def close(self) -> None:
        """Close the database."""
        self._connection.close()
