"""A name and a source -> the places where the name stands as a whole word, and what is before them."""

from __future__ import annotations

import re
from collections.abc import Iterator

_WORD = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
_ALSO = {
    **dict.fromkeys(("javascript", "typescript", "tsx", "vue", "html", "coffeescript", "java"), b"$"),
    **dict.fromkeys(("css", "nix"), b"-"),
    **dict.fromkeys(("lisp", "clojure"), b"-*?!"),
}
"""Characters of identifiers, apart from letters, digits and underscores."""
_AT_END = {
    **dict.fromkeys(("ruby", "elixir", "crystal"), b"?!"),
    **dict.fromkeys(("haskell", "ocaml", "ocamli", "purescript", "fsharp", "nix"), b"'"),
    "julia": b"!",
}
"""Characters that identifiers may end with."""
_HASH, _DASHES, _SLASHES = (
    re.compile(rb"(?:^|\s)" + mark) for mark in (rb"#(?!\{)", rb"--", rb"//|^\s*\*[\s/]|/\*(?!.*\*/)")
)
_COMMENT = {
    **dict.fromkeys(
        "python cython ruby crystal bash perl elixir r julia yaml toml powershell nim".split(), _HASH
    ),
    **dict.fromkeys("coffeescript cmake make dockerfile terraform nix".split(), _HASH),
    **dict.fromkeys("lua sql haskell elm purescript".split(), _DASHES),
    "php": re.compile(rb"|".join((_HASH.pattern, _SLASHES.pattern))),
}
"""What opens a comment; by default `_SLASHES`."""
_MOST_BYTES = 4
"""Of a character in UTF-8."""
_QUALIFIER = re.compile(rb"(?:^|[^.])(?:\.|\?\.|&\.|!!\.|->|::|\\)\Z")
_LAST_WORD = re.compile(rb"[\w\x80-\xff]+\Z")
_MOST_QUALIFIER = 80
_MOST_LINE = 1_000
"""Bytes of a line that are looked through for the mark of a comment."""


def occurrences(source: bytes, name: bytes, language: str) -> Iterator[int]:
    """Yield the place of each occurrence that is not a part of a longer identifier of the language.

    >>> list(occurrences(b"empty? if empty or $empty", b"empty", "ruby"))
    [10, 20]
    """
    inside = _WORD | set(_ALSO.get(language, b""))
    after = inside | set(_AT_END.get(language, b""))
    begins, ends = (is_part(name[:_MOST_BYTES], inside), is_part(name[-_MOST_BYTES:], after, last=True))
    # Most occurrences in longer words are ruled out by the bytes next to them, because a call for each would be slow.
    longer_before, longer_after = (inside if begins else frozenset(), _WORD if ends else frozenset())
    place, size, length = source.find(name), len(name), len(source)
    while place >= 0:
        end = place + size
        if not (
            (end < length and source[end] in longer_after)
            or (place and source[place - 1] in longer_before)
            or (begins and is_part(source[max(place - _MOST_BYTES, 0) : place], inside, last=True))
            or (ends and is_part(source[end : end + _MOST_BYTES], after))
        ):
            yield place
        place = source.find(name, place + 1)


def is_part(text: bytes, inside: frozenset[int], *, last: bool = False) -> bool:
    """Say whether the first (or last) character of a few bytes can be a part of an identifier."""
    if not text:
        return False
    byte = text[-1 if last else 0]
    if byte >= 0x80:
        return text.decode("utf-8", "ignore")[-1 if last else 0 :][:1].isalnum()
    # "a!=b" compares `a`.
    return byte in inside and not (byte in b"?!" and not last and text[1:2] == b"=")


def in_comment(source: bytes, place: int, language: str) -> bool:
    """Say whether a place is behind what opens a comment in its line.

    >>> in_comment(b"// get", 3, "go"), in_comment(b"# get", 2, "ruby"), in_comment(b'"http://get"', 8, "go")
    (True, True, False)
    """
    line = source[max(source.rfind(b"\n", 0, place) + 1, place - _MOST_LINE) : place]
    return _COMMENT.get(language, _SLASHES).search(line) is not None


def qualifier(source: bytes, place: int) -> str | None:
    """Return the word before a name that is joined to it, as in `word.name`; "" for another expression, None for none.

    >>> qualifier(b"self.push", 5), qualifier(b"a().push", 4), qualifier(b"std::push", 5), qualifier(b"...push", 3)
    ('self', '', 'std', None)
    """
    before = source[max(place - _MOST_QUALIFIER, 0) : place]
    joined = _QUALIFIER.search(before)
    if not joined:
        return None
    found = _LAST_WORD.search(before.rstrip(b".?&!->:\\"))
    return found.group().decode("utf-8", "replace") if found else ""
