"""A document -> the text that is embedded, both in training and in search."""

from __future__ import annotations

from codesearch.types import Document

_MAX_DOCSTRING_CHARS = 600
_PLACE_PARTS = 2


def document_text(document: Document) -> str:
    """Return the text of a document, as `join_fields` makes it."""
    return join_fields(
        document.qualified_name,
        document.docstring,
        document.code,
        path=document.path,
        context=document.context,
    )


def join_fields(qualified_name: str, docstring: str, code: str, *, path: str = "", context: str = "") -> str:
    """Join place, qualified name, context, docstring and code; code comes last, because the end may be cut.

    >>> join_fields("Session.close", "End it.", "", path="src/net/session.py").splitlines()
    ['net session Session.close', 'End it.']
    """
    name = " ".join(filter(None, (place_of(path), qualified_name)))
    if context:
        name = f"{name}\n{context}"
    return f"{name}\n{docstring[:_MAX_DOCSTRING_CHARS]}\n{code}"


def place_of(path: str) -> str:
    """Return the last folder and the stem of a path: short code without documentation often names its topic only there.

    >>> place_of("src/net/session.py")
    'net session'
    """
    return " ".join(path.rsplit(".", 1)[0].split("/")[-_PLACE_PARTS:])
