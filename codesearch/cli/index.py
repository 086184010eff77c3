"""`codesearch index`: bring the index of each folder up to date."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from codesearch.cli.options import DeviceOption, HomeOption, ModelOption, positive, resolve_home
from codesearch.config import IndexConfig, WalkConfig
from codesearch.errors import ConfigError, IndexStoreError
from codesearch.index.manifest import Manifest, read_manifest

if TYPE_CHECKING:
    from codesearch.encoding.bundle import Bundle
    from codesearch.index.build import BuildReport
    from codesearch.index.plan import Plan

_SHOWN_WARNINGS = 10
_DEFAULTS = WalkConfig()


def index(
    folders: Annotated[list[Path], typer.Argument(help="Folders to index.", show_default=False)],
    exclude: Annotated[
        list[str] | None, typer.Option("--exclude", help="Leave out what this .gitignore pattern matches.")
    ] = None,
    hidden: Annotated[
        bool | None, typer.Option("--hidden/--no-hidden", help="Enter names that begin with a dot.")
    ] = None,
    ignore: Annotated[
        bool | None,
        typer.Option("--ignore/--no-ignore", help="Honour .gitignore and .codesearchignore [default: yes]."),
    ] = None,
    follow: Annotated[
        bool | None, typer.Option("--follow/--no-follow", help="Follow symbolic links.")
    ] = None,
    max_file_mb: Annotated[
        int | None,
        typer.Option(
            "--max-file-mb",
            help=f"Leave out larger files [default: {_DEFAULTS.max_file_bytes // 1_000_000}].",
        ),
    ] = None,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Start from nothing, with only the options given now.")
    ] = False,
    model: ModelOption = None,
    device: DeviceOption = "auto",
    home: HomeOption = None,
) -> int:
    """Index folders, or bring their indexes up to date.

    Only new and changed files are parsed. Options that are not given repeat those of the last time.
    """
    given: dict[str, Any] = {
        "exclude": tuple(exclude) if exclude else None,
        "hidden": hidden,
        "ignore_files": ignore,
        "follow_links": follow,
        "max_file_bytes": positive("--max-file-mb", max_file_mb) * 1_000_000
        if max_file_mb is not None
        else None,
    }
    for folder in folders:
        root, at = folder.expanduser(), resolve_home(home)
        update_index(root, at, given, model=model, device=device, rebuild=rebuild)
    return 0


def update_index(
    root: Path,
    home: Path,
    given: dict[str, Any] | None = None,
    *,
    model: Path | None = None,
    device: str = "auto",
    rebuild: bool = False,
) -> None:
    """Bring one folder's index up to date and say what was done.

    Args:
        root: the folder.
        home: where indexes live.
        given: fields of `WalkConfig` to set; those that are None stay as they were.
        model: bundle to embed with; the last one when None.
        device: where it runs.
        rebuild: forget the last index and its options.
    """
    from codesearch.encoding.bundle import SHIPPED, load_bundle
    from codesearch.index.catalogue import index_folder
    from codesearch.index.commit import writer_lock
    from codesearch.index.plan import plan_update

    started = time.monotonic()
    folder = index_folder(home, root)
    last = None if rebuild else _last_manifest(folder)
    config = IndexConfig(walk=_walk_config(given or {}, last))
    _check_root(root)
    bundle = load_bundle(model or (last.model_folder if last else SHIPPED))
    _make_folder(folder)
    with writer_lock(folder, str(root)):
        plan = plan_update(root, folder, config, bundle.model_id, rebuild=rebuild)
        if plan.nothing_to_do and plan.previous:
            _say_current(root, plan.previous, time.monotonic() - started)
            return
        report, used = _build(plan, home, bundle, device)
    _say_built(root, report, used, time.monotonic() - started)
    _say_missing(plan.report.missing_grammars)


def _last_manifest(folder: Path) -> Manifest | None:
    try:
        return read_manifest(folder)
    except IndexStoreError:
        return None


def _walk_config(given: dict[str, Any], last: Manifest | None) -> WalkConfig:
    before = last.walk_config() if last else _DEFAULTS
    return replace(before, **{name: value for name, value in given.items() if value is not None})


def _check_root(root: Path) -> None:
    if not root.is_dir():
        kind = "not a folder" if root.exists() else "no such folder"
        raise ConfigError(f"{root}: {kind}: give the folder to index")


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise IndexStoreError(f"{folder}: {error.strerror}: give another --home") from None


def _build(plan: Plan, home: Path, bundle: Bundle, device: str) -> tuple[BuildReport, str]:
    from codesearch.cli.progress import build_progress
    from codesearch.encoding.encoder import OnnxEncoder
    from codesearch.index.build import build_generation

    encoder = OnnxEncoder(bundle, device)
    with build_progress(plan.root.name) as on_progress:
        report = build_generation(plan, home, encoder, on_progress)
    return report, f"{encoder.name} on {encoder.device}"


def _say_missing(missing: dict[str, int]) -> None:
    if missing:
        files = ", ".join(f"{count:,} {language}" for language, count in sorted(missing.items()))
        cure = "`pip install 'codesearch-local[langs]'`"
        print(f"warning: left out for want of a grammar: {files} files; {cure} reads them", file=sys.stderr)


def _say_current(root: Path, manifest: Manifest, seconds: float) -> None:
    print(f"{root}: nothing to do, {manifest.documents:,} documents are up to date ({seconds:.2f} s)")


def _say_built(root: Path, report: BuildReport, model: str, seconds: float) -> None:
    manifest = report.manifest
    print(f"{root}: {manifest.documents:,} documents from {manifest.source_files:,} files in {seconds:.1f} s")
    counts = ", ".join(f"{language} {count:,}" for language, count in manifest.languages.items())
    if counts:
        print(f"  languages  {counts}")
    print(f"  files      {report.parsed:,} parsed, {report.kept:,} unchanged, {report.removed:,} removed")
    if manifest.skipped:
        skipped = ", ".join(f"{count:,} {reason}" for reason, count in manifest.skipped.items())
        print(f"  skipped    {skipped}")
    print(f"  encoder    {model}: {report.embedded:,} texts embedded, {report.cached:,} from the cache")
    if not manifest.documents:
        print(f"warning: {root}: no functions or classes found in any supported language", file=sys.stderr)
    for line in manifest.warnings[:_SHOWN_WARNINGS]:
        print(f"warning: {line}", file=sys.stderr)
    if (more := len(manifest.warnings) - _SHOWN_WARNINGS) > 0:
        print(f"warning: {more} more, see `codesearch status --warnings`", file=sys.stderr)
