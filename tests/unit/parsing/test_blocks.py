"""Files without a parser -> blocks with the names, kinds and documentation that their lines show."""

from time import process_time

import pytest

from codesearch.config import ParseConfig
from codesearch.languages import language_of_path
from codesearch.languages.records import LANGUAGES
from codesearch.parsing.blocks import block_documents
from codesearch.parsing.extract import extract
from tests.unit.parsing.test_extract import SAMPLES


def blocks(source, name, limits=None):
    return list(
        block_documents(source.encode(), name, language_of_path(name, "all"), limits or ParseConfig())
    )


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


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("a.pl", 'my $text = <<~"END" . $x;\n{fake}\n  END\n'),
        ("a.pl", "=begin comment\n\n{fake}\n\n=cut\n\n"),
        ("a.r", 'doc <- "\n{fake}\n"\n'),
        ("a.clj", '(println "It has\n{fake}\nlines.")\n'),
        ("a.tcl", 'if {[regexp {"} $x]} {}\nset usage "Usage:\n{fake}\n"\n'),
        ("a.fish", 'set text "\n{fake}\n"\n'),
        ("a.groovy", "println('''\n{fake}\n''')\n"),
        ("a.nim", 'const text = """\n{fake}\n"""\n'),
        ("a.vim", "let text =<< trim END\n{fake}\nEND\n"),
        ("a.sql", "DO $body$\n{fake}\n$body$;\n"),
    ],
)
def test_no_block_begins_in_a_text(path, source):
    """A text that does not end hides nothing."""
    fake = {"a.clj": "(defn fake [] 1)", "a.sql": "CREATE TABLE fake (id int);"}.get(
        path, "function fake() {"
    )
    real = fake.replace("fake", "real")
    whole = f"{source.replace('{fake}', fake)}{real}\n"
    assert [d.name for d in blocks(whole, path) if d.kind != "module"] == ["real"]
    cut = source.replace("{fake}", fake).partition(fake)[0]
    assert "real" in [d.name for d in blocks(f"{cut}{real}\n", path)] or path == "a.pl" and "=begin" in source


def test_no_block_begins_behind_the_end_of_the_code():
    found = blocks("sub real { 1 }\n__END__\nsub fake {\n  1\n}\n", "a.pl")
    assert [(d.name, d.start_line, d.end_line) for d in found] == [("real", 1, 1), ("__END__", 2, 5)]


@pytest.mark.parametrize(
    ("path", "line", "name"),
    [
        ("a.wgsl", "@vertex fn vs_main(@location(0) p: vec3f) -> Out {", "vs_main"),
        ("a.glsl", "void main() { color = vec4(1.0); }", "main"),
        ("a.graphql", "directive @auth(role: Role) on FIELD", "auth"),
        ("a.tf", 'check "health" {', "health"),
        ("a.gleam", "pub opaque type Id {", "Id"),
        ("a.erl", "-record(state, {count = 0}).", "state"),
        ("a.s", "helper:", "helper"),
        ("a.bat", ":build_all", "build_all"),
        ("justfile", "build target='x':", "build"),
        ("a.pas", "constructor TShape.Create(const A: string);", "TShape.Create"),
        ("a.pl", "package Foo::Bar;", "Foo::Bar"),
        ("a.sol", "    modifier onlyOwner() {", "onlyOwner"),
        ("a.sv", "  function automatic int add(int a, int b);", "add"),
        ("a.coffee", "square = (x) ->", "square"),
        ("a.thrift", "exception Bad {", "Bad"),
        ("a.vb", "Public Shared Sub Main()", "Main"),
        ("a.razor", "  private void OnClick() {", "OnClick"),
        ("a.gd", "func _ready():", "_ready"),
        ("a.h", "class Q_WIDGETS_EXPORT Dialog : public Widget {", "Dialog"),
        ("a.h", "struct MAX_SIZE {", "MAX_SIZE"),
    ],
)
def test_the_first_line_of_a_definition_names_it(path, line, name):
    (found,) = blocks(f"{line}\n        1\n", path)
    assert found.qualified_name.replace(".", "::") == name.replace(".", "::")


@pytest.mark.parametrize("spec", LANGUAGES, ids=lambda spec: spec.name)
def test_a_language_whose_grammar_is_missing_is_cut_into_blocks(spec, monkeypatch):
    monkeypatch.setattr("codesearch.parsing.extract.is_installed", lambda _: False)
    source = b"class Shape {\n  function area(r) {\n    return 3 * r // <?\n  }\n}\n"
    found = extract(source, f"a{spec.extensions[0]}", spec)
    assert [(d.kind, d.name) for d in found.documents] == [("class", "Shape"), ("method", "area")]


def test_the_bytes_of_a_block_are_its_text():
    for sample in SAMPLES.iterdir():
        source = sample.read_bytes()
        for document in block_documents(
            source, sample.name, language_of_path(sample.name, "all"), ParseConfig()
        ):
            assert source[document.start_byte : document.end_byte].decode() == document.code


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
    list(block_documents(f"{line}\n".encode() * 600, "a.r", language_of_path("a.r"), ParseConfig()))
    assert process_time() - started < 2


def test_blocks_nested_without_end_take_little_time():
    source = "".join(f"{' ' * depth}class a{depth}\n" for depth in range(250))
    started = process_time()
    found = blocks(source, "a.r")
    assert (len(found), len(found[-1].qualified_name.split("."))) == (250, 17)
    assert process_time() - started < 5


def test_a_block_has_the_lines_of_the_blocks_in_it_and_ends_at_its_end():
    source = "class Basket\n  def add(x)\n    x\n  end\n  getter size : Int32\n  def one; 1 end\n  limit = 2\nend\n"
    found = blocks(source, "basket.cr")
    assert [(d.qualified_name, d.start_line, d.end_line, d.last_line) for d in found] == [
        ("Basket", 1, 1, 8),
        ("Basket.add", 2, 4, 4),
        ("Basket.getter size : Int32", 5, 5, 5),
        ("Basket.one", 6, 6, 6),
        ("Basket.limit = 2", 7, 7, 7),
    ]


def test_a_head_over_several_lines_does_not_end_the_block():
    source = (
        "contract A {\n  function pay(\n    uint x\n  )\n    external\n  {\n    x;\n  }\n\n  uint y;\n}\n"
    )
    found = blocks(source, "a.sol")
    assert [(d.name, d.start_line, d.last_line) for d in found] == [
        ("A", 1, 11),
        ("pay", 2, 8),
        ("uint y", 10, 10),
    ]


def test_a_directive_at_the_margin_ends_no_block():
    source = (
        "module top;\n  task wait_for;\n`ifdef SLOW\n    #10;\n`endif\n  endtask\n  wire done;\nendmodule\n"
    )
    found = blocks(source, "top.sv")
    assert [(d.name, d.start_line, d.last_line) for d in found] == [
        ("top", 1, 8), ("wait_for", 2, 6), ("wire done", 7, 7),
    ]  # fmt: skip
