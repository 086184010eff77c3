"""Which words of a line are marked for a query."""

import pytest

from codesearch.search.snippets import marks
from codesearch.text.terms import query_terms, terms_of


def marked(line: str, query: str) -> list[str]:
    return [line[start:end] for start, end in marks(line, set(query_terms(query)))]


@pytest.mark.parametrize(
    ("query", "line", "expected"),
    [
        ("copy a directory tree", "def copy_tree(src, a):", ["copy", "tree"]),
        ("copied trees", "copyTree(oldTree)", ["copyTree", "Tree"]),
        ("integer to string", "int_to_str = Convert.toString(strength)", ["int", "str", "String"]),
        ("tree", "shutil.copytree(source)", ["copytree"]),
        ("GRÖßE", "größe_2 = 2", ["größe"]),
        ("line 2", "readLine2(line22)", ["Line2", "line"]),
        ("how to", "to = how", ["to", "how"]),
        ("tree", "", []),
        ("...", "x = 1", []),
    ],
)
def test_words_with_a_term_of_the_query_are_marked(query, line, expected):
    assert marked(line, query) == expected


def test_a_line_has_marks_if_and_only_if_it_shares_a_term_with_the_query():
    for line in ("HTTPResponse2_xx = parseXML(__init__)", "naïve_x$y = 42", "\t\x00 été"):
        for term in terms_of(line):
            assert marks(line, {term})
        assert marks(line, {"absent"}) == []
