"""Worker processes, all started in one safe way.

An interrupt is the parent's to answer: workers do not see it, and are shut down by whoever opened them.
"""

from __future__ import annotations

import multiprocessing
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def open_processes(count: int, start: Callable[..., None], *args: object) -> ProcessPoolExecutor:
    """Open a pool of `count` processes, each of which calls `start(*args)` before its first work."""
    # A fork of a process that runs threads can hang; the server forks from a clean one, imports done.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["codesearch.index.worker"])
    return ProcessPoolExecutor(count, mp_context=context, initializer=start, initargs=args)


def submit(
    executor: ProcessPoolExecutor, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs
) -> Future[T]:
    """Hand work to a pool, which may start a process for it."""
    with _interrupts_held():
        return executor.submit(work, *args, **kwargs)


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Put an interrupt off, and keep it from processes that are started meanwhile.

    What it means is the parent's to decide, but in the middle of starting a process it would leave that one an
    orphan, which complains.
    """
    held: list[int] = []
    in_main = threading.current_thread() is threading.main_thread()  # No other is interrupted, or may ask.
    handler = signal.signal(signal.SIGINT, lambda number, _: held.append(number)) if in_main else None
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        if in_main:
            signal.signal(signal.SIGINT, handler)
    if held:
        raise KeyboardInterrupt
