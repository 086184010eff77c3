"""Copies of a definition have the same key, and code that behaves differently has another."""

import pytest

from codesearch.languages import language_named
from codesearch.parsing.extract import extract
from codesearch.parsing.keys import _in_lines


def keys(language: str, source: str, path: str = "a") -> dict[str, int]:
    return {
        document.qualified_name: document.copy_key
        for document in extract(source.encode(), path, language_named(language)).documents
    }


def key(language: str, source: str) -> int:
    (found,) = keys(language, source).values()
    return found


JOIN = "function join(a, b) {\n  const c = [a, b];\n  return c.map((x) => x + ', ');\n}\n"
TREE = "class Tree:\n    def size(self):\n        if self.left:\n            return 2\n        return 1\n"
GO = "func Add(a int) int {\n\treturn a + 1\n}\n"


INDENTED = "".join(f"  {line}\n" for line in JOIN.splitlines())
BUILT = {
    "printed": "function join(a, b) {\n\tvar c = [\n\t\ta,\n\t\tb,\n\t];\n\treturn c.map(x => x + ', ');\n}\n",
    "renamed": "function join$1(a, b) { let c = [a, b]; return c.map((x) => x + ', '); }",
    "wrapped": f"(function (root, make) {{\n  make(root);\n}})(this, function (exports) {{\n{INDENTED}}});\n",
    "nested": f"function library() {{\n{INDENTED}  return join;\n}}\n",
}


@pytest.mark.parametrize("how", BUILT)
def test_build_output_has_the_key_of_its_source(how):
    source = key("javascript", JOIN)
    assert [found for name, found in keys("javascript", BUILT[how]).items() if "join" in name] == [source]
    assert key("typescript", JOIN) == source


@pytest.mark.parametrize(
    "other",
    [
        JOIN.replace("+", "-"),
        JOIN.replace("', '", "','"),
        JOIN.replace("join", "merge"),
        JOIN.replace("(x)", "(y)"),
        JOIN.replace("[a, b]", "[b, a]"),
        JOIN.replace("join(", "*join("),
        JOIN.replace("[a, b]", "[a, b, 1]"),
        JOIN.replace("', '", "'$1'"),
    ],
)
def test_code_that_does_something_else_has_another_key(other):
    assert key("javascript", other) != key("javascript", JOIN)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("f = function (x) { this.x = x; g(x); }", "f = (x) => { this.x = x; g(x); }"),
        ("f = function (x) { g(arguments, x); }", "f = (x) => { g(arguments, x); }"),
        ("function f(x) { for (var i of x) g(() => i); }", "function f(x) { for (let i of x) g(() => i); }"),
    ],
    ids=["this", "arguments", "loop"],
)
def test_similar_forms_with_another_meaning_have_different_keys(one, other):
    assert key("javascript", one) != key("javascript", other)


def test_the_names_of_inner_functions_are_part_of_the_key():
    steps = "function f(x) {\n  function one(n) { return n + 1; }\n  function two(n) { return n * 2; }\n"
    code = steps + "  return one(two(x));\n}\n"
    swapped = code.replace("function one", "function 2").replace("function two", "function one")
    other = keys("javascript", swapped.replace("function 2", "function two"))
    assert other["f"] != keys("javascript", code)["f"]


def test_an_arrow_function_has_the_key_of_its_compiled_form():
    arrow = key(
        "javascript", "const onCancel = (cause) => {\n  const xhr = request;\n  xhr.abort(cause);\n};\n"
    )
    older = "var onCancel = function onCancel(cause) {\n  var xhr = request;\n  xhr.abort(cause);\n};\n"
    assert key("javascript", older) == arrow


def test_the_key_of_a_class_includes_its_members_and_that_of_a_method_its_class():
    tree, copy = keys("python", TREE), keys("python", TREE, "build/lib/tree.py")
    assert tree == copy
    other = keys("python", TREE.replace("return 1", "return 0"))
    assert (other["Tree"] == tree["Tree"], other["Tree.size"] == tree["Tree.size"]) == (False, False)
    heap = keys("python", TREE.replace("Tree", "Heap"))
    assert (heap["Heap"] == tree["Tree"], heap["Heap.size"] == tree["Tree.size"]) == (False, False)


def test_in_python_only_relative_indentation_is_part_of_the_key():
    size = "def size(node):\n    if node.left:\n        count(node)\n    return 1\n"
    deeper = (
        "try:\n" + "".join(f"    {line}\n" for line in size.splitlines()) + "except NameError:\n    pass\n"
    )
    assert keys("python", deeper)["size"] == key("python", size)
    assert key("python", size.replace("\n", "  \r\n")) == key("python", size)
    assert key("python", size.replace("        count", "    count")) != key("python", size)
    assert key("python", size.replace("    return", "        return")) != key("python", size)


def test_documentation_is_not_part_of_the_key():
    plain = "def size(node):\n    return 1\n"
    assert key("python", 'def size(node):\n    """Count."""\n    return 1\n') == key("python", plain)
    assert key("go", "// Add adds.\n" + GO) == key("go", GO)


def test_in_other_languages_only_white_space_is_ignored():
    assert key("go", "func Add( a int ) int { return a+1 }") == key("go", GO)
    assert key("go", GO.replace("+ 1", "+ 2")) != key("go", GO)
    assert key("go", GO.replace("Add", "Add$1").replace("$", "_")) != key("go", GO)


def test_the_key_of_a_long_function_covers_all_its_code():
    long = "def f(x):\n" + "    x += 1\n" * 3_000 + "    return x\n"
    assert key("python", long) != key("python", long.replace("return x", "return -x"))


def test_text_below_an_empty_line_loses_its_indentation_too():
    assert _in_lines(b"\n  a\n    b \n\n") == b"a\n  b"
