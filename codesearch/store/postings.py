"""Terms of documents and words of files <-> inverted lists.

`postings/` contains arrays that are memory-mapped. Each (term, field) pair has a list. The key of the list is
`term_id * F + field`, where F is the number of fields. Terms are numbered in the order of their bytes.

    term_bytes.npy     uint8   all terms, sorted and concatenated
    term_offsets.npy   uint64  [T + 1] where each term begins
    list_offsets.npy   uint64  [T * F + 1] where each list begins
    doc_ids.npy        uint32  [P] ascending in each list
    frequencies.npy    uint8   [P] at least 1
    field_lengths.npy  uint16  [N, F] number of terms in each field of a document

`words.npy` says which files have a word: `usages` reads only those, and they say how much a name is used. It is uint64
[W] ascending: checksum of a word * 2^32 + file_id, once for each word of a file. A word is a run of ASCII letters,
digits and underscores; a name with other letters has the parts between them. Some file may seem to have a word that
shares its checksum (CRC-32) with another one.
"""

from __future__ import annotations

import string
from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from codesearch.errors import IndexStoreError
from codesearch.store.arrays import create_array, load_array, save_array
from codesearch.store.sorting import RunSorter, starts_of_runs
from codesearch.text.terms import FIELDS, FORMS

POSTINGS = "postings"
_ARRAYS = ("term_bytes", "term_offsets", "list_offsets", "doc_ids", "frequencies", "field_lengths")
_F = len(FIELDS)
_MAX_FREQUENCY = 255
MAX_DOCUMENTS = 1 << 24
SLICE = 1 << 19
"""Number of postings that are read from another segment at a time."""
WORDS = "words.npy"
LETTERS = string.ascii_letters + string.digits + "_"
_SPACED = bytes(byte if chr(byte) in LETTERS else ord(" ") for byte in range(256))
_HALF = np.uint64(32)


@dataclass(frozen=True, slots=True)
class PostingsBlock:
    """The terms of consecutive documents, in a compact form that is fast to send to another process."""

    terms: list[str]  # Distinct terms of the block.
    keys: NDArray[np.uint32]  # [P], position in `terms` * F + field.
    doc_ids: NDArray[np.uint32]  # [P], ascending; 0 is the block's first document.
    frequencies: NDArray[np.uint8]  # [P].
    field_lengths: NDArray[np.uint16]  # [N, F], terms in each field.


