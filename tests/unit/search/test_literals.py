"""A query that stands literally in a string or a comment is answered by the definition around it."""

import json
import marshal
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from codesearch.errors import ConfigError
from codesearch.search import exact as exact_text
from codesearch.search import literals
from codesearch.search.literals import literals_of
from codesearch.search.request import Filters, SearchRequest
from codesearch.search.searcher import Found, Searcher
from codesearch.store.segments import IndexReader
from tests.conftest import HashEncoder, write_tree

TREE = {
    "net.py": "def dial(host):\n    if not host:\n        raise OSError('Connection refused by peer')\n"
    "    return host\n\n\n"
    "def refused(peer, connection):\n    '''The connection was refused; peer is by the connection.'''\n"
    "    return peer\n",
    "limits.go": "package limits\n\n// Every caller waits here until\n//   one of the places is free again.\n\n"
    "func take() int {\n\treturn 1\n}\n\n"
    '// Of place-is-not-free.\nfunc fail() error {\n\treturn errors.New("no place " +\n\t\t"is free: " + name)\n}\n',
    "report.rb": 'def report(host, n)\n  puts "Host #{host} refused #{n} calls: retry later"\nend\n',
    "check.py": "def check(host):\n    raise ValueError(\n        f'The old host {host!r} is'\n"
    "        f' not up: give another one'\n    )\n",
    "trait.cs": "class Traits {\n  void Check(Actor actor) {\n"
    '    throw new Error($"Attempted to get a trait of a destroyed object ({actor})");\n'
    '    kinds({"old", "new", "other"});\n  }\n}\n',
    "tests/test_net.py": "def test_dial():\n    assert dial('') == 'Connection refused by peer'\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "project", TREE)


@pytest.fixture
def ask(root: Path, encoder: HashEncoder, index_tree: Callable[[Path], IndexReader]) -> Callable[..., Found]:
    searcher = Searcher([index_tree(root)], encoder)
    return lambda query, **options: searcher.answer(SearchRequest(query, **options))


def literal_hits(found: Found) -> list[str]:
    return [hit.qualified_name for hit in found.hits if hit.signals["literal"]]


AROUND = {
    "Connection refused by peer": ["dial", "test_dial"],
    '"refused by peer"': ["dial", "test_dial"],
    'where is "connection REFUSED by peer" raised': ["dial", "test_dial"],
    '"refused"': ["refused", "dial", "report", "test_dial"],
    "caller waits here until one of the places": ["take"],
    '"no place is free:"': ["fail"],
    "place-is-not-free": ["fail"],
    "is-not-free": ["fail"],
    "The old host example.org is not up: give another one": ["check"],
    "connection refused by peer": [],
    "no Connection refused by peer": [],
    "refused by peer": [],
    'Connection refused by "peer"': ["dial", "test_dial"],
    'some code that says "refused by peer"': ["dial", "test_dial"],
    "Host example.org refused 3 calls: retry later": ["report"],
    "Host of the refused 3 calls in a place: retry later": [],
    "Host example.org and its alias refused 3 calls: retry later": ["report"],
    "Attempted to get a trait of a destroyed object (harvester 4711)": ["Traits.Check"],
    "Attempted to get a trait of an object (harvester 4711)": [],
    "Unknown kinds: old new other": [],
    "how is the Connection refused by peer": [],
    '"refused by connection peer"': [],
}
"""Queries, and the definitions that have their text, best first."""


def test_a_text_is_found_by_the_definition_around_it(ask):
    for query, names in AROUND.items():
        found = ask(query)
        assert literal_hits(found) == [hit.qualified_name for hit in found.hits[: len(names)]], query
        assert sorted(literal_hits(found)) == sorted(names), query
        assert found.hits[0].qualified_name == names[0] if names else True, query


@pytest.mark.parametrize(("query", "names"), [("nothing is left here", ["pop"]), ("take the last one", [])])
def test_few_words_in_lower_case_must_be_a_whole_string(searcher_of, query, names):
    code = (
        'def pop(self):\n    """take the last one"""\n'
        "    raise IndexError('nothing is left here')  # take the last one\n"
    )
    assert literal_hits(searcher_of({"a.py": code}).answer(SearchRequest(query))) == names


def test_a_query_from_a_terminal_that_does_not_write_utf8_is_answered(ask):
    assert literal_hits(ask("gr\udcf6\udcdfe of the old host")) == []
    assert literal_hits(ask('"refused by peer" gr\udcf6\udcdfe')) == ["dial", "test_dial"]


def test_a_text_passes_the_filters(ask):
    found = ask("Connection refused by peer", filters=Filters(paths=("tests/",)))
    assert literal_hits(found) == ["test_dial"]


def test_a_file_that_changed_is_not_searched(ask, root):
    (root / "net.py").write_text(TREE["net.py"].replace("raise", "print('x'); raise"), "utf-8")
    assert literal_hits(ask("Connection refused by peer")) == ["test_dial"]


def test_a_query_of_words_reads_only_files_with_all_of_them(ask, monkeypatch):
    read: list[str] = []
    found = literals.read_source
    monkeypatch.setattr(
        literals, "read_source", lambda segment, file: read.append(file.path) or found(segment, file)
    )
    ask("host connection places caller free again")
    assert read == []
    ask("one of the places is free again")
    assert read == ["limits.go"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_a_pipe_in_place_of_a_file_is_no_source(ask, root):
    (root / "net.py").unlink()
    os.mkfifo(root / "net.py")
    assert literal_hits(ask("Connection refused by peer")) == ["test_dial"]


def test_a_pattern_takes_time_in_proportion_to_the_text():
    started = time.process_time()
    for literal in literals_of('"' + "a * - " * 39 + ' b"'):
        for hostile in (b"a" + b"* - " * 250_000, b"a {" * 250_000, b"{a}." * 30 + b"{" * 1_000_000):
            assert not list(literal.found_in(hostile + b"\n"))
        for hostile in (b"{a}:{a}, ", b"%a.%a.", b"{a} {a} !"):
            assert not list(literal.found_in((hostile * 10 + b"{\n") * 10_000))
    assert time.process_time() - started < 5


EXACT = {
    "box.py": "from lid import Lid\n\n\nclass Box:\n    def put(self, item):\n        self.items.append(item)\n\n"
    "    size = 3  # Of a box.\n\n\ndef put_all(box):\n    box.put(1)  # self.items.append(\n",
    "lid/__init__.py": "from lid.top import Lid\n",
    "tests/test_box.py": "def test_put():\n    assert 'self.items.append(item)'\n",
}


@pytest.fixture
def exact(searcher_of: Callable[..., Searcher]) -> Callable[..., Found]:
    searcher = searcher_of(EXACT)
    return lambda text, **options: searcher.answer(SearchRequest(text, fixed=True, mode="lexical", **options))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("self.items.append(item)", ["Box.put", "test_put"]),
        ("self.items.append(", ["Box.put", "put_all", "test_put"]),
        ("Self.items", []),
        ("size = 3", ["Box"]),
        (".*append", []),
        ("def put_", ["put_all"]),
    ],
)
def test_an_exact_text_is_found_in_the_same_case_and_in_no_other_document(exact, text, names):
    found = exact(text)
    assert sorted(hit.qualified_name for hit in found.hits) == names
    assert found.exact and (found.exact.outside, found.exact.unread_files) == ([], 0)


