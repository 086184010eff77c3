"""An engine whose documents are in Milvus. Local indexes are where its workers prepare what they write."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from codesearch.config import IndexOptions, RankConfig
from codesearch.engine.answer import Answer, Freshness
from codesearch.engine.engine import Engine
from codesearch.engine.scope import Scope, choose_indexes
from codesearch.errors import ConfigError

if TYPE_CHECKING:
    from codesearch.backends.milvus.push import PushReport, RootStatus
    from codesearch.backends.milvus.searcher import Collection
    from codesearch.backends.milvus.store import Connection, MilvusStore
    from codesearch.engine.opened import Opened
    from codesearch.engine.reports import IndexReport
    from codesearch.index.build import Progress
    from codesearch.search.request import SearchRequest
    from codesearch.search.searcher import Found, Searcher


def shard_of(root: str, count: int) -> int:
    """Return the number, from 1, of the shard that a root belongs to; other roots do not change it.

    >>> shard_of("/src/a", 1)
    1
    """
    return int.from_bytes(hashlib.sha256(root.encode("utf-8", "replace")).digest()[:8], "big") % count + 1


def parse_shard(text: str) -> tuple[int, int]:
    """Read "I/N".

    >>> parse_shard("2/8")
    (2, 8)

    Raises:
        ConfigError: it is something else.
    """
    number, _, count = text.partition("/")
    if number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count):
        return int(number), int(count)
    raise ConfigError(f"--shard {text!r}: give I/N, such as 1/8 for the first of eight workers")


class RemoteEngine(Engine):
    """Searches and fills collections of a Milvus server. Safe to use from several threads."""

    def __init__(
        self,
        connection: Connection,
        home: Path | str | None = None,
        *,
        model: Path | str | None = None,
        device: str = "auto",
        ranking: RankConfig | None = None,
        opened: Opened | None = None,
    ) -> None:
        """Set the server; this connects to nothing yet. The other arguments are those of `Engine`."""
        super().__init__(home, model=model, device=device, ranking=ranking, opened=opened)
        self._connection = connection

    def push(
        self,
        roots: Sequence[Path | str],
        shard: str = "1/1",
        options: IndexOptions | None = None,
        *,
        rebuild: bool = False,
        on_index: Callable[[IndexReport], None] = lambda _: None,
        on_progress: Callable[[Progress], None] = lambda _: None,
    ) -> list[PushReport]:
        """Index the roots of a shard and make the collections hold exactly these documents for the shard.

        Args:
            roots: all folders of the shard; documents of other folders are deleted from the shard.
            shard: "I/N".
            options: walk settings to change.
            rebuild: make the local indexes again.
            on_index: called with the report of each local index.
            on_progress: called with the progress of a build.

        Raises:
            BackendError: the server fails, or another model, version or number of shards filled the collections.
            IndexStoreError: a local index cannot be written.
        """
        from codesearch.backends.milvus.push import push

        parse_shard(shard)
        encoder = self.encoder()
        self._store.prepare({"id": encoder.model_id, "name": encoder.name, "dim": encoder.dim})
        for root in roots:
            on_index(self.index(root, options, rebuild=rebuild, on_progress=on_progress))
        if not roots:
            return push(self._store, [], shard)
        entries = choose_indexes(self.home, Scope(tuple(Path(root).expanduser() for root in roots)))
        with self._opened.indexes([entry.folder for entry in entries]) as indexes:
            return push(self._store, indexes, shard)

    def root_statuses(self) -> list[RootStatus]:
        """Return all roots in the collections.

        Raises:
            BackendError: the server fails, or there are no collections.
        """
        from codesearch.backends.milvus.push import root_statuses

        return root_statuses(self._collection.store)

    @contextmanager
    def open(
        self,
        scope: Scope | None = None,
        *,
        with_model: bool = True,
        ranking: RankConfig | None = None,
    ) -> Iterator[Searcher]:
        """Lend a searcher over the collections; only the roots of the scope limit it.

        Raises:
            BackendError: the server fails, or there are no collections of this model and version.
        """
        from codesearch.backends.milvus.searcher import MilvusSearcher

        roots = [str(Path(root).expanduser().resolve()) for root in (scope.roots if scope else ())]
        encoder = self.encoder() if with_model else None
        yield MilvusSearcher(self._collection, encoder, ranking or self._ranking, roots)

    def _answer(
        self,
        request: SearchRequest,
        scope: Scope | None,
        find: Callable[[Searcher, SearchRequest], Found],
    ) -> Answer:
        if request.changed is not None:
            raise ConfigError("--changed needs the work tree: search its local index, without --backend")
        return super()._answer(request, scope, find)

    def missing_projects(self, scope: Scope) -> list[Path]:
        """Return none: a search of a server indexes nothing."""
        return []

    def outdated_roots(self, scope: Scope) -> list[Path]:
        """Return none: a search of a server indexes nothing."""
        return []

    def close(self) -> None:
        """Close the connection and every model and local index."""
        if "_store" in self.__dict__:
            self._store.close()
            del self.__dict__["_store"]
            self.__dict__.pop("_collection", None)
        super().close()

    def _refreshed(self, scope: Scope) -> list[Freshness]:
        return []

    @cached_property
    def _store(self) -> MilvusStore:
        from codesearch.backends.milvus.store import MilvusStore

        return MilvusStore(self._connection)

    @cached_property
    def _collection(self) -> Collection:
        from codesearch.backends.milvus.searcher import Collection

        return Collection(self._store)
