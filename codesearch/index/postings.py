"""Terms of documents <-> inverted lists a keyword query can score.

`postings/` holds arrays that are mapped, not read. A list belongs to a (term, field) pair; its key is
`term_id * F + field` with F fields and terms numbered in the order of their bytes.

    term_bytes.npy     uint8   all terms, one after the other, sorted
    term_offsets.npy   uint64  [T + 1] where each begins
    list_offsets.npy   uint64  [T * F + 1] where each list begins
    doc_ids.npy        uint32  [P] ascending in each list
    frequencies.npy    uint8   [P]
    field_lengths.npy  uint16  [N, F] terms a field of a document has
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from codesearch.index.analysis import FIELDS
from codesearch.index.rows import load_array

POSTINGS = "postings"
_ARRAYS = ("term_bytes", "term_offsets", "list_offsets", "doc_ids", "frequencies", "field_lengths")
_F = len(FIELDS)


@dataclass(frozen=True, slots=True)
class PostingsBlock:
    """The terms of some consecutive documents, compact enough to cross processes.

    Attributes:
        terms: distinct terms of the block.
        keys: uint32 [P], position in `terms` * F + field.
        doc_ids: uint32 [P], counted from the block's first document, ascending.
        frequencies: uint8 [P].
        field_lengths: uint16 [N, F].
    """

    terms: list[str]
    keys: NDArray[np.uint32]
    doc_ids: NDArray[np.uint32]
    frequencies: NDArray[np.uint8]
    field_lengths: NDArray[np.uint16]


def make_block(documents: Iterable[Sequence[Counter[str]]]) -> PostingsBlock:
    """Gather the field counters of documents into a block."""
    term_ids: dict[str, int] = {}
    keys: list[int] = []
    doc_ids: list[int] = []
    frequencies: list[int] = []
    lengths: list[list[int]] = []
    for doc_id, fields in enumerate(documents):
        before = len(keys)
        for field, counts in enumerate(fields):
            keys.extend(term_ids.setdefault(term, len(term_ids)) * _F + field for term in counts)
            frequencies.extend(counts.values())
        doc_ids.extend([doc_id] * (len(keys) - before))
        lengths.append([min(counts.total(), 65_535) for counts in fields])
    return PostingsBlock(
        list(term_ids),
        np.array(keys, dtype=np.uint32),
        np.array(doc_ids, dtype=np.uint32),
        np.array(frequencies, dtype=np.uint8),
        np.array(lengths, dtype=np.uint16).reshape(-1, _F),
    )


@dataclass(frozen=True, slots=True)
class _Segment:
    """Postings with final doc_ids, ascending, and keys over the writer's own term numbers."""

    keys: NDArray[np.uint32]
    doc_ids: NDArray[np.uint32]
    frequencies: NDArray[np.uint8]


