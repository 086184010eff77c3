"""The bytes of one source file -> its documents, in source order.

A query (see `languages`) finds the definitions; scopes, comments and attributes are then joined to them by
position alone, so that the work is linear in the file and no tree is walked.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from codesearch.config import ParseConfig
from codesearch.parsing.docstrings import clean_comment, clean_string_literal, clean_xml, is_block_comment
from codesearch.parsing.identifiers import receiver_type, split_qualified, without_type_arguments
from codesearch.parsing.languages import LanguageSpec, language_of_source, load_grammar, load_query
from codesearch.types import Document

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

_DEFINITIONS = ("function", "method", "class", "scope", "owner", "anonymous")
_NAME_LENDERS = ("scope", "owner")
_MIN_ANONYMOUS_LINES = 3
# Half-matched patterns held at once; without a limit deep nesting takes quadratic time.
_MATCH_LIMIT = 1024
_SPACE = re.compile(r"\s+")
_BLANK_TO_LINE_END = re.compile(rb"[ \t\r]*(?:\n|\Z)")
_SIGNATURE_TAIL = re.compile(r"(?:\s*(?:\{|:|=>|=|;|\bdo|\bthen|\bend))*\s*$")
_MAX_SIGNATURE = 300
_MAX_DOCSTRING = 8_000


@dataclass(frozen=True, slots=True)
class Extraction:
    """What one file gave: its documents and at most a few one-line warnings."""

    documents: list[Document]
    warnings: list[str]


@dataclass(slots=True)
class _Definition:
    kind: str
    name: str
    receiver: str
    body: int | None
    start: int
    end: int
    row: int
    start_line: int
    end_line: int
    name_start: int
    anchor_row: int = 0
    qualifiers: list[str] = field(default_factory=list)
    docstring: str = ""
    literal: tuple[int, int] = (0, 0)
    doc_end: int = 0

    def __post_init__(self) -> None:
        self.doc_end = self.end


@dataclass(slots=True)
class _Matches:
    """The query's captures, sorted into what they are for."""

    definitions: dict[tuple[int, int], _Definition]
    docstrings: dict[int, tuple[int, int]]
    comments: dict[int, tuple[int, str]]
    comment_spans: list[tuple[int, int]]
    attributes: dict[int, int]
    attribute_ends: dict[int, int]
    is_partial: bool = False


def extract(source: bytes, path: str, spec: LanguageSpec, config: ParseConfig | None = None) -> Extraction:
    """Extract the functions, methods and class headers of one file.

    Args:
        source: the file; invalid UTF-8 is read with replacement characters and one warning.
        path: what the documents carry as their path.
        spec: the language to parse as; a C header that is C++ is parsed as that.
        config: limits; the defaults when None.

    Raises:
        MissingExtraError: the language's grammar is not installed.
    """
    config = config or ParseConfig()
    spec = language_of_source(spec, path, source)
    warnings = []
    try:
        source.decode("utf-8")
    except UnicodeDecodeError as error:
        warnings.append(f"{path}: invalid UTF-8 at byte {error.start}: read with replacement characters")
    found = _collect(source, spec)
    definitions = sorted(found.definitions.values(), key=lambda d: (d.start, -d.end))
    _attach_docs(definitions, found, source)
    documents = list(_documents(definitions, found, source, path, spec, config))
    lenders = sum(definition.kind in _NAME_LENDERS for definition in definitions)
    if dropped := len(definitions) - lenders - len(documents):
        warnings.append(f"{path}: {dropped} definitions nested deeper than {config.max_nesting} left out")
    if found.is_partial:
        warnings.append(f"{path}: nested so deep that definitions may be missing")
    return Extraction(documents, warnings)


@cache
def _parser(spec: LanguageSpec) -> Parser:
    from tree_sitter import Parser

    return Parser(load_grammar(spec))


def _collect(source: bytes, spec: LanguageSpec) -> _Matches:
    from tree_sitter import QueryCursor

    tree = _parser(spec).parse(source)
    found = _Matches({}, {}, {}, [], {}, {})
    cursor = QueryCursor(load_query(spec), match_limit=_MATCH_LIMIT)
    for _, captures in cursor.matches(tree.root_node):
        if comments := captures.get("comment"):
            _add_comment(found, comments[0], source)
        elif attributes := captures.get("attribute"):
            _add_attribute(found, attributes[0], source)
        elif docstrings := captures.get("docstring"):
            # The literal is the first statement of its block, so the block's start finds its definition.
            parent = docstrings[0].parent
            block = parent.parent if parent else None
            if block:
                found.docstrings[block.start_byte] = (docstrings[0].start_byte, docstrings[0].end_byte)
        else:
            _add_definition(found, captures, source, spec)
    found.comment_spans.sort()
    found.is_partial = bool(cursor.did_exceed_match_limit)
    return found


