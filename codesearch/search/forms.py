"""The form of a query: a name, code, or words."""

from __future__ import annotations

import re

from codesearch.parsing.identifiers import split_identifier

_SEPARATORS = re.compile(r"::|->|[#.\\]")
_CALL = re.compile(r"\((?:[^()]|\([^()]*\))*\)?;?$")
_NAME = re.compile(r"[^\W\d][\w$]*[?!=]?")
_MAX_WORDS = 5
"""A name rarely has more words."""
_NO_QUALIFIERS = frozenset({"self", "this", "cls"})
_CODE_LINE = re.compile(
    r"[;{}:(\[]\s*$|^\s*[}\])@]|=>|->|[-+*/|&:!=<>]=|\w\s=\s\S|\w\(.*\)|^\s*(?:end|return)\b|[\w\])]\.\w+\(|\$\w"
)
_CODE = re.compile(r"[;{}]\s*$|=>|->|\w\(.*\).*[;={(]|^\s*(?:def|func|fn|function)\s+\w+\s*\(")
"""A single line that matches this is code. `_CODE_LINE` matches lines of code in a query of several lines."""


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
    """List the names that a query may mean, ignoring case: those of a name, or a few words joined to one name.

    >>> possible_names("Stack.push"), possible_names("zip file"), possible_names("what is this?")
    (['push'], ['zip_file', 'zipfile'], [])
    """
    if parts := name_parts(query):
        return spellings(parts[-1])
    words = query.lower().split()
    if not 1 < len(words) <= _MAX_WORDS or not all(map(str.isalnum, words)):
        return []
    return ["_".join(words), "".join(words)]


def is_code(query: str) -> bool:
    r"""Say whether a query is a piece of code: several lines, or one line that does not look like a sentence.

    >>> is_code("for x in xs:\n    total += x"), is_code("if (a == b) { return a; }"), is_code("parse(x) in go")
    (True, True, False)
    """
    if name_parts(query):
        return False
    lines = [line for line in query.splitlines() if line.strip()]
    if len(lines) > 1:
        return any(_CODE_LINE.search(line) for line in lines)
    return _CODE.search(query) is not None
