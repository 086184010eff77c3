"""Two pieces of Java -> the share of one that the other contains, by features of their simplified parse trees.

A simplified tree keeps keywords and punctuation as labels and replaces everything else with `#`. It has no nodes with
one child. Each token that is not a keyword gives these features; local variables are called `#VAR`:

- the token
- token, position and label of each of up to three ancestors
- the token and the next one
- for a local variable, its position and parent's label, with those of its next use

*Source*: Luan et al. 2019, "Aroma: code recommendation via structural code search", section 3. The labels come from
tree-sitter's grammar rather than ANTLR's, so scores are close to theirs but not equal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codesearch.parsing.languages import language_named, load_parser

if TYPE_CHECKING:
    from tree_sitter import Node

ANCESTORS = 3
LOCAL = "#VAR"
_MAX_DEPTH = 200
_KEYWORDS = frozenset({"this", "super", "true", "false", "null_literal", "void_type"})
"""Named leaves that are keywords."""
_DECLARES = frozenset(
    {
        "variable_declarator",
        "formal_parameter",
        "catch_formal_parameter",
        "enhanced_for_statement",
        "resource",
    }
)
_COMMENTS = frozenset({"line_comment", "block_comment"})
Features = Counter[tuple[str, ...]]
Place = tuple[int, str]
"""Position of a child, and its parent's label."""


@dataclass(frozen=True, slots=True)
class Token:
    """A token that is not a keyword.

    Attributes:
        text: as written; `#VAR` for a local variable.
        name: as written.
        places: position and label of its ancestors, the nearest first.
    """

    text: str
    name: str
    places: tuple[Place, ...]


def similarity(wanted: Features, found: Features) -> float:
    """Return the share of the wanted features that are found, 0 to 1; each counts as often as it occurs.

    >>> similarity(Counter({("a",): 2, ("b",): 2}), Counter({("a",): 1, ("c",): 9}))
    0.25
    """
    return (wanted & found).total() / max(1, wanted.total())


def features(code: str) -> Features:
    """Collect the features of a method or of separate statements."""
    java = language_named("java")
    assert java is not None
    root = load_parser(java).parse(code.encode("utf-8", "replace")).root_node
    tokens = list(_tokens(root, (), _local_names(root), 0))
    found: Features = Counter()
    last_use: dict[str, Place] = {}
    for number, token in enumerate(tokens):
        found[token.text,] += 1
        for distance, (position, label) in enumerate(token.places):
            found[token.text, str(distance), str(position), label] += 1
        if number:
            found["next", tokens[number - 1].text, token.text] += 1
        if token.text == LOCAL and token.places:
            if before := last_use.get(token.name):
                found["use", str(before[0]), before[1], str(token.places[0][0]), token.places[0][1]] += 1
            last_use[token.name] = token.places[0]
    return found


def _local_names(root: Node) -> frozenset[str]:
    """Find the names of parameters and local variables, but not those of fields."""
    names = set()
    waiting = [root]
    while waiting:
        node = waiting.pop()
        waiting += node.children
        if node.type in _DECLARES and not (node.parent and node.parent.type == "field_declaration"):
            name = node.child_by_field_name("name")
            names.add(_text(name) if name else "")
    return frozenset(names)


def _tokens(node: Node, places: tuple[Place, ...], local: frozenset[str], depth: int) -> Iterator[Token]:
    children = _children(node)
    if not children or depth > _MAX_DEPTH:
        if not _is_keyword(node) and (name := _text(node)):
            yield Token(LOCAL if name in local and node.type == "identifier" else name, name, places)
        return
    label = _label(children)
    for position, child in enumerate(children):
        inner = places if len(children) == 1 else ((position, label), *places)[:ANCESTORS]
        yield from _tokens(child, inner, local, depth + 1)


def _children(node: Node) -> list[Node]:
    """List the parts of a node. A literal is one token, even if the grammar finds parts in it."""
    if node.type.endswith("_literal"):
        return []
    return [child for child in node.children if child.type not in _COMMENTS]


def _label(children: list[Node]) -> str:
    return "".join(_text(child) if not _children(child) and _is_keyword(child) else "#" for child in children)


def _is_keyword(node: Node) -> bool:
    return not node.is_named or node.type in _KEYWORDS


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")
