"""The six base languages: exact documents of small files, and difficult input."""

from __future__ import annotations

import time

import pytest

from codesearch.config import ParseConfig
from codesearch.parsing.extract import Extraction, extract
from codesearch.parsing.languages import language_named

GO = """\
package store

// Store keeps things.
type Store[T any] struct {
	items []T
}

type (
	// Reader reads.
	Reader interface {
		Read(key string) string
	}
	ID int
)

// Put adds one thing.
//
//go:noinline
func (s *Store[T]) Put(item T,
	key string) error {
	return nil
}

func New() *Store[int] { return nil }
"""

JAVA = """\
package shop;

/** Keeps orders. */
@Entity(name = "orders")
public class Orders extends Base {
    private int n;

    /**
     * Count the orders.
     */
    @Override
    @Deprecated
    public int count(@Nonnull String name,
                     int limit) {
        return n;
    }

    //////////////////////
    interface Reader {
        @Nullable
        String read(
            String key);
    }

    enum Colour { RED }
}
"""

JAVASCRIPT = """\
/** Make a shape. */
function Shape(n) {
  this.onChange = function (event) {};
}

// The area.
Shape.prototype.area = function () { return 1; };

const scale = async (shape, factor) => {
  function inner() {}
  return shape;
};

const handlers = {
  'on-click': function (e) {},
  load: () => 1,
  run() {},
};

class Circle extends Shape {
  static #count = 0;

  /** The radius. */
  get radius() { return 1; }
  onDrag = (e) => {};
}

app.get("/", (request, response) => {
  response.send(1);
});
items.map((item) => item.id);
exports.main = main;
"""

PHP = """\
<?php
namespace App\\Models;

/** Finds users. */
#[Entity]
final class User extends Model implements Named
{
    use Timestamps;

    /**
     * Find one.
     */
    #[Cached(60)]
    public static function find(int $id): ?self
    {
        return null;
    }

    abstract function name(): string;
}

interface Named { function name(): string; }

// Say hello.
function hello(): void {}

usort($users, function ($a, $b) {
    return $a <=> $b;
});
"""

PYTHON = '''\
import os

# Not the docstring.
@cache
@wraps(os.path)
def load(path: str,
         mode: str = "r") -> bytes:
    # A comment before it.
    """Load a file.

    Slowly.
    """
    def inner():
        pass
    return b""


# Sort in place.
async def sort(items): pass


class Store(Base):
    """Keeps things."""

    limit = 3

    # Put one.
    @log
    def put(self, item):
        return item

    class Inner:
        def get(self):
            return 1
    # Below.
'''

RUBY = """\
#!/usr/bin/env ruby
# frozen_string_literal: true
module Shop
  ##
  # Keeps orders.
  class Store::Orders < Base
    # Make one.
    def self.make(name,
                  price: 1)
      # Not the docstring.
      new
    end

=begin
Long comment.
=end
    def ==(other) = true

    def empty?; end

    class << self
      def build; 1; end
    end
  end
end
"""

