"""`codesearch index`, `watch`, `export` and `import`: indexes are made, kept up to date and exchanged."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from codesearch.cli.invocation import Invocation, Output, build_notes, build_progress, size_of, stage_progress
from codesearch.cli.options import Home, Revision, argument
from codesearch.cli.output import exit_while_waiting
from codesearch.config import IndexOptions
from codesearch.engine.answer import WIDTH, counts, not_indexed
from codesearch.engine.scope import Scope, covering_index
from codesearch.errors import ConfigError, index_command
from codesearch.options import Opt
from codesearch.settings import Model, ModelSettings, ServerSettings, WalkSettings
from codesearch.store.catalogue import index_folder, read_entry
from codesearch.structure.text import counted
from codesearch.visible import visible

if TYPE_CHECKING:
    from codesearch.engine.answer import IndexSummary, OfIndex
    from codesearch.portable.pack import ExportSummary
    from codesearch.watch.watcher import WatchEvent

_SHOWN_WARNINGS = 10


class IndexRunOptions(WalkSettings, ModelSettings, ServerSettings):
    """Options of `index`."""

    at: Revision = ""
    rebuild: Annotated[bool, Opt("Make a new index, with only the options given now.")] = False
    optimize: Annotated[bool, Opt("Merge all segments, for faster queries over a large index.")] = False
    shard: Annotated[str, Opt("I/N: index part I of N of the folders that a file lists.")] = ""
    home: Home = None


def index(
    invocation: Invocation,
    folders: Annotated[
        list[Path] | None, argument("Folders to index; default: the current one.", "[FOLDER]...")
    ] = None,
    *,
    options: IndexRunOptions,
) -> Iterator[Output]:
    """Index folders, or update their indexes.

    Only new and changed files are parsed. Options that are not given keep the values of the last run.
    """
    given, rebuild = IndexOptions.of(vars(options)), options.rebuild
    shard, merge = options.shard, options.optimize
    roots = _of_shard(shard, folders, invocation) if shard else folders or [Path()]
    if not roots:
        yield Output(err=f"note: no folder of the list belongs to shard {shard}\n")
    engine = invocation.engine(options.home, options)
    if backend := invocation.milvus(options):
        shard, paths = shard or "1/1", list(map(invocation.path, roots))
        with build_progress(f"shard {shard}") as on_progress:
            pushed = backend.push(engine, paths, shard, given, rebuild=rebuild, on_progress=on_progress)
        for summary in pushed:
            done = f"{summary.written:,} written, {summary.deleted:,} deleted in {summary.seconds:.1f} s"
            documents = counted(summary.documents, "document")
            yield Output(f"{visible(summary.root)}: {documents} on the server, {done}\n")
    elif options.at:
        for folder in roots:
            scope = Scope((invocation.path(folder),), at=options.at)
            known = f"{folder}: {options.at} is indexed already"
            yield from list(invocation.session(engine, scope)) or [Output(f"{visible(known)}\n")]
    else:
        for folder in roots:
            root = invocation.path(folder)
            name = visible(str(folder) if folder.name else os.path.basename(os.path.abspath(root)) or "/")
            begun = read_entry(index_folder(engine.home, root))
            if begun and begun.manifest and not (begun.manifest.complete or rebuild):
                files = counted(begun.manifest.left, "file")
                yield Output(err=f"{name}: the first index was interrupted with {files} left\n")
            with build_progress(os.path.basename(name)) as show:
                built = engine.index(root, given, rebuild=rebuild, optimize=merge, on_progress=show)
            yield _built(name, built, merged=merge)


def _of_shard(shard: str, folders: list[Path] | None, invocation: Invocation) -> list[Path]:
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


def _built(name: str, summary: IndexSummary, *, merged: bool) -> Output:
    """Say what a run did to the index of a folder, which is named as it was typed."""
    documents = counted(summary.documents, "document")
    if not summary.built or (not summary.parsed and not summary.removed and summary.kept):
        done = "nothing to do" if not summary.built else "merged" if merged else "nothing to parse"
        are = "is" if summary.documents == 1 else "are"
        warned = "".join(
            f"warning: {visible(line)}\n" for line in summary.warnings[:1] if not summary.documents
        )
        return Output(f"{name}: {done}, {documents} {are} up to date ({summary.seconds:.2f} s)\n", warned)
    out = [
        f"{name}: {_made(summary, summary.seconds)}",
        *([f"  languages  {counts(summary.languages, WIDTH - 13)}"] if summary.languages else []),
        f"  files      {summary.parsed:,} parsed, {summary.kept:,} unchanged, {summary.removed:,} removed",
        f"  model      {summary.model} on {summary.device}: {counted(summary.embedded, 'text')} embedded",
        *not_indexed(summary.not_indexed, summary.folders_not_entered),
    ]
    warnings = [visible(line) for line in summary.warnings[:_SHOWN_WARNINGS]]
    if not summary.documents and not warnings:
        warnings.insert(0, f"{name}: no functions or classes found in any supported language")
    if (more := len(summary.warnings) - _SHOWN_WARNINGS) > 0:
        warnings.append(f"{more} more, see `codesearch status --warnings`")
    notes = "".join(f"warning: {line}\n" for line in warnings) + build_notes(summary)
    return Output("".join(f"{visible(line)}\n" for line in out), notes)


def _made(summary: OfIndex | ExportSummary, seconds: float) -> str:
    documents, files = counted(summary.documents, "document"), counted(summary.files, "file")
    return f"{documents} from {files} in {seconds:.1f} s"


def watch(
    invocation: Invocation,
    folders: Annotated[
        list[Path] | None, argument("Folders to watch; default: the current one.", "[FOLDER]...")
    ] = None,
    *,
    models: ModelSettings,
    home: Home = None,
) -> Iterator[Output]:
    """Update indexes while files change.

    It first indexes what is not up to date. It runs until Ctrl-C or SIGTERM.
    """
    from codesearch.watch.watcher import Watcher

    exit_while_waiting(signal.SIGINT, signal.SIGTERM)
    engine = invocation.engine(home, models)
    roots = [invocation.path(folder) for folder in folders or [Path()]]
    for root in roots:
        with build_progress(root.name) as on_progress:
            summary = engine.index(root, on_progress=on_progress)
        if summary.built:
            yield Output(f"{visible(str(summary.root.resolve()))}: {_made(summary, summary.seconds)}\n")
        yield Output(err=build_notes(summary))
    Watcher(engine, print_event, roots=roots).run()


def print_event(event: WatchEvent, *, quiet: bool = False) -> None:
    """Print a line about a watched root; warnings go to stderr and are always printed."""
    documents, changes = counted(event.documents, "document"), event.changes
    indexed = f"{counted(changes.to_parse, 'file')} indexed, {changes.removed:,} removed"
    root, reason = visible(str(event.root)), visible(event.reason)
    news = {
        "polling": f"note: {root}: cannot watch it, checking it every {event.seconds:.0f} s: {reason}",
        "failed": f"warning: {root}: {reason}",
        "watching": f"{root}: watching {counted(event.folders, 'folder')}, {documents}",
        "updated": f"{root}: {indexed}, {documents} ({event.seconds:.2f} s)",
        "gone": f"{root}: the folder is gone; waiting for it to come back",
        "back": f"{root}: the folder is back",
        "forgotten": f"{root}: its index was removed; no longer watching",
    }
    is_warning = event.state in ("polling", "failed")
    if is_warning or not quiet:
        print(news[event.state], file=sys.stderr if is_warning else sys.stdout, flush=True)


def export(
    invocation: Invocation,
    file: Annotated[Path, argument("The file to write.", "FILE")],
    *,
    sqlite: Annotated[bool, Opt("Write a SQLite file for other programs (extra `export`).")] = False,
    with_code: Annotated[bool, Opt("Put the source files into the portable file.")] = False,
    root: Annotated[Path | None, Opt("Indexed folder; default: yours.")] = None,
    home: Home = None,
) -> Iterator[Output]:
    """Write an index to a portable file, or to SQLite."""
    if sqlite and with_code:
        raise ConfigError("--with-code is for portable files", "a SQLite file always has the code")
    engine, target = invocation.engine(home), invocation.path(file)
    around = None if root else covering_index(engine.local_home(), invocation.terminal.here)
    here = Path(around.manifest.root) if around and around.manifest else None
    folder = invocation.path(root) if root else here
    with stage_progress(target.name) as on_progress:
        summary = engine.export(target, folder, with_code=with_code, sqlite=sqlite, on_progress=on_progress)
    done = _made(summary, summary.seconds)
    yield Output(f"{visible(str(file))}: {done}, {size_of(summary.bytes)}\n", _without_code(summary))


def _without_code(summary: ExportSummary) -> str:
    numbers = {"changed since": summary.changed, "missing": summary.missing}
    reasons = ", ".join(f"{number:,} {reason}" for reason, number in numbers.items() if number)
    files, command = counted(sum(numbers.values()), "file"), visible(index_command(summary.root))
    note = f"the code of {files} is not exported ({reasons}): run {command}, then export again"
    return f"note: {note}\n" if reasons else ""


def import_(
    invocation: Invocation,
    file: Annotated[Path, argument("A file that `codesearch export` wrote.", "FILE")],
    *,
    root: Annotated[Path | None, Opt("The folder with the sources; default: they are not here.")] = None,
    name: Annotated[str | None, Opt("Name of the index without --root; default: that in FILE.")] = None,
    model: Model = None,
    home: Home = None,
) -> Iterator[Output]:
    """Add the index in a portable file."""
    if root and name:
        raise ConfigError("--root and --name exclude each other", "with sources, the path is the name")
    engine, folder = invocation.engine(home, ModelSettings(model=model)), root and invocation.path(root)
    started = time.monotonic()
    with stage_progress(file.name) as on_progress:
        summary = engine.import_index(invocation.path(file), folder, name=name, on_progress=on_progress)
    root_name = visible(str(summary.root))
    cure = "" if summary.manifest.has_sources else f"search it with `--root {root_name}`\n"
    yield Output(f"imported {root_name}: {_made(summary, time.monotonic() - started)}\n{cure}")
