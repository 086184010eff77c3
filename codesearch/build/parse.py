"""Files -> parsed files, in the same order, on all cores.

Parsing holds the interpreter lock, so worker processes do it. They work on a few chunks at a time, which limits memory.
A small file can make a parser take minutes or gigabytes. So a process limits its time and memory before each file, by
the size of the file, and the system ends a process that goes over a limit, also in a parser's C code. Only this file is
affected: it is cut into blocks of lines, with a warning. Linux has both limits. macOS has no limit of memory. Windows
has a limit of time on the clock instead of processor time.

When a run has lost `LOST_S` seconds, each further file has only the time that ordinary files need.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codesearch.build.file_parser import FileParser, ParsedFile, skipped_file
from codesearch.build.workers import WorkerDiedError, Workers, WorkerStartError
from codesearch.config import ParseConfig
from codesearch.errors import CodeSearchError, IndexWriteError
from codesearch.languages.records import Language
from codesearch.parsing.walker import SourceFile
from codesearch.processes import available_cores, memory_budget_bytes
from codesearch.store.digest import content_digest
from codesearch.store.manifest import LEFT_OUT
from codesearch.treefiles import read_below

try:
    import resource
except ModuleNotFoundError:  # Windows does not have it.
    resource = None  # type: ignore[assignment]

if TYPE_CHECKING:  # Workers do not need these modules, and importing them takes time.
    from concurrent.futures import Future

    from codesearch.parsing.extract import Extraction


_HAS_TIMER = hasattr(signal, "setitimer")
SECONDS, SECONDS_PER_MB, _MOST_SECONDS = 4.0, 10.0, 30.0
_ORDINARY_SECONDS, _ORDINARY_SECONDS_PER_MB = 0.5, 1.5
"""Ordinary files take less than 1 s for each MB on a slow core."""
LOST_S = 60.0
_BYTES, _BYTES_PER_BYTE = 400_000_000, 250
_CHUNK_BYTES = 400_000
CHUNK_FILES = 64
_SERIAL_BYTES = 1_000_000
"""With fewer bytes of source than this, one worker is enough."""
_AHEAD_BYTES = 4_000_000
"""Source per worker from which no chunk waits for a free worker: parsed files that wait for their turn take memory."""
_LEAST_WORKER_BYTES = 256_000_000
_MOST_EXTRACTORS = 4
"""Processes for a few files that a command needs at once."""
Parsed = list[ParsedFile | None]


@dataclass(frozen=True, slots=True)
class Task:
    """Files to parse."""

    files: list[SourceFile]
    is_plain: bool  # Whether they are only cut into blocks of lines.
    left_s: float  # Seconds that the run may still lose.


def parse_files(
    parser: FileParser, files: Sequence[SourceFile], workers: int | None = None
) -> Generator[tuple[SourceFile, ParsedFile | None], None, None]:
    """Parse files in order; yield None for a file that no longer exists."""
    count = min(workers or available_cores(), max(memory_budget_bytes() // _LEAST_WORKER_BYTES, 1))
    if _size(files) < _SERIAL_BYTES:
        count = 1
    try:
        pool: Workers[Task, Parsed] = Workers(count, _open_parser, parser)
        with closing(pool):
            yield from _Run(pool, parser, count).results(files)
    except WorkerStartError:
        raise IndexWriteError(
            "the worker processes stop before their first task, probably because memory ran out",
            "free some and run `codesearch index` again",
        ) from None


class _Run:
    """The processes of one run, and the time that it may still lose."""

    def __init__(self, pool: Workers[Task, Parsed], parser: FileParser, workers: int) -> None:
        self._pool, self._parser, self._workers, self._left_s = pool, parser, workers, LOST_S

    def results(self, files: Sequence[SourceFile]) -> Iterator[tuple[SourceFile, ParsedFile | None]]:
        """Submit a few chunks at a time and yield their results in order."""
        waiting, workers = chunks_of(files), self._workers
        submitted: deque[tuple[list[SourceFile], Future[Parsed]]] = deque()
        ahead = 0
        while True:
            while len(submitted) < (workers if ahead > workers * _AHEAD_BYTES else 2 * workers + 1):
                if (chunk := next(waiting, None)) is None:
                    break
                submitted.append((chunk, self._pool.submit(Task(chunk, False, self._left_s))))
                ahead += _size(chunk)
            if not submitted:
                return
            chunk, future = submitted.popleft()
            ahead -= _size(chunk)
            try:
                yield from zip(chunk, future.result(), strict=True)
            except WorkerDiedError as error:  # One of the files crashed it or went over a limit.
                self._left_s -= error.seconds
                for file in chunk:
                    yield file, self._alone(file, only_plain=error.timed_out and len(chunk) == 1)

    def _alone(self, file: SourceFile, *, only_plain: bool) -> ParsedFile | None:
        """Parse a file; if its process dies, cut it into blocks of lines; if that fails too, skip it."""
        for is_plain in (True,) if only_plain else (False, True):
            try:
                return self._pool.submit(Task([file], is_plain, self._left_s)).result()[0]
            except WorkerDiedError as error:
                self._left_s -= error.seconds
        warning = (
            f"{file.path}: the {file.language} parser crashed or takes too much time or memory: left out"
        )
        digest = b""
        with suppress(OSError):  # With the digest, it is not parsed again until it changes.
            digest = content_digest(read_below(self._parser.root, file.path, self._parser.config.walk)[0])
        return skipped_file(file, LEFT_OUT, digest=digest, warning=warning)


def _size(files: Sequence[SourceFile]) -> int:
    return sum(file.size for file in files)


def chunks_of(files: Sequence[SourceFile]) -> Iterator[list[SourceFile]]:
    """Split files into chunks; a process parses one chunk at a time."""
    chunk: list[SourceFile] = []
    size = 0
    for file in files:
        chunk.append(file)
        size += file.size
        if size >= _CHUNK_BYTES or len(chunk) >= CHUNK_FILES:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def extract_guarded(source: bytes, path: str, spec: Language, config: ParseConfig) -> Extraction:
    """Call `extract` in another process, with limits of time and memory."""
    (extraction,) = extract_each([(source, path, spec)], config)
    if extraction is None:
        raise CodeSearchError(f"{path}: the {spec.name} parser takes too much time or memory")
    return extraction


def extract_each(
    files: Iterable[tuple[bytes, str, Language]], config: ParseConfig
) -> Iterator[Extraction | None]:
    """Call `extract` for each source with its path and language in other processes; None if it goes over a limit."""
    listed = list(files)
    is_small = sum(len(source) for source, *_ in listed) < _SERIAL_BYTES
    count = 1 if is_small else min(len(listed), available_cores(), _MOST_EXTRACTORS)
    pool: Workers[tuple[bytes, str, Language], Extraction] = Workers(max(count, 1), _open_extractor, config)
    with closing(pool):
        for future in [pool.submit(file) for file in listed]:
            try:
                yield future.result()
            except (WorkerDiedError, WorkerStartError):
                yield None


def _open_extractor(config: ParseConfig) -> Callable[[tuple[bytes, str, Language]], Extraction]:
    from codesearch.parsing.extract import extract

    def extract_limited(file: tuple[bytes, str, Language]) -> Extraction:
        limit_file(len(file[0]), LOST_S)
        extraction = extract(*file, config)
        lift_limits()
        return extraction

    return extract_limited


def _open_parser(parser: FileParser) -> Callable[[Task], Parsed]:
    def parse(task: Task) -> Parsed:
        parsed = []
        for file in task.files:
            limit_file(file.size, task.left_s)
            parsed.append(parser.parse(file, is_plain=task.is_plain))
        lift_limits()
        return parsed

    return parse


def limit_file(size: int, left_s: float) -> None:
    """Limit this process from now on to what a file may take; end the process if it takes more."""
    ordinary = _ORDINARY_SECONDS + _ORDINARY_SECONDS_PER_MB * size / 1e6
    seconds = max(min(SECONDS + SECONDS_PER_MB * size / 1e6, _MOST_SECONDS, left_s), ordinary)
    if _HAS_TIMER:
        signal.setitimer(signal.ITIMER_PROF, seconds)
    else:
        faulthandler.dump_traceback_later(seconds, exit=True, file=open(os.devnull, "w"))
    if resource and sys.platform == "linux":
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        limit = min(_data_bytes() + _BYTES + _BYTES_PER_BYTE * size, memory_budget_bytes())
        resource.setrlimit(
            resource.RLIMIT_DATA, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard)
        )


def lift_limits() -> None:
    """End the limit of time; the limit of memory stays until the next file."""
    if _HAS_TIMER:
        signal.setitimer(signal.ITIMER_PROF, 0)
    else:
        faulthandler.cancel_dump_traceback_later()


def leave_no_core() -> None:
    """Write no core file if this process crashes."""
    if resource:
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


def _data_bytes() -> int:
    """Return how much writable memory this process has; without `/proc`, how much memory it has used at most."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[5]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):  # A sandbox; the file may be there and empty.
        return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss if resource else 0