class PostingsWriter:
    """Collects blocks in doc_id order, then scatters them into lists."""

    def __init__(self) -> None:
        self._term_ids: dict[str, int] = {}
        self._segments: list[_Segment] = []
        self._first_docs: list[int] = []
        self._kept: _Segment | None = None
        self._lengths: list[tuple[NDArray[np.intp], NDArray[np.uint16]]] = []

    def add(self, block: PostingsBlock, first_doc: int) -> None:
        """Add a block whose first document has the id `first_doc`; blocks come in ascending order."""
        keys = self._renumber(block.terms, block.keys)
        self._segments.append(_Segment(keys, block.doc_ids + np.uint32(first_doc), block.frequencies))
        self._first_docs.append(first_doc)
        self._lengths.append((first_doc + np.arange(len(block.field_lengths)), block.field_lengths))

    def keep(self, reader: PostingsReader, new_ids: NDArray[np.int64]) -> None:
        """Take over the documents of an older generation, at most once.

        Args:
            reader: the older generation.
            new_ids: int64 [N_old], each document's new id, or -1 to drop it; ascending where kept.
        """
        keys, old_docs, frequencies = reader.all_postings()
        docs = new_ids[old_docs]
        kept = np.flatnonzero(docs >= 0)
        kept = kept[np.argsort(docs[kept], kind="stable")]
        used, keys_of_used = np.unique(keys[kept] // np.uint32(_F), return_inverse=True)
        local = keys_of_used.astype(np.uint32) * np.uint32(_F) + keys[kept] % np.uint32(_F)
        terms = [reader.term(int(term_id)) for term_id in used]
        self._kept = _Segment(self._renumber(terms, local), docs[kept].astype(np.uint32), frequencies[kept])
        rows = np.flatnonzero(new_ids >= 0)
        self._lengths.append((new_ids[rows], reader.field_lengths[rows]))

    def write(self, generation: Path) -> None:
        """Write `postings/` under a generation's folder."""
        folder = generation / POSTINGS
        folder.mkdir()
        encoded = [term.encode() for term in self._term_ids]
        order = sorted(range(len(encoded)), key=encoded.__getitem__)
        rank = np.empty(len(order), dtype=np.uint32)
        rank[order] = np.arange(len(order), dtype=np.uint32)
        self._write_terms(folder, [encoded[position] for position in order])
        self._write_lists(folder, rank)
        lengths = np.zeros((sum(len(rows) for rows, _ in self._lengths), _F), dtype=np.uint16)
        for rows, values in self._lengths:
            lengths[rows] = values
        np.save(folder / "field_lengths.npy", lengths)

    def _renumber(self, terms: list[str], keys: NDArray[np.uint32]) -> NDArray[np.uint32]:
        known = self._term_ids
        numbers = np.array([known.setdefault(term, len(known)) for term in terms], dtype=np.uint32)
        return _map_terms(keys, numbers)

    def _in_doc_order(self) -> list[_Segment]:
        """Interleave the new segments with what lies between them in the kept one."""
        if self._kept is None:
            return self._segments
        kept = self._kept
        ordered = []
        done = 0
        cuts = np.searchsorted(kept.doc_ids, self._first_docs)
        for segment, cut in zip([*self._segments, None], [*cuts.tolist(), len(kept.doc_ids)], strict=True):
            piece = slice(done, cut)
            ordered.append(_Segment(kept.keys[piece], kept.doc_ids[piece], kept.frequencies[piece]))
            if segment is not None:
                ordered.append(segment)
            done = cut
        return ordered

    def _write_terms(self, folder: Path, terms: list[bytes]) -> None:
        offsets = np.zeros(len(terms) + 1, dtype=np.uint64)
        np.cumsum([len(term) for term in terms], out=offsets[1:])
        np.save(folder / "term_bytes.npy", np.frombuffer(b"".join(terms), dtype=np.uint8))
        np.save(folder / "term_offsets.npy", offsets)

    def _write_lists(self, folder: Path, rank: NDArray[np.uint32]) -> None:
        segments = self._in_doc_order()
        counts = np.zeros(len(rank) * _F, dtype=np.int64)
        for segment in segments:
            counts += np.bincount(_map_terms(segment.keys, rank), minlength=len(counts))
        offsets = np.zeros(len(counts) + 1, dtype=np.uint64)
        np.cumsum(counts, out=offsets[1:])
        doc_ids = np.empty(int(offsets[-1]), dtype=np.uint32)
        frequencies = np.empty(int(offsets[-1]), dtype=np.uint8)
        fill = offsets[:-1].astype(np.int64)
        for segment in segments:
            # Segments ascend in doc_id: continuing each list where the last one stopped keeps it sorted.
            keys = _map_terms(segment.keys, rank)
            order = np.argsort(keys, kind="stable")
            used, starts, sizes = np.unique(keys[order], return_index=True, return_counts=True)
            within = np.arange(len(order)) - np.repeat(starts, sizes)
            target = np.repeat(fill[used], sizes) + within
            doc_ids[target] = segment.doc_ids[order]
            frequencies[target] = segment.frequencies[order]
            fill[used] += sizes
        np.save(folder / "list_offsets.npy", offsets)
        np.save(folder / "doc_ids.npy", doc_ids)
        np.save(folder / "frequencies.npy", frequencies)


def _map_terms(keys: NDArray[np.uint32], numbers: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Exchange the term in each key for `numbers[term]`, keeping its field."""
    if not len(keys):
        return keys
    terms, fields = np.divmod(keys, np.uint32(_F))
    return numbers[terms] * np.uint32(_F) + fields


class PostingsReader:
    """Looks terms up by bisection; nothing is loaded that a query does not touch."""

    def __init__(self, generation: Path, root: str) -> None:
        self._arrays = {name: load_array(generation / POSTINGS / f"{name}.npy", root) for name in _ARRAYS}
        self._term_bytes = self._arrays["term_bytes"]
        self._term_offsets = self._arrays["term_offsets"]

    @property
    def document_count(self) -> int:
        """Count the documents, N."""
        return len(self.field_lengths)

    @property
    def field_lengths(self) -> NDArray[np.uint16]:
        """Terms a field of each document has: uint16 [N, F]."""
        return self._arrays["field_lengths"]

    def find(self, term: str) -> int | None:
        """Return a term's id, or None when no document has it."""
        wanted = term.encode()
        low, high = 0, len(self._term_offsets) - 1
        while low < high:
            middle = (low + high) // 2
            if self._term(middle) < wanted:
                low = middle + 1
            else:
                high = middle
        if low < len(self._term_offsets) - 1 and self._term(low) == wanted:
            return low
        return None

    def postings(self, term_id: int, field: int) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
        """Return the ascending doc_ids [P] and frequencies [P] of a term in a field."""
        key = term_id * _F + field
        start, end = (int(offset) for offset in self._arrays["list_offsets"][key : key + 2])
        return self._arrays["doc_ids"][start:end], self._arrays["frequencies"][start:end]

    def all_postings(self) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint8]]:
        """Return keys, doc_ids and frequencies of every posting, each [P], in the order of the lists."""
        sizes = np.diff(self._arrays["list_offsets"]).astype(np.int64)
        keys = np.repeat(np.arange(len(sizes), dtype=np.uint32), sizes)
        return keys, self._arrays["doc_ids"], self._arrays["frequencies"]

    def term(self, term_id: int) -> str:
        """Return a term."""
        return self._term(term_id).decode()

    def _term(self, term_id: int) -> bytes:
        start, end = self._term_offsets[term_id : term_id + 2]
        return self._term_bytes[int(start) : int(end)].tobytes()