# (kind, qualified name, lines), signature, docstring
DOCUMENTS = {
    "go": (
        GO,
        [
            ("struct Store 4-6", "type Store[T any] struct", "Store keeps things."),
            ("interface Reader 10-12", "Reader interface", "Reader reads."),
            ("type ID 13-13", "ID int", ""),
            (
                "method Store.Put 19-22",
                "func (s *Store[T]) Put(item T, key string) error",
                "Put adds one thing.",
            ),
            ("function New 24-24", "func New() *Store[int]", ""),
        ],
    ),
    "java": (
        JAVA,
        [
            ("class Orders 4-6", "public class Orders extends Base", "Keeps orders."),
            (
                "method Orders.count 11-16",
                "public int count(@Nonnull String name, int limit)",
                "Count the orders.",
            ),
            ("interface Orders.Reader 19-19", "interface Reader", ""),
            ("method Orders.Reader.read 20-22", "String read(String key)", ""),
            ("enum Orders.Colour 25-25", "enum Colour", ""),
        ],
    ),
    "javascript": (
        JAVASCRIPT,
        [
            ("function Shape 2-4", "function Shape(n)", "Make a shape."),
            ("function Shape.onChange 3-3", "onChange = function (event)", ""),
            ("function Shape.area 7-7", "area = function ()", "The area."),
            ("function scale 9-12", "scale = async (shape, factor)", ""),
            ("function scale.inner 10-10", "function inner()", ""),
            ("function on-click 15-15", "on-click = function (e)", ""),
            ("function load 16-16", "load = ()", ""),
            ("method run 17-17", "run()", ""),
            ("class Circle 20-21", "class Circle extends Shape", ""),
            ("method Circle.radius 24-24", "get radius()", "The radius."),
            ("method Circle.onDrag 25-25", "onDrag = (e)", ""),
            ('function app.get("/") callback 28-30', 'app.get("/", (request, response)', ""),
        ],
    ),
    "php": (
        PHP,
        [
            ("class User 5-8", "final class User extends Model implements Named", "Finds users."),
            ("method User::find 13-17", "public static function find(int $id): ?self", "Find one."),
            ("method User::name 19-19", "abstract function name(): string", ""),
            ("interface Named 22-22", "interface Named", ""),
            ("method Named::name 22-22", "function name(): string", ""),
            ("function hello 25-25", "function hello(): void", "Say hello."),
            ("function usort callback 27-29", "usort($users, function ($a, $b)", ""),
        ],
    ),
    "python": (
        PYTHON,
        [
            (
                "function load 6-15",
                'def load(path: str, mode: str = "r") -> bytes',
                "Load a file.\n\nSlowly.",
            ),
            ("function load.inner 13-14", "def inner()", ""),
            ("function sort 19-19", "async def sort(items)", "Sort in place."),
            ("class Store 22-25", "class Store(Base)", "Keeps things."),
            ("method Store.put 29-30", "def put(self, item)", "Put one."),
            ("class Store.Inner 32-32", "class Inner", ""),
            ("method Store.Inner.get 33-34", "def get(self)", ""),
        ],
    ),
    "ruby": (
        RUBY,
        [
            ("class Shop 3-3", "module Shop", ""),
            ("class Shop.Store.Orders 6-6", "class Store::Orders < Base", "Keeps orders."),
            ("method Shop.Store.Orders.make 8-12", "def self.make(name, price: 1)", "Make one."),
            ("method Shop.Store.Orders.== 17-17", "def ==(other)", "Long comment."),
            ("method Shop.Store.Orders.empty? 19-19", "def empty?", ""),
            ("method Shop.Store.Orders.build 22-22", "def build", ""),
        ],
    ),
}


def extract_text(source: str | bytes, language: str, config: ParseConfig | None = None) -> Extraction:
    spec = language_named(language)
    assert spec is not None
    data = source.encode() if isinstance(source, str) else source
    return extract(data, f"file.{language}", spec, config)


def described(found: Extraction) -> list[tuple[str, str, str]]:
    return [
        (
            f"{document.kind} {document.qualified_name} {document.start_line}-{document.end_line}",
            document.signature,
            document.docstring,
        )
        for document in found.documents
    ]


@pytest.mark.parametrize("language", DOCUMENTS)
def test_each_definition_becomes_the_expected_document(language):
    source, expected = DOCUMENTS[language]
    found = extract_text(source, language)
    assert described(found) == expected
    assert found.warnings == []


@pytest.mark.parametrize("language", DOCUMENTS)
def test_windows_line_ends_change_only_the_code(language):
    source, expected = DOCUMENTS[language]
    found = extract_text(source.replace("\n", "\r\n"), language)
    assert described(found) == expected


@pytest.mark.parametrize("language", DOCUMENTS)
def test_byte_offsets_cover_whole_lines_of_the_file(language):
    source, _ = DOCUMENTS[language]
    data = source.encode()
    for document in extract_text(source, language).documents:
        assert data.count(b"\n", 0, document.start_byte) + 1 == document.start_line
        assert data.count(b"\n", 0, document.end_byte) + 1 == document.end_line
        assert data[document.end_byte - 1 : document.end_byte].strip()


def test_the_code_of_a_python_function_excludes_its_docstring():
    found = extract_text(PYTHON, "python").documents[0]
    assert found.code.startswith("def load(path: str,")
    assert "Slowly" not in found.code
    assert found.code.endswith('return b""')


def test_a_class_ends_before_the_comment_of_its_first_member():
    store = extract_text(PYTHON, "python").documents[3]
    assert store.code.endswith("limit = 3")


def test_code_is_cut_at_the_configured_size():
    found = extract_text("def f():\n    return 12345\n", "python", ParseConfig(max_code_bytes=8))
    assert found.documents[0].code == "def f():"
    assert found.documents[0].end_line == 2


def test_short_callbacks_have_no_document():
    assert extract_text("items.map((item) => {\n  use(item); });\n", "javascript").documents == []


