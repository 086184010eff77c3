"""Where the documents of an engine are: what a backend must do, and the backend of the indexes in a home."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import astuple
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from codesearch.config import VectorConfig
from codesearch.engine.answer import Changes, Freshness
from codesearch.engine.pool import Pool
from codesearch.engine.scope import Scope, choose_indexes
from codesearch.errors import IndexWriteError
from codesearch.index.catalogue import IndexEntry

if TYPE_CHECKING:
    from codesearch.encoding.onnx import OnnxEncoder
    from codesearch.index.reader import IndexReader
    from codesearch.search.searcher import LocalIndexes, Searchable

REFRESH_S = 0.5
"""A query first updates an index if the update is estimated to take less than this."""


class SearchBackend(Protocol):
    """Where the documents of an engine are."""

    def open(self, scope: Scope) -> AbstractContextManager[Searchable]:
        """Lend the documents of a scope."""
        ...

    def refreshed(self, scope: Scope) -> list[Freshness]:
        """Bring the documents of a scope up to date if that is quick; say for each root whether they are."""
        ...

    def close(self) -> None:
        """Close what is open; the next call opens it again."""
        ...


class LocalBackend:
    """The indexes of a home."""

    def __init__(self, home: Path, pool: Pool, vectors: VectorConfig, device: str) -> None:
        self.home, self.vectors = home, vectors
        self._pool, self._device = pool, device

    @contextmanager
    def open(self, scope: Scope) -> Iterator[LocalIndexes]:
        """Lend the indexes of a scope to a searcher.

        Raises:
            IndexNotFoundError: nothing is indexed, or no index has what the scope names.
            IndexStoreError: an index cannot be read.
        """
        with self.indexes(scope) as indexes:
            from codesearch.search.searcher import LocalIndexes

            yield LocalIndexes(indexes)

    @contextmanager
    def indexes(self, scope: Scope) -> Iterator[list[IndexReader]]:
        """Lend the indexes of a scope; the errors are those of `open`."""
        entries = choose_indexes(self.home, scope)
        with self._pool.indexes([entry.folder for entry in entries]) as indexes:
            yield indexes

    def entry(self, root: Path | str) -> IndexEntry:
        """Return the index of a root.

        Raises:
            IndexNotFoundError: it is not indexed.
            IndexStoreError: its index cannot be read.
        """
        (entry,) = choose_indexes(self.home, Scope(roots=(Path(root).expanduser(),)))
        return entry

    def refreshed(self, scope: Scope) -> list[Freshness]:
        """Refresh the indexes of a scope; those that cannot be written, because the home is full or read-only, stay."""
        found = []
        for entry in choose_indexes(self.home, scope):
            try:
                found.append(self.refresh(entry, REFRESH_S))
            except IndexWriteError:
                from codesearch.engine.update import count_changes

                if entry.manifest is None:
                    raise
                changes = count_changes(entry, self.vectors)
                state = "behind" if any(astuple(changes)) else "current"
                found.append(Freshness(entry.manifest.root, state, changes))
        return found

    def refresh(self, entry: IndexEntry, budget_s: float) -> Freshness:
        """Bring an index up to date if that is estimated to take at most `budget_s` seconds."""
        from codesearch.index.stamps import compare

        manifest = entry.manifest
        if manifest and not manifest.has_sources:
            return Freshness(
                manifest.root, "with code" if manifest.has_code else "without code", Changes(0, 0)
            )
        if manifest and self._pool.is_unchanged(manifest):
            return Freshness(manifest.root, "current", Changes(0, 0))
        seen = compare(manifest.root, entry.folder, manifest.commit) if manifest else None
        if manifest and seen and seen.is_current:
            return Freshness(manifest.root, "current", Changes(0, 0))
        from codesearch.index.workers import start_early

        start_early()
        from codesearch.engine.update import refresh_index

        return refresh_index(entry, self.home, self.vectors, self.open_encoder, budget_s, seen)

    def open_encoder(self, bundle: Path) -> OnnxEncoder:
        """Return the encoder of a bundle."""
        return self._pool.encoder(bundle, self._device)

    def close(self) -> None:
        """Close every index and model."""
        self._pool.close()
