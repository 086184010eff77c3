"""A command -> wall and CPU seconds, peak memory and exit code, over all its processes; calls -> milliseconds."""

from __future__ import annotations

import mmap
import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from codesearch.evaluation.judge import StageClock
from codesearch.processes import python_command

_EVERY_S = 0.02
_PROC = Path("/proc")
INSTALLED = {"PYTHONDONTWRITEBYTECODE": ""}
"""Variables for commands of a checkout. Python writes bytecode for it, as for an installed package."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Time, memory and output of a command.

    Attributes:
        cpu_s: sum over all its processes. It is sampled, so up to 20 ms of each may be missing.
        peak_mb: highest sum of resident memory; pages that processes share count for each.
        output: its stdout, then its stderr.
    """

    wall_s: float
    cpu_s: float
    peak_mb: float
    code: int
    output: str

    def utilisation(self, cores: int) -> float:
        """Return the share of `cores` that was busy."""
        return self.cpu_s / (self.wall_s * cores)


def measured(
    command: Sequence[str | Path],
    *,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    timeout_s: float = 900,
) -> Usage:
    """Run a command until it ends, or until the timeout, which counts as a failure."""
    started = time.perf_counter()
    process = subprocess.Popen(
        [str(word) for word in command],
        cwd=folder,
        env={**os.environ, **INSTALLED, **(environment or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    watch = _Watch(process.pid)
    watch.start()
    try:
        stdout, stderr = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        process.kill()
        stdout, stderr = process.communicate()
        stderr += f"stopped after {timeout_s:.0f} s"
    finally:
        wall_s = time.perf_counter() - started
        watch.stop()
    return Usage(
        round(wall_s, 3),
        round(watch.cpu_s(), 2),
        round(watch.peak_bytes / 1e6, 1),
        process.returncode,
        stdout + stderr,
    )


def run_codesearch(folder: Path, home: Path, *words: str) -> Usage:
    """Run a command of codesearch in a folder.

    Raises:
        RuntimeError: it failed.
    """
    usage = measured(python_command("codesearch", *words, "--home", str(home)), folder=folder)
    if usage.code:
        raise RuntimeError(usage.output)
    return usage


def git(folder: Path, *words: str | Path) -> str:
    """Run git in a folder; return what it prints."""
    done = subprocess.run(["git", "-C", folder, *words], check=True, capture_output=True, text=True)
    return done.stdout.strip()


class _Watch(threading.Thread):
    """Samples a process and all its descendants until it is stopped."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._pid = pid
        self._done = threading.Event()
        self._cpu_ticks: dict[int, int] = {}
        self.peak_bytes = 0

    def run(self) -> None:
        while not self._done.wait(_EVERY_S):
            self.peak_bytes = max(self.peak_bytes, tree_rss_bytes(self._pid))
            self._cpu_ticks.update(tree_cpu_ticks(self._pid))

    def stop(self) -> None:
        self._done.set()
        self.join()

    def cpu_s(self) -> float:
        return sum(self._cpu_ticks.values()) / os.sysconf("SC_CLK_TCK")


class MemoryClock(StageClock):
    """Also samples the memory of this process and all its descendants; a page that processes share counts for each."""

    def __init__(self) -> None:
        super().__init__()
        self.rss_bytes: dict[str, int] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Measure the body of the context."""
        watch = _Watch(os.getpid())
        watch.start()
        try:
            with super().stage(name):
                yield
        finally:
            watch.stop()
            peak = max(watch.peak_bytes, tree_rss_bytes(os.getpid()))
            self.rss_bytes[name] = max(self.rss_bytes.get(name, 0), peak)


def tree_rss_bytes(pid: int) -> int:
    """Return the resident memory of a process and all its descendants; 0 once it is gone."""
    try:
        pages = int((_PROC / str(pid) / "statm").read_text().split()[1])
        return pages * mmap.PAGESIZE + sum(map(tree_rss_bytes, child_processes(pid)))
    except (OSError, IndexError):
        return 0


def child_processes(pid: int) -> list[int]:
    """Return the ids of a process's children."""
    lists = (path.read_text() for path in (_PROC / str(pid) / "task").glob("*/children"))
    return [int(child) for line in lists for child in line.split()]


def tree_cpu_ticks(pid: int) -> dict[int, int]:
    """Return the clock ticks of a process and each descendant, by process id; {} once the process is gone."""
    try:
        # The name, in brackets, may have any characters, so read the fields after it.
        fields = (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
        children = child_processes(pid)
    except (OSError, IndexError):
        return {}
    ticks = {pid: int(fields[11]) + int(fields[12])}
    for child in children:
        ticks.update(tree_cpu_ticks(child))
    return ticks


def folder_mb(folder: Path) -> float:
    """Add up the files below a folder."""
    return round(sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6, 1)


def seconds_of(call: Callable[[], object]) -> float:
    """Return the seconds that a call takes."""
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def quantiles(times: Sequence[float]) -> dict[str, float]:
    """Return p50 and p95 of milliseconds.

    >>> quantiles([1.0, 2.0, 3.0])
    {'p50_ms': 2.0, 'p95_ms': 2.9}
    """
    p50, p95 = np.percentile(times, [50, 95])
    return {"p50_ms": round(float(p50), 2), "p95_ms": round(float(p95), 2)}
