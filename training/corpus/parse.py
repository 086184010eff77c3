"""One source file of a package -> its documented functions as lines to write, and counts of dropped functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import sha1
from os.path import commonprefix
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from codesearch.config import ParseConfig
from codesearch.languages import language_named, load_parser
from codesearch.languages.records import Language
from codesearch.parsing.extract import extract
from codesearch.types import Document
from training.corpus.dedupe import Fingerprint, code_key, fingerprint
from training.corpus.filters import docstring_tokens, documentation_reason, drop_reason, split_docstring
from training.corpus.recipe import SourcePackage
from training.corpus.rows import MAX_REST_CHARS, CsnRow, Row, to_line

if TYPE_CHECKING:
    from tree_sitter import Node

_MAX_MEAN_LINE = 300
_WHOLE = ("string", "string_literal", "comment", "heredoc_body", "regex")
"""Kinds of nodes that are one token, as in CodeSearchNet's `code_tokens`."""
_CONFIG = ParseConfig(max_code_bytes=100_000)


Span = tuple[int, int]
Candidate = tuple[bytes, Fingerprint]
"""The line and the fingerprint of a documented function that passed the filters."""


class SourceFile(NamedTuple):
    """A file of a package, and the beginning of its rows' URLs."""

    package: SourcePackage
    path: Path
    relative: str
    url: str


class ParsedFile(NamedTuple):
    """The result of a worker for one file; `undocumented` has the code keys of functions that lack only a docstring."""

    file: SourceFile
    size: int
    candidates: list[Candidate]
    undocumented: list[bytes]
    dropped: Counter[str]


def parse_file(file: SourceFile) -> ParsedFile:
    """Parse one file of a package into candidates, and count what each filter drops."""
    source = file.path.read_bytes()
    parsed = ParsedFile(file, len(source), [], [], Counter())
    spec = language_named(file.package.language)
    if spec is None or len(source) > _MAX_MEAN_LINE * (source.count(b"\n") + 1):
        parsed.dropped["minified file"] += 1
        return parsed
    chosen: list[tuple[Document, str, str]] = []
    for document in extract(source, file.relative, spec, _CONFIG).documents:
        paragraph, rest = split_docstring(document.docstring)
        missing = documentation_reason(document.docstring, paragraph)
        if reason := drop_reason(document) or missing:
            parsed.dropped[reason] += 1
            if reason == missing:
                parsed.undocumented.append(code_key(spec.name, document.code))
        else:
            chosen.append((document, paragraph, rest))
    if chosen:
        parsed.candidates.extend(_candidates(chosen, source, file, spec))
    return parsed


def _candidates(
    chosen: list[tuple[Document, str, str]], source: bytes, file: SourceFile, spec: Language
) -> Iterator[Candidate]:
    documents = [document for document, _, _ in chosen]
    spans = [(document.start_byte, document.end_byte) for document in documents]
    skipped = [_docstring_span(document, source) for document in documents]
    tokens = tokens_of_spans(source, spans, skipped, spec)
    blob = sha1(b"blob %d\0" % len(source) + source, usedforsecurity=False).hexdigest()
    for (document, paragraph, rest), code_tokens in zip(chosen, tokens, strict=True):
        row = _row(document, paragraph, rest, file)
        original = source[document.start_byte : document.end_byte].decode("utf-8", "replace")
        paragraph_tokens = tuple(docstring_tokens(paragraph))
        loaded = CsnRow(row, original, document.docstring, tuple(code_tokens), paragraph_tokens, blob)
        found = fingerprint(row.language, row.identifier, row.docstring, row.code)
        yield to_line(loaded), found


def _row(document: Document, paragraph: str, rest: str, file: SourceFile) -> Row:
    return Row(
        repo=file.package.repository,
        package=file.package.name,
        path=document.path,
        func_name=document.qualified_name,
        identifier=document.name,
        language=document.language,
        code=document.code,
        docstring=paragraph,
        docstring_rest=rest[:MAX_REST_CHARS],
        url=f"{file.url}#{document.path}#L{document.start_line}-L{document.end_line}",
    )


def _docstring_span(document: Document, source: bytes) -> tuple[int, int]:
    """Return the bytes of the docstring that was removed from a document's code; an empty span if there is none."""
    original = source[document.start_byte : document.end_byte]
    code = document.code.encode()
    length = len(original) - len(code)
    if length <= 0 or len(original) > _CONFIG.max_code_bytes:
        return 0, 0
    common = len(commonprefix([original, code]))
    return document.start_byte + common, document.start_byte + common + length


def tokens_of_spans(
    source: bytes, spans: Sequence[Span], skipped: Sequence[Span], spec: Language
) -> list[list[str]]:
    """Return the leaves of the syntax tree in each span of a file, without those in `skipped` spans (docstrings)."""
    root = load_parser(spec).parse(source).root_node
    left_out = {start: end for start, end in skipped if end > start}
    result = []
    for start, end in spans:
        leaves = _leaves(root, start, end, left_out)
        result.append([source[slice(*span)].decode("utf-8", "replace") for span in leaves])
    return result


def _leaves(root: Node, start: int, end: int, left_out: dict[int, int]) -> Iterator[Span]:
    # Start from the smallest node around the span, because a file has thousands of siblings to walk past.
    waiting = [root.descendant_for_byte_range(start, end) or root]
    skip_until = start
    while waiting:
        node = waiting.pop()
        if node.end_byte <= skip_until or node.start_byte >= end:
            continue
        if node.start_byte in left_out and node.end_byte <= left_out[node.start_byte]:
            skip_until = left_out[node.start_byte]
        elif not node.child_count or (node.type.endswith(_WHOLE) and node.start_byte >= start):
            if node.end_byte > node.start_byte:
                yield node.start_byte, node.end_byte
        else:
            waiting += reversed(node.children)
