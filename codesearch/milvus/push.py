"""Local indexes -> the collections in Milvus.

A worker indexes its roots as usual and then makes the collections equal to its indexes: it writes the documents that
are new or changed and deletes those that are gone. The row of a root is written last. So a worker that was stopped or
killed at any point only has to run again.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codesearch.config import RankConfig
from codesearch.errors import BackendError
from codesearch.milvus.store import (
    LINES,
    MAX_PATH,
    MAX_TEXT,
    ROOT,
    SHARD,
    STORED,
    UNUSED,
    MilvusStore,
    about_row,
    quoted,
)
from codesearch.store.database import DocumentRow, FileRecord
from codesearch.store.segments import IndexReader, SegmentReader
from codesearch.store.source import cut_lines, read_source
from codesearch.store.vectors import VectorReader
from codesearch.text.terms import FIELDS
from codesearch.types import KINDS

Terms = list[list[tuple[str, int]]]
"""(term, frequency) of each field."""
_REPEATED = 8
"""How often a term is repeated in `text` at most; for BM25, higher frequencies are nearly the same."""
_DECIMALS = 6


@dataclass(frozen=True, slots=True)
class PushSummary:
    """What a push of one root did."""

    root: str
    written: int  # Documents that were new or changed.
    deleted: int
    documents: int  # Of the root, now.
    seconds: float


@dataclass(frozen=True, slots=True)
class RootStatus:
    """A root in the collections."""

    root: str
    shard: str  # "I/N", the worker that indexes it.
    documents: int
    files: int
    languages: dict[str, int]
    created: str  # When it was last indexed, in ISO 8601.


def push(store: MilvusStore, indexes: Sequence[IndexReader], shard: str) -> list[PushSummary]:
    """Make the collections hold what the indexes of a shard hold, and nothing else of that shard."""
    known = {row["id"]: row for row in store.read(store.roots, 'shard != ""', ("id", "shard", "about"))}
    others = {str(row["shard"]).partition("/")[2] for row in known.values()}
    for other in others - {shard.partition("/")[2]}:
        cure = f"give --shard I/{other}, or another --prefix"
        raise BackendError(f"the collections were filled with --shard I/{other}", cure)
    wanted = {ROOT + index.manifest.root: index for index in indexes}
    for key in wanted.keys() & known.keys():
        if (of := known[key]["shard"]) != shard:
            raise BackendError(f"{key.removeprefix(ROOT)} belongs to shard {of}", "index it there")
    summaries = [_push_root(store, index, shard, known.get(key)) for key, index in wanted.items()]
    for key, row in known.items():
        if key.startswith(ROOT) and row["shard"] == shard and key not in wanted:
            started, root = time.monotonic(), key.removeprefix(ROOT)
            _, deleted = _push_documents(store, root, None)
            store.delete(store.roots, [key])
            summaries.append(PushSummary(root, 0, deleted, 0, time.monotonic() - started))
    _push_statistics(store, indexes, shard)
    return summaries


def root_statuses(store: MilvusStore) -> list[RootStatus]:
    """Return all roots in the collections, by path."""
    store.check()
    found = []
    for row in store.read(store.roots, f'id like "{ROOT}%"', ("id", "shard", "about")):
        about = json.loads(row["about"])
        del about["state"]
        found.append(RootStatus(row["id"].removeprefix(ROOT), row["shard"], **about))
    return sorted(found, key=lambda status: status.root)


def _push_root(
    store: MilvusStore, index: IndexReader, shard: str, known: dict[str, Any] | None
) -> PushSummary:
    started = time.monotonic()
    manifest = index.manifest
    # A digest that changes with every commit that changes documents.
    segments = [[entry.files, entry.dead_files] for entry in manifest.segments]
    state = hashlib.sha256(json.dumps(segments, sort_keys=True).encode()).hexdigest()
    written = deleted = 0
    if known is None or json.loads(known["about"])["state"] != state:
        written, deleted = _push_documents(store, manifest.root, index)
        about = {
            "state": state,
            "documents": manifest.documents,
            "files": manifest.source_files,
            "languages": manifest.languages,
            "created": manifest.created,
        }
        store.write(store.roots, [about_row(ROOT + manifest.root, shard, about)])
    return PushSummary(manifest.root, written, deleted, manifest.documents, time.monotonic() - started)


def _push_documents(store: MilvusStore, root: str, index: IndexReader | None) -> tuple[int, int]:
    """Make the collections hold the documents and passages of a root; return how many documents changed and went."""
    _push_rows(store, store.passages, root, passage_rows(index) if index else ())
    return _push_rows(store, store.documents, root, rows_of(index) if index else ())


def _push_rows(
    store: MilvusStore, collection: str, root: str, rows: Iterable[dict[str, Any]]
) -> tuple[int, int]:
    """Make a collection hold these rows of a root; return how many were written and deleted."""
    read = store.read(collection, f"root == {quoted(root)}", ("id", "digest"))
    gone = {row["id"]: row["digest"] for row in read}
    written = store.write(collection, (row for row in rows if gone.pop(row["id"], "") != row["digest"]))
    return written, store.delete(collection, sorted(gone))


def _push_statistics(store: MilvusStore, indexes: Sequence[IndexReader], shard: str) -> None:
    counts: Counter[str] = Counter()
    for index in indexes:
        counts += document_frequencies(index)
    condition = f"shard == {quoted(shard)}"
    there = {row["term"]: row for row in store.read(store.terms, condition, ("id", "term", "documents"))}
    store.write(
        store.terms,
        (
            {"id": f"{shard} {term}", "term": term, "shard": shard, "documents": count, "unused": UNUSED}
            for term, count in counts.items()
            if term not in there or there[term]["documents"] != count
        ),
    )
    store.delete(store.terms, [row["id"] for term, row in there.items() if term not in counts])
    entries = [entry for index in indexes for entry in index.manifest.segments]
    empty = [[0] * len(FIELDS)]
    about = {
        "documents": sum(entry.live_documents for entry in entries),
        "field_sums": np.sum([entry.field_sums for entry in entries] or empty, axis=0).tolist(),
        "field_counts": np.sum([entry.field_counts for entry in entries] or empty, axis=0).tolist(),
    }
    store.write(store.roots, [about_row(SHARD + shard, shard, about)])


def rows_of(index: IndexReader) -> Iterator[dict[str, Any]]:
    """Yield a row for each live document of an index, in the order of its segments and files."""
    root = index.manifest.root
    for segment in index.segments:
        terms = ForwardTerms(segment)
        for file in _live_files(segment):
            yield from _rows_of_file(root, segment, file, terms)


def passage_rows(index: IndexReader) -> Iterator[dict[str, Any]]:
    """Yield a row for each passage of the live documents; `document` is the `id` of its document's row."""
    root = index.manifest.root
    for segment in index.segments:
        for file in _live_files(segment):
            own = segment.passages_of(file)
            if own.start == own.stop:  # As most files.
                continue
            vectors = _vectors(segment.passage_vectors, own)
            documents = list(_identified(root, file, segment.store.document_rows(file)))
            for at, (number, first, last, *bits) in enumerate(segment.passages[own].tolist()):
                key, row = documents[number - file.first_doc]
                content = {
                    **_about(root, file, row),
                    "document": key,
                    **dict(zip(LINES, (first, last), strict=True)),
                    "signature": np.array(bits, "<u4").tobytes().hex(),
                }
                yield {"id": f"{key} {first}", **_digested(content, vectors[at].tolist())}


