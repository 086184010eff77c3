"""A folder -> its index brought up to date. Quick to import, because most runs find nothing to do.

Every update has the same steps: `prepare` reads the manifest and compares the folder with it, and `run` parses, writes
and publishes. Between them, `index` always goes on, and `refresh` only if that is quick.
"""

from __future__ import annotations

import math
import os
import time
from contextlib import ExitStack, closing, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from codesearch.build import workers
from codesearch.build.plan import BuildReport, Plan, can_merge, prepare
from codesearch.build.stamps import Comparison, is_folder, read_stamps, write_stamps
from codesearch.config import IndexOptions, VectorConfig
from codesearch.engine.answer import Changes, Freshness, State
from codesearch.engine.reports import IndexReport
from codesearch.errors import ConfigError, IndexLockedError, IndexStoreError
from codesearch.files import make_folder
from codesearch.parsing.walker import OutOfTimeError
from codesearch.settings import user_file
from codesearch.store.building import building_in, recorded
from codesearch.store.catalogue import IndexEntry, index_folder, writer_lock
from codesearch.store.manifest import commit_manifest, last_manifest

if TYPE_CHECKING:
    from codesearch.build.build import Progress, ProgressCallback
    from codesearch.engine.pool import Pool
    from codesearch.text.onnx import OnnxEncoder

_PATIENCE_S = 20.0
"""How long `index` waits for other writers, such as four that were started with it."""
SHORT_PATIENCE_S = 2.0
"""The same for a question that indexes its project, and if the other writer makes a first index, which takes long."""
_QUERY_PATIENCE_S = 0.5
"""How long a query waits for another writer. A watcher that indexes a saved file takes less."""
_LEAST_WALK_S = 0.5


class Indexer(Protocol):
    """What an update needs from an engine."""

    model: Path | None
    vectors: VectorConfig
    pool: Pool

    @property
    def home(self) -> Path: ...  # noqa: D102 - the class that implements it describes it.
    def open_encoder(self, bundle: Path) -> OnnxEncoder: ...  # noqa: D102


def index(
    indexer: Indexer,
    root: Path,
    options: IndexOptions,
    on_progress: ProgressCallback,
    *,
    rebuild: bool = False,
    optimize: bool = False,
    wait_s: float = _PATIENCE_S,
) -> IndexReport:
    """Bring the index of a folder up to date, or make one; arguments and errors are those of `Indexer.index`."""
    started = time.monotonic()
    if not root.is_dir():
        kind = "not a folder" if root.exists() else "no such folder"
        raise ConfigError(f"{root}: {kind}", "give the folder to index")
    folder = index_folder(indexer.home, root)
    try:
        make_folder(folder)
    except OSError as error:
        raise IndexStoreError(f"{folder}: {error.strerror}", "give another --home") from None
    planned = partial(prepare, root, options, indexer.home, indexer.vectors, rebuild=rebuild)
    wait_s = min(wait_s, SHORT_PATIENCE_S) if building_in(folder) else wait_s
    with writer_lock(folder, str(root), wait_s=wait_s), ExitStack() as opened:
        last, tell = last_manifest(folder), on_progress
        if last is None or not last.complete:
            record = opened.enter_context(recorded(folder, root))

            def tell(progress: Progress) -> None:
                record(progress.done_bytes, progress.total_bytes)
                on_progress(progress)

        plan = opened.enter_context(closing(planned(model=indexer.model)))
        is_merged = not (optimize and plan.previous and can_merge(plan.previous.segments))
        is_current = plan.nothing_to_do and is_merged
        done = _save_checked(plan) if is_current else _run(indexer, plan, tell, merge_all=optimize)
    return IndexReport(
        root=root,
        built=not is_current,
        seconds=time.monotonic() - started,
        was_earlier_format=plan.was_earlier_format,
        seeded=plan.seeded,
        **done._asdict(),
    )


