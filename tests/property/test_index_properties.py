"""Structures on disk return what was written, and postings agree with a brute-force count."""

import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from codesearch.store.database import DocumentRow, FileRecord, StoreReader, StoreWriter
from codesearch.store.postings import PostingsReader, PostingsWriter
from codesearch.store.sorting import best_positions
from codesearch.store.vectors import VectorReader, VectorWriter, quantize
from codesearch.text.terms import FIELDS
from codesearch.types import KINDS
from tests.records import counted_block

TERMS = st.text(st.characters(codec="utf-8", categories=("L", "N")), min_size=1, max_size=6)
COUNTS = st.dictionaries(TERMS, st.integers(1, 255), max_size=5).map(Counter)
DOCUMENT = st.lists(COUNTS, min_size=len(FIELDS), max_size=len(FIELDS))
BLOCKS = st.lists(st.lists(DOCUMENT, max_size=4), max_size=4)


def new_postings(folder: Path) -> PostingsWriter:
    folder.mkdir()
    return PostingsWriter(folder)


def write_postings(folder: Path, writer: PostingsWriter) -> PostingsReader:
    writer.write()
    return PostingsReader(folder, "root")


def lists_of(reader: PostingsReader, terms: set[str]) -> dict[tuple[str, int], list[tuple[int, int]]]:
    found: dict[tuple[str, int], list[tuple[int, int]]] = {}
    for term in terms:
        term_id = reader.find(term)
        if term_id is not None:
            for field, doc_id, frequency in zip(
                *map(np.ndarray.tolist, reader.of_term(term_id)), strict=True
            ):
                found.setdefault((term, field), []).append((doc_id, frequency))
    return found


def count_by_hand(documents: list[list[Counter[str]]]) -> dict[tuple[str, int], list[tuple[int, int]]]:
    found: dict[tuple[str, int], list[tuple[int, int]]] = {}
    for doc_id, fields in enumerate(documents):
        for field, counts in enumerate(fields):
            for term, frequency in counts.items():
                found.setdefault((term, field), []).append((doc_id, frequency))
    return found


def terms_of(documents: list[list[Counter[str]]]) -> set[str]:
    return {term for fields in documents for counts in fields for term in counts}


@settings(max_examples=15)
@given(BLOCKS)
def test_postings_agree_with_a_brute_force_count(blocks):
    documents = [document for block in blocks for document in block]
    with tempfile.TemporaryDirectory() as folder:
        writer = new_postings(Path(folder, "g"))
        first = 0
        for block in blocks:
            writer.add(counted_block(block), first)
            first += len(block)
        reader = write_postings(Path(folder, "g"), writer)
        assert lists_of(reader, terms_of(documents)) == count_by_hand(documents)
        assert reader.field_lengths.tolist() == [[c.total() for c in fields] for fields in documents]


@given(st.lists(st.tuples(DOCUMENT, st.sampled_from(["old", "dropped", "new"])), max_size=10))
def test_kept_and_added_documents_give_the_files_of_a_fresh_write(plan):
    old = [(document, fate) for document, fate in plan if fate != "new"]
    final = [(document, fate) for document, fate in plan if fate != "dropped"]
    new_ids = iter([place for place, (_, fate) in enumerate(final) if fate == "old"])
    with tempfile.TemporaryDirectory() as folder:
        first = new_postings(Path(folder, "1"))
        first.add(counted_block([document for document, _ in old]), 0)
        reader = write_postings(Path(folder, "1"), first)
        second = new_postings(Path(folder, "2"))
        for doc_id, (document, fate) in enumerate(final):
            if fate == "new":
                second.add(counted_block([document]), doc_id)
        kept = [next(new_ids) if fate == "old" else -1 for _, fate in old]
        second.keep(reader, np.array(kept, dtype=np.int64))
        result = write_postings(Path(folder, "2"), second)
        documents = [document for document, _ in final]
        assert lists_of(result, terms_of([document for document, _ in plan])) == count_by_hand(documents)
        fresh = new_postings(Path(folder, "3"))
        fresh.add(counted_block(documents), 0)
        write_postings(Path(folder, "3"), fresh)
        for path in Path(folder, "3", "postings").iterdir():
            assert Path(folder, "2", "postings", path.name).read_bytes() == path.read_bytes(), path.name


VECTORS = hnp.arrays(
    np.float32, st.tuples(st.integers(1, 30), st.just(8)), elements=st.floats(-1, 1, width=32)
)


@given(VECTORS, st.integers(0, 29))
def test_stored_vectors_are_close_and_their_similarities_exact(vectors, pick):
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors = np.where(norms > 1e-3, vectors / np.maximum(norms, 1e-3), 0).astype(np.float32)
    rows, scales = quantize(vectors)
    assert (np.abs(rows * scales[:, None] - vectors) <= scales[:, None] * 0.501).all()
    with tempfile.TemporaryDirectory() as folder:
        writer = VectorWriter(Path(folder), 8)
        writer.add(rows, scales)
        writer.close()
        Path(folder, "vectors.scales").write_bytes(scales.tobytes())
        reader = VectorReader(Path(folder), len(vectors), 8)
        query = vectors[pick % len(vectors)]
        stored = rows.astype(np.float64) * scales[:, None]
        np.testing.assert_allclose(reader.similarities(query), stored @ query, atol=1e-5)
        some = np.arange(len(vectors))[::-2]
        np.testing.assert_allclose(reader.similarities(query, some), (stored @ query)[some], atol=1e-5)


TEXT = st.text(st.characters(codec="utf-8"), max_size=20)
NUMBER = st.integers(0, 2**62)
ROW = st.tuples(
    st.sampled_from(KINDS),
    TEXT,
    TEXT,
    TEXT,
    TEXT,
    NUMBER,
    NUMBER,
    NUMBER,
    NUMBER,
    NUMBER,
    NUMBER,
    st.integers(-(2**63), 2**63 - 1),
    st.integers(-(2**63), 2**63 - 1),
)
FILES = st.lists(
    st.tuples(TEXT, st.binary(max_size=16), st.lists(ROW, max_size=4)),
    max_size=5,
    unique_by=lambda file: file[0],
)


@given(FILES)
def test_rows_and_files_of_a_store_are_read_as_they_were_written(files):
    with tempfile.TemporaryDirectory() as folder:
        writer = StoreWriter(Path(folder))
        expected: list[tuple[FileRecord, list[DocumentRow]]] = []
        for path, digest, rows in files:
            record = FileRecord(path, "python", 1, digest, writer.document_count, len(rows))
            writer.add_file(record, rows)
            expected.append((record, rows))
        writer.finish()
        reader = StoreReader(Path(folder), "root")
        assert [record for _, record in reader.numbered_files()] == [record for record, _ in expected]
        for record, rows in expected:
            assert reader.document_rows(record) == rows
        everything = reader.documents(list(range(writer.document_count)))
        assert list(everything) == list(range(writer.document_count))
        assert [document for _, document in everything.values()] == [
            row for _, rows in expected for row in rows
        ]
        reader.close()


@given(
    hnp.arrays(np.float32, st.integers(0, 40), elements=st.sampled_from([0.0, 0.25, 0.5, 1.0])),
    st.integers(1, 45),
)
def test_the_best_positions_are_those_of_a_full_sort(scores, count):
    expected = sorted(range(len(scores)), key=lambda position: (-scores[position], position))[:count]
    assert sorted(best_positions(scores, count).tolist()) == sorted(expected)
