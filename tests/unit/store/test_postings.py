"""Terms and words written and read back as lists, over one segment and over several."""

from collections import Counter

import numpy as np
import pytest

from codesearch.errors import IndexCorruptError, IndexStoreError
from codesearch.store import postings as postings_module
from codesearch.store.postings import (
    PostingsReader,
    PostingsWriter,
    WordsReader,
    WordsWriter,
    checksums_of,
    words_of,
)
from tests.conftest import write_tree
from tests.records import counted_block

Documents = list[list[Counter[str]]]


def fields(name: str = "", body: str = "") -> list[Counter[str]]:
    empty: Counter[str] = Counter()
    return [Counter(name.split()), empty, empty, Counter(body.split()), empty]


def written(folder, *blocks: Documents) -> PostingsReader:
    folder.mkdir()
    writer = PostingsWriter(folder)
    first = 0
    for block in blocks:
        writer.add(counted_block(block), first)
        first += len(block)
    writer.write()
    return PostingsReader(folder, "root")


def listed(reader: PostingsReader, term: str, field: int) -> list[tuple[int, int]]:
    term_id = reader.find(term)
    if term_id is None:
        return []
    postings = zip(*map(np.ndarray.tolist, reader.of_term(term_id)), strict=True)
    return [(doc_id, frequency) for number, doc_id, frequency in postings if number == field]


def test_a_field_length_is_capped_at_65535(tmp_path):
    words = Counter({f"w{number}": 255 for number in range(300)})
    reader = written(tmp_path / "g", [[Counter(), Counter(), Counter(), words, Counter()]])
    assert reader.field_lengths.tolist() == [[0, 0, 0, 65_535, 0]]


def test_terms_are_numbered_in_byte_order(tmp_path):
    reader = written(tmp_path / "g", [fields("zebra éclair apple Ωmega äpfel app")])
    terms = ["app", "apple", "zebra", "äpfel", "éclair", "Ωmega"]
    assert [reader.find(term) for term in terms] == [0, 1, 2, 3, 4, 5]
    assert reader.terms() == terms


def test_a_term_that_no_document_has_is_not_found(tmp_path):
    reader = written(tmp_path / "g", [fields("b d")])
    assert [reader.find(term) for term in ("a", "b", "c", "d", "e", "", "bb")] == [
        None,
        0,
        None,
        1,
        None,
        None,
        None,
    ]


def test_postings_without_documents_can_be_written_and_read(tmp_path):
    reader = written(tmp_path / "g")
    assert (len(reader.field_lengths), reader.find("a")) == (0, None)
    assert list(reader.all_postings()) == []


@pytest.mark.parametrize("some", [1, 2, 3, 100])
def test_all_postings_list_every_key_once_in_order(tmp_path, monkeypatch, some):
    monkeypatch.setattr(postings_module, "SLICE", some)
    reader = written(tmp_path / "g", [fields("b", "a a"), fields("a"), fields("c", "a")])
    parts = list(reader.all_postings())
    assert max(len(keys) for keys, *_ in parts) == min(some, 5)
    listed = [posting for part in parts for posting in zip(*(array.tolist() for array in part), strict=True)]
    assert listed == [(0, 1, 1), (3, 0, 2), (3, 2, 1), (5, 0, 1), (10, 2, 1)]


def test_more_documents_than_a_posting_can_number_are_an_error(tmp_path, monkeypatch):
    old = written(tmp_path / "old", [fields("a"), fields("b")])
    monkeypatch.setattr(postings_module, "MAX_DOCUMENTS", 4)
    writer = PostingsWriter(tmp_path)
    writer.add(counted_block([fields("a"), fields("b")]), 2)
    for add in (
        lambda: writer.add(counted_block([fields("c")]), 4),
        lambda: writer.keep(old, np.array([1, 4])),
    ):
        with pytest.raises(IndexStoreError, match="^more than 4 documents: index fewer folders at once$"):
            add()
    writer.close()


def test_a_missing_or_damaged_array_is_a_corrupt_index(tmp_path):
    written(tmp_path / "g", [fields("a")])
    path = tmp_path / "g" / "postings" / "doc_ids.npy"
    for damage in (lambda: path.write_bytes(b"no array"), path.unlink):
        damage()
        with pytest.raises(IndexCorruptError, match="doc_ids.npy.*--rebuild root"):
            PostingsReader(tmp_path / "g", "root")


def reader(folder, files, kept=None):
    folder.mkdir()
    writer = WordsWriter(folder)
    for file_id, text in files.items():
        writer.add(checksums_of(text), file_id)
    if kept:
        writer.keep(kept[0], np.array(kept[1]))
    writer.write()
    return WordsReader(folder, "")


def test_a_word_with_other_letters_has_the_parts_between_them():
    assert words_of("naïve = größe_1;".encode()) == {b"na", b"ve", b"gr", b"e_1"}


def test_a_word_is_in_the_files_that_have_it_whole(tmp_path):
    words = reader(tmp_path / "a", {0: b"load(path)", 1: b"loader.path", 7: b"path: load"})
    assert words.files_with(b"load").tolist() == [0, 7]
    assert words.files_with(b"path").tolist() == [0, 1, 7]
    assert words.files_with(b"loa").tolist() == []


def test_kept_files_get_new_numbers_and_dropped_ones_leave(tmp_path):
    old = reader(tmp_path / "a", {0: b"load", 1: b"load save", 2: b"save"})
    words = reader(tmp_path / "b", {1: b"load"}, (old, [-1, 0, 2]))
    assert words.files_with(b"load").tolist() == [0, 1]
    assert words.files_with(b"save").tolist() == [0, 2]


def test_words_of_a_file_without_definitions_survive_updates(tmp_path, index_tree):
    root = write_tree(tmp_path / "tree", {"a.py": "VALUE\n", "b.py": "def value(): ...\n"})
    index_tree(root)
    write_tree(root, {"b.py": "def value():\n    return VALUE\n"})
    index = index_tree(root)
    found = [
        segment.files[file_id].path
        for segment in index.segments
        for file_id in segment.files_with({b"VALUE"})
    ]
    assert sorted(found) == ["a.py", "b.py"]
