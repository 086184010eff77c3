"""Comments and string literals as written -> the prose in them."""

from __future__ import annotations

import inspect
import re

_STRING = re.compile(r"^[A-Za-z]{0,2}('''|\"\"\"|'|\")(.*)\1$", re.DOTALL)
_BLOCK_OPEN = re.compile(r"^(/\*+!?|\(\*+|--\[=*\[|=begin\b)")
_BLOCK_CLOSE = re.compile(r"(\*+/|\*+\)|\]=*\]|^=end\b.*)\s*$")
_LINE_MARK = re.compile(r"^\s*(///?!?|//!|#+!?|--+|;+|\*(?!\*))\s?")
_STAR = re.compile(r"^\s*\*+(?!/) ?")


def clean_string_literal(literal: str) -> str:
    """Strip quotes, prefixes and common indentation from a docstring literal.

    >>> clean_string_literal('r"Sort it."')
    'Sort it.'
    """
    match = _STRING.match(literal.strip())
    return inspect.cleandoc(match.group(2) if match else literal).strip()


def clean_comment(comment: str) -> str:
    r"""Strip comment markers of any supported language.

    >>> clean_comment("/** Sort\n * it. */")
    'Sort\nit.'
    >>> clean_comment("// Sort\n// it.")
    'Sort\nit.'
    """
    text = comment.strip()
    if _BLOCK_OPEN.match(text):
        text = _BLOCK_CLOSE.sub("", _BLOCK_OPEN.sub("", text))
        lines = [_STAR.sub("", line).strip() for line in text.splitlines()]
    else:
        lines = [_LINE_MARK.sub("", line).strip() for line in text.splitlines()]
    return "\n".join(lines).strip()


def first_paragraph(docstring: str) -> str:
    r"""Cut a docstring to what stands before its first blank line or tag, on one line.

    >>> first_paragraph("Sort it\nin place.\n\nSlow.\n@param x")
    'Sort it in place.'
    """
    lines: list[str] = []
    for line in docstring.strip().splitlines():
        if not line.strip() or line.lstrip().startswith(("@", ":param", ":return", "\\param")):
            break
        lines.append(line.strip())
    return " ".join(lines)
