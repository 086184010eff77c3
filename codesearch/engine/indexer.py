"""Make the indexes of one home, and keep indexes and models open: what an engine, its sessions and revisions share.

All threads share what is open until the files on disk change. The module is quick to import.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from codesearch.config import IndexOptions, RankConfig, VectorConfig
from codesearch.engine.answer import Freshness, State
from codesearch.engine.scope import Scope, too_large
from codesearch.errors import ConfigError, IndexCorruptError, IndexNotFoundError, index_command
from codesearch.files import Stamp, default_home, expanded, make_private, stamp_of
from codesearch.store.catalogue import IndexEntry, is_revision
from codesearch.store.manifest import MANIFEST, Manifest

if TYPE_CHECKING:
    from codesearch.build.build import ProgressCallback
    from codesearch.engine.reports import IndexReport
    from codesearch.search.searcher import Searchable
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
        held = self._indexes.get(folder)
        if held and (held.stamp != stamp or not _is_whole(held.reader)):
            self._replace(folder)
            held = None
        if not held:
            manifest = entry.manifest if entry.stamp == stamp else None
            held = _Held(stamp, IndexReader.open(folder, manifest))
        self._indexes.pop(folder, None)
        self._indexes[folder] = held
        return held

    def _replace(self, folder: Path) -> None:
        held = self._indexes.pop(folder)
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


def _is_whole(reader: IndexReader) -> bool:
    """Say whether the files of an open index still exist; a writer may just have replaced them."""
    try:
        reader.check()
    except IndexCorruptError:
        return False
    return True


class SearchBackend(Protocol):
    """A server that has the documents of an engine."""

    def open(self, scope: Scope) -> Searchable:
        """Return the documents of a scope."""
        ...

    def close(self) -> None:
        """Close what is open; the next call opens it again."""
        ...


class Indexer:
    """Indexes folders. The methods of `Engine` that answer questions are in a class of their own."""

    def __init__(
        self,
        home: Path | str | None = None,
        *,
        model: Path | str | None = None,
        device: str = "auto",
        ranking: RankConfig | None = None,
        vectors: VectorConfig | None = None,
        pool: Pool | None = None,
        backend: SearchBackend | None = None,
    ) -> None:
        """Set home, model and settings; this opens nothing yet.

        Args:
            home: folder of all indexes; `$CODESEARCH_HOME` or the user's data folder when None.
            model: folder of a model bundle; when None, the model of each index, and for new indexes the shipped one.
            device: where the model runs: "auto", "cpu" or "cuda".
            ranking: weights of the ranking.
            vectors: when an HNSW graph is built.
            pool: open indexes and models, to share them between engines.
            backend: where the documents are, if they are not in the home.
        """
        self.device = device
        self.model = expanded(model) if model else None
        self.ranking, self.vectors = ranking or RankConfig(), vectors or VectorConfig()
        self.pool, self.backend = pool or Pool(), backend
        # A service changes its working directory, so a relative home would be another one then.
        self._home = expanded(home or default_home()).absolute()
        make_private(str(self._home))

    @property
    def home(self) -> Path:
        """The folder of all indexes."""
        if self.backend:
            raise ConfigError("this needs the indexes of this machine", "leave --backend out")
        return self._home

    @property
    def is_local(self) -> bool:
        """Say whether the documents are in the indexes of this machine."""
        return self.backend is None

    def index(
        self,
        root: Path | str,
        options: IndexOptions | None = None,
        *,
        rebuild: bool = False,
        optimize: bool = False,
        on_progress: ProgressCallback = lambda _: None,
    ) -> IndexReport:
        """Index a folder, or bring its index up to date: only new and changed files are parsed.

        Args:
            root: the folder.
            options: walk settings to change; the others stay as in the last run.
            rebuild: forget the last index and its settings.
            optimize: merge all segments into one; from 500,000 documents on it gets an HNSW graph.
            on_progress: called with the progress of a build.

        Raises:
            ConfigError: `root` is not a folder.
        """
        from codesearch.engine.update import update_index

        return update_index(
            expanded(root),
            self.home,
            options or IndexOptions(),
            model=self.model,
            vectors=self.vectors,
            open_encoder=self.open_encoder,
            rebuild=rebuild,
            optimize=optimize,
            on_progress=on_progress,
        )

    def index_project(
        self, project: Path | str, *, on_progress: ProgressCallback = lambda _: None
    ) -> IndexReport:
        """Index a project that the user did not name, if it is not too large; the errors are those of `index`.

        Raises:
            IndexNotFoundError: it is too large.
        """
        if reason := too_large(Path(project)):
            raise IndexNotFoundError(
                f"not indexed and {reason}", f"run {index_command(project)}", about=project
            )
        return self.index(project, on_progress=on_progress)

    def encoder(self, bundle: Path | None = None) -> OnnxEncoder:
        """Return the encoder of this engine's model, else of `bundle`, else of the shipped model.

        Raises:
            ModelBundleError: the bundle is damaged.
            ConfigError: CUDA was asked for and is not there.
        """
        from codesearch.text.bundle import SHIPPED

        return self.open_encoder(self.model or bundle or SHIPPED)

    def open_encoder(self, bundle: Path) -> OnnxEncoder:
        """Return the encoder of a bundle."""
        return self.pool.encoder(bundle, self.device)


def refresh(indexer: Indexer, entry: IndexEntry, budget_s: float, on_progress: ProgressCallback) -> Freshness:
    """Bring an index up to date if that is estimated to take at most `budget_s` seconds."""
    from codesearch.build.stamps import compare

    manifest = entry.committed
    if not manifest.has_sources:
        return Freshness(manifest.root, State.WITH_CODE if manifest.has_code else State.WITHOUT_CODE)
    if (
        indexer.pool.is_unchanged(manifest)
        or is_revision(indexer.home, manifest.root)
        or (seen := compare(entry.folder, manifest)).is_current
    ):
        return Freshness(manifest.root, State.CURRENT)
    from codesearch.build.workers import start_early

    start_early()
    from codesearch.engine.update import refresh_index

    return refresh_index(entry, indexer.vectors, indexer.open_encoder, budget_s, seen, on_progress)
