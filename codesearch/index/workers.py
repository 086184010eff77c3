"""A pool of worker processes that run `python -m codesearch.index.worker`.

The pools of `multiprocessing` import the main module of the program in each process. A script without
`if __name__ == "__main__":` would run again. These workers do not import it. Each worker is in a separate process
group, so a keyboard interrupt reaches only the parent, which then ends its workers.
"""

from __future__ import annotations

import faulthandler
import os
import pickle
import signal
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Generic, NoReturn, Protocol, TypeVar

import codesearch
from codesearch.index.worker import answer

if TYPE_CHECKING:
    from concurrent.futures import Future

T = TypeVar("T")
R = TypeVar("R")


class WorkerDiedError(Exception):
    """A worker process ended in the middle of a task."""


class WorkerStartError(Exception):
    """A worker process ended before its first task."""


_KILL = getattr(signal, "SIGKILL", signal.SIGTERM)
"""The signal that kills a process. Windows has no SIGKILL, but SIGTERM kills there."""
_RUNNING: set[int] = set()
"""Process ids of all workers of this process."""


def kill_all() -> None:
    """Kill every worker of this process; a signal handler calls this, so it takes no lock."""
    for pid in list(_RUNNING):
        try:
            os.kill(pid, _KILL)
        except OSError:  # The process has just ended.
            continue


class Workers(Generic[T, R]):
    """Runs tasks in up to `count` processes, which start when they are needed.

    If a process dies, its task fails and a later task starts a new process.
    """

    def __init__(self, count: int, start: Callable[..., Callable[[T], R]], *arguments: object) -> None:
        """Open the pool.

        Args:
            count: maximum number of processes.
            start: called once in each process; returns the function that handles its tasks.
            arguments: the arguments of `start`.
        """
        from concurrent.futures import ThreadPoolExecutor  # 5 ms, and most updates need no pool.

        self._open = partial(_started, start, *arguments)
        self._threads = ThreadPoolExecutor(count, "worker")  # Each thread waits for one process at a time.
        self._lock = threading.Lock()
        self._idle: list[_Worker] = []
        self._all: set[_Worker] = set()
        self._closed = False

    def submit(self, task: T) -> Future[R]:
        """Give a task to the next free process.

        The future raises WorkerDiedError or WorkerStartError if the process ends, or the exception of the task.
        """
        return self._threads.submit(self._run, task)

    def close(self) -> None:
        """End all processes; unfinished tasks are lost."""
        with self._lock:
            self._closed = True
            workers = list(self._all)
        for worker in workers:
            worker.end()
        self._threads.shutdown(cancel_futures=True)

    def _run(self, task: T) -> R:
        worker = self._take()
        try:
            result: R = worker.ask(task)
        except WorkerDiedError:
            self._forget(worker)
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
            worker, message = self._open()
            self._all.add(worker)
        try:
            worker.ask_pickled(message)
        except WorkerDiedError as error:
            self._forget(worker)
            raise WorkerStartError(str(error)) from None
        return worker

    def _forget(self, worker: _Worker) -> None:
        with self._lock:
            self._all.discard(worker)
        worker.end()


class OneWorker(Generic[T, R]):
    """Runs one task after another in one process, which starts when it is needed, and again if it died."""

    def __init__(self, start: Callable[..., Callable[[T], R]], *arguments: object, copy: bool) -> None:
        """Set the worker up.

        Args:
            start: called once in each process; returns the function that handles its tasks.
            arguments: the arguments of `start`.
            copy: whether the process is a copy of this one (a fork), which starts in a few milliseconds and has all
                objects of this process; only if `can_copy()`.
        """
        self._open = partial(_copied if copy else _started, start, *arguments)
        self._worker: _Worker | None = None

    def ask(self, task: T) -> R:
        """Run a task and return its result.

        Raises:
            WorkerDiedError: the process ended in the middle of the task.
            WorkerStartError: the process ended before its first task.
        """
        if self._worker is None:
            self._worker, message = self._open()
            try:
                self._worker.ask_pickled(message)
            except WorkerDiedError as error:
                self.close()
                raise WorkerStartError(str(error)) from None
        try:
            result: R = self._worker.ask(task)
        except WorkerDiedError:
            self.close()
            raise
        return result

    def close(self) -> None:
        """End the process."""
        if self._worker:
            self._worker.end()
            self._worker = None