@pytest.mark.parametrize(
    ("text", "names", "lines", "files"),
    [
        ("tems.appe", ["Box.put", "put_all", "test_put"], 3, 2),
        ("ze = ", ["Box"], 1, 1),
        ("((", [], 0, 0),
        ("):", ["Box.put", "put_all", "test_put"], 3, 2),
        ("rt Li", [], 2, 2),
    ],
)
def test_an_exact_text_is_found_inside_of_words_and_counted(exact, text, names, lines, files):
    found = exact(text)
    assert sorted(hit.qualified_name for hit in found.hits) == names
    assert found.exact and (found.exact.lines, found.exact.files) == (lines, files)


def test_a_filter_applies_to_the_lines_that_are_counted(exact):
    found = exact("):", filters=Filters(kinds=("function",)))
    assert found.exact and (found.exact.lines, found.exact.files) == (2, 2)


def test_an_exact_text_is_found_everywhere_in_a_file(searcher_of):
    code = "".join(
        f"def f{number}(box):\n    return box.put({number})\n\n\nbox.put()\n" for number in range(50)
    )
    request = SearchRequest("box.put(", 100, "lexical", fixed=True)
    found = searcher_of({"a.py": code}).answer(request)
    assert {hit.name for hit in found.hits} >= {f"f{number}" for number in range(50)}


