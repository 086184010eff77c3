"""Types, constants and top-level statements: documents, kinds and lines."""

from __future__ import annotations

import pytest

from codesearch.parsing.extract import extract
from codesearch.parsing.languages import language_named
from codesearch.types import KINDS, Document

PYTHON = '''\
"""Settings of the shop."""
import os
from shop import (
    orders,
)
__all__ = ["NAMES", "TABLE"]
LIMIT = 3
# Names.
NAMES = ("a", "b")
TABLE = {
    "a": 1,
}
_cache = {}
log = getLogger()
type Id = int

@decorate(
    1)
def run(): pass

class Colour(enum.StrEnum):
    RED = 1
class Reader(Protocol[T]):
    limit = 2
    def read(self): ...

if __name__ == "__main__":
    run()
    run()
    # Twice.
    run()
'''

GO = """\
package shop
import (
	"fmt"
)
// Codes.
const (
	A = iota
	B
)
const C = 1
var Handle = func() {
	open()
}
var table = map[string]int{
	"a": 1,
}
type ID int
type (
	Alias = ID
	Handler func(int)
	// Point is a point.
	Point struct {
		x int
	}
)
"""

JAVA = """\
class Orders {
  private static final int ONE = 1;
  /** Names. */
  private static final String[] NAMES = {
    "a",
  };
  int count = sum(
    1);
  void clear() {}
}
interface Limits { int ONE = 1; int TWO = sum(
  1); }
@interface Marked { int value(); }
record Point(int x) {}
enum Colour { RED }
"""

TYPESCRIPT = """\
import x from 'x';
'use strict';
const fs = require('fs');
/** Where to go. */
export const ROUTES = {
  home: '/',
};
const one = 1;
const SIZES = [1, 2];
const App = () => {
  return 1;
};
const api = {
  base: 'x',
  get() { return 1; },
};
export type Id = string | number;
export type Props = { a: string };
export interface Reader { read(): void }
enum Colour { Red }
export default {
  name: 'x',
};
app.use(x);
app.get('/', (request) => {
  open();
  send();
});
app.use(y);
app.listen(1);
"""

PHP = """\
<?php
namespace Shop;
use Base;
/** Where to go. */
const ROUTES = [
  'home',
];
$sizes = ['a' => 1, 'b' => 2];
define('A', 1);
define('B', 2);
add_action('init', 'run');
trait Named {}
enum Colour { case Red; }
class Orders { const NAMES = [
  'a', ]; }
return ['x' => 1,
];
"""

RUBY = """\
require 'shop'
module Shop
  # Names.
  NAMES = %w[a b].freeze
  TABLE = {
    a: 1
  }.freeze
  ONE = 1
  class Orders
    CALL = ->(x) { x }
    define_method(:open) do |x|
      x
    end
  end
end
task :build do
  sh "x"
  sh "y"
end
"""

RUST = """\
use shop::orders;
const NAMES: [&str; 2] = [
  "a", "b"];
static ONE: i32 = 1;
static TWO: i32 = 2;
thread_local!(static THREE: i32 = 3);
type Id = u8;
union Bits { a: i32 }
struct Point;
enum Colour { Red }
trait Named {}
impl Named for Point { const ONE: i32 = 1; type X = u8; }
"""

C = """\
/* Points and colours. */
#ifndef SHOP_H
#define SHOP_H
#include <stdio.h>
#define ONE 1
#define TWO 2
typedef unsigned int u32;
typedef int (*compare)(int);
typedef struct point point_t;
typedef enum { RED } colour_t;
static const char *names[] = {
  "a",
};
int run(void);
union bits { int a; };
static int stop(void) { int local[] = {
  1 }; }
#endif
"""

CPP = """\
namespace shop {
using Id = int;
template <class T> using List = std::vector<T>;
static const std::vector<int> sizes = {
  1, 2 };
struct Point { using Id = int; int x() { return 1; } };
enum class Colour { Red };
template <class T> concept Named = true;
}
"""

