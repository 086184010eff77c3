"""Outlines of folders, files and classes, cut to a number of lines."""

import shutil

import pytest

from codesearch.engine.engine import Engine
from codesearch.engine.scope import Scope
from codesearch.errors import IndexNotFoundError
from codesearch.structure import outline as structure
from codesearch.structure.text import outline_lines
from tests.conftest import TINY_REPO, write_tree

TREE = {
    **TINY_REPO,
    "README.md": "# Shop\n\nA shop that sells books. It is small.\n",
    "python/__init__.py": '"""Everything in Python. Really."""\n',
    "go/shelf.go": "package go\n\ntype Shelf struct{}\n\nvar (\n\t_ io.Closer = Shelf{}\n\t_ io.Reader = Shelf{}\n)\n",
    "src/main/java/com/Shop.java": "package com;\n\nclass Shop {\n    void open() {}\n}\n",
}


@pytest.fixture
def outline(tmp_path, tiny_bundle):
    """Return the lines of the outlines of a place."""
    engine = Engine(tmp_path / "home", model=tiny_bundle)

    def outline(place=".", tree=TREE, **options):
        root = write_tree(tmp_path / "shop", tree)
        engine.index(root)
        found = engine.session(Scope((root,), here=root)).outline(place, **options).places
        return [line for one in found for line in outline_lines(one)]

    yield outline
    engine.close()


def test_a_file_has_its_definitions_with_lines_and_first_sentences(outline):
    assert outline("python/convert.py") == [
        "python/convert.py  Conversions.",
        "     4    def int_to_string(number: int) -> str  Convert an integer to its decimal string.",
        "     9    def string_to_int(text: str) -> int  Parse a decimal string into an integer.",
        "    14    class Stack  A last in, first out container.",
        "    17      def push(self, item)  Put an item on top.",
        "    21      def pop(self)  Take the top item off.",
    ]


def test_a_definition_whose_name_has_no_words_is_shown(outline):
    assert "     3    type Shelf struct" in outline("shelf.go")


def test_a_class_has_its_members(outline):
    assert outline("Stack") == [
        "python/convert.py",
        "    14  class Stack  A last in, first out container.",
        "    17    def push(self, item)  Put an item on top.",
        "    21    def pop(self)  Take the top item off.",
    ]


def test_a_folder_has_folders_files_and_definitions_if_there_is_room(outline):
    lines = outline(max_lines=100)
    assert lines[0] == "shop/  (Stack, Sorter, PriorityQueue, Shop)"
    at = lines.index(
        "          python/             Everything in Python. (Stack, int_to_string, string_to_int)"
    )
    assert lines[at + 1 : at + 5] == [
        "            convert.py   Conversions.",
        "     4        def int_to_string(number: int) -> str  Convert an integer to its decimal string.",
        "     9        def string_to_int(text: str) -> int  Parse a decimal string into an integer.",
        "    14        class Stack  A last in, first out container.",
    ]
    assert "          src/main/java/com/  (Shop)" in lines


@pytest.mark.parametrize("most", [4, 7, 9, 12, 15])
def test_an_outline_has_at_most_so_many_lines_and_counts_the_rest(outline, most):
    lines = outline(max_lines=most)
    assert len(lines) <= most
    assert len(outline(max_lines=100)) > 15


def test_folders_come_before_files_and_files_before_definitions(outline):
    lines = outline(max_lines=8)
    assert [
        line.strip().split(" ")[0] for line in lines
    ] == "shop/ go/ java/ javascript/ php/ python/ ruby/ src/main/java/com/".split()


def test_a_folder_is_named_by_its_largest_files_and_the_others_are_not_read(outline, monkeypatch):
    read = []
    main_rows = structure._main_rows
    monkeypatch.setattr(structure, "_OF_FOLDER", 2)
    monkeypatch.setattr(structure, "_main_rows", lambda file: read.append(file.path) or main_rows(file))
    files = {
        f"lib/part{count}.py": "".join(f"def f{count}_{n}():\n    return {n}\n\n" for n in range(count))
        for count in range(1, 7)
    }
    lines = outline(tree={"main.py": "def start():\n    return 1\n", **files}, max_lines=4)
    assert sorted(read) == ["lib/part5.py", "lib/part6.py"]
    assert lines[1] == "  lib/  (21 definitions: f5_0, f5_1, f5_2, f5_3)"


def test_a_folder_is_gone_with_its_last_file(outline, tmp_path, never_merged):
    assert outline("go")
    shutil.rmtree(tmp_path / "shop/go")
    with pytest.raises(IndexNotFoundError):
        outline("go", tree={})
    assert not any("go" in line for line in outline(tree={}))


def test_a_name_of_several_definitions_has_an_outline_for_each(outline):
    assert outline("push") == [
        "python/convert.py",
        "    17  def push(self, item)  Put an item on top.",
        "ruby/queue.rb",
        "     4  def push(element, priority)  Add an element with its priority.",
    ]


def test_an_outline_for_a_question_shows_what_answers_it_whole(outline):
    lines = outline(question="put an item on top of the stack", max_lines=20)
    at = lines.index("    17 |     def push(self, item):")
    assert lines[at + 1 : at + 3] == [
        '    18 |         """Put an item on top."""',
        "    19 |         self.items.append(item)",
    ]
    assert lines[0].startswith("python/convert.py") and len(lines) <= 24


def test_a_module_that_only_wraps_classes_stands_for_them(outline):
    book = "module Shop\n  module Books\n    class Book\n      def sell\n        1\n      end\n    end\n  end\nend\n"
    assert outline(tree={"lib/book.rb": book}, max_lines=20) == [
        "shop/  (Book)",
        "          lib/  (Book)",
        "            book.rb",
        "     3        class Book",
    ]


def test_what_is_in_a_folder_of_tests_comes_last_and_tests_come_after_the_other_files(outline):
    function = "def {}():\n    return 1\n" * 9
    names = ["src/one.py", "src/test_one.py", *(f"tests/{kind}/test_{kind}.py" for kind in ("a", "b", "c"))]
    tree = {name: function.format(*"abcdefghi") for name in names}
    assert [
        line.split()[0] for line in outline(tree=tree, max_lines=5)
    ] == "shop/ src/ one.py test_one.py tests/".split()


def test_an_outline_has_at_most_so_many_characters(outline):
    lines = outline(max_lines=100, max_chars=300)
    assert 200 < len("\n".join(lines)) <= 300 and lines[-1].strip().startswith("(")


def test_members_in_one_line_are_neighbours(outline):
    tree = {"Cart.java": "class Cart {\n  void add() { go(); } void drop() { go(); }\n}\n"}
    assert outline("Cart.java", tree)[-2:] == ["     2      void add()", "     2      void drop()"]
