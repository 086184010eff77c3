"""Members without code are found by name, in outlines and usages, and are no hits."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from codesearch.engine.engine import Engine
from codesearch.engine.scope import Scope
from codesearch.engine.session import AS_INDEXED, Session
from codesearch.search.request import Filters
from codesearch.structure.text import outline_lines
from tests.conftest import write_tree
from tests.git import repository

TREE = {
    "Order.java": "class Order {\n    /** What it costs. */\n    private int totalPrice = 0;\n"
    "    static final int MAX = 3;\n    int sum() { return this.totalPrice; }\n}\n",
    "Colour.cs": "enum Colour { Red, Green }\nclass Paint {\n    public Colour Shade { get; set; }\n}\n",
    "limits.py": "maxRetries = 3\n\n\ndef retry(count):\n    return count\n",
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return repository(tmp_path_factory.mktemp("members") / "project", TREE)


@pytest.fixture(scope="module")
def engine(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    engine = Engine(tmp_path_factory.mktemp("home"))
    engine.index(root)
    yield engine
    engine.close()


@pytest.fixture
def session(engine: Engine, root: Path) -> Session:
    return engine.session(Scope((root,), here=root), AS_INDEXED)


@pytest.mark.parametrize(
    ("text", "code"),
    {
        "Order.totalPrice": "    private int totalPrice = 0;",
        "total_price": "    private int totalPrice = 0;",
        "Order.java::MAX": "    static final int MAX = 3;",
        "Colour.Green": "enum Colour { Red, Green }",
        "Shade": "    public Colour Shade { get; set; }",
        "maxRetries": "maxRetries = 3",
    }.items(),
)
def test_a_member_is_read_by_its_name(session, text, code):
    (reading,) = session.read(text).places
    assert (reading.definition.kind, [line for _, line in reading.lines]) == ("field", [code])


def test_a_line_of_a_member_stands_for_the_type_around_it(session):
    assert session.read("Order.java:3").places[0].definition.name == "Order"


def test_outlines_have_members_in_the_order_of_the_source(session):
    assert [line for one in session.outline("Order.java").places for line in outline_lines(one)] == [
        "Order.java",
        "     1    class Order",
        "     3      private int totalPrice = 0  What it costs.",
        "     4      static final int MAX = 3",
        "     5      int sum()",
    ]


def test_usages_of_a_member_are_told_from_its_definition(session):
    found = session.usages("Order.totalPrice").found
    assert [definition.start_line for definition in found.definitions] == [3]
    assert [(usage.line, usage.grade) for usage in found.usages] == [(5, "certain")]


def test_history_follows_the_lines_of_a_member(session):
    assert len(session.history(place="Order.totalPrice").hits) == 1


def test_a_query_that_names_a_member_finds_its_type_first(engine, root):
    hits = engine.search("totalPrice", Scope((root,)), refresh=False).hits
    assert (hits[0].qualified_name, hits[0].signals["name"]) == ("Order", 0.5)
    assert "field" not in {hit.kind for hit in hits}


def test_a_query_that_names_a_member_of_a_file_that_is_left_out_finds_no_type(engine, root):
    filters = Filters(paths=("!*.java",))
    hits = engine.search("totalPrice", Scope((root,)), refresh=False, filters=filters).hits
    assert {hit.signals["name"] for hit in hits} == {0}


def test_a_name_in_nested_roots_is_found_in_the_inner_one(tmp_path):
    root = write_tree(tmp_path / "project", {"inner/limits.py": TREE["limits.py"]})
    engine = Engine(tmp_path / "home")
    engine.index(root)
    engine.index(root / "inner")
    session = engine.session(Scope((root, root / "inner")), AS_INDEXED)
    for name in ("maxRetries", "retry"):
        assert [place.path for place in session.read(name).places] == ["limits.py"]
    engine.close()


def test_one_word_is_also_a_question(engine, root):
    hits = engine.search("shade", Scope((root,)), refresh=False).hits
    assert {hit.signals["name"] for hit in hits} == {0}


def test_members_of_unchanged_files_stay_when_an_index_is_updated(tmp_path, never_merged):
    root = write_tree(tmp_path / "project", TREE)
    engine = Engine(tmp_path / "home")
    engine.index(root)
    (root / "Order.java").write_text("class Order {\n    int other;\n}\n")
    engine.index(root)
    session = engine.session(Scope((root,), here=root))
    assert [
        session.read(name).places[0].path for name in ("Shade", "maxRetries", "other")
    ] == "Colour.cs limits.py Order.java".split()
    assert session.outline("Order.java").places[0].entries[-1].label == "int other"
    engine.close()
