"""Every line that `rg -w` finds is in the usages of a name, in its definitions or in their counts."""

import re
from collections.abc import Mapping

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codesearch.structure.usages import find_usages
from tests.conftest import write_tree

NAMES = ("run", "limit", "Cart", "active")
LINES = {
    "py": ("def {0}():\n    return {1}", "x = {0}.{1}", "class {0}:\n    {1} = 1", "# {0}", "import {0}"),
    "rb": ("def {0}?\n  @{1}\nend", "class {0}\n  attr_reader :{1}\nend", "{0}! if {1}?", "x.{0} = {1}"),
    "js": ("function {0}() {{ return ${1} }}", "const {0} = {1}", "x.{0}({1})", "// {0}"),
    "go": ("func {0}() {{}}", "type {0} struct {{\n\t{1} int\n}}", "var x = {0}.{1}", "var y = {0}"),
    "c": ("int {0}(int x);", "int {0}(int x)\n{{\n  return {1}(x);\n}}", "struct {0} {{\n  int {1};\n}};"),
    "cpp": ("class {0} {{\n  int {1}(int x);\n}};", "int {0}::{1}(int x)\n{{\n  return x;\n}}"),
    "cs": ("class {0} {{\n  bool {1};\n}}", "class X {{\n  void {0}() {{ {1}(); }}\n}}", "// {0} {1}"),
    "php": ("function {0}() {{ return $this->{1}; }}", "${0} = {1}::{0};"),
    "sh": ("{0}() {{\n  echo ${1}\n}}", "{0}=$1", "export {0}={1}"),
    "hs": ("{0}' = {1}", "{0} x = {1}'"),
}
HEADS = {"php": "<?php\n", "go": "package a\n\n", "cs": "namespace A;\n"}


@st.composite
def trees(draw: st.DrawFn) -> dict[str, str]:
    """Draw a few files that define and use a few names."""
    tree = {}
    for number in range(draw(st.integers(1, 4))):
        ending = draw(st.sampled_from(sorted(LINES)))
        name = st.sampled_from(NAMES)
        chunks = draw(st.lists(st.tuples(st.sampled_from(LINES[ending]), name, name), min_size=1, max_size=5))
        folder = draw(st.sampled_from(("", "tests/", "db/migrate/")))
        text = "\n\n".join(form.format(first, second) for form, first, second in chunks)
        tree[f"{folder}f{number}.{ending}"] = f"{HEADS.get(ending, '')}{text}\n"
    return tree


def lines_with(tree: Mapping[str, str], name: str) -> set[tuple[str, int]]:
    """Return the lines with a whole word."""
    word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    return {
        (path, number)
        for path, text in tree.items()
        for number, row in enumerate(text.split("\n"), 1)
        if word.search(row)
    }


@pytest.mark.parametrize("form", ["{}", "Cart.{}", "Nothing.{}"])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=10)
@given(tree=trees())
def test_no_line_is_lost(tmp_path_factory, index_tree, form, tree):
    index = index_tree(write_tree(tmp_path_factory.mktemp("project"), tree))
    for name in NAMES:
        wanted = lines_with(tree, name)
        found = find_usages([index], form.format(name), limit=1_000, all_code=True)
        used = {(one.path, one.line) for one in found.usages}
        own = {(one.path, one.start_line) for one in found.definitions}
        assert used <= wanted
        assert found.usage_count == len(used) == sum(found.grades.values())
        assert found.elsewhere <= len(wanted - used)
        assert len(used | own) + found.elsewhere >= len(wanted)
