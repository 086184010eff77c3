"""Functions without a name: the names they get, and which of them have no document."""

import pytest

from codesearch.languages import language_named
from codesearch.parsing.extract import extract

BODY = "{\n  open();\n  close();\n}"
LONG_BODY = "{\n  open();\n  read();\n  write();\n  close();\n}"


def names(source: str, language: str, path: str = "web/sidebar.js") -> list[str]:
    return [
        document.qualified_name
        for document in extract(source.encode(), path, language_named(language)).documents
    ]


@pytest.mark.parametrize("language", ["javascript", "typescript", "tsx"])
@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("app.get('/users', (req, res) => BODY);", "app.get('/users') callback"),
        ("it(`works`, async () => BODY);", "it(`works`) callback"),
        ("$('#form').submit(function () BODY);", "$('#form').submit callback"),
        ("fetch(url).then((found) => BODY);", "fetch.then callback"),
        ("new Promise((resolve) => BODY);", "Promise callback"),
        ("new Emitter('a').on('x', () => BODY);", "Emitter('a').on('x') callback"),
        ("define(['a'], function (a) BODY);", "define callback"),
        ("const Button = React.forwardRef((props, ref) => BODY);", "Button"),
        ("const load = flag && memo(async () => BODY);", "load"),
        ("this.onClose = debounce(() => BODY);", "onClose"),
        ("const handlers = { 'on-close': throttle(() => BODY) };", "handlers.on-close"),
        ("module.exports = wrap(function () BODY);", "module.exports"),
        ("class Panel { close = debounce(() => BODY); }", "Panel.close"),
    ],
)
def test_a_callback_is_named_after_what_it_is_given_or_assigned_to(language, source, name):
    assert names(source.replace("BODY", BODY), language)[-1] == name


@pytest.mark.parametrize("language", ["javascript", "tsx"])
def test_a_callback_in_jsx_is_named_after_element_and_attribute(language):
    source = "const page = () => <Button onClick={() => BODY} />;".replace("BODY", LONG_BODY)
    assert names(source, language) == ["page", "page.Button onClick"]


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("$app->get('/users', function () BODY);", "$app.get('/users') callback"),
        ("Route::get('/users', function () BODY);", "Route::get('/users') callback"),
        ("new Handler(function () BODY);", "Handler callback"),
        ("$this->close = function () BODY;", "close"),
        ("$handlers = ['close' => function () BODY];", "close"),
        ("$handlers = [function () BODY];", "$handlers"),
    ],
)
def test_a_php_closure_is_named_after_what_it_is_given_or_assigned_to(source, name):
    assert names(f"<?php\n{source}".replace("BODY", BODY), "php") == [name]


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("on('exit', function()\n  a()\n  b()\nend)", "on('exit') callback"),
        ("local run = pcall(function()\n  a()\n  b()\nend)", "run"),
    ],
)
def test_a_lua_function_is_named_after_what_it_is_given_or_assigned_to(source, name):
    assert names(source, "lua") == [name]


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


def test_a_returned_function_is_named_returned_function():
    source = f"function debounce(call) {{ return function () {LONG_BODY}; }}"
    assert names(source, "javascript") == ["debounce", "debounce.returned function"]


def test_a_short_callback_in_a_named_function_has_no_document():
    source = f"function render() {{ items.map((item) => {BODY}); items.filter((item) => {LONG_BODY}); }}"
    assert names(source, "javascript") == ["render", "render.items.filter callback"]


def test_a_short_callback_after_the_indexed_text_of_its_function_has_a_document():
    source = f"function render() {{\n/* {'x' * 20_000} */\nitems.map((item) => {BODY}); }}"
    assert names(source, "javascript") == ["render", "render.items.map callback"]


def test_the_name_of_a_callback_is_not_part_of_inner_names():
    source = "define(['a'], function (a) { function open() {}\n\n});"
    assert names(source, "javascript") == ["define callback", "open"]


def test_a_callback_in_ten_thousand_parentheses_ends_within_seconds():
    source = f"{'(' * 10_000}function () {BODY}{')' * 10_000};"
    assert names(source, "javascript") in ([], ["sidebar"])


def test_a_chain_of_ten_thousand_calls_ends_within_seconds():
    source = f"start(){'.then(go)' * 10_000}.then(function () {BODY});"
    assert names(source, "javascript") == [f"{'.'.join(['then'] * 4)} callback"]
