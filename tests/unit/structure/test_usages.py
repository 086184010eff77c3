"""Usages of a name: every whole word in the sources, with a grade and the definition around it."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from codesearch.errors import ConfigError, IndexNotFoundError
from codesearch.search import exact as exact_text
from codesearch.search.request import Filters
from codesearch.store.segments import IndexReader
from codesearch.structure.places import find_spots
from codesearch.structure.text import usages_lines, usages_summary
from codesearch.structure.usages import Usages, find_usages

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


def test_a_constructor_with_the_name_of_its_class_is_no_other_definition(index_of):
    tree = {
        "a/Box.java": "package a;\n\n/** A box. */\npublic class Box {\n    public Box() {\n    }\n}\n",
        "a/Use.java": "package a;\n\nclass Use {\n    Object make() {\n        return new Box();\n    }\n}\n",
    }
    found = find_usages([index_of(tree)], "Box")
    assert [one.kind for one in found.definitions] == ["class"]
    assert [(one.line, one.grade) for one in found.usages] == [(5, "certain"), (5, "certain")]


def test_the_type_of_a_parameter_decides_also_if_it_is_called_self(index_of):
    tree = {
        "Actor.cs": "class Actor\n{\n    public void Kill() { }\n}\n",
        "Trait.cs": "class Trait\n{\n    void Kill(Actor self) { self.Kill(); this.Kill(self); }\n\n"
        "    void Tick(Actor self)\n    {\n        self.Kill();\n    }\n}\n",
    }
    found = find_usages([index_of(tree)], "Actor.Kill")
    assert [(one.line, one.grade) for one in found.usages] == [(3, "likely"), (7, "likely")]


def test_a_member_of_an_interface_is_found_where_it_is_implemented_by_name(index_of):
    tree = {
        "Killed.cs": "interface INotifyKilled\n{\n    void Killed(int e);\n}\n",
        "Trait.cs": '[Desc("Killed.")]\nclass Trait : INotifyKilled\n{\n    [Desc("Killed")]\n'
        "    void INotifyKilled.Killed(int e) { }\n\n    [Desc("
        '"Killed")]\n    void Killed() { }\n}\n',
    }
    index = index_of(tree)
    (found,) = find_usages([index], "INotifyKilled.Killed").usages
    assert (found.path, found.line, found.grade) == ("Trait.cs", 5, "likely")
    found = find_usages([index], "Trait.Killed")
    assert [(one.line, one.grade) for one in found.usages] == [(4, "as a string"), (7, "as a string")]


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
    assert "more lines with price as another definition or in a longer name" in usages_summary(found)


@pytest.mark.parametrize("asked", ["active", "@active", ":active", "active="])
def test_marks_of_ruby_belong_to_the_name(index_of, asked):
    tree = {
        "account.rb": "class Account\n  attr_reader :active\n\n  def active?\n    @active\n  end\n\n"
        "  def active=(on)\n    @active = on\n  end\nend\n",
        "more.rb": "class Account\n  def close\n    return unless active?\n  end\nend\n",
    }
    found = find_usages([index_of(tree)], asked)
    assert [one.name for one in found.definitions][1:] == ["active?", "active="]
    assert {(one.path, one.line) for one in found.usages} == {
        ("account.rb", 5), ("account.rb", 9), ("more.rb", 3),
    }  # fmt: skip
    assert [one.grade for one in found.usages if one.path == "more.rb"] == ["certain"]


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
    ("tree", "name"),
    [
        (
            {"a/x.go": "package a\n\nfunc Make() {}\n", "a/y.go": "package a\n\nfunc use() {\n\tMake()\n}\n"},
            "Make",
        ),
        ({"x/A.java": "package p;\nclass A {}\n", "y/B.java": "package p;\nclass B {\n  A a;\n}\n"}, "A"),
        ({"A.cs": "namespace P {\nclass A {}\n}\n", "B.cs": "namespace P.Q;\nclass B {\n  A a;\n}\n"}, "A"),
        ({"src/make.rs": "pub fn run() {}\n", "src/main.rs": "fn main() {\n    make::run();\n}\n"}, "run"),
        (
            {
                "a/b.py": "def run(): ...\n",
                "a/b.js": "export function run() {}\n",
                "use.py": "import a.b\n\na.b.run()\n",
            },
            "run",
        ),
    ],
)
def test_the_same_package_or_language_is_certain(index_of, tree, name):
    found = find_usages([index_of(tree)], name)
    assert [one.grade for one in found.usages] == ["certain"]


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


@pytest.mark.parametrize(
    ("tree", "name", "grade"),
    [
        (
            {"x/A.java": "package p;\nclass A {}\n", "y/B.java": "package q;\nclass B {\n  A a;\n}\n"},
            "A",
            "likely",
        ),
        ({"a.py": "class A:\n    def run(self):\n        run()\n"}, "run", "possible"),
        ({"m.py": "class A: ...\n\n\nclass B:\n    def run(self): ...\n\n\nx.run()\n"}, "A.run", "possible"),
    ],
)
def test_another_package_or_owner_is_not_certain(index_of, tree, name, grade):
    found = find_usages([index_of(tree)], name, all_code=True)
    assert [one.grade for one in found.usages] == [grade]


def test_other_code_is_counted_and_listed_last_if_it_is_asked_for(ask):
    found = ask("Cart", all_code=False)
    assert (lines(found), found.usage_count, found.other_code) == (["shop/__init__.py:1"], 3, 2)
    assert usages_summary(found).endswith("; --all-code adds the others")
    assert lines(ask("test_total", all_code=False)) == lines(ask("test_total"))
    assert [one.other_code for one in ask("Cart").usages] == [False, True, True]


def test_types_with_the_name_as_a_base_are_listed(index_of):
    tree = {
        "a.py": "class Animal:\n    pass\n\n\nclass Dog(Animal):\n    pass\n\n\nclass Box(List[Animal]):\n    pass\n",
        "b.ts": "export class Cat extends Pet<Cow> implements Animal {}\nclass Cage<T extends Animal> {}\n",
    }
    found = find_usages([index_of(tree)], "Animal")
    assert ([one.name for one in found.derived], found.derived_count) == (["Dog", "Cat"], 2)


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


def test_a_method_of_a_script_may_be_any_that_overrides_the_same_one(index_of):
    made = "import { Manager } from './manager'\n\nexport class NAME extends Manager {\n    dispose() {}\n}\n"
    use = "export function close(text: Text, other: Other) {\n    text.dispose()\n    other.dispose()\n}\n"
    tree = {
        "manager.ts": "export class Manager {\n    dispose() {}\n}\n",
        "text.ts": made.replace("NAME", "Text"),
        "focus.ts": made.replace("NAME", "Focus"),
        "other.ts": "export class Other {\n    dispose() {}\n}\n",
        "use.ts": f"import {{ Other }} from './other'\nimport {{ Text }} from './text'\n\n{use}",
    }
    index = index_of(tree)
    for place, line in (
        ("Manager.dispose", 5),
        ("Text.dispose", 5),
        ("Focus.dispose", 5),
        ("Other.dispose", 6),
    ):
        usages = find_usages([index], place).usages
        assert [(one.path, one.line, one.grade) for one in usages] == [("use.ts", line, "likely")], place


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


def test_types_derive_also_through_interfaces(index_of):
    tree = {
        "Rules.cs": "interface IRule {}\ninterface ISimpleRule : IRule {}\nabstract class Base : IRule {}\n",
        "Split.cs": "class Split : ISimpleRule {}\nclass Join : Base {}\nclass Late : Join {}\n",
    }
    found = find_usages([index_of(tree)], "IRule")
    assert [one.name for one in found.derived] == ["ISimpleRule", "Base", "Join", "Split"]
    assert found.derived_count == 4


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


def test_a_method_of_an_embedded_structure_is_used_by_the_structure_around_it(index_of):
    other = "type other struct{}\n\nfunc (o *other) scan() {}\n"
    folder = "package m\n\ntype folder struct{ id int }\n\nfunc (f *folder) scan() {}\n\n" + other
    batch = "type batch struct {\n\tf *folder\n}\n\nfunc (b *batch) flush() {\n\tb.f.scan()\n}\n"
    sender = (
        "package m\n\ntype sender struct {\n\t*folder\n}\n\nfunc (s *sender) pull() {\n"
        "\t// it hands back an entity's bytes; nothing else\n\ts.scan()\n}\n\n"
    )
    tree = {"m/folder.go": folder, "m/sender.go": sender + batch}
    found = find_usages([index_of(tree)], "folder.scan")
    assert [(one.line, one.grade) for one in found.usages] == [(9, "likely"), (17, "likely")]


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


def test_types_of_go_have_the_methods_of_embedded_interfaces_with_as_many_parameters(index_of):
    def type_of(name: str, *methods: str) -> str:
        bodies = "".join(f"func (x *{name}) {method} {{\n\treturn\n}}\n\n" for method in methods)
        return f"type {name} struct{{}}\n\n{bodies}"

    tree = {
        "a/a.go": "package a\n\ntype Flusher interface {\n\tFlush(all bool, n int) (ok bool)\n}\n",
        "b/b.go": 'package b\n\nimport "x/a"\n\ntype Named interface {\n\tName() string // Of it.\n}\n\n'
        "type Sink interface {\n\tNamed\n\ta.Flusher\n\tPut(\n\t\tkey string,\n\t\tdo func(int, int),\n\t) error\n"
        "}\n\n"
        + type_of(
            "Whole", "Name() string", "Flush(a bool, b int) bool", "Put(k string, f func(a, b int)) error"
        )
        + type_of("NoName", "Flush(a bool, b int) bool", "Put(k string, f func(a, b int)) error")
        + type_of("OtherPut", "Name() string", "Flush(a bool, b int) bool", "Put(k string) error")
        + "type Wrapped struct {\n\tSink // Does the work.\n\tnext Sink\n}\n\ntype Other struct {\n\tfirst Sink\n}\n",
    }
    found = find_usages([index_of(tree)], "Sink")
    assert [one.name for one in found.derived] == ["Wrapped", "Whole"]


@pytest.mark.parametrize(
    ("path", "source", "usage", "wanted"),
    [
        ("a.py", "def price(): pass\n", "from a import price as p, b\n\np()\nx.p(b)\n# p\n", ["use.py:3"]),
        ("a.py", "def price(): pass\n", "from a import (\n    price as p,\n    b,\n)\n\np()\n", ["use.py:6"]),
        (
            "a.ts",
            "export function price() {}\n",
            "import { price as p } from './a'\np(); q.p()\n",
            ["use.ts:2"],
        ),
        ("a.rs", "pub fn price() {}\n", "use crate::a::{price as p};\nfn f() { p(); }\n", ["use.rs:2"]),
        (
            "a.cs",
            "namespace S { public class price {} }\n",
            "using P = S.price;\nclass B { P x; }\n",
            ["use.cs:2"],
        ),
        ("a.scala", "package a\nclass price\n", "import a.{price => P}\nval x = new P\n", ["use.scala:2"]),
        ("a.kt", "package a\nfun price() = 1\n", "import a.price as p\nval x = p()\n", ["use.kt:2"]),
        ("a.php", "<?php\nclass price {}\n", "<?php\nuse A\\price as P;\n$x = new P();\n", ["use.php:3"]),
    ],
)
def test_the_name_that_an_import_gives_is_used_too(index_of, path, source, usage, wanted):
    tree = {path: source, path.replace("a.", "use."): usage}
    found = find_usages([index_of(tree)], "price")
    assert lines(found) == wanted


def test_a_member_on_the_line_of_its_type_and_signatures_of_overloads_are_no_usages(index_of):
    tree = {
        "a.cs": "public interface Named { void Find(int a, int b); string Name { get; set; } }\n"
        "class Shop : Named {\n    public string Name { get; set; }\n}\n",
        "a.ts": "class Store {\n  load(a: string): void;\n  load(a: number): void;\n  load(a: any) {}\n}\n",
        "b.go": "package b\ntype Shop struct{}\nfunc (s Shop) load() {}\n",
        "c.go": "package b\ntype Loader interface { load() }\n",
    }
    index = index_of(tree)
    assert lines(find_usages([index], "Named.Name")) == lines(find_usages([index], "Store.load")) == []
    assert [one.qualified_name for one in find_usages([index], "Loader.load").derived] == ["Shop.load"]


def test_the_text_of_a_string_is_never_certain(index_of):
    tree = {
        "posts/create.js": "module.exports = function (Posts) {\n  Posts.create = function (a) {\n    return a\n"
        "  }\n}\n",
        "posts/index.js": "const Posts = module.exports\nrequire('./create')(Posts)\nPosts.create(1)\n",
        "stack.py": "def push(x):\n    return x\n\n\nHANDLERS = {'push': push}\nNAMES = ['push']\n"
        "TEXT = f'{push(1)}'\n",
    }
    index = index_of(tree)
    usages = find_usages([index], "Posts.create", all_code=True).usages
    assert "certain" not in [one.grade for one in usages if one.path == "posts/index.js" and one.line == 2]
    found = find_usages([index], "push", all_code=True)
    assert [(one.line, one.grade) for one in found.usages] == [
        (5, "certain"),
        (7, "certain"),
        (6, "as a string"),
    ]


def test_the_declared_type_of_a_receiver_decides(index_of):
    stop = "    def stop(self):\n        return 1\n\n\n"
    tree = {
        "parts.py": f"class Fan:\n{stop}class Pump:\n{stop}class Jet(Fan):\n    pass\n",
        "a.py": "from parts import Fan, Jet, Pump\n\n\ndef one(fan: Fan, other: Pump):\n    fan.stop()\n"
        "    other.stop()\n\n\n"
        "class Plane:\n    def __init__(self):\n        self.jet = Jet()\n\n    def land(self, x):\n"
        "        self.jet.stop()\n"
        "        x.stop()\n        Jet().stop()\n",
        "d.py": "from parts import Fan, Pump\n\n\ndef hot(part: Fan):\n    part.stop()\n\n\ndef wet(part: Pump):\n"
        "    part.stop()\n",
        "b.go": "package b\n\ntype Fan struct{}\n\nfunc (f *Fan) stop() {}\n\nfunc NewFan() *Fan { return nil }\n\n"
        "func use(p Pump) {\n\tf := NewFan()\n\tf.stop()\n\tp.stop()\n}\n",
        "c.cs": "interface IFan { void stop(); }\nclass Room\n{\n    private readonly IFan _fan;\n"
        "    void off(Pump p) { _fan.stop(); }\n}\n",
    }
    index, fan = index_of(tree), ["a.py:5", "a.py:14", "a.py:16", "d.py:5"]
    assert lines(find_usages([index], "parts.py::Fan.stop")) == fan
    assert lines(find_usages([index], "b.go::Fan.stop")) == ["b.go:11"]
    assert lines(find_usages([index], "IFan.stop")) == ["c.cs:5"]


def test_a_local_name_or_one_of_a_library_ends_the_matter(index_of):
    tree = {
        "shop/tax.py": "def vat(x):\n    return x\n",
        "shop/bill.py": "def total(vat):\n    return vat + 1\n\n\ndef sum_up():\n    vat = 2\n    return vat\n",
        "shop/law.py": "from books.law import vat\n\nprint(vat(1))\n",
        "shop/till.py": "print(vat(1), dict(vat=2))\n",
    }
    found = find_usages([index_of(tree)], "vat")
    assert lines(found) == ["shop/till.py:1"]
    assert found.grades == {"likely": 1, "possible": 6}


def test_in_c_a_structure_is_named_with_struct_and_a_prototype_leads_to_its_function(index_of):
    tree = {
        "ring.h": "struct ring { int size; };\nint turn(struct ring *ring);\n"
        "__says(1, 2) int say(const char *text, ...);\n",
        "ring.c": '#include "ring.h"\n\nint turn(struct ring *ring)\n{\n\treturn ring->size;\n}\n\n'
        "int twice(void)\n{\n\tint ring = 1, size = 2;\n\treturn turn(0) + ring + size;\n}\n\n"
        'int main(void)\n{\n\treturn say("x");\n}\n',
    }
    index = index_of(tree)
    assert lines(find_usages([index], "ring")) == ["ring.h:2", "ring.c:3"]
    assert lines(find_usages([index], "ring.size")) == ["ring.c:5"]
    for place in ("turn", "ring.h:2", "ring.c:3"):
        found = find_usages([index], place)
        assert ([one.path for one in found.definitions], lines(found)) == (["ring.c"], ["ring.c:11"])
    for place in ("say", "ring.h:3"):
        found = find_usages([index], place)
        assert [(one.path, one.kind) for one in found.definitions] == [("ring.h", "prototype")]
        assert lines(found) == ["ring.c:16"]


def test_a_prototype_of_a_class_declares_only_its_own_method(index_of):
    tree = {
        "box.hpp": "class Box {\n  int size() const;\n};\nclass Cup {\n  int size() const;\n};\n",
        "box.cpp": '#include "box.hpp"\nint Box::size() const\n{\n  return 1;\n}\n',
    }
    index = index_of(tree)
    for place, expected in {
        "Box.size": "box.cpp:2",
        "box.hpp:2": "box.cpp:2",
        "Cup.size": "box.hpp:5",
    }.items():
        definitions = find_usages([index], place).definitions
        assert [f"{one.path}:{one.start_line}" for one in definitions] == [expected]


@pytest.mark.parametrize(
    ("path", "code", "expected"),
    [
        (
            "a.go",
            "package a\n\ntype Ring struct {\n\tsize int\n}\ntype Rope struct {\n\tsize int\n}\n\n"
            "func F() {\n\ta := &Ring{size: 1}\n\tb := Rope{\n\t\tsize: 2}\n\tc := []Ring{{size: 3}}\n"
            "\td := G{size: 4}\n}\n",
            [11, 14],
        ),
        (
            "a.ts",
            "interface Ring {\n  size: number;\n}\ninterface Rope {\n  size: number;\n}\n\nfunction f() {\n"
            "  const a: Ring = { size: 1 };\n  const b: Rope = { size: 2 };\n  const c: Ring[] = [\n    { size: 3 }];\n"
            "  g({ size: 4 });\n}\n",
            [9, 12],
        ),
        (
            "a.rs",
            "struct Ring {\n    size: u8,\n}\nstruct Rope {\n    size: u8,\n}\nfn f() {\n"
            "    let a = Ring { size: 1 };\n"
            "    let b = Rope { size: 2 };\n}\n",
            [8],
        ),
        (
            "a.c",
            "struct ring {\n\tint size;\n};\nstruct rope {\n\tint size;\n};\n"
            "static const struct ring a = {\n\t.size = 1,\n};\n"
            "struct rope b = { .size = 2 };\nstruct ring *c = &(struct ring) { .size = 3 };\n",
            [8, 11],
        ),
    ],
)
def test_a_key_of_a_literal_means_the_field_of_the_type_that_is_written_before_it(
    path, code, expected, index_of
):
    index = index_of({path: code})
    found = find_usages([index], "ring.size" if path == "a.c" else "Ring.size")
    assert [usage.line for usage in found.usages] == expected


def test_a_variable_that_is_this_has_the_members_of_the_class(index_of):
    tree = {
        "a.js": "class Client {\n  open() {\n    const self = this;\n    on('end', () => self.close());\n"
        "    other.close();\n"
        "  }\n  close() {\n    return 1;\n  }\n}\nclass File {\n  close() {\n    return 2;\n  }\n}\n"
    }
    found = find_usages([index_of(tree)], "Client.close")
    assert lines(found) == ["a.js:4"]


def test_a_file_of_javascript_means_its_own_names_and_what_it_imports(index_of):
    tree = {
        "flow.js": "class Flow {}\nlet state;\nmodule.exports = {\n  start: 1,\n  Flow: Flow,\n};\nstate = Flow;\n",
        "used.js": "const Flow = require('./flow').Flow;\nnew Flow();\n",
        "whole.js": "const Flow = require('./flow');\nlet state;\nFlow.start();\nstate = 2;\n",
    }
    index = index_of(tree)
    found = find_usages([index], "flow.js:1")
    assert {line for line in lines(found)} == {"flow.js:5", "flow.js:7", "used.js:2"}
    assert lines(find_usages([index], "flow.js:2")) == ["flow.js:7"]


def test_behind_this_stands_a_method_and_no_function_of_the_file(index_of):
    code = "class A {\n  load() {\n    return load();\n  }\n  run() {\n    this.load();\n  }\n}\nfunction load() {\n}\n"
    index = index_of({"a.js": code})
    assert lines(find_usages([index], "a.js:2")) == ["a.js:6"]
    assert lines(find_usages([index], "a.js:9")) == ["a.js:3"]


def test_of_two_types_with_one_name_that_of_the_folder_is_meant(index_of):
    message = (
        "package NAME\n\ntype Message struct {\n\tuid int\n}\n\nfunc (m *Message) ID() int { return m.uid }\n"
    )
    tree = {f"{name}/{name}.go": message.replace("NAME", name) for name in ("imap", "mbox")}
    found = find_usages([index_of(tree)], "imap/imap.go:4")
    assert lines(found) == ["imap/imap.go:7"]


def test_a_method_of_go_with_the_name_of_its_type_is_no_constructor(index_of):
    code = 'package a\n\ntype Error struct{}\n\nfunc (e Error) Error() string { return "" }\n\ntype Other struct{}\n\n'
    tree = {
        "a.go": f'{code}func (o Other) Error() string {{ return "" }}\n\nfunc F(o Other) {{ o.Error() }}\n'
    }
    index = index_of(tree)
    found = find_usages([index], "a.go:5")
    assert ([one.start_line for one in found.definitions], lines(found)) == ([5], [])


def test_a_value_of_an_enumeration_is_a_definition_as_a_function_is(index_of):
    tree = {"a.ts": "export enum Color {\n  Red,\n}\n", "b.ts": "export function Red() {\n  return 1;\n}\n"}
    assert [one.path for one in find_usages([index_of(tree)], "Red").definitions] == ["a.ts", "b.ts"]


def test_a_function_inside_of_another_is_meant_only_there(index_of):
    code = "def outer():\n    def inner():\n        return 1\n    return inner()\n\n\ndef other():\n    inner()\n"
    tree = {"a.py": code, "b.py": "def inner():\n    return 2\n"}
    found = find_usages([index_of(tree)], "outer.inner", all_code=True)
    assert [(one.line, one.grade) for one in found.usages] == [(4, "certain"), (8, "possible")]


def test_a_line_with_a_field_or_a_constant_means_it(index_of):
    tree = {
        "a.py": "LIMIT = 3\n\n\nclass Box:\n    size = 1\n\n    def grow(self):\n        return self.size + LIMIT\n"
    }
    index = index_of(tree)
    for place, name in (("a.py:1", "LIMIT"), ("a.py:5", "size")):
        found = find_usages([index], place)
        assert (found.name, lines(found)) == (name, ["a.py:8"])
        assert next(usages_lines(found)) == f"1 line in 1 file uses {name}; nothing else is likely"


def test_a_function_of_c_that_returns_a_structure_is_told_from_a_structure_of_its_name(index_of):
    tree = {
        "args.h": "struct args_parse {\n\tint lower;\n};\n",
        "args.c": "struct args *\nargs_parse(const struct args_parse *parse)\n{\n\treturn NULL;\n}\n",
        "cmd.c": "int cmd(void)\n{\n\tstruct args *args = args_parse(NULL);\n\treturn args != NULL;\n}\n",
    }
    index = index_of(tree)
    found = find_usages([index], "args.c:1", limit=9)
    assert [(usage.path, usage.line, usage.grade) for usage in found.usages if usage.path != "args.c"] == [
        ("cmd.c", 3, "likely")
    ]
    assert ("args.c", 2) not in [(usage.path, usage.line) for usage in found.usages]


def test_another_name_that_a_file_of_csharp_gives_to_a_class_is_used(index_of):
    tree = {
        "Models.cs": "namespace Shop;\npublic class Cart\n{\n    public int Total() { return 1; }\n}\n",
        "Page.cs": "using Basket = Shop.Cart;\nnamespace Shop;\npublic class Page\n{\n"
        "    public int Show() { return new Basket().Total(); }\n}\n",
    }
    usages = find_usages([index_of(tree)], "Cart", all_code=True).usages
    assert [(one.line, one.grade) for one in usages] == [(1, "likely"), (5, "likely")]


def test_a_property_of_php_is_no_method_of_its_name(index_of):
    tree = {
        "tag.php": "<?php\nclass Tag {\n    private $closing = false;\n    function closing() {\n"
        "        return $this->closing;\n    }\n    function end() {\n        return $this->closing();\n    }\n}\n"
    }
    index = index_of(tree)
    for line, used in ((3, 5), (4, 8)):
        usages = find_usages([index], f"tag.php:{line}").usages
        assert [(one.line, one.grade) for one in usages] == [(used, "certain")]


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
