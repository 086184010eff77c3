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
from typing import Annotated

from codesearch.cli.entry import ASKED, MAX_STDIN_BYTES
from codesearch.cli.invocation import Invocation, Output
from codesearch.cli.options import Home
from codesearch.cli.output import exit_while_waiting
from codesearch.engine.scope import find_project
from codesearch.errors import ConfigError, MissingExtraError
from codesearch.files import expanded
from codesearch.options import Opt
from codesearch.settings import IndexingSettings, group_folders
from codesearch.visible import visible

_HOST, _PORT = "127.0.0.1", 7177
_PATIENCE_S = 10.0
_POLL_S = 0.02


def serve(
    invocation: Invocation,
    stop: Annotated[bool, Opt("Stop the running service.")] = False,
    web: Annotated[bool, Opt("Serve a web page and an HTTP API too.")] = False,
    host: Annotated[str, Opt("Address of the web page.")] = _HOST,
    port: Annotated[int, Opt("Port of the web page.", low=1, high=65535)] = _PORT,
    token_file: Annotated[Path | None, Opt("File with the token that HTTP clients must send.")] = None,
    watch: Annotated[bool, Opt("Update indexes when files change.")] = True,
    home: Home = None,
) -> Iterator[Output]:
    """Keep indexes open and up to date, for faster answers.

    The service answers `query` and `similar` of other processes. It runs until Ctrl-C, SIGTERM or
    `codesearch serve --stop`.
    """
    folder = invocation.engine(home).home
    if stop:
        yield _stop(folder)
        return
    from codesearch.cli.main import answering
    from codesearch.engine.engine import Engine
    from codesearch.engine.pool import Pool
    from codesearch.service.server import Handlers, serve

    if not (web or hasattr(socket, "AF_UNIX")):
        cure = "run commands without a service, or give --web"
        raise ConfigError("this system has no Unix-domain sockets", cure)
    if web:
        _check_installed("pydantic", "starlette", "uvicorn")
    elif (host, port, token_file) != (_HOST, _PORT, None):
        raise ConfigError("--host, --port and --token-file need --web")
    pool, closing = Pool(), ExitStack()
    token_file = token_file and expanded(token_file).absolute()

    def ready() -> None:
        engine = Engine(folder, pool=pool)
        if watch:
            from codesearch.cli.index import print_report
            from codesearch.watch.watcher import Watcher

            watcher = Watcher(engine, partial(print_report, quiet=True))
            pool.is_unchanged = watcher.is_unchanged  # Queries then skip the check of such roots.
            threading.Thread(target=watcher.run, name="watcher", daemon=True).start()
        if web:
            from codesearch.web.site import answer_http, listen, read_token

            token, listener = read_token(host, token_file, os.environ), listen(host, port)
            end = answer_http(engine, listener, host, token, lambda error: _print("error", repr(error)))
            closing.callback(end)
            print(f"http://{f'[{host}]' if ':' in host else host}:{port}/", flush=True)
        how = "stop it with Ctrl-C or `codesearch serve --stop`"
        print(f"process {os.getpid()} answers queries for {visible(str(folder))}: {how}", flush=True)

    passed_on = partial(_print, "left to its client")
    with closing:
        serve(folder, Handlers(answering(pool, ASKED), ready, passed_on, pool.tidy))
    yield Output()


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


def mcp(
    invocation: Invocation,
    root: Annotated[Path | None, Opt("The project; default: the client's folder, or yours.")] = None,
    group: Annotated[tuple[str, ...], Opt("Let agents search this group of your settings too.")] = (),
    setup: Annotated[str | None, Opt("Print the configuration of a client.", metavar="NAME")] = None,
    write: Annotated[bool, Opt("With --setup: write what it shows, with backups.")] = False,
    instructions: Annotated[
        bool, Opt("Print a paragraph for AGENTS.md; with --setup, diffs of it, a skill and a hook.")
    ] = False,
    remove: Annotated[bool, Opt("With --setup: take everything out again.")] = False,
    hook: Annotated[bool, Opt("Answer a client that ran grep; --setup writes this.")] = False,
    home: Home = None,
    *,
    indexing: IndexingSettings,
) -> Iterator[Output]:
    """Answer coding agents over the Model Context Protocol."""
    here, variables = invocation.terminal.here, invocation.terminal.variables
    if hook:
        from codesearch.agents.clients import hook_answer

        is_project = find_project(here) is not None
        yield Output(hook_answer(sys.stdin.read(MAX_STDIN_BYTES)) if is_project else "")
        return
    groups = {name: group_folders(name, variables, invocation.user_home) for name in group}
    if invocation.pool and (setup is not None or instructions):
        raise ConfigError("a service writes no files for a client")
    root = root and invocation.path(root)
    if root is not None and not root.is_dir():
        raise ConfigError(f"{root} is not a folder", "give --root an existing folder")
    if (write or remove) and setup is None:
        raise ConfigError(f"--{'write' if write else 'remove'} needs --setup NAME")
    if remove and (write or instructions):
        raise ConfigError("--remove excludes --write and --instructions", "it takes back what they wrote")
    if setup is not None:
        from codesearch.cli.setup import set_up, take_back

        project = root or find_project(here)
        if remove:
            yield from take_back(setup, invocation, project)
            return
        # The options of the server hold in any working directory; what a setting says, it reads itself.
        paths = {"--root": root, "--home": home and expanded(home)}
        options = [word for name, path in paths.items() if path for word in (name, str(path.resolve()))]
        options += [word for name in groups for word in ("--group", name)]
        options += [word for word in ("--auto-index", "--no-index") if word in sys.argv]
        yield from set_up(setup, invocation, options, project, write=write, instructions=instructions)
    elif instructions:
        from codesearch.agents.clients import AGENTS_MD

        yield Output(AGENTS_MD)
    else:
        _check_installed("mcp")
        from codesearch.agents.server import converse, make_server

        engine = invocation.engine(home)
        server = make_server(engine, root, here, auto_index=indexing.auto_index, groups=groups)
        yield Output(converse=partial(converse, server))


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
