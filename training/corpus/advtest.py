"""Rows -> the rows that AdvTest keeps; rows for evaluation lose their identifiers.

*Source*: Lu et al. 2021 (CodeXGLUE), NL-code-search-Adv: the code must parse, and the documentation must be English,
with 3 to 256 tokens and no special tokens. Published examples in the validation and test sets have replaced names,
including `self` and Python's keyword arguments.

`locals.scm` finds the identifiers, so text in strings and comments
does not change:

- `@variable`: an identifier that may name a variable
- `@local`: one that makes its name local to the function: a parameter, an assignment, a pattern
- `@fixed`: one that makes its name not local: an import, a global, a nested function or class
- `@other`: one that names an attribute, a label or a type, even if a variable has the same name

Names are distinguished only by their text, not by scope: a lambda's `x` and its function's `x` get the same new name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from codesearch.languages import language_named, load_grammar, load_parser
from codesearch.languages.records import Language
from codesearch.parsing.definitions import collect
from codesearch.parsing.identifiers import words
from training.corpus.rows import CsnRow, Row

if TYPE_CHECKING:
    from tree_sitter import Node, Query, Tree

FUNCTION_NAME, LANGUAGE = "Func", "python"
_QUERY = Path(__file__).with_name("locals.scm")
_LEFT_OVER = re.compile(rb"\s*(?:#.*)?\Z", re.DOTALL)
_Span = tuple[int, int]
MIN_TOKENS, MAX_TOKENS = 3, 256
_ANONYMISED = ("valid", "test")
_SPECIAL = re.compile(r"<img\b|https?:", re.IGNORECASE)
_MIN_ASCII_LETTERS = 0.9
_ENGLISH = frozenset(
    "the a an of to and is in for from with this that if by on or be it are as at not returns return given which "
    "when all get set used into".split()
)
# None of these words is also English or common in code.
_FOREIGN = frozenset(
    "el la los las una del que por para con como si está esta este der das ist ein eine und nicht den dem wird mit "
    "von zum zur le les des une dans pour avec est sont qui du au aux um uma não é do da dos nos pelo il della che "
    "per un ou et de".split()
)


def advtest_rows(rows: Iterable[CsnRow], dropped: Counter[str]) -> Iterator[CsnRow]:
    """Yield the rows that AdvTest keeps, all of them Python; count the others by reason.

    Rows of the validation and test partitions have no names, and no fields that reveal them.
    """
    for loaded in rows:
        row = loaded.row
        reason = drop_reason(row.docstring, loaded.docstring_tokens or words(row.docstring))
        if row.language != LANGUAGE:
            reason = "not Python"
        code = None if reason else anonymised(row.code)
        if reason or code is None:
            dropped[reason or "does not parse"] += 1
        elif row.partition in _ANONYMISED:
            yield CsnRow(_without_names(row, code), docstring_tokens=loaded.docstring_tokens, sha=loaded.sha)
        else:
            yield loaded


def drop_reason(docstring: str, tokens: Iterable[str]) -> str:
    """Return the name of the filter that a docstring fails, or "" if it passes all.

    >>> drop_reason("See https://example.org for more", ["See", "more", "there"])
    'special token'
    """
    count = sum(1 for _ in tokens)
    if count < MIN_TOKENS:
        return f"docstring under {MIN_TOKENS} tokens"
    if count > MAX_TOKENS:
        return f"docstring over {MAX_TOKENS} tokens"
    if _SPECIAL.search(docstring):
        return "special token"
    return "" if is_english(docstring) else "not English"


def is_english(text: str) -> bool:
    """Return whether a text may be English: Latin letters, and not more function words of other languages than English.

    A short imperative has no function words and passes.

    >>> is_english("Sort the rows."), is_english("Ordena las filas de la tabla."), is_english("排序 rows")
    (True, False, False)
    """
    letters = [character for character in text if character.isalpha()]
    if not letters or sum(map(str.isascii, letters)) < _MIN_ASCII_LETTERS * len(letters):
        return False
    found = Counter(words(text.lower()))
    foreign = sum(found[word] for word in _FOREIGN)
    return foreign == 0 or foreign <= sum(found[word] for word in _ENGLISH)


def _without_names(row: Row, code: str) -> Row:
    names = {"func_name": FUNCTION_NAME, "identifier": FUNCTION_NAME}
    return replace(row, **names, code=code, docstring_rest="")


def anonymised(code: str) -> str | None:
    r"""Replace the names of one function or method; return None if the code or the result does not parse.

    >>> anonymised("def area(width, height):\n    size = width * height\n    return size")
    'def Func(arg_0, arg_1):\n    arg_2 = arg_0 * arg_1\n    return arg_2'
    """
    source = code.encode("utf-8", "replace")
    tree = load_parser(_python()).parse(source)
    own = None if tree.root_node.has_error else _own_name(source)
    if own is None:
        return None
    changed = _replaced(source, _replacements(tree, source, *own))
    return None if load_parser(_python()).parse(changed).root_node.has_error else changed.decode("utf-8")


@cache
def _python() -> Language:
    spec = language_named(LANGUAGE)
    assert spec is not None
    return spec


@cache
def _query() -> Query:
    from tree_sitter import Query

    return Query(load_grammar(_python()), _QUERY.read_text("utf-8"))


def _own_name(source: bytes) -> tuple[int, str] | None:
    """Return the byte from which to look for the function's name, and that name; None if the code is not a function."""
    functions = [
        d for d in collect(source, _python()).definitions.values() if d.kind in ("function", "method")
    ]
    if not functions:
        return None
    first = min(functions, key=lambda definition: (definition.start, -definition.end))
    return (first.name_start, first.name) if _LEFT_OVER.match(source[first.end :]) else None


