"""Names split into subtokens, and qualified names into qualifier and name."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codesearch.parsing.identifiers import receiver_type, split_identifier, split_qualified, subtokens, words

IDENTIFIERS = st.text(string.ascii_letters + string.digits + "_$", max_size=30)


@pytest.mark.parametrize(
    ("identifier", "parts"),
    [
        ("parseHTTPResponse", ("parse", "http", "response")),
        ("XMLReader2", ("xml", "reader", "2")),
        ("snake_case_", ("snake", "case")),
        ("SCREAMING_CASE", ("screaming", "case")),
        ("$el", ("el",)),
        ("", ()),
    ],
)
def test_identifiers_split_at_case_changes_digits_and_separators(identifier, parts):
    assert split_identifier(identifier) == parts


@given(IDENTIFIERS)
def test_joined_subtokens_are_the_lower_cased_ascii_identifier(identifier):
    assert "".join(split_identifier(identifier)) == identifier.replace("_", "").replace("$", "").lower()


@given(st.text(max_size=60))
def test_subtokens_are_lower_case_and_without_separators(text):
    for part in subtokens(text):
        assert part
        assert part == part.lower()
        assert not set(part) & set("_$ \t\n.-")


@given(st.text(max_size=60))
def test_the_subtokens_of_a_text_are_those_of_its_words(text):
    assert subtokens(text) == [part for word in words(text) for part in split_identifier(word)]


@pytest.mark.parametrize(
    ("text", "separator", "parts"),
    [
        ("area", ".", ("", "area")),
        ("Shape.prototype.area", ".", ("Shape", "area")),
        ("module.exports.run", ".", ("module.exports", "run")),
        ("'quoted key'", ".", ("", "quoted key")),
        ("Foo::Bar", ".", ("Foo", "Bar")),
        ("Shape::~Shape", "::", ("Shape", "~Shape")),
        ("a::Box<std::vector<T>>::get", "::", ("a::Box", "get")),
        ("Shape::operator<<", "::", ("Shape", "operator<<")),
        ("Shape::operator ()", "::", ("Shape", "operator()")),
        ("Shape::operator bool() const", "::", ("Shape", "operator bool")),
        ("std::vector<int> Shape:: corners", "::", ("Shape", "corners")),
        ("operator", ".", ("", "operator")),
        ("operator.add", ".", ("operator", "add")),
        ("+", ".", ("", "+")),
    ],
)
def test_a_qualified_name_splits_before_its_last_part(text, separator, parts):
    assert split_qualified(text, separator) == parts


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("(r *Recv[T])", "Recv"),
        ("(Recv)", "Recv"),
        ("()", ""),
        ("M.sub", "M.sub"),
        ("List<Map<K, V>>?", "List"),
    ],
)
def test_a_receiver_is_reduced_to_its_type(text, name):
    assert receiver_type(text) == name
