"""Run commands in forks of one process that has imported what they need: a new interpreter takes .3 s for each.

A fork has its own arguments, environment, working directory, stdout, stderr and exit code. It parses in its own
process, as tests do (see `conftest.py`).
"""

import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable
from concurrent.futures import Future
from functools import cached_property, lru_cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import codesearch
from codesearch.build import parse, workers
from codesearch.build.plan import digest_of
from codesearch.config import IndexConfig
from codesearch.engine import indexer, verify
from codesearch.files import Stamp, stamp_of
from codesearch.languages import language_named, load_query
from codesearch.service import client
from codesearch.text import onnx
from codesearch.text.bundle import SHIPPED, Bundle, read_bundle

_MESSAGE_BYTES = 1_000_000
_OPTIONAL = {"agents", "evaluation", "lsp", "milvus", "web"}
"""Packages that load much, and that few commands need."""
_LANGUAGES = ("go", "java", "javascript", "php", "python", "ruby")
"""Those of the trees that most tests index."""


class InThisProcess:
    """A pool of workers that runs each task at once, in the process of its caller."""

    def __init__(self, count: int, start: Callable[..., Callable[[Any], Any]], *arguments: object) -> None:
        self.start, self.arguments = start, arguments

    @cached_property
    def handle(self) -> Callable[[Any], Any]:
        return self.start(*self.arguments)

    def submit(self, task: object, *, alone: bool = False) -> Future[Any]:
        done: Future[Any] = Future()
        done.set_result(self.handle(task))
        return done

    def close(self) -> None:
        pass


@lru_cache(maxsize=4)
def _opened(path: Path, stamp: Stamp, device: str, threads: int, kind: type) -> Any:
    return _open_session(path, device, threads=threads)


def open_once(path: Path, device: str, *, threads: int) -> Any:
    """Open a graph of a model, or return it if this process has opened the same file."""
    return _opened(path, stamp_of(str(path)), device, threads, onnx.onnx_runtime().InferenceSession)


@lru_cache(maxsize=16)
def _verified(name: str) -> Path:
    return _check(read_bundle(SHIPPED), name)


def check_once(bundle: Bundle, name: str) -> Path:
    """Verify a file of a bundle; those of the shipped one only once, because no test changes them."""
    return _verified(name) if bundle.folder == SHIPPED else _check(bundle, name)


_open_session, _check = onnx.open_session, Bundle.checked


def save_time(replace: Callable[[object, str, object], None]) -> None:
    """Replace what takes most of the time of a small index: worker processes, syncing files and opening a model."""
    replace(parse, "Workers", InThisProcess)
    replace(parse, "limit_file", lambda *_: None)
    replace(workers, "start_early", lambda: None)
    replace(os, "fsync", lambda _: None)  # A power cut is no part of a test.
    replace(onnx, "open_session", open_once)
    replace(Bundle, "checked", check_once)
    replace(verify, "load_query", lambda _: None)  # `doctor` compiles the queries of all languages.
    replace(indexer, "_LEAST_WALK_S", 120.0)  # A busy machine is slow.


