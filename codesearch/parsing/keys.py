r"""A definition -> a number that all copies of it have, and one that functions of the same shape have.

A copy has the same name, the same class around it and the same code, in source and in build output. White space outside
of strings does not count. In Python the indentation counts, but a definition may stand deeper as a whole. In JavaScript
and TypeScript, what bundlers and compilers to older versions change does not count either:

    join$1                          join
    (x) => x                        x => x
    [a, b,]                         [a, b]

and, unless loops, `this`, `super` or `arguments` can make a difference:

    const x = 1                     var x = 1
    (x) => { f(x) }                 function name(x) { f(x) }

Functions of one shape differ only in names, values, comments and layout. Keywords and marks stay, and numbers and
strings become one token each. Names become one token too, unless the same name was used shortly before: then the
distance counts, in names. So these have one shape, and with `return sum(start) + 1` the first has another:

    def total(items, start):            def count(lines, more):
        return sum(items) + 1               return len(lines) + 20

A name after a dot has no distance, because a member and a variable may have the same name in only one of two copies.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache

from codesearch.languages import load_grammar
from codesearch.languages.records import Language
from codesearch.memo import Memo

_STRING = re.compile(rb"""("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)""", re.DOTALL)
# A search is several times faster if the pattern begins with literal text, so lookbehinds stand after that text.
_MADE_UNIQUE = re.compile(rb"\$(?<=\w\$)\d+\b")
_TRAILING_COMMA = re.compile(rb",(?=\s*[)\]}])")
_LONE_PARAMETER = re.compile(rb"\(\s*([\w$]+)\s*\)(?=\s*=>)")
_EXPRESSION_NAME = re.compile(
    rb"function(?:(?<=\Afunction)|(?<=[=:(,]function)|(?<=[=:(,] function))\s+[\w$]+"
)
_FUNCTION = re.compile(rb"function(?<![\w$.]function)\s*(?:\(\s*([\w$]+)\s*\)|(?=\())")
_SCOPED = re.compile(rb"\b(?:this|super|arguments|for|while|do)\b")
_TOKEN = re.compile(
    rb"""(
        [A-Za-z_$\x80-\xff][A-Za-z0-9_$\x80-\xff]*+           # a word
      | [(),=\[\]{}+*/%<>&|^~@!?;\\\#]                         # a mark
      | \.(?:[A-Za-z_$\x80-\xff][A-Za-z0-9_$\x80-\xff]*+)?     # a member, or a dot
      | [0-9][A-Za-z0-9_.]*+                                  # a number
      | \"\"\".*?\"\"\" | \'\'\'.*?\'\'\'                     # strings
      | "[^"\\\n]*+(?:\\.[^"\\\n]*+)*+" | '[^'\\\n]*+(?:\\.[^'\\\n]*+)*+' | `[^`\\]*+(?:\\.[^`\\]*+)*+`
      | (?:->|::)[A-Za-z_$\x80-\xff][A-Za-z0-9_$\x80-\xff]*+    # a member of PHP, C++ or Rust
      | [^\sA-Za-z0-9_]                                       # any other mark
    )\s*+""",
    re.DOTALL | re.VERBOSE,
)
"""The most frequent tokens come first. Each takes the space after it, at which no token needs to be tried."""
_NAME = re.compile(rb"[A-Za-z_$\x80-\xff]")
_VALUE = re.compile(rb"\d|[\"'`].")
_KEYWORDS = frozenset(
    b"and as async await begin break case catch continue def defer del delete do elif else elsif end ensure except "
    b"finally fn for foreach func function go goto if in instanceof is lambda let new not or raise rescue "
    b"return select switch then throw try typeof unless until while with yield "
    b"false nil null super true".split()
)
"""Those of all languages that do not stand for a type. A language has those that are in its grammar."""
_CONSTANTS = frozenset(b"False None True self this".split())
_NEAR = 4
_ANY_NAME = b"name"
_REMEMBERED = 1 << 15  # Number of tokens of a language whose forms are cached
_LEAST_TOKENS = 25
"""Shorter functions have no shape, because many that have nothing to do with each other would share one."""


def copy_key(owner: str, name: str, code: bytes, spec: Language) -> int:
    """Return a signed 64-bit number. Only copies of a definition have the same number."""
    names = f"{owner}\n{name}".encode()
    if spec.is_script:
        names, code = _MADE_UNIQUE.sub(b"", names), _plain_script(code)
    code = _in_lines(code) if spec.trailing_comment else _without_space(code)
    digest = hashlib.blake2b(names + b"\n" + code, digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


def _plain_script(code: bytes) -> bytes:
    code = _TRAILING_COMMA.sub(b"", _MADE_UNIQUE.sub(b"", code))
    code = _LONE_PARAMETER.sub(rb"\1", code)
    if _SCOPED.search(code):
        return code
    code = _FUNCTION.sub(rb"\1", _EXPRESSION_NAME.sub(b"function", code)).replace(b"=>", b"")
    return code.replace(b"const ", b"var ").replace(b"let ", b"var ")


def _without_space(code: bytes) -> bytes:
    parts = _STRING.split(code)  # Strings have odd positions.
    parts[::2] = [b"".join(part.split()) for part in parts[::2]]
    return b"".join(parts)


def _in_lines(code: bytes) -> bytes:
    """Remove empty lines and the common indentation of all lines but the first."""
    first, *others = map(str.rstrip, code.decode("utf-8", "replace").splitlines() or [""])
    if lines := [*filter(None, others)]:
        # Lines between the lowest and the highest one, in the order of their characters, begin like both.
        lowest, highest = min(lines), max(lines)
        indentation = lowest[: len(lowest) - len(lowest.lstrip(" \t"))]
        while not highest.startswith(indentation):
            indentation = indentation[:-1]
        lines = [line[len(indentation) :] for line in lines]
    return "\n".join([first, *lines] if first else lines).encode()


def shape_key(code: bytes, spec: Language) -> int:
    """Return a signed 64-bit number, which only functions of the same shape and language share; 0 for a short one."""
    tokens = _TOKEN.findall(_TRAILING_COMMA.sub(b"", code))
    if len(tokens) < _LEAST_TOKENS:
        return 0
    written = list(map(_written_forms(spec).__getitem__, tokens))
    last: dict[bytes, int] = {}
    count = 0
    for position, form in enumerate(written):
        if form is _ANY_NAME:
            token = tokens[position]
            if (distance := count - last.get(token, -_NEAR - 1)) <= _NEAR:
                written[position] = b"%d" % distance
            last[token] = count
            count += 1
    text = b" ".join((spec.name.encode(), *written))
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little", signed=True)


@cache
def _written_forms(spec: Language) -> Memo[bytes, bytes]:
    """Return the table token -> what stands for it in a shape."""
    grammar = load_grammar(spec)
    ids = range(1, grammar.node_kind_count)  # 0 is the end of the file.
    kinds = (grammar.node_kind_for_id(id_) or "" for id_ in ids if not grammar.node_kind_is_named(id_))
    keywords = _KEYWORDS.intersection(kind.encode() for kind in kinds) | _CONSTANTS

    def written(token: bytes) -> bytes:
        if _NAME.match(token):
            return token if token in keywords else _ANY_NAME
        if len(token) > 1 and token[0] in b".-:":
            return b"member"
        return b"value" if _VALUE.match(token) else token

    return Memo(written, _REMEMBERED)
