"""A document -> the terms of its fields; a query -> its terms.

Both use the same words, without inflection and with abbreviations expanded. A document also has the parts of its
compounds: "copy a tree" finds `copytree`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache, partial
from itertools import chain

from codesearch.config import ParseConfig
from codesearch.memo import Memo
from codesearch.parsing.docstrings import MAX_DOCSTRING, first_paragraph
from codesearch.parsing.identifiers import split_identifier, words
from codesearch.text.words import base_form, compounds, expansions
from codesearch.types import Document

FIELDS = ("name", "signature", "docstring", "body", "context")
MAX_TERM_LENGTH = 40
"""Longer runs of letters are data (base64, hashes). Nobody searches for them by words."""
_MAX_FREQUENCY = 255
_REMEMBERED = 1 << 16
"""Number of identifiers whose terms are cached."""
_CUT_WORD = 256
"""The text of a definition may be cut inside of a word of this length."""
_SUMMARY_AGAIN = 2
"""How many additional times the first paragraph of documentation counts, because it is the summary."""

STOP_WORDS = frozenset(
    "a an and are as at be by can do does for from how i if in into is it its me my of on or s that the then "
    "this to want was we what when where which will with you".split()
)


def document_terms(document: Document) -> list[Counter[str]]:
    """Count the terms of each field, in the order of `FIELDS`."""
    return [
        _count(words(document.qualified_name), joined=True),
        _count(words(document.signature)),
        _count([*words(document.docstring), *_SUMMARY_AGAIN * words(first_paragraph(document.docstring))]),
        _count(words(document.code)),
        _count([*words(document.path.rpartition(".")[0]), *words(document.context)]),
    ]


def terms_of_file(
    source: bytes, documents: Sequence[Document], config: ParseConfig
) -> list[list[Counter[str]]]:
    """Return the terms of each document of a file.

    The first document also has the terms of the text that is in no document, such as imports, with frequency 0. They do
    not count in a ranking, but propose the file to a search for text.
    """
    found = [document_terms(document) for document in documents]
    if found:
        fields, body = found[0], found[0][FIELDS.index("body")]
        for term in terms_of(_text_outside(source, documents, config)):
            if not any(term in counts for counts in fields):
                body[term] = 0
    return found


def _text_outside(source: bytes, documents: Sequence[Document], config: ParseConfig) -> str:
    parts, end = [], 0
    for document in documents:  # In the order of the source.
        # The text of a module is not all that is between its first and its last line, and long documentation is cut.
        if document.kind != "module" and len(document.docstring) < MAX_DOCSTRING:
            parts.append(source[end : document.start_byte])
            cut = document.start_byte + config.max_code_bytes - _CUT_WORD
            end = max(end, min(document.end_byte, cut))
    return b"\n".join([*parts, source[end:]]).decode("utf-8", "replace")


def terms_of(text: str) -> set[str]:
    """Return the distinct terms of a text, in the forms that documents use."""
    return set(chain.from_iterable(map(_FORMS.__getitem__, words(text))))


def terms_of_each(texts: Iterable[str]) -> list[set[str]]:
    """Return the distinct terms of each text, such as the lines of a definition."""
    return [set(chain.from_iterable(map(_FORMS.__getitem__, words(text)))) for text in texts]


def query_terms(query: str) -> list[str]:
    """List a query's distinct terms in order, without stop words unless the query has only those.

    >>> query_terms("how to parse an int from readLine")
    ['pars', 'integer', 'readlin', 'read', 'line']
    """
    found = list(dict.fromkeys(chain.from_iterable(_parts(word, joined=True) for word in words(query))))
    kept = [term for term in found if term not in STOP_WORDS] or found
    return list(dict.fromkeys(map(_form, kept)))


def _count(identifiers: Iterable[str], *, joined: bool = False) -> Counter[str]:
    forms = _FORMS_JOINED if joined else _FORMS
    counts = Counter(chain.from_iterable(map(forms.__getitem__, identifiers)))
    for form, frequency in counts.items():
        if frequency > _MAX_FREQUENCY:
            counts[form] = _MAX_FREQUENCY
    return counts


def _forms(identifier: str, *, joined: bool) -> tuple[str, ...]:
    inside = (compounds().get(part, ()) for part in split_identifier(identifier))
    return tuple(map(_form, chain(_parts(identifier, joined=joined), *inside)))


_FORMS = Memo(partial(_forms, joined=False), _REMEMBERED)
_FORMS_JOINED = Memo(partial(_forms, joined=True), _REMEMBERED)


@lru_cache(maxsize=_REMEMBERED)
def _form(term: str) -> str:
    """Return the form that a term shares with its inflections and abbreviations."""
    form = base_form(term)
    word = expansions().get(term) or expansions().get(form)
    return base_form(word) if word else form


def _parts(identifier: str, *, joined: bool) -> list[str]:
    """List the subtokens of an identifier; with `joined`, put the whole identifier in lower case before them."""
    parts = split_identifier(identifier)
    whole = ["".join(parts)[:MAX_TERM_LENGTH]] if joined and len(parts) > 1 else []
    return [*whole, *(part for part in parts if len(part) <= MAX_TERM_LENGTH)]
