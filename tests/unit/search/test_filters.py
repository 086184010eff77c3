"""Languages, kinds and paths, before any ranking."""

import pytest

from codesearch.errors import ConfigError
from codesearch.search.filters import allowed_documents
from codesearch.search.request import Filters
from codesearch.store.snapshot import Snapshot

CONVERT, READER, SORTER, HTTP, CRYPTO, QUEUE = (
    "python/convert.py",
    "go/reader.go",
    "java/Sorter.java",
    "javascript/http.js",
    "php/Crypto.php",
    "ruby/queue.rb",
)


def allowed(index, **filters: tuple[str, ...]) -> list[tuple[str, str]]:
    """List (path, name) of each document that passes, in doc_id order."""
    snapshot = Snapshot([index])
    mask = allowed_documents(Filters(**filters), snapshot)
    assert mask is not None and len(mask) == snapshot.size
    return [(ref.path, ref.row.name) for ref in snapshot.refs(mask.nonzero()[0].tolist())]


def test_without_filters_nothing_is_computed(built_index):
    assert allowed_documents(Filters(), Snapshot([built_index])) is None


def test_a_place_that_covers_the_root_filters_nothing(built_index):
    snapshot = Snapshot([built_index])
    root = built_index.root
    for place in (root, root.parent, f"{root}/"):
        assert allowed_documents(Filters(within=(place,)), snapshot) is None
    for place in (root / "python", f"{root}x"):
        assert allowed_documents(Filters(within=(place,)), snapshot) is not None


def test_a_document_matches_one_of_several_languages(built_index):
    assert allowed(built_index, languages=("ruby", "go")) == [
        (READER, "ReadLines"),
        (READER, "Close"),
        (QUEUE, "PriorityQueue"),
        (QUEUE, "push"),
    ]


def test_a_document_matches_one_of_several_kinds(built_index):
    assert allowed(built_index, kinds=("class",)) == [
        (SORTER, "Sorter"),
        (CONVERT, "Stack"),
        (QUEUE, "PriorityQueue"),
    ]
    assert [
        name for _, name in allowed(built_index, kinds=("class", "method"))
    ] == "Close Sorter sortStrings Stack push pop PriorityQueue push".split()


def test_a_document_must_pass_all_filters(built_index):
    assert allowed(built_index, languages=("python", "ruby"), kinds=("method",), paths=("*.py",)) == [
        (CONVERT, "push"),
        (CONVERT, "pop"),
    ]
    assert allowed(built_index, languages=("go",), paths=("*.py",)) == []


def test_no_document_of_an_empty_index_passes(tmp_path, index_tree):
    (tmp_path / "src").mkdir()
    index = index_tree(tmp_path / "src")
    assert allowed(index, languages=("go",), kinds=("class",), paths=("*.go",)) == []


def test_an_unknown_language_or_kind_lists_the_known_ones_or_the_nearest():
    with pytest.raises(ConfigError, match=r"unknown language 'cobol': choose one of go, java, javascript, "):
        Filters(languages=("go", "cobol"))
    with pytest.raises(ConfigError) as caught:
        Filters(kinds=("functions",))
    assert str(caught.value) == "unknown kind 'functions': did you mean 'function'?"
