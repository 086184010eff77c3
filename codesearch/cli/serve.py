"""`codesearch serve`, `mcp` and `lsp`: processes that answer other processes, browsers, agents and editors."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from codesearch.cli.entry import ASKED, MAX_STDIN_BYTES
from codesearch.cli.invocation import Invocation, Output
from codesearch.cli.options import Home
from codesearch.cli.output import exit_while_waiting
from codesearch.engine.scope import find_project
from codesearch.errors import ConfigError, MissingExtraError
from codesearch.files import expanded
from codesearch.options import Opt, Record
from codesearch.settings import IndexingSettings, group_folders
from codesearch.visible import visible

if TYPE_CHECKING:
    from codesearch.engine.pool import Pool

_PATIENCE_S = 10.0
_POLL_S = 0.02


class ServeOptions(Record):
    """Options of `serve`."""

    stop: Annotated[bool, Opt("Stop the running service.")] = False
    web: Annotated[bool, Opt("Serve a web page and an HTTP API too.")] = False
    host: Annotated[str, Opt("Address of the web page.")] = "127.0.0.1"
    port: Annotated[int, Opt("Port of the web page.", low=1, high=65535)] = 7177
    token_file: Annotated[Path | None, Opt("File with the token that HTTP clients must send.")] = None
    watch: Annotated[bool, Opt("Update indexes when files change.")] = True
    home: Home = None


def serve(invocation: Invocation, options: ServeOptions) -> Iterator[Output]:
    """Keep indexes open and up to date, for faster answers.

    The service answers `query` and `similar` of other processes. It runs until Ctrl-C, SIGTERM or
    `codesearch serve --stop`.
    """
    home = invocation.engine(options.home).home
    if options.stop:
        yield _stop(home)
        return
    from codesearch.cli.main import answering
    from codesearch.engine.pool import Pool
    from codesearch.service.server import Handlers, serve

    if not (options.web or hasattr(socket, "AF_UNIX")):
        cure = "run commands without a service, or give --web"
        raise ConfigError("this system has no Unix-domain sockets", cure)
    if options.web:
        _check_installed("pydantic", "starlette", "uvicorn")
    elif any(
        getattr(options, name) != getattr(ServeOptions, name) for name in ("host", "port", "token_file")
    ):
        raise ConfigError("--host, --port and --token-file need --web")
    pool, passed_on = Pool(), partial(_print, "left to its client")
    with ExitStack() as closing:
        ready = partial(_start, home, pool, options, invocation, closing)
        serve(home, Handlers(answering(pool, ASKED), ready, passed_on, pool.tidy))
    yield Output()


def _start(home: Path, pool: Pool, options: ServeOptions, invocation: Invocation, closing: ExitStack) -> None:
    """Start what a service does besides, and say where it answers."""
    from codesearch.engine.engine import Engine

    engine = Engine(home, pool=pool)
    if options.watch:
        from codesearch.cli.index import print_event
        from codesearch.watch.watcher import Watcher

        watcher = Watcher(engine, partial(print_event, quiet=True))
        pool.is_unchanged = watcher.is_unchanged  # Queries then skip the check of such roots.
        threading.Thread(target=watcher.run, name="watcher", daemon=True).start()
    if options.web:
        from codesearch.web.site import answer_http, listen, read_token

        host, port, file = options.host, options.port, options.token_file
        token = read_token(host, file and expanded(file).absolute(), invocation.terminal.variables)
        end = answer_http(engine, listen(host, port), host, token, lambda error: _print("error", repr(error)))
        closing.callback(end)
        print(f"http://{f'[{host}]' if ':' in host else host}:{port}/", flush=True)
    how = "stop it with Ctrl-C or `codesearch serve --stop`"
    print(f"process {os.getpid()} answers queries for {visible(str(home))}: {how}", flush=True)


def _print(what: str, error: object) -> None:
    print(f"{what}: {visible(str(error))}", file=sys.stderr)


def _check_installed(*packages: str) -> None:
    if absent := [name for name in packages if find_spec(name) is None]:
        raise MissingExtraError(*absent)


def _stop(home: Path) -> Output:
    from codesearch.service.server import service_at

    if not (owner := service_at(home)):
        return Output(f"no service runs for {visible(str(home))}\n", code=1)
    os.kill(owner, signal.SIGTERM)
    deadline = time.monotonic() + _PATIENCE_S
    while service_at(home) == owner:
        if time.monotonic() > deadline:
            problem = f"process {owner} did not end in {_PATIENCE_S:.0f} s"
            raise ConfigError(problem, f"`kill -9 {owner}` ends it")
        time.sleep(_POLL_S)
    return Output(f"process {owner} stopped\n")


class McpOptions(IndexingSettings):
    """Options of `mcp`."""

    root: Annotated[Path | None, Opt("The project; default: the client's folder, or yours.")] = None
    group: Annotated[tuple[str, ...], Opt("Let agents search this group of your settings too.")] = ()
    setup: Annotated[str | None, Opt("Print the configuration of a client.", metavar="NAME")] = None
    write: Annotated[bool, Opt("With --setup: write what it shows, with backups.")] = False
    instructions: Annotated[
        bool, Opt("Print a paragraph for AGENTS.md; with --setup, diffs of it, a skill and a hook.")
    ] = False
    remove: Annotated[bool, Opt("With --setup: take everything out again.")] = False
    hook: Annotated[bool, Opt("Answer a client that ran grep; --setup writes this.")] = False
    home: Home = None


def mcp(invocation: Invocation, options: McpOptions) -> Iterator[Output]:
    """Answer coding agents over the Model Context Protocol."""
    from codesearch.agents.clients import AGENTS_MD, hook_answer

    here = invocation.terminal.here
    if options.hook:
        is_project = find_project(here) is not None
        yield Output(hook_answer(sys.stdin.read(MAX_STDIN_BYTES)) if is_project else "")
        return
    root = _checked_root(invocation, options)
    groups = {
        name: group_folders(name, invocation.terminal.variables, invocation.user_home)
        for name in options.group
    }
    if options.setup is not None:
        yield from _setup(options.setup, invocation, options, root)
    elif options.instructions:
        yield Output(AGENTS_MD)
    else:
        _check_installed("mcp")
        from codesearch.agents.server import converse, make_server

        engine = invocation.engine(options.home)
        server = make_server(engine, root, here, auto_index=options.auto_index, groups=groups)
        yield Output(converse=partial(converse, server))


def _checked_root(invocation: Invocation, options: McpOptions) -> Path | None:
    """Return the folder that options name, after a check that they go together."""
    if invocation.pool and (options.setup is not None or options.instructions):
        raise ConfigError("a service writes no files for a client")
    root = options.root and invocation.path(options.root)
    if root is not None and not root.is_dir():
        raise ConfigError(f"{root} is not a folder", "give --root an existing folder")
    if (options.write or options.remove) and options.setup is None:
        raise ConfigError(f"--{'write' if options.write else 'remove'} needs --setup NAME")
    if options.remove and (options.write or options.instructions):
        raise ConfigError("--remove excludes --write and --instructions", "it takes back what they wrote")
    return root


def _setup(client: str, invocation: Invocation, options: McpOptions, root: Path | None) -> Iterator[Output]:
    """Show, write or take back the configuration of a client."""
    from codesearch.cli.setup import set_up, take_back

    project = root or find_project(invocation.terminal.here)
    if options.remove:
        yield from take_back(client, invocation, project)
        return
    # The options of the server hold in any working directory; what a setting says, it reads itself.
    paths = {"--root": root, "--home": options.home and expanded(options.home)}
    words = [word for name, path in paths.items() if path for word in (name, str(path.resolve()))]
    words += [word for name in options.group for word in ("--group", name)]
    words += [word for word in ("--auto-index", "--no-index") if word in invocation.arguments]
    flags = {"write": options.write, "instructions": options.instructions}
    yield from set_up(client, invocation, words, project, **flags)


def lsp(invocation: Invocation, indexing: IndexingSettings, home: Home = None) -> Iterator[Output]:
    """Answer editors over the Language Server Protocol."""
    _check_installed("pygls")
    from codesearch.lsp.server import run

    exit_while_waiting(signal.SIGINT)
    if sys.stdin.isatty():
        yield Output(err="an editor starts this command (docs/editors.md); Ctrl-C ends it\n")
    here, confidence = invocation.terminal.here, invocation.settings()["min_confidence"].value
    run(invocation.engine(home), here, auto_index=indexing.auto_index, min_confidence=confidence)
    yield Output()
