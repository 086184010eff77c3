"""All segments that a query searches, of all roots, as one collection of documents.

A doc_id is the base of a segment plus the number in the segment. It is valid only in one snapshot.
Statistics are sums over the live documents of all segments, so they are identical to those of a fresh index.
Equal scores are ordered by (path, root, place in the file), independent of the segment.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from codesearch.store.arrays import ROW
from codesearch.store.database import DocumentRow, FileRecord
from codesearch.store.postings import PostingsReader
from codesearch.store.segments import IndexReader, SegmentReader
from codesearch.store.sorting import best_positions, distinct
from codesearch.store.source import Ref, SourceFiles
from codesearch.store.vectors import VectorReader, may_be_nearest
from codesearch.text.terms import FIELDS, signature_bit

DocIds = NDArray[np.int64]
_ROW = np.dtype([(name, np.int64 if name == "file_id" else ROW[name]) for name in ROW.names or ()])
Number = TypeVar("Number", bound=np.generic)
MAX_NEIGHBOURS = 10_000
"""If the graph must return more documents than this to compensate for dead ones, an exact search is faster."""


class Snapshot:
    """The live documents of some indexes."""

    def __init__(self, indexes: Sequence[IndexReader]) -> None:
        self.indexes = indexes
        self.roots = [index.root for index in indexes]
        self.segments = [segment for index in indexes for segment in index.segments]
        self._bases = [0, *accumulate(map(len, self.segments))]
        # Number of documents, including dead ones; one more than the highest doc_id.
        self.size = self._bases[-1]
        self._ends = np.array(self._bases[1:], np.int64)
        entries = [entry for index in indexes for entry in index.manifest.segments]
        self.document_count = sum(entry.live_documents for entry in entries)
        # Mean length of each field over documents where it is not empty, at least 1: float64 [F].
        self.average_lengths = average_lengths(
            [entry.field_sums for entry in entries], [entry.field_counts for entry in entries]
        )

    @cached_property
    def dead(self) -> NDArray[np.bool_] | None:
        """Which documents are dead: bool [size], or None if none is."""
        if not any(segment.dead_files for segment in self.segments):
            return None
        mask = np.zeros(self.size, dtype=bool)
        for base, segment in self.based_segments():
            mask[base + segment.dead] = True
        return mask

    def based_segments(self) -> Iterator[tuple[int, SegmentReader]]:
        """Yield (doc_id of the first document, segment) for each segment."""
        return zip(self._bases, self.segments, strict=False)

    def based_postings(self) -> Iterator[tuple[int, PostingsReader]]:
        """Yield (doc_id of the first document, inverted lists) for each segment."""
        return ((base, segment.postings) for base, segment in self.based_segments())

    def parts(self, doc_ids: DocIds) -> Iterator[tuple[SegmentReader, NDArray[np.intp] | slice, DocIds]]:
        """Yield (segment, positions in `doc_ids`, numbers in the segment) for each segment with some of the documents.

        The positions are a slice if there is only one segment.
        """
        if len(self.segments) == 1:
            yield self.segments[0], slice(None), doc_ids
            return
        numbers = self._ends.searchsorted(doc_ids, "right")
        for number in np.bincount(numbers).nonzero()[0].tolist():
            positions = (numbers == number).nonzero()[0]
            yield self.segments[number], positions, doc_ids[positions] - self._bases[number]

    def _gathered(
        self, doc_ids: DocIds, dtype: type[Number], read: Callable[[SegmentReader, DocIds], NDArray[Any]]
    ) -> NDArray[Number]:
        """Read a number of each document from its segment, in the same order."""
        out = np.empty(len(doc_ids), dtype)
        for segment, positions, local in self.parts(doc_ids):
            out[positions] = read(segment, local)
        return out

    def rows(self, doc_ids: DocIds) -> NDArray[Any]:
        """Return the numbers of documents in the same order, with a `file_id` that is equal only for the same file."""
        out = np.empty(len(doc_ids), _ROW)
        for segment, positions, local in self.parts(doc_ids):
            for name in _ROW.names or ():  # Whole rows would take three times as long.
                out[name][positions] = segment.rows[name][local]
            out["file_id"][positions] += self.segments.index(segment) << 32
        return out

    def line_counts(self, doc_ids: DocIds) -> DocIds:
        """Return the number of lines of each document: int64, in the same order."""
        return self._gathered(
            doc_ids, np.int64, lambda segment, local: np.asarray(segment.store.line_counts())[local]
        )

    def languages(self, doc_ids: DocIds) -> list[str]:
        """Return the language of each document, in the same order."""
        return self._of_files(doc_ids, lambda file: file.language)

    def vectors(self, doc_ids: DocIds) -> NDArray[np.float32]:
        """Return the unit vectors of documents: float32 [N, D], in the same order."""
        dim = self.segments[0].vectors.rows.shape[1] if self.segments else 0
        found = np.empty((len(doc_ids), dim), np.float32)
        for segment, positions, local in self.parts(doc_ids):
            found[positions] = segment.vectors.rows[local] * segment.vectors.scales[local, None]
        return found

    def field_lengths(self, doc_ids: DocIds, field: int) -> NDArray[np.uint16]:
        """Return the number of terms in a field of each document: uint16, in the same order."""
        return self._gathered(
            doc_ids, np.uint16, lambda segment, local: segment.postings.field_lengths[local, field]
        )

    def similarities(self, query: NDArray[np.float32], doc_ids: DocIds) -> NDArray[np.float32]:
        """Return the cosine of each document with a unit query [D]: float32, in the same order."""
        return self._gathered(
            doc_ids, np.float32, lambda segment, local: segment.vectors.similarities(query, local)
        )

    def nearest(
        self, query: NDArray[np.float32], count: int, allowed: NDArray[np.bool_] | None, ef_search: int
    ) -> DocIds:
        """Return the `count` live documents most similar to a unit query [D], in any order.

        `allowed` is bool [size], or None for all. A graph may miss some, so it returns twice as many.
        """
        readers = [segment.vectors for segment in self.segments]
        near, exact = self._near(readers, np.arange(self.size), query, count, allowed, ef_search)
        return np.concatenate([near, self.best(exact, self.similarities(query, exact), count)])

    def nearest_passages(
        self, query: NDArray[np.float32], count: int, allowed: NDArray[np.bool_] | None, ef_search: int
    ) -> DocIds:
        """Return the live documents of the `count` passages most similar to a unit query [D], in any order.

        All passages that are as similar as the last of them count too, so no order of segments matters.
        """
        readers = [segment.passage_vectors for segment in self.segments]
        owners = self._passage_owners
        near, exact = self._near(readers, owners, query, count, allowed, ef_search)
        bases = [0, *accumulate(map(len, readers))]
        bounds = exact.searchsorted(bases)
        parts = [
            reader.similarities(query, exact[first:last] - base)
            for reader, base, (first, last) in zip(readers, bases, pairwise(bounds.tolist()), strict=False)
        ]
        similarities = np.concatenate([np.empty(0, np.float32), *parts])
        if len(exact) > count:
            edge = similarities[best_positions(similarities, count)].min()
            exact = exact[similarities >= edge]
        return distinct(owners[np.concatenate([near, exact])])

    @cached_property
    def _passage_owners(self) -> DocIds:
        """The document of each passage of all segments, ascending."""
        owners = [base + segment.passage_documents for base, segment in self.based_segments()]
        return np.concatenate([np.empty(0, np.int64), *owners])

    def _near(
        self,
        readers: Sequence[VectorReader],
        owners: DocIds,
        query: NDArray[np.float32],
        count: int,
        allowed: NDArray[np.bool_] | None,
        ef_search: int,
    ) -> tuple[DocIds, DocIds]:
        """Return the rows that graphs find, and those that may be among the nearest in segments without a graph.

        Rows count through all readers; `owners` has the document of each.
        """
        near, live = [np.empty(0, np.int64)], allowed
        if self.dead is not None:
            live = ~self.dead if allowed is None else allowed & ~self.dead
        left = None if live is None else live[owners]
        for base, reader in zip(accumulate(map(len, readers), initial=0), readers, strict=False):
            rows = slice(base, base + len(reader))
            dead = 0 if self.dead is None else np.count_nonzero(self.dead[owners[rows]])
            wanted = 2 * count + int(dead)
            if allowed is None and wanted <= MAX_NEIGHBOURS and reader.has_graph:
                found = base + reader.neighbours(query, wanted, ef_search)
                left = np.ones(len(owners), dtype=bool) if left is None else left
                near.append(found[left[found]])
                left[rows] = False
        chosen = None if left is None else left.nonzero()[0]
        return np.concatenate(near), may_be_nearest(readers, query, count, chosen)

    def passage_similarities(self, query: NDArray[np.float32], doc_ids: DocIds) -> NDArray[np.float32]:
        """Return the highest cosine of a passage of each document with a unit query [D]: float32; -1 without one."""
        return self._highest(
            doc_ids, lambda segment, *groups: segment.passage_vectors.highest(query, *groups)
        )

    def passage_coverage(self, idf: Mapping[str, float], doc_ids: DocIds) -> NDArray[np.float32]:
        """Return the highest sum of the idf of terms that a passage of each document has: float32; -1 without one.

        A passage may seem to have a term that shares its bit in the signature with another one.
        """

        def highest(segment: SegmentReader, rows: DocIds, starts: DocIds) -> NDArray[np.float32]:
            return np.asarray(np.maximum.reduceat(idf_of(segment.passages[rows, 3:], idf), starts))

        return self._highest(doc_ids, highest)

    def _highest(
        self, doc_ids: DocIds, highest: Callable[[SegmentReader, DocIds, DocIds], NDArray[np.float32]]
    ) -> NDArray[np.float32]:
        """Return a number of the best passage of each document, -1 if it has none: float32, in the same order.

        `highest` gets a segment, numbers of passages, and where those of each document begin among them.
        """

        def best(segment: SegmentReader, local: DocIds) -> NDArray[np.float32]:
            found = np.full(len(local), -1, np.float32)
            first, last = (segment.passage_documents.searchsorted(local, side) for side in ("left", "right"))
            having = np.flatnonzero(last > first)
            if len(having):
                counts = (last - first)[having]
                starts = np.cumsum(counts) - counts
                rows = np.arange(counts.sum()) + np.repeat(first[having] - starts, counts)
                found[having] = highest(segment, rows, starts)
            return found

        return self._gathered(doc_ids, np.float32, best)

    def passages(
        self, doc_id: int, query: NDArray[np.float32] | None
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return the lines of each passage of a document, [P, 2], and its cosine with a unit query, float32 [P]."""
        at = bisect_right(self._bases, doc_id) - 1
        segment, number = self.segments[at], doc_id - self._bases[at]
        first, last = segment.passage_documents.searchsorted([number, number + 1]).tolist()
        lines = segment.passages[first:last, 1:3].astype(np.int64)
        if query is None or first == last:
            return lines, np.zeros(last - first, np.float32)
        return lines, segment.passage_vectors.similarities(query, np.arange(first, last))

    def best(self, doc_ids: DocIds, scores: NDArray[np.float32], count: int) -> DocIds:
        """Return the documents with the `count` highest scores; for ties at the cut-off, the first by `places`."""
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
        """Return the positions by score, highest first; ties in the order of `places`."""
        order = np.argsort(-scores)
        level = scores[order[1:]] == scores[order[:-1]]
        tied = np.flatnonzero(np.append(level, False) | np.append(False, level))
        if len(tied):
            equal = order[tied]
            is_single = len(self.segments) <= 1  # In a single segment, doc_ids have the order of places.
            places = doc_ids[equal] if is_single else self.places(doc_ids[equal])
            order[tied] = equal[np.lexsort((places, -scores[equal]))]
        return order

    def places(self, doc_ids: DocIds) -> DocIds:
        """Return the rank of each document in the order of path, root and place in the file: int64."""
        places: list[tuple[str, str, int]] = [("", "", 0)] * len(doc_ids)
        for segment, positions, local in self.parts(doc_ids):
            rows = range(len(doc_ids)) if isinstance(positions, slice) else positions.tolist()
            files = segment.rows["file_id"][local].tolist()
            records = segment.store.files_of(set(files))
            for row, number, file_id in zip(rows, local.tolist(), files, strict=True):
                record = records[file_id]
                places[row] = (record.path, segment.root, number - record.first_doc)
        ranks = np.empty(len(doc_ids), np.int64)
        ranks[sorted(range(len(doc_ids)), key=places.__getitem__)] = np.arange(len(doc_ids))
        return ranks

    def refs(self, doc_ids: Sequence[int]) -> list[Ref]:
        """Return each document, in the same order. Code is read only when it is asked for."""
        found: list[Ref | None] = [None] * len(doc_ids)
        for segment, positions, local in self.parts(np.asarray(doc_ids, np.int64)):
            places = range(len(doc_ids)) if isinstance(positions, slice) else positions.tolist()
            rows = segment.store.documents(local.tolist())
            source = SourceFiles(segment)
            for place, number in zip(places, local.tolist(), strict=True):
                found[place] = Ref(int(doc_ids[place]), source, *rows[number])
        return [entry for entry in found if entry is not None]

    def named(self, name: str) -> Iterator[tuple[int, str, str]]:
        """Yield (doc_id, name, qualified_name) of each live document with this name, ignoring case."""
        for base, segment in self.based_segments():
            for number, exact, qualified in segment.store.documents_named(name):
                if self.dead is None or not self.dead[base + number]:
                    yield base + number, exact, qualified

    def name_counts(self, names: Sequence[tuple[str, str]]) -> NDArray[np.int64]:
        """Count the live files that have a name and other words, and of these those that define it: int64 [N, 2]."""
        counts = np.zeros((len(names), 2), np.int64)
        for segment in self.segments:
            counts += np.array([*map(segment.name_counts.__getitem__, names)], np.int64).reshape(-1, 2)
        return counts

    def members_named(self, name: str) -> Iterator[tuple[SegmentReader, FileRecord, DocumentRow]]:
        """Yield (segment, file, member) of each live member with this name, ignoring case."""
        for segment in self.segments:
            members = segment.store.members_named(name)
            files = segment.store.files_of({file_id for file_id, _ in members})
            for file_id, row in members:
                if file_id not in segment.dead_files:
                    yield segment, files[file_id], row

    def files_at(self, path: str) -> list[tuple[SegmentReader, FileRecord, range]]:
        """Return the live files whose absolute path ends in `path`, with their documents, by path and root.

        A file of which it is the whole path below the root comes first.
        """
        files: list[tuple[bool, SegmentReader, FileRecord, range]] = []
        for base, segment in self.based_segments():
            for name in (path, *_below(segment.root, path)):
                for file_id, file in segment.store.files_ending(name):
                    if file_id not in segment.dead_files and (name == path or file.path == name):
                        first = base + file.first_doc
                        doc_ids = range(first, first + file.doc_count)
                        files.append((file.path != name, segment, file, doc_ids))
        files.sort(key=lambda at: (at[0], at[2].path, at[1].root))
        return [at[1:] for at in files]

    def at_path(self, path: str) -> list[Sequence[int]]:
        """Return the documents of each file at a path, in the order of `files_at`."""
        return [doc_ids for _, _, doc_ids in self.files_at(path) if doc_ids]

    def paths_of(self, doc_ids: DocIds) -> list[str]:
        """Return the path of each document's file, relative to its root, in the same order."""
        return self._of_files(doc_ids, lambda file: file.path)

    def _of_files(self, doc_ids: DocIds, read: Callable[[FileRecord], str]) -> list[str]:
        """Read a text from the file of each document, in the same order."""

        def texts(segment: SegmentReader, local: DocIds) -> NDArray[np.object_]:
            file_ids = segment.rows["file_id"][local].tolist()
            files = segment.store.files_of(set(file_ids))
            return np.array([read(files[file_id]) for file_id in file_ids], np.object_)

        found: list[str] = self._gathered(doc_ids, np.object_, texts).tolist()
        return found