def _add_attribute(found: _Matches, node: Node, source: bytes) -> None:
    found.attribute_ends[node.start_byte] = node.end_byte
    # One that stands on a definition's own line says nothing about the next line's.
    if _BLANK_TO_LINE_END.match(source, node.end_byte):
        found.attributes[node.end_point[0]] = node.start_point[0]


def _add_comment(found: _Matches, node: Node, source: bytes) -> None:
    start = node.start_byte
    found.comment_spans.append((start, node.end_byte))
    if source.startswith(b"#!") and start == 0:
        return
    line_start = source.rfind(b"\n", 0, start) + 1
    if source[line_start:start].strip():
        return  # It trails code, so it documents that line and not the next.
    end_row, end_column = node.end_point
    last_row = end_row - 1 if end_column == 0 and end_row > node.start_point[0] else end_row
    found.comments[last_row] = (node.start_point[0], _text(node, source).rstrip())


def _add_definition(
    found: _Matches, captures: dict[str, list[Node]], source: bytes, spec: LanguageSpec
) -> None:
    kind = next((kind for kind in _DEFINITIONS if kind in captures), None)
    if kind is None:
        return
    node = captures[kind][0]
    span = (node.start_byte, node.end_byte)
    known = found.definitions.get(span)
    if known and known.name and (known.body or "body" not in captures):
        return
    first_row = node.start_point[0]
    end, last_row = _end_of(node, source, spec.trailing_comment.encode())
    if kind == "anonymous" and (known or last_row - first_row + 1 < _MIN_ANONYMOUS_LINES):
        return
    names, bodies, receivers = (captures.get(part) for part in ("name", "body", "receiver"))
    receiver, name = _qualified(kind, names[0], source, spec) if names else ("", "")
    if receivers:
        receiver = receiver_type(_text(receivers[0], source))
    found.definitions[span] = _Definition(
        kind="function" if kind == "anonymous" else kind,
        name=name,
        receiver=receiver,
        body=bodies[0].start_byte if bodies else None,
        start=node.start_byte,
        end=end,
        row=min(first_row, names[0].start_point[0]) if names else first_row,
        start_line=first_row + 1,
        end_line=last_row + 1,
        name_start=names[0].start_byte if names else node.start_byte,
    )


def _qualified(kind: str, name: Node, source: bytes, spec: LanguageSpec) -> tuple[str, str]:
    text = _SPACE.sub(" ", _text(name, source).strip())[:_MAX_SIGNATURE]
    if kind in _NAME_LENDERS:
        return "", without_type_arguments(text.strip("'\"`"))
    return split_qualified(text, spec.separator)


def _end_of(node: Node, source: bytes, mark: bytes) -> tuple[int, int]:
    """Return end byte and last row, without white space and `mark` comments below the last statement."""
    start, end = node.start_byte, node.end_byte
    while True:
        while end > start and source[end - 1 : end].isspace():
            end -= 1
        line_start = source.rfind(b"\n", start, end) + 1 if mark else 0
        if line_start <= start or not source[line_start:end].lstrip().startswith(mark):
            return end, node.end_point[0] - source.count(b"\n", end, node.end_byte)
        end = line_start


def _text(node: Node, source: bytes) -> str:
    return source[node.start_byte : node.end_byte].decode("utf-8", "replace")


def _attach_docs(definitions: list[_Definition], found: _Matches, source: bytes) -> None:
    for definition in definitions:
        definition.anchor_row, comment = _comments_above(definition.row, found)
        if definition.body is not None and definition.body in found.docstrings:
            definition.literal = start, end = found.docstrings[definition.body]
            docstring = clean_string_literal(source[start:end].decode("utf-8", "replace"))
        else:
            docstring = comment
        definition.docstring = docstring[:_MAX_DOCSTRING]