def refresh(
    indexer: Indexer, seen: Comparison, budget_s: float | None, on_progress: ProgressCallback, *, opens: bool
) -> Freshness:
    """Bring an index that differs from its folder up to date if that is estimated to take at most `budget_s` seconds.

    The walk that finds what changed also ends after that time, or after half a second if that is more. Without a
    budget, this only says what an update would do. With `opens`, the pool of the indexer opens what was written.
    """
    root = seen.manifest.root
    if not Path(root).is_dir():
        return Freshness(root, State.BEHIND, Changes(0, seen.manifest.source_files))
    planned = partial(prepare, Path(root), IndexOptions(), indexer.home, indexer.vectors, seen=seen)
    limit_s = math.inf if budget_s is None else max(budget_s, _LEAST_WALK_S)
    lock = (
        nullcontext() if budget_s is None else writer_lock(seen.index_folder, root, wait_s=_QUERY_PATIENCE_S)
    )
    try:
        with lock, closing(planned(until=time.monotonic() + limit_s)) as plan:
            return _refreshed(indexer, plan, budget_s, on_progress, opens=opens)
    except OutOfTimeError:
        return Freshness(root, State.BEHIND)
    except IndexLockedError:
        return Freshness(root, State.LOCKED)


def _refreshed(
    indexer: Indexer, plan: Plan, budget_s: float | None, on_progress: ProgressCallback, *, opens: bool
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
        manifest = _run(indexer, plan, on_progress).manifest
        indexer.pool.follow(plan.index_folder, manifest, plan.stores.opened, opens=opens)
        state = State.UPDATED
    return Freshness(str(plan.root), state, changes)


def _run(
    indexer: Indexer, plan: Plan, on_progress: ProgressCallback, *, merge_all: bool = False
) -> BuildReport:
    if plan.to_parse:
        workers.start_early()
    encoder = indexer.open_encoder(plan.model)
    from codesearch.build.build import run

    return run(plan, encoder, on_progress, merge_all=merge_all)


def _save_checked(plan: Plan) -> BuildReport:
    """Store counts and stamps of a plan with nothing to do, so the next check reads no files."""
    assert plan.previous
    manifest = replace(plan.previous, walked=plan.walked, missing_grammars=plan.missing_grammars)
    if manifest != plan.previous:
        from codesearch.store.writer import writing

        with writing(plan.index_folder):
            commit_manifest(plan.index_folder, manifest)
    if plan.stamps_changed:
        write_stamps(plan.index_folder, plan.stamps, manifest.commit)
    return BuildReport(manifest)


@dataclass(frozen=True, slots=True)
class Dependencies:
    """What the last walk of an indexed folder read; two are equal if they have the same folders and files.

    All paths are absolute. Of those `above` the root only the names matter: the folders on the way to it, and `.git`.
    """

    version: tuple[int, str] = field(compare=False)  # Identifies the commit of the index.
    documents: int = field(compare=False)
    content: str  # The kinds of files that are indexed, of `codesearch.config.CONTENT`.
    folders: frozenset[str]  # The folders that the walk entered.
    files: frozenset[str]  # Files with rules and settings in other folders; some may not exist.
    above: frozenset[str]


def dependencies(entry: IndexEntry, home: Path) -> Dependencies | None:
    """Return what an index depends on; None if the stamps of its last commit are not there."""
    manifest = entry.committed
    watched = read_stamps(entry.folder, manifest.commit).watched
    if not watched:
        return None
    below, own = os.path.join(manifest.root, ""), os.path.join(home.resolve(), "")
    entered = (below + path for path in watched if is_folder(path))
    folders = frozenset(path for path in entered if not path.startswith(own))  # Each update writes there.
    files = {path if os.path.isabs(path) else below + path for path in watched if not is_folder(path)}
    files.add(str(user_file(os.environ, Path.home())))
    files |= set(map(os.path.realpath, files))  # A link to rules elsewhere.
    outside = frozenset(file for file in files if os.path.join(os.path.dirname(file), "") not in folders)
    way = (Path(manifest.root), *Path(manifest.root).parents)
    above = frozenset(str(path) for folder in way[1:] for path in (folder, folder / ".git")) | {str(way[0])}
    return Dependencies(
        version=(manifest.commit, manifest.created),
        documents=manifest.documents,
        content=manifest.walk_config().content,
        folders=folders,
        files=outside,
        above=above,
    )
