"""Make the indexes of one home and keep them up to date: what an engine, its sessions and revisions share.

Every update has the same steps: `prepare` reads the manifest and compares the folder with it, and `run` parses, writes
and publishes. Between them, `index` always goes on, and `refresh_entry` only if that is quick. The module is quick to
import, because most calls find nothing to do.
"""

from __future__ import annotations

import math
import time
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from codesearch.build.stamps import compare, write_stamps
from codesearch.config import IndexOptions, RankConfig, VectorConfig
from codesearch.engine.answer import Changes, Freshness, State
from codesearch.engine.pool import Pool
from codesearch.engine.scope import Scope, too_large
from codesearch.errors import (
    ConfigError,
    IndexLockedError,
    IndexNotFoundError,
    index_command,
)
from codesearch.files import default_home, expanded, make_private
from codesearch.store.catalogue import (
    IndexEntry,
    building_in,
    index_folder,
    is_revision,
    recorded,
    writer_lock,
)
from codesearch.store.manifest import commit_manifest, last_manifest

if TYPE_CHECKING:
    from codesearch.build.build import Progress, ProgressCallback
    from codesearch.build.plan import BuildSummary, Plan
    from codesearch.engine.answer import IndexSummary
    from codesearch.search.searcher import Searched
    from codesearch.text.onnx import OnnxEncoder

REFRESH_S = 0.5
"""A query first updates an index if the update is estimated to take less than this."""
PROGRESS_S = 0.2
"""Progress is sent at most once in this time."""
_PATIENCE_S = 20.0
"""How long `index` waits for other writers, such as four that were started with it."""
_SHORT_PATIENCE_S = 2.0
"""The same for a question that indexes its project, and if the other writer makes a first index, which takes long."""
_QUERY_PATIENCE_S = 0.5
"""How long a query waits for another writer. A watcher that indexes a saved file takes less."""
_LEAST_WALK_S = 0.5


class SearchBackend(Protocol):
    """A server that has the documents of an engine."""

    def open(self, scope: Scope) -> Searched:
        """Return the documents of a scope."""
        ...

    def close(self) -> None:
        """Close what is open; the next call opens it again."""
        ...


