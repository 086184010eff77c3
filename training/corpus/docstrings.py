"""A docstring -> its first paragraph, which resembles a query, and the rest."""

from __future__ import annotations

import re

from codesearch.parsing.docstrings import first_paragraph

_INLINE_TAG = re.compile(r"\{@\w+\s*([^{}]*)\}")
_PARAGRAPH = re.compile(r"<(?:p|ul|ol|pre|h\d|table)\b[^>]*>", re.IGNORECASE)
_MARKUP = re.compile(r"</?[A-Za-z][^<>]{0,80}>")
_TOKEN = re.compile(r"\w+|[^\w\s]")


def split_docstring(docstring: str) -> tuple[str, str]:
    r"""Split into the first paragraph, without mark-up, and the rest.

    >>> split_docstring("Sort {@code a}\nfast.\n\nMore.\n@param a")
    ('Sort a fast.', 'More.\n@param a')
    """
    paragraph = first_paragraph(docstring)
    lines = docstring.strip().splitlines()
    taken = 0
    while taken < len(lines) and len(" ".join(line.strip() for line in lines[:taken])) < len(paragraph):
        taken += 1
    head, *tail = _PARAGRAPH.split(paragraph, maxsplit=1)
    plain = _MARKUP.sub("", _INLINE_TAG.sub(r"\1", head))
    return " ".join(plain.split()), "\n".join([*tail, *lines[taken:]]).strip()


def docstring_tokens(paragraph: str) -> list[str]:
    """Split a paragraph into words and punctuation.

    >>> docstring_tokens("Sort a, fast.")
    ['Sort', 'a', ',', 'fast', '.']
    """
    return _TOKEN.findall(paragraph)
