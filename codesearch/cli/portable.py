"""`codesearch export` and `codesearch import`: indexes in portable files, and in files for other programs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from codesearch.cli.invocation import Invocation, Output, invocation_of
from codesearch.cli.notes import counted, size_of, stage_progress
from codesearch.cli.options import Home, argument
from codesearch.errors import ConfigError, index_command
from codesearch.options import Opt
from codesearch.settings import Model
from codesearch.visible import visible

if TYPE_CHECKING:
    from codesearch.engine.engine import Engine
    from codesearch.engine.reports import ExportReport


def export(
    context: typer.Context,
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
    invocation = invocation_of(context)
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
    context: typer.Context,
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
    invocation = invocation_of(context)
    with stage_progress(file.name) as on_progress:
        report = invocation.engine(home, model=model).import_index(
            invocation.path(file),
            root and invocation.path(root),
            name=name,
            max_bytes=int(max_gb * 1e9),
            on_progress=on_progress,
        )
    counts = f"{counted(report.documents, 'document')} from {counted(report.files, 'file')}"
    root_name = visible(str(report.root))
    line = f"imported {root_name}: {counts} in {report.seconds:.1f} s\n"
    yield Output(line if report.manifest.has_sources else f"{line}search it with `--root {root_name}`\n")
