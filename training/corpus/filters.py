"""A parsed document -> the reason why it is dropped, or "", and the first paragraph of its docstring.

*Source*: Husain et al. 2019, section 2: documentation cut to its first paragraph; documentation under three
tokens, functions under three lines, names with "test", constructors and standard extension methods dropped. Blank
lines do not count here, because a removed docstring leaves one, and bodies that do nothing are dropped.
"""

from __future__ import annotations

import re

from codesearch.parsing.docstrings import first_paragraph
from codesearch.parsing.identifiers import words
from codesearch.types import STUB, Document

NO_DOCSTRING = "no docstring"
MIN_DOCSTRING_TOKENS = 3
MIN_LINES = 3
_STANDARD = frozenset(
    "constructor initialize toString hashCode equals clone finalize compareTo valueOf toJSON inspect to_s "
    "to_str hash eql? == === <=> dup String Error GoString MarshalJSON UnmarshalJSON DeepCopy DeepCopyInto "
    "setUp tearDown".split()
)
_MAGIC = re.compile(r"__\w+__$")
_PHP_MAGIC = re.compile(r"__[a-z]\w*$", re.IGNORECASE)
_INLINE_TAG = re.compile(r"\{@\w+\s*([^{}]*)\}")
_PARAGRAPH = re.compile(r"<(?:p|ul|ol|pre|h\d|table)\b[^>]*>", re.IGNORECASE)
_MARKUP = re.compile(r"</?[A-Za-z][^<>]{0,80}>")
_TOKEN = re.compile(r"\w+|[^\w\s]")


def drop_reason(document: Document) -> str:
    """Return the name of the filter on code and name that a document fails, or "" if it passes all."""
    if document.kind not in ("function", "method"):
        return "not a function"
    if sum(bool(line.strip()) for line in document.code.splitlines()) < MIN_LINES:
        return "under 3 lines"
    if document.flags & STUB:
        return "stub"
    if "test" in document.name.lower():
        return "test"
    if is_standard(document):
        return "constructor or standard method"
    return ""


def documentation_reason(docstring: str, paragraph: str) -> str:
    """Return the name of the filter that a docstring with this first paragraph fails, or "" if it passes both."""
    if not docstring:
        return NO_DOCSTRING
    return "docstring under 3 tokens" if len(words(paragraph)) < MIN_DOCSTRING_TOKENS else ""


def is_standard(document: Document) -> bool:
    """Return whether the language prescribes the name of the function."""
    name = document.name
    if name in _STANDARD or _MAGIC.match(name):
        return True
    if document.language == "php":
        return bool(_PHP_MAGIC.match(name))
    parts = re.split(r"\.|::", document.qualified_name)
    return document.language in ("java", "php") and len(parts) > 1 and parts[-2] == name


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
