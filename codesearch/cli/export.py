"""`codesearch export`: write what is indexed to a file for other programs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from codesearch.cli.invocation import Output, invocation_of
from codesearch.cli.options import HomeOption
from codesearch.cli.progress import stage_progress
from codesearch.errors import ConfigError

if TYPE_CHECKING:
    from codesearch.engine.reports import ExportReport


def export(
    context: typer.Context,
    sqlite: Annotated[
        Path | None,
        typer.Option("--sqlite", metavar="FILE", help="Write a SQLite database (extra `export`)."),
    ] = None,
    root: Annotated[
        list[Path] | None,
        typer.Option("--root", help="Export this indexed folder; repeatable; default: all."),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace FILE even if it is not an export of codesearch.")
    ] = False,
    home: HomeOption = None,
) -> Iterator[Output]:
    """Write what is indexed to a file for other programs."""
    if sqlite is None:
        raise ConfigError("nothing to write: give --sqlite FILE")
    invocation = invocation_of(context)
    roots = map(invocation.path, root or [])
    with stage_progress(sqlite.name) as on_progress:
        report = invocation.engine(home).export_sqlite(
            invocation.path(sqlite), *roots, force=force, on_progress=on_progress
        )
    yield Output(_summary(sqlite, report), _without_code(report))


def _summary(file: Path, report: ExportReport) -> str:
    documents, files = _counted(report.documents, "document"), _counted(report.files, "file")
    folders = _counted(len(report.roots), "indexed folder")
    size = f"{report.bytes / 1e6:.1f} MB"
    return f"{file}: {documents} from {files} of {folders} in {report.seconds:.1f} s, {size}\n"


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
    folder = report.roots[0] if len(report.roots) == 1 else "FOLDER"
    return (
        f"note: the code of {_counted(count, 'file')} is not exported ({', '.join(reasons)}): "
        f"run `codesearch index {folder}`, then export again\n"
    )


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' if number != 1 else ''}"
