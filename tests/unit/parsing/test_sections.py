"""Files of documentation and configuration as documents: names, spans, texts."""

import pytest

from codesearch.languages import language_named, language_of_path, language_of_source
from codesearch.parsing.extract import extract
from codesearch.parsing.identifiers import words
from codesearch.parsing.sections import front_matter_end, refuse_text
from codesearch.types import TEST, Document
from tests.unit.parsing.test_extract import extract_sample


def parsed(text: str | bytes, path: str) -> list[Document]:
    source = text.encode() if isinstance(text, str) else text
    return extract(source, path, language_of_path(path, "all")).documents


def test_the_searched_text_excludes_the_heading_and_link_targets():
    text = extract_sample("guide.md")[2].code
    assert words(text) == words("Seconds, see the API and\npython no heading Client timeout 5")


@pytest.mark.parametrize(
    ("text", "path", "names"),
    [
        ("words\n", "docs/plugins/index.md", ["plugins"]),
        ("words\n", "README", ["README"]),
        ("#\nwords\n", "b.md", ["b"]),
        ("\ufeff# One\r\nwords\r\n", "d.md", ["One"]),
    ],
    ids="folder whole empty ends".split(),
)
def test_the_name_of_a_section(text, path, names):
    assert [document.qualified_name for document in parsed(text, path)] == names


def test_a_long_section_is_cut_after_blank_lines_and_keeps_its_name():
    paragraphs = "\n\n".join(f"Paragraph {number}.\n" + "Words of it.\n" * 20 for number in range(30))
    documents = parsed(f"# Long\n{paragraphs}", "a.md")
    assert len(documents) > 2 and {document.name for document in documents} == {"Long"}
    assert all(document.signature.startswith("Paragraph") for document in documents[1:])
    sizes = [document.end_byte - document.start_byte for document in documents]
    assert max(sizes) <= 3_125 and min(sizes) >= 600


def test_a_long_setting_is_cut_at_the_smallest_indentation():
    jobs = "".join(f"  job{number}:\n" + "    run: pytest\n" * 30 for number in range(20))
    documents = parsed(f"jobs:\n{jobs}", "ci.yml")
    assert len(documents) > 2
    assert all(document.signature.startswith("job") for document in documents)


def test_copies_of_a_section_share_a_key_and_other_sections_do_not():
    one, two, other = (parsed(text, "a.md")[0] for text in ("# A\ntext", "## A ##\ntext\n\n", "# A\ntexts"))
    assert one.copy_key == two.copy_key != other.copy_key


def test_documents_of_tests_are_flagged():
    assert parsed("# A\ntext", "tests/README.md")[0].flags == TEST


@pytest.mark.parametrize(
    ("source", "path", "reason"),
    [
        (b"key: value\n", "a.yml", None),
        (b"key: value\n" * 10_000, "a.yml", "data"),
        (b'  [{"a": 1}]', "a.json", "data"),
        (b'{"a": 1}', "a.json", None),
        (b"one\ntwo\nthree\n", "words.txt", "data"),
        (b"pytest>=8\nruff==0.9\n", "requirements.txt", "data"),
        (b"A few words of prose.\n", "notes.txt", None),
        (b"# Title\n" + b"A few words of prose.\n" * 10_000, "long.md", None),
        (b"x\ny\n", "short.md", None),
        (b"x = 1\n" * 100_000, "a.py", None),
        (b"x = 1\n" * 100_000, "a.r", None),
        (b"x = 1\n" * 200_000, "a.r", "data"),
        (b"/* @generated */\n.a {}\n", "a.css", "generated"),
        (b"words\n" * 20_000, "a.xyz", "data"),
        (b"words\n", "a.xyz", None),
        (b"words\n" * 20_000, "a.inc", "data"),
        (b"<?php\n" + b"$x = 1;\n" * 20_000, "a.inc", None),
    ],
)
def test_data_is_refused(source, path, reason):
    spec = language_of_source(language_of_path(path, "all"), path, source)
    assert refuse_text(source, path, spec) == reason


@pytest.mark.parametrize("language", ["markdown", "rst", "text", "toml", "yaml", "json", "makefile"])
@pytest.mark.parametrize("source", [b"", b"\n \n\t\n", b"# \n## \n---\n===\n", b"\xff\xfe\xff"])
def test_a_file_without_words_has_no_documents(language, source):
    assert extract(source, "a", language_named(language)).documents == []


def test_a_heading_of_ten_thousand_characters_is_cut():
    (document,) = parsed("# " + "word " * 2_000 + "\ntext here\n", "a.md")
    assert (document.name, document.code) == (("word " * 24)[:120], "text here")


def test_a_deeply_nested_section_is_named_by_its_inner_headings():
    marks = "=-~^\"'+*#:.,;"
    text = "".join(f"Title {level}\n{mark * 9}\nwords {level}\n\n" for level, mark in enumerate(marks))
    last = parsed(text, "a.rst")[-1]
    assert last.qualified_name == " > ".join(f"Title {level}" for level in range(8, 13))


def test_invalid_utf8_is_read_with_one_warning():
    found = extract(b"# Caf\xe9\nr\xe9sum\xe9 words\n", "a.md", language_named("markdown"))
    assert found.warnings == ["a.md: invalid UTF-8 at byte 5: read with replacement characters"]
    assert [document.name for document in found.documents] == ["Caf\ufffd"]


def test_only_the_beginning_of_a_very_long_line_is_searched():
    (document,) = parsed("# A\n" + "word " * 200_000, "a.md")
    assert len(document.code) == 16_384 and document.end_byte == 4 + 1_000_000


def test_a_horizontal_rule_in_the_first_line_is_not_front_matter():
    assert front_matter_end(["---", "", "# Title", "---"]) == 0
    assert front_matter_end(["---", "title: x"]) == 0
    assert front_matter_end(["---", "title: x", "---", "text"]) == 3
    assert front_matter_end([]) == 0
