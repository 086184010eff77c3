"""Functions without a name: the names that they get (see also `samples/callbacks.*`), and hostile ones."""

import pytest

from codesearch.languages import language_named
from codesearch.parsing.extract import extract

BODY = "{\n  open();\n  close();\n}"


def names(source: str, language: str, path: str = "web/sidebar.js") -> list[str]:
    return [
        document.qualified_name
        for document in extract(source.encode(), path, language_named(language)).documents
    ]


@pytest.mark.parametrize(
    ("source", "path", "name"),
    [
        ("export default function () BODY", "web/sidebar.js", "sidebar"),
        ("export default memo(() => BODY)", "web/sidebar/index.jsx", "sidebar"),
        ("(function ($) BODY)(jQuery);", "plugin.min.js", "plugin"),
        ("(function (root, factory) BODY)(this, 1);", "index.js", "index"),
    ],
)
def test_a_function_without_any_name_has_the_name_of_its_file(source, path, name):
    assert names(source.replace("BODY", BODY), "javascript", path) == [name]


def test_a_short_callback_after_the_indexed_text_of_its_function_has_a_document():
    source = f"function render() {{\n/* {'x' * 20_000} */\nitems.map((item) => {BODY}); }}"
    assert names(source, "javascript") == ["render", "render.items.map callback"]


def test_a_callback_in_ten_thousand_parentheses_ends_within_seconds():
    source = f"{'(' * 10_000}function () {BODY}{')' * 10_000};"
    assert names(source, "javascript") in ([], ["sidebar"])


def test_a_chain_of_ten_thousand_calls_ends_within_seconds():
    source = f"start(){'.then(go)' * 10_000}.then(function () {BODY});"
    assert names(source, "javascript") == [f"{'.'.join(['then'] * 4)} callback"]