CSHARP = """\
using Shop;
var app = Build(args);
app.Use(1);
app.Run();
namespace Shop {
  class Orders { static readonly int[] Sizes = {
      1 };
    const string One = "a";
    int count = Sum(
      1);
  }
  delegate int Handler(int x);
  struct Point { }
  interface INamed { }
  enum Colour { Red }
}
"""

BASH = """\
#!/bin/bash
# Build all.
set -e
NAMES=(a
  b)
echo 1
run() { echo 2; }
run
run 2
"""

LUA = """\
local sizes = {
  a = 1,
}
M.names = {
  "a",
}
require("shop")
run(1)
run(2)
run(3)
"""

KOTLIN = """\
typealias Id = Int
interface Named
enum class Colour { RED }
val sizes = mapOf(
  1 to 2)
val one = 1
"""

SCALA = """\
type Id = Int
trait Named
val sizes = Map(
  1 -> 2)
object Shop {
  val names = List(
    "a")
}
"""

SWIFT = """\
struct Point { }
enum Colour { case red }
protocol Named { }
typealias Id = Int
let sizes = [
  1]
"""

DOCUMENTS = {
    "python": (
        PYTHON,
        """
constant NAMES 9-9
constant TABLE 10-12
type Id 15-15
function run 19-19
enum Colour 21-22
interface Reader 23-24
method Reader.read 25-25
module shop 27-31
""",
    ),
    "go": (
        GO,
        """
constant A 6-9
function Handle 11-13
constant table 14-16
type ID 17-17
type Alias 19-19
type Handler 20-20
struct Point 22-24
""",
    ),
    "java": (
        JAVA,
        """
class Orders 1-2
constant Orders.NAMES 4-6
method Orders.clear 9-9
interface Limits 11-11
constant Limits.TWO 11-12
interface Marked 13-13
class Point 14-14
enum Colour 15-15
""",
    ),
    "typescript": (
        TYPESCRIPT,
        """
constant ROUTES 5-7
constant SIZES 9-9
function App 10-12
constant api 13-14
method get 15-15
type Id 17-17
type Props 18-18
interface Reader 19-19
method Reader.read 19-19
enum Colour 20-20
constant shop 21-23
function app.get('/') callback 25-28
module shop 29-30
""",
    ),
    "php": (
        PHP,
        """
constant ROUTES 5-7
constant sizes 8-8
module shop 9-11
trait Named 12-12
enum Colour 13-13
class Orders 14-14
constant Orders::NAMES 14-15
constant shop 16-17
""",
    ),
    "ruby": (
        RUBY,
        """
class Shop 2-2
constant Shop.NAMES 4-4
constant Shop.TABLE 5-7
class Shop.Orders 9-9
method Shop.Orders.CALL 10-10
method Shop.Orders.open 11-13
module shop 16-19
""",
    ),
    "rust": (
        RUST,
        """
constant NAMES 2-3
module shop 4-6
type Id 7-7
struct Bits 8-8
struct Point 9-9
enum Colour 10-10
trait Named 11-11
""",
    ),
    "c": (
        C,
        """
module shop 3-6
type u32 7-7
type compare 8-8
type point_t 9-9
enum colour_t 10-10
constant names 11-13
struct bits 15-15
function stop 16-17
""",
    ),
    "cpp": (
        CPP,
        """
type shop::Id 2-2
type shop::List 3-3
constant shop::sizes 4-5
struct shop::Point 6-6
method shop::Point::x 6-6
enum shop::Colour 7-7
type shop::Named 8-8
""",
    ),
    "csharp": (
        CSHARP,
        """
module shop 2-4
class Shop.Orders 6-6
constant Shop.Orders.Sizes 6-7
type Shop.Handler 12-12
struct Shop.Point 13-13
interface Shop.INamed 14-14
enum Shop.Colour 15-15
""",
    ),
    "bash": (
        BASH,
        """
constant NAMES 4-5
function run 7-7
module shop 8-9
""",
    ),
    "lua": (
        LUA,
        """
constant sizes 1-3
constant M.names 4-6
module shop 8-10
""",
    ),
    "kotlin": (
        KOTLIN,
        """
type Id 1-1
interface Named 2-2
enum Colour 3-3
constant sizes 4-5
""",
    ),
    "scala": (
        SCALA,
        """
type Id 1-1
trait Named 2-2
constant sizes 3-4
class Shop 5-5
constant Shop.names 6-7
""",
    ),
    "swift": (
        SWIFT,
        """
struct Point 1-1
enum Colour 2-2
interface Named 3-3
type Id 4-4
constant sizes 5-6
""",
    ),
}


