"""`codesearch export`: write an index to a portable file, or what is indexed to a file for other programs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from codesearch.cli.amounts import amount, size_of
from codesearch.cli.invocation import Invocation, Output, invocation_of
from codesearch.cli.options import HomeOption
from codesearch.cli.progress import stage_progress
from codesearch.errors import ConfigError
from codesearch.visible import visible

if TYPE_CHECKING:
    from codesearch.engine.engine import Engine
    from codesearch.engine.reports import ExportReport


def export(
    context: typer.Context,
    file: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE]", help="Write one index to this portable file.", show_default=False),
    ] = None,
    sqlite: Annotated[
        Path | None,
        typer.Option("--sqlite", metavar="FILE", help="Write a SQLite database (extra `export`)."),
    ] = None,
    with_code: Annotated[
        bool, typer.Option("--with-code", help="Put the source files into the portable file.")
    ] = False,
    root: Annotated[
        list[Path] | None,
        typer.Option(
            "--root",
            help="Export this indexed folder; repeatable with --sqlite. "
            "Default: the index of the working directory; with --sqlite all.",
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace FILE even if it is not an export of codesearch.")
    ] = False,
    home: HomeOption = None,
) -> Iterator[Output]:
    """Write an index to a portable file or to SQLite."""
    if (file is None) == (sqlite is None):
        raise ConfigError("name one file to write: FILE for a portable file, or --sqlite FILE")
    if sqlite and with_code:
        raise ConfigError("--with-code is for portable files: a SQLite database always has the code")
    invocation = invocation_of(context)
    engine = invocation.engine(home)
    roots = [invocation.path(one) for one in root or []]
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
    yield Output(_summary(target, report), _without_code(report))


def _one_root(engine: Engine, roots: list[Path], invocation: Invocation) -> Path | None:
    """Return the folder to export: the one named, else the innermost indexed one around the working directory."""
    from codesearch.engine.scope import covering_index

    if len(roots) > 1:
        raise ConfigError("a portable file has one index: give --root once")
    if roots:
        return roots[0]
    entry = covering_index(engine.home, invocation.terminal.here)
    return Path(entry.manifest.root) if entry and entry.manifest else None


def _summary(file: Path, report: ExportReport) -> str:
    documents, files = amount(report.documents, "document"), amount(report.files, "file")
    folders = amount(len(report.roots), "indexed folder")
    size = size_of(report.bytes)
    return f"{visible(str(file))}: {documents} from {files} of {folders} in {report.seconds:.1f} s, {size}\n"


def _without_code(report: ExportReport) -> str:
    """Say in one line that the code of some files is not exported, and what to do."""
    count = report.changed + report.missing
    if not count:
        return ""
    reasons = []
    if report.changed:
        reasons.append(f"{report.changed:,} changed since")
    if report.missing:
        reasons.append(f"{report.missing:,} missing")
    folder = visible(report.roots[0]) if len(report.roots) == 1 else "FOLDER"
    return (
        f"note: the code of {amount(count, 'file')} is not exported ({', '.join(reasons)}): "
        f"run `codesearch index {folder}`, then export again\n"
    )
