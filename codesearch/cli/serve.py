"""`codesearch serve`: a process that keeps models and indexes open and answers for other processes."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from codesearch.cli.answering import opened
from codesearch.cli.options import HomeOption, resolve_home
from codesearch.errors import ConfigError

_PATIENCE_S = 10.0
_POLL_S = 0.02


def serve(
    context: typer.Context,
    stop: Annotated[bool, typer.Option("--stop", help="Stop the one that runs.")] = False,
    home: HomeOption = None,
) -> int:
    """Answer `query` and `similar` of other processes, with models and indexes kept open.

    It runs until Ctrl-C, SIGTERM or `codesearch serve --stop`.
    """
    folder = resolve_home(home).absolute()
    if stop:
        return _stop(folder)
    from codesearch.service.server import Handlers, serve

    command = context.find_root().command

    def run(arguments: list[str]) -> int:
        return int(command.main(arguments, prog_name="codesearch", standalone_mode=False))

    def ready() -> None:
        how = "stop it with Ctrl-C or `codesearch serve --stop`"
        print(f"process {os.getpid()} answers queries for {folder}: {how}", flush=True)

    def passed_on(error: Exception) -> None:
        print(f"left to its client: {error}", file=sys.stderr)

    serve(folder, Handlers(run, ready, passed_on, opened().tidy))
    return 0


def _stop(home: Path) -> int:
    from codesearch.service.server import service_at

    owner = service_at(home)
    if not owner:
        print(f"no service runs for {home}")
        return 1
    os.kill(owner, signal.SIGTERM)
    deadline = time.monotonic() + _PATIENCE_S
    while service_at(home) == owner:
        if time.monotonic() > deadline:
            raise ConfigError(
                f"process {owner} did not end in {_PATIENCE_S:.0f} s: `kill -9 {owner}` ends it"
            )
        time.sleep(_POLL_S)
    print(f"process {owner} stopped")
    return 0
