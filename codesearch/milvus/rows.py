"""The documents of a local index -> rows for Milvus, and the terms of a row -> term counts.

`terms` holds the exact counts that BM25F needs, one line for each field: its length, then its terms, each with its
frequency if that is not 1.

    2 shutil rmtree
    5 path ignor:2 error onerror

`text` repeats each term by its frequency and the weight of its field; the server ranks it with BM25.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from typing import Any, get_type_hints

import numpy as np

from codesearch.config import RankConfig
from codesearch.store.database import DocumentRow, FileRecord
from codesearch.store.reader import IndexReader
from codesearch.store.segment import SegmentReader
from codesearch.store.source import cut_lines, read_source
from codesearch.text.terms import FIELDS
from codesearch.types import KINDS

Terms = list[list[tuple[str, int]]]
"""(term, frequency) of each field."""
MAX_TEXT = 65_535
"""Bytes that Milvus stores in one field."""
MAX_PATH = 4_096
_REPEATED = 8
"""How often a term is repeated in `text` at most; for BM25, higher frequencies are nearly the same."""
_DECIMALS = 6
_LOCAL = {"kind", "start_byte", "end_byte", "shape_key"}
STORED = {name: kind for name, kind in get_type_hints(DocumentRow).items() if name not in _LOCAL}
"""Fields of a stored document that a row has as they are -> their types. `kind` is a number in a row."""


def rows_of(index: IndexReader) -> Iterator[dict[str, Any]]:
    """Yield a row for each live document of an index, in the order of its segments and files.

    `id` is the same as long as root, path, kind and name are, and `digest` as long as the whole row is.
    """
    for segment in index.segments:
        terms = ForwardTerms(segment)
        for file_id, file in segment.store.numbered_files():
            if file_id not in segment.dead_files:
                yield from _rows_of_file(index.manifest.root, segment, file, terms)


class ForwardTerms:
    """The terms of each document of a segment, from its inverted lists."""

    def __init__(self, segment: SegmentReader) -> None:
        parts = list(segment.postings.all_postings())
        keys = np.concatenate([np.empty(0, np.uint32), *(keys for keys, _, _ in parts)])
        doc_ids = np.concatenate([np.empty(0, np.uint32), *(doc_ids for _, doc_ids, _ in parts)])
        frequencies = np.concatenate([np.empty(0, np.uint8), *(counts for _, _, counts in parts)])
        by_document = np.argsort(doc_ids, kind="stable")
        self._names = segment.postings.terms()
        self._keys, self._frequencies = keys[by_document], frequencies[by_document]
        self._starts = np.searchsorted(doc_ids[by_document], np.arange(len(segment) + 1))

    def of(self, doc_id: int) -> Terms:
        """Return (term, frequency) of each field of a document."""
        fields: Terms = [[] for _ in FIELDS]
        own = slice(self._starts[doc_id], self._starts[doc_id + 1])
        for key, frequency in zip(self._keys[own].tolist(), self._frequencies[own].tolist(), strict=True):
            term, field = divmod(key, len(FIELDS))
            if frequency:
                fields[field].append((self._names[term], frequency))
        return fields


def document_frequencies(index: IndexReader) -> Counter[str]:
    """Count the live documents of an index that have each term."""
    found: Counter[str] = Counter()
    for segment in index.segments:
        live = np.ones(len(segment), bool)
        live[segment.dead] = False
        pairs = [
            ((keys // len(FIELDS)).astype(np.uint64) << np.uint64(32) | doc_ids)[counts > 0]
            for keys, doc_ids, counts in segment.postings.all_postings()
        ]
        distinct = np.unique(np.concatenate(pairs)) if pairs else np.empty(0, np.uint64)
        of_live = live[(distinct & np.uint64(0xFFFFFFFF)).astype(np.int64)]
        terms, counts = np.unique((distinct >> np.uint64(32))[of_live], return_counts=True)
        names = segment.postings.terms()
        for term, count in zip(terms.tolist(), counts.tolist(), strict=True):
            found[names[term]] += count
    return found


def _rows_of_file(
    root: str, segment: SegmentReader, file: FileRecord, terms: ForwardTerms
) -> Iterator[dict[str, Any]]:
    found = read_source(segment, file)
    source = found[0] if found and not found[1] else None
    numbers = range(file.first_doc, file.first_doc + file.doc_count)
    vectors = segment.vectors.rows[numbers.start : numbers.stop].astype(np.float32)
    vectors *= segment.vectors.scales[numbers.start : numbers.stop, None]
    rows = segment.store.document_rows(file.first_doc, file.doc_count)
    names: Counter[tuple[str, str]] = Counter()
    for place, (number, row) in enumerate(zip(numbers, rows, strict=True)):
        names[row.kind, row.qualified_name] += 1
        occurrence = names[row.kind, row.qualified_name]
        code = b""
        if source is not None:
            code = cut_lines(source, row.start_line, row.end_line, start_byte=row.start_byte)
        stored, found_terms, vector = row._asdict(), terms.of(number), vectors[place].tolist()
        content = {
            **{name: _cut(stored[name]) if kind is str else stored[name] for name, kind in STORED.items()},
            "root": root,
            "path": file.path,
            "language": file.language,
            "place": place,
            "kind": KINDS.index(row.kind),
            "name_key": _cut(row.name.lower(), MAX_PATH),
            "terms": _cut(encode_terms(found_terms, segment.postings.field_lengths[number].tolist())),
            "text": _cut(bm25_text(found_terms)),
            "code": _cut(code.decode("utf-8", "replace")),
        }
        values = [round(value, _DECIMALS) for value in vector]
        digest = _hash(json.dumps([content, values], sort_keys=True))
        identity = json.dumps([root, file.path, row.kind, row.qualified_name, occurrence])
        yield {"id": _hash(identity), "digest": digest, **content, "vector": vector}


def bm25_text(terms: Terms) -> str:
    """Return the text that the server ranks: each term, repeated by frequency and weight of its field."""
    weights = RankConfig().field_weights
    counts: Counter[str] = Counter()
    for weight, field in zip(weights, terms, strict=True):
        for term, frequency in field:
            counts[term] += max(1, round(weight * frequency))
    return " ".join(" ".join([term] * min(count, _REPEATED)) for term, count in counts.items())


def encode_terms(terms: Terms, lengths: list[int]) -> str:
    r"""Write the lengths and terms of all fields.

    >>> encode_terms([[("copy", 1)], [("tree", 2)]], [1, 2])
    '1 copy\n2 tree:2'
    """
    lines = (
        " ".join([str(length), *(term if count == 1 else f"{term}:{count}" for term, count in field)])
        for length, field in zip(lengths, terms, strict=True)
    )
    return "\n".join(lines)


def field_lengths_of(terms: str) -> list[int]:
    r"""Return the lengths that `encode_terms` wrote.

    >>> field_lengths_of("1 copy\n2 tree:2")
    [1, 2]
    """
    return [int(line.partition(" ")[0]) for line in terms.split("\n")]


def frequencies_of(terms: str, term: str) -> list[int]:
    r"""Return the frequency of a term in each field of what `encode_terms` wrote.

    >>> frequencies_of("1 copy\n2 tree:2", "tree")
    [0, 2]
    """
    counts = []
    for line in terms.split("\n"):
        _, found, rest = f"{line} ".partition(f" {term}:")
        if f" {term} " in f"{line} ":
            counts.append(1)
        else:
            counts.append(int(rest.partition(" ")[0]) if found else 0)
    return counts


def _cut(text: str, limit: int = MAX_TEXT) -> str:
    encoded = text.encode("utf-8", "replace")
    return text if len(encoded) <= limit else encoded[:limit].decode("utf-8", "ignore")


def _hash(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).hexdigest()