def test_a_comment_after_code_is_not_documentation_of_the_next_line():
    found = extract_text("x = 1  # One.\ndef f(): pass\n", "python")
    assert found.documents[0].docstring == ""


def test_a_comment_before_a_blank_line_is_not_documentation():
    assert extract_text("# Licence.\n\ndef f(): pass\n", "python").documents[0].docstring == ""


def test_the_comment_of_a_member_with_a_decorator_is_not_used_for_the_next_member():
    source = "class A {\n  // First.\n  @log a() {}\n  b() {}\n}\n"
    found = extract_text(source, "javascript").documents
    assert [(document.name, document.docstring) for document in found] == [
        ("A", ""),
        ("a", "First."),
        ("b", ""),
    ]


def test_invalid_utf8_gives_one_warning_and_still_documents():
    found = extract_text(b'def f():\n    """Caf\xe9 \xff."""\ndef g(): pass\n', "python")
    assert [document.name for document in found.documents] == ["f", "g"]
    assert found.documents[0].docstring == "Caf\ufffd \ufffd."
    assert found.warnings == ["file.python: invalid UTF-8 at byte 19: read with replacement characters"]


@pytest.mark.parametrize(
    ("language", "source"),
    [
        ("go", "package a\nvar x = {open}1{close}\nfunc f() {{}}\n"),
        ("java", "class f {{ int x = {open}1{close}; }}\n"),
        ("javascript", "x = {open}1{close};\nfunction f() {{}}\n"),
        ("php", "<?php $x = {open}1{close};\nfunction f() {{}}\n"),
        ("python", "x = {open}1{close}\ndef f(): pass\n"),
        ("ruby", "x = {open}1{close}\ndef f; end\n"),
    ],
)
def test_ten_thousand_parentheses_end_within_seconds(language, source):
    began = time.monotonic()
    found = extract_text(source.format(open="(" * 10_000, close=")" * 10_000), language)
    assert time.monotonic() - began < 10
    assert [document.name for document in found.documents] == ["f"]


@pytest.mark.parametrize(
    ("language", "source"),
    [
        ("javascript", "function f() {" * 10_000 + "}" * 10_000),
        ("php", "<?php " + "function f() {" * 10_000 + "}" * 10_000),
        ("ruby", "def f\n" * 10_000 + "end\n" * 10_000),
        ("java", "class f {" * 10_000 + "}" * 10_000),
    ],
)
def test_ten_thousand_nested_definitions_end_within_seconds_with_a_warning(language, source):
    began = time.monotonic()
    found = extract_text(source, language)
    assert time.monotonic() - began < 10
    assert len(found.documents) == 32
    assert found.warnings == [f"file.{language}: 9968 definitions nested deeper than 32 left out"]


def test_the_warning_about_one_deep_definition_is_singular():
    found = extract_text("def f():\n    def g():\n        return 1\n", "python", ParseConfig(max_nesting=1))
    assert [document.name for document in found.documents] == ["f"]
    assert found.warnings == ["file.python: 1 definition nested deeper than 1 left out"]


def contexts(source: str, language: str, path: str) -> dict[str, str]:
    spec = language_named(language)
    assert spec is not None
    return {d.qualified_name: d.context for d in extract(source.encode(), path, spec).documents}


def test_a_definition_has_the_summaries_of_its_class_and_of_its_module():
    source = '"""Sell things.\n\nSlowly."""\n\n'
    source += 'class Shop:\n    """A place with a till.\n\n    It is closed on Sundays."""\n\n'
    source += (
        "    class Till:\n        def open(self): pass\n\n    def close(self): pass\n\ndef walk(): pass\n"
    )
    assert contexts(source, "python", "shop.py") == {
        "Shop": "Sell things.",
        "Shop.Till": "A place with a till. Sell things.",
        "Shop.Till.open": "A place with a till. Sell things.",
        "Shop.close": "A place with a till. Sell things.",
        "walk": "Sell things.",
    }


def test_a_method_outside_of_its_type_has_the_summary_of_the_type():
    assert contexts(GO, "go", "store.go") == {
        "Store": "",
        "Reader": "",
        "ID": "",
        "Store.Put": "Store keeps things.",
        "New": "",
    }


def test_a_licence_is_no_context():
    assert contexts(
        "# Copyright 2020 A. B.\n# All rights reserved.\n\ndef walk(): pass\n", "python", "a.py"
    ) == {"walk": ""}


def test_a_context_is_short():
    found = contexts(f'"""{"long " * 100}"""\n\ndef walk(): pass\n', "python", "a.py")
    assert len(found["walk"]) == 200
