"""A plan -> a new generation of an index, committed whole or not at all.

parse (processes) -> store, rows, postings as files come, in walk order -> encode in batches, through the
cache -> vectors -> postings scattered -> everything synced and hashed -> manifest renamed into place.
What has not changed is copied from the last generation.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from codesearch.encoding.bundle import SHIPPED
from codesearch.encoding.encoder import Encoder
from codesearch.index.commit import commit_manifest, drop_old_generations, last_number, scratch_folder
from codesearch.index.embed import Embedder, embedding_processes
from codesearch.index.file_parser import ParsedFile
from codesearch.index.manifest import Manifest, generation_folder
from codesearch.index.parse import ParseJob, is_small, parse_files
from codesearch.index.plan import Plan
from codesearch.index.reader import IndexReader
from codesearch.segments.digest import describe_files
from codesearch.segments.postings import PostingsWriter
from codesearch.segments.rows import RowWriter
from codesearch.segments.store import DocumentRow, FileRecord, StoreWriter
from codesearch.segments.vectors import VectorWriter


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a build is; bytes of source parsed and to parse, documents so far."""

    stage: str
    done_bytes: int
    total_bytes: int
    documents: int


@dataclass(frozen=True, slots=True)
class BuildReport:
    """What a build did; `embedded` texts went through the model, `cached` ones did not have to."""

    manifest: Manifest
    parsed: int
    kept: int
    removed: int
    embedded: int
    cached: int


ProgressCallback = Callable[[Progress], None]


def build_generation(
    plan: Plan, home: Path, encoder: Encoder, on_progress: ProgressCallback = lambda _: None
) -> BuildReport:
    """Carry out a plan and commit the result. The caller holds the writer lock.

    Args:
        plan: what to do.
        home: where the cache of vectors lives.
        encoder: the model that the plan was made for.
        on_progress: told how far the work is.

    Raises:
        IndexStoreError: the storage is full or failed; the last generation is still the current one.
    """
    started = time.monotonic()
    number = (plan.previous.generation if plan.previous else last_number(plan.index_folder)) + 1
    generation = plan.index_folder / generation_folder(number)
    with scratch_folder(generation, plan.index_folder):
        build = _Build(plan, generation, home, encoder, on_progress=on_progress)
        build.run()
        on_progress(Progress("commit", 0, 0, build.store.document_count))
        manifest = Manifest(
            root=str(plan.root.resolve()),
            generation=number,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            config_digest=plan.config_digest,
            settings=asdict(plan.config.walk),
            model=describe_model(encoder),
            documents=build.store.document_count,
            source_files=build.store.file_count,
            languages=dict(sorted(build.languages.items())),
            skipped=dict(sorted(build.skipped.items())),
            warnings=plan.report.warnings + build.warnings,
            seconds=round(time.monotonic() - started, 3),
            files=describe_files(generation),
        )
        commit_manifest(plan.index_folder, manifest)
    drop_old_generations(plan.index_folder, manifest)
    return BuildReport(
        manifest, build.parsed, len(plan.kept), plan.removed, build.embedder.embedded, build.embedder.cached
    )


def describe_model(encoder: Encoder) -> dict[str, str | int]:
    """Say which model made the vectors; the shipped one has no folder, for it moves with the package."""
    folder = encoder.tokenizer_path.parent
    shipped = folder.resolve() == SHIPPED.resolve()
    return {
        "name": encoder.name,
        "id": encoder.model_id,
        "dim": encoder.dim,
        "folder": "" if shipped else str(folder.resolve()),
    }


class _Build:
    """The writers of one generation and what passes between them."""

    def __init__(
        self, plan: Plan, generation: Path, home: Path, encoder: Encoder, *, on_progress: ProgressCallback
    ) -> None:
        self.plan, self.on_progress = plan, on_progress
        self.generation = generation
        with ExitStack() as opened:  # What is open is closed again when the next thing cannot be opened.
            self.old = IndexReader(plan.index_folder, plan.previous) if plan.previous else None
            if self.old:
                opened.callback(self.old.close)
            self.store = StoreWriter(generation)
            opened.callback(self.store.abandon)
            self.vectors = VectorWriter(generation, encoder.dim)
            opened.callback(self.vectors.abandon)
            self.postings = PostingsWriter(generation)
            opened.callback(self.postings.abandon)
            processes = 0 if is_small(plan.to_parse) else embedding_processes()
            self.embedder = Embedder(home, encoder, self.vectors, processes)
            opened.callback(self.embedder.close)
            self._opened = opened.pop_all()
        # Each document of the last generation by its new id, -1 while it is not kept.
        self.new_ids = np.full(plan.previous.documents if plan.previous else 0, -1, dtype=np.int64)
        self.rows = RowWriter()
        self.job = ParseJob.of(plan, encoder)
        self.languages: Counter[str] = Counter()
        self.skipped: Counter[str] = Counter({k: len(v) for k, v in plan.report.skipped.items()})
        self.warnings: list[str] = []
        self.parsed = 0
        self.done_bytes = 0
        self.total_bytes = sum(file.size for file in plan.to_parse)

    def run(self) -> None:
        with self._opened:
            self._add_files()
            self.on_progress(Progress("write", self.done_bytes, self.total_bytes, self.store.document_count))
            self.embedder.finish()
            self.store.finish()
            self.vectors.finish(self.plan.config.vectors)
            self.rows.write(self.generation)
            if self.old:
                self.postings.keep(self.old.postings, self.new_ids)
            self.postings.write()

    def _add_files(self) -> None:
        # Left to the garbage collector after a failure, the pool may be shut down by its own thread, which complains.
        with closing(parse_files(self.job, self.plan.to_parse)) as parsed:
            for file in self.plan.files:
                if record := self.plan.kept.get(file.path):
                    self._add_kept(record)
                else:
                    _, result = next(parsed)
                    if result:
                        self._add_parsed(result)
                    self.done_bytes += file.size
                progress = Progress("parse", self.done_bytes, self.total_bytes, self.store.document_count)
                self.on_progress(progress)

    def _add_parsed(self, parsed: ParsedFile) -> None:
        first_doc = self.store.document_count
        self._add_record(parsed.record, parsed.rows)
        self.postings.add(parsed.block, first_doc)
        self.embedder.add([row.text_digest for row in parsed.rows], parsed.document_tokens())
        self.parsed += 1

    def _add_kept(self, record: FileRecord) -> None:
        if self.old is None:
            raise ValueError("a kept file needs a previous generation")
        first_doc = self.store.document_count
        old = slice(record.first_doc, record.first_doc + record.doc_count)
        self._add_record(record, self.old.store.document_rows(record.first_doc, record.doc_count))
        self.new_ids[old] = np.arange(first_doc, first_doc + record.doc_count)
        self.embedder.add_kept(self.old.vectors.rows[old], self.old.vectors.scales[old])

    def _add_record(self, record: FileRecord, rows: list[DocumentRow]) -> None:
        self.rows.add(self.store.file_count, (row.kind for row in rows), (row.flags for row in rows))
        self.store.add_file(record, rows)
        if rows:
            self.languages[record.language] += len(rows)
        self.warnings += record.warnings.splitlines()
        if record.skipped:
            self.skipped[record.skipped] += 1
