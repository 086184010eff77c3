"""What a query names is found first: a name with a hint, or a path."""

from collections.abc import Callable

import pytest

from codesearch.search.request import Filters, SearchRequest
from codesearch.search.searcher import Found, Searcher

TREE = {
    "shop/cart.py": "def cart(items):\n    return Cart(items)\n\n\nclass Cart:\n    def total(self):\n"
    "        return sum(self.items)\n\n    def loader(self):\n        return self\n",
    "shop/total.py": "def total(prices):\n    return sum(prices)\n",
    "shop/views.py": "def show(cart):\n    return cart\n\n\ndef hide(cart):\n    return None\n",
    "admin/views.py": "def audit(cart):\n    return cart\n",
    "admin/loading.py": "class ClassLoader:\n    def start(self):\n        return 1\n",
    "java/lang3/StringUtils.java": "class StringUtils {\n  int cart(int a) { return a + a; }\n}\n",
}


@pytest.fixture
def ask(searcher_of: Callable[..., Searcher]) -> Callable[..., Found]:
    searcher = searcher_of(TREE)
    return lambda query, **options: searcher.answer(SearchRequest(query, **options))


def places(found: Found) -> list[str]:
    return [f"{hit.path} {hit.qualified_name}" for hit in found.hits]


HINTS = {
    "class Cart": "shop/cart.py Cart",
    "class cart": "shop/cart.py Cart",
    "where is the cart class defined?": "shop/cart.py Cart",
    "def cart": "shop/cart.py cart",
    "cart function": "shop/cart.py cart",
    "method cart": "java/lang3/StringUtils.java StringUtils.cart",
    "method total": "shop/cart.py Cart.total",
    "definition of total": "shop/total.py total",
    "Cart::total()": "shop/cart.py Cart.total",
    "org.apache.lang3.StringUtils": "java/lang3/StringUtils.java StringUtils",
    "tree.shop.total": "shop/total.py total",
    "class loader": "admin/loading.py ClassLoader",
    "def ClassLoader": "admin/loading.py ClassLoader",
}


def test_a_hint_decides_between_definitions_with_a_name(ask):
    assert {query: places(ask(query, top_k=1)) for query in HINTS} == {
        query: [first] for query, first in HINTS.items()
    }


def test_a_name_that_no_definition_has_is_searched_as_words(ask):
    assert {hit.signals["name"] for hit in ask("class Basket").hits} == {0.0}
    assert {hit.signals["name"] for hit in ask("class total").hits} == {0.0}


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("shop/views.py", ["shop/views.py show", "shop/views.py hide"]),
        ("views.py", ["admin/views.py audit", "shop/views.py show", "shop/views.py hide"]),
        ("shop/views.py:6", ["shop/views.py hide", "shop/views.py show"]),
        ("cart.py:6", ["shop/cart.py Cart.total", "shop/cart.py cart"]),
        ("tree/shop/views.py", ["shop/views.py show", "shop/views.py hide"]),
        ("ws.py", []),
    ],
)
@pytest.mark.parametrize("by_file", [False, True])
def test_a_path_is_answered_by_the_definitions_of_its_files(ask, query, first, by_file):
    found = ask(query, by_file=by_file)
    if by_file:
        first = list({place.split()[0]: place for place in reversed(first)}.values())[::-1]
    named = [place for place, hit in zip(places(found), found.hits, strict=True) if hit.signals["path"]]
    assert named[: len(first)] == places(found)[: len(first)] == first
    assert (found.confidence == 1.0) == bool(first) or found.confidence is None


def test_an_absolute_path_is_found(ask, tmp_path):
    assert places(ask(f"{tmp_path}/tree/admin/views.py:1", top_k=1)) == ["admin/views.py audit"]


def test_a_path_passes_the_filters(ask):
    found = ask("views.py", top_k=1, filters=Filters(paths=("shop/",)))
    assert places(found) == ["shop/views.py show"]


def test_a_file_that_is_asked_for_is_first_even_if_others_have_more_support(searcher_of):
    many = "".join(f"def views_{name}(py):\n    return views.py(py)\n\n\n" for name in "abcdefgh")
    tree = {"shop/views.py": "def show(cart):\n    return cart\n", "app.py": many, "old/app.py": many.upper()}
    found = searcher_of(tree).answer(SearchRequest("shop/views.py", top_k=1, by_file=True))
    assert places(found) == ["shop/views.py show"]
