"""The number of cores that this process may use."""

from __future__ import annotations

import os


def available_cores() -> int:
    """Count the cores that this process may run on, at least 1; a container often allows only some of them."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
