"""A parsed document -> a row, or the reason why it is dropped.

*Source*: Husain et al. 2019, section 2: documentation cut to its first paragraph; documentation under three
tokens, functions under three lines, names with "test", constructors and standard extension methods dropped.
"""

from __future__ import annotations

import re

from codesearch.parsing.docstrings import first_paragraph
from codesearch.parsing.identifiers import words
from codesearch.types import Document
from training.corpus.recipe import SourcePackage
from training.corpus.rows import MAX_CODE_CHARS, Row

MIN_DOCSTRING_TOKENS = 3
MIN_LINES = 3
_MAX_REST_CHARS = 1_000
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


def to_row(document: Document, package: SourcePackage) -> Row | str:
    """Turn a document into a row, or name the filter that drops it."""
    if document.kind not in ("function", "method"):
        return "not a function"
    if not document.docstring:
        return "no docstring"
    paragraph, rest = split_docstring(document.docstring)
    reason = drop_reason(document, paragraph)
    if reason:
        return reason
    return Row(
        repo=package.repository,
        package=package.name,
        path=document.path,
        func_name=document.qualified_name,
        identifier=document.name,
        language=document.language,
        code=document.code[:MAX_CODE_CHARS],
        docstring=paragraph,
        docstring_rest=rest[:_MAX_REST_CHARS],
    )


def drop_reason(document: Document, paragraph: str) -> str:
    """Name the filter that a function with this first paragraph fails; empty when it passes all."""
    if len(words(paragraph)) < MIN_DOCSTRING_TOKENS:
        return "docstring under 3 tokens"
    if document.code.strip().count("\n") + 1 < MIN_LINES:
        return "under 3 lines"
    if "test" in document.name.lower():
        return "test"
    if is_standard(document):
        return "constructor or standard method"
    return ""


def is_standard(document: Document) -> bool:
    """Say whether the language, not the author, gave the function its name."""
    name = document.name
    if name in _STANDARD or _MAGIC.match(name):
        return True
    if document.language == "php":
        return bool(_PHP_MAGIC.match(name))
    parts = re.split(r"\.|::", document.qualified_name)
    return document.language in ("java", "php") and len(parts) > 1 and parts[-2] == name


def split_docstring(docstring: str) -> tuple[str, str]:
    r"""Split into the first paragraph, without mark-up, and what follows it.

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