def _comments_above(row: int, found: _Matches) -> tuple[int, str]:
    """Gather the comments that end right above `row`, through attributes; also where they begin."""
    parts: list[str] = []
    while row > 0:
        if row - 1 in found.attributes:
            row = found.attributes[row - 1]
        elif row - 1 in found.comments:
            start_row, text = found.comments[row - 1]
            is_block = is_block_comment(text)
            if parts and is_block:
                break  # A block above a comment is another matter: a licence, a section heading.
            row = start_row
            parts.append(clean_comment(text))
            if is_block:
                break
        else:
            break
    return row, clean_xml("\n".join(reversed(parts)).strip())


def _documents(
    definitions: list[_Definition],
    found: _Matches,
    source: bytes,
    path: str,
    spec: LanguageSpec,
    config: ParseConfig,
) -> Iterator[Document]:
    enclosing: list[_Definition] = []
    for position, definition in enumerate(definitions):
        while enclosing and enclosing[-1].end <= definition.start:
            enclosing.pop()
        outer = enclosing[-1] if enclosing else None
        if len(enclosing) < config.max_nesting:
            definition.qualifiers = _qualifiers(definition, outer)
            if definition.kind not in _NAME_LENDERS:
                if definition.kind == "class" and position + 1 < len(definitions):
                    _cut_to_header(definition, definitions[position + 1], source)
                if definition.kind == "function" and outer and outer.kind in ("class", "owner"):
                    definition.kind = "method"
                signature = _signature(definition, found, source)
                yield _document(definition, signature, source, path, spec, config)
        enclosing.append(definition)


def _qualifiers(definition: _Definition, outer: _Definition | None) -> list[str]:
    names = [*outer.qualifiers, outer.name] if outer and outer.name else outer.qualifiers[:] if outer else []
    if definition.receiver and definition.receiver not in ("self", "this", *names[-1:]):
        names.append(definition.receiver)
    return names


def _document(
    definition: _Definition,
    signature: str,
    source: bytes,
    path: str,
    spec: LanguageSpec,
    config: ParseConfig,
) -> Document:
    limit = min(definition.doc_end, definition.start + config.max_code_bytes)
    literal_start, literal_end = definition.literal
    if literal_end:
        code = source[definition.start : min(literal_start, limit)] + source[literal_end:limit]
    else:
        code = source[definition.start : limit]
    return Document(
        path=path,
        language=spec.name,
        kind=definition.kind,
        name=definition.name,
        qualified_name=spec.separator.join([*definition.qualifiers, definition.name])
        if definition.name
        else "",
        signature=signature,
        docstring=definition.docstring,
        code=code.decode("utf-8", "replace"),
        start_line=definition.start_line,
        end_line=definition.end_line,
        start_byte=definition.start,
        end_byte=definition.doc_end,
    )


def _cut_to_header(definition: _Definition, member: _Definition, source: bytes) -> None:
    """End a class's document before the comment of its first member."""
    if member.start >= definition.end:
        return
    end = member.start
    for _ in range(member.start_line - member.anchor_row):
        end = max(source.rfind(b"\n", 0, end), 0)
    if end <= definition.start:
        end = member.start
    header = source[definition.start : end].rstrip()
    definition.doc_end = definition.start + len(header)
    definition.end_line = definition.start_line + header.count(b"\n")


def _signature(definition: _Definition, found: _Matches, source: bytes) -> str:
    start = definition.start
    if not definition.name:  # A callback is told by the call that it stands in.
        start = source.rfind(b"\n", 0, start) + 1
    while attribute_end := found.attribute_ends.get(start):
        start = attribute_end
        while source[start : start + 1].isspace():
            start += 1
    end = definition.end if definition.body is None or definition.body <= start else definition.body
    head = _without_comments(start, min(end, start + 4 * _MAX_SIGNATURE), found, source)
    text = _SPACE.sub(" ", head.decode("utf-8", "replace")).strip()
    text = text.replace("( ", "(").replace(" )", ")")
    text = _SIGNATURE_TAIL.sub("", text)[:_MAX_SIGNATURE]
    if definition.name_start < definition.start:
        return f"{definition.name} = {text}".rstrip(" =")
    return f"{text} {definition.name}" if definition.name_start > end else text


def _without_comments(start: int, end: int, found: _Matches, source: bytes) -> bytes:
    parts = []
    position = bisect_left(found.comment_spans, (start, start))
    while position < len(found.comment_spans) and found.comment_spans[position][0] < end:
        comment_start, comment_end = found.comment_spans[position]
        parts.append(source[start:comment_start])
        start = comment_end
        position += 1
    parts.append(source[start:end])
    return b" ".join(parts)
