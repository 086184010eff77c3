"""`codesearch remove`: delete indexes. It never changes source files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from codesearch.cli.invocation import Output, invocation_of
from codesearch.cli.options import HomeOption
from codesearch.errors import ConfigError
from codesearch.visible import visible


def remove(
    context: typer.Context,
    folders: Annotated[
        list[Path] | None, typer.Argument(help="Folders whose indexes to delete.", show_default=False)
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Delete all indexes.")] = False,
    cache: Annotated[
        bool, typer.Option("--cache", help="Also delete cached vectors and the data of `bench`.")
    ] = False,
    home: HomeOption = None,
) -> Iterator[Output]:
    """Delete indexes. The folders themselves do not change."""
    if not folders and not everything and not cache:
        raise ConfigError("nothing to remove: name an indexed folder, or give --all or --cache")
    invocation = invocation_of(context)
    engine = invocation.engine(home)
    engine.remove(*map(invocation.path, folders or []))
    for folder in folders or []:
        yield Output(f"{visible(str(folder))}: index removed\n")
    for root in engine.remove_all() if everything else []:
        yield Output(f"{visible(str(root))}: index removed\n")
    if cache:
        engine.clear_cache()
        yield Output("cache removed\n")
