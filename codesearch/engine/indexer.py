"""Make the indexes of one home: what an engine, its sessions and revisions share. The module is quick to import."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from codesearch.config import IndexOptions, RankConfig, VectorConfig
from codesearch.engine.answer import Freshness, State
from codesearch.engine.pool import Pool
from codesearch.engine.scope import Scope, too_large
from codesearch.errors import ConfigError, IndexNotFoundError, index_command
from codesearch.files import default_home, expanded, make_private
from codesearch.store.catalogue import IndexEntry, is_revision

if TYPE_CHECKING:
    from codesearch.build.build import ProgressCallback
    from codesearch.engine.reports import IndexReport
    from codesearch.search.searcher import Searched
    from codesearch.text.onnx import OnnxEncoder


class SearchBackend(Protocol):
    """A server that has the documents of an engine."""

    def open(self, scope: Scope) -> Searched:
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
        self.check_local()
        return self._home

    def check_local(self) -> None:
        """Raise ConfigError if the documents are on a server."""
        if self.backend:
            raise ConfigError("this needs the indexes of this machine", "leave --backend out")

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
        from codesearch.engine.update import index

        chosen = options or IndexOptions()
        return index(self, expanded(root), chosen, on_progress, rebuild=rebuild, optimize=optimize)

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
        from codesearch.engine.update import SHORT_PATIENCE_S, index

        return index(self, Path(project), IndexOptions(), on_progress, wait_s=SHORT_PATIENCE_S)

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


def refresh(
    indexer: Indexer,
    entry: IndexEntry,
    budget_s: float | None,
    on_progress: ProgressCallback = lambda _: None,
    *,
    opens: bool = False,
) -> Freshness:
    """Bring an index up to date if that is estimated to take at most `budget_s` seconds.

    Without a budget, only say what an update would do. With `opens`, open what was written, for a query that follows.
    """
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
    if budget_s is not None:
        from codesearch.build.workers import start_early

        start_early()
    from codesearch.engine import update

    return update.refresh(indexer, seen, budget_s, on_progress, opens=opens)
