"""Words of files are found by their checksums, also after updates and merges."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from codesearch.store.postings import WordsReader, WordsWriter, checksums_of, words_of
from codesearch.store.segments import IndexReader
from tests.conftest import write_tree


def reader(
    folder: Path, files: dict[int, bytes], kept: tuple[WordsReader, list[int]] | None = None
) -> WordsReader:
    folder.mkdir()
    writer = WordsWriter(folder)
    for file_id, text in files.items():
        writer.add(checksums_of(text), file_id)
    if kept:
        writer.keep(kept[0], np.array(kept[1]))
    writer.write()
    return WordsReader(folder, "")


def test_a_word_with_other_letters_has_the_parts_between_them() -> None:
    assert words_of("naïve = größe_1;".encode()) == {b"na", b"ve", b"gr", b"e_1"}


def test_a_word_is_in_the_files_that_have_it_whole(tmp_path: Path) -> None:
    words = reader(tmp_path / "a", {0: b"load(path)", 1: b"loader.path", 7: b"path: load"})
    assert words.files_with(b"load").tolist() == [0, 7]
    assert words.files_with(b"path").tolist() == [0, 1, 7]
    assert words.files_with(b"loa").tolist() == []


def test_kept_files_get_new_numbers_and_dropped_ones_leave(tmp_path: Path) -> None:
    old = reader(tmp_path / "a", {0: b"load", 1: b"load save", 2: b"save"})
    words = reader(tmp_path / "b", {1: b"load"}, (old, [-1, 0, 2]))
    assert words.files_with(b"load").tolist() == [0, 1]
    assert words.files_with(b"save").tolist() == [0, 2]


def test_words_of_a_file_without_definitions_survive_updates(
    tmp_path: Path, index_tree: Callable[..., IndexReader]
) -> None:
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
