"""A name is found where it is a whole identifier of the language."""

from time import process_time
from types import SimpleNamespace

import pytest

from codesearch.structure.meaning import (
    SourceFile,
    block_comments,
    in_comment,
    is_whole,
    occurrences,
    qualifier,
)
from codesearch.structure.receivers import Types


@pytest.mark.parametrize(
    ("text", "name", "language", "places"),
    [
        ("get getter xget get_ get2 get", "get", "python", [0, 26]),
        ("$get get$ get", "get", "javascript", [10]),
        ("$get", "get", "php", [1]),
        ("empty? empty empty!=1", "empty", "ruby", [0, 7, 13]),
        ("empty? empty", "empty?", "ruby", [0]),
        ("save! save", "save!", "ruby", [0]),
        ("save! save", "save", "ruby", [0, 6]),
        ("read-line read", "read", "lisp", [10]),
        ("read-line xread-line", "read-line", "lisp", [0]),
        ("fold' fold", "fold", "haskell", [6]),
        ("größe größer größe", "größe", "python", [0, 13]),
        ("“get” get— éget", "get", "python", [1, 6]),
        ("a + b", "+", "haskell", [2]),
        ("x.get(get)", "get", "go", [2, 6]),
    ],
)
def test_a_longer_identifier_is_no_occurrence(text, name, language, places):
    assert [at for at in occurrences(text, name) if is_whole(text, at, len(name), language)] == places


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("self.push", "self"),
        ("a->push", "a"),
        ("Stack::push", "Stack"),
        ("$this->push", "this"),
        ("item?.push", "item"),
        ("items[0].push", ""),
        ("(push", None),
        ("...push", None),
        ("push", None),
        ("App\\push", "App"),
    ],
)
def test_the_word_before_a_name_is_what_it_is_joined_to(text, word):
    assert qualifier(text, text.index("push")) == word


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("x = 1  # get", "python", True),
        ("x // get", "python", False),
        ("\t/// <see get", "csharp", True),
        ("/**\n * Calls get", "java", True),
        ("/*\n   Scans get", "go", True),
        ("/* a\n b */ get", "go", False),
        ("f('src/*.js', get", "javascript", False),
        ("// all of src/*\nget", "javascript", False),
        ("for f in src/*; do get", "bash", False),
        ('def f():\n    """Calls\n    get', "python", True),
        ('def f():\n    """Calls."""\n    get', "python", False),
        ('x = """\nget', "python", False),
        ('x = """\n"""\nget', "python", False),
        ('f(\n    """get', "python", False),
        ('@doc """\nCalls get', "elixir", True),
        ("=begin\nget", "ruby", True),
        ("=begin\n=end\nget", "ruby", False),
        ("=head1 NAME\n\nget", "perl", True),
        ("--[[ a\nget", "lua", True),
        ("{- a\nget", "haskell", True),
        ("(* a\nget", "ocaml", True),
        ("<!-- a\nget", "html", True),
        ("<!-- a -->get", "html", False),
        ("#| a\nget", "lisp", True),
        ("a * get", "java", False),
        ("f(/* n= */ get", "c", False),
        ("f(/* get", "c", True),
        ('"http://get', "go", False),
        ("#include get", "c", False),
        ("-- get", "lua", True),
        ("i--; get", "php", False),
        ("# get", "php", True),
        ("// get", "php", True),
        ('"#{get', "ruby", False),
    ],
)
def test_a_comment_is_known_by_its_mark(text, language, expected):
    source = f"other // # -- line\n{text}"
    blocks = block_comments(source, language)
    assert in_comment(source, source.rindex("get"), language, blocks) is expected


def file_of(source: str, language: str) -> SourceFile:
    stored = SimpleNamespace(path="a", language=language)
    return SourceFile(SimpleNamespace(segment=SimpleNamespace(root=""), file=stored), source.encode(), False)


@pytest.mark.parametrize(
    ("source", "language", "expected"),
    [
        ("require('./get')(x)", "javascript", True),
        ("f(`a ${get}`)", "javascript", False),
        ("f(`a ${x} get`)", "javascript", True),
        ("a('x', get, 'y')", "javascript", False),
        ("// don't\nget('x')", "javascript", False),
        ('"""Calls\nget."""', "python", True),
        ('f"{x} {get(y)}"', "python", False),
        ("'{get}'", "python", True),
        ("# it's\nget('x')", "python", False),
        ('"#{get}"', "ruby", False),
        ('"$(get a)"', "bash", False),
        ('"$this->get()"', "php", False),
        ("<'a>(x: &'a get) 'b", "rust", False),
        ("'\"' get \"", "c", False),
        ('"get', "c", False),
        ('<a @click="get">', "vue", False),
    ],
)
def test_the_text_of_a_string_is_known(source, language, expected):
    assert file_of(source, language).is_text(source.index("get")) is expected


@pytest.mark.parametrize("text", ['"\\', "`\\", "/*", '"""\\', "'", '"""'])
def test_a_hostile_source_is_read_once(text):
    source = text * 20_001  # Many seconds, if each mark were looked for to the end of the source.
    started = process_time()
    for language in ("python", "javascript", "rust"):
        file = file_of(source, language)
        assert len(file.strings) + len(file.comments) < len(source)
    assert process_time() - started < 5


def test_the_bases_of_a_type_have_an_order_that_no_hash_changes():
    signature = "class Cart extends Store implements Ordered, Basket, Iterable, Drawn, Audited"
    row = SimpleNamespace(kind="class", signature=signature)
    file = SimpleNamespace(source="super.add()", language="java", type_around=lambda line: "Cart")

    bases = Types(lambda name: [SimpleNamespace(row=row)]).before(file, 6, 1)

    assert [base for base in bases if base[0].isupper()] == [
        *("Audited", "Basket", "Drawn", "Iterable", "Ordered", "Store")
    ]
