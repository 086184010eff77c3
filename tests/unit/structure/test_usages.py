"""Usages of a name: every whole word in the sources, with a grade and the definition around it.

What the languages mean is in `usages.txt`.
"""

import unicodedata
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from codesearch.errors import ConfigError, IndexNotFoundError
from codesearch.search import exact as exact_text
from codesearch.search.request import Filters
from codesearch.store.segments import IndexReader
from codesearch.structure.places import find_spots
from codesearch.structure.text import usages_lines, usages_summary
from codesearch.structure.usages import Usages, find_usages

CASES = dict(
    case.split("\n", 1)
    for case in (Path(__file__).parent / "usages.txt").read_text("utf-8").split("=== ")[1:]
)
"""Title -> what is asked (after "all" with `all_code`), and files, behind whose lines stands what they are.

If more than one thing is asked, its number comes before that.
"""
TREE = {
    "shop/cart.py": '"""Carts."""\n\nimport json\n\n\nclass Cart:\n    limit = 3\n\n    def total(self):\n'
    "        return self.total_of(self.limit)\n\n    def total_of(self, n):\n        return price(n)\n\n\n"
    "def price(n):\n    return n\n\n\nDEFAULT = price(1)\n",
    "shop/__init__.py": "from .cart import Cart, price\n",
    "shop/page.py": "from shop.cart import price\n\n\ndef show(cart):\n    # The price is shown.\n"
    "    return cart.total(), price(2), cart.price\n",
    "shop/order.py": "import shop.cart\n\n\ndef pay(n):\n    return shop.cart.price(n), cart.price(n)\n",
    "tools/price.py": "def price():\n    return open('priceless.txt')\n\n\ndef twice():\n    return price()\n",
    "tests/test_cart.py": "from shop.cart import Cart\n\n\ndef test_total():\n    assert Cart().total() == 3\n",
    "web/price.js": "export function price() { return 1 }\n",
    "web/use.js": "import { price } from './price'\n\nexport const pay = () => { price(); $price() }\n",
}


@pytest.fixture
def index(index_of) -> IndexReader:
    return index_of(TREE)


@pytest.fixture
def ask(index: IndexReader) -> Callable[..., Usages]:
    return lambda text, **options: find_usages([index], text, **{"limit": 100, "all_code": True, **options})


def lines(found: Usages, grade: str = "") -> list[str]:
    return [f"{one.path}:{one.line}" for one in found.usages if grade in ("", one.grade)]


def test_the_definitions_come_first_and_each_usage_has_its_line(ask):
    found = ask("Cart")
    assert [(one.path, one.start_line, one.kind) for one in found.definitions] == [
        ("shop/cart.py", 6, "class")
    ]
    assert lines(found) == ["shop/__init__.py:1", "tests/test_cart.py:1", "tests/test_cart.py:5"]
    last = found.usages[-1]
    assert (last.column, last.text, last.inside and last.inside.qualified_name) == (
        12, "assert Cart().total() == 3", "test_total",
    )  # fmt: skip
    assert found.usages[0].inside is None
    assert (found.usage_count, found.grades, found.file_count) == (3, {"certain": 3}, 2)
    assert usages_summary(found).startswith("3 lines in 2 files: 3 certain")
    assert usages_summary(replace(found, unread_files=9)).startswith("at least 3 lines in 2 files: 3 certain")


def test_a_function_is_certain_in_its_file_and_where_it_is_imported(ask):
    found = ask("shop/cart.py:16")
    assert found.name == "price"
    assert (
        sorted(lines(found, "certain"))
        == (
            "shop/__init__.py:1 shop/cart.py:13 shop/cart.py:20 shop/order.py:5 shop/page.py:1 shop/page.py:6"
        ).split()
    )
    assert lines(found, "in comments and strings") == ["shop/page.py:5"] == lines(found)[-1:]
    assert lines(found, "likely") == []
    assert "tools/price.py:6" not in lines(found)


def test_a_name_with_several_definitions_says_which_a_usage_can_mean(ask):
    found = ask("price")
    assert [one.path for one in found.definitions] == ["shop/cart.py", "tools/price.py", "web/price.js"]
    by_line = {f"{one.path}:{one.line}": (one.grade, one.may_be) for one in found.usages}
    assert by_line["tools/price.py:6"] == ("certain", ("tools/price.py:1",))
    assert by_line["web/use.js:3"] == ("certain", ("web/price.js:1",))
    assert by_line["shop/page.py:6"] == ("certain", ("shop/cart.py:16",))


