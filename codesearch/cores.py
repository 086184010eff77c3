"""What of the machine this process may use: cores and memory."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
"""Files with the memory of a container, in the two versions of control groups."""
_LEAST_BYTES, _MOST_BYTES = 300_000_000, 4_000_000_000


def available_cores() -> int:
    """Count the cores that this process may run on, at least 1; a container often allows only some of them."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def memory_budget_bytes() -> int:
    """Return how much memory the worker processes of a run may have together: a quarter, from 300 MB to 4 GB."""
    return min(max(_memory_bytes() // 4, _LEAST_BYTES), _MOST_BYTES)


def _memory_bytes() -> int:
    """Return the memory of the machine or of the container; if the system does not say it, enough for the most."""
    found = [4 * _MOST_BYTES]
    with suppress(AttributeError, ValueError, OSError):  # Windows has no `sysconf`.
        found.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    for path in LIMITS:
        with suppress(OSError, ValueError):  # ValueError: "max".
            found.append(int(Path(path).read_text()))
    return min(found)
