"""A query is a name, a piece of code, or words."""

from collections.abc import Callable

import pytest

from codesearch.search.forms import is_code, name_parts, parse_asked, spellings
from codesearch.search.searcher import Searcher
from tests.conftest import search


@pytest.mark.parametrize(
    ("query", "parts"),
    [
        ("read_lines", ["read_lines"]),
        ("Stack.push", ["Stack", "push"]),
        ("Stack::push()", ["Stack", "push"]),
        ("stack->push(item, f(x));", ["stack", "push"]),
        ("PriorityQueue#empty?", ["PriorityQueue", "empty?"]),
        ("self.items", ["items"]),
        ("App\\Http\\Kernel", ["App", "Http", "Kernel"]),
        ("push an item", []),
        ("3.11", []),
        ("(x)", []),
        ("", []),
    ],
)
def test_a_name_is_split_at_the_separators_of_all_languages(query, parts):
    assert name_parts(query) == parts


@pytest.mark.parametrize(
    ("query", "parts", "kinds"),
    [
        ("class Stack", ["Stack"], {"class"}),
        ("public static class Stack {", ["Stack"], {"class"}),
        ("Stack class", ["Stack"], {"class"}),
        ("where is the Stack class defined?", ["Stack"], {"class"}),
        ("where is Stack.push", ["Stack", "push"], set()),
        ("definition of Stack", ["Stack"], set()),
        ("def push(self, item):", ["push"], {"function", "method"}),
        ("method Stack::push", ["Stack", "push"], {"method"}),
        ("crate::stack::Stack", ["stack", "Stack"], set()),
        ("read-only", ["read-only"], set()),
    ],
)
def test_words_around_a_name_are_a_hint(query, parts, kinds):
    asked = parse_asked(query)
    assert list(asked.names) == parts
    assert set(asked.kinds[0] if asked.kinds else ()) == kinds


@pytest.mark.parametrize(
    "query", ["open file function", "where is the login checked", "definition of done for tasks", "x" * 9999]
)
def test_other_words_are_no_name(query):
    assert parse_asked(query).names == ()


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("views.py", ("views.py", 0, 0, ())),
        ("sessions/views.py:12", ("sessions/views.py", 12, 0, ())),
        ("sessions/views.py:12-20", ("sessions/views.py", 12, 20, ())),
        ("./a/b.go:7:1:", ("a/b.go", 7, 0, ())),
        ("views.py::Page.show", ("views.py", 0, 0, ("Page", "show"))),
        ("/home/me/a b/c.ts", ("home/me/a b/c.ts", 0, 0, ())),
        ("src\\main.rs", ("src/main.rs", 0, 0, ())),
        ("Makefile", ("Makefile", 0, 0, ())),
        ("parse a file", ("", 0, 0, ())),
        ("Stack", ("", 0, 0, ())),
    ],
)
def test_a_path_is_recognised_by_its_slashes_or_its_ending(query, path):
    asked = parse_asked(query)
    assert (asked.file, asked.first, asked.last, asked.inside) == path


def test_a_name_has_its_other_spellings():
    assert spellings("parseHTTP_url") == ["parseHTTP_url", "parse_http_url", "parsehttpurl"]
    assert spellings("__init__") == ["__init__", "init"]


@pytest.mark.parametrize(
    "query",
    [
        "for item in items:\n    total += item.price\nreturn total",
        "if (a < b) {\n  swap(a, b);\n}",
        "return xs.map((x) => x * 2)",
        "int sum = a + b;",
        "def copy(src, dst): return src",
        "while (head != null) head = head.next;",
        "@heap << [priority, element]\n@heap.sort!\nend",
    ],
)
def test_code_is_recognised(query):
    assert is_code(query)


@pytest.mark.parametrize(
    "query",
    [
        "convert int to string",
        "how to use map() in python",
        "Stack.push(item)",
        "what is the difference between == and is",
        "c++ vector",
        "read a file\ninto lines",
        "sort dict by value: python",
        "http://example.com/a?b=c",
    ],
)
def test_prose_about_code_is_not_code(query):
    assert not is_code(query)


TREE = {
    "net/client.py": "def fetch_page(url):\n    return get(url)\n\n\nclass Cache:\n    def fetch_page(self, url):\n"
    "        return self.pages[url]\n",
    "net/__init__.py": "def open_all():\n    return []\n",
    "web/fetch.js": "function fetchPage(url) {\n  return fetch(url);\n}\n",
    "totals.py": "def basket(items):\n    total = 0\n    for item in items:\n        total += item.price\n"
    "    return total\n",
}


@pytest.fixture
def ask(searcher_of: Callable[..., Searcher]) -> Callable[..., list[str]]:
    searcher = searcher_of(TREE)

    def found(query: str, top_k: int = 1) -> list[str]:
        return [f"{hit.path} {hit.qualified_name}" for hit in search(searcher, query, top_k)]

    return found


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("Cache.fetch_page", "net/client.py Cache.fetch_page"),
        ("client.Cache.fetch_page", "net/client.py Cache.fetch_page"),
        ("client.fetch_page", "net/client.py fetch_page"),
        ("net.client.fetch_page", "net/client.py fetch_page"),
        ("net.open_all", "net/__init__.py open_all"),
        ("fetch.fetchPage", "web/fetch.js fetchPage"),
        ("fetchPage", "web/fetch.js fetchPage"),
        ("OpenAll", "net/__init__.py open_all"),
    ],
)
def test_a_name_is_found_by_its_class_or_module(ask, query, first):
    assert ask(query) == [first]


def test_a_name_is_found_in_its_other_spellings_below_its_own(ask):
    assert ask("fetchPage", 3)[0] == "web/fetch.js fetchPage"
    assert sorted(ask("fetchPage", 3)[1:]) == ["net/client.py Cache.fetch_page", "net/client.py fetch_page"]


def test_the_end_of_a_qualifier_does_not_match_it(searcher_of):
    hits = search(searcher_of(TREE), "ache.fetch_page")
    named = {hit.name: round(hit.signals["name"], 2) for hit in hits}
    assert named == {"Cache": 0.0, "basket": 0.0, "fetchPage": 0.0, "fetch_page": 0.2, "open_all": 0.0}


def test_pasted_code_finds_its_function(ask):
    assert ask("total = 0\nfor item in items:\n    total += item.price") == ["totals.py basket"]
