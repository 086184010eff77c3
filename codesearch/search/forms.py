"""The form of a query: a name, a path, code, or words.

A query asks for a name if it is only a name, or a name with a hint: a kind ("class Flask", "Flask class"), or "where is
Flask defined" and its like.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from codesearch.parsing.identifiers import split_identifier
from codesearch.types import HEADER_KINDS, KINDS

_SEPARATORS = re.compile(r"::|->|[#.\\]")
_CALL = re.compile(r"\((?:[^()]|\([^()]*\))*\)?;?$")
_NAME = re.compile(r"[^\W\d][\w$]*(?:-\w[\w$]*)*[?!=']?")
_MAX_WORDS = 5
"""A name rarely has more words."""
_MAX_CHARS, _MANY_WORDS = 1_000, 40
"""A longer query is not taken for a name or a path."""
_NO_QUALIFIERS = frozenset({"self", "this", "cls", "crate", "super"})
_CODE_LINE = re.compile(
    r"[;{}:(\[]\s*$|^\s*[}\])@]|=>|->|[-+*/|&:!=<>]=|\w\s=\s\S|\w\(.*\)|^\s*(?:end|return)\b|[\w\])]\.\w+\(|\$\w"
)
_CODE = re.compile(r"[;{}]\s*$|=>|->|\w\(.*\).*[;={(]|^\s*(?:def|func|fn|function)\s+\w+\s*\(")
"""A single line that matches this is code. `_CODE_LINE` matches lines of code in a query of several lines."""
_ASKS_WHERE = re.compile(
    r"(?:where\s+(?:is|are)|(?:definition|declaration|implementation)\s+of)\s+(?:the\s+)?(.+?)"
    r"(?:\s+(?:defined|declared|implemented))?\s*\??",
    re.IGNORECASE,
)
_FUNCTIONS, _CLASSES = frozenset({"function", "method"}), HEADER_KINDS | {"type"}
_HINTS = {
    **dict.fromkeys("def defp defmacro func function fn fun macro sub".split(), (_FUNCTIONS,)),
    "method": (frozenset({"method"}), _FUNCTIONS),
    **{kind: (frozenset({kind}), _CLASSES) for kind in _CLASSES},
    "protocol": (frozenset({"interface"}), _CLASSES),
    **dict.fromkeys(("record", "union"), (frozenset({"class", "struct"}), _CLASSES)),
    **dict.fromkeys(("const", "constant"), (frozenset({"constant"}),)),
    **dict.fromkeys(("defmodule", "module", "namespace"), (frozenset({"module"}), _CLASSES)),
}
"""Word before or after a name -> the kinds that it asks for; if no definition has the first ones, the next ones."""
_MODIFIERS = frozenset(
    "abstract async export default final inline internal open override private protected pub public sealed static "
    "unsafe virtual".split()
)
_PATH = re.compile(r"(?P<path>[^\n]+?)(?::(?P<line>\d{1,9})(?::\d*)?)?:?")
_LIKE_A_PATH = re.compile(r"[/\\]|\.\w+$|^(?:\w*[Mm]ake|\w+)file$")


@dataclass(frozen=True, slots=True)
class AskedName:
    """A name that a query asks for.

    Attributes:
        qualifiers: names around it, outermost first.
        name: as it is in the query.
        kinds: sets of kinds that it should have, the best set first; empty if any kind will do.
    """

    qualifiers: Sequence[str]
    name: str
    kinds: Sequence[frozenset[str]] = ()


@dataclass(frozen=True, slots=True)
class AskedPath:
    """The end of a path, with forward slashes, and a line in the file; 0 for none."""

    path: str
    line: int = 0


def asked_name(query: str) -> AskedName | None:
    """Return the name that a query asks for, or None.

    >>> asked_name("where is Stack.push defined?")
    AskedName(qualifiers=['Stack'], name='push', kinds=())
    >>> asked_name("push function").name, asked_name("push an item")
    ('push', None)
    """
    if len(query) > _MAX_CHARS:
        return None
    where = _ASKS_WHERE.fullmatch(query.strip())
    words = (where[1] if where else query).split()
    first = next((place for place, word in enumerate(words) if word not in _MODIFIERS), 0)
    kinds: Sequence[frozenset[str]] = ()
    if len(words) > first + 1 and words[first].lower() in _HINTS:
        kinds, words = _HINTS[words[first].lower()], words[first + 1 :]
    elif len(words) > 1 and words[-1].lower() in _HINTS:
        kinds, words = _HINTS[words[-1].lower()], words[:-1]
    text = " ".join(words).rstrip(":{ ") if kinds else " ".join(words)
    parts = name_parts(text)
    if parts and not kinds and parts[-1][0].islower() and _CALL.search(text):
        kinds = (_FUNCTIONS, frozenset(KINDS))
    return AskedName(parts[:-1], parts[-1], kinds) if parts else None


def asked_path(query: str) -> AskedPath | None:
    r"""Return the path that a query may be; the file may not exist.

    >>> asked_path("./http/client.py:12:3"), asked_path("a client")
    (AskedPath(path='http/client.py', line=12), None)
    """
    match = _PATH.fullmatch(query.strip()) if len(query) <= _MAX_CHARS else None
    if match is None or not _LIKE_A_PATH.search(match["path"]):
        return None
    path = match["path"].replace("\\", "/").removeprefix("./").lstrip("/")
    return AskedPath(path, int(match["line"] or 0))


def name_parts(query: str) -> list[str]:
    """Split a query that is only a name, as it is written in code, into qualifiers and name; return [] for others.

    >>> name_parts("Stack::push(item)"), name_parts("self.items"), name_parts("push an item")
    (['Stack', 'push'], ['items'], [])
    """
    parts = split_name(_CALL.sub("", query.strip()))
    if not all(_NAME.fullmatch(part) for part in parts):
        return []
    return parts[1:] if len(parts) > 1 and parts[0] in _NO_QUALIFIERS else parts


def split_name(qualified: str) -> list[str]:
    """Split a qualified name at the separators of all languages."""
    return _SEPARATORS.split(qualified)


def spellings(name: str) -> list[str]:
    """List the spellings of a name: as given, with underscores between its words, and without them.

    >>> spellings("readLines")
    ['readLines', 'read_lines', 'readlines']
    """
    parts = split_identifier(name)
    return list(dict.fromkeys([name, "_".join(parts), "".join(parts)])) if parts else [name]


def possible_names(query: str) -> list[str]:
    """List the names that a query may mean, ignoring case: the one that it asks for, and its words as one name.

    >>> possible_names("Stack.push"), possible_names("zip file"), possible_names("what is this?")
    (['push'], ['zip_file', 'zipfile'], [])
    """
    asked = asked_name(query)
    return [*(spellings(asked.name) if asked else ()), *joined_names(query)]


def joined_names(query: str) -> list[str]:
    """List the names that the words of a short query make; none if its words are hints and a name in mixed case.

    >>> joined_names("Zip file"), joined_names("class loader"), joined_names("class Loader")
    (['zip_file', 'zipfile'], ['class_loader', 'classloader'], [])
    """
    words = query.lower().split()
    if not 1 < len(words) <= _MAX_WORDS or not all(map(str.isalnum, words)):
        return []
    if not query.islower() and asked_name(query):
        return []
    return ["_".join(words), "".join(words)]


def is_code(query: str) -> bool:
    r"""Say whether a query is a piece of code: several lines, or one line that does not look like a sentence.

    >>> is_code("for x in xs:\n    total += x"), is_code("if (a == b) { return a; }"), is_code("parse(x) in go")
    (True, True, False)
    """
    if asked_name(query):
        return False
    lines = [line for line in query.splitlines() if line.strip()]
    if len(lines) > 1:
        return any(map(is_code_line, lines))
    return _CODE.search(query) is not None


def is_code_line(line: str) -> bool:
    """Say whether a line of several lines looks like code."""
    return _CODE_LINE.search(line) is not None


def is_long(query: str) -> bool:
    """Say whether a query has several lines or more than forty words."""
    return "\n" in query.strip() or len(query.split()) > _MANY_WORDS
