"""Where the documents of an engine are: what a backend must do, and the backend of the indexes in a home."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import astuple
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from codesearch.config import VectorConfig
from codesearch.engine.answer import Freshness
from codesearch.engine.pool import Pool
from codesearch.engine.scope import Scope, choose_indexes, find_indexes
from codesearch.errors import CodeSearchError, IndexStoreError, IndexWriteError, PortableFileError
from codesearch.files import expanded
from codesearch.store.catalogue import IndexEntry, is_revision

if TYPE_CHECKING:
    from codesearch.build.build import Progress
    from codesearch.search.searcher import LocalIndexes, Searchable
    from codesearch.store.reader import IndexReader
    from codesearch.text.onnx import OnnxEncoder

REFRESH_S = 0.5
"""A query first updates an index if the update is estimated to take less than this."""


class SearchBackend(Protocol):
    """Where the documents of an engine are."""

    def open(self, scope: Scope, failed: list[Freshness] | None = None) -> AbstractContextManager[Searchable]:
        """Lend the documents of a scope; `failed` gets each root that cannot be read, if others can."""
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
    def open(self, scope: Scope, failed: list[Freshness] | None = None) -> Iterator[LocalIndexes]:
        """Lend the indexes of a scope to a searcher; arguments and errors are those of `indexes`."""
        with self.indexes(scope, failed) as indexes:
            from codesearch.search.searcher import LocalIndexes

            yield LocalIndexes(indexes)

    @contextmanager
    def indexes(self, scope: Scope, failed: list[Freshness] | None = None) -> Iterator[list[IndexReader]]:
        """Lend the indexes of a scope."""
        entries = find_indexes(self.home, scope)
        lost: list[tuple[IndexEntry, CodeSearchError]] = []
        with ExitStack() as lent:
            opened = []
            for entry in entries:
                try:
                    if entry.error:
                        raise entry.error
                    opened.append(lent.enter_context(self._pool.index(entry.folder)))
                except (IndexStoreError, PortableFileError) as error:
                    if failed is None:
                        raise
                    lost.append((entry, error))
            if lost and not opened:
                raise lost[0][1]
            if failed is not None:
                failed += [_failure(entry, "unreadable", error) for entry, error in lost]
            yield opened

    def entry(self, root: Path | str) -> IndexEntry:
        """Return the index of a root."""
        (entry,) = choose_indexes(self.home, Scope(roots=(expanded(root),)))
        return entry

    def refreshed(self, scope: Scope, budget_s: float = REFRESH_S) -> list[Freshness]:
        """Refresh the indexes of a scope that can be read. An error of one of several does not concern the others."""
        entries = find_indexes(self.home, scope)
        if len(entries) == 1:
            return [self._refreshed(entries[0], budget_s)]
        found = []
        for entry in (entry for entry in entries if entry.manifest):
            try:
                found.append(self._refreshed(entry, budget_s))
            except CodeSearchError as error:
                found.append(_failure(entry, "unchecked", error))
        return found

    def _refreshed(self, entry: IndexEntry, budget_s: float) -> Freshness:
        """Refresh an index; one that cannot be written, because the home is full or read-only, stays."""
        try:
            return self.refresh(entry, budget_s)
        except IndexWriteError:
            from codesearch.engine.update import count_changes

            changes = count_changes(entry, self.vectors)
            state = "behind" if any(astuple(changes)) else "current"
            return Freshness(entry.committed.root, state, changes)

    def refresh(
        self, entry: IndexEntry, budget_s: float, on_progress: Callable[[Progress], None] = lambda _: None
    ) -> Freshness:
        """Bring an index up to date if that is estimated to take at most `budget_s` seconds."""
        from codesearch.build.current import compare

        manifest = entry.committed
        if not manifest.has_sources:
            return Freshness(manifest.root, "with code" if manifest.has_code else "without code")
        if (
            self._pool.is_unchanged(manifest)
            or is_revision(self.home, manifest.root)
            or (seen := compare(entry.folder, manifest)).is_current
        ):
            return Freshness(manifest.root, "current")
        from codesearch.build.workers import start_early

        start_early()
        from codesearch.engine.update import refresh_index

        return refresh_index(entry, self.vectors, self.open_encoder, budget_s, seen, on_progress)

    def open_encoder(self, bundle: Path) -> OnnxEncoder:
        """Return the encoder of a bundle."""
        return self._pool.encoder(bundle, self._device)

    def close(self) -> None:
        """Close every index and model."""
        self._pool.close()


def _failure(entry: IndexEntry, state: str, error: CodeSearchError) -> Freshness:
    root = entry.manifest.root if entry.manifest else str(entry.folder)
    return Freshness(root, state, error=error.reason)