def _live_files(segment: SegmentReader) -> Iterator[FileRecord]:
    for file_id, file in segment.store.numbered_files():
        if file_id not in segment.dead_files:
            yield file


def _vectors(reader: VectorReader, rows: slice) -> NDArray[np.float32]:
    """Return stored vectors, float32 [N, D]."""
    return reader.rows[rows].astype(np.float32) * reader.scales[rows, None]


def _identified(
    root: str, file: FileRecord, rows: Iterable[DocumentRow]
) -> Iterator[tuple[str, DocumentRow]]:
    """Yield each document of a file with its id, which is the same as long as root, path, kind and name are."""
    names: Counter[tuple[str, str]] = Counter()
    for row in rows:
        names[row.kind, row.qualified_name] += 1
        occurrence = names[row.kind, row.qualified_name]
        yield _hash(json.dumps([root, file.path, row.kind, row.qualified_name, occurrence])), row


def _about(root: str, file: FileRecord, row: DocumentRow) -> dict[str, Any]:
    kind = KINDS.index(row.kind)
    return {"root": root, "path": file.path, "language": file.language, "kind": kind}


def _digested(content: dict[str, Any], vector: list[float]) -> dict[str, Any]:
    """Return a row without its id; `digest` is the same as long as the rest is."""
    values = [round(value, _DECIMALS) for value in vector]
    digest = _hash(json.dumps([content, values], sort_keys=True))
    return {"digest": digest, **content, "vector": vector}


def _postings_of(segment: SegmentReader) -> list[NDArray[Any]]:
    """Return the keys, doc_ids and frequencies of all postings."""
    parts = list(segment.postings.all_postings())
    empty = np.empty(0, np.uint32), np.empty(0, np.uint32), np.empty(0, np.uint8)
    return [np.concatenate(columns) for columns in zip(empty, *parts, strict=True)]


class ForwardTerms:
    """The terms of each document of a segment, from its inverted lists."""

    def __init__(self, segment: SegmentReader) -> None:
        keys, doc_ids, frequencies = _postings_of(segment)
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
        keys, doc_ids, frequencies = _postings_of(segment)
        live = np.ones(len(segment), bool)
        live[segment.dead] = False
        counted = live[doc_ids] & (frequencies > 0)
        pairs = (keys[counted] // len(FIELDS)).astype(np.uint64) << np.uint64(32) | doc_ids[counted]
        terms, counts = np.unique(np.unique(pairs) >> np.uint64(32), return_counts=True)
        names = segment.postings.terms()
        for term, count in zip(terms.tolist(), counts.tolist(), strict=True):
            found[names[term]] += count
    return found


def _rows_of_file(
    root: str, segment: SegmentReader, file: FileRecord, terms: ForwardTerms
) -> Iterator[dict[str, Any]]:
    found = read_source(segment, file)
    source = found[0] if found and not found[1] else None
    vectors = _vectors(segment.vectors, slice(file.first_doc, file.first_doc + file.doc_count))
    for place, (key, row) in enumerate(_identified(root, file, segment.store.document_rows(file))):
        code = b"" if source is None else cut_lines(source, row, by_line=False)
        stored, number = row._asdict(), file.first_doc + place
        found_terms = terms.of(number)
        content = {
            **{name: _cut(stored[name]) if kind is str else stored[name] for name, kind in STORED.items()},
            **_about(root, file, row),
            "place": place,
            "name_key": _cut(row.name.lower(), MAX_PATH),
            "terms": _cut(encode_terms(found_terms, segment.postings.field_lengths[number].tolist())),
            "text": _cut(bm25_text(found_terms)),
            "code": _cut(code.decode("utf-8", "replace")),
        }
        yield {"id": key, **_digested(content, vectors[place].tolist())}


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


def _cut(text: str, limit: int = MAX_TEXT) -> str:
    encoded = text.encode("utf-8", "replace")
    return text if len(encoded) <= limit else encoded[:limit].decode("utf-8", "ignore")


def _hash(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).hexdigest()
