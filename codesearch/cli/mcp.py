"""`codesearch mcp`: answer agents over stdio, and set up their clients."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from codesearch.cli.invocation import Invocation, Output, invocation_of
from codesearch.cli.options import AutoIndexOption, HomeOption
from codesearch.errors import ConfigError, MissingExtraError


def mcp(
    context: typer.Context,
    root: Annotated[
        Path | None,
        typer.Option("--root", help="The project; default: the client's folder, or the project you are in."),
    ] = None,
    setup: Annotated[
        str | None, typer.Option("--setup", metavar="NAME", help="Print the configuration of a client.")
    ] = None,
    write: Annotated[
        bool, typer.Option("--write", help="With --setup: merge it into the client's file, with a backup.")
    ] = False,
    instructions: Annotated[
        bool, typer.Option("--instructions", help="Print a paragraph for AGENTS.md.")
    ] = False,
    auto_index: AutoIndexOption = True,
    home: HomeOption = None,
) -> Iterator[Output]:
    """Answer coding agents over the Model Context Protocol."""
    invocation = invocation_of(context)
    if write and setup is None:
        raise ConfigError("--write needs --setup NAME")
    if instructions:
        from codesearch.agents.instructions import AGENTS_MD

        yield Output(AGENTS_MD)
    elif setup is not None:
        yield _set_up(setup, invocation, write=write)
    else:
        if root is not None and not root.is_dir():
            raise ConfigError(f"{root} is not a folder: give --root an existing folder")
        try:
            from codesearch.agents.server import make_server
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types", "anyio"):
                raise
            raise MissingExtraError("mcp") from None
        engine = invocation.engine(home)
        make_server(engine, root, invocation.terminal.here, auto_index=auto_index).run()
        yield Output()


def _set_up(name: str, invocation: Invocation, *, write: bool) -> Output:
    from codesearch.agents.clients import client_named, config_file, configuration, write_configuration

    client = client_named(name)
    path = config_file(client, invocation.user_home)
    if not write:
        return Output(configuration(client), f"{client.title} reads this from {path}\n")
    backup = write_configuration(client, path)
    kept = f"; the file as it was is in {backup.name}" if backup else ""
    return Output(f"{path} has the entry codesearch{kept}\n")
