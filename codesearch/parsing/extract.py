"""The bytes of one file -> its documents, in source order.

Scopes, comments and attributes are joined to the definitions that a query found (see `definitions`) by position
alone, so the work is linear in the file.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from codesearch.config import ParseConfig
from codesearch.languages import is_installed, language_of_source, query_settings
from codesearch.languages.records import Language
from codesearch.parsing.callbacks import RETURNED
from codesearch.parsing.definitions import (
    NAME_LENDERS,
    Capture,
    Matches,
    collect,
    head_comment,
    joined_accessors,
    qualified_members,
    qualifiers_below,
    toplevel_statements,
    without_overloads,
)
from codesearch.parsing.docstrings import (
    MAX_DOCSTRING,
    clean_comment,
    clean_string_literal,
    clean_xml,
    first_paragraph,
    first_sentence,
    is_block_comment,
)
from codesearch.parsing.flags import file_flags, is_stub
from codesearch.parsing.identifiers import cut_at_word, module_name
from codesearch.parsing.keys import copy_key, shape_key
from codesearch.types import (
    FIELD,
    FUNCTIONS,
    HEADER_KINDS,
    NESTED,
    PROTOTYPE,
    STUB,
    TEST,
    TYPE_KINDS,
    Document,
)

_TAIL = re.compile(r"(?:\s*(?:\{|\\|:|=>|=|;|\bdo|\bthen|\bend))*\s*$")
_DIRECTIVE = re.compile(rb"\n\#[^\n]*")
_CONDITION = re.compile(rb"\#(?:if|endif)\b[^\n]*\n")
_PROSE = re.compile(r"\s*(?:[\w`*\[(]+[^\S\n]+){3}")
_MAX_SIGNATURE = 300
_MAX_MEMBER = 100
_OWNERS = HEADER_KINDS | {"owner"}
_EXPORT_LISTS = ("__all__",)
_MAX_CLAUSE_GAP = 3
_MAX_CONTEXT = 200
"""A definition gets at most so many characters from the documentation of its class, and from that of its module."""
_MIN_CALLBACK_LINES = 6  # Inside a named function, shorter callbacks have no document of their own
_MIN_UNPARSED = 3
"""Fewer lines that a parser does not understand are statements, unless they look like a definition."""
_MIN_MODULE_LINES = 3
"""A module with fewer statements has the name of its first line, if its file has definitions."""
_FEW_LINES, _LINES_EACH = 10, 60
"""A file with errors and more lines, or more for each function and type, is read in part. Others have up to 50."""
_DATA = re.compile(rb"(?<=;base64,)[A-Za-z0-9+/=_-]{16,}")
_RUN = re.compile(rb"\x01+")
_OPENING = re.compile(rb"<(script|style)\b[^<>]*>", re.IGNORECASE)
_FRONT_MATTER = re.compile(rb"\s*---[ \t\r]*\n(.*?)^---", re.DOTALL | re.MULTILINE)
_NO_SCRIPT = re.compile(
    rb"type\s*=\s*[\"']?(?!module\b|(?:text|application)/(?:java|type)script)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Extraction:
    """The documents of one file."""

    documents: list[Document]  # in source order
    warnings: list[str]  # a few, one line each
    summary: str = ""  # the first sentence of the documentation of the whole file
    members: Sequence[Document] = ()  # what is only found by its name, without code, in source order
    is_partial: bool = False  # the parser did not understand parts, which are blocks or in other definitions
    depths: Mapping[int, int] = field(default_factory=dict)  # line where a statement begins -> its nesting


@dataclass(frozen=True, slots=True)
class _File:
    """A file and how it is read."""

    source: bytes
    path: str
    spec: Language
    config: ParseConfig
    flags: int
    docstring: str  # of the module; "" if it is a licence
    summaries: dict[str, str]  # first paragraphs of documentation, by class; that of the module by ""


def extract(source: bytes, path: str, spec: Language, config: ParseConfig | None = None) -> Extraction:
    """Extract the definitions of one file and its top-level statements; `spec` is its language by its path."""
    return extract_as(source, path, language_of_source(spec, path, source), config or ParseConfig())


def extract_as(source: bytes, path: str, spec: Language, config: ParseConfig) -> Extraction:
    """Extract as `extract` does, given the language that `language_of_source` found."""
    warnings = []
    if b";base64," in source:  # The data of a URL is no name and has no words.
        source = _DATA.sub(lambda match: b" " * len(match[0]), source)
    try:
        source.decode("utf-8")
    except UnicodeDecodeError as error:
        warnings.append(f"{path}: invalid UTF-8 at byte {error.start}: read with replacement characters")
    if spec.content in ("docs", "config"):
        from codesearch.parsing.sections import text_documents

        sections = list(text_documents(source, path, spec, config))
        opening = next((first_sentence(part.code) for part in sections if _PROSE.match(part.code)), "")
        return Extraction(sections, warnings, opening if spec.content == "docs" else "")
    if not is_installed(spec):
        return Extraction(_blocks(source, path, spec, config), warnings)
    markup: list[Document] = []
    if spec.is_markup:
        scripts, rest = split_markup(source, spec.name)
        markup, source = _blocks(rest, path, spec, config), scripts
    found = collect(source, spec)
    definitions = sorted(found.definitions.values(), key=lambda d: (d.start, -d.end))
    _attach_docs(definitions, found, source)
    settings = query_settings(spec)
    if "documents" in settings:
        _attach_docs_below(definitions, found)
    definitions = _without_small_constants(definitions, found, source)
    definitions = joined_accessors(without_overloads(definitions, found), found)
    if "joins" in settings:
        definitions = _joined(definitions, source, is_overloaded=settings["joins"] == "overloads")
    is_opened = found.start in found.docstrings
    docstring = _literal(found, found.start, source) if is_opened else head_comment(definitions, found)
    docstring = docstring[:MAX_DOCSTRING]
    summaries = {
        d.name: first_paragraph(d.docstring)[:_MAX_CONTEXT]
        for d in definitions
        if d.kind in HEADER_KINDS and d.docstring
    }
    summaries[""] = first_paragraph(docstring)[:_MAX_CONTEXT]
    file = _File(source, path, spec, config, file_flags(path, source), docstring, summaries)
    documents = [*markup, *_documents(definitions, found, file)]
    unparsed = _unparsed(documents, definitions, found, file)
    documents += [*unparsed, *_module(definitions, found, file)]
    documents.sort(key=lambda document: (document.start_byte, -document.end_byte))
    if dropped := sum(definition.is_too_deep for definition in definitions):
        noun = "definition" if dropped == 1 else "definitions"
        warnings.append(f"{path}: {dropped} {noun} nested deeper than {config.max_nesting} left out")
    if found.is_partial:
        warnings.append(f"{path}: nested so deep that definitions may be missing")
    members = [_member_of(member, found, file) for member in qualified_members(definitions, found)]
    depths = {row + 1: depth for row, depth in found.statement_rows.items()}
    count = sum(document.kind in FUNCTIONS or document.kind in TYPE_KINDS for document in documents)
    is_partial = bool(
        unparsed or (found.regions and source.count(b"\n") >= max(_LINES_EACH * count, _FEW_LINES))
    )
    return Extraction(documents, warnings, first_sentence(docstring), members, is_partial, depths)


def _attach_docs(definitions: list[Capture], found: Matches, source: bytes) -> None:
    for definition in definitions:
        definition.anchor_row, docstring = _comments_above(definition.row, found)
        if definition.body in found.docstrings:
            definition.literal = found.docstrings[definition.body]
            docstring = _literal(found, definition.body, source)
        definition.docstring = docstring[:MAX_DOCSTRING]


def _attach_docs_below(definitions: list[Capture], found: Matches) -> None:
    """Take the comments of OCaml that stand right below what they document and above a blank line."""
    rows = {definition.row for definition in definitions}
    below = {first: text for last, (first, text) in found.comments.items() if last + 1 not in rows}
    for definition in definitions:
        text = below.get(definition.last_row + 1, "")
        if not definition.docstring and text.startswith("(**"):
            definition.docstring = clean_comment(text)[:MAX_DOCSTRING]


def _comments_above(row: int, found: Matches) -> tuple[int, str]:
    """Collect the comments right above `row`, also above its attributes; return their first row and text."""
    parts: list[str] = []
    while row > 0:
        if row - 1 in found.attributes:
            row = found.attributes[row - 1]
        elif row - 1 in found.comments:
            start_row, text = found.comments[row - 1]
            is_block = is_block_comment(text)
            if parts and is_block:
                break  # A block above a comment is about something else: a licence, a section heading.
            row = start_row
            parts.append(clean_comment(text))
            if is_block:
                break
        else:
            break
    return row, clean_xml("\n".join(reversed(parts)).strip())


def _without_small_constants(definitions: list[Capture], found: Matches, source: bytes) -> list[Capture]:
    """Turn one-line constants into members, and leave out those in functions.

    The document of the module contains the former.
    """
    kept, function_end = [], 0
    for position, definition in enumerate(definitions):
        if definition.kind in FUNCTIONS:
            function_end = max(function_end, definition.end)
        if definition.kind == "constant" and definition.end <= function_end:
            continue
        if definition.kind == "constant" and definition.name not in _EXPORT_LISTS:
            rest = (definitions[at] for at in range(position + 1, len(definitions)))
            if member := next((other for other in rest if other.kind not in NAME_LENDERS), None):
                _cut_to_header(definition, member, source)
            if definition.start_line == definition.end_line:
                if definition.name:
                    found.members.append(definition)
                continue
        kept.append(definition)
    return kept


def _joined(definitions: list[Capture], source: bytes, *, is_overloaded: bool) -> list[Capture]:
    """Join functions of one name that follow each other: the equations of one, or its signatures and the function."""
    kept: list[Capture] = []
    latest: dict[str, Capture] = {}
    for definition in definitions:
        first = latest.get(definition.name)
        if (
            first
            and first.kind == definition.kind in FUNCTIONS
            and first.end <= definition.start
            and definition.anchor_row - first.last_row <= _MAX_CLAUSE_GAP
            and (first.body is None if is_overloaded else not source[first.end : definition.start].strip())
        ):
            first.extend_to(definition)
            if is_overloaded:
                first.head, first.body = definition.head, definition.body
                first.name_start = definition.name_start
                first.docstring, first.literal = first.docstring or definition.docstring, definition.literal
        else:
            kept.append(definition)
            latest[definition.name] = definition
    return kept


def _documents(definitions: list[Capture], found: Matches, file: _File) -> Iterator[Document]:
    enclosing: list[Capture] = []
    for position, definition in enumerate(definitions):
        while enclosing and enclosing[-1].end <= definition.start:
            enclosing.pop()
        # What is in the parameters of a function belongs to what is around it, such as a property of PHP.
        around = (
            scope
            for scope in reversed(enclosing)
            if scope.kind not in FUNCTIONS or (scope.body or 0) <= definition.start
        )
        outer = next(around, None)
        definition.is_nested = outer is not None and (outer.is_nested or outer.kind in FUNCTIONS)
        definition.is_test = definition.start in found.tests or (outer is not None and outer.is_test)
        if len(enclosing) < file.config.max_nesting:
            definition.qualifiers = qualifiers_below(outer, definition)
            if definition.kind not in NAME_LENDERS and not _is_left_out(definition, enclosing, file):
                if definition.kind in HEADER_KINDS and position + 1 < len(definitions):
                    _cut_to_header(definition, definitions[position + 1], file.source)
                if definition.kind == "function" and outer and outer.kind in _OWNERS:
                    definition.kind = "method"
                if not definition.qualifiers and definition.name in ("", RETURNED):
                    definition.name = module_name(file.path)  # That of the folder for an `index` file.
                definition.name = definition.name or definition.kind
                is_owned = definition.receiver or (outer and outer.kind in _OWNERS)
                owner = definition.qualifiers[-1] if is_owned and definition.qualifiers else ""
                yield _document(definition, owner, _signature(definition, found, file.source), found, file)
        else:
            definition.is_too_deep = definition.kind not in NAME_LENDERS
        if definition.kind != "constant":
            enclosing.append(definition)


def _is_left_out(definition: Capture, enclosing: list[Capture], file: _File) -> bool:
    """Say whether it is a list of names, or a short callback in a named function whose document has its text."""
    return definition.name in _EXPORT_LISTS or (
        definition.is_callback
        and definition.end_line - definition.start_line < _MIN_CALLBACK_LINES - 1
        and any(
            outer.kind in FUNCTIONS
            and not outer.is_callback
            and definition.end <= outer.start + file.config.max_code_bytes
            for outer in enclosing
        )
    )


def _blocks(*arguments: Any) -> list[Document]:  # noqa: ANN401 - those of `block_documents`.
    from codesearch.parsing.blocks import block_documents  # Most files do not need its many patterns.

    return list(block_documents(*arguments))


def _unparsed(
    documents: list[Document], definitions: list[Capture], found: Matches, file: _File
) -> list[Document]:
    """Cut the lines that the tree does not explain and no document has into blocks; a few are statements instead."""
    if not found.regions:
        return []
    is_lost = bytearray(file.source.count(b"\n") + 1)
    for first, last in found.regions:
        is_lost[first : last + 1] = b"\1" * (last + 1 - first)
    for document in documents:
        is_lost[document.start_line - 1 : document.end_line] = bytes(
            document.end_line - document.start_line + 1
        )
    around: list[Capture | None] = [None] * len(is_lost)
    for definition in definitions:
        if not definition.is_too_deep:
            around[definition.row : definition.last_row + 1] = [definition] * (
                definition.last_row + 1 - definition.row
            )
    runs = []
    for run in _RUN.finditer(is_lost):
        outer = around[run.start()]
        runs.append((*run.span(), (*outer.qualifiers, outer.name) if outer else ()))
    blocks = []
    for block in _blocks(file.source, file.path, file.spec, file.config, runs) if runs else ():
        if block.kind == "module" and block.end_line - block.start_line + 1 < _MIN_UNPARSED:
            found.statements.append((block.start_line - 1, block.end_line - 1))
        else:
            blocks.append(block)
    return blocks


def _module(definitions: list[Capture], found: Matches, file: _File) -> Iterator[Document]:
    lines = file.source.split(b"\n")
    name = module_name(file.path) or "module"
    limit = file.config.max_code_bytes
    for first, last, code in toplevel_statements(definitions, found, file.source, limit):
        text = b"\n".join(lines[first : last + 1])
        start = sum(map(len, lines[:first])) + first
        signature = _first_line(text)
        if definitions and code.count(b"\n") + 1 < _MIN_MODULE_LINES:
            name = ""
        name = name or signature  # The first line names few lines, and further parts of very many.
        about = (file.path, file.spec.name, "module", name, name, signature, file.docstring)
        yield Document(
            *(*about, first + 1, last + 1, last + 1),
            code=code[:limit].decode("utf-8", "replace"),
            start_byte=start + len(text) - len(text.lstrip()),
            end_byte=start + len(text.rstrip()),
            flags=file.flags,
            copy_key=copy_key("", name, code, file.spec),
        )
        name = ""


def _literal(found: Matches, body: int, source: bytes) -> str:
    """Return the docstring that opens a body."""
    start, end = found.docstrings[body]
    text = source[start:end].decode("utf-8", "replace")
    return clean_comment(text) if text.startswith("<#") else clean_string_literal(text)


def _context(definition: Capture, file: _File) -> str:
    """Return the first paragraphs of the documentation of its class and of its module; "" if there is none."""
    of_classes = (
        file.summaries[name] for name in reversed(definition.qualifiers) if file.summaries.get(name)
    )
    return " ".join(filter(None, (next(of_classes, ""), file.summaries[""])))


def _document(definition: Capture, owner: str, signature: str, found: Matches, file: _File) -> Document:
    """Return the document of a definition; `owner` is its class, "" if it is in none or only in a function."""
    limit = min(definition.doc_end, definition.start + file.config.max_code_bytes)
    code = _code(definition, limit, file.source)
    whole = code if limit == definition.end else _code(definition, definition.end, file.source)
    own = definition.is_test * TEST | definition.is_nested * NESTED | _is_stub(definition, file.source) * STUB
    return Document(
        *_about(definition, signature, definition.docstring, file),
        code=code.decode("utf-8", "replace"),
        start_byte=definition.start,
        end_byte=definition.doc_end,
        flags=file.flags | own,
        copy_key=copy_key(owner, definition.name, whole, file.spec),
        shape_key=_shape(definition, found, file),
        context=_context(definition, file),
    )


def _member_of(member: Capture, found: Matches, file: _File) -> Document:
    signature, docstring = _signature(member, found, file.source), _comments_above(member.row, found)[1]
    if member.kind != PROTOTYPE:
        member.kind = FIELD  # Also that of a small constant.
        signature = cut_at_word(_without_tail(signature), _MAX_MEMBER)
        docstring = first_sentence(docstring)
    about = _about(member, signature, docstring[:MAX_DOCSTRING], file)
    return Document(*about, code="", start_byte=member.start, end_byte=member.end, flags=file.flags)


def _about(
    definition: Capture, signature: str, docstring: str, file: _File
) -> tuple[str, str, str, str, str, str, str, int, int, int]:
    """Return the fields of `Definition`."""
    qualified = file.spec.separator.join([*definition.qualifiers, definition.name])
    names = (file.path, file.spec.name, definition.kind, definition.name, qualified, signature, docstring)
    return *names, definition.start_line, definition.end_line, definition.last_row + 1


def _shape(definition: Capture, found: Matches, file: _File) -> int:
    if definition.kind not in FUNCTIONS or definition.body is None:
        return 0
    literal_start, literal_end = definition.literal
    above = _without_comments(definition.head, min(literal_start, definition.end), found, file.source)
    below = _without_comments(literal_end, definition.end, found, file.source)
    return shape_key(above + below, file.spec)


def _code(definition: Capture, end: int, source: bytes) -> bytes:
    """Return the text of a definition up to `end`, without a docstring inside it."""
    literal_start, literal_end = definition.literal
    code = source[definition.start : min(literal_start, end)] + source[literal_end:end]
    return b"\n".join((code, *(source[first:last] for first, last in definition.parts)))


def _is_stub(definition: Capture, source: bytes) -> bool:
    if definition.kind not in FUNCTIONS:
        return False
    if definition.body is None:
        return True
    start, end = definition.literal
    body = source[definition.body : start] + source[end : definition.end]
    return is_stub(body.decode("utf-8", "replace"))


def _cut_to_header(definition: Capture, member: Capture, source: bytes) -> None:
    """End a document before the comment of its first member."""
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


def _signature(definition: Capture, found: Matches, source: bytes) -> str:
    start = definition.head
    if definition.is_callback:  # Begin with the call or the assignment that it is a part of.
        start = source.rfind(b"\n", 0, start) + 1
    while condition := _CONDITION.match(source, start) or start in found.attribute_ends:
        start = found.attribute_ends[start] if condition is True else condition.end()
        while source[start : start + 1].isspace():
            start += 1
    if definition.kind in ("constant", FIELD):
        return _first_line(source[start : definition.end])
    end = definition.end if definition.body is None or definition.body <= start else definition.body
    head = _without_comments(start, min(end, start + 4 * _MAX_SIGNATURE), found, source)
    if b"#" in head:
        head = _DIRECTIVE.sub(b"", head)
    text = " ".join(head.decode("utf-8", "replace").split())
    text = cut_at_word(_without_tail(text.replace("( ", "(").replace(" )", ")")), _MAX_SIGNATURE)
    if definition.name_start < definition.start:
        return f"{definition.name} = {text}".rstrip(" =")
    return f"{text} {definition.name}" if definition.name_start > end else text


def _first_line(code: bytes) -> str:
    line = code.lstrip().partition(b"\n")[0].decode("utf-8", "replace")
    return cut_at_word(" ".join(line.split()), _MAX_SIGNATURE)


def _without_tail(signature: str) -> str:
    """Remove what opens the body."""
    signature = signature.rstrip(" {\\:;=")
    return _TAIL.sub("", signature) if signature.endswith(("=>", "do", "then", "end")) else signature


def _without_comments(start: int, end: int, found: Matches, source: bytes) -> bytes:
    parts = []
    position = bisect_left(found.comment_spans, (start, start))
    while position < len(found.comment_spans) and found.comment_spans[position][0] < end:
        comment_start, comment_end = found.comment_spans[position]
        parts.append(source[start:comment_start])
        start = comment_end
        position += 1
    parts.append(source[start:end])
    return b" ".join(parts)


def split_markup(source: bytes, language: str = "html") -> tuple[bytes, bytes]:
    """Return the scripts of a file, and its markup with styles and data. Both have the length of the file.

    >>> split_markup(b"<p>a<script>f()</script>")
    (b'            f()         ', b'<p>a<script>   </script>')
    """
    from codesearch.parsing.masks import blanked

    scripts, markup = bytearray(blanked(source)), bytearray(source)
    for start, end in _scripts(source, language):
        scripts[start:end] = source[start:end]
        markup[start:end] = blanked(source[start:end])
    return bytes(scripts), bytes(markup)


def _scripts(source: bytes, language: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of the content of each `<script>`; what is in a `<style>` is none."""
    position = 0
    if language == "astro" and (head := _FRONT_MATTER.match(source)):
        position = head.end()
        yield head.span(1)
    while opening := _OPENING.search(source, position):
        position = source.find(b"</" + opening[1], opening.end())
        if position < 0:
            return
        if opening[1].lower() == b"script" and not _NO_SCRIPT.search(opening[0]):
            yield opening.end(), position
