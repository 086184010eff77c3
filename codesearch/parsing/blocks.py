r"""A file of any language -> blocks, without a parser.

A line such as `function area(shape)`, `message User {` or `(defn area` opens a block of code and names it. The block
ends where the next one begins, below the line that closes it, or at a line that is indented less. At the top level, it
also ends at an unindented line below a blank line. Comments right above are its documentation.
All other lines are cut into parts of about 2.5 kB, at blank lines if possible. A part has its first line as its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from inspect import cleandoc

from codesearch.config import ParseConfig
from codesearch.languages.records import Language
from codesearch.parsing.docstrings import MAX_DOCSTRING, clean_comment, clean_xml
from codesearch.parsing.flags import file_flags
from codesearch.parsing.identifiers import module_name, split_qualified
from codesearch.parsing.keys import copy_key
from codesearch.parsing.sections import lines_of, parts_of
from codesearch.types import Document

_MAX_LINE = 300
_MAX_TITLE = 120
_MAX_OUTER = 16
_MAX_HEADING_ROWS = 8
_BEFORE = (
    r"\s*(?:@[\w.]+(?:\([^()]*\))?\s+)*(?:(?:export|default|public|private|protected|internal|static|final|abstract|async|inline|pub|local|override|"
    r"virtual|sealed|open|extern|unsafe|pure|elemental|recursive|partial|declare|extend|suspend|data|inner|operator|infix|"
    r"case|implicit|fileprivate|mutating|opaque|shared|friend|notinheritable|mustinherit|overridable|overrides|external|"
    r"enum(?=\s+class\b)|"
    r"create|alter(?=\s+(?:proc|func|view|trig))|or\s+(?:replace|alter)|temp|temporary|global|materialized|unique|aggregate|"
    r"(?:non)?editionable|definer\s*=\s*\S+)\s+)*"
)
# Names of SQL may have quotes and a schema before them, as in `dbo.[Close Month]`; names of Nim have backticks.
_NAME = (
    r"""\s+(?:if\s+not\s+exists\s+)?(?:(?:[\w$]+|[\["`][\w\ $-]+[\]"`])\.(?=[\["`]))*"""
    r"""(?:\[(?P<bracketed>[^\W\d][\w\ $-]*)\]|"(?P<quoted>[^\W\d][\w\ $-]*)"(?!\s+")|`(?P<ticked>[^`]{1,80})`"""
    r"""|(?:["'`\[@]|::)?(?P<name>[^\W\d][\w.:$@!?*'#/~-]*))"""
)
_FUNCTION = re.compile(
    rf"""{_BEFORE}(?:def|defp|fn|fun(?!\s+\w+\s*->)|func|@?function!?|@?mixin|@keyframes|iterator|converter
        |template|sub|subroutine|proc|procedure|method|macro|rpc
        |task(?:\s+(?:body|type)\b)?|query|mutation|subscription|fragment|directive|trigger)(?:\s+\([^()]*\)|\s+(?:\w+|\[[^\]]*\])\s*=(?=\s*\w+\s*\())?{_NAME}
    | \s*\((?:def[\w*-]*)\s+\(?(?:\^(?:\{{[^}}]*\}}|\S+)\s+)*(?P<lisp>[^\s()\[\]"';]+)      # of Lisp
    | \s*(?:function|macro)\s*\(\s*(?P<cmake>\w+)                                           # of CMake
    | \s*["']?(?P<assigned>[\w.$]+)["']?\s*(?:<-|:?=|::?)\s*(?:(?:function|proc|sub|fun|fn)\b|\\\()
    | \s*let\s+(?:(?:rec|inline|private|internal|mutable)\s+)*(?P<let>\w+|\([^\w\s()]+\))\s+[^=\s][^=]*=  # of ML
    | \s*(?:(?:static|abstract|default|inline)\s+)*(?:member|override(?=\s+\w+\.))\s+(?:(?:inline|private|internal)\s+)*
        (?:\w+\.)?(?P<member>\w+)                                                           # of F#
    | \s*(?!end\b|return\b)(?:[a-z]\w*(?:\s*\([^()]*\))?,?\s+){{1,5}}(?:function|subroutine)\s+
        (?P<typed_before>\w+)\s*\(                                                          # of Fortran, with its type
    | (?P<clause>[a-z]\w*)\s*\(.*->\s*                                                      # a clause of Erlang
    | (?:\s+(?=[^;]*\)[^;()]*\{{))?(?!(?:create|module|class)\b)
        (?:[A-Za-z_][\w<>\[\],.:]*[ \t*&]+){{1,6}}(?P<typed>[\w:~]+)\s*\([^;{{}}=]*         # of C, behind its type
        (?:\)[^;()]*\{{(?:.*\}})?|,|\()?\s*$""",
    re.VERBOSE | re.IGNORECASE,
)
_CLASS = re.compile(
    rf"""(?:resource|data|variable|output|provider|module|check|run|ephemeral)\s+         # of Terraform
        (?P<hcl>"[\w-]+"(?:\s"[\w-]+")?)\s*\{{
    | \s*type(?:\s*,[\w\s,()]*)?\s*::\s*(?P<derived>\w+)      # of Fortran
    | {_BEFORE}(?:(?:oo::)?class(?:\s+create)?|interface|trait|protocol|object|type(?:\s+alias)?|enum|struct
        |exception|program|record|union|module(?!\s+procedure\b)
        |package(?:\s+body(?!\s+is\b)|(?=\s+[\w."]+\s+(?:as|is)\b))|namespace(?:\s+eval)?(?!\s+[\w*]+\s+[\w.]+\s*$)|message|service
        |contract|library|entity|component|architecture|table|view|schema|model|input(?=\s+\w+[^,;()]*\{{)|scalar|instance)
        (?-i:\s+[A-Z\d]+_[A-Z\d_]+(?=\s+\w+\s*(?:[:{{]|final\b|$)))?{_NAME}               # with an attribute of C++""",
    re.VERBOSE | re.IGNORECASE,
)
_KEYWORDS = frozenset(
    "if for while switch return else catch when until unless case do foreach with try elif in is as of".split()
)
_COMMENT = re.compile(r"\s*(?:#(?![\[\w])|//|\*(?!\w)|--|;|%|!\s|\"\s)")
_ATTRIBUTE = re.compile(r"\s*(?:@\w[\w.]*\s*(?:\(.*)?$|#\[|\[<)")
_MARKS = "/* */ (* *) {- -} <!-- --> <# #> #= =# #| |# =b =cut =e =cut =f =cut =h =cut =i =cut =o =cut =p =cut".split()
_OPENINGS = {'""': '"""', **dict(zip(_MARKS[::2], _MARKS[1::2], strict=True))}
_TEXT_QUOTES = ('"""', "'''")
# The end of a text that begins in a line: `<<~"EOT"`, `trim END`; `AS $tag$` of SQL; `q"EOS` of D.
_HEREDOC = re.compile(
    r"""<<[-~]?\s?(?:trim\s+|eval\s+)*["'\\]?([A-Z_]\w*) | \b(?:as|do)\s+(\$\w*\$)(?!.*\$\w*\$)
    | \bq"([A-Z_]\w*)$""",
    re.VERBOSE | re.IGNORECASE,
)
_OPEN_STRING = re.compile(r'[\s=(,\[]"$')
_STRING_MARK = re.compile(r"""\\.|['{]"['}]|(")""")
_TEXT_MARK = re.compile(r"""\"{3}|'{3}|"|\$\w*\$""")
_END_OF_CODE = ("__END__", "__DATA__")
_CLOSER = re.compile(
    r"\s*(?:[\])};,]+|end\w*\b[^=(]*|fi|esac|done|contains|\$\$.*)[\s\])};,]*$", re.IGNORECASE
)
_LITERAL = re.compile(r'[^\n]*\n\s*"((?:[^"\\]|\\.){3,2000})"')
"""A string on the second line, which is the documentation of a function of Lisp."""
_WORD = re.compile(r"\w")
_LAST = re.compile(r"\s*(?:[\])]*\}|[\])]+\s*;|end\w*\b|esac\b|fi\b|done\b|\{/)", re.IGNORECASE)
_GOES_ON = re.compile(r"\s*(?:\{(?:\s|$)|[()]|(?:as|begin|do|is|where)\b)", re.IGNORECASE)


@dataclass(slots=True)
class _Block:
    """Rows that belong together."""

    kind: str  # "function", "class", or "module" for lines that define nothing
    name: str  # "" if it has none
    row: int  # its first line, 0-based
    doc_row: int  # where the comments above it begin; the block before it ends there
    indent: int = 0  # columns before its first line
    outer: tuple[str, ...] = ()  # names of the blocks around it
    last_row: int = 0  # with the blocks in it
    has_members: bool = False
    is_closed: bool = False  # a line closed it


def block_documents(
    source: bytes,
    path: str,
    spec: Language,
    config: ParseConfig,
    parts: Sequence[tuple[int, int, Sequence[str]]] = (),
) -> Iterator[Document]:
    """Yield a file as blocks, in order; or some parts of it: first row, row behind the last, names around them."""
    lines, starts = lines_of(source)
    lines = [line.expandtabs(4) for line in lines]
    flags, file_name = file_flags(path, source), module_name(path) or spec.name
    for first, behind, around in parts or [(0, len(lines), ())]:
        rows, offsets = lines[first:behind], starts[first : behind + 1]
        blocks = _blocks(rows, spec) if spec.content == "code" else [_Block("section", "", 0, 0)]
        ends = [*(block.doc_row for block in blocks[1:]), len(rows)]
        for block, block_end in zip(blocks, ends, strict=True):
            for row, end in parts_of(rows, offsets, block.row, block_end):
                while end > row and _is_behind(rows[end - 1], block):
                    end -= 1
                code = source[offsets[row] : max(offsets[end] - 1, offsets[row])][: config.max_code_bytes]
                text = code.decode("utf-8", "replace")
                if not _WORD.search(text):
                    continue
                title = block.name or (_title(rows[row:end]) if first + row else "") or file_name
                outer, name = split_qualified(title, spec.separator) if block.name else ("", title)
                kind = "method" if around and block.kind == "function" else block.kind
                qualified = spec.separator.join(filter(None, [*around, *block.outer, outer, name]))
                signature = " ".join(rows[row].split())[:_MAX_LINE]
                docstring = (_comments(rows, block) or _literal(text)) if row == block.row else ""
                last = block.last_row + 1 if block.has_members and row == block.row else end
                yield Document(
                    *(path, spec.name, kind, name, qualified, signature, docstring),
                    *(first + row + 1, first + end, first + max(last, end)),
                    code=text,
                    start_byte=offsets[row],
                    end_byte=offsets[end] - 1,
                    flags=flags,
                    copy_key=copy_key("", name, code, spec),
                )


def _is_behind(line: str, block: _Block) -> bool:
    """Say whether a line below a block is blank or closes the block around it."""
    text = line.lstrip()
    return not text or (len(line) - len(text) < block.indent and _CLOSER.match(line) is not None)


def _comments(lines: Sequence[str], block: _Block) -> str:
    above = [line for line in lines[block.doc_row : block.row] if not _ATTRIBUTE.match(line)]
    return clean_xml(clean_comment("\n".join(above))).strip('"')[:MAX_DOCSTRING]


def _literal(text: str) -> str:
    match = _LITERAL.match(text)
    return cleandoc(match[1]) if match else ""


def _title(lines: Sequence[str]) -> str:
    """Return the first line with a word in it."""
    line = next((line for line in lines if _WORD.search(line)), "")
    return clean_comment(" ".join(line[:_MAX_LINE].split()))[:_MAX_TITLE].rstrip(" {([=:;,")


def _blocks(lines: Sequence[str], spec: Language) -> list[_Block]:
    """Cut the lines of a program into blocks."""
    blocks = [_Block("module", "", 0, 0)]
    around: list[_Block] = []  # The blocks that enclose the next line, outermost first.
    last, paragraph = 0, (0, 0)
    for row, doc_row in _rows_of_code(lines, spec):
        line = lines[row]
        if not lines[doc_row - 1].strip():
            paragraph = row, doc_row
        block = _Block("module", "", row, doc_row, len(line) - len(line.lstrip()))
        is_left = _leave(around, block, lines, last)
        opened = _opened(line[:_MAX_LINE], spec.block, block, around)
        if opened is None:
            if around and line[0] not in " {)`" and _is_apart(line, lines, doc_row, last):
                is_left = _close(around, last)
            if is_left:
                block.outer = _enter(around)
                blocks.append(block)
        # The next clause of the same function, as in Erlang, is a part of it.
        elif opened.name != blocks[-1].name or not lines[last].rstrip().endswith(";"):
            _close(around, last, opened.indent)
            opened.outer = _enter(around)
            if opened.kind == "function" and around:
                opened.kind = "method"
            opened.is_closed = line.count("{") == line.count("}") > 0 or line.endswith((" end", " end;"))
            around.append(opened)
            _join_heading(opened, blocks, paragraph)
            blocks.append(opened)
        last = row
    _close(around, last)
    return blocks


def _enter(around: Sequence[_Block]) -> tuple[str, ...]:
    """Return the names of the blocks around a new one, which is a member of the innermost."""
    if around:
        around[-1].has_members = True
    return tuple(block.name for block in around[-_MAX_OUTER:])


def _close(around: list[_Block], last: int, indent: int = 0) -> bool:
    """End the blocks that are indented as much as a new one; say whether there are any."""
    count = len(around)
    while around and around[-1].indent >= indent:
        around.pop().last_row = last
    return len(around) < count


def _leave(around: list[_Block], block: _Block, lines: Sequence[str], last: int) -> bool:
    """End the blocks that end above a line; say whether it belongs to what is around them."""
    line, count = lines[block.row], len(around)
    while around and line[0] not in "#`" and _is_past(around[-1], line, block.indent, lines, last):
        around.pop().last_row = last
    return len(around) < count and not _CLOSER.match(line)


def _is_past(block: _Block, line: str, indent: int, lines: Sequence[str], last: int) -> bool:
    """Say whether a line of code is below the end of a block, and note whether it closes the block."""
    if indent != block.indent or _GOES_ON.match(line):
        block.is_closed = block.is_closed and indent <= block.indent and not _GOES_ON.match(line)
        return indent < block.indent and not _GOES_ON.match(line)
    if block.is_closed:
        return True
    block.is_closed = _LAST.match(line) is not None
    return not block.is_closed and block.indent > 0 and not lines[last + 1].strip()


def _rows_of_code(lines: Sequence[str], spec: Language) -> Iterator[tuple[int, int]]:
    """Yield each row with code, and the first row of the comments and attributes right above it."""
    # In Lisp, `(*` opens no comment.
    openings = {mark: end for mark, end in _OPENINGS.items() if any(end in line for line in lines)}
    last_rows: dict[str, int] = {}
    first, closing, text_end = -1, "", ""
    for row, line in enumerate(lines):
        text = line.strip()
        opening = "" if closing else openings.get(text[:2], "")
        if text_end:
            first = -1
            text_end = "" if _ends_text(line, text_end) else text_end
        elif closing or opening or _COMMENT.match(line) or _ATTRIBUTE.match(line):
            closing = closing or opening
            if closing and closing in (text[2:] if opening else text):
                closing = ""
            first = row if first < 0 else first
        else:
            if text:
                yield row, row if first < 0 else first
            if text in _END_OF_CODE:
                return
            text_end, first = _text_end(line, spec.long_string), -1
            if text_end and not last_rows:
                last_rows = {mark: at for at, row_text in enumerate(lines) for mark in _marks(row_text)}
            text_end = text_end if last_rows.get(text_end, 0) > row else ""


def _marks(line: str) -> list[str]:
    """Return what may end a text in a line."""
    return [*_TEXT_MARK.findall(line), line.strip("\t ;,\")'")]


def _text_end(line: str, long_string: str) -> str:
    """Return the mark that ends a text which goes on below a line; "" if there is none."""
    for mark in _TEXT_QUOTES if long_string in _TEXT_QUOTES else _TEXT_QUOTES[:1]:
        if line.count(mark) % 2:
            return mark
    may_have = "<<" in line or "$" in line or 'q"' in line
    if may_have and (match := _HEREDOC.search(line)):
        return str(next(filter(None, match.groups())))
    is_open = long_string == '"' or _OPEN_STRING.search(line)
    return '"' if is_open and _is_odd(line) else ""


def _ends_text(line: str, end: str) -> bool:
    if end == '"':
        return _is_odd(line)
    if end in _TEXT_QUOTES:
        return line.count(end) % 2 == 1
    return end in line if end[0] == "$" else _marks(line)[-1] == end


def _is_odd(line: str) -> bool:
    return sum(map(bool, _STRING_MARK.findall(line))) % 2 == 1


@cache
def _own(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def _opened(line: str, own: str, block: _Block, around: Sequence[_Block]) -> _Block | None:
    """Complete the block that a line opens; None if it opens none, or is a part of a function."""
    if around and around[-1].kind != "class" and around[-1].indent < block.indent:
        return None
    for kind, pattern in (("", own and _own(own)), ("function", _FUNCTION), ("class", _CLASS)):
        if match := pattern and pattern.match(line):
            name = next(filter(None, match.groupdict().values()))
            name = (name.rstrip(":'`.*-/~") if kind else name).strip('"').replace('" "', ".")[:_MAX_TITLE]
            words = {name.lower(), line.split(None, 1)[0].lower()}
            if name and words.isdisjoint(_KEYWORDS):
                block.kind, block.name = kind or match.lastgroup or "", name
                return block
    return None


def _join_heading(opened: _Block, blocks: list[_Block], paragraph: tuple[int, int]) -> None:
    """Add the lines between a blank line and a block that belong to no other, such as its type."""
    row, doc_row = paragraph
    if (
        not blocks[-1].name
        and not blocks[-1].outer
        and max(blocks[-1].row, 1) <= row
        and opened.row - row <= _MAX_HEADING_ROWS
    ):
        opened.row, opened.doc_row = row, doc_row
        if blocks[-1].row == row:
            blocks.pop()


def _is_apart(line: str, lines: Sequence[str], first: int, last: int) -> bool:
    """Say whether an unindented line below a block is no part of it."""
    is_below_gap = first > 0 and not lines[first - 1].strip()
    return line.strip() in _END_OF_CODE or (
        not _CLOSER.match(line) and line[0] not in "{)" and (is_below_gap or bool(_CLOSER.match(lines[last])))
    )
