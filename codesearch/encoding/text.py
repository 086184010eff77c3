"""A document -> the one text that stands for it in an encoder, in training as in search."""

from __future__ import annotations

from codesearch.types import Document

_MAX_DOCSTRING_CHARS = 600


def document_text(document: Document) -> str:
    """Join qualified name, docstring and code, most telling first, for truncation cuts the end."""
    return join_fields(document.qualified_name, document.docstring, document.code)


def join_fields(qualified_name: str, docstring: str, code: str) -> str:
    """Join the fields of a document the way `document_text` does."""
    return f"{qualified_name}\n{docstring[:_MAX_DOCSTRING_CHARS]}\n{code}"
