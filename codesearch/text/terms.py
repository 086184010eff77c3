"""A document -> the terms of its fields; a query -> its terms.

Both use the same words, without inflection and with abbreviations expanded. A document also has the parts of its
compounds: "copy a tree" finds `copytree`.

`base_form` is the form that a word shares with its plural, `-ed` and `-ing`: a docstring says "Converts strings" and a
query says "convert string". It need not be a word. Endings that derive another word (`parser`, `connection`) stay,
because they distinguish functions.

`abbreviations.txt` has a word and its abbreviations in each line, `compounds.txt` a compound and its words. The command
`python -m training corpus compounds` made the second list from a corpus. A line that begins with `#` is a comment.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache, reduce
from itertools import chain
from operator import or_
from pathlib import Path
from zlib import crc32

from codesearch.memo import Memo
from codesearch.parsing.identifiers import ascii_parts, chunks, split_identifier, words
from codesearch.types import Document

_SHORTEST = 4
_PLURALS = {"ies": "y", "sses": "ss", "xes": "x", "ches": "ch", "shes": "sh"}
_NO_PLURALS = ("ss", "us", "is")
_VOWELS = frozenset("aeiouy")


@cache
def expansions() -> dict[str, str]:
    """Read the dictionary abbreviation -> word.

    >>> expansions()["idx"], "index" in expansions()
    ('index', False)
    """
    return {
        abbreviation: word
        for word, *abbreviations in _lines("abbreviations")
        for abbreviation in abbreviations
    }


@cache
def compounds() -> dict[str, tuple[str, ...]]:
    """Read the dictionary compound -> words.

    >>> compounds()["filename"], "password" in compounds()
    (('file', 'name'), False)
    """
    return {compound: tuple(words) for compound, *words in _lines("compounds")}


def _lines(name: str) -> Iterator[list[str]]:
    text = Path(__file__).with_name(f"{name}.txt").read_text("utf-8")
    return (line.split() for line in text.splitlines() if not line.startswith("#"))


def base_form(term: str) -> str:
    """Return the form that a lower-case term shares with its inflections; short terms and those with digits stay.

    >>> [base_form(term) for term in ("parse", "parses", "parsed", "parsing", "parser")]
    ['pars', 'pars', 'pars', 'pars', 'parser']
    >>> [base_form(term) for term in ("queries", "indexes", "mapped", "class", "string")]
    ['query', 'index', 'map', 'class', 'string']
    """
    if len(term) < _SHORTEST or not term.isalpha():
        return term
    if term.endswith("ied"):
        return f"{term[:-3]}y"
    term = singular(term)
    for ending in ("ing", "ed"):
        rest = term.removesuffix(ending)
        if rest != term and len(rest) >= 3 and not _VOWELS.isdisjoint(rest):
            return _without_e(_undoubled(rest))
    return _without_e(term)


def singular(term: str) -> str:
    """Return a lower-case noun without the ending of its plural.

    >>> [singular(term) for term in ("strings", "entries", "indexes", "class", "status", "ids")]
    ['string', 'entry', 'index', 'class', 'status', 'ids']
    """
    if len(term) < _SHORTEST or not term.endswith("s") or term.endswith(_NO_PLURALS):
        return term
    for ending, instead in _PLURALS.items():
        if term.endswith(ending):
            return term.removesuffix(ending) + instead
    return term[:-1]


def _undoubled(stem: str) -> str:
    """Remove the consonant that an ending doubled; keep `ll`, `ss` and `zz`, which words often end in (`calling`)."""
    doubled = len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "lsz"
    return stem[:-1] if doubled else stem


def _without_e(term: str) -> str:
    return term[:-1] if term.endswith("e") and len(term) > _SHORTEST else term


FIELDS = ("name", "signature", "docstring", "body", "context")
MAX_TERM_LENGTH = 40
"""Longer runs of letters are data (base64, hashes). Nobody searches for them by words."""
_REMEMBERED = 1 << 17  # Number of chunks whose terms are cached
_SUMMARY_AGAIN = 2
"""How many additional times the first paragraph of documentation counts, because it is the summary."""

STOP_WORDS = frozenset(
    "a an and are as at be by can do does for from how i if in into is it its me my of on or s that the then "
    "this to want was we what when where which will with you".split()
)


def document_chunks(document: Document) -> list[list[bytes]]:
    """List the chunks of each field, in the order of `FIELDS`. In the name, "." is before each (see `FORMS`)."""
    from codesearch.parsing.docstrings import first_paragraph

    docstring = document.docstring
    return [
        [b"." + chunk for chunk in chunks(document.qualified_name)],
        chunks(document.signature),
        [*chunks(docstring), *_SUMMARY_AGAIN * chunks(first_paragraph(docstring))] if docstring else [],
        chunks(document.code),
        [*chunks(document.path.rpartition(".")[0]), *chunks(document.context)],
    ]


def document_terms(document: Document) -> list[list[str]]:
    """List the terms of each field, in the order of `FIELDS`."""
    return [[*chain.from_iterable(map(FORMS.__getitem__, field))] for field in document_chunks(document)]


def terms_of(text: str) -> set[str]:
    """Return the distinct terms of a text, in the forms that documents use."""
    return set(chain.from_iterable(map(FORMS.__getitem__, chunks(text))))


def terms_of_each(texts: Iterable[str]) -> list[set[str]]:
    """Return the distinct terms of each text, such as the lines of a definition."""
    # For short texts, a pattern is faster than the Python call of `chunks`.
    return [set(chain.from_iterable(map(FORMS.__getitem__, map(str.encode, words(text))))) for text in texts]


def query_terms(query: str) -> list[str]:
    """List a query's distinct terms in order, without stop words unless the query has only those.

    >>> query_terms("how to parse an int from readLine")
    ['pars', 'integer', 'readlin', 'read', 'line']
    """
    found = list(
        dict.fromkeys(
            chain.from_iterable(_terms(parts, joined=True) for parts in map(split_identifier, words(query)))
        )
    )
    kept = [term for term in found if term not in STOP_WORDS] or found
    return list(dict.fromkeys(map(_form, kept)))


SIGNATURE_BITS = 256
"""A signature is a set of terms as bits; each term has one, which others share by chance."""


def signature(chunks: Iterable[bytes]) -> bytes:
    """Return the set of the terms of a text as 32-bit numbers, little-endian; `signature_bit` says where a term is."""
    bits = reduce(or_, map(_SIGNATURES.__getitem__, set(chunks)), 0)
    return bits.to_bytes(SIGNATURE_BITS // 8, "little")


def signature_bit(term: str) -> tuple[int, int]:
    """Return which number of a signature has the bit of a term, and the position of the bit in it."""
    return divmod(_bit_of(term), 32)


def _bit_of(term: str) -> int:
    return crc32(term.encode()) % SIGNATURE_BITS


def _forms(chunk: bytes) -> tuple[str, ...]:
    joined, terms, words_of = chunk.startswith(b"."), list[str](), compounds()
    for word in words(chunk.decode()):
        # Most words are ASCII, and a pattern is faster than the Python call.
        parts = ascii_parts(word) if word.isascii() else split_identifier(word)
        parts = tuple(map(str.lower, parts))
        terms += _terms(parts, joined=joined)
        for part in parts:
            if part in words_of:
                terms += words_of[part]
    return tuple(map(_form, terms))


FORMS = Memo(_forms, _REMEMBERED)
"""Chunk -> its terms; after ".", those of a name, which also has each of its words as a whole."""


def _signature_of_chunk(chunk: bytes) -> int:
    bits = 0
    for term in FORMS[chunk]:
        bits |= 1 << _bit_of(term)
    return bits


_SIGNATURES = Memo(_signature_of_chunk, _REMEMBERED)


@lru_cache(maxsize=_REMEMBERED)
def _form(term: str) -> str:
    """Return the form that a term shares with its inflections and abbreviations."""
    form = base_form(term)
    word = expansions().get(term) or expansions().get(form)
    return base_form(word) if word else form


def _terms(parts: Sequence[str], *, joined: bool) -> list[str]:
    """List the subtokens of an identifier; with `joined`, put the whole identifier in lower case before them."""
    whole = ["".join(parts)[:MAX_TERM_LENGTH]] if joined and len(parts) > 1 else []
    return whole + [part for part in parts if len(part) <= MAX_TERM_LENGTH]
