"""A page or component of HTML, Svelte or Vue -> its scripts and the rest, each with blanks in place of the other."""

from __future__ import annotations

import re
from collections.abc import Iterator

_NO_BREAK = re.compile(rb"[^\n]")
_OPENING = re.compile(rb"<(script|style)\b[^<>]*>", re.IGNORECASE)
_NO_SCRIPT = re.compile(
    rb"type\s*=\s*[\"']?(?!module\b|(?:text|application)/(?:java|type)script)", re.IGNORECASE
)


def split_markup(source: bytes) -> tuple[bytes, bytes]:
    """Return the scripts of a file, and its markup without scripts and styles. Both have the length of the file.

    >>> split_markup(b"<p>a<script>f()</script>")
    (b'            f()         ', b'<p>a<script>   </script>')
    """
    scripts, markup, end = [], [], 0
    for start, stop, is_script in _raw_texts(source):
        markup += [source[end:start], _blank(source[start:stop])]
        scripts += [_blank(source[end:start]), source[start:stop] if is_script else markup[-1]]
        end = stop
    return b"".join((*scripts, _blank(source[end:]))), b"".join((*markup, source[end:]))


def _raw_texts(source: bytes) -> Iterator[tuple[int, int, bool]]:
    """Yield start and end of the content of each `<script>` and `<style>`, and whether it is a script."""
    position = 0
    while opening := _OPENING.search(source, position):
        name = opening[1].lower()
        position = source.find(b"</" + opening[1], opening.end())
        if position < 0:
            return
        yield opening.end(), position, name == b"script" and not _NO_SCRIPT.search(opening[0])


def _blank(text: bytes) -> bytes:
    return _NO_BREAK.sub(b" ", text)