class Forks:
    """A process that runs commands in forks of itself. It starts with the first command."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._requests: socket.socket | None = None
        self._lock = threading.Lock()

    def run(self, arguments, folder, environment, shipped, timeout, *, given="", largest_file=None):
        """Run a command line in a fork, with a text for its stdin, and return its output.

        Raises:
            subprocess.TimeoutExpired: it did not end in time.
        """
        pipes = [os.pipe() for _ in ("stdout", "stderr")]
        ends, theirs = map(list, zip(*pipes, strict=True))
        try:
            with tempfile.TemporaryFile() as stdin:
                stdin.write(given.encode())
                stdin.seek(0)
                streams = [stdin.fileno(), *theirs]
                # A pipe has no size that `largest_file` could limit.
                ends.append(self.start(arguments, folder, environment, streams, shipped, largest_file))
                for end in theirs:
                    os.close(end)
            out, err, code = _read(*ends, timeout=timeout)
        except TimeoutError:
            self.close()
            raise subprocess.TimeoutExpired(arguments, timeout) from None
        finally:
            for end in ends:
                os.close(end)
        return subprocess.CompletedProcess(arguments, int(code), _text(out), _text(err))

    def start(self, arguments, folder, environment, streams, shipped=None, largest_file=None):
        """Start a command line in a fork with files for stdin, stdout and stderr; return a pipe with its exit code."""
        asked = json.dumps([arguments, str(folder), environment, str(shipped or ""), largest_file])
        code, theirs = os.pipe()
        with self._lock:
            socket.send_fds(self._started(), [asked.encode()], [*streams, theirs])
        os.close(theirs)
        return code

    def close(self) -> None:
        """End the process, and the commands that still run."""
        if self._process is not None and self._requests is not None:
            self._requests.close()
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = self._requests = None

    def _started(self) -> socket.socket:
        if self._requests is None:
            self._requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with theirs:
                theirs_number = theirs.fileno()
                self._process = subprocess.Popen(
                    [sys.executable, "-m", "tests.forks", str(theirs_number)],
                    cwd=Path(__file__).parents[1],
                    stdin=subprocess.DEVNULL,
                    pass_fds=[theirs_number],
                    start_new_session=True,
                )
        return self._requests


def _read(out: int, err: int, code: int, timeout: float) -> list[bytes]:
    """Read pipes until that of the exit code is closed: what the command started may keep the others open."""
    texts = {end: b"" for end in (out, err, code)}
    poll = select.poll()  # `select` refuses descriptors above 1,023.
    for end in texts:
        poll.register(end, select.POLLIN | select.POLLHUP)
    deadline = time.monotonic() + timeout
    while True:
        ready = [end for end, _ in poll.poll(max(0.0, deadline - time.monotonic()) * 1_000)]
        if not ready:
            raise TimeoutError
        for end in ready:
            texts[end] += (piece := os.read(end, 1 << 16))
            if not piece and end != code:
                poll.unregister(end)
        if ready == [code] and not piece:
            return [*texts.values()]


def _text(output: bytes) -> str:
    return output.decode().replace("\r\n", "\n")


def _serve(requests: socket.socket) -> None:
    """Fork for each request, and fork again: the first fork reports how the second one, the command, ends."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        message, files, _, _ = socket.recv_fds(requests, _MESSAGE_BYTES, 4)
        if not message:
            os._exit(0)
        if os.fork() == 0:
            requests.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            *streams, answer = files
            command = os.fork()
            if command == 0:
                os.close(answer)
                _become(streams, *json.loads(message))
                os._exit(_exit_code())
            code = os.waitstatus_to_exitcode(os.waitpid(command, 0)[1])
            os.write(answer, str(code).encode())
            os._exit(0)
        for file in files:
            os.close(file)


def _become(streams, arguments, folder, environment, shipped, largest_file):
    for number, file in enumerate(streams):
        os.dup2(file, number)
        os.close(file)
    # Those of the first process remember whether their files could be rewound.
    sys.stdin, sys.stdout = open(0), open(1, "w")
    sys.stderr = open(2, "w", buffering=1, errors="backslashreplace")
    if largest_file is not None:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["codesearch", *arguments]
    for name, module in list(sys.modules.items()) if shipped else ():
        if name.startswith("codesearch.") and hasattr(module, "SHIPPED"):
            module.SHIPPED = Path(shipped)


def _exit_code() -> int:
    """Run the command and return its exit code. Threads of libraries do not survive a fork, so none is ended."""
    from codesearch.cli.entry import run

    code = 0
    try:
        run()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0
    except BaseException:
        traceback.print_exc()
        code = 1
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    return code


def _prepare() -> None:
    """Load what the commands load, and let them parse in their own process."""
    packages = (package for package in iter_modules(codesearch.__path__, "codesearch.") if package.ispkg)
    loaded = [package.name for package in packages if package.name.split(".")[1] not in _OPTIONAL]
    for name in loaded:
        for module in iter_modules(import_module(name).__path__, f"{name}."):
            import_module(module.name)
    for name in ("onnxruntime", "rich.progress", "tokenizers"):
        import_module(name)
    for language in _LANGUAGES:
        load_query(language_named(language))
    digest_of(IndexConfig(), "")  # Finds the versions of the grammars.
    save_time(setattr)
    client.DEADLINE_S = 120.0  # A busy machine is slow.
    gc.freeze()


if __name__ == "__main__":
    _prepare()
    _serve(socket.socket(fileno=int(sys.argv[1])))
