"""Files without a parser -> blocks with the names, kinds and documentation that their lines show."""

from __future__ import annotations

from time import process_time

import pytest

from codesearch.config import ParseConfig
from codesearch.parsing.blocks import block_documents
from codesearch.parsing.extract import extract
from codesearch.parsing.languages import LANGUAGES, language_of_path

# One block per line: kind, qualified name, first and last line.
BLOCKS = {
    "shop.proto": (
        """syntax = "proto3";

// A user of the shop.
message User {
  string name = 1;
  enum Role { ADMIN = 0; }
}

/* Manages users.
   Slowly. */
service Users {
  // Find one by its id.
  rpc Get(GetRequest) returns (User);
  rpc List (ListRequest) returns (stream User) {
    option deadline = 3;
  }
}
""",
        """
module shop 1-1
class User 4-5
class User.Role 6-6
class Users 11-11
method Users.Get 13-13
method Users.List 14-16
""",
    ),
    "shop.graphql": (
        '''"""A user."""
type User implements Node @key(fields: "id") {
  posts(first: Int = 10): [Post!]!
}

extend type Query { me: User }
input NewUser { name: String! }
query Viewer($id: ID!) {
  user(id: $id) { name }
}
''',
        """
class User 2-4
class Query 6-6
class NewUser 7-7
function Viewer 8-10
""",
    ),
    "shop.sql": (
        """-- Users of the shop.
CREATE TABLE IF NOT EXISTS shop.users (
    id serial PRIMARY KEY
);

CREATE OR REPLACE FUNCTION total(order_id int) RETURNS numeric AS $$
DECLARE
    result numeric;
BEGIN

    RETURN result;
END;
$$ LANGUAGE plpgsql;

create view "active" as select * from users;

create table orders (
    id serial
);
CREATE INDEX by_user ON orders (
    user_id
);

ALTER TABLE users ADD COLUMN age int;
""",
        """
class shop.users 2-4
function total 6-13
class active 15-15
class orders 17-19
module CREATE INDEX by_user ON orders 20-24
""",
    ),
    "shop.r": (
        """library(stats)

#' The sum of the lines.
total <- function(lines) {
  add <- function(x) x + 1

  sum(lines)
}

print(total(1))
""",
        """
module shop 1-1
function total 4-8
module print(total(1)) 10-10
""",
    ),
    "shop.clj": (
        """(ns shop.core)

(defn ^:private total
  "The sum of the lines."
  [lines]
  (reduce + lines))

(defmethod area :square [s] (* s s))
(def ^{:added "1.4"} rate 0.2)
""",
        """
module shop 1-1
function total 3-6
function area 8-8
function rate 9-9
""",
    ),
    "shop.erl": (
        """-module(shop).

%% The sum of the lines.
-spec total([line()]) ->
    number().
total([]) -> 0;
total([Line | Rest]) when Line > 0 ->
    Line + total(Rest).
""",
        """
module shop 1-1
function total 4-8
""",
    ),
    "CMakeLists.txt": (
        """project(demo)

# Add a test.
function(add_demo_test name)
  add_test(NAME ${name})
endfunction()

add_demo_test(a)
""",
        """
module CMakeLists 1-1
function add_demo_test 4-6
module add_demo_test(a) 8-8
""",
    ),
    "shapes.f90": (
        """module shapes
contains
  ! Area of a circle.
  pure function area(r) result(a)
    a = 3.14 * r**2
  end function area
end module shapes
""",
        """
class shapes 1-2
method shapes.area 4-6
""",
    ),
    "Token.sol": (
        """pragma solidity ^0.8.0;

/// @title A token
contract Token is ERC20 {
    /// Move tokens.
    function transfer(address to) public {
        if (to != owner) {
            emit Moved(to);
        }
    }
}
""",
        """
module Token 1-1
class Token 4-4
method Token.transfer 6-10
""",
    ),
    "shop.nim": (
        '''const help* = """
proc no() =
"""

## The sum of the lines.
proc total*(lines: seq[int]): int =
  lines.sum
''',
        """
module shop 1-3
function total 6-7
""",
    ),
    "shop.vim": (
        """" Location: autoload/shop.vim

function! shop#total(lines) abort
  return a:lines
endfunction
""",
        """
module shop 1-1
function shop#total 3-5
""",
    ),
    "shop.fs": (
        """/// Sum of the lines.
let total (lines: Line list) =
    let sum x = 0
    lines |> List.map (fun line -> line.price)

type Order =
    { Id: int }
""",
        """
function total 2-4
class Order 6-7
""",
    ),
}


