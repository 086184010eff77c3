"""A function -> a number that it shares with functions that differ only in names, values, comments and layout.

The tokens of the code are compared. Keywords and marks stay; a name becomes the number of the names before its first
use; numbers and strings become one token each. So these two have the same shape:

    def total(items):                   def count(lines):
        return sum(items) + 1               return len(lines) + 20
"""

from __future__ import annotations

import hashlib
import re
from functools import cache

from codesearch.parsing.grammars import load_grammar
from codesearch.parsing.languages import LanguageSpec

_TOKEN = re.compile(
    rb"\"\"\".*?\"\"\"|'''.*?'''|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`"
    rb"|[A-Za-z_$\x80-\xff][\w$\x80-\xff]*|\d[\w.]*|[^\s\w]",
    re.DOTALL,
)
_NAME = re.compile(rb"[A-Za-z_$\x80-\xff]")
_VALUE = re.compile(rb"\d|[\"'`].")
_KEYWORD = re.compile("[a-z_]+")
_LEAST_TOKENS = 25
"""Shorter functions have no shape, because many that have nothing to do with each other would share one."""


def shape_key(code: bytes, spec: LanguageSpec) -> int:
    """Return a signed 64-bit number, which only functions of the same shape and language share; 0 for a short one.

    Args:
        code: a function without its comments and its docstring.
        spec: its language.
    """
    tokens = _TOKEN.findall(code)
    if len(tokens) < _LEAST_TOKENS:
        return 0
    written, names = _keywords(spec).copy(), 0
    for token in tokens:
        if token in written:
            continue
        if _NAME.match(token):
            written[token] = b"%d" % names
            names += 1
        else:
            written[token] = b"value" if _VALUE.match(token) else token
    text = b" ".join([spec.name.encode(), *map(written.__getitem__, tokens)])
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little", signed=True)


@cache
def _keywords(spec: LanguageSpec) -> dict[bytes, bytes]:
    grammar = load_grammar(spec)
    ids = range(grammar.node_kind_count)
    kinds = {grammar.node_kind_for_id(i) or "" for i in ids if not grammar.node_kind_is_named(i)}
    words = [kind.encode() for kind in sorted(kinds) if _KEYWORD.fullmatch(kind)]
    return dict(zip(words, words, strict=True))
