"""A folder -> its index brought up to date. Quick to import, because most runs find nothing to do."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from codesearch.build import workers
from codesearch.build.plan import Plan, can_merge, digest_of, plan_update
from codesearch.build.stamps import Comparison, compare, is_folder, read_stamps, walk_in_force, write_stamps
from codesearch.config import IndexConfig, IndexOptions, VectorConfig
from codesearch.engine.answer import Changes, Freshness, State
from codesearch.engine.reports import IndexReport
from codesearch.errors import ConfigError, IndexLockedError, IndexStoreError
from codesearch.files import make_folder
from codesearch.parsing.walker import OutOfTimeError
from codesearch.settings import user_file
from codesearch.store.catalogue import IndexEntry, index_folder, writer_lock
from codesearch.store.manifest import Manifest, commit_manifest, last_manifest, read_earlier
from codesearch.text.bundle import SHIPPED, read_bundle

if TYPE_CHECKING:
    from codesearch.build.build import ProgressCallback
    from codesearch.text.onnx import Encoder

_PATIENCE_S = 2.0
"""How long a build waits for another writer. A query that updates the index takes less."""
_QUERY_PATIENCE_S = 0.5
"""How long a query waits for another writer. A watcher that indexes a saved file takes less."""
_LEAST_WALK_S = 0.5
OpenEncoder = Callable[[Path], "Encoder"]
"""Folder of a bundle -> its encoder."""


def update_index(
    root: Path,
    home: Path,
    options: IndexOptions,
    *,
    model: Path | None,
    vectors: VectorConfig,
    open_encoder: OpenEncoder,
    rebuild: bool,
    optimize: bool,
    on_progress: ProgressCallback,
) -> IndexReport:
    """Bring the index of a folder up to date; arguments and errors are those of `Engine` and `Engine.index`."""
    started = time.monotonic()
    if not root.is_dir():
        kind = "not a folder" if root.exists() else "no such folder"
        raise ConfigError(f"{root}: {kind}", "give the folder to index")
    folder = index_folder(home, root)
    try:
        make_folder(folder)
    except OSError as error:
        raise IndexStoreError(f"{folder}: {error.strerror}", "give another --home") from None
    with writer_lock(folder, str(root), wait_s=_PATIENCE_S):
        last = last_manifest(folder)
        earlier = None if rebuild or last else read_earlier(folder)
        made_with = None if rebuild else last or earlier
        walk, chosen = walk_in_force(root, made_with, options)
        config = IndexConfig(walk=walk, vectors=vectors, options=chosen)
        bundle = model or (made_with.model_folder if made_with else SHIPPED)
        model_id = read_bundle(bundle).model_id
        seeded = None
        if not (made_with or rebuild):
            from codesearch.build.seed import seed_index

            last = seeded = seed_index(root, folder, home, digest_of(config, model_id))
        plan = plan_update(root, folder, config, model_id, last=last, rebuild=rebuild)
        if plan.nothing_to_do and plan.previous:
            report = IndexReport(
                root=root, manifest=_save_checked(plan), built=False, seconds=time.monotonic() - started
            )
        else:
            if plan.to_parse:
                workers.start_early()
            report = _build(plan, open_encoder(bundle), started, on_progress)
        committed = last_manifest(folder) if report.built else plan.previous
        if optimize and committed and can_merge(committed.segments):
            plan = plan_update(root, folder, config, model_id, last=committed)
            merged = _build(plan, open_encoder(bundle), started, on_progress, merge_all=True)
            report = merged if not report.built else replace(report, seconds=merged.seconds)
        return replace(report, was_earlier_format=earlier is not None, seeded=seeded is not None)


def _plan_again(entry: IndexEntry, vectors: VectorConfig, seen: Comparison, until: float = math.inf) -> Plan:
    """Plan what an update of an indexed folder with its last settings would do."""
    known = entry.committed
    root = Path(known.root)
    last = last_manifest(entry.folder)  # Another process may have committed since the entry was read.
    walk, chosen = walk_in_force(root, last or known, IndexOptions())
    config = IndexConfig(walk=walk, vectors=vectors, options=chosen)
    return plan_update(root, entry.folder, config, known.model["id"], last=last, seen=seen, until=until)


def refresh_index(
    entry: IndexEntry,
    vectors: VectorConfig,
    open_encoder: OpenEncoder,
    budget_s: float,
    seen: Comparison,
    on_progress: ProgressCallback,
) -> Freshness:
    """Bring an index up to date if that is estimated to take at most `budget_s` seconds.

    The walk that finds what changed also ends after that time, or after half a second if that is more.
    """
    manifest = entry.committed
    if not Path(manifest.root).is_dir():
        return Freshness(manifest.root, State.BEHIND, Changes(0, manifest.source_files))
    try:
        with writer_lock(entry.folder, manifest.root, wait_s=_QUERY_PATIENCE_S):
            until = time.monotonic() + max(budget_s, _LEAST_WALK_S)
            try:
                plan = _plan_again(entry, vectors, seen, until)
            except OutOfTimeError:
                return Freshness(manifest.root, State.BEHIND)
            changes = Changes(len(plan.to_parse), plan.removed)
            if plan.nothing_to_do:
                _save_checked(plan)
                return Freshness(manifest.root, State.CURRENT, changes)
            if plan.previous is None or plan.estimated_seconds > budget_s:
                return Freshness(manifest.root, State.BEHIND, changes)
            _build(plan, open_encoder(manifest.model_folder), time.monotonic(), on_progress)
            return Freshness(manifest.root, State.UPDATED, changes)
    except IndexLockedError:
        return Freshness(manifest.root, State.LOCKED)


def _save_checked(plan: Plan) -> Manifest:
    """Store counts and stamps of a plan with nothing to do, so the next check reads no files; return the manifest."""
    assert plan.previous is not None
    found = replace(plan.previous, walked=plan.walked, missing_grammars=plan.missing_grammars)
    if found != plan.previous:
        from codesearch.store.writer import writing

        with writing(plan.index_folder):
            commit_manifest(plan.index_folder, found)
    if plan.stamps_changed:
        write_stamps(plan.index_folder, plan.stamps, found.commit)
    return found


def count_changes(entry: IndexEntry, vectors: VectorConfig) -> Changes:
    """Count what an update of an index would do; if the folder is gone, count all files as removed."""
    manifest = entry.committed
    if not Path(manifest.root).is_dir():
        return Changes(0, manifest.source_files)
    seen = compare(entry.folder, manifest)
    if seen.is_current:
        return Changes(0, 0)
    plan = _plan_again(entry, vectors, seen)
    return Changes(len(plan.to_parse), plan.removed)


def _build(
    plan: Plan,
    encoder: Encoder,
    started: float,
    on_progress: ProgressCallback,
    *,
    merge_all: bool = False,
) -> IndexReport:
    from codesearch.build.build import build_index

    built = build_index(plan, encoder, on_progress, merge_all=merge_all)
    return IndexReport(
        root=plan.root,
        manifest=built.manifest,
        built=True,
        seconds=time.monotonic() - started,
        parsed=built.parsed,
        kept=built.kept,
        removed=built.removed,
        embedded=built.embedded,
        model=encoder.name,
        device=encoder.device,
    )


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