def test_a_member_is_certain_only_in_its_class(ask):
    found = ask("Cart.total_of")
    assert (lines(found), found.grades) == (["shop/cart.py:10"], {"certain": 1})
    found = ask("total")
    assert lines(found) == ["shop/page.py:6", "tests/test_cart.py:5"]
    assert found.grades == {"likely": 2}


def test_a_member_of_an_unknown_receiver_is_only_possible(index_of):
    tree = {
        "a.py": "class A:\n    def run(self): ...\n\nclass B:\n    def run(self):\n        self.run()\n\n\nx.run()\n"
    }
    index = index_of(tree)
    found = find_usages([index], "run", all_code=True)
    assert [(one.line, one.grade, one.may_be) for one in found.usages] == [
        (6, "certain", ("a.py:5",)),
        (9, "possible", ("a.py:2", "a.py:5")),
    ]
    assert lines(find_usages([index], "run")) == ["a.py:6"]
    found = find_usages([index], "A.run")
    assert (lines(found), found.grades) == ([], {"possible": 1})
    assert next(usages_lines(found)) == "no line certainly uses run; 1 line has the word"


def test_a_name_without_definition_is_found_too(ask):
    found = ask("json")
    assert (lines(found), found.grades, found.definitions) == (["shop/cart.py:3"], {"declared here": 1}, ())
    assert lines(ask("shop.cart"), "likely") == [
        "shop/order.py:1", "shop/order.py:5", "shop/page.py:1", "tests/test_cart.py:1",
    ]  # fmt: skip


def test_filters_choose_languages_and_paths(ask):
    assert lines(ask("price", filters=Filters(languages=("js",)))) == ["web/use.js:1", "web/use.js:3"]
    assert lines(ask("Cart", filters=Filters(paths=("!tests/",)))) == ["shop/__init__.py:1"]


def test_the_limit_cuts_the_list_and_not_the_count(ask):
    found = ask("price", limit=1)
    assert (len(found.usages), found.usage_count) == (1, ask("price").usage_count)


def test_files_beyond_the_bound_are_counted(index_of, monkeypatch):
    tree = {f"a{number}.py": "def tick(): ...\n" for number in range(5)} | {"z.py": "x = Tick\n"}
    index = index_of(tree)
    monkeypatch.setattr(exact_text, "MOST_FILES", 2)
    assert find_usages([index], "tick").unread_files == 3
    found = find_usages([index], "Tick")  # Files with the name in another case do not count.
    assert (lines(found), found.unread_files) == (["z.py:1"], 0)
    monkeypatch.setattr(exact_text, "MOST_BYTES", 20)
    assert find_usages([index], "tick").unread_files == 4


def test_a_changed_file_is_read_as_it_is_now(index, ask):
    (index.root / "shop/page.py").write_text("# New.\nprice = 1\n")
    (one,) = (one for one in ask("price").usages if one.path == "shop/page.py")
    assert (one.line, one.stale) == (2, True)


@pytest.mark.parametrize("text", ["", "a\0b", "x" * 10_000, "a\nb", "\x1b[31m"])
def test_text_that_is_no_name_is_refused_in_one_line(ask, text):
    with pytest.raises(ConfigError, match="a name has 1 to 200 printable characters"):
        ask(text)


def test_a_name_of_punctuation_is_refused(ask):
    with pytest.raises(ConfigError, match="has no letters or digits"):
        ask("(.*)+")


def test_a_regular_expression_is_plain_text(ask):
    assert ask("pri.e").usage_count == 0
    assert ask("(price|cart)+").usage_count == 0


def test_a_place_outside_of_definitions_is_refused(ask):
    with pytest.raises(IndexNotFoundError, match="is in no definition"):
        ask("shop/__init__.py:1")
    with pytest.raises(IndexNotFoundError, match="is not in the index"):
        ask("shop/nothing.py:1")


def test_a_changed_file_with_one_line_of_five_megabytes_takes_little_time(index, ask):
    (index.root / "shop/page.py").write_text("price, " * 720_000)
    (one,) = (one for one in ask("price").usages if one.path == "shop/page.py")
    assert len(one.text) <= 240


