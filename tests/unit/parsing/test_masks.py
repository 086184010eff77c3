"""Macros and other code that grammars do not understand; `samples.txt` has the definitions around it."""

import time

import pytest

from codesearch.languages import language_named, language_of_path
from codesearch.languages.records import LANGUAGES
from codesearch.parsing import masks
from codesearch.parsing.definitions import collect
from codesearch.parsing.extract import extract
from codesearch.parsing.masks import mask, repair
from tests.unit.parsing.test_extract import SAMPLES, extract_sample

LAST_LINES = {
    "widget.cpp": {"Widget": 4, "Panel": 7, "Pane": 10, "Bits": 11},
    "scene.cpp": {"Scene": 5, "Mode": 7},
    "branches.cpp": {"Pump": 7},
    "tank.cs": {"Tank": 15},
    "writer.cs": {"Writer": 4},
    "job.kt": {"Job": 5, "Op": 11},
    "result.kt": {"Result": 5, "Key": 4, "Text": 6, "Box": 12},
    "routes.kt": {"Routes": 15},
    "sails.rs": {"Sails": 5, "Flags": 23},
}
WHOLE = "task.m paths.c routes.kt visit.ps1".split()


@pytest.mark.parametrize("sample", LAST_LINES)
def test_a_type_ends_at_its_bracket(sample):
    documents = extract_sample(sample)
    types = {document.name: document.last_line for document in documents if document.name[0].isupper()}
    assert {name: types[name] for name in LAST_LINES[sample]} == LAST_LINES[sample]


@pytest.mark.parametrize("sample", WHOLE)
def test_nothing_of_a_file_with_masks_is_left_out(sample):
    assert not extract((SAMPLES / sample).read_bytes(), sample, language_of_path(sample)).is_partial


@pytest.mark.parametrize("language", ["bash", "c", "csharp", "kotlin", "powershell", "rust", "swift"])
def test_every_byte_keeps_its_place_and_its_line(language):
    samples = [(SAMPLES / sample).read_bytes() for sample in {*LAST_LINES, *WHOLE, "extern.c", "cases.cpp"}]
    for data in (*samples, b"= {\n}", "é\r\n".encode()):
        for text in (mask(data, language), repair(mask(data, language), language)):
            assert [len(line) for line in text.split(b"\n")] == [len(line) for line in data.split(b"\n")]


UNITS = [
    "#if A {\n", "#ifdef A\n", "MACRO(", "class A B ", "A B C D ", '"\\"', "/*", "'", "a!{", "a! {\n", "TEST(\"",
    "struct a:", "r#\"", "R\"a(", "if #[a", "} else {", "//\n", "context(", "is a if ", "$$", "AAAA\n",
    "TEST(a,", "int (a", "\\\n", " ", "\n", "fn a {", ") AAAA(", "data(",
    "template<,AAA(", ", const struct a ", "\n for_each(", "extension(a){", "#if\n a\n", "${a{b}", "a AAAA ",
    "DEPRECATED(", "AVAILABLE(a(),", "static const ", " get(a", "={ ",
    "a?.b", "operator ", ":end", "#else", "function a.", "type ",
]  # fmt: skip


@pytest.mark.parametrize(
    "language", ["c", "csharp", "haskell", "julia", "kotlin", "luau", "powershell", "rust"]
)
def test_the_time_grows_with_the_bytes(language):
    for unit in UNITS:
        data = (unit * (30_000 // len(unit))).encode()
        began = time.process_time()
        repair(mask(data, language), language)
        assert time.process_time() - began < 0.5, unit


def test_a_tree_without_errors_is_not_repaired():
    assert collect(b"fun f() { g(data) }\n", language_named("kotlin")).regions == []


def test_the_parser_knows_each_language_with_masks():
    assert {spec.mask for spec in LANGUAGES if spec.mask} == {
        "rust",
        "swift",
        *masks._FIRST,
        *masks._BLANKED,
        *masks._REPLACED,
    }