class _Process(Protocol):
    """What `subprocess.Popen` and `_Copy` have in common."""

    pid: int
    stdin: IO[bytes] | None
    stdout: IO[bytes] | None

    def kill(self) -> None: ...
    def wait(self) -> int: ...


def can_copy() -> bool:
    """Say whether this process may be copied now.

    On macOS, a copy may crash in the system's libraries. Another thread may hold a lock that the copy never gets, and
    gRPC has such threads that Python does not count.
    """
    is_alone = threading.active_count() == 1 and "grpc" not in sys.modules
    return sys.platform == "linux" and hasattr(os, "fork") and is_alone


class _Copy:
    """A copy of this process that only answers tasks.

    The copy has one thread. Other threads of this process may hold locks at the moment of the copy, so tasks must not
    wait for locks, and whatever they import should be imported before.
    """

    def __init__(self, start: Callable[[], Callable[[Any], Any]]) -> None:
        tasks, stdin = os.pipe()
        stdout, replies = os.pipe()
        self.pid = os.fork()
        if not self.pid:
            _answer_in_copy(start, tasks, replies)
        os.close(tasks)
        os.close(replies)
        self.stdin: IO[bytes] | None = os.fdopen(stdin, "wb")
        self.stdout: IO[bytes] | None = os.fdopen(stdout, "rb")
        self._is_gone = False

    def kill(self) -> None:
        if not self._is_gone:
            os.kill(self.pid, _KILL)

    def wait(self) -> int:
        if not self._is_gone:
            self._is_gone = True
            os.waitpid(self.pid, 0)
        return 0


def _answer_in_copy(start: Callable[[], Callable[[Any], Any]], tasks: int, replies: int) -> NoReturn:
    """Answer tasks, then end without a trace in files and pipes that belong to the original process."""
    try:
        os.setpgid(0, 0)  # A keyboard interrupt reaches only the parent.
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPROF):
            signal.signal(number, signal.SIG_DFL)
        faulthandler.disable()
        for name in os.listdir("/proc/self/fd"):
            if int(name) > 2 and int(name) not in (tasks, replies):
                with suppress(OSError):  # The one that listed them.
                    os.close(int(name))
        answer(os.fdopen(tasks, "rb"), os.fdopen(replies, "wb"), start)
    finally:
        os._exit(0)


def _started(start: Callable[..., Callable[[Any], Any]], *arguments: object) -> tuple[_Worker, bytes]:
    """Start a new process; return it, and the message that opens it."""
    message = pickle.dumps((start, arguments), pickle.HIGHEST_PROTOCOL)
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "codesearch.index.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": _python_path()},
        process_group=0,
        creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),  # The process group on Windows.
    )
    return _Worker(process), message


def _copied(start: Callable[..., Callable[[Any], Any]], *arguments: object) -> tuple[_Worker, bytes]:
    """Copy this process; return the copy. It needs no message to open."""
    return _Worker(_Copy(partial(start, *arguments))), b""


class _Worker:
    """One process and the pipes to it."""

    def __init__(self, process: _Process) -> None:
        self._process = process
        _RUNNING.add(process.pid)

    def ask(self, task: object) -> Any:  # noqa: ANN401 - any task's result.
        """Give the process a task and return its result."""
        return self.ask_pickled(pickle.dumps(task, pickle.HIGHEST_PROTOCOL))

    def ask_pickled(self, message: bytes) -> Any:  # noqa: ANN401 - any task's result.
        assert self._process.stdin and self._process.stdout
        try:
            self._process.stdin.write(message)
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
            try:
                if pipe:
                    pipe.close()
            except OSError:  # Closing flushes data that was not written yet, but nobody reads it any more.
                pass


def _python_path() -> str:
    """Return a PYTHONPATH with which a new process can import this package; it keeps the inherited entries."""
    package = str(Path(codesearch.__file__).parents[1])
    inherited = os.environ.get("PYTHONPATH", "")
    if package in (sysconfig.get_path("purelib"), sysconfig.get_path("platlib")):
        return inherited
    return os.pathsep.join(filter(None, (package, inherited)))