def documents_of(source: str, language: str, path: str = "web/shop.txt") -> list[Document]:
    spec = language_named(language)
    assert spec is not None
    found = extract(source.encode(), path, spec)
    assert found.warnings == []
    return found.documents


def described(documents: list[Document]) -> list[str]:
    return [
        f"{document.kind} {document.qualified_name} {document.start_line}-{document.end_line}"
        for document in documents
    ]


def module_of(source: str, language: str, path: str = "shop.txt") -> Document:
    return next(found for found in documents_of(source, language, path) if found.kind == "module")


def test_the_stored_numbers_of_kinds_do_not_change():
    assert KINDS[:3] == ("function", "method", "class")


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize("language", DOCUMENTS)
def test_each_definition_has_its_kind(language, ends):
    source, expected = DOCUMENTS[language]
    assert described(documents_of(source.replace("\n", ends), language)) == expected.split("\n")[1:-1]


@pytest.mark.parametrize("language", DOCUMENTS)
def test_byte_offsets_cover_whole_lines(language):
    source, _ = DOCUMENTS[language]
    data = source.encode()
    for document in documents_of(source, language):
        assert data.count(b"\n", 0, document.start_byte) + 1 == document.start_line
        assert data.count(b"\n", 0, document.end_byte) + 1 == document.end_line


def test_a_constant_has_its_comment_and_the_first_line_as_signature():
    routes = documents_of(TYPESCRIPT, "typescript")[0]
    assert (routes.signature, routes.docstring) == ("export const ROUTES = {", "Where to go.")


def test_a_module_has_all_statements_without_imports_and_the_lines_of_most_of_them():
    module = module_of(PYTHON, "python")
    assert "import" not in module.code
    assert "__all__" not in module.code
    assert "orders" not in module.code
    assert module.code.startswith("LIMIT = 3\n_cache = {}")
    assert module.code.endswith("# Twice.\n    run()")
    assert (module.start_line, module.end_line) == (27, 31)


@pytest.mark.parametrize(
    ("source", "language", "docstring"),
    [
        (PYTHON, "python", "Settings of the shop."),
        (C, "c", "Points and colours."),
        (BASH, "bash", "Build all."),
        ("// Copyright 2024.\n\nopen();\nread();\nclose();\n", "javascript", ""),
        ("open();\n// Then.\nread();\nclose();\n", "javascript", ""),
    ],
)
def test_a_module_has_the_docstring_of_its_file(source, language, docstring):
    assert module_of(source, language).docstring == docstring


@pytest.mark.parametrize(
    ("path", "name"), [("shop/__init__.py", "shop"), ("web/index.js", "web"), ("index.js", "index")]
)
def test_a_module_has_the_name_of_its_file_or_folder(path, name):
    assert module_of("open();\nread();\nclose();\n", "javascript", path).name == name


def test_two_statements_are_not_a_module():
    assert documents_of("import os\nopen()\nread()\n", "python") == []


def test_a_list_of_exported_names_is_not_a_document():
    assert documents_of("__all__ = [\n    'a',\n    'b',\n    'c',\n]\n", "python") == []
