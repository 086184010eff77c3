"""Files -> parsed files, in the order given, on all cores.

Threads gain nothing here (parsing holds the interpreter), so the work goes to processes. What is in flight is
bounded, and a grammar that brings its process down costs one warning for one file.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Self

from codesearch.config import IndexConfig
from codesearch.cores import available_cores
from codesearch.encoding.tokenizer import SubtokenTokenizer
from codesearch.errors import IndexStoreError
from codesearch.index.processes import open_processes, submit
from codesearch.index.worker import FileParser, ParsedFile, skipped_file
from codesearch.parsing.walker import SourceFile
from codesearch.segments.digest import content_digest

if TYPE_CHECKING:  # Not for a worker: see `tokens`.
    from codesearch.encoding.encoder import Encoder
    from codesearch.index.plan import Plan

_CHUNK_BYTES = 400_000
_CHUNK_FILES = 64
_SERIAL_BYTES = 1_000_000
"""Less source than this starts no process."""


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
        """Parse what a plan says for an encoder."""
        return cls(
            plan.root.resolve(),
            plan.config,
            encoder.tokenizer_path,
            encoder.max_document_tokens,
            plan.started_ns,
        )

    def open(self) -> FileParser:
        """Load the tokenizer and build the parser."""
        tokenizer = SubtokenTokenizer.load(self.tokenizer)
        return FileParser(self.root, self.config, tokenizer, self.max_tokens, self.started_ns)


def is_small(files: Sequence[SourceFile]) -> bool:
    """Say whether files are parsed sooner than processes start."""
    return sum(file.size for file in files) < _SERIAL_BYTES


def parse_files(
    job: ParseJob, files: Sequence[SourceFile], workers: int | None = None
) -> Generator[tuple[SourceFile, ParsedFile | None], None, None]:
    """Parse files in order; None stands for a file that is gone.

    Args:
        job: what to parse with.
        files: what to parse.
        workers: processes; one for each core when None, none at all when the work is small.

    Raises:
        IndexStoreError: no process could be started.
    """
    if workers is None:
        workers = available_cores()
    if workers == 1 or is_small(files):
        parser = job.open()
        for file in files:
            yield file, parser.parse(file)
        return
    chunks = deque(chunks_of(files))
    while chunks:
        try:
            yield from _run(job, chunks, workers)
        except BrokenProcessPool:
            yield from _one_by_one(job, chunks.popleft())


def _run(
    job: ParseJob, chunks: deque[list[SourceFile]], workers: int
) -> Iterator[tuple[SourceFile, ParsedFile | None]]:
    """Take chunks off the left as their results are given out; on a crash the culprit is near the left."""
    executor = _executor(job, workers)
    flying: deque[Future[list[ParsedFile | None]]] = deque()
    try:
        while chunks:
            for chunk in islice(chunks, len(flying), 2 * workers + 1):
                flying.append(submit(executor, _parse_chunk, chunk))
            results = flying[0].result()
            flying.popleft()
            yield from zip(chunks.popleft(), results, strict=True)
    finally:
        # Waits, also after an interrupt: a worker that is just starting complains when its queues go away.
        executor.shutdown(cancel_futures=True)


def _one_by_one(job: ParseJob, chunk: list[SourceFile]) -> Iterator[tuple[SourceFile, ParsedFile | None]]:
    """Parse each file in a process of its own, so that the one that crashes is known."""
    for file in chunk:
        with _executor(job, 1) as executor:
            _start(executor)
            try:
                yield file, submit(executor, _parse_chunk, [file]).result()[0]
            except BrokenProcessPool:
                warning = f"{file.path}: the {file.language} parser crashed: left out"
                digest = content_digest((job.root / file.path).read_bytes())  # So it is not tried again.
                yield file, skipped_file(file, "crashed", digest=digest, warning=warning)


def _start(executor: ProcessPoolExecutor) -> None:
    """Have a process start before it is given work: one that cannot start is no fault of a file's.

    Raises:
        IndexStoreError: it ended before it could work.
    """
    try:
        submit(executor, _parse_chunk, []).result()
    except BrokenProcessPool:
        raise IndexStoreError(
            "the processes that parse end before they begin, as where memory runs out, or where a script calls this "
            'outside `if __name__ == "__main__":`; the last good index is untouched'
        ) from None


def chunks_of(files: Sequence[SourceFile]) -> Iterator[list[SourceFile]]:
    """Cut files into what one process parses at a time."""
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


def _executor(job: ParseJob, workers: int) -> ProcessPoolExecutor:
    return open_processes(workers, _start_worker, job)


_parser: FileParser | None = None


def _start_worker(job: ParseJob) -> None:
    global _parser
    _parser = job.open()


def _parse_chunk(files: list[SourceFile]) -> list[ParsedFile | None]:
    if _parser is None:
        raise RuntimeError("worker not started")
    return [_parser.parse(file) for file in files]