def blocks(source, name, limits=None):
    return list(
        block_documents(source.encode(), name, language_of_path(name, "all"), limits or ParseConfig())
    )


@pytest.mark.parametrize("name", BLOCKS)
def test_every_definition_is_a_block_with_its_name(name):
    source, told = BLOCKS[name]
    found = [f"{d.kind} {d.qualified_name} {d.start_line}-{d.end_line}" for d in blocks(source, name)]
    assert found == told.strip().splitlines()


@pytest.mark.parametrize(
    ("name", "block", "docstring"),
    [
        ("shop.proto", "User", "A user of the shop."),
        ("shop.proto", "Users", "Manages users.\nSlowly."),
        ("shop.graphql", "User", "A user."),
        ("shop.r", "total", "The sum of the lines."),
        ("shop.clj", "total", "The sum of the lines."),
        ("shop.erl", "total", "The sum of the lines."),
        ("shop.sql", "users", "Users of the shop."),
    ],
)
def test_comments_above_a_block_and_a_string_at_its_start_are_its_documentation(name, block, docstring):
    documents = {document.name: document.docstring for document in blocks(BLOCKS[name][0], name)}
    assert documents[block] == docstring


def test_other_text_is_cut_at_blank_lines_into_sections_named_by_their_first_line():
    source = "".join(f"Chapter {number}: of things.\n{'Words and words. ' * 60}\n\n" for number in range(6))
    found = blocks(source, "notes.xyz")
    assert [(d.kind, d.name, d.start_line, d.end_line) for d in found] == [
        ("section", "notes", 1, 5),
        ("section", "Chapter 2: of things.", 7, 11),
        ("section", "Chapter 4: of things.", 13, 17),
    ]


def test_a_byte_order_mark_is_no_part_of_the_first_definition():
    (found,) = blocks("\ufeffCREATE TABLE users (\n    id int\n);\n", "shop.sql")
    assert (found.name, found.kind, found.signature) == ("users", "class", "CREATE TABLE users (")


@pytest.mark.parametrize("spec", LANGUAGES, ids=lambda spec: spec.name)
def test_a_language_whose_grammar_is_missing_is_cut_into_blocks(spec, monkeypatch):
    monkeypatch.setattr("codesearch.parsing.extract.is_installed", lambda _: False)
    source = b"class Shape {\n  function area(r) {\n    return 3 * r\n  }\n}\n"
    found = extract(source, f"a{spec.extensions[0]}", spec)
    assert [(d.kind, d.name) for d in found.documents] == [("class", "Shape"), ("method", "area")]


def test_the_bytes_of_a_block_are_its_text():
    for name, (source, _) in BLOCKS.items():
        for document in blocks(source, name):
            assert source.encode()[document.start_byte : document.end_byte].decode() == document.code


@pytest.mark.parametrize(
    "line",
    [
        "def a" * 200,
        "a " * 400,
        "(" * 500,
        "a.b<c>" * 100,
        "/* ",
        "class a\n",
        "\t" * 300 + "def a",
        "x(y" * 90,
    ],
)
def test_strange_lines_take_little_time(line):
    started = process_time()
    list(block_documents(f"{line}\n".encode() * 2_000, "a.r", language_of_path("a.r"), ParseConfig()))
    assert process_time() - started < 5


def test_blocks_nested_without_end_take_little_time():
    source = "".join(f"{' ' * depth}class a{depth}\n" for depth in range(250))
    started = process_time()
    found = blocks(source, "a.r")
    assert (len(found), len(found[-1].qualified_name.split("."))) == (250, 17)
    assert process_time() - started < 5
