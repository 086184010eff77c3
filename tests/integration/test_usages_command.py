"""`codesearch usages`: what is printed, and invalid names and places."""

import json
import re

import pytest

from tests.command import Command
from tests.conftest import index_by_engine, write_tree

TREE = {
    "shop/cart.py": "class Cart:\n    def total(self):\n        return price(1)\n\n\ndef price(n):\n    return n\n",
    "shop/page.py": "from shop.cart import Cart\n\n\ndef show():\n    cart = Cart()\n    return cart.total()\n",
    "shop/empty.py": "",
    "shop/long.py": "def settle(orders):\n" + "".join(f"    n = {line}\n" for line in range(2, 200)),
}


@pytest.fixture(scope="module")
def ask(tmp_path_factory, tiny_bundle) -> Command:
    """Return the command in an indexed tree, which the tests only read."""
    folder = tmp_path_factory.mktemp("usages")
    tree = write_tree(folder / "tiny", TREE)
    index_by_engine(tree, folder / "home", tiny_bundle)
    return Command(tree, folder / "home")


def test_definitions_come_before_usages_by_grade_and_file(ask):
    done = ask("usages", "total")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "1 line in 1 file uses total; nothing else is likely\n"
        "shop/cart.py:2  Cart.total  method\n"
        "       | def total(self)\n"
        "\n"
        "likely:\n"
        "shop/page.py\n"
        "  show\n"
        "     6 | return cart.total()\n"
        "\n"
        "1 line in 1 file: 1 likely\n"
    )


def test_overloads_are_told_apart_by_their_parameters_and_a_long_line_shows_the_name(
    tmp_path, home, tiny_bundle
):
    kinds = ("int", "long", "decimal", "byte", "Money")
    methods = "".join(f"    public string ToWords({kind} amount) => Spell(amount);\n" for kind in kinds)
    calls = f"class Page {{ string Show() {{ return {' + '.join(['Title'] * 20)} + new Words().ToWords(1); }} }}\n"
    tree = write_tree(tmp_path / "net", {"Words.cs": f"class Words {{\n{methods}}}\n", "Page.cs": calls})
    index_by_engine(tree, home, tiny_bundle)
    done = Command(tree, home, {"COLUMNS": "60"})("usages", "ToWords", "--all-code", "--color", "always")
    rows = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout).splitlines()
    places = [
        f"Words.cs:{line}  {'Words' if line == 2 else ''}.ToWords  ({kind} amount)"
        for line, kind in enumerate(kinds, 2)
    ]
    assert [row for row in rows if "amount)" in row and row.startswith("Words.cs")] == places
    assert any("…" in row and "ToWords(1)" in row for row in rows)


def test_several_names_are_answered_one_after_another_and_the_code_says_whether_any_is_used(ask):
    done = ask("usages", "nowhere_used", "total", "price", "shop/")
    assert done.returncode == 0 and "\n\nno usages of nowhere_used" in f"\n\n{done.stdout}"
    assert done.stdout.index("Cart.total  method") < done.stdout.index("price  function")
    assert ask("usages", "nowhere_used", "nor_this").returncode == 1
    assert (
        "--json has one answer: give only one of total, price"
        in ask("usages", "total", "price", "--json").stderr
    )


def test_several_places_in_a_pipe_share_the_lines(ask):
    done = ask("read", "settle", "settle", "shop/long.py:100")
    first, second, third = done.stdout.split("\n\n")
    assert first == second and first.endswith("\n   129 |     n = 129\n         … lines 130-199")
    assert third.count("|") == 42 and "\n   100 |     n = 100\n" in third
    assert ask("read", "settle").stdout.count("|") == 199
    assert ask("read", "settle", "price", "--max-lines", "300").stdout.count("|") == 199 + 2


def test_a_range_of_lines_is_whole_beside_other_places(ask):
    done = ask("read", "settle", "settle", "shop/long.py:1-198")
    assert done.stdout.split("\n\n")[2].count("|") == 198


def test_a_place_that_is_not_there_does_not_hide_the_others(ask):
    done = ask("read", "gone", "price")
    assert done.returncode != 0 and "def price(n):" in done.stdout and "gone" in done.stderr


def test_several_places_are_read_one_after_another(ask):
    done = ask("read", "price", "shop/page.py:5")
    assert done.stdout.startswith("shop/cart.py:6-7  price  function\n")
    assert "\n\nshop/page.py:4-6  show  function\n" in done.stdout


def test_a_place_and_a_name_in_a_file_mean_a_definition(ask):
    for place in ("shop/cart.py:1", "cart.py::Cart", "Cart", str(ask.folder / "shop/cart.py:1")):
        lines = ask("usages", place, "--vimgrep", "--all-code").stdout.splitlines()
        assert lines == ["shop/page.py:1:23:from shop.cart import Cart", "shop/page.py:5:12:cart = Cart()"]


def test_files_and_options_limit_where_it_looks(ask):
    assert ask("usages", "Cart", "shop/cart.py").returncode == 1
    assert ask("usages", "Cart", "--path", "page.py", "-n", 1, "--vimgrep").stdout.count("\n") == 1
    both = ask("usages", "Cart", "--json", "--vimgrep")
    assert both.stderr == "error: --json and --vimgrep exclude each other: give only one\n"
    assert ask("usages", "Cart", "--lang", "go").stdout == (
        "shop/cart.py:1  Cart  class\n       | class Cart\nno usages of Cart\n"
    )


def test_json_has_everything(ask):
    found = json.loads(ask("usages", "price", "--json").stdout)
    assert (found["name"], found["usage_count"], found["grades"]) == ("price", 1, {"certain": 1})
    (usage,) = found["usages"]
    assert (usage["path"], usage["line"], usage["column"], usage["may_be"]) == (
        "shop/cart.py", 3, 16, ["shop/cart.py:6"],
    )  # fmt: skip
    assert usage["inside"]["qualified_name"] == "Cart.total"


def test_a_path_that_does_not_exist_is_an_error(ask):
    done = ask("usages", "Cart", "src/gone")
    assert (done.returncode, done.stderr) == (
        2, "error: src/gone does not exist: give files or folders\n",
    )  # fmt: skip


def test_an_imported_index_needs_its_code(ask, tmp_path, tiny_bundle):
    model = ("--model", tiny_bundle)
    for name, code in (("with", ["--with-code"]), ("without", [])):
        assert ask("export", tmp_path / f"{name}.codesearch", *code).returncode == 0
        assert ask("import", tmp_path / f"{name}.codesearch", "--name", name, *model).returncode == 0
    done = ask("usages", "Cart", "--root", "with", "--vimgrep", "--all-code")
    assert [row.rpartition("/")[2] for row in done.stdout.splitlines()] == [
        "page.py:1:23:from shop.cart import Cart",
        "page.py:5:12:cart = Cart()",
    ]
    said = ask.fails("usages", "Cart", "--root", "without")
    assert "has no code to look in: export it with --with-code" in said
