"""`codesearch import`: add the index in a portable file to the home."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from codesearch.cli.amounts import amount
from codesearch.cli.invocation import Output, invocation_of
from codesearch.cli.options import HomeOption, ModelOption
from codesearch.cli.progress import stage_progress
from codesearch.errors import ConfigError
from codesearch.visible import visible


def import_(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="A file that `codesearch export` wrote.", show_default=False)],
    root: Annotated[
        Path | None, typer.Option("--root", help="The folder with the sources; default: they are not here.")
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", help="Name of the index without --root; default: that in FILE.")
    ] = None,
    max_gb: Annotated[float, typer.Option("--max-gb", help="Refuse a file that unpacks to more.")] = 8.0,
    model: ModelOption = None,
    home: HomeOption = None,
) -> Iterator[Output]:
    """Add the index in a portable file."""
    if root and name:
        raise ConfigError(
            "--root and --name exclude each other: an index with sources has the path as its name"
        )
    invocation = invocation_of(context)
    with stage_progress(file.name) as on_progress:
        report = invocation.engine(home, model=model).import_index(
            invocation.path(file),
            invocation.path(root) if root else None,
            name=name,
            max_bytes=int(max_gb * 1e9),
            on_progress=on_progress,
        )
    counts = f"{amount(report.documents, 'document')} from {amount(report.files, 'file')}"
    root_name = visible(str(report.root))
    line = f"imported {root_name}: {counts} in {report.seconds:.1f} s\n"
    yield Output(line if report.manifest.has_sources else f"{line}search it with `--root {root_name}`\n")
