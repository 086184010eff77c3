"""Memory of the sessions of agents with a running service, and without one -> `results/mcp_memory.json`.

`python -m benchmarks.mcp_memory ROOT HOME` starts one session of `codesearch mcp` for an indexed folder, then five, and
measures them and the service after all sessions have answered. A page that processes share counts once. It needs
Linux and the extra `mcp`.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from benchmarks.peers import QUERIES, Paths
from benchmarks.process import INSTALLED, child_processes
from benchmarks.publish import record
from benchmarks.service import running_service
from codesearch.engine.engine import Engine

_SESSIONS = 1, 5


def main() -> None:
    """Measure and record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path, help="indexed folder")
    parser.add_argument("home", type=Path, help="folder of its index")
    options = parser.parse_args()
    paths = Paths(options.root, options.home, options.home)
    (status,) = Engine(paths.store).status(paths.root)
    rows = {"documents": status.documents, "with_service": {}, "without": {}}
    for count in _SESSIONS:
        with running_service(paths.store) as service:  # A new one, because it keeps what it opened.
            sessions_mb = asyncio.run(measure(paths, count, [service]))
        rows["with_service"][f"sessions_{count}_mb"] = sessions_mb
        rows["without"][f"sessions_{count}_mb"] = asyncio.run(measure(paths, count))
    record("mcp_memory", rows, flat=True)


async def measure(paths: Paths, count: int, others: Sequence[int] = ()) -> float:
    """Return the megabytes of so many sessions that have answered, and of other processes."""
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters

    command = ["-m", "codesearch", "mcp", "--root", str(paths.root), "--home", str(paths.store)]
    variables = {**os.environ, **INSTALLED}
    variables.pop("CODESEARCH_NO_SERVICE", None)
    server = StdioServerParameters(command=sys.executable, args=command, env=variables)
    before = set(child_processes(os.getpid()))
    async with AsyncExitStack() as open_sessions:
        clients = [await open_sessions.enter_async_context(Client(server)) for _ in range(count)]
        for query in QUERIES:
            for client in clients:
                answer = await client.call_tool("search", {"query": query})
                assert not answer.is_error, answer
        sessions = set(child_processes(os.getpid())) - before
        return round(sum(map(tree_pss_bytes, [*sessions, *others])) / 1e6, 1)


def tree_pss_bytes(pid: int) -> int:
    """Return the proportional set size of a process and all its descendants."""
    sizes = Path(f"/proc/{pid}/smaps_rollup").read_text().split("\nPss:")[1].split()
    return int(sizes[0]) * 1024 + sum(map(tree_pss_bytes, child_processes(pid)))


if __name__ == "__main__":
    main()