def test_an_exact_text_outside_of_definitions_has_a_place(exact):
    found = exact("import Lid")
    assert found.exact and not found.hits
    assert [(path, line) for _, path, line in found.exact.outside] == [("box.py", 1), ("lid/__init__.py", 1)]


def test_tests_rank_below_other_code_with_an_exact_text(exact):
    assert [hit.qualified_name for hit in exact("self.items.append(item)").hits] == ["Box.put", "test_put"]


@pytest.mark.parametrize("text", ["", " ", "word " * 201])
def test_an_empty_or_long_exact_text_is_refused(exact, text):
    with pytest.raises(ConfigError, match="give a text with a few words"):
        exact(text)


def test_files_that_are_not_read_for_an_exact_text_are_counted(exact, monkeypatch):
    read = iter([0.0, 1.0, *[3.0] * 99])
    monkeypatch.setattr(exact_text, "time", SimpleNamespace(monotonic=lambda: next(read)))
    found = exact("tems.appen", seconds=2.0)  # Parts of words, so every file may have it.
    assert found.exact and (found.exact.files, found.exact.unread_files) == (1, 2)


@pytest.mark.skipif(sys.platform != "linux", reason="only there, a second process reads")
@pytest.mark.parametrize("fails", [False, True])
def test_a_second_process_reads_half_of_many_files_and_may_fail(exact, monkeypatch, fails):
    expected, forks, fork, dump = exact("tems.appe").exact, [], os.fork, marshal.dump
    monkeypatch.setattr(exact_text, "_MANY_FILES", 2)
    monkeypatch.setattr(exact_text.threading, "active_count", lambda: 1)
    monkeypatch.setattr(exact_text.os, "fork", lambda: forks.append(1) or fork())
    monkeypatch.setattr(exact_text.marshal, "dump", (lambda *_: 1 / 0) if fails else dump)
    assert exact("tems.appe").exact == expected
    assert forks == [1]


@pytest.mark.parametrize("text", ["first = 'Größe'\nsecond", "first = 'Größe'\r\nsecond", "Größe", "second"])
def test_an_exact_text_is_found_whatever_the_bytes_of_a_file_are(index_tree, tmp_path, text):
    code = "first = 'Größe'\nsecond = first\n"
    crlf, cr = code.replace("\n", "\r\n"), code.replace("\n", "\r")
    files = {
        "lf.py": code.encode(),
        "crlf.py": crlf.encode(),
        "cr.py": cr.encode(),
        "latin.py": crlf.encode("latin-1"),
        "utf16.py": crlf.encode("utf-16"),
        "mark.py": crlf.encode("utf-8-sig"),
        "other.py": b"first = 'Gr'\n",
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    book = {"cells": [{"cell_type": "code", "source": code.splitlines(keepends=True)}], "nbformat": 4}
    (tmp_path / "book.ipynb").write_text(json.dumps(book))
    request = SearchRequest(text, 20, "lexical", fixed=True)
    found = Searcher([index_tree(tmp_path)], None).answer(request)
    assert {hit.path for hit in found.hits} | {path for _, path, _ in found.exact.outside} == {
        "book.ipynb",
        *files,
    } - {"other.py"}


def test_exact_text_is_read_neither_outside_of_the_root_nor_behind_links(index_tree, tmp_path):
    write_tree(tmp_path, {"secret/a.py": "word = 1\n", "root/sub/a.py": "other = 1\n"})
    index = index_tree(tmp_path / "root")
    (tmp_path / "root/sub/a.py").unlink()
    (tmp_path / "root/sub").rmdir()
    (tmp_path / "root/sub").symlink_to(tmp_path / "secret")
    assert Searcher([index], None).answer(SearchRequest("word", mode="lexical", fixed=True)).exact.files == 0


@pytest.mark.parametrize(("count", "is_found"), [(4, True), (5, False)])
def test_a_few_words_in_more_than_four_documents_are_not_looked_for(searcher_of, count, is_found):
    tree = {f"f{n}.py": f"def f{n}():\n    return 'the gate is shut tonight', {n}\n" for n in range(count)}
    searcher = searcher_of(tree)
    assert bool(searcher.ranking(searcher.analyse("the gate is shut tonight")).literal) == is_found