def _replacements(tree: Tree, source: bytes, start: int, name: str) -> dict[_Span, str]:
    from tree_sitter import QueryCursor

    nodes = QueryCursor(_query()).captures(tree.root_node)
    found = {kind: {(node.start_byte, node.end_byte) for node in group} for kind, group in nodes.items()}
    definition = next(_leaves_named(tree, source, name, start), None)
    fixed = {_text(source, span) for span in found.get("fixed", set()) - {definition}} | {"_"}
    local = {_text(source, span) for span in found.get("local", ())} - fixed
    variables = sorted(found.get("variable", set()) - found.get("other", set()) - {definition})
    numbered = {name: FUNCTION_NAME} | _numbered([_text(source, span) for span in variables], local)
    called = {*_leaves_named(tree, source, name, 0, rb"\s*\("), *([definition] if definition else [])}
    return dict.fromkeys(called, FUNCTION_NAME) | {
        span: numbered[text] for span in variables if (text := _text(source, span)) in numbered
    }


def _numbered(names: list[str], local: set[str]) -> dict[str, str]:
    """Number the local names of `names` by first occurrence; skip new names that would equal a kept one."""
    kept = set(names) - local
    ordered = list(dict.fromkeys(name for name in names if name in local))
    free = (f"arg_{number}" for number in range(len(names) + len(kept)) if f"arg_{number}" not in kept)
    return dict(zip(ordered, free, strict=False))


def _leaves_named(tree: Tree, source: bytes, name: str, start: int, tail: bytes = b"") -> Iterator[_Span]:
    """Yield the identifiers called `name` from byte `start` on, if `tail` follows them."""
    pattern = re.compile(rb"(?<!\w)" + re.escape(name.encode()) + rb"(?!\w)(?=" + tail + rb")")
    for match in pattern.finditer(source, start):
        node: Node | None = tree.root_node.descendant_for_byte_range(*match.span())
        if node and node.child_count == 0 and node.type == "identifier":
            yield match.span()


def _replaced(source: bytes, replacements: dict[_Span, str]) -> bytes:
    parts, end = [], 0
    for (start, stop), text in sorted(replacements.items()):
        parts += [source[end:start], text.encode()]
        end = stop
    return b"".join([*parts, source[end:]])


def _text(source: bytes, span: _Span) -> str:
    return source[slice(*span)].decode("utf-8", "replace")
