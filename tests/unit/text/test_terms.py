"""Documents and queries are analysed into the same terms."""

from codesearch.languages import language_named
from codesearch.store.postings import make_block
from codesearch.text.terms import FIELDS, MAX_TERM_LENGTH, compounds, document_chunks, query_terms
from codesearch.types import Document

PYTHON = language_named("python")


def document(**fields: str) -> Document:
    empty = dict.fromkeys(("path", "name", "qualified_name", "signature", "docstring", "code", "context"), "")
    places = {"start_line": 1, "end_line": 1, "last_line": 1, "start_byte": 0, "end_byte": 0}
    return Document(**{**empty, "language": "python", "kind": "function", **fields}, **places)


def counted(only: Document) -> dict[str, dict[str, int]]:
    """Return field -> term -> frequency, as an index stores them."""
    block = make_block([document_chunks(only)])
    found: dict[str, dict[str, int]] = {field: {} for field in FIELDS}
    for key, frequency in zip(block.keys.tolist(), block.frequencies.tolist(), strict=True):
        found[FIELDS[key % len(FIELDS)]][block.terms[key // len(FIELDS)]] = frequency
    assert block.field_lengths.tolist() == [[sum(terms.values()) for terms in found.values()]]
    return found


def terms_of(**fields: str) -> dict[str, dict[str, int]]:
    return counted(document(**fields))


def test_each_field_is_counted_separately():
    fields = terms_of(
        path="lib/io_tools.py",
        qualified_name="Reader.readAll",
        signature="def readAll(self, path)",
        docstring="Read the file, read it all.",
        code="return self.file.read()",
        context="Files of tools.",
    )
    assert fields["name"] == {"reader": 1, "readall": 1, "read": 1, "all": 1}
    assert fields["signature"] == {"def": 1, "read": 1, "all": 1, "self": 1, "path": 1}
    assert fields["docstring"] == {"read": 6, "the": 3, "file": 3, "it": 3, "all": 3}
    assert fields["body"] == {"return": 1, "self": 1, "file": 1, "read": 1}
    assert fields["context"] == {"library": 1, "io": 1, "tool": 2, "file": 1, "of": 1}


def test_the_first_paragraph_of_documentation_counts_three_times():
    text = "Delete a tree.\n\nErrors of the tree are ignored."
    counts = terms_of(docstring=text)["docstring"]
    assert (counts["delet"], counts["tree"], counts["error"]) == (3, 4, 1)


def test_only_names_and_queries_have_compounds():
    assert terms_of(qualified_name="to_string")["name"] == {"tostr": 1, "to": 1, "string": 1}
    assert terms_of(code="to_string")["body"] == {"to": 1, "string": 1}
    assert query_terms("to_string") == ["tostr", "string"]


def test_a_frequency_is_capped_at_255():
    assert terms_of(code="x " * 400)["body"] == {"x": 255}


def test_character_runs_too_long_to_be_words_are_dropped():
    assert terms_of(code="a" * MAX_TERM_LENGTH + " " + "b" * (MAX_TERM_LENGTH + 1))["body"] == {
        "a" * MAX_TERM_LENGTH: 1
    }


def test_a_query_keeps_the_order_of_its_words_and_drops_repetitions():
    assert query_terms("Parse JSON, then parse json") == ["pars", "json"]


def test_inflections_are_one_term_in_documents_and_queries():
    assert terms_of(code="Converts the lists, converting each.")["body"]["convert"] == 2
    assert query_terms("convert converted lists, list") == ["convert", "list"]


def test_stop_words_are_dropped_unless_there_are_no_other_words():
    assert query_terms("how to sort a list") == ["sort", "list"]
    assert query_terms("do it for me") == ["do", "it", "for", "me"]


def test_a_query_without_words_has_no_terms():
    assert query_terms("?!  ->") == []


def test_a_document_also_has_the_words_of_its_compounds():
    assert terms_of(qualified_name="copytree")["name"] == {"copytre": 1, "copy": 1, "tree": 1}
    assert terms_of(code="filenames")["body"] == {"filenam": 1, "file": 1, "name": 1}
    assert query_terms("filename") == ["filenam"]


def test_every_known_compound_is_its_two_words_joined():
    for compound, parts in compounds().items():
        assert "".join(parts) == compound and len(parts) == 2
