"""A source file and spans in it -> the tokens of each span: the leaves of the syntax tree, in order.

A string or a comment is one token, as in CodeSearchNet's `code_tokens`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from codesearch.parsing.languages import LanguageSpec, load_parser

if TYPE_CHECKING:
    from tree_sitter import Node

_WHOLE = ("string", "string_literal", "comment", "heredoc_body", "regex")

Span = tuple[int, int]


def tokens_of_spans(
    source: bytes, spans: Sequence[Span], skipped: Sequence[Span], spec: LanguageSpec
) -> list[list[str]]:
    """Tokenize spans of one file, parsed once.

    Args:
        source: the whole file.
        spans: first byte and end of each definition.
        skipped: spans to skip, such as docstrings; an empty span skips nothing.
        spec: the language of the file.
    """
    root = load_parser(spec).parse(source).root_node
    left_out = {start: end for start, end in skipped if end > start}
    result = []
    for start, end in spans:
        leaves = _leaves(root, start, end, left_out)
        result.append([source[slice(*span)].decode("utf-8", "replace") for span in leaves])
    return result


def _leaves(root: Node, start: int, end: int, left_out: dict[int, int]) -> Iterator[Span]:
    # Start from the smallest node around the span, because a file has thousands of siblings to walk past.
    waiting = [root.descendant_for_byte_range(start, end) or root]
    skip_until = start
    while waiting:
        node = waiting.pop()
        if node.end_byte <= skip_until or node.start_byte >= end:
            continue
        if node.start_byte in left_out and node.end_byte <= left_out[node.start_byte]:
            skip_until = left_out[node.start_byte]
        elif not node.child_count or (node.type.endswith(_WHOLE) and node.start_byte >= start):
            if node.end_byte > node.start_byte:
                yield node.start_byte, node.end_byte
        else:
            waiting += reversed(node.children)
