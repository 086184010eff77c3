"""All segments that a query searches, of all roots, as one collection of documents.

A doc_id is the base of a segment plus the number inside it. It is valid in one snapshot and never leaves it.
Statistics are sums over the live documents of all segments, so that they equal those of a fresh index to the last bit.
Equal scores are ordered by (path, root, place in the file), whatever segment a document is in.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from pathlib import Path, PurePosixPath

import numpy as np
from numpy.typing import NDArray

from codesearch.analysis.terms import FIELDS
from codesearch.index.reader import IndexReader
from codesearch.segments.reader import SegmentReader
from codesearch.segments.store import DocumentRow, FileRecord
from codesearch.segments.topk import best_positions
from codesearch.segments.vectors import scan

DocIds = NDArray[np.int64]
Stored = tuple[SegmentReader, FileRecord, DocumentRow]
_MAX_NEIGHBOURS = 10_000
"""An exact search is faster than a graph that has to give more, so that enough remain without the dead ones."""


class Snapshot:
    """The live documents of some indexes.

    Attributes:
        roots: the indexed folders.
        segments: S of them, in the order of the indexes.
        size: documents, dead ones among them: one more than the highest doc_id.
        document_count: live documents, N.
        average_lengths: mean length of each field where it is not empty, at least 1: float64 [F].
    """

    def __init__(self, indexes: Sequence[IndexReader]) -> None:
        self.roots = [index.root for index in indexes]
        self.segments = [segment for index in indexes for segment in index.segments]
        self._bases = [0, *accumulate(map(len, self.segments))]
        self.size = self._bases[-1]
        entries = [entry for index in indexes for entry in index.manifest.segments]
        self.document_count = sum(entry.live_documents for entry in entries)
        self.average_lengths = average_lengths(
            [entry.field_sums for entry in entries], [entry.field_counts for entry in entries]
        )

    @cached_property
    def dead(self) -> NDArray[np.bool_] | None:
        """Which documents are dead: bool [size], or None when none is."""
        if not any(segment.dead_files for segment in self.segments):
            return None
        mask = np.zeros(self.size, dtype=bool)
        for base, segment in self.based_segments():
            mask[base + segment.dead] = True
        return mask

    def based_segments(self) -> Iterator[tuple[int, SegmentReader]]:
        """Yield each segment after the doc_id of its first document."""
        return zip(self._bases, self.segments, strict=False)

    def parts(self, doc_ids: DocIds) -> Iterator[tuple[SegmentReader, NDArray[np.intp] | slice, DocIds]]:
        """Yield (segment, positions in `doc_ids`, numbers inside the segment) of each segment that has any."""
        if len(self.segments) == 1:
            yield self.segments[0], slice(None), doc_ids
            return
        numbers = np.searchsorted(self._bases, doc_ids, "right") - 1
        by_segment = np.argsort(numbers, kind="stable")
        ends = np.cumsum(np.bincount(numbers, minlength=len(self.segments))).tolist()
        for start, end, (base, segment) in zip([0, *ends], ends, self.based_segments(), strict=False):
            if start < end:
                positions = by_segment[start:end]
                yield segment, positions, doc_ids[positions] - base

    def kinds(self, doc_ids: DocIds) -> NDArray[np.uint8]:
        """Return positions in `KINDS`: uint8, in the order given."""
        out = np.empty(len(doc_ids), np.uint8)
        for segment, positions, local in self.parts(doc_ids):
            out[positions] = segment.rows.kinds[local]
        return out

    def flags(self, doc_ids: DocIds) -> NDArray[np.uint8]:
        """Return `Document.flags`: uint8, in the order given."""
        out = np.empty(len(doc_ids), np.uint8)
        for segment, positions, local in self.parts(doc_ids):
            out[positions] = segment.rows.flags[local]
        return out

    def copy_keys(self, doc_ids: DocIds) -> DocIds:
        """Return `Document.copy_key`, equal for copies alone: int64, in the order given."""
        out = np.empty(len(doc_ids), np.int64)
        for segment, positions, local in self.parts(doc_ids):
            out[positions] = segment.rows.copies[local]
        return out

    def file_numbers(self, doc_ids: DocIds) -> DocIds:
        """Return a number for the file of each document, equal for documents of one file alone."""
        out = np.empty(len(doc_ids), np.int64)
        numbers = {id(segment): number for number, segment in enumerate(self.segments)}
        for segment, positions, local in self.parts(doc_ids):
            out[positions] = (numbers[id(segment)] << 32) + segment.rows.files[local].astype(np.int64)
        return out

    def field_lengths(self, doc_ids: DocIds, field: int) -> NDArray[np.uint16]:
        """Return the terms that a field of each document has: uint16, in the order given."""
        out = np.empty(len(doc_ids), np.uint16)
        for segment, positions, local in self.parts(doc_ids):
            out[positions] = segment.postings.field_lengths[local, field]
        return out

    def similarities(self, query: NDArray[np.float32], doc_ids: DocIds) -> NDArray[np.float32]:
        """Return the cosine of each document with a unit query [D]: float32, in the order given."""
        out = np.empty(len(doc_ids), np.float32)
        for segment, positions, local in self.parts(doc_ids):
            out[positions] = segment.vectors.similarities(query, local)
        return out

    def nearest(
        self, query: NDArray[np.float32], count: int, allowed: NDArray[np.bool_] | None, ef_search: int
    ) -> DocIds:
        """Return the `count` live documents most similar to a unit query [D], in no promised order.

        Args:
            query: float32 [D].
            count: how many; twice as many of a graph, which may miss some.
            allowed: bool [size], or None when every live document is.
            ef_search: documents that a search of a graph looks at.
        """
        if len(self.segments) == 1 or any(segment.vectors.has_graph for segment in self.segments):
            found = [
                base + _nearest(segment, query, count, _part(allowed, base, segment), ef_search)
                for base, segment in self.based_segments()
            ]
            return np.concatenate(found)
        chosen = [
            (base, segment, _live(segment, _part(allowed, base, segment)))
            for base, segment in self.based_segments()
        ]
        rough, error = scan([(segment.vectors, live) for _, segment, live in chosen], query)
        doc_ids = [
            base + (np.arange(len(segment)) if live is None else live) for base, segment, live in chosen
        ]
        everything = np.concatenate([np.empty(0, np.int64), *doc_ids])
        roughly = np.concatenate([np.empty(0, np.float32), *rough])
        if len(everything) <= count:
            return everything
        edge = roughly[best_positions(roughly, count)].min()
        near = everything[roughly >= edge - 2 * error]
        return self.best(near, self.similarities(query, near), count)

    def best(self, doc_ids: DocIds, scores: NDArray[np.float32], count: int) -> DocIds:
        """Return the documents with the `count` highest scores; among equals at the edge, the first by order."""
        if len(doc_ids) <= count:
            return doc_ids
        chosen = best_positions(scores, count)
        if len(self.segments) > 1:
            edge = scores[chosen].min()
            level = np.flatnonzero(scores == edge)
            if len(level) > np.count_nonzero(scores[chosen] == edge):
                above = chosen[scores[chosen] > edge]
                level = level[np.argsort(self.places(doc_ids[level]), kind="stable")]
                chosen = np.concatenate([above, level[: count - len(above)]])
        return doc_ids[chosen]

    def order(self, doc_ids: DocIds, scores: NDArray[np.float32]) -> NDArray[np.intp]:
        """Return the positions by score, highest first; equals by their places."""
        if len(self.segments) <= 1:  # Numbers are places.
            return np.lexsort((doc_ids, -scores))
        order = np.argsort(-scores, kind="stable")
        ordered = scores[order]
        ties = np.flatnonzero(ordered[1:] == ordered[:-1])
        if len(ties):
            tied = np.zeros(len(order), dtype=bool)
            tied[ties] = tied[ties + 1] = True
            places = np.zeros(len(order), dtype=np.int64)
            places[order[tied]] = self.places(doc_ids[order[tied]])
            order = np.lexsort((places, -scores))
        return order

    def places(self, doc_ids: DocIds) -> DocIds:
        """Return numbers that order these documents by path, root and place in the file: int64."""
        places: list[tuple[str, str, int]] = [("", "", 0)] * len(doc_ids)
        for segment, positions, local in self.parts(doc_ids):
            rows = range(len(doc_ids)) if isinstance(positions, slice) else positions.tolist()
            files = segment.rows.files[local].tolist()
            for row, number, file_id in zip(rows, local.tolist(), files, strict=True):
                record = segment.files[file_id]
                places[row] = (record.path, segment.root, number - record.first_doc)
        ranks = np.empty(len(doc_ids), np.int64)
        ranks[sorted(range(len(doc_ids)), key=places.__getitem__)] = np.arange(len(doc_ids))
        return ranks

    def stored(self, doc_ids: Sequence[int]) -> list[Stored]:
        """Read what the stores keep of documents, in their order."""
        found: list[Stored | None] = [None] * len(doc_ids)
        for segment, positions, local in self.parts(np.asarray(doc_ids, np.int64)):
            places = range(len(doc_ids)) if isinstance(positions, slice) else positions.tolist()
            rows = segment.store.documents(local.tolist())
            for place, number in zip(places, local.tolist(), strict=True):
                found[place] = (segment, *rows[number])
        return [entry for entry in found if entry is not None]

    def named(self, name: str) -> Iterator[tuple[int, str, str]]:
        """Yield (doc_id, name, qualified_name) of each live document with this name in any case."""
        for base, segment in self.based_segments():
            for number, exact, qualified in segment.store.documents_named(name):
                if self.dead is None or not self.dead[base + number]:
                    yield base + number, exact, qualified

    def path_of(self, doc_id: int) -> PurePosixPath:
        """Return the path of a document's file, below its root."""
        ((segment, _, local),) = self.parts(np.array([doc_id], np.int64))
        file_id = int(segment.rows.files[int(local[0])])
        return PurePosixPath(segment.store.files_of({file_id})[file_id].path)


