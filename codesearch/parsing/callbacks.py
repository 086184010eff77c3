"""A function without a name -> a name from the code around it.

A function that is assigned has the name of its target. A function that is passed to a call is named after the call:
`app.get('/users') callback`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

RETURNED = "returned function"
_MAX_PART = 60
_MAX_BYTES = 300
_MAX_LINKS = 8
_MAX_DEPTH = 32
"""How many enclosing nodes are tried. Tree-sitter searches each parent from the root, so each one costs time."""
_SPACE = re.compile(r"\s+")
_CALLS = frozenset(
    "call_expression new_expression function_call_expression member_call_expression nullsafe_member_call_expression "
    "scoped_call_expression function_call object_creation_expression".split()
)
_CALLED = ("function", "constructor", "name")
"""Fields of a call that have what is called; without such a field, it is the first child."""
_ASSIGNMENTS = frozenset(
    "variable_declarator assignment_expression augmented_assignment_expression assignment_pattern pair "
    "init_declarator field_declaration field_definition public_field_definition property_element field "
    "assignment_statement array_element_initializer".split()
)
_TARGETS = {
    "field_declaration": "declarator",
    "field_definition": "property",
    "public_field_definition": "name",
}
"""Node type of an assignment -> the field of its target; else that is the first child."""
_PASSED_THROUGH = frozenset(
    "parenthesized_expression await_expression unary_expression unary_op_expression binary_expression "
    "ternary_expression conditional_expression sequence_expression as_expression satisfies_expression "
    "non_null_expression spread_element yield_expression jsx_expression array arguments argument "
    "array_creation_expression array_element_initializer expression_list table_constructor".split()
)
_ARGUMENTS = ("arguments", "argument")
_RETURNS = ("return_statement", "arrow_function")
_STRINGS = ("string", "encapsed_string", "template_string")


def callback_name(node: Node) -> str:
    """Return the target or the call that a function is assigned or passed to, as written; "" if there is none."""
    call = ""
    for _ in range(_MAX_DEPTH):
        outer = node.parent
        if outer is None:
            break
        if target := _target(outer, node):
            return target
        if outer.type in _CALLS:
            # The function that is called has no name from the call.
            callee = _callee(outer) if not call and node.type in _ARGUMENTS else ""
            call = f"{callee} callback" if callee else call
        elif outer.type in _RETURNS:
            return call or RETURNED
        elif outer.type == "export_statement":
            return ""  # The default export has no name; importers know it by its file.
        elif outer.type not in _PASSED_THROUGH:
            break
        node = outer
    return call


def _target(node: Node, value: Node) -> str:
    if node.type == "jsx_attribute":
        key, element = _first(node), node.parent
        of = element.child_by_field_name("name") if element else None
        return " ".join(_line(part) for part in (of, key) if part)
    if node.type not in _ASSIGNMENTS:
        return ""
    key = node.child_by_field_name(_TARGETS[node.type]) if node.type in _TARGETS else _first(node)
    return _line(key).removeprefix("$this->") if key and key != value else ""


def _callee(node: Node, links: int = _MAX_LINKS) -> str:
    """Write what is called, with the call's first argument if that is a string."""
    called, receiver = _field(node, _CALLED) or _first(node), _field(node, ("object", "scope"))
    text = _joined([receiver, called], "::" if node.type == "scoped_call_expression" else ".", links)
    arguments = node.child_by_field_name("arguments")
    first = _first(arguments) if arguments else None
    if first and first.type == "argument":
        first = _first(first)
    if text and first and first.type in _STRINGS and len(literal := _line(first)) <= _MAX_PART:
        text += f"({literal})"
    return text


def _chain(node: Node, links: int) -> str:
    """Write the last `links` of a chain of names; of a call in it, what is called."""
    if links == 0:
        return ""
    if node.type in _CALLS:
        return _callee(node, links - 1)
    if node.type in ("member_expression", "member_access_expression"):
        parts = node.child_by_field_name("object"), _field(node, ("property", "name"))
        return _joined(parts, ".", links - 1)
    text = _line(node)
    return text if len(text) <= _MAX_PART and not set(text) & set("{(") else ""


def _joined(nodes: Iterable[Node | None], separator: str, links: int) -> str:
    return separator.join(text for node in nodes if node and (text := _chain(node, links)))


def _field(node: Node, names: Iterable[str]) -> Node | None:
    """Return the first of these fields that a node has."""
    return next(filter(None, map(node.child_by_field_name, names)), None)


def _first(node: Node) -> Node | None:
    return next(iter(node.named_children), None)


def _line(node: Node) -> str:
    if node.end_byte - node.start_byte > _MAX_BYTES:
        return ""
    text = (node.text or b"").decode("utf-8", "replace")
    return _SPACE.sub(" ", text).strip()
