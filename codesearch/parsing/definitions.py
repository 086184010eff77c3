"""The bytes of one source file -> its definitions, comments and attributes, by the language's query.

The query engine finds the nodes. Their positions say how they are nested, so no tree is walked.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import merge
from itertools import accumulate, zip_longest
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from codesearch.languages import load_parser, load_query, query_settings
from codesearch.languages.records import Language
from codesearch.parsing.callbacks import callback_name
from codesearch.parsing.docstrings import clean_comment
from codesearch.parsing.identifiers import ARGUMENTS, receiver_type, split_qualified, without_type_arguments
from codesearch.types import FIELD, HEADER_KINDS, KINDS, MEMBER_KINDS, PROTOTYPE

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

NAME_LENDERS = ("scope", "owner")
_KINDS = (*KINDS, *NAME_LENDERS, "anonymous")
_SPECIAL_CLASSES = HEADER_KINDS - {"class"}
_NO_STATEMENTS = frozenset(
    "comment line_comment block_comment multiline_comment hash_bang_line shebang_line ERROR php_tag "
    "import import_statement import_from_statement future_import_statement import_declaration "
    "import_header package_clause package_declaration package_header use_declaration extern_crate_declaration "
    "using_directive namespace_use_declaration preproc_include".split()
)
"""Node types at the top level of a file that are not statements."""
_BLOCKS = frozenset({"block", "do_block", "module", "script_block"})
"""Node types of blocks that a docstring may open, in Python, Elixir and PowerShell."""
_MIN_ANONYMOUS_LINES = 3
_MATCH_LIMIT = 1024
"""How many partly matched patterns are kept at once. Without a limit, deep nesting takes quadratic time."""
_MIN_ERRORS = 0.001  # A file is parsed again without macros if its tree does not explain a larger share of it
_MAX_NAME = 300
_SPACE_AND_COMMENTS = re.compile(rb"(?:\s+|//[^\n]*|/\*.{,2000}?\*/)*", re.DOTALL)
_ARGUMENTS = re.compile(ARGUMENTS)
_BLANK_TO_LINE_END = re.compile(rb"[ \t\r]*(?:\n|\Z)")
_HEAD_ROWS = 3
_WORD = re.compile(rb"\w")
_BEHIND_MACRO = re.compile(rb"[ \t]+(?!final\b)[A-Za-z]")  # what is behind a macro, not behind a name
_OUTER_COLONS = re.compile(r"^:{1,2}(?=[\w~])|(?<=\w):$")
_CLOSING = re.compile(rb"\s*@?end\s*$")
_IMPORT = re.compile(
    rb"""\s*(?:
        \#\s*(?:include|if|ifdef|ifndef|elif|else|endif|pragma|undef)\b  # a directive of C
      | (?:import|from|use|using|package|namespace|mod|module|export\s+\*|extern\s+(?:"C"|crate))(?![\w.(=])
      | (?:require|require_relative|require_once|include|include_once|load|source)\b\s*[('"$]
      | (?:['"]use\s\w+['"]|declare\s*\(|set\s+-|<\?php|\?>)            # a mode
      | [^('"]*=\s*(?:require|@import)\b                                # a module as a value
      | (?:\{-\#|@file:|\#!?\[)                                         # an attribute of the file
      | (?:export\s+default\s+\w+|(?:module\.)?exports(?:\.\w+)?\s*=\s*\w+|return\s+\w+
        |local\s+\w+\s*=\s*\{\s*\})\s*;?\s*$                               # what a module exports
    )""",
    re.VERBOSE,
)
_LICENCE = re.compile(r"\b(?:copyright|licen[cs]e|all rights reserved|spdx)\b", re.IGNORECASE)


_MANY_ROWS = 8  # The parts of shorter nodes are not looked at: a passage rarely begins inside of them


@dataclass(slots=True)
class Capture:
    """A definition of one of `KINDS`, or a scope that only qualifies names; `extract` fills in the later attributes."""

    kind: str
    name: str
    receiver: str
    body: int | None  # byte where it begins
    start: int
    end: int
    row: int  # 0-based, or that of its name if that is above
    start_line: int
    end_line: int
    name_start: int
    head: int = 0  # byte where its signature begins
    anchor_row: int = 0  # where its comments and attributes begin
    qualifiers: list[str] = field(default_factory=list)  # enclosing names, outermost first
    docstring: str = ""
    literal: tuple[int, int] = (0, 0)  # byte span of a docstring in it; empty, at its end, if it has none
    doc_end: int = 0  # byte where its document ends; that of a class ends before the members
    last_row: int = 0  # 0-based; the members of a class count
    parts: list[tuple[int, int]] = field(default_factory=list)  # byte spans of a setter elsewhere
    is_callback: bool = False  # it has no name of its own, so `name` comes from the code around it
    is_too_deep: bool = False  # nested in so many others that it gets no document
    is_test: bool = False  # it or a definition around it is marked as a test
    is_nested: bool = False  # inside of a function

    def __post_init__(self) -> None:
        self.head = self.start
        self.doc_end = self.end
        self.literal = self.end, self.end
        self.last_row = self.end_line - 1

    def extend_to(self, other: Capture) -> None:
        """Make it end where a later definition ends, which is a part of it."""
        self.end = self.doc_end = other.end
        self.end_line, self.last_row = other.end_line, other.last_row


@dataclass(slots=True)
class Matches:
    """The query's captures, sorted by purpose."""

    definitions: dict[tuple[int, int], Capture]  # by byte span
    docstrings: dict[int, tuple[int, int]]  # start byte of a body -> byte span of the literal that opens it
    comments: dict[int, tuple[int, str]]  # last row of a comment on lines of its own -> first row and text
    comment_spans: list[tuple[int, int]]  # byte spans, ascending
    attributes: dict[int, int]  # last row of an attribute on lines of its own -> first row
    attribute_ends: dict[int, int]  # start byte -> end
    statements: list[tuple[int, int]]  # first and last rows at the top level, without imports and comments
    start: int  # byte where the top level begins, the key of the file's docstring in `docstrings`
    members: list[Capture] = field(default_factory=list)  # without a document
    accessors: dict[int, int] = field(default_factory=dict)  # start of a getter or setter -> of its type
    overloads: set[int] = field(default_factory=set)  # start bytes of signatures of a function below
    tests: set[int] = field(default_factory=set)  # start bytes of definitions that are marked as tests
    is_partial: bool = False  # the query gave up on some matches
    regions: list[tuple[int, int]] = field(default_factory=list)  # rows that the tree does not explain
    # Row where a part of something long begins -> how deep it is nested.
    statement_rows: dict[int, int] = field(default_factory=dict)


def collect(source: bytes, spec: Language) -> Matches:
    """Run the query of a language whose grammar is installed over a file, and sort its captures."""
    from tree_sitter import QueryCursor

    parsed = _parsed(source, spec)
    root = parsed.tree.root_node
    found = Matches({}, {}, {}, [], {}, {}, _statements(root), root.start_byte)
    found.statements += _blanked(source, parsed.text, spec.mask)
    found.regions = parsed.rows
    cursor = QueryCursor(load_query(spec), match_limit=_MATCH_LIMIT)
    for _, captures in cursor.matches(root):
        if comments := captures.get("comment"):
            _add_comment(found, comments[0], source)
        elif attributes := captures.get("attribute"):
            _add_attribute(found, attributes[0], source)
        elif accessors := captures.get("accessor"):
            found.accessors[accessors[0].start_byte] = _start_around(accessors[0])
        elif (names := captures.get("name")) and (kinds := captures.keys() & MEMBER_KINDS):
            (kind,) = kinds
            found.members.append(_member(kind, captures[kind][0], names[0], source, spec))
        elif docstrings := captures.get("docstring"):
            # The literal is in the first statement of its block, so the block's start finds its definition.
            # In PowerShell, it is a comment before the block.
            literal = docstrings[0]
            block = literal.next_named_sibling if literal.type == "comment" else literal.parent
            while block and block.type not in _BLOCKS:
                block = block.parent
            if block:
                found.docstrings[block.start_byte] = (literal.start_byte, literal.end_byte)
        else:
            found.tests.update(node.start_byte for node in captures.get("test", ()))
            found.overloads.update(node.start_byte for node in captures.get("overload", ()))
            _add_definition(found, captures, source, spec)
    _drop_misnamed(found, spec.keywords, source)
    found.comment_spans.sort()
    if mark := query_settings(spec).get("tests"):
        found.tests |= _below_tests(found.attribute_ends, source, mark.encode())
    found.is_partial = bool(cursor.did_exceed_match_limit)
    found.statement_rows = _statement_rows(root)
    return found


def _drop_misnamed(found: Matches, keywords: frozenset[str], source: bytes) -> None:
    """Drop what errors in the tree of C and its relatives give the name of a keyword or of a macro."""

    def is_misnamed(definition: Capture) -> bool:
        if definition.name in keywords:
            return definition.kind != "method"
        is_macro = definition.name.isupper() and not source.startswith(b"#", definition.start)
        end = definition.name_start + len(definition.name)
        is_call = definition.kind == PROTOTYPE and definition.start == definition.name_start
        return is_macro and bool((is_call and "_" in definition.name) or _BEHIND_MACRO.match(source, end))

    if keywords:
        found.members = [member for member in found.members if not is_misnamed(member)]
        for span in [span for span, definition in found.definitions.items() if is_misnamed(definition)]:
            del found.definitions[span]


class _Parsed(NamedTuple):
    """A tree, what was parsed, and what the tree does not explain."""

    tree: Tree
    text: bytes
    unexplained: int  # bytes
    rows: list[tuple[int, int]]  # the first and last ones of errors and of what the tree skips


def _parsed(source: bytes, spec: Language) -> _Parsed:
    """Return the tree of a file with the fewest unexplained bytes: without macros, repaired, or of the file itself."""
    if not spec.mask:
        return _tree_of(source, spec)
    from codesearch.parsing.masks import mask, repair  # Its patterns take long to compile.

    text = mask(source, spec.mask)
    best = _tree_of(text, spec)
    if best.unexplained > _MIN_ERRORS * len(text) and (repaired := repair(text, spec.mask)) != text:
        best = min(best, _tree_of(repaired, spec), key=attrgetter("unexplained"))
    # The grammar of Haskell takes all behind an `#else` for a part of it, without an error.
    if best.unexplained and text != source and spec.mask != "haskell":
        best = min(best, _tree_of(source, spec), key=attrgetter("unexplained"))
    return best


def _tree_of(text: bytes, spec: Language) -> _Parsed:
    tree = load_parser(spec).parse(text)
    return _Parsed(tree, text, *_errors(tree, text))


def _errors(tree: Tree, text: bytes) -> tuple[int, list[tuple[int, int]]]:
    """Return how many bytes a tree does not explain, and the first and last rows of errors and of what it skips."""
    spans, nodes = [], [tree.root_node] if tree.root_node.has_error else []
    while nodes:
        node = nodes.pop()
        if node.is_error or node.is_missing:
            spans.append((node.start_byte, node.end_byte))
        elif node.has_error and node.child_count:
            nodes.extend(node.children)
            ends = accumulate((child.end_byte for child in node.children), max, initial=node.start_byte)
            starts = (*(child.start_byte for child in node.children), node.end_byte)
            spans += [gap for gap in zip(ends, starts, strict=True) if _WORD.search(text, *gap)]
    breaks = [match.start() for match in re.finditer(rb"\n", text)] if spans else []
    rows = [(bisect_left(breaks, start), bisect_left(breaks, end)) for start, end in spans]
    return sum(end - start + 1 for start, end in spans), rows


def _blanked(source: bytes, text: bytes, rules: str) -> list[tuple[int, int]]:
    """Return the rows that the parser was not given."""
    if source == text or rules == "rust":  # Only the braces of macros.
        return []
    pairs = enumerate(zip(source.split(b"\n"), text.split(b"\n"), strict=True))
    return [(row, row) for row, (line, rest) in pairs if line != rest and not rest.strip()]


def _start_around(accessor: Node) -> int:
    """Return where the body of the type or object begins that has a getter or setter."""
    around = accessor.parent
    if around and around.type == "decorated_definition":
        around = around.parent
    return around.start_byte if around else 0


def _last_row(node: Node) -> int:
    """Return the last row with text of a node, which may end with a line."""
    row, column = node.end_point
    return row - (column == 0 and row > node.start_point[0])


def _statements(root: Node) -> list[tuple[int, int]]:
    first = next((node.start_point[0] for node in root.named_children if "comment" not in node.type), 0)
    return [
        (node.start_point[0], _last_row(node))
        for node in root.named_children
        if node.type not in _NO_STATEMENTS
        # A string that opens the file is its docstring; one of one line may be `'use strict'`.
        and not (
            node.type == "expression_statement"
            and [child.type for child in node.named_children] == ["string"]
            and node.start_point[0] in (node.end_point[0], first)
        )
    ]


def _statement_rows(root: Node) -> dict[int, int]:
    """Return the rows where a part of a node of many rows begins: a statement, a row of a table, an argument."""
    depths: dict[int, int] = {}
    nodes = [(root, 0)]
    for node, depth in nodes:  # The least nested ones come first.
        for child in node.named_children:
            first = child.start_point[0]
            depths.setdefault(first, depth)
            if child.end_point[0] - first >= _MANY_ROWS:
                nodes.append((child, depth + 1))
    return depths


def _below_tests(attribute_ends: dict[int, int], source: bytes, mark: bytes) -> set[int]:
    """Return the start of what stands below each attribute that marks a test, and below attributes in between."""
    starts: set[int] = set()
    for start, end in sorted(attribute_ends.items()):
        if start in starts or re.match(mark, source[start:end]):
            gap = _SPACE_AND_COMMENTS.match(source, end)
            starts.add(gap.end() if gap else end)
    return starts


def _add_comment(found: Matches, node: Node, source: bytes) -> None:
    start = node.start_byte
    found.comment_spans.append((start, node.end_byte))
    if source.startswith(b"#!") and start == 0:
        return
    line_start = source.rfind(b"\n", 0, start) + 1
    if source[line_start:start].strip():
        return  # It trails code, so it documents that line and not the next.
    found.comments[_last_row(node)] = (node.start_point[0], _text(node, source).rstrip())


def _add_attribute(found: Matches, node: Node, source: bytes) -> None:
    hidden = _ARGUMENTS.match(source, node.end_byte)
    end = hidden.end() if hidden else node.end_byte
    found.attribute_ends[node.start_byte] = end
    # An attribute on the line of a definition does not belong to the next line.
    if _BLANK_TO_LINE_END.match(source, end):
        last = node.end_point[0] + source.count(b"\n", node.end_byte, end)
        found.attributes[last] = node.start_point[0]


def _add_definition(found: Matches, captures: dict[str, list[Node]], source: bytes, spec: Language) -> None:
    kind = next(filter(captures.__contains__, _KINDS), "")
    if not kind or (kind == "constant" and _is_broken(captures[kind][0])):
        return
    node = captures[kind][0]
    span = (node.start_byte, node.end_byte)
    known = _known(found, span, kind)
    names, bodies, receivers = (captures.get(part) for part in ("name", "body", "receiver"))
    if known:
        kinds = {known.kind, kind}
        if "class" in kinds and (special := kinds & _SPECIAL_CLASSES):
            known.kind = kind = special.pop()
        if known.name and (known.body or not bodies):
            if kind == known.kind == "constant" and names and names[0].start_byte != known.name_start:
                found.members.append(_member(FIELD, names[0].parent or node, names[0], source, spec))
            return
    first_row = node.start_point[0]
    # In Dart, the body is below the node, not in it.
    last = max(node, *bodies, key=attrgetter("end_byte")) if bodies else node
    end, last_row = _end_of(node.start_byte, last, source, spec.trailing_comment.encode())
    if kind == "anonymous" and (known or last_row - first_row + 1 < _MIN_ANONYMOUS_LINES):
        return
    is_callback = kind == "anonymous"
    receiver, name = _qualified(kind, names[0], source, spec) if names else ("", "")
    if is_callback:
        name = callback_name(node)[:_MAX_NAME]
        if " " not in name:
            receiver, name = split_qualified(name, spec.separator)
    if receivers:
        receiver = receiver_type(_text(receivers[0], source))
    found.definitions[span] = Capture(
        kind="function" if is_callback else kind,
        name=name,
        receiver=receiver,
        body=bodies[0].start_byte if bodies else None,
        start=node.start_byte,
        end=end,
        row=min(first_row, names[0].start_point[0]) if names else first_row,
        start_line=first_row + 1,
        end_line=last_row + 1,
        name_start=names[0].start_byte if names else node.start_byte,
        is_callback=is_callback,
    )


def _is_broken(node: Node) -> bool:
    """Say whether there is an error in a constant: parameters of a function of C can look like one."""
    return node.has_error and any(child.is_error for child in node.children)


def _member(kind: str, node: Node, name: Node, source: bytes, spec: Language) -> Capture:
    receiver, text = _qualified(FIELD, name, source, spec)
    first, end = node.start_point[0], _last_row(node) + 1
    return Capture(
        kind, text, receiver, None, node.start_byte, node.end_byte, first, first + 1, end, name.start_byte
    )


def joined_accessors(definitions: Iterable[Capture], found: Matches) -> list[Capture]:
    """Join the getter and the setter of a name to one definition, also if there are others between them."""
    kept: list[Capture] = []
    first: dict[tuple[int, str], Capture] = {}
    for definition in definitions:
        around = found.accessors.get(definition.start)
        accessor = definition if around is None else first.setdefault((around, definition.name), definition)
        if accessor is definition:
            kept.append(definition)
            continue
        accessor.docstring = accessor.docstring or definition.docstring
        if accessor is kept[-1]:
            accessor.extend_to(definition)
        else:
            accessor.parts.append((definition.start, definition.end))
            accessor.last_row = definition.last_row
    return kept


def without_overloads(definitions: Sequence[Capture], found: Matches) -> list[Capture]:
    """Turn what is marked as an overload of the function below into prototypes."""
    kept, rows = list[Capture](), set[int]()
    for definition in reversed(definitions):
        if definition.start in found.overloads and kept and kept[-1].name == definition.name:
            if kept[-1].start not in found.overloads:
                definition.kind = PROTOTYPE
                found.members.append(definition)
                rows.add(definition.last_row)
                continue
        kept.append(definition)
    found.statements = [(first, last) for first, last in found.statements if last not in rows]
    return kept[::-1]


def qualified_members(definitions: Sequence[Capture], found: Matches) -> list[Capture]:
    """Return what has no document of its own in source order, each once, with the names of the types around it.

    `definitions` are those with a document, in source order; the members are fields, properties and small constants.
    """
    documented = {definition.name_start for definition in definitions if definition.kind not in NAME_LENDERS}
    seen = {(*definition.qualifiers, definition.name) for definition in definitions if definition.is_callback}
    types = (
        definition for definition in definitions if definition.kind not in ("constant", "function", "method")
    )
    members = sorted(found.members, key=lambda member: (member.start, member.name_start))
    outer, kept = list[Capture](), list[Capture]()
    for capture in merge(types, members, key=attrgetter("start")):
        while outer and outer[-1].end <= capture.start:
            outer.pop()
        if capture.kind not in (*MEMBER_KINDS, "constant"):
            outer.append(capture)
            continue
        around = (scope for scope in reversed(outer) if scope.name_start != capture.name_start)
        capture.qualifiers = qualifiers_below(next(around, None), capture)
        # Several prototypes with a name are overloads.
        of_prototype = (str(capture.name_start),) if capture.kind == PROTOTYPE else ()
        key = (*capture.qualifiers, capture.name, *of_prototype)
        if capture.name_start not in documented and key not in seen:
            seen.add(key)
            kept.append(capture)
    return kept


def qualifiers_below(outer: Capture | None, definition: Capture) -> list[str]:
    """Return the names around a definition that is in another, outermost first."""
    names = outer.qualifiers[:] if outer else []
    if outer and outer.name and not outer.is_callback:
        names.append(outer.name)
    if definition.receiver and definition.receiver not in ("self", "this", *names[-1:]):
        names.append(definition.receiver)
    return names


def _known(found: Matches, span: tuple[int, int], kind: str) -> Capture | None:
    """Return what another pattern made of the same code. A constant gives way: `Point = Struct.new(:x)` is a class."""
    known = found.definitions.get(span)
    return None if known and known.kind == "constant" != kind else known


def _qualified(kind: str, name: Node, source: bytes, spec: Language) -> tuple[str, str]:
    text = " ".join(_text(name, source).split())[:_MAX_NAME]
    if not (name.text or b"").strip(b"_"):
        return "", text  # The title of a test of C++ (see `masks`).
    if " " in text and text[0] in "'\"":  # The title of a test.
        return "", text.strip("'\"")
    text = re.sub(spec.sigil, "", text)
    if kind in NAME_LENDERS:
        return "", without_type_arguments(
            text.strip("'\"`").replace("inline ", "").removesuffix(".prototype")
        )
    # `TEST(Suite, Name)`; a global name of C++ and a key of Elixir.
    return split_qualified(_OUTER_COLONS.sub("", text.replace(", ", spec.separator)), spec.separator)


def _end_of(start: int, last: Node, source: bytes, mark: bytes) -> tuple[int, int]:
    """Return end byte and last row, without white space and `mark` comments below the last statement."""
    end = last.end_byte
    while True:
        while end > start and source[end - 1 : end].isspace():
            end -= 1
        line_start = source.rfind(b"\n", start, end) + 1 if mark else 0
        if line_start <= start or not source[line_start:end].lstrip().startswith(mark):
            return end, last.end_point[0] - source.count(b"\n", end, last.end_byte)
        end = line_start


def _text(node: Node, source: bytes) -> str:
    return source[node.start_byte : node.end_byte].decode("utf-8", "replace")


def toplevel_statements(
    definitions: Sequence[Capture], found: Matches, source: bytes, max_bytes: int
) -> Iterator[tuple[int, int, bytes]]:
    """Yield the statements outside of all definitions, without imports, in parts of at most `max_bytes`.

    A part is the first and last row of its longest run without a definition between its statements, and all its text.
    """
    lines = source.split(b"\n")
    covered = _merged(_rows_of(definitions, source))
    starts = [first for first, _ in covered]
    openings = set(starts)
    comments = {row for last, (first, _) in found.comments.items() for row in range(first, last + 1)}
    runs: dict[int, list[int]] = {}
    size, covered_to = 0, -1
    for first, last in _merged(found.statements):
        for row in range(first, min(last + 1, len(lines))):
            if row <= covered_to:
                continue
            # Rows with the same position have no definition between them.
            position = bisect_right(starts, row)
            covered_to = covered[position - 1][1] if position else -1
            opens = row + 1 in openings and lines[row].rstrip().endswith((b"{", b"(", b"["))
            closes = position not in runs and _CLOSING.match(lines[row])
            if row <= covered_to or opens or closes or row in comments:
                continue
            if _WORD.search(lines[row]) and not _IMPORT.match(lines[row]):
                above = runs[position][-1] if position in runs else row - 1
                length = sum(len(line) + 1 for line in lines[above + 1 : row + 1])
                if runs and size + length > max_bytes:
                    yield _part(runs, lines)
                    runs, size = {}, 0
                runs.setdefault(position, []).append(row)
                size += length
    if runs:
        yield _part(runs, lines)


def _part(runs: dict[int, list[int]], lines: Sequence[bytes]) -> tuple[int, int, bytes]:
    longest = max(runs.values(), key=len)
    code = (
        line for rows in runs.values() for line in lines[rows[0] : rows[-1] + 1] if not _IMPORT.match(line)
    )
    return longest[0], longest[-1], b"\n".join(code)


def _rows_of(definitions: Sequence[Capture], source: bytes) -> Iterator[tuple[int, int]]:
    """Yield first and last rows of each definition; of an owner, those above its first member."""
    for definition, following in zip_longest(definitions, definitions[1:]):
        if definition.kind not in NAME_LENDERS:
            yield definition.anchor_row, definition.last_row
        elif definition.kind == "owner" and following and following.start < definition.end:
            if source[source.rfind(b"\n", 0, definition.start) + 1 : definition.start].strip():
                continue  # It is the value of a variable.
            head = source[definition.start : following.start].partition(b"{")[0]
            yield definition.anchor_row, definition.row + head.rstrip().count(b"\n")


def head_comment(definitions: Iterable[Capture], found: Matches) -> str:
    """Return the text of the comment that opens a file; "" if it is a licence or belongs to a definition."""
    by_first_row = {first: (last, text) for last, (first, text) in found.comments.items()}
    row = min(by_first_row, default=_HEAD_ROWS)
    below = found.statements[0][0] if found.statements else 0
    if row >= min(_HEAD_ROWS, below) or any(d.anchor_row <= row < d.row for d in definitions):
        return ""
    parts = []
    while row in by_first_row:
        last, text = by_first_row[row]
        parts.append(clean_comment(text))
        row = last + 1
    comment = "\n".join(parts).strip()
    return "" if _LICENCE.search(comment) else comment


def _merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join spans of rows that overlap; ascending."""
    joined: list[tuple[int, int]] = []
    for first, last in sorted(spans):
        if joined and first <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(joined[-1][1], last)
        else:
            joined.append((first, last))
    return joined
