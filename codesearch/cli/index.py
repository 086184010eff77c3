"""`codesearch index`, `watch`, `export` and `import`: indexes are made, kept up to date and exchanged."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from codesearch.cli.invocation import Invocation, Output
from codesearch.cli.notes import (
    build_notes,
    build_progress,
    counts,
    not_indexed_lines,
    size_of,
    stage_progress,
)
from codesearch.cli.options import Home, Revision, argument
from codesearch.cli.output import exit_while_waiting
from codesearch.config import IndexOptions
from codesearch.errors import ConfigError, index_command
from codesearch.options import Opt
from codesearch.settings import Model, ModelSettings, ServerSettings, WalkSettings
from codesearch.structure.text import counted
from codesearch.visible import visible

if TYPE_CHECKING:
    from codesearch.engine.engine import Engine
    from codesearch.engine.reports import ExportReport, IndexReport
    from codesearch.watch.watcher import Report

_SHOWN_WARNINGS = 10


class IndexRunOptions(WalkSettings, ModelSettings, ServerSettings):
    """Options of `index`."""

    at: Revision = ""
    rebuild: Annotated[bool, Opt("Make a new index, with only the options given now.")] = False
    optimize: Annotated[bool, Opt("Merge all segments into one: faster queries over a large index.")] = False
    shard: Annotated[
        str, Opt("I/N: the argument is a file that lists folders; index part I of N of them.")
    ] = ""
    home: Home = None


def index(
    invocation: Invocation,
    folders: Annotated[list[Path] | None, argument("Folders to index; default: the current one.")] = None,
    *,
    options: IndexRunOptions,
) -> Iterator[Output]:
    """Index folders, or update their indexes.

    Only new and changed files are parsed. Options that are not given keep the values of the last run.
    """
    given = IndexOptions.of(vars(options))
    rebuild, shard, optimize = options.rebuild, options.shard, options.optimize
    roots = _of_shard(shard, folders, invocation) if shard else folders or [Path()]
    if not roots:
        yield Output(err=f"note: no folder of the list belongs to shard {shard}\n")
    engine = invocation.engine(options.home, model=options.model, device=options.device)
    if backend := invocation.milvus(options):
        shard, paths = shard or "1/1", list(map(invocation.path, roots))
        with build_progress(f"shard {shard}") as on_progress:
            pushed = backend.push(engine, paths, shard, given, rebuild=rebuild, on_progress=on_progress)
        for one in pushed:
            done = f"{one.written:,} written, {one.deleted:,} deleted in {one.seconds:.1f} s"
            documents = counted(one.documents, "document")
            yield Output(f"{visible(str(one.root))}: {documents} on the server, {done}\n")
        return
    for folder in roots:
        if options.at:
            from codesearch.engine.scope import Scope

            scope = Scope((invocation.path(folder),), at=options.at)
            known = f"{folder}: {options.at} is indexed already"
            indexed = list(invocation.session(engine, scope))
            yield from indexed or [Output(f"{visible(known)}\n")]
            continue
        with build_progress(folder.name) as on_progress:
            report = engine.index(
                invocation.path(folder), given, rebuild=rebuild, optimize=optimize, on_progress=on_progress
            )
        yield _built(visible(str(folder)), report, merged=optimize)


def _of_shard(shard: str, folders: list[Path] | None, invocation: Invocation) -> list[Path]:
    """Return the folders of one shard of a list."""
    from codesearch.engine.remote import parse_shard, shard_of

    number, count = parse_shard(shard)
    if not folders or len(folders) != 1:
        raise ConfigError("--shard: give one argument, a file that lists the folders to index")
    try:
        lines = invocation.path(folders[0]).read_text("utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise ConfigError(f"{folders[0]}: {error}", "give a file that lists the folders to index") from None
    named = [Path(line.strip()) for line in lines if line.strip() and not line.startswith("#")]
    roots = {str(invocation.path(root).resolve()): root for root in named}
    return [root for path, root in roots.items() if shard_of(path, count) == number]


def _built(name: str, report: IndexReport, *, merged: bool) -> Output:
    """Say what a run did to the index of a folder, which is named as it was typed."""
    documents = counted(report.documents, "document")
    if not report.built or (not report.parsed and not report.removed and report.kept):
        done = "nothing to do" if not report.built else "merged" if merged else "nothing to parse"
        are = "is" if report.documents == 1 else "are"
        return Output(f"{name}: {done}, {documents} {are} up to date ({report.seconds:.2f} s)\n")
    out = [f"{name}: {documents} from {counted(report.files, 'file')} in {report.seconds:.1f} s"]
    if report.languages:
        out.append(f"  languages  {counts(report.languages)}")
    out.append(
        f"  files      {report.parsed:,} parsed, {report.kept:,} unchanged, {report.removed:,} removed"
    )
    out.append(f"  encoder    {report.model} on {report.device}: {counted(report.embedded, 'text')} embedded")
    out.extend(not_indexed_lines(report.not_indexed, report.folders_not_entered))
    warnings = [visible(line) for line in report.warnings[:_SHOWN_WARNINGS]]
    if not report.documents:
        warnings.insert(0, f"{name}: no functions or classes found in any supported language")
    if (more := len(report.warnings) - _SHOWN_WARNINGS) > 0:
        warnings.append(f"{more} more, see `codesearch status --warnings`")
    notes = "".join(f"warning: {line}\n" for line in warnings) + build_notes(report)
    return Output("".join(f"{visible(line)}\n" for line in out), notes)


def watch(
    invocation: Invocation,
    folders: Annotated[list[Path] | None, argument("Folders to watch; default: the current one.")] = None,
    *,
    quiet: Annotated[bool, Opt("Print only warnings.", "--quiet -q")] = False,
    models: ModelSettings,
    home: Home = None,
) -> Iterator[Output]:
    """Update indexes while files change.

    It first indexes what is not up to date. It runs until Ctrl-C or SIGTERM.
    """
    from codesearch.watch.watcher import Watcher

    exit_while_waiting(signal.SIGINT, signal.SIGTERM)
    engine = invocation.engine(home, model=models.model, device=models.device)
    roots = [invocation.path(folder) for folder in folders or [Path()]]
    for root in roots:
        with build_progress(root.name) as on_progress:
            report = engine.index(root, on_progress=on_progress)
        if report.built and not quiet:
            documents, files = counted(report.documents, "document"), counted(report.files, "file")
            root_name = visible(str(report.root.resolve()))
            yield Output(f"{root_name}: {documents} from {files} in {report.seconds:.1f} s\n")
        yield Output(err=build_notes(report))
    Watcher(engine, lambda report: print_report(report, quiet=quiet), roots=roots).run()


def print_report(report: Report, *, quiet: bool) -> None:
    """Print a line about a watched root; warnings go to stderr and are always printed."""
    root, reason = visible(str(report.root)), visible(report.reason)
    if report.state == "polling":
        every = f"checking it every {report.seconds:.0f} s"
        print(f"note: {root}: cannot watch it, {every}: {reason}", file=sys.stderr, flush=True)
    elif report.state == "failed":
        print(f"warning: {root}: {reason}", file=sys.stderr, flush=True)
    elif not quiet:
        documents, changes = counted(report.documents, "document"), report.changes
        indexed = f"{counted(changes.to_parse, 'file')} indexed, {changes.removed:,} removed"
        news = {
            "watching": f"watching {counted(report.folders, 'folder')}, {documents}",
            "updated": f"{indexed}, {documents} ({report.seconds:.2f} s)",
            "gone": "the folder is gone; waiting for it to come back",
            "back": "the folder is back",
            "forgotten": "its index was removed; no longer watching",
        }
        print(f"{root}: {news[report.state]}", flush=True)


def export(
    invocation: Invocation,
    file: Annotated[Path | None, argument("Write one index to this portable file.", "[FILE]")] = None,
    *,
    sqlite: Annotated[Path | None, Opt("Write a SQLite database (extra `export`).", metavar="FILE")] = None,
    with_code: Annotated[bool, Opt("Put the source files into the portable file.")] = False,
    root: Annotated[
        tuple[Path, ...], Opt("Export this indexed folder; default: that around you, with --sqlite all.")
    ] = (),
    force: Annotated[bool, Opt("Replace FILE even if it is not an export of codesearch.")] = False,
    home: Home = None,
) -> Iterator[Output]:
    """Write an index to a portable file or to SQLite."""
    if (file is None) == (sqlite is None):
        raise ConfigError("name one file to write", "FILE for a portable file, or --sqlite FILE")
    if sqlite and with_code:
        raise ConfigError("--with-code is for portable files", "a SQLite database always has the code")
    engine = invocation.engine(home)
    roots = [invocation.path(one) for one in root]
    target = file or sqlite or Path()
    with stage_progress(target.name) as on_progress:
        if sqlite:
            report = engine.export_sqlite(
                invocation.path(sqlite), *roots, force=force, on_progress=on_progress
            )
        else:
            report = engine.export(
                invocation.path(target),
                _one_root(engine, roots, invocation),
                with_code=with_code,
                force=force,
                on_progress=on_progress,
            )
    documents, files = counted(report.documents, "document"), counted(report.files, "file")
    of, size = counted(len(report.roots), "indexed folder"), size_of(report.bytes)
    done = f"{documents} from {files} of {of} in {report.seconds:.1f} s, {size}"
    yield Output(f"{visible(str(target))}: {done}\n", _without_code(report))


def _one_root(engine: Engine, roots: list[Path], invocation: Invocation) -> Path | None:
    """Return the folder to export: the one named, else the innermost indexed one around the working directory."""
    from codesearch.engine.scope import covering_index

    if len(roots) > 1:
        raise ConfigError("a portable file has one index", "give --root once")
    if roots:
        return roots[0]
    entry = covering_index(engine.home, invocation.terminal.here)
    return Path(entry.manifest.root) if entry and entry.manifest else None


def _without_code(report: ExportReport) -> str:
    """Say in one line that the code of some files is not exported, and what to do."""
    numbers = {"changed since": report.changed, "missing": report.missing}
    reasons = [f"{number:,} {reason}" for reason, number in numbers.items() if number]
    if not reasons:
        return ""
    folder = report.roots[0] if len(report.roots) == 1 else "FOLDER"
    return (
        f"note: the code of {counted(sum(numbers.values()), 'file')} is not exported ({', '.join(reasons)}): "
        f"run {visible(index_command(folder))}, then export again\n"
    )


def import_(
    invocation: Invocation,
    file: Annotated[Path, argument("A file that `codesearch export` wrote.")],
    *,
    root: Annotated[Path | None, Opt("The folder with the sources; default: they are not here.")] = None,
    name: Annotated[str | None, Opt("Name of the index without --root; default: that in FILE.")] = None,
    max_gb: Annotated[float, Opt("Refuse a file that unpacks to more.", low=0, high=1_000_000)] = 8.0,
    model: Model = None,
    home: Home = None,
) -> Iterator[Output]:
    """Add the index in a portable file."""
    if root and name:
        raise ConfigError(
            "--root and --name exclude each other", "an index with sources has the path as its name"
        )
    started = time.monotonic()
    with stage_progress(file.name) as on_progress:
        report = invocation.engine(home, model=model).import_index(
            invocation.path(file),
            root and invocation.path(root),
            name=name,
            max_bytes=int(max_gb * 1e9),
            on_progress=on_progress,
        )
    documents, files = counted(report.documents, "document"), counted(report.files, "file")
    root_name = visible(str(report.root))
    line = f"imported {root_name}: {documents} from {files} in {time.monotonic() - started:.1f} s\n"
    yield Output(line if report.manifest.has_sources else f"{line}search it with `--root {root_name}`\n")
