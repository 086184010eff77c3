"""A pool of worker processes that run `python -m codesearch.build.worker`.

The pools of `multiprocessing` import the main module of the program in each process. A script without
`if __name__ == "__main__":` would run again. These workers do not import it. Each worker is in a separate process
group, so a keyboard interrupt reaches only the parent, which then ends its workers.
"""

from __future__ import annotations

import atexit
import os
import pickle
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from codesearch.processes import start_python

if TYPE_CHECKING:
    from concurrent.futures import Future

T = TypeVar("T")
R = TypeVar("R")


class WorkerDiedError(Exception):
    """A worker process ended in the middle of a task."""

    seconds = 0.0  # How long it worked at the task.
    timed_out = False  # Whether its own limit of processor time ended it.


class WorkerStartError(Exception):
    """A worker process ended before its first task."""


_KILL = getattr(signal, "SIGKILL", signal.SIGTERM)
"""The signal that kills a process. Windows has no SIGKILL, but SIGTERM kills there."""
_TIMER = getattr(signal, "SIGPROF", None)
_RUNNING: set[int] = set()
"""Process ids of all workers of this process."""
_READY: list[_Worker] = []
"""At most one worker that no pool uses: `start_early` started it, or a small pool left it for the next one."""


def kill_all() -> None:
    """Kill every worker of this process; a signal handler calls this, so it takes no lock."""
    for pid in list(_RUNNING):
        try:
            os.kill(pid, _KILL)
        except OSError:  # The process has just ended.
            continue


def start_early() -> None:
    """Start a worker that the next pool takes, so that it imports its modules while this process plans its work."""
    if not _READY:
        _READY.append(_Worker())


def end_ready() -> None:
    """End the worker that no pool uses, if there is one."""
    while _READY:
        _READY.pop().end()


atexit.register(end_ready)


def _ready_worker() -> _Worker:
    """Return the worker that no pool uses, unless it has ended; else start one."""
    with suppress(IndexError):
        worker = _READY.pop()
        if worker.is_running:
            return worker
        worker.end()
    return _Worker()


class Workers(Generic[T, R]):
    """Runs tasks in up to `count` processes, which start when they are needed.

    If a process dies, its task fails and a later task starts a new process.
    """

    def __init__(self, count: int, start: Callable[..., Callable[[T], R]], *arguments: object) -> None:
        from concurrent.futures import ThreadPoolExecutor

        self._start = start, arguments
        self._count = count
        self._threads = ThreadPoolExecutor(count, "worker")  # Each thread waits for one process at a time.
        self._lock = threading.Lock()
        self._idle: list[_Worker] = []
        self._all: set[_Worker] = set()
        self._closed = False

    def submit(self, task: T) -> Future[R]:
        """Give a task to the next free process; if that ends, the future raises one of the errors above."""
        return self._threads.submit(self._run, task)

    def close(self) -> None:
        """End all processes; unfinished tasks are lost. The only process of a small pool stays for the next one."""
        with self._lock:
            self._closed = True
            workers = list(self._all)
            idle = list(self._idle)
        for worker in workers:
            if self._count == 1 and worker in idle and not _READY:
                _READY.append(worker)
            else:
                worker.end()
        self._threads.shutdown(cancel_futures=True)

    def _run(self, task: T) -> R:
        worker = self._take()
        started = time.monotonic()
        try:
            result: R = worker.ask(task)
        except WorkerDiedError as error:
            self._forget(worker)
            error.seconds, error.timed_out = time.monotonic() - started, worker.timed_out
            raise
        with self._lock:
            self._idle.append(worker)
        return result

    def _take(self) -> _Worker:
        with self._lock:
            if self._idle:
                return self._idle.pop()
            if self._closed:
                raise WorkerDiedError("the pool is closed")
            worker = _ready_worker()
            self._all.add(worker)
        try:
            worker.ask(self._start, is_start=True)
        except WorkerDiedError as error:
            self._forget(worker)
            raise WorkerStartError(str(error)) from None
        return worker

    def _forget(self, worker: _Worker) -> None:
        with self._lock:
            self._all.discard(worker)
        worker.end()


class _Worker:
    """One process and the pipes to it."""

    def __init__(self) -> None:
        self._process = start_python("codesearch.build.worker")
        _RUNNING.add(self._process.pid)

    @property
    def is_running(self) -> bool:
        """Say whether the process has not ended."""
        return self._process.poll() is None

    @property
    def timed_out(self) -> bool:
        """Say whether its own limit of processor time ended the process."""
        return _TIMER is not None and self._process.returncode == -_TIMER

    def ask(self, message: object, *, is_start: bool = False) -> Any:  # noqa: ANN401 - any task's result.
        """Give the process a task and return its result, or let it open the handler of the next tasks."""
        assert self._process.stdin and self._process.stdout
        try:
            pickle.dump((is_start, message), self._process.stdin, pickle.HIGHEST_PROTOCOL)
            self._process.stdin.flush()
            done, result = pickle.load(self._process.stdout)
        except (EOFError, OSError, ValueError, pickle.UnpicklingError):  # ValueError: `end` closed the pipes.
            raise WorkerDiedError(f"worker process {self._process.pid} ended") from None
        if not done:
            raise result
        return result

    def end(self) -> None:
        """Kill the process and wait for its end; it has no state that must be saved."""
        self._process.kill()
        self._process.wait()
        _RUNNING.discard(self._process.pid)
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):  # Closing flushes data that nobody reads any more.
                if pipe:
                    pipe.close()
