"""The second half of an index run: a plan -> parse -> embed -> write -> publish. `plan` has the first half.

Worker processes parse. This process embeds the documents and writes database, rows and postings in the order of the
paths. All files are synced and hashed before the manifest is renamed.

An update writes one segment. It contains the changed files and the segments that are merged (see `plan`). A first
build publishes segments one after another, so an interrupted build can resume.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from itertools import accumulate, chain
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from codesearch.build.file_parser import FileParser, ParsedFile
from codesearch.build.parse import parse_files
from codesearch.build.plan import BuildSummary, LiveFile, Plan, can_merge, live_files, segments_to_merge
from codesearch.build.stamps import write_stamps
from codesearch.parsing.walker import SourceFile, extension_of
from codesearch.store.database import FileRecord
from codesearch.store.digest import check_intact, describe_files, remember_written
from codesearch.store.manifest import (
    Manifest,
    SegmentEntry,
    Tally,
    commit_manifest,
    limited_counts,
    segment_folder,
)
from codesearch.store.postings import field_statistics, load_field_lengths
from codesearch.store.segments import SegmentReader, SegmentWriter, last_number, writing
from codesearch.store.vectors import VectorWriter, quantize
from codesearch.text.bundle import recorded_folder
from codesearch.text.onnx import OnnxEncoder
from codesearch.text.tokenizer import TokenIds

_BATCH = 4_096
_DOCUMENT_BYTES = 400
"""Source bytes per document, for estimates. Most trees have a little more."""
_MOST_COUNTED = 16_384
"""Bytes of a file that count in the progress."""
_SEGMENT_BYTES = 24_000_000
"""A first build commits after this many bytes of source, or an eighth of all bytes, whichever is more."""
_FIRST_SHARE = 10
"""The first one has a tenth of that, so that questions are answered after a second, from the newest files."""
_COSTLY_SEGMENT_BYTES = 1_000_000
"""The same for a costly model, which embeds the documents of so many bytes in some 20 s on two cores."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a build."""

    stage: str  # "parse", "write" or "commit".
    # Of source that is parsed and to parse. A large file counts less: it may be data, which takes no time.
    done_bytes: int
    total_bytes: int
    documents: int  # Live ones so far.


ProgressCallback = Callable[[Progress], None]


def run(
    plan: Plan,
    encoder: OnnxEncoder,
    on_progress: ProgressCallback = lambda _: None,
    *,
    merge_all: bool = False,
) -> BuildSummary:
    """Carry out a plan and publish the result. The caller holds the writer lock."""
    if plan.previous:
        check_intact(plan.index_folder, plan.previous)
    tokenizer, vendored = encoder.tokenizer_path, tuple(plan.walked.vendored)
    parser = FileParser(plan.root.resolve(), plan.config, tokenizer, encoder.max_document_tokens, vendored)
    build = _Build(plan, encoder, on_progress)
    merged = build.take_segments_to_merge(merge_all=merge_all)
    # Close readers and parser here. After a failure, the garbage collector might do it in a thread of the pool.
    with writing(plan.index_folder), ExitStack() as opened:
        readers: dict[int, SegmentReader] = {}
        kept: list[LiveFile] = []
        for entry in merged:
            assert plan.previous
            store = plan.stores.opened.get(entry.number)
            reader = SegmentReader(plan.index_folder, plan.previous, entry, store)
            readers[entry.number] = opened.enter_context(closing(reader))
            kept += live_files(entry, reader.store)
        if plan.to_parse:
            encoder.encode_documents([])  # A worker starts meanwhile, and then this process waits for it.
        parts = build.parts(sorted([*plan.to_parse, *kept], key=attrgetter("path")))
        to_parse = [file for file in chain.from_iterable(parts) if isinstance(file, SourceFile)]
        parsed = opened.enter_context(closing(parse_files(parser, to_parse)))
        for number, part in enumerate(parts, last_number(plan.index_folder) + 1):
            files = build.contents(part, parsed)
            build.write(number, files, readers)
            if build.is_first and part is not parts[-1]:
                build.publish(complete=False)
        manifest = build.publish(complete=True)
    if merge_all and build.is_first and can_merge(manifest.segments):
        merging = replace(plan, last=manifest, previous=manifest, to_parse=[], dead=[], removed=0)
        manifest = run(merging, encoder, on_progress, merge_all=True).manifest
    counts = build.parsed, plan.kept, plan.removed, build.embedded
    return BuildSummary(manifest, *counts, encoder.name, encoder.device)


