"""`codesearch serve`: a process that keeps models and indexes open and answers queries of other processes."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from codesearch.cli.invocation import Output, invocation_of
from codesearch.cli.options import HomeOption
from codesearch.errors import ConfigError, MissingExtraError
from codesearch.visible import visible

if TYPE_CHECKING:
    from codesearch.engine.opened import Opened
    from codesearch.web.server import Site

_PATIENCE_S = 10.0
_POLL_S = 0.02
_HOST, _PORT = "127.0.0.1", 7177


def serve(
    context: typer.Context,
    stop: Annotated[bool, typer.Option("--stop", help="Stop the service that runs.")] = False,
    web: Annotated[bool, typer.Option("--web", help="Serve a web page and an HTTP API too.")] = False,
    host: Annotated[str, typer.Option("--host", help="Address of the web page.")] = _HOST,
    port: Annotated[int, typer.Option("--port", min=1, max=65535, help="Port of the web page.")] = _PORT,
    token_file: Annotated[
        Path | None,
        typer.Option(
            "--token-file", help="File with the token that HTTP clients must send.", show_default=False
        ),
    ] = None,
    watching: Annotated[
        bool,
        typer.Option("--watch/--no-watch", help="Update indexes when files change."),
    ] = True,
    home: HomeOption = None,
) -> Iterator[Output]:
    """Keep indexes open and up to date, for faster answers.

    The service answers `query` and `similar` of other processes. It runs until Ctrl-C, SIGTERM or
    `codesearch serve --stop`.
    """
    folder = invocation_of(context).engine(home).home
    if stop:
        yield _stop(folder)
        return
    from codesearch.cli.entry import ASKED
    from codesearch.cli.main import Answering
    from codesearch.engine.opened import Opened
    from codesearch.service.server import Handlers, serve

    opened = Opened()
    sites: list[Site] = []
    token_file = token_file.expanduser().absolute() if token_file else None
    if web:
        _check_web()
    elif (host, port, token_file) != (_HOST, _PORT, None):
        raise ConfigError("--host, --port and --token-file need --web")

    def ready() -> None:
        if watching:
            _watch(folder, opened)
        how = "stop it with Ctrl-C or `codesearch serve --stop`"
        if web:
            sites.append(_start_site(folder, opened, host, port, token_file))
        print(f"process {os.getpid()} answers queries for {visible(str(folder))}: {how}", flush=True)

    def passed_on(error: Exception) -> None:
        print(f"left to its client: {visible(str(error))}", file=sys.stderr)

    try:
        serve(folder, Handlers(Answering(opened, ASKED), ready, passed_on, opened.tidy))
    finally:
        for site in sites:
            site.stop()
    yield Output()


def _check_web() -> None:
    from importlib.util import find_spec

    for package in ("starlette", "uvicorn"):
        if find_spec(package) is None:
            raise MissingExtraError(package)


def _start_site(home: Path, opened: Opened, host: str, port: int, token_file: Path | None) -> Site:
    """Begin to answer HTTP, and print the address."""
    from codesearch.engine.engine import Engine
    from codesearch.web.security import Access
    from codesearch.web.server import Site, listen, read_token

    token = read_token(host, token_file, os.environ)
    listener = listen(host, port)
    site = Site(
        Engine(home, opened=opened),
        listener,
        Access(host, port, token),
        lambda error: print(f"error: {error!r}", file=sys.stderr),
    )
    site.start()
    print(f"http://{f'[{host}]' if ':' in host else host}:{port}/", flush=True)
    return site


def _watch(home: Path, opened: Opened) -> None:
    """Watch all roots of a home in a thread; queries then skip the check of roots that are known to be unchanged."""
    from codesearch.cli.watch import print_report
    from codesearch.engine.engine import Engine
    from codesearch.watch.watcher import Watcher

    watcher = Watcher(Engine(home, opened=opened), lambda report: print_report(report, quiet=True))
    opened.is_unchanged = watcher.is_unchanged
    threading.Thread(target=watcher.run, name="watcher", daemon=True).start()


def _stop(home: Path) -> Output:
    from codesearch.service.server import forget_service, service_at

    owner = service_at(home)
    if not owner:
        return Output(f"no service runs for {visible(str(home))}\n", code=1)
    os.kill(owner, signal.SIGTERM)
    deadline = time.monotonic() + _PATIENCE_S
    while service_at(home) == owner:
        if time.monotonic() > deadline:
            raise ConfigError(
                f"process {owner} did not end in {_PATIENCE_S:.0f} s: `kill -9 {owner}` ends it"
            )
        time.sleep(_POLL_S)
    forget_service(home)  # On Windows SIGTERM kills the process, so it cannot remove its files.
    return Output(f"process {owner} stopped\n")