def _nearest(
    segment: SegmentReader,
    query: NDArray[np.float32],
    count: int,
    allowed: NDArray[np.bool_] | None,
    ef_search: int,
) -> DocIds:
    """Return the nearest allowed documents of one segment, by their numbers in it."""
    wanted = 2 * count + len(segment.dead)
    if allowed is None and wanted <= _MAX_NEIGHBOURS and segment.vectors.has_graph:
        found = segment.vectors.neighbours(query, wanted, ef_search)
        return found[~np.isin(found, segment.dead)]
    chosen = _live(segment, allowed)
    if chosen is not None and not len(chosen):
        return chosen
    return segment.vectors.nearest(query, count, chosen)


def _part(allowed: NDArray[np.bool_] | None, base: int, segment: SegmentReader) -> NDArray[np.bool_] | None:
    return None if allowed is None else allowed[base : base + len(segment)]


def _live(segment: SegmentReader, allowed: NDArray[np.bool_] | None) -> DocIds | None:
    """Return the allowed live documents of a segment by their numbers in it, or None when all are."""
    if allowed is None and not segment.dead_files:
        return None
    live = np.ones(len(segment), bool) if allowed is None else allowed.copy()
    live[segment.dead] = False
    return np.flatnonzero(live)


def inner_folders(roots: Sequence[Path]) -> dict[str, tuple[str, ...]]:
    """Return for each root the folders below it that are roots too, as `path/`: these answer for their files.

    >>> inner_folders([Path("/src"), Path("/src/lib/json")])
    {'/src': ('lib/json/',), '/src/lib/json': ()}
    """
    return {
        str(root): tuple(f"{other.relative_to(root).as_posix()}/" for other in roots if root in other.parents)
        for root in roots
    }


def average_lengths(sums: Sequence[Sequence[int]], counts: Sequence[Sequence[int]]) -> NDArray[np.float64]:
    """Divide the sum of each field's lengths by the documents that have it.

    Most documents have no documentation. If they counted, every documentation would be long compared with the mean, and
    its words worth little.
    """
    if not sums:
        return np.ones(len(FIELDS))
    total, present = np.array(sums, np.int64).sum(axis=0), np.array(counts, np.int64).sum(axis=0)
    return np.asarray(np.maximum(total / np.maximum(present, 1), 1), np.float64)