def make_block(documents: Iterable[Sequence[Sequence[bytes]]]) -> PostingsBlock:
    """Count the terms of some documents, each given by the chunks of its fields (see `document_chunks`)."""
    numbers, term_ids = _numbering(), _numbering()
    fields = list(chain.from_iterable(documents))
    found, lengths = array("I", map(numbers.__getitem__, chain.from_iterable(fields))), list(map(len, fields))
    # The terms of each chunk follow each other in `terms`; a repeated chunk gets them each time.
    forms = list(map(FORMS.__getitem__, numbers))
    terms = np.fromiter(map(term_ids.__getitem__, chain.from_iterable(forms)), np.uint64)
    sizes = np.fromiter(map(len, forms), np.int64, len(forms))
    chunk_ids = np.frombuffer(found, np.uint32)
    counts = sizes[chunk_ids]
    shifts = (np.cumsum(sizes) - sizes)[chunk_ids] - (np.cumsum(counts) - counts)
    terms = terms[np.repeat(shifts, counts) + np.arange(counts.sum())]
    # A slot is a field of a document.
    slots = np.repeat(np.repeat(np.arange(len(lengths)), lengths), counts)
    words = slots.astype(np.uint64) << np.uint64(32) | terms
    words.sort()
    starts = np.flatnonzero(starts_of_runs(words))
    frequencies = np.minimum(np.diff(starts, append=len(words)), _MAX_FREQUENCY)
    slots, ids = (words[starts] >> np.uint64(32)).astype(np.int64), words[starts].astype(np.uint32)
    sums = np.bincount(slots, frequencies, len(lengths))
    return PostingsBlock(
        list(term_ids),
        ids * np.uint32(_F) + (slots % _F).astype(np.uint32),
        (slots // _F).astype(np.uint32),
        frequencies.astype(np.uint8),
        np.minimum(sums, 65_535).astype(np.uint16).reshape(-1, _F),
    )


def _numbering() -> defaultdict[Any, int]:
    """Return a dictionary that numbers its keys in the order in which they are asked for."""
    numbers: defaultdict[Any, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    return numbers


class PostingsWriter:
    """Collects blocks in any order and sorts them into lists."""

    def __init__(self, segment: Path) -> None:
        self._folder = segment / POSTINGS
        self._term_ids = _numbering()
        # Key, document and frequency share a 64-bit word, because sorting plain numbers is the fastest way.
        self._words = RunSorter(segment)
        self._documents = 0
        self._lengths = np.zeros((0, _F), dtype=np.uint16)  # It has spare rows, so it is rarely resized.

    def add(self, block: PostingsBlock, first_doc: int) -> None:
        """Add a block whose first document has the id `first_doc`."""
        self._add_lengths(first_doc + np.arange(len(block.field_lengths)), block.field_lengths)
        keys = _map_terms(block.keys, self._numbers(block.terms))
        self._add_words(keys, block.doc_ids + np.uint32(first_doc), block.frequencies)

    def keep(self, reader: PostingsReader, new_ids: NDArray[np.int64]) -> None:
        """Copy the postings of another segment; `new_ids` [N_old] has the new id of each document, or -1 to drop it."""
        rows = np.flatnonzero(new_ids >= 0)
        self._add_lengths(new_ids[rows], reader.field_lengths[rows])
        terms = reader.terms()
        numbers = np.zeros(len(terms), dtype=np.uint32)
        for keys, old_docs, frequencies in reader.all_postings():
            docs = new_ids[old_docs]
            kept = docs >= 0
            keys = keys[kept]
            used = np.flatnonzero(np.bincount(keys // np.uint32(_F)))
            numbers[used] = self._numbers([terms[term_id] for term_id in used.tolist()])
            self._add_words(_map_terms(keys, numbers), docs[kept], frequencies[kept])

    def write(self) -> None:
        """Write `postings/` to the segment's folder."""
        self._folder.mkdir(0o700)
        encoded = [term.encode() for term in self._term_ids]
        order = sorted(range(len(encoded)), key=encoded.__getitem__)
        rank = np.empty(len(order), dtype=np.uint32)
        rank[order] = np.arange(len(order), dtype=np.uint32)
        terms = [encoded[position] for position in order]
        offsets = np.zeros(len(terms) + 1, dtype=np.uint64)
        np.cumsum([len(term) for term in terms], out=offsets[1:])
        save_array(self._folder / "term_bytes.npy", np.frombuffer(b"".join(terms), dtype=np.uint8))
        save_array(self._folder / "term_offsets.npy", offsets)
        self._write_lists(rank)
        save_array(self._folder / "field_lengths.npy", self._lengths[: self._documents])
        self.close()

    def close(self) -> None:
        """Delete the scratch file."""
        self._words.close()

    def _numbers(self, terms: list[str]) -> NDArray[np.uint32]:
        return np.fromiter(map(self._term_ids.__getitem__, terms), np.uint32, len(terms))

    def _add_lengths(self, doc_ids: NDArray[np.int64], lengths: NDArray[np.uint16]) -> None:
        self._documents = max(self._documents, int(doc_ids.max(initial=-1)) + 1)
        if self._documents > MAX_DOCUMENTS:
            raise IndexStoreError(f"more than {MAX_DOCUMENTS:,} documents", "index fewer folders at once")
        if self._documents > len(self._lengths):
            self._lengths.resize((2 * self._documents, _F), refcheck=False)
        self._lengths[doc_ids] = lengths

    def _add_words(
        self, keys: NDArray[np.uint32], doc_ids: NDArray[Any], frequencies: NDArray[np.uint8]
    ) -> None:
        words = keys.astype(np.uint64) << np.uint64(32)
        words |= doc_ids.astype(np.uint64) << np.uint64(8)
        words |= frequencies
        self._words.add(words)

    def _write_lists(self, rank: NDArray[np.uint32]) -> None:
        order = np.add.outer(rank * np.uint32(_F), np.arange(_F, dtype=np.uint32)).ravel()
        sizes = np.zeros(len(order), dtype=np.uint64)
        count = (len(self._words),)
        with (
            create_array(self._folder / "doc_ids.npy", np.uint32, count) as doc_ids,
            create_array(self._folder / "frequencies.npy", np.uint8, count) as frequencies,
        ):
            for words in self._words.ascending(order):
                keys, rest = words.view("<u4")[1::2], words.view("<u4")[::2]
                sizes[keys[0] : keys[-1] + 1] += np.bincount(keys - keys[0]).astype(np.uint64)
                doc_ids.write((rest >> 8).data)
                frequencies.write(rest.astype(np.uint8).data)
        offsets = np.zeros(len(order) + 1, dtype=np.uint64)
        np.cumsum(sizes, out=offsets[1:])
        save_array(self._folder / "list_offsets.npy", offsets)


def load_field_lengths(segment: Path) -> NDArray[np.uint16]:
    """Map the field lengths of a segment's documents: uint16 [N, F]."""
    lengths: NDArray[np.uint16] = load_array(segment / POSTINGS / "field_lengths.npy", str(segment))
    return lengths


def field_statistics(lengths: NDArray[np.uint16]) -> tuple[list[int], list[int]]:
    """Return the sums of documents' field lengths [N, F], and the numbers of lengths above 0: [F] each."""
    return lengths.sum(axis=0, dtype=np.int64).tolist(), np.count_nonzero(lengths, axis=0).tolist()


def _map_terms(keys: NDArray[np.uint32], numbers: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Replace the term in each key by `numbers[term]`; keep the field."""
    if not len(keys):
        return keys
    terms, fields = np.divmod(keys, np.uint32(_F))
    return numbers[terms] * np.uint32(_F) + fields


class PostingsReader:
    """Finds terms by bisection. The arrays are mapped, so a query loads only the parts that it reads."""

    def __init__(self, segment: Path, root: str) -> None:
        self._arrays = {name: load_array(segment / POSTINGS / f"{name}.npy", root) for name in _ARRAYS}
        # Reading a number or a few bytes from a memoryview takes a tenth of the time of reading from an array.
        self._text, self._bounds = (self._arrays[name].data for name in ("term_bytes", "term_offsets"))
        self._occurrence_weights: dict[tuple[tuple[float, ...], ...], NDArray[np.float32]] = {}

    @property
    def field_lengths(self) -> NDArray[np.uint16]:
        """Number of terms in each field of each document: uint16 [N, F]."""
        return self._arrays["field_lengths"]

    def occurrence_weights(
        self,
        field_weights: tuple[float, ...],
        field_b: tuple[float, ...],
        average_lengths: NDArray[np.float64],
    ) -> NDArray[np.float32]:
        """Return the BM25F weight of one occurrence in a field of a document: float32 [F, N].

        The last result is kept, as this stays open between queries.
        """
        key = (field_weights, field_b, tuple(average_lengths.tolist()))
        if key not in self._occurrence_weights:
            weights = self.field_lengths.T.astype(np.float32, order="C")
            # Avoid a division by 0; nothing occurs in an empty field, so its weight is never used.
            np.maximum(weights, 1, out=weights)
            for row, weight, b, average in zip(weights, *key, strict=True):
                row *= np.float32(b / average)
                row += np.float32(1 - b)
                np.divide(np.float32(weight), row, out=row)
            self._occurrence_weights = {key: weights}
        return self._occurrence_weights[key]

    def find(self, term: str) -> int | None:
        """Return a term's id, or None if no document has it."""
        wanted, count = term.encode(), len(self._bounds) - 1
        place = bisect_left(range(count), wanted, key=self._term)
        return place if place < count and self._term(place) == wanted else None

    def of_term(self, term_id: int) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.uint8]]:
        """Return field, doc_id and frequency of each posting of a term: [P] each, ascending by field and doc_id."""
        bounds = self._arrays["list_offsets"][term_id * _F : (term_id + 1) * _F + 1].astype(np.int64)
        own = slice(bounds[0], bounds[-1])
        fields = np.arange(_F).repeat(bounds[1:] - bounds[:-1])
        return fields, self._arrays["doc_ids"][own], self._arrays["frequencies"][own]

    def all_postings(self) -> Iterator[tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint8]]]:
        """Yield keys, doc_ids and frequencies of all postings in slices, each [S], in the order of the lists."""
        doc_ids, frequencies = self._arrays["doc_ids"], self._arrays["frequencies"]
        offsets = self._arrays["list_offsets"].astype(np.int64)
        for start in range(0, len(doc_ids), SLICE):
            end = min(start + SLICE, len(doc_ids))
            first, last = np.searchsorted(offsets, [start, end - 1], "right") - 1
            sizes = np.diff(offsets[first : last + 2].clip(start, end))
            keys = np.repeat(np.arange(first, last + 1, dtype=np.uint32), sizes)
            yield keys, doc_ids[start:end], frequencies[start:end]

    def document_terms(self, doc_id: int) -> Iterator[tuple[int, int, str]]:
        """Yield (field, frequency, term) of a document, in the order of the terms."""
        places = np.flatnonzero(self._arrays["doc_ids"] == doc_id)
        keys = np.searchsorted(self._arrays["list_offsets"], places, "right") - 1
        frequencies = self._arrays["frequencies"][places]
        for key, frequency in zip(keys.tolist(), frequencies.tolist(), strict=True):
            term_id, field = divmod(key, _F)
            yield field, frequency, self._term(term_id).decode()

    def terms(self) -> list[str]:
        """Return all terms; a term's id is its position."""
        text, offsets = self._text.tobytes(), self._bounds.tolist()
        return [text[start:end].decode() for start, end in pairwise(offsets)]

    def _term(self, term_id: int) -> bytes:
        return bytes(self._text[self._bounds[term_id] : self._bounds[term_id + 1]])


def words_of(text: bytes) -> set[bytes]:
    """Return the distinct words of a text.

    >>> sorted(words_of("self.übergabe(in_file)".encode()))
    [b'bergabe', b'in_file', b'self']
    """
    return set(text.translate(_SPACED).split())


def checksums_of(text: bytes) -> NDArray[np.uint32]:
    """Return the checksums of the distinct words of a text: uint32 [W]."""
    return np.fromiter(map(crc32, words_of(text)), np.uint32)


class WordsWriter:
    """Collects the words of files in any order."""

    def __init__(self, segment: Path) -> None:
        self._path = segment / WORDS
        self._words = RunSorter(segment)

    def add(self, checksums: NDArray[np.uint32], file_id: int) -> None:
        """Add the words of a file."""
        self._words.add(checksums.astype(np.uint64) << _HALF | np.uint64(file_id))

    def keep(self, reader: WordsReader, new_ids: NDArray[np.int64]) -> None:
        """Copy the words of another segment; `new_ids` [F_old] has the new id of each file, or -1 to drop it."""
        file_ids = new_ids[reader.words.astype(np.uint32)]
        kept = file_ids >= 0
        self._words.add(reader.words[kept] >> _HALF << _HALF | file_ids[kept].astype(np.uint64))

    def write(self) -> None:
        """Write all words."""
        with create_array(self._path, np.uint64, (len(self._words),)) as file:
            for words in self._words.ascending():
                file.write(words.data)
        self.close()

    def close(self) -> None:
        """Delete the scratch file."""
        self._words.close()


class WordsReader:
    """Finds files by bisection."""

    def __init__(self, segment: Path, root: str) -> None:
        self.words: NDArray[np.uint64] = load_array(segment / WORDS, root)

    def files_with(self, word: bytes) -> NDArray[np.uint32]:
        """Return the file_ids of the files with a word, ascending."""
        first = crc32(word) << 32
        bounds = self.words.searchsorted(np.array([first, first + (1 << 32) - 1], np.uint64), "left")
        return self.words[slice(*bounds.tolist())].astype(np.uint32)