def test_a_package_of_go_is_known_by_its_own_import(index_of):
    tree = {
        "caddy.go": "package caddy\n\nfunc ParseDuration(s string) {}\n",
        "mod/use.go": 'package mod\n\nimport (\n\t"time"\n\n\t"example.com/caddy/v2"\n)\n\n'
        "func use() {\n\ttime.ParseDuration(s)\n\tcaddy.ParseDuration(s)\n}\n",
    }
    found = find_usages([index_of(tree, "caddy")], "ParseDuration")
    assert [(one.line, one.grade) for one in found.usages] == [(11, "certain")]
    assert found.grades == {"certain": 1, "possible": 1}


def test_a_member_that_is_no_definition_is_found_by_its_last_part(index_of):
    tree = {
        "user.py": "class User:\n    def stop(self):\n        stop(self.is_active)\n",
        "page.py": "from user import User\n\n\ndef show(user):\n    return User.is_active and user.is_active\n",
    }
    found = find_usages([index_of(tree)], "User.is_active")
    assert [(one.path, one.line, one.grade) for one in found.usages] == [
        ("page.py", 5, "likely"),
        ("user.py", 3, "no definition"),
    ]
    assert next(usages_lines(found)) == "User does not define is_active: these are all lines with the name"
    nothing = replace(found, usages=[], usage_count=0)
    assert usages_summary(nothing).startswith("no usages of is_active: User does not define it")


def test_a_folder_with_the_name_of_a_type_does_not_define_its_members(index_of):
    tree = {
        "buffer/lines.py": "class Lines:\n    def get_text(self):\n        return 1\n",
        "edit.py": "from lines import Lines\n\n\nclass Buffer(Lines):\n    def save(self):\n        self.get_text()\n",
    }
    index = index_of(tree)
    assert find_usages([index], "Buffer.get_text").not_in == "Buffer"
    assert find_usages([index], "buffer.get_text").not_in == ""


def test_lines_that_mean_another_definition_are_counted(ask):
    found = ask("shop/cart.py:16")
    assert found.elsewhere == len(ask("price").usages) - found.usage_count + 2  # And two definitions.
    assert "more lines with price in another declaration or a longer name" in usages_summary(found)


def test_sigils_of_php_and_shell_are_no_part_of_a_name(index_of):
    tree = {
        "a.php": "<?php\nclass User { function f() { return $this->limit; } }\n",
        "a.sh": "export LIMIT=3\necho $LIMIT ${LIMIT}\n",
        "a.js": "const limit = 1\nconst $limit = limit\nconst x = $limit\n",
    }
    index = index_of(tree)
    found = find_usages([index], "$LIMIT")
    assert ([one.start_line for one in found.definitions], lines(found)) == ([1], ["a.sh:2"])
    found = find_usages([index], "limit", Filters(languages=("javascript",)))
    assert (lines(found), found.elsewhere) == (["a.js:2"], 1)
    assert lines(find_usages([index], "$limit")) == ["a.js:2", "a.js:3"]
    assert lines(find_usages([index], "$limit", all_code=True), "possible") == ["a.php:2"]


@pytest.mark.parametrize(
    ("tree", "grade"),
    [
        ({"make.py": "def run(): ...\n", "use.py": "run()\n"}, "likely"),
        ({"make.rs": "pub fn run() {}\n", "main.rs": "fn main() {\n    make::run();\n}\n"}, "certain"),
    ],
)
def test_a_usage_means_the_definition_of_its_own_root(index_of, tree, grade):
    indexes = [index_of(tree, name) for name in ("one", "two")]
    assert [one.grade for one in find_usages(indexes, "run").usages] == [grade, grade]


def test_other_code_is_counted_and_listed_last_if_it_is_asked_for(ask):
    found = ask("Cart", all_code=False)
    assert (lines(found), found.usage_count, found.other_code) == (["shop/__init__.py:1"], 3, 2)
    assert usages_summary(found).endswith("; --all-code adds the others")
    assert lines(ask("test_total", all_code=False)) == lines(ask("test_total"))
    assert [one.other_code for one in ask("Cart").usages] == [False, True, True]


