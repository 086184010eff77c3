"""A function -> a number that it shares with functions that differ only in names, values, comments and layout.

The tokens of the code are compared. Keywords and marks stay, and numbers and strings become one token each. Names
become one token too, unless the same name was used shortly before: then the distance counts, in names. So these have
the same shape, and with `return sum(start) + 1` the first has another one:

    def total(items, start):            def count(lines, more):
        return sum(items) + 1               return len(lines) + 20

A name after a dot has no distance, because a member and a variable may have the same name in only one of two copies.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache

from codesearch.parsing.grammars import load_grammar
from codesearch.parsing.languages import LanguageSpec

_TOKEN = re.compile(
    rb"\"\"\".*?\"\"\"|'''.*?'''|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`"
    rb"|(?:\.|->|::)?[A-Za-z_$\x80-\xff][\w$\x80-\xff]*|\d[\w.]*|[^\s\w]",
    re.DOTALL,
)
_TRAILING_COMMA = re.compile(rb",(?=\s*[)\]}])")
_NAME = re.compile(rb"[A-Za-z_$\x80-\xff]")
_VALUE = re.compile(rb"\d|[\"'`].")
_KEYWORDS = frozenset(
    b"and as async await begin break case catch continue def defer del delete do elif else elsif end ensure except "
    b"finally fn for foreach func function go goto if in instanceof is lambda let new not or raise rescue "
    b"return select switch then throw try typeof unless until while with yield "
    b"false nil null super true".split()
)
"""Those of all languages that do not stand for a type. A language has those that are in its grammar."""
_NEAR = 4
_LEAST_TOKENS = 25
"""Shorter functions have no shape, because many that have nothing to do with each other would share one."""


def shape_key(code: bytes, spec: LanguageSpec) -> int:
    """Return a signed 64-bit number, which only functions of the same shape and language share; 0 for a short one."""
    tokens = _TOKEN.findall(_TRAILING_COMMA.sub(b"", code))
    if len(tokens) < _LEAST_TOKENS:
        return 0
    keywords = _keywords(spec)
    written, names = [spec.name.encode()], 0
    last: dict[bytes, int] = {}
    for token in tokens:
        if _NAME.match(token) and token not in keywords:
            names += 1
            distance = names - last.get(token, -_NEAR)
            written.append(b"%d" % distance if distance <= _NEAR else b"name")
            last[token] = names
        elif len(token) > 1 and token[0] in b".-:":
            written.append(b"member")
        else:
            written.append(b"value" if _VALUE.match(token) else token)
    return int.from_bytes(hashlib.blake2b(b" ".join(written), digest_size=8).digest(), "little", signed=True)


@cache
def _keywords(spec: LanguageSpec) -> frozenset[bytes]:
    grammar = load_grammar(spec)
    ids = range(1, grammar.node_kind_count)  # 0 is the end of the file.
    kinds = (grammar.node_kind_for_id(one) or "" for one in ids if not grammar.node_kind_is_named(one))
    return _KEYWORDS.intersection(kind.encode() for kind in kinds) | {
        b"False",
        b"None",
        b"True",
        b"self",
        b"this",
    }
