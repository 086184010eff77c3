"""A Python function's code -> the same code with its own name `Func` and its variables `arg_0`, `arg_1`, ...

AdvTest is Python, so other languages have no query. `locals.scm` finds the identifiers, so text in strings and comments
does not change:

- `@variable`: an identifier that may name a variable
- `@local`: one that makes its name local to the function: a parameter, an assignment, a pattern
- `@fixed`: one that makes its name not local: an import, a global, a nested function or class
- `@other`: one that names an attribute, a label or a type, even if a variable has the same name

Names are distinguished only by their text, not by scope: a lambda's `x` and its function's `x` get the same new name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from codesearch.languages import language_named, load_grammar, load_parser
from codesearch.languages.records import Language
from codesearch.parsing.definitions import collect

if TYPE_CHECKING:
    from tree_sitter import Node, Query, Tree

FUNCTION_NAME = "Func"
LANGUAGE = "python"
_QUERY = Path(__file__).with_name("locals.scm")
_LEFT_OVER = re.compile(rb"\s*(?:#.*)?\Z", re.DOTALL)

_Span = tuple[int, int]


def anonymised(code: str, language: str, identifier: str = "") -> str | None:
    r"""Replace the names of a function; return None if the code or the result does not parse, or is not Python.

    `code` is one function or method; `identifier` is its name, if the code does not have it.

    >>> anonymised("def area(width, height):\n    size = width * height\n    return size", "python")
    'def Func(arg_0, arg_1):\n    arg_2 = arg_0 * arg_1\n    return arg_2'
    """
    spec = language_named(language)
    if spec is None or spec.name != LANGUAGE:
        return None
    source = code.encode("utf-8", "replace")
    tree = load_parser(spec).parse(source)
    own = None if tree.root_node.has_error else _own_name(source, spec)
    if own is None:
        return None
    changed = _replaced(source, _replacements(tree, source, spec, own, identifier))
    return None if load_parser(spec).parse(changed).root_node.has_error else changed.decode("utf-8")


@cache
def _query(spec: Language) -> Query:
    from tree_sitter import Query

    return Query(load_grammar(spec), _QUERY.read_text("utf-8"))


def _own_name(source: bytes, spec: Language) -> tuple[int, str] | None:
    """Return the byte from which to look for the function's name, and that name; None if the code is not a function."""
    functions = [d for d in collect(source, spec).definitions.values() if d.kind in ("function", "method")]
    if not functions:
        return None
    first = min(functions, key=lambda definition: (definition.start, -definition.end))
    return (first.name_start, first.name) if _LEFT_OVER.match(source[first.end :]) else None


def _replacements(
    tree: Tree, source: bytes, spec: Language, own: tuple[int, str], identifier: str
) -> dict[_Span, str]:
    from tree_sitter import QueryCursor

    nodes = QueryCursor(_query(spec)).captures(tree.root_node)
    found = {name: {(node.start_byte, node.end_byte) for node in group} for name, group in nodes.items()}
    function_name = own[1] or identifier
    definition = next(_leaves_named(tree, source, function_name, own[0]), None) if own[1] else None
    fixed = {_text(source, span) for span in found.get("fixed", set()) - {definition}} | {"_"}
    local = {_text(source, span) for span in found.get("local", ())} - fixed
    variables = sorted(found.get("variable", set()) - found.get("other", set()) - {definition})
    numbered = _numbered([_text(source, span) for span in variables], local)

    result = {}
    for span in variables:
        text = _text(source, span)
        new = numbered.get(text) or (FUNCTION_NAME if text == function_name else "")
        if new:
            result[span] = new
    called = set(_leaves_named(tree, source, function_name, 0, rb"\s*\("))
    return {**dict.fromkeys(called | ({definition} if definition else set()), FUNCTION_NAME), **result}


def _numbered(names: list[str], local: set[str]) -> dict[str, str]:
    """Number the local names of `names` by first occurrence; skip new names that would equal a kept one."""
    kept = set(names) - local
    ordered = list(dict.fromkeys(name for name in names if name in local))
    free = (f"arg_{number}" for number in range(len(names) + len(kept)) if f"arg_{number}" not in kept)
    return dict(zip(ordered, free, strict=False))


def _leaves_named(tree: Tree, source: bytes, name: str, start: int, tail: bytes = b"") -> Iterator[_Span]:
    """Yield the identifiers called `name` from byte `start` on, if `tail` follows them."""
    if not name:
        return
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