def test_types_that_implement_a_trait_are_listed(index_of):
    tree = {
        "draw.rs": "pub trait Draw {\n    fn draw(&self);\n}\n\npub trait Paint: Draw {}\n",
        "pen.rs": "// An impl of a trait.\n\nimpl<T: Simple, F: Fn() -> T>\n    crate::Draw for ink::Pen<T, F>\nwhere\n"
        "    T: Copy,\n{\n    fn draw(&self) {}\n}\n\nimpl<D: Draw> Clone for Pot<D> {}\n\nimpl Draw {\n}\n"
        "unsafe impl Draw for &Pad {\n    fn draw(&self) {}\n}\n\nimpl Paint for Can {}\n\nimpl Can {\n"
        "    fn draw(&self) {}\n}\n\nimpl Other {\n    fn draw(&self) {}\n}\n",
    }
    index = index_of(tree)
    found = find_usages([index], "Draw")
    derived = [(one.name, one.start_line) for one in found.derived]
    assert derived == [("Paint", 5), ("Pen", 3), ("Pad", 15), ("Can", 19)]
    assert found.derived[1].signature == (
        "impl<T: Simple, F: Fn() -> T> crate::Draw for ink::Pen<T, F> where T: Copy,"
    )
    overriding = find_usages([index], "Draw::draw")
    assert [one.qualified_name for one in overriding.derived] == ["Pen::draw", "Pad::draw", "Can::draw"]


def test_methods_that_override_one_are_listed(index_of):
    run = "    def run(self):\n        return 1\n\n\n"
    tree = {
        "base.py": f"class Base:\n{run}class Other:\n{run}",
        "a.py": f"from base import Base\n\n\nclass A(Base):\n    pass\n\n\nclass B(A):\n{run}",
    }
    index = index_of(tree)
    for place in ("Base.run", "base.py:2"):
        found = find_usages([index], place)
        assert ([one.qualified_name for one in found.derived], found.derived_count) == (["B.run"], 1)
        assert "overrides run:" in usages_lines(found)
    assert find_usages([index], "run").derived == find_usages([index], "Other.run").derived == ()


def test_a_method_of_an_interface_and_those_of_its_classes_are_one(index_of):
    tree = {
        "IStore.cs": "interface IStore\n{\n    int Load(int id);\n}\n",
        "Store.cs": "class Store : Base, IStore\n{\n    public int Load(int id) { return id; }\n}\n",
        "Page.cs": "class Page\n{\n    int Show(IStore store) { return store.Load(1); }\n}\n",
    }
    other = {"Other.cs": "class Other\n{\n    int Load(int id) { return 2; }\n}\n"}
    index = index_of(tree, "one")
    for place in ("Load", "IStore.Load", "Store.Load"):
        (found,) = find_usages([index], place).usages
        assert (found.path, found.grade, len(found.may_be)) == ("Page.cs", "likely", 2)
    index = index_of(tree | other, "two")
    assert [one.grade for one in find_usages([index], "IStore.Load").usages] == ["likely"]
    assert find_usages([index], "Other.Load").grades == {}


def test_a_name_without_a_definition_has_its_other_spellings(index_of):
    tree = {"a.ts": "export function resetPassword() { return 1 }\n", "b.ts": "api.ResetPassword();\n"}
    found = find_usages([index_of(tree)], "ResetPassword")
    assert (lines(found), found.near) == (["b.ts:1"], ("resetPassword",))
    assert "did you mean resetPassword?" in usages_summary(found)


def test_the_nearest_names_are_proposed_if_nothing_has_the_name(index, ask):
    assert ask("Crat").near == ("Cart",)
    assert ask("of_total").near == ("total_of", "total")
    assert ask("zebra").near == ask("Cart").near == ()
    assert "did you mean Cart?" in usages_summary(ask("Crat"))
    with pytest.raises(IndexNotFoundError, match="did you mean Cart?"):
        find_spots([index], "Crat")


def test_a_name_with_a_wrong_letter_is_proposed_before_parts_of_names_and_never_text(index_of):
    names = ("Channel", "iChannelNestingLimit", "ChanelNumberFive")
    tree = {"a.hpp": "".join(f"struct {name} {{\n    int id;\n    ~{name}() {{}}\n}};\n" for name in names)}
    tree["b.test.ts"] = "it('shows another text', () => {\n" + "  expect(1).toBe(1);\n" * 8 + "});\n"
    index = index_of(tree)
    with pytest.raises(
        IndexNotFoundError, match="did you mean ChanelNumberFive, Channel or iChannelNestingLimit"
    ):
        find_spots([index], "Chanel")
    with pytest.raises(IndexNotFoundError, match="called 'anothertext': search"):
        find_spots([index], "anothertext")


