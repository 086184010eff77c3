"""One source file of a package -> its documented functions as lines to write, and counts of dropped functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from hashlib import sha1
from os.path import commonprefix
from pathlib import Path
from typing import NamedTuple

from codesearch.config import ParseConfig
from codesearch.parsing.extract import extract
from codesearch.parsing.languages import LanguageSpec, language_named
from codesearch.types import Document
from training.corpus.dedupe import Fingerprint, code_key, fingerprint
from training.corpus.docstrings import docstring_tokens, split_docstring
from training.corpus.filters import documentation_reason, drop_reason
from training.corpus.recipe import SourcePackage
from training.corpus.rows import MAX_REST_CHARS, CsnRow, Row, to_line
from training.corpus.tokens import tokens_of_spans

_MAX_MEAN_LINE = 300
_CONFIG = ParseConfig(max_code_bytes=100_000)


class SourceFile(NamedTuple):
    """A file of a package, and the beginning of its rows' URLs."""

    package: SourcePackage
    path: Path
    relative: str
    url: str


class Candidate(NamedTuple):
    """A documented function that passed the filters."""

    line: bytes
    fingerprint: Fingerprint


class ParsedFile(NamedTuple):
    """The result of a worker for one file.

    Attributes:
        undocumented: code keys of the functions that lack only documentation.
        dropped: how many functions failed each filter.
    """

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
    chosen: list[tuple[Document, str, str]], source: bytes, file: SourceFile, spec: LanguageSpec
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
        yield Candidate(to_line(loaded), found)


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