def _below(root: str, path: str) -> list[str]:
    """Return what is left of a path if it begins with the last folders of a root.

    >>> _below("/home/me/app", "me/app/src/a.py"), _below("/home/me/app", "src/a.py")
    (['src/a.py'], [])
    """
    whole, parts = f"/{root.replace(os.sep, '/').strip('/')}", path.split("/")
    cuts = range(1, len(parts))
    return ["/".join(parts[cut:]) for cut in cuts if whole.endswith(f"/{'/'.join(parts[:cut])}")]


def inner_folders(roots: Sequence[Path]) -> dict[str, tuple[str, ...]]:
    """Return for each root the folders inside it that are also roots, as `path/`; only these return their files.

    >>> inner_folders([Path("/src"), Path("/src/lib/json")])
    {'/src': ('lib/json/',), '/src/lib/json': ()}
    """
    return {
        str(root): tuple(f"{other.relative_to(root).as_posix()}/" for other in roots if root in other.parents)
        for root in roots
    }


def idf_of(signatures: NDArray[np.uint32], idf: Mapping[str, float]) -> NDArray[np.float32]:
    """Return the sum of the idf of the terms that each signature of [P, 8] has: float32 [P]."""
    sums = np.zeros(len(signatures), np.float32)
    for term, weight in idf.items():
        element, bit = signature_bit(term)
        sums += np.float32(weight) * (signatures[:, element] >> np.uint32(bit) & np.uint32(1))
    return sums


def average_lengths(sums: Sequence[Sequence[int]], counts: Sequence[Sequence[int]]) -> NDArray[np.float64]:
    """Divide the sum of each field's lengths by the number of documents where the field is not empty."""
    # Most documents have no documentation. If they counted, BM25F would treat all documentation as long.
    if not sums:
        return np.ones(len(FIELDS))
    total, present = np.array(sums, np.int64).sum(axis=0), np.array(counts, np.int64).sum(axis=0)
    return np.asarray(np.maximum(total / np.maximum(present, 1), 1), np.float64)