def test_imports_beside_other_usages_and_the_lines_of_bases_are_only_counted(index_of):
    tree = {
        "shape.py": "class Shape:\n    pass\n",
        "square.py": "from shape import Shape\n\n\nclass Square(Shape):\n    pass\n",
        "draw.py": "from shape import Shape\n\n\ndef draw():  # a Shape\n    return Shape()\n",
        "names.py": "from shape import Shape\n",
        "examples/one.py": "from shape import Shape\n",
        "Geometry.Test/ShapeFixture.py": "from shape import Shape\n\n\ndef run():\n    Shape()\n    Shape()\n",
        "Geometry.Test/other.py": "from shape import Shape\n\n\ndef go():\n    Shape()\n",
    }
    index = index_of(tree)
    found = find_usages([index], "Shape")
    assert lines(found) == ["draw.py:5", "names.py:1"]
    assert (found.usage_count, found.other_code, found.listed_count) == (12, 6, 2)
    assert [one.name for one in found.derived] == ["Square"]
    tests = find_usages([index], "Shape", tests=True)
    assert lines(tests) == ["Geometry.Test/ShapeFixture.py:5", "Geometry.Test/other.py:5"]
    assert (tests.usage_count, tests.other_code, tests.listed_count) == (2, 0, 2)


def test_files_of_tests_with_the_name_only_in_their_own_come_after_those_whose_body_has_it(index_of):
    tree = {
        "session.py": "class Session:\n    pass\n",
        "tests/test_api.py": "def test_all():\n    Session()\n",
        "tests/test_session_store.py": "import json\n\f\n\ndef test_store():\n    pass\n",
        "tests/test_session.py": "def test_open():\n    pass\n",
        "tests/test_sess.py": "def test_sess():\n    pass\n",
        "src/test/java/SessionTest.java": "class SessionTest {\n  @Test\n  void opens() {}\n}\n",
        "docs/session.md": "# Session\n",
    }
    index = index_of(tree)
    found = find_usages([index], "Session", tests=True)
    assert lines(found, "likely") == ["tests/test_api.py:2"] == lines(found)[:1]
    assert (
        lines(found, "only in the file's name")
        == "src/test/java/SessionTest.java:1 tests/test_session.py:1 tests/test_session_store.py:4".split()
    )
    assert (found.usages[-1].text, found.usage_count, found.file_count) == ("def test_store():", 4, 4)
    assert "3 only in the file's name" in usages_summary(found, tests=True)
    assert lines(find_usages([index], "Session", tests=True, filters=Filters(paths=("src/",)))) == [
        "src/test/java/SessionTest.java:1"
    ]


def test_a_definition_around_usages_is_named_once(index_of):
    tree = {"a.py": "def one():\n    pass\n\n\ndef two():\n    one()\n    one()\n\n\none()\n"}
    found = find_usages([index_of(tree)], "one")
    assert list(usages_lines(found))[3:] == [
        "",
        "certain:",
        "a.py",
        "  two",
        "     6 | one()",
        "     7 | one()",
        "  (outside of definitions)",
        "    10 | one()",
    ]


def test_types_of_go_with_all_methods_of_an_interface_are_derived(index_of):
    tree = {
        "shape/shape.go": "package shape\n\n// Shape has two methods.\ntype Shape interface {\n"
        "\tArea() int\n\tName() string\n}\n\ntype Solid interface {\n\tVolume() int\n}\n",
        "shape/square.go": "package shape\n\ntype Square struct{ side int }\n\n"
        "func (s *Square) Area() int {\n\treturn s.side * s.side\n}\n",
        "shape/names.go": 'package shape\n\nfunc (s *Square) Name() string {\n\treturn "square"\n}\n',
        "other/square.go": "package other\n\ntype Square struct{}\n\n"
        "func (s Square) Area() int {\n\treturn 1\n}\n",
    }
    found = find_usages([index_of(tree)], "Shape")
    assert [(one.path, one.name) for one in found.derived] == [("shape/square.go", "Square")]
    assert "has all methods of Shape:" in usages_lines(found)


def test_a_line_with_a_field_or_a_constant_means_it(index_of):
    tree = {
        "a.py": "LIMIT = 3\n\n\nclass Box:\n    size = 1\n\n    def grow(self):\n        return self.size + LIMIT\n"
    }
    index = index_of(tree)
    for place, name in (("a.py:1", "LIMIT"), ("a.py:5", "size")):
        found = find_usages([index], place)
        assert (found.name, lines(found)) == (name, ["a.py:8"])
        assert next(usages_lines(found)) == f"1 line in 1 file uses {name}; nothing else is likely"


