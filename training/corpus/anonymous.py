"""A function's code -> the same code with its own name `Func` and its variables `arg_0`, `arg_1`, ...

One query for each language in `locals/` finds the identifiers, so text in strings and comments does not change:

- `@variable`: an identifier that may name a variable
- `@local`: one that makes its name local to the function: a parameter, an assignment, a pattern
- `@fixed`: one that makes its name not local: an import, a global, a nested function or class
- `@other`: one that names an attribute, a label or a type, even if a variable has the same name
- `@shorthand`: a key and a variable at once, as in `{a}`, which becomes `{a: arg_0}`
- `@callee`: a called function in a call without parentheses

Names are distinguished only by their text, not by scope: a lambda's `x` and its function's `x` get the same new name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from codesearch.parsing.definitions import collect
from codesearch.parsing.grammars import load_grammar, load_parser
from codesearch.parsing.languages import LanguageSpec, language_named

if TYPE_CHECKING:
    from tree_sitter import Node, Query, Tree

FUNCTION_NAME = "Func"
_QUERIES = Path(__file__).with_name("locals")
# Text before and after a method or a closure that makes it a whole file, tried in this order.
_CLASS = ("class X {\n", "\n}")
_FRAMES = {
    "java": [_CLASS],
    "csharp": [_CLASS],
    "php": [("<?php ", ""), ("<?php class X {\n", "\n}"), ("<?php (", "\n);")],
    **{
        name: [("", ""), _CLASS, ("({", "\n})"), ("(", "\n)")] for name in ("javascript", "typescript", "tsx")
    },
    "cpp": [("", ""), ("class X {\n", "\n};")],
    "swift": [("", ""), _CLASS],
    "kotlin": [("", ""), _CLASS],
}
_NAME_TYPES = ("identifier", "name", "word", "constant")
_LEFT_OVER = re.compile(rb"[\s;,)}]*(?:(?://|#|--).*)?\Z", re.DOTALL)

_Span = tuple[int, int]


def anonymised(code: str, language: str, identifier: str = "") -> str | None:
    r"""Replace the names of a function; return None if the code or the result does not parse.

    The result is also None for a language without a query in `locals/`.

    Args:
        code: one function or method, whole.
        language: a name of `parsing.languages`.
        identifier: the function's name, if the code does not have it.

    Raises:
        MissingExtraError: the language's grammar is not installed.

    >>> anonymised("def area(width, height):\n    size = width * height\n    return size", "python")
    'def Func(arg_0, arg_1):\n    arg_2 = arg_0 * arg_1\n    return arg_2'
    """
    spec = language_named(language)
    if spec is None or not _path(spec).exists():
        return None
    for before, after in _FRAMES.get(language, [("", "")]):
        source = f"{before}{code}{after}".encode("utf-8", "replace")
        tree = load_parser(spec).parse(source)
        if tree.root_node.has_error:
            continue
        own = _own_name(source, spec, len(before), len(after))
        if own is not None:
            changed = _replaced(source, _replacements(tree, source, spec, own, identifier))
            if load_parser(spec).parse(changed).root_node.has_error:
                return None
            return changed[len(before) : len(changed) - len(after)].decode("utf-8")
    return None


@cache
def _query(spec: LanguageSpec) -> Query:
    from tree_sitter import Query

    return Query(load_grammar(spec), _path(spec).read_text("utf-8"))


def _path(spec: LanguageSpec) -> Path:
    return _QUERIES / f"{spec.query or spec.name}.scm"


def _own_name(source: bytes, spec: LanguageSpec, before: int, after: int) -> tuple[int, str] | None:
    """Return the byte from which to look for the function's name, and that name; None if the code is not a function."""
    functions = [d for d in collect(source, spec).definitions.values() if d.kind in ("function", "method")]
    if not functions:
        return None
    first = min(functions, key=lambda definition: (definition.start, -definition.end))
    rest = source[first.end : len(source) - after]
    return (first.name_start, first.name.rstrip("=")) if _LEFT_OVER.match(rest) else None


def _replacements(
    tree: Tree, source: bytes, spec: LanguageSpec, own: tuple[int, str], identifier: str
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
            result[span] = f"{text}: {new}" if span in found.get("shorthand", ()) else new
    called = set(_leaves_named(tree, source, function_name, 0, rb"\s*\("))
    called |= {span for span in found.get("callee", ()) if _text(source, span) == function_name}
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
    pattern = re.compile(rb"(?<![\w$])" + re.escape(name.encode()) + rb"(?![\w$])(?=" + tail + rb")")
    for match in pattern.finditer(source, start):
        node: Node | None = tree.root_node.descendant_for_byte_range(*match.span())
        if node and node.child_count == 0 and node.type.endswith(_NAME_TYPES):
            yield match.span()


def _replaced(source: bytes, replacements: dict[_Span, str]) -> bytes:
    parts, end = [], 0
    for (start, stop), text in sorted(replacements.items()):
        parts += [source[end:start], text.encode()]
        end = stop
    return b"".join([*parts, source[end:]])


def _text(source: bytes, span: _Span) -> str:
    """Read a name; a Ruby key ends in a colon."""
    return source[slice(*span)].decode("utf-8", "replace").rstrip(":")