class Indexer:
    """Indexes folders; `Engine` adds what answers questions and manages the indexes."""

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
        self.home = expanded(home or default_home()).absolute()
        make_private(str(self.home))

    def local_home(self) -> Path:
        """Return the folder of all indexes; an error if the documents are on a server."""
        if self.backend:
            raise ConfigError("this needs the indexes of this machine", "leave --backend out")
        return self.home

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
        wait_s: float = _PATIENCE_S,
    ) -> IndexSummary:
        """Index a folder, or bring its index up to date: only new and changed files are parsed.

        Args:
            root: the folder.
            options: walk settings to change; the others stay as in the last run.
            rebuild: forget the last index and its settings.
            optimize: merge all segments into one; from 500,000 documents on it gets an HNSW graph.
            on_progress: called with the progress of a build.
            wait_s: how long to wait for other writers, at most two seconds for one that makes a first index.

        Raises:
            ConfigError: `root` is not a folder.
        """
        from codesearch.build.plan import can_merge, prepare
        from codesearch.engine.answer import IndexSummary

        started, root = time.monotonic(), expanded(root)
        options = options or IndexOptions()
        if not root.is_dir():
            kind = "not a folder" if root.exists() else "no such folder"
            raise ConfigError(f"{root}: {kind}", "give the folder to index")
        folder = index_folder(self.local_home(), root)
        planned = partial(prepare, root, options, self.local_home(), self.vectors, rebuild=rebuild)
        wait_s = min(wait_s, _SHORT_PATIENCE_S) if building_in(folder) else wait_s
        with writer_lock(folder, str(root), wait_s=wait_s, makes=True), ExitStack() as opened:
            last, tell = last_manifest(folder), on_progress
            if last is None or not last.complete:
                record = opened.enter_context(recorded(folder, root))

                def tell(progress: Progress) -> None:
                    record(progress.done_bytes, progress.total_bytes)
                    on_progress(progress)

            plan = opened.enter_context(closing(planned(model=self.model)))
            is_merged = not (optimize and plan.previous and can_merge(plan.previous.segments))
            is_current = plan.nothing_to_do and is_merged
            done = _save_checked(plan) if is_current else self._run(plan, tell, merge_all=optimize)
        return IndexSummary(
            root=root,
            built=not is_current,
            seconds=time.monotonic() - started,
            was_earlier_format=plan.was_earlier_format,
            seeded=plan.seeded,
            **done._asdict(),
        )

    def index_project(
        self, project: Path | str, *, on_progress: ProgressCallback = lambda _: None
    ) -> IndexSummary:
        """Index a project that the user did not name, if it is not too large; the errors are those of `index`.

        Raises:
            IndexNotFoundError: it is too large.
        """
        if reason := too_large(Path(project)):
            raise IndexNotFoundError(
                f"not indexed and {reason}", f"run {index_command(project)}", about=project
            )
        return self.index(project, on_progress=on_progress, wait_s=_SHORT_PATIENCE_S)

    def refresh_entry(
        self,
        entry: IndexEntry,
        budget_s: float | None,
        on_progress: ProgressCallback = lambda _: None,
        *,
        opens: bool = False,
    ) -> Freshness:
        """Bring an index up to date if that is estimated to take at most `budget_s` seconds.

        The walk that finds what changed also ends after that time, or after half a second if that is more. Without a
        budget, only say what an update would do. With `opens`, open what was written, for a query that follows.
        """
        manifest = entry.committed()
        root = manifest.root
        if not manifest.has_sources:
            return Freshness(root, State.WITH_CODE if manifest.has_code else State.WITHOUT_CODE)
        if (
            self.pool.is_unchanged(manifest)
            or is_revision(self.local_home(), root)
            or (seen := compare(entry.folder, manifest)).is_current
        ):
            return Freshness(root, State.CURRENT)
        if not Path(root).is_dir():
            return Freshness(root, State.BEHIND, Changes(0, manifest.source_files))
        if budget_s is not None:
            from codesearch.build.workers import start_early

            start_early()
        from codesearch.build.plan import prepare
        from codesearch.parsing.walker import OutOfTimeError

        planned = partial(prepare, Path(root), IndexOptions(), self.local_home(), self.vectors, seen=seen)
        limit_s = math.inf if budget_s is None else max(budget_s, _LEAST_WALK_S)
        try:
            with ExitStack() as opened:
                if budget_s is not None:
                    opened.enter_context(writer_lock(entry.folder, root, wait_s=_QUERY_PATIENCE_S))
                plan = opened.enter_context(closing(planned(until=time.monotonic() + limit_s)))
                return self._refreshed(plan, budget_s, on_progress, opens=opens)
        except OutOfTimeError:
            return Freshness(root, State.BEHIND)
        except IndexLockedError:
            return Freshness(root, State.LOCKED)

    def _refreshed(
        self, plan: Plan, budget_s: float | None, on_progress: ProgressCallback, *, opens: bool
    ) -> Freshness:
        changes = Changes(len(plan.to_parse), plan.removed)
        if budget_s is None:
            state = State.BEHIND if plan.to_parse or plan.removed else State.CURRENT
        elif plan.nothing_to_do:
            _save_checked(plan)
            state = State.CURRENT
        elif plan.previous is None or plan.estimated_seconds > budget_s:
            state = State.BEHIND
        else:
            manifest = self._run(plan, on_progress).manifest
            self.pool.follow(plan.index_folder, manifest, plan.stores.opened, opens=opens)
            state = State.UPDATED
        return Freshness(str(plan.root), state, changes)

    def _run(self, plan: Plan, on_progress: ProgressCallback, *, merge_all: bool = False) -> BuildSummary:
        if plan.to_parse:
            from codesearch.build.workers import start_early

            start_early()
        encoder = self.pool.encoder(plan.model, self.device)
        from codesearch.build.build import run

        return run(plan, encoder, on_progress, merge_all=merge_all)

    def encoder(self, bundle: Path | None = None) -> OnnxEncoder:
        """Return the encoder of this engine's model, else of `bundle`, else of the shipped model.

        Raises:
            ModelBundleError: the bundle is damaged.
            ConfigError: CUDA was asked for and is not there.
        """
        from codesearch.text.bundle import SHIPPED

        return self.pool.encoder(self.model or bundle or SHIPPED, self.device)


def _save_checked(plan: Plan) -> BuildSummary:
    """Store counts and stamps of a plan with nothing to do, so the next check reads no files."""
    from codesearch.build.plan import BuildSummary

    assert plan.previous
    manifest = replace(plan.previous, walked=plan.walked, missing_grammars=plan.missing_grammars)
    if manifest != plan.previous:
        from codesearch.store.segments import writing

        with writing(plan.index_folder):
            commit_manifest(plan.index_folder, manifest)
    if plan.stamps_changed:
        write_stamps(plan.index_folder, plan.stamps, manifest.commit)
    return BuildSummary(manifest)


class Pace:
    """Says when something is due again, such as to compare indexes while someone types a query."""

    def __init__(self, every_s: float) -> None:
        self._every_s, self._next = every_s, -math.inf

    def is_due(self, now: float | None = None) -> bool:
        """Say whether the last time that this was true is long enough ago.

        >>> pace = Pace(every_s=2)
        >>> [pace.is_due(now) for now in (0, 1, 1.9, 2, 3, 5)]
        [True, False, False, True, False, True]
        """
        now = time.monotonic() if now is None else now
        if now < self._next:
            return False
        self._next = now + self._every_s
        return True

    def budget_s(self) -> float | None:
        """Return the budget of a search to compare indexes; None if that is not due."""
        return REFRESH_S if self.is_due() else None

    def forget(self) -> None:
        """Make it due."""
        self._next = -math.inf
