"""Calls and their milliseconds -> the figures of a table."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np


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
