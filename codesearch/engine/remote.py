"""The backend of documents in Milvus. Local indexes are where its workers prepare what they write."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from codesearch.config import IndexOptions
from codesearch.engine.scope import Scope
from codesearch.engine.session import AS_INDEXED
from codesearch.errors import ConfigError
from codesearch.files import expanded

if TYPE_CHECKING:
    from codesearch.build.build import ProgressCallback
    from codesearch.engine.engine import Engine
    from codesearch.milvus.collection import SearchedCollection
    from codesearch.milvus.push import PushSummary, RootStatus
    from codesearch.milvus.store import Connection


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
    """
    number, _, count = text.partition("/")
    if number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count):
        return int(number), int(count)
    raise ConfigError(f"--shard {text!r}", "give I/N, such as 1/8 for the first of eight workers")


class MilvusBackend:
    """The documents in the collections of a Milvus server. Safe to use from several threads."""

    def __init__(self, connection: Connection) -> None:
        """Set the server; this connects to nothing yet."""
        from codesearch.milvus.store import MilvusStore

        self.store = MilvusStore(connection)

    def push(
        self,
        engine: Engine,
        roots: Sequence[Path | str],
        shard: str = "1/1",
        options: IndexOptions | None = None,
        *,
        rebuild: bool = False,
        on_progress: ProgressCallback = lambda _: None,
    ) -> list[PushSummary]:
        """Index the roots of a shard and make the collections hold exactly these documents for the shard."""
        from codesearch.milvus.push import push

        parse_shard(shard)
        encoder = engine.encoder()
        self.store.prepare({"id": encoder.model_id, "name": encoder.name, "dim": encoder.dim})
        for root in roots:
            engine.index(root, options, rebuild=rebuild, on_progress=on_progress)
        if not roots:
            return push(self.store, [], shard)
        with engine.session(Scope(tuple(roots)), AS_INDEXED).indexes(strict=True) as indexes:
            return push(self.store, indexes, shard)

    def root_statuses(self) -> list[RootStatus]:
        """Return all roots in the collections."""
        from codesearch.milvus.push import root_statuses

        return root_statuses(self.store)

    def open(self, scope: Scope) -> SearchedCollection:
        """Return the collections; only the roots of the scope limit them."""
        from codesearch.milvus.collection import SearchedCollection

        self.store.check()
        roots = [str(expanded(root).resolve()) for root in scope.roots or scope.all_folders()]
        return SearchedCollection(self.store, roots)

    def close(self) -> None:
        """Close the connection; the next call opens it again."""
        self.store.close()
