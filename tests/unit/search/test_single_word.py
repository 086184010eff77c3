"""Queries of one word."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from codesearch.config import RankConfig
from codesearch.search.searcher import Searcher
from codesearch.store.reader import IndexReader
from tests.conftest import search, write_tree

TREE = {
    "archive.py": """class _ZipWriter:
    def __init__(self, zip, zip_name):
        self.zip = zip
        self.zip_name = zip_name

    def zip_it(self, zip):
        self.zip(zip)


def _zip_names(zip):
    return zip.zip_names(zip)


class ZipFile:
    def __init__(self, file):
        self.file = file
        self.entries = list(file)


def read(zip, zip_name):
    return zip.open(zip_name).read()
""",
    "Pack.java": """class Pack {
    private static int zipCount(Zip zip) { return zip.zip().zipCount(); }
    static int privateZip(Zip zip) { return zip.zip().zipCount(); }
}
""",
    "pack.ts": "class Packer {\n  #zipped(zip) { return zip.zip(zip); }\n  zipper(zip) { return zip.zip(zip); }\n}\n",
}


@pytest.fixture
def index(tmp_path: Path, index_tree: Callable[[Path], IndexReader]) -> IndexReader:
    return index_tree(write_tree(tmp_path / "tree", TREE))


def signals(index: IndexReader, query: str, config: RankConfig | None = None) -> dict[str, float]:
    hits = search(Searcher([index], None, config), query, 20, mode="lexical")
    return {hit.qualified_name: hit.signals["single_word"] for hit in hits if "single_word" in hit.signals}


def test_a_name_that_begins_with_the_word_is_higher_and_private_ones_are_lower(index: IndexReader) -> None:
    assert signals(index, "zip") == {
        "ZipFile": 1,
        "ZipFile.__init__": 0,
        "read": 0,
        "_ZipWriter": -1,
        "_ZipWriter.__init__": -1,
        "_ZipWriter.zip_it": -1,
        "_zip_names": -1,
        "Pack.zipCount": -1,
        "Pack.privateZip": 0,
        "Packer.#zipped": -1,
        "Packer.zipper": 0,
    }


def test_the_public_class_is_found_before_private_definitions(index: IndexReader) -> None:
    def first(config: RankConfig) -> str:
        return search(Searcher([index], None, config), "zip", 1, mode="lexical")[0].qualified_name

    assert first(RankConfig()) == "ZipFile"
    assert first(RankConfig(single_word_weight=0.0)) == "Packer.#zipped"


@pytest.mark.parametrize("query", ["open zip", "archive.zip", "zip()" + chr(10) + "zip.open()"])
def test_other_queries_have_no_such_signal(index: IndexReader, query: str) -> None:
    assert signals(index, query) == {}
