r"""A definition -> a number that all copies of it have, in source and in build output.

A copy has the same name, the same class around it and the same code. White space outside of strings does not count. In
Python the indentation counts, but a definition may stand deeper as a whole. In JavaScript and TypeScript, what bundlers
and compilers to older versions change does not count either:

    join$1                          join
    (x) => x                        x => x
    [a, b,]                         [a, b]

and, unless loops, `this`, `super` or `arguments` can make a difference:

    const x = 1                     var x = 1
    (x) => { f(x) }                 function name(x) { f(x) }
"""

from __future__ import annotations

import hashlib
import re
from textwrap import dedent

from codesearch.parsing.languages import LanguageSpec

_SCRIPTS = frozenset({"javascript", "typescript", "tsx"})
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


def copy_key(owner: str, name: str, code: bytes, spec: LanguageSpec) -> int:
    """Return a signed 64-bit number. Only copies of a definition have the same number."""
    names = f"{owner}\n{name}".encode()
    if spec.name in _SCRIPTS:
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
    first, _, rest = code.decode("utf-8", "replace").partition("\n")
    lines = (line.rstrip() for line in (first, *dedent(rest).splitlines()))
    return "\n".join(line for line in lines if line).encode()
