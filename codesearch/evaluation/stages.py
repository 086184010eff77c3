"""Stages of a run -> seconds and peak memory of each."""

from __future__ import annotations

import mmap
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_EVERY_S = 0.02
PROC = Path("/proc")


class StageClock:
    """Times stages one after the other, and samples the memory of this process and all its descendants.

    The time of a stage that is run several times is the sum. A page that processes share counts for each.
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.rss_bytes: dict[str, int] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Measure the body of the context."""
        done = threading.Event()
        watch = threading.Thread(target=self._sample, args=(name, done), daemon=True)
        started = time.perf_counter()
        watch.start()
        try:
            yield
        finally:
            self.seconds[name] = round(self.seconds.get(name, 0.0) + time.perf_counter() - started, 3)
            done.set()
            watch.join()

    def _sample(self, name: str, done: threading.Event) -> None:
        """Keep the highest memory of a stage until it is done."""
        while True:
            self.rss_bytes[name] = max(self.rss_bytes.get(name, 0), tree_rss_bytes(os.getpid()))
            if done.wait(_EVERY_S):
                return


def tree_rss_bytes(pid: int) -> int:
    """Return the resident memory of a process and all its descendants.

    Without /proc, it is the highest value so far of this process plus that of its largest child; on Windows it is 0.
    """
    if not PROC.exists():
        try:
            import resource
        except ModuleNotFoundError:  # Windows has no such module.
            return 0
        unit = 1 if sys.platform == "darwin" else 1024
        usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        return unit * sum(usage.ru_maxrss for usage in usages)
    try:
        pages = int((PROC / str(pid) / "statm").read_text().split()[1])
        return pages * mmap.PAGESIZE + sum(map(tree_rss_bytes, child_processes(pid)))
    except (OSError, IndexError):  # The process ended meanwhile.
        return 0


def child_processes(pid: int) -> list[int]:
    """Return the ids of a process's children, by Linux's /proc."""
    lists = (path.read_text() for path in (PROC / str(pid) / "task").glob("*/children"))
    return [int(child) for line in lists for child in line.split()]
