"""Files -> parsed files, in the same order, on all cores.

Parsing holds the interpreter lock, so worker processes do it. They work on a few chunks at a time, which limits memory.
If a grammar crashes its process, only the file that caused it is skipped, with a warning.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Self

from codesearch.config import IndexConfig
from codesearch.cores import available_cores
from codesearch.encoding.tokenizer import SubtokenTokenizer
from codesearch.errors import IndexStoreError
from codesearch.index.file_parser import FileParser, ParsedFile, skipped_file
from codesearch.index.workers import WorkerDiedError, Workers, WorkerStartError
from codesearch.parsing.walker import SourceFile
from codesearch.segments.digest import content_digest

if TYPE_CHECKING:  # Workers do not need these modules, and importing them takes time (see `tokens`).
    from codesearch.encoding.encoder import Encoder
    from codesearch.index.plan import Plan

_CHUNK_BYTES = 400_000
_CHUNK_FILES = 64
_SERIAL_BYTES = 1_000_000
"""With fewer bytes of source than this, no worker process is started."""


@dataclass(frozen=True, slots=True)
class ParseJob:
    """What a worker needs to open its `FileParser`."""

    root: Path
    config: IndexConfig
    tokenizer: Path
    max_tokens: int
    started_ns: int

    @classmethod
    def of(cls, plan: Plan, encoder: Encoder) -> Self:
        """Return the job that parses the files of a plan for an encoder."""
        return cls(
            plan.root.resolve(),
            plan.config,
            encoder.tokenizer_path,
            encoder.max_document_tokens,
            plan.started_ns,
        )

    def open(self, tokenizer: SubtokenTokenizer | None = None) -> FileParser:
        """Return the parser; load the tokenizer if none is given."""
        tokenizer = tokenizer or SubtokenTokenizer.load(self.tokenizer)
        return FileParser(self.root, self.config, tokenizer, self.max_tokens, self.started_ns)


def is_small(files: Sequence[SourceFile]) -> bool:
    """Say whether parsing the files takes less time than starting processes."""
    return sum(file.size for file in files) < _SERIAL_BYTES


def parse_files(
    job: ParseJob,
    files: Sequence[SourceFile],
    workers: int | None = None,
    tokenizer: SubtokenTokenizer | None = None,
) -> Generator[tuple[SourceFile, ParsedFile | None], None, None]:
    """Parse files in order; yield None for a file that no longer exists.

    Args:
        job: what a parser needs.
        files: the files to parse.
        workers: number of processes, None for one per core; small jobs start no process.
        tokenizer: the tokenizer of the job, if it is open in this process.

    Raises:
        IndexStoreError: no process could be started.
    """
    if workers is None:
        workers = available_cores()
    if workers == 1 or is_small(files):
        parser = job.open(tokenizer)
        for file in files:
            yield file, parser.parse(file)
        return
    pool: Workers[list[SourceFile], list[ParsedFile | None]] = Workers(workers, _open_parser, job)
    try:
        yield from _parse_all(pool, job, files, workers)
    except WorkerStartError:
        raise IndexStoreError(
            "the worker processes stop before their first task, probably because memory ran out: free some and run "
            "`codesearch index` again; the last good index is untouched"
        ) from None
    finally:
        pool.close()


def _parse_all(
    pool: Workers[list[SourceFile], list[ParsedFile | None]],
    job: ParseJob,
    files: Sequence[SourceFile],
    workers: int,
) -> Iterator[tuple[SourceFile, ParsedFile | None]]:
    """Submit a few chunks at a time and yield their results in order."""
    waiting = chunks_of(files)
    flying: deque[tuple[list[SourceFile], Future[list[ParsedFile | None]]]] = deque()
    while True:
        flying.extend((chunk, pool.submit(chunk)) for chunk in islice(waiting, 2 * workers + 1 - len(flying)))
        if not flying:
            return
        chunk, future = flying.popleft()
        try:
            yield from zip(chunk, future.result(), strict=True)
        except WorkerDiedError:
            yield from _parse_singly(pool, job, chunk)


def _parse_singly(
    pool: Workers[list[SourceFile], list[ParsedFile | None]], job: ParseJob, chunk: list[SourceFile]
) -> Iterator[tuple[SourceFile, ParsedFile | None]]:
    """Parse each file separately to find the one that crashes the parser."""
    for file in chunk:
        try:
            yield file, pool.submit([file]).result()[0]
        except WorkerDiedError:
            warning = f"{file.path}: the {file.language} parser crashed: left out"
            digest = content_digest((job.root / file.path).read_bytes())  # Unchanged, it is not parsed again.
            yield file, skipped_file(file, "crashed", digest=digest, warning=warning)


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


def _open_parser(job: ParseJob) -> Callable[[list[SourceFile]], list[ParsedFile | None]]:
    parser = job.open()
    return lambda files: [parser.parse(file) for file in files]
