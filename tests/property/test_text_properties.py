"""Documents of any file without a parser are line ranges of that file, in order."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codesearch.languages.records import BLOCK_LANGUAGES, OTHER, TEXT_LANGUAGES
from codesearch.parsing.extract import extract
from codesearch.types import KINDS

MARKS = """# A|## B ##|Title|=====|-----|~~~~|---|```|- ```|~~~|<!--|-->|| |key:|  sub: 1|[table]|[[t.x]]|  "k": {
FROM a AS b|all: x|# note|title: T|(defn f|  def g(x)|class A {|}|/*|*/|(*|*)|@a|f(x) ->|let f x =|\"\"\"
function h() {""".replace("\n", "|").split("|")
LINES = st.one_of(
    st.sampled_from(MARKS), st.text(st.characters(codec="utf-8"), max_size=12), st.just("word " * 900)
)
SOURCES = st.lists(LINES, max_size=25).map("\n".join).map(str.encode) | st.binary(max_size=60)


@pytest.mark.parametrize("spec", [*TEXT_LANGUAGES, BLOCK_LANGUAGES[0], OTHER], ids=lambda spec: spec.name)
@given(source=SOURCES)
def test_documents_of_a_text_are_line_ranges_of_it_in_order(spec, source):
    lines = source.split(b"\n")
    last = 0
    for document in extract(source, "folder/file.x", spec).documents:
        assert last < document.start_line <= document.end_line <= len(lines)
        place = lines[document.start_line - 1 : document.end_line]
        assert source[document.start_byte : document.end_byte] == b"\n".join(place)
        assert document.name and document.qualified_name.endswith(document.name) and document.kind in KINDS
        assert len(document.name) <= 120 and len(document.signature) <= 300
        last = document.end_line