class _Build:
    """The steps after the parser, and the state of a build: its segments and the counts of its files so far."""

    def __init__(self, plan: Plan, encoder: OnnxEncoder, on_progress: ProgressCallback) -> None:
        self.plan, self.encoder, self.on_progress = plan, encoder, on_progress
        self.started = time.monotonic()
        # Publish incomplete states only if they do not replace a complete index.
        self.is_first = plan.last is None or not plan.last.complete
        self.entries = _with_dead(plan, plan.previous) if plan.previous else []
        self.commit = plan.last.commit if plan.last else 0
        self.written: list[SegmentEntry] = []
        self.totals = _Totals.of(plan)
        self.parsed = self.embedded = self.done_bytes = self.done_files = 0
        self.total_bytes = sum(file.size for file in plan.to_parse)
        self.counted_bytes = sum(min(file.size, _MOST_COUNTED) for file in plan.to_parse)

    def take_segments_to_merge(self, *, merge_all: bool) -> list[SegmentEntry]:
        """Choose the segments to rewrite: none during a first build, and no single one that would not change."""
        if not self.plan.previous or not self.plan.previous.complete:
            return []
        new_documents = self.total_bytes // _DOCUMENT_BYTES + 1
        chosen = segments_to_merge(self.entries, new_documents, merge_all=merge_all)
        if len(chosen) == 1 and not self.plan.to_parse and not chosen[0].dead_files:
            return []
        self.entries = [entry for entry in self.entries if entry not in chosen]
        return chosen

    def parts(self, files: Sequence[SourceFile | LiveFile]) -> list[list[SourceFile | LiveFile]]:
        """Split files into those of each new segment: several during a first build, otherwise one.

        The first of several has the files that changed last.
        """
        least = _COSTLY_SEGMENT_BYTES if self.encoder.is_costly else _SEGMENT_BYTES
        limit = max(least, self.total_bytes // 8) if self.is_first else self.total_bytes + 1
        parts: list[list[SourceFile | LiveFile]] = []
        size = limit
        if self.is_first and self.total_bytes > limit:
            newest = sorted(files, key=lambda file: (-file.stamp[1], file.path))
            sizes = accumulate(file.size for file in newest)
            first = newest[: 1 + sum(size <= limit // _FIRST_SHARE for size in sizes)]
            parts, first_paths = [sorted(first, key=attrgetter("path"))], {file.path for file in first}
            files = [file for file in files if file.path not in first_paths]
        for file in files:
            if size >= limit:
                parts.append([])
                size = 0
            parts[-1].append(file)
            size += file.size
        return parts

    def contents(
        self, files: Sequence[SourceFile | LiveFile], parsed: Iterator[tuple[SourceFile, ParsedFile | None]]
    ) -> Iterator[ParsedFile | LiveFile]:
        """Yield what each file adds to a segment; nothing if it no longer exists."""
        for file in files:
            if isinstance(file, LiveFile):
                yield file
                continue
            _, result = next(parsed)
            self.done_bytes += min(file.size, _MOST_COUNTED)
            self.done_files += 1
            if result:
                self.parsed += 1
                self.totals.add(result.record._replace(doc_count=len(result.rows)))
                yield result

    def write(
        self, number: int, files: Iterator[ParsedFile | LiveFile], readers: Mapping[int, SegmentReader]
    ) -> None:
        """Embed and write the documents of some files as one segment, and sync it to disk."""
        first = next(files, None)
        if first is None:
            return
        folder = self.plan.index_folder / segment_folder(number)
        with closing(SegmentWriter(folder, self.encoder.dim)) as writer:
            embedder = Embedder(self.encoder.encode_documents, writer.vectors)
            passages = Embedder(self.encoder.encode_passages, writer.passage_vectors)
            for file in chain([first], files):
                if isinstance(file, LiveFile):
                    record, segment = file.record, readers[file.segment]
                    writer.add_kept(record, file.file_id, file.segment, segment)
                    old = slice(record.first_doc, record.first_doc + record.doc_count)
                    embedder.add_kept(*segment.vectors.part(old))
                    passages.add_kept(*segment.passage_vectors.part(segment.passages_of(record)))
                else:
                    writer.add_parsed(
                        file.record, file.rows, file.block, file.words, file.passages, file.members
                    )
                    embedder.add(file.tokens)
                    passages.add(file.passage_tokens)
                self._tell("parse", writer.documents)
            self._tell("write", writer.documents)
            embedder.finish()
            passages.finish()
            self.embedded += embedder.embedded + passages.embedded
            writer.finish(self.plan.config.vectors)
        self._tell("commit", writer.documents)
        sums, counts = field_statistics(load_field_lengths(folder))
        entry = SegmentEntry(
            number=number,
            source_files=writer.source_files,
            documents=writer.documents,
            live_documents=writer.documents,
            dead_files=[],
            field_sums=sums,
            field_counts=counts,
            files=describe_files(folder),
        )
        self.written.append(entry)
        self.entries.append(entry)

    def publish(self, *, complete: bool) -> Manifest:
        """Make the segments so far the current state of the index."""
        self.commit += 1
        manifest = Manifest(
            root=str(self.plan.root.resolve()),
            commit=self.commit,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            config_digest=self.plan.config_digest,
            settings=asdict(self.plan.config.walk),
            options=self.plan.config.options.given,
            model={
                "name": self.encoder.name,
                "id": self.encoder.model_id,
                "dim": self.encoder.dim,
                "folder": recorded_folder(self.encoder.tokenizer_path.parent),
            },
            documents=sum(entry.live_documents for entry in self.entries),
            source_files=self.totals.files,
            languages={name: count for name, count in sorted(self.totals.languages.items()) if count > 0},
            walked=self.plan.walked,
            parsed=Tally(limited_counts(self.totals.skipped), {}, sorted(self.totals.warnings.elements())),
            missing_grammars=self.plan.missing_grammars,
            seconds=round(time.monotonic() - self.started, 3),
            segments=self.entries,
            complete=complete,
            left=len(self.plan.to_parse) - self.done_files,
        )
        manifest = commit_manifest(self.plan.index_folder, manifest)
        remember_written(self.plan.index_folder, manifest, self.written)
        if complete:
            write_stamps(self.plan.index_folder, self.plan.stamps, manifest.commit)
        return manifest

    def _tell(self, stage: str, documents: int) -> None:
        documents += sum(entry.live_documents for entry in self.entries)
        self.on_progress(Progress(stage, self.done_bytes, self.counted_bytes, documents))


@dataclass(slots=True)
class _Totals:
    """The counts in the manifest, over all live files."""

    files: int
    languages: Counter[str]
    skipped: dict[str, Counter[str]]
    warnings: Counter[str]

    @classmethod
    def of(cls, plan: Plan) -> _Totals:
        """Count the unchanged files of the last commit."""
        last = plan.previous
        if last is None:
            return cls(0, Counter(), {}, Counter())
        totals = cls(
            last.source_files,
            Counter(last.languages),
            {reason: Counter(counts) for reason, counts in last.parsed.skipped.items()},
            Counter(last.parsed.warnings),
        )
        for live in plan.dead:
            totals.add(live.record, -1)
        return totals

    def add(self, record: FileRecord, sign: int = 1) -> None:
        """Add a file to the counts, or subtract it with sign -1."""
        self.files += sign
        self.languages[record.language] += sign * record.doc_count
        if record.skipped:
            self.skipped.setdefault(record.skipped, Counter())[extension_of(record.path)] += sign
        for line in filter(None, record.warnings.split("\n")):
            self.warnings[line] += sign


def _with_dead(plan: Plan, previous: Manifest) -> list[SegmentEntry]:
    """Return the segments of the last commit with deleted and changed files marked as dead; drop empty segments.

    The documents of dead files are subtracted from the statistics of a segment.
    """
    by_segment: dict[int, list[LiveFile]] = {}
    for live in plan.dead:
        by_segment.setdefault(live.segment, []).append(live)
    entries = []
    for entry in previous.segments:
        if dead := by_segment.get(entry.number, []):
            lengths = load_field_lengths(plan.index_folder / entry.folder)
            records = [live.record for live in dead]
            of_dead = [lengths[record.first_doc : record.first_doc + record.doc_count] for record in records]
            sums, counts = field_statistics(np.concatenate(of_dead))
            entry = replace(
                entry,
                live_documents=entry.live_documents - sum(record.doc_count for record in records),
                dead_files=sorted([*entry.dead_files, *(live.file_id for live in dead)]),
                field_sums=[all_ - gone for all_, gone in zip(entry.field_sums, sums, strict=True)],
                field_counts=[all_ - gone for all_, gone in zip(entry.field_counts, counts, strict=True)],
            )
        if len(entry.dead_files) < entry.source_files:
            entries.append(entry)
    return entries


class Embedder:
    """Collects documents or passages into batches and writes their vectors in the order in which they come.

    Equal texts of a batch are embedded once: padding can change the last bit of a vector, and copies must rank alike.
    """

    def __init__(
        self, encode: Callable[[Sequence[TokenIds]], NDArray[np.float32]], writer: VectorWriter
    ) -> None:
        self._encode, self._writer = encode, writer
        self._waiting: list[list[int] | tuple[NDArray[np.int8], NDArray[np.float32]]] = []
        self._rows: dict[bytes, int] = {}  # Text -> its position among those to embed.
        self.embedded = 0  # Number of texts that the model embedded.

    def add(self, texts: Sequence[bytes]) -> None:
        """Add texts, given as the bytes of their token ids."""
        self._waiting.append([self._rows.setdefault(text, len(self._rows)) for text in texts])
        self._flush_much()

    def add_kept(self, rows: NDArray[np.int8], scales: NDArray[np.float32]) -> None:
        """Add texts whose vectors are known: int8 [B, D], float32 [B]."""
        self._waiting.append((rows, scales))
        self._flush_much()

    def finish(self) -> None:
        """Embed and write all documents that were added."""
        tokens = [np.frombuffer(text, np.uint32) for text in self._rows]
        rows, scales = quantize(self._encode(tokens) if tokens else np.empty((0, 0), np.float32))
        for part in self._waiting:
            if isinstance(part, list):
                self._writer.add(rows[part], scales[part])
            else:
                self._writer.add(*part)
        self.embedded += len(tokens)
        self._waiting, self._rows = [], {}

    def _flush_much(self) -> None:
        if len(self._rows) >= _BATCH or len(self._waiting) >= _BATCH:
            self.finish()
