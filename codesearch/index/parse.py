"""Files -> parsed files, in the same order, on all cores.

Parsing holds the interpreter lock, so worker processes do it. They work on a few chunks at a time, which limits memory.
If a file crashes its process or takes too much time or memory, only this file is affected: it is cut into blocks of
lines, with a warning.

A small file can make a parser take minutes or gigabytes. So a worker process limits its time and memory before each
file, by the size of the file. The system ends a process that goes over a limit, also in the middle of a parser's C
code. Linux has both limits. macOS has no limit of memory. Windows has a limit of time on the clock instead of processor
time.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, suppress
from itertools import islice
from typing import TYPE_CHECKING

from codesearch.config import ParseConfig
from codesearch.cores import available_cores
from codesearch.errors import IndexWriteError, ParseError
from codesearch.index.file_parser import FileParser, ParsedFile, skipped_file
from codesearch.index.workers import WorkerDiedError, Workers, WorkerStartError
from codesearch.parsing.extract import Extraction, extract
from codesearch.parsing.languages import LanguageSpec
from codesearch.parsing.walker import SourceFile
from codesearch.segments.digest import content_digest
from codesearch.treefiles import read_below

try:
    import resource
except ModuleNotFoundError:  # Windows does not have it.
    resource = None  # type: ignore[assignment]

if TYPE_CHECKING:  # Workers do not need these modules, and importing them takes time.
    from concurrent.futures import Future


_HAS_TIMER = hasattr(signal, "setitimer")
_SECONDS, _SECONDS_PER_MB = 4.0, 10.0
_BYTES, _BYTES_PER_BYTE = 400_000_000, 250
_CHUNK_BYTES = 400_000
_CHUNK_FILES = 64
_SERIAL_BYTES = 1_000_000
"""With fewer bytes of source than this, one worker is enough."""
Task = tuple[list[SourceFile], bool]
"""Files to parse, and whether they are only cut into blocks of lines."""
Parsed = list[ParsedFile | None]


def is_small(files: Sequence[SourceFile]) -> bool:
    """Say whether parsing the files takes less time than starting processes."""
    return sum(file.size for file in files) < _SERIAL_BYTES


def parse_files(
    parser: FileParser, files: Sequence[SourceFile], workers: int | None = None
) -> Generator[tuple[SourceFile, ParsedFile | None], None, None]:
    """Parse files in order; yield None for a file that no longer exists.

    Args:
        parser: what parses them, in each process.
        files: the files to parse.
        workers: number of processes, None for one per core; small jobs need only one.

    Raises:
        IndexWriteError: no process could be started.
    """
    count = 1 if is_small(files) else workers or available_cores()
    try:
        pool: Workers[Task, Parsed] = Workers(count, _open_parser, parser)
        with closing(pool):
            yield from _parse_all(pool, parser, files, count)
    except WorkerStartError:
        raise IndexWriteError(
            "the worker processes stop before their first task, probably because memory ran out: free some and run "
            "`codesearch index` again"
        ) from None


def _parse_all(
    pool: Workers[Task, Parsed], parser: FileParser, files: Sequence[SourceFile], workers: int
) -> Iterator[tuple[SourceFile, ParsedFile | None]]:
    """Submit a few chunks at a time and yield their results in order."""
    waiting = chunks_of(files)
    submitted: deque[tuple[list[SourceFile], Future[Parsed]]] = deque()
    while True:
        submitted.extend(
            (chunk, pool.submit((chunk, False)))
            for chunk in islice(waiting, 2 * workers + 1 - len(submitted))
        )
        if not submitted:
            return
        chunk, future = submitted.popleft()
        try:
            yield from zip(chunk, future.result(), strict=True)
        except WorkerDiedError:  # One of the files crashed it or went over a limit.
            for file in chunk:
                yield file, _parse_alone(pool, parser, file)


def _parse_alone(pool: Workers[Task, Parsed], parser: FileParser, file: SourceFile) -> ParsedFile | None:
    """Parse a file; if its process dies, cut it into blocks of lines; if that fails too, skip it."""
    for is_plain in (False, True):
        with suppress(WorkerDiedError):
            return pool.submit(([file], is_plain)).result()[0]
    warning = f"{file.path}: the {file.language} parser crashed or takes too much time or memory: left out"
    return skipped_file(file, "crashed", digest=_digest(parser, file), warning=warning)


def _digest(parser: FileParser, file: SourceFile) -> bytes:
    """Return the digest of a file, with which it is not parsed again until it changes."""
    try:
        source, _ = read_below(parser.root, file.path, parser.config.walk)
    except OSError:
        return b""
    return content_digest(source)


def chunks_of(files: Sequence[SourceFile]) -> Iterator[list[SourceFile]]:
    """Split files into chunks; a process parses one chunk at a time."""
    chunk: list[SourceFile] = []
    size = 0
    for file in files:
        chunk.append(file)
        size += file.size
        if size >= _CHUNK_BYTES or len(chunk) >= _CHUNK_FILES:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def extract_guarded(source: bytes, path: str, spec: LanguageSpec, config: ParseConfig) -> Extraction:
    """Call `extract` in another process, with limits of time and memory.

    Raises:
        ParseError: the parser crashed or went over a limit.
    """
    pool: Workers[bytes, Extraction] = Workers(1, _open_extractor, path, spec, config)
    with closing(pool):
        try:
            return pool.submit(source).result()
        except (WorkerDiedError, WorkerStartError):
            raise ParseError(path, f"the {spec.name} parser takes too much time or memory") from None


def _open_extractor(path: str, spec: LanguageSpec, config: ParseConfig) -> Callable[[bytes], Extraction]:
    def extract_limited(source: bytes) -> Extraction:
        limit_file(len(source))
        return extract(source, path, spec, config)

    return extract_limited


def _open_parser(parser: FileParser) -> Callable[[Task], Parsed]:
    def parse(task: Task) -> Parsed:
        files, is_plain = task
        found = []
        for file in files:
            limit_file(file.size)
            found.append(parser.parse_plain(file) if is_plain else parser.parse(file))
        lift_limits()
        return found

    return parse


def limit_file(size: int) -> None:
    """Limit this process from now on to what a file of `size` bytes may take; end the process if it takes more."""
    seconds = _SECONDS + _SECONDS_PER_MB * size / 1e6
    if _HAS_TIMER:
        signal.setitimer(signal.ITIMER_PROF, seconds)
    else:
        faulthandler.dump_traceback_later(seconds, exit=True, file=open(os.devnull, "w"))
    if resource and sys.platform == "linux":
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        limit = _data_bytes() + _BYTES + _BYTES_PER_BYTE * size
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
    """Return how much writable memory this process has."""
    with open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[5]) * os.sysconf("SC_PAGE_SIZE")
