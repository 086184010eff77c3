"""A document -> the text that is embedded, both in training and in search."""

from __future__ import annotations

from codesearch.types import Document

_MAX_DOCSTRING_CHARS = 600


def document_text(document: Document) -> str:
    """Join qualified name, docstring and code; the most informative comes first, because the end may be cut."""
    return join_fields(document.qualified_name, document.docstring, document.code)


def join_fields(qualified_name: str, docstring: str, code: str) -> str:
    """Join the fields of a document like `document_text`."""
    return f"{qualified_name}\n{docstring[:_MAX_DOCSTRING_CHARS]}\n{code}"