METHODS = "class Fan {{ {0}void stop() {{ }} {1}\nclass Pump {{ {0}void stop() {{ }} {1}\n"
FANS = {
    "ts": "export class Fan { stop() {} }\nexport class Pump { stop() {} }\n",
    "py": "class Fan:\n    def stop(self):\n        pass\n\n\nclass Pump:\n    def stop(self):\n        pass\n",
    "rs": "".join(
        f"pub struct {name};\nimpl {name} {{ pub fn stop(&self) {{}} }}\n" for name in ("Fan", "Pump")
    ),
    "cs": f"namespace Shop;\n{METHODS.format('public ', '}')}",
    "hpp": METHODS.format("public: ", "};"),
}


@pytest.mark.parametrize(
    ("ending", "names", "function"),
    [
        ("ts", 'import { Fan as Cooler, Pump as Wet } from "./fan";', "function f(x: Cooler, y: Wet) {"),
        (
            "ts",
            'import * as fan from "./fan"; type Cooler = fan.Fan | null;',
            "function f(x: Cooler, y: Pump) {",
        ),
        ("py", "from fan import Fan as Cooler, Pump as Wet", "def f(x: Cooler, y: Wet):"),
        ("py", "from fan import *\nCooler = Fan\nWet = Pump", "def f(x: Cooler, y: Wet):"),
        ("py", "from fan import *\nCooler = Fan\nWet = Pump", "def f():\n    x = Cooler()\n    y = Wet()"),
        ("rs", "use crate::fan::{Fan as Cooler, Pump as Wet};", "fn f(x: &Cooler, y: &Wet) {"),
        ("cs", "using Cooler = Shop.Fan;\nusing Wet = Shop.Pump;", "class A { void F(Cooler x, Wet y) {"),
        ("hpp", "using Cooler = Fan;\ntypedef Pump Wet;", "inline void f(Cooler &x, Wet &y) {"),
    ],
)
def test_a_receiver_whose_type_has_another_name_has_the_members_of_the_type(
    ending, names, function, index_of
):
    source = f"{names}\n\n{function}\n    x.stop();\n    y.stop();\n{'}' * function.count('{')}\n"
    index = index_of({f"fan.{ending}": FANS[ending], f"a.{ending}": source})
    usages = find_usages([index], "Fan.stop").usages
    expected = source[: source.index("x.stop")].count("\n") + 1
    assert [(one.path, one.line, one.grade) for one in usages] == [(f"a.{ending}", expected, "likely")]


@pytest.mark.parametrize("case", CASES)
def test_what_is_defined_derived_and_used(case, index_of):
    asked, *files = CASES[case].rstrip("\n").split("\n--- ")
    tree, expected, found = {}, Counter(), Counter()
    for path, *text in (file.split("\n") for file in files):
        lines = [line.partition("   @ ")[::2] for line in text]
        tree[path] = "".join(f"{code}\n" for code, _ in lines)
        for number, (_, marks) in enumerate(lines, 1):
            expected.update(f"{path}:{number} {mark}" for mark in marks.split(", ") if mark)
    index = index_of(tree)
    for number, name in enumerate(asked.split("\n"), 1):
        usages = find_usages([index], name.removeprefix("all "), all_code=name.startswith("all "))
        listed = [(one.path, one.start_line, "defined") for one in usages.definitions]
        listed += [(one.path, one.start_line, "derived") for one in usages.derived]
        listed += [(one.path, one.line, one.grade) for one in usages.usages]
        label = f"{number} " if "\n" in asked else ""
        found.update(f"{path}:{line} {label}{mark}" for path, line, mark in listed)
    assert found == expected


@pytest.mark.parametrize("asked", ["NFC", "NFD"])
@pytest.mark.parametrize("written", ["NFC", "NFD"])
def test_an_accent_may_be_a_letter_of_its_own(index_of, asked, written):
    source = "def naïve():\n    return 1\n\n\ndef use():\n    return naïve()\n"
    index = index_of({"a.py": unicodedata.normalize(written, source)})
    name = unicodedata.normalize(asked, "naïve")
    assert [one.line for one in find_usages([index], name).usages] == [6]
    assert [spot.first_line for spot in find_spots([index], f"a.py::{name}")] == [1]
