"""`codesearch doctor`: check the installation and every index, and whether codesearch works offline."""

from __future__ import annotations

import ctypes
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import typer

import codesearch
from codesearch.cli.invocation import Output, invocation_of
from codesearch.engine.engine import Engine
from codesearch.engine.reports import Check
from codesearch.engine.scope import Scope
from codesearch.errors import CodeSearchError
from codesearch.visible import visible

_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000
_NETWORK_EVENTS = (
    "socket.connect",
    "socket.getaddrinfo",
    "socket.gethostbyname",
    "socket.sendto",
    "urllib.Request",
)


def doctor(context: typer.Context, offline: bool, device: str, home: Path | None) -> Iterator[Output]:
    """Check the installation, the model and every index."""
    checks = (
        _offline_checks(device) if offline else invocation_of(context).engine(home, device=device).verify()
    )
    code = 0
    for check in checks:
        code = 2 if check.state == "FAIL" else code
        yield Output(f"{check.state:4}  {check.name:12} {visible(check.detail)}\n", code=code)


def _offline_checks(device: str) -> Iterator[Check]:
    """Index and query a tree of this package's own sources without a network."""
    libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None
    # An unprivileged process needs a new user namespace too. Only a single-threaded process may enter one.
    if libc and any(libc.unshare(flags) == 0 for flags in (_CLONE_NEWNET, _CLONE_NEWUSER | _CLONE_NEWNET)):
        yield Check("network", "ok", "this process runs in a namespace without network interfaces")
    else:
        yield Check("network", "none", "no network namespaces here: only recording attempts to connect")
    attempts: list[str] = []

    def on_event(event: str, arguments: tuple[object, ...]) -> None:
        # The address of a Unix socket is a path; worker processes use them.
        is_local = event in ("socket.connect", "socket.sendto") and isinstance(arguments[-1], str | bytes)
        if event in _NETWORK_EVENTS and not is_local:
            attempts.append(event)
            raise ConnectionRefusedError(f"{event} refused: offline check")

    sys.addaudithook(on_event)
    # Windows does not delete files that are still mapped.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        try:
            best = _index_and_query(Path(folder), device)
        except CodeSearchError as error:
            yield Check("offline", "FAIL", str(error))
            return
    if attempts:
        yield Check("offline", "FAIL", f"codesearch tried to use the network: {', '.join(attempts)}")
    else:
        yield Check("offline", "ok", f"indexed and queried without a network; best answer {best}")


def _index_and_query(folder: Path, device: str) -> str:
    root = folder / "tree"
    shutil.copytree(Path(codesearch.__file__).parent / "parsing", root)
    engine = Engine(folder / "home", device=device)
    engine.index(root)
    hits = engine.search("split an identifier into subtokens", Scope()).hits
    engine.close()
    if not hits:
        raise CodeSearchError("the query found nothing", "install or export the model again")
    return f"{hits[0].path}:{hits[0].start_line} {hits[0].qualified_name}"
