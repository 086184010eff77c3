"""A line is never lost: each line with a word is in a document, or it belongs to an import, a comment or a heading."""

import re
import tarfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codesearch.config import ParseConfig
from codesearch.languages import is_installed, language_of_path, language_of_source, load_parser
from codesearch.languages.records import Language
from codesearch.parsing import definitions
from codesearch.parsing.extract import extract
from codesearch.parsing.masks import mask
from codesearch.parsing.sections import refuse_text
from codesearch.parsing.walker import refuse_content

SAMPLES = Path(__file__).parents[1] / "unit" / "parsing" / "samples"
SOURCES = Path(__file__).parents[2] / ".." / "shared" / "data" / "semble" / "sources.tar.zst"
WORD = re.compile(rb"\w")
COMMENT = re.compile(rb"\s*(?:\*|//|/\*|#|--|;|!|%|@|<|\{-|\(\*)|.*\*/|\s*end\b")
OPENS = re.compile(rb".*[{(\[=]\s*\Z")
IMPORT = re.compile(
    rb"""\s*(?:
        \#\s*(?:include|if|ifdef|ifndef|elif|else|endif|pragma|undef)\b
      | (?:import|from|use|using|package|namespace|mod|module|export\s+\*|extern\s+(?:"C"|crate))(?![\w.(=])
      | (?:require|require_relative|require_once|include|include_once|load|source)\b\s*[('"$]
      | (?:['"]use\s\w+['"]|declare\s*\(|set\s+-|<\?php|\?>)
      | [^('"]*=\s*(?:require|@import)\b
      | (?:\{-\#|@file:|\#!?\[)
      | (?:export\s+default\s+\w+|(?:module\.)?exports(?:\.\w+)?\s*=\s*\w+|return\s+\w+
        |local\s+\w+\s*=\s*\{\s*\})\s*;?\s*$
    )""",
    re.VERBOSE,
)
"""Lines that name other files, or that export a name."""
ATTRIBUTE = re.compile(rb"\s*(?:\[|\w+\s*::)")
"""Lines that belong to what stands below them: attributes of C# and type signatures of Haskell."""
NO_STATEMENTS = (
    "comment line_comment block_comment multiline_comment hash_bang_line shebang_line ERROR php_tag import "
    "import_statement import_from_statement future_import_statement import_declaration import_header package_clause "
    "package_declaration package_header use_declaration extern_crate_declaration using_directive "
    "namespace_use_declaration preproc_include"
).split()
"""Nodes at the top level of a file that are imports and comments."""
DAMAGE = ["}", "{", "))", "fun when(", '"', "class class {", "x ] y", "int f(", "=> ] a", "where if z"]
PATHS = [
    path for path in sorted(SAMPLES.iterdir()) if (spec := language_of_path(path.name)) and is_installed(spec)
]


def kept_lines(source: bytes, path: str, spec: Language) -> tuple[set[int], set[bytes]]:
    """Return the rows of all documents, and the lines of their texts."""
    documents = extract(source, path, spec).documents
    rows = [range(document.start_line - 1, document.last_line) for document in documents]
    text = "\n".join(f"{document.code}\n{document.docstring}" for document in documents)
    return set().union(*rows), {line.strip() for line in text.encode().split(b"\n")}


def rows_without_statements(source: bytes, spec: Language) -> set[int]:
    """Return the rows of imports, comments, attributes, docstrings, lists of names and heads of scopes."""
    found = definitions.collect(source, spec)
    captures = found.definitions.values()
    tree = load_parser(spec).parse(mask(source, spec.mask))
    spans = [
        *found.comment_spans,
        *found.attribute_ends.items(),
        *found.docstrings.values(),
        *((node.start_byte, node.end_byte) for node in tree.root_node.named_children
          if node.type in NO_STATEMENTS and not node.is_error),
        *((one.start, one.end if one.name == "__all__" else source.find(b"{", one.start, one.end)) for one in captures
          if one.name == "__all__" or one.kind in ("scope", "owner")),
    ]  # fmt: skip
    rows = {row for start, end in spans for row in rows_between(source, start, max(start, end))}
    return rows | {one.row for one in captures}


def rows_between(source: bytes, start: int, end: int) -> range:
    first = source.count(b"\n", 0, start)
    return range(first, first + source.count(b"\n", start, end) + 1)


@settings(max_examples=30, derandomize=True)
@given(path=st.sampled_from(PATHS), damage=st.sampled_from(DAMAGE), data=st.data())
def test_a_damaged_line_costs_no_other_line(path, damage, data):
    source = path.read_bytes()
    spec = language_of_source(language_of_path(path.name), path.name, source)
    lines = source.split(b"\n")
    before, _ = kept_lines(source, path.name, spec)
    row = data.draw(st.integers(0, len(lines)))
    damaged = b"\n".join([*lines[:row], damage.encode(), *lines[row:]])
    rows, text = kept_lines(damaged, path.name, spec)
    lost = [
        line
        for at, line in enumerate(lines)
        if at in before and (at + (at >= row)) not in rows and line.strip() not in text
        and WORD.search(line) and not COMMENT.match(line) and not IMPORT.match(line)
        and not OPENS.match(line) and not ATTRIBUTE.match(line)
    ]  # fmt: skip
    assert lost == []


@pytest.mark.thorough
def test_no_line_of_thirty_repositories_is_lost():
    zstandard = pytest.importorskip("zstandard")
    if not SOURCES.exists():
        pytest.skip("needs the sources of ../shared/data/semble")
    lost = []
    with (
        SOURCES.open("rb") as packed,
        tarfile.open(
            fileobj=zstandard.ZstdDecompressor(max_window_size=2**27).stream_reader(packed), mode="r|"
        ) as archive,
    ):
        for member in archive:
            content = archive.extractfile(member) if member.isfile() else None
            spec = language_of_path(member.name)
            if content is None or spec is None:
                continue
            source = content.read()
            spec = language_of_source(spec, member.name, source)
            is_refused = refuse_content(source, spec.name, ParseConfig()) or refuse_text(
                source, member.name, spec
            )
            if is_refused or not is_installed(spec) or spec.is_markup:
                continue
            rows, text = kept_lines(source, member.name, spec)
            rows |= rows_without_statements(source, spec)
            lost += [
                (member.name, at + 1, line)
                for at, line in enumerate(source.split(b"\n"))
                if at not in rows and line.strip() not in text
                and WORD.search(line) and not COMMENT.match(line) and not IMPORT.match(line)
                and not OPENS.match(line)
            ]  # fmt: skip
    assert lost == []
