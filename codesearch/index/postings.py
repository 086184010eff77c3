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
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from codesearch.errors import IndexStoreError
from codesearch.index.analysis import FIELDS
from codesearch.index.rows import load_array

POSTINGS = "postings"
_ARRAYS = ("term_bytes", "term_offsets", "list_offsets", "doc_ids", "frequencies", "field_lengths")
_F = len(FIELDS)
_MAX_DOCUMENTS = 1 << 24


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
    """Postings with final doc_ids, and keys over the writer's own term numbers; each [P]."""

    keys: NDArray[np.uint32]
    doc_ids: NDArray[np.uint32]
    frequencies: NDArray[np.uint8]


class PostingsWriter:
    """Collects blocks in any order, then sorts them into lists."""

    def __init__(self) -> None:
        self._term_ids: dict[str, int] = {}
        self._segments: list[_Segment] = []
        self._lengths: list[tuple[NDArray[np.intp], NDArray[np.uint16]]] = []

    def add(self, block: PostingsBlock, first_doc: int) -> None:
        """Add a block whose first document has the id `first_doc`."""
        keys = _map_terms(block.keys, self._numbers(block.terms))
        self._segments.append(_Segment(keys, block.doc_ids + np.uint32(first_doc), block.frequencies))
        self._lengths.append((first_doc + np.arange(len(block.field_lengths)), block.field_lengths))

    def keep(self, reader: PostingsReader, new_ids: NDArray[np.int64]) -> None:
        """Take over the documents of an older generation.

        Args:
            reader: the older generation.
            new_ids: int64 [N_old], each document's new id, or -1 to drop it.
        """
        keys, old_docs, frequencies = reader.all_postings()
        docs = new_ids[old_docs]
        kept = docs >= 0
        keys = keys[kept]
        terms = reader.terms()
        used = np.flatnonzero(np.bincount(keys // np.uint32(_F), minlength=len(terms)))
        numbers = np.zeros(len(terms), dtype=np.uint32)
        numbers[used] = self._numbers([terms[term_id] for term_id in used.tolist()])
        self._segments.append(
            _Segment(_map_terms(keys, numbers), docs[kept].astype(np.uint32), frequencies[kept])
        )
        rows = np.flatnonzero(new_ids >= 0)
        self._lengths.append((new_ids[rows], reader.field_lengths[rows]))

    def write(self, generation: Path) -> None:
        """Write `postings/` under a generation's folder.

        Raises:
            IndexStoreError: there are more documents than a posting can number.
        """
        count = sum(len(rows) for rows, _ in self._lengths)
        if count > _MAX_DOCUMENTS:
            raise IndexStoreError(
                f"{count:,} documents, at most {_MAX_DOCUMENTS:,}: index fewer folders at once"
            )
        folder = generation / POSTINGS
        folder.mkdir()
        encoded = [term.encode() for term in self._term_ids]
        order = sorted(range(len(encoded)), key=encoded.__getitem__)
        rank = np.empty(len(order), dtype=np.uint32)
        rank[order] = np.arange(len(order), dtype=np.uint32)
        self._write_terms(folder, [encoded[position] for position in order])
        self._write_lists(folder, rank)
        lengths = np.zeros((count, _F), dtype=np.uint16)
        for rows, values in self._lengths:
            lengths[rows] = values
        np.save(folder / "field_lengths.npy", lengths)

    def _numbers(self, terms: list[str]) -> NDArray[np.uint32]:
        known = self._term_ids
        return np.array([known.setdefault(term, len(known)) for term in terms], dtype=np.uint32)

    def _write_terms(self, folder: Path, terms: list[bytes]) -> None:
        offsets = np.zeros(len(terms) + 1, dtype=np.uint64)
        np.cumsum([len(term) for term in terms], out=offsets[1:])
        np.save(folder / "term_bytes.npy", np.frombuffer(b"".join(terms), dtype=np.uint8))
        np.save(folder / "term_offsets.npy", offsets)

    def _write_lists(self, folder: Path, rank: NDArray[np.uint32]) -> None:
        # Key, document and frequency share a 64-bit word: sorting plain numbers is by far the fastest way.
        words = [np.empty(0, dtype=np.uint64)]
        for segment in self._segments:
            keys = _map_terms(segment.keys, rank).astype(np.uint64)
            docs = segment.doc_ids.astype(np.uint64)
            words.append((keys << 32 | docs << 8 | segment.frequencies).astype(np.uint64))
        postings = np.concatenate(words)
        del words
        postings.sort()
        offsets = np.zeros(len(rank) * _F + 1, dtype=np.uint64)
        np.cumsum(np.bincount((postings >> 32).astype(np.int64), minlength=len(rank) * _F), out=offsets[1:])
        np.save(folder / "list_offsets.npy", offsets)
        np.save(folder / "doc_ids.npy", (postings >> 8 & np.uint64(_MAX_DOCUMENTS - 1)).astype(np.uint32))
        np.save(folder / "frequencies.npy", (postings & np.uint64(0xFF)).astype(np.uint8))


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

    def terms(self) -> list[str]:
        """Return all terms; a term's id is its position."""
        text, offsets = self._term_bytes.tobytes(), self._term_offsets.tolist()
        return [text[start:end].decode() for start, end in pairwise(offsets)]

    def _term(self, term_id: int) -> bytes:
        start, end = self._term_offsets[term_id : term_id + 2]
        return self._term_bytes[int(start) : int(end)].tobytes()
