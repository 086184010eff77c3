"""Text -> lower-case subtokens, and names as written -> qualifier and name.

The corpus, the encoders and the keyword index all use this splitter.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from codesearch.types import FOLDER_FILES

_WORD = re.compile(r"[^\W\d][\w$]*|\d+")
words: Callable[[str], list[str]] = _WORD.findall
"""Lists the identifiers and numbers of a text in order, without a Python call."""
_TO_SPACE = bytes(byte if byte > 127 or chr(byte).isalnum() or byte in b"$_" else 32 for byte in range(256))
_IN_LINES = _TO_SPACE[:10] + b"\n" + _TO_SPACE[11:]
ARGUMENTS = rb"(\([^()]{0,600}(?:\([^()]{0,200}\)[^()]{0,200}){0,8}\))?"
"""Those of an annotation of Kotlin, which `masks` hides."""
_TYPE_ARGUMENTS = re.compile(r"<[^<>]*>")
_OPERATOR = re.compile(r"\boperator\b\s*(?:\(\s*\)|[^(.]+)")
_AROUND_COLONS = re.compile(r"\s*::\s*")
_BEFORE_SYMBOL = re.compile(r"\s+(?=[^\w\s:])")
_SUBSCRIPT = re.compile(r"\[(['\"])([\w$]+)\1\]")
_SYMBOLS = re.compile(r"(?:([\w.]*\w)\.:?)?\(?\s*([^\w\s()\[\]'\"`#]+)\s*\)?")
_QUOTED = re.compile(r"@?(['\"`])(.*)\1")
_LAST_PART = re.compile(r"\w+\Z")
_LAST_NAME = re.compile(r"[~#$\w]+[!?]*'*")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
ascii_parts: Callable[[str], list[str]] = _PART.findall
"""Lists the parts of an ASCII identifier as they are written, without a Python call."""
_PART_OF_ANY_SCRIPT = re.compile(r"[^\W\d_]+|\d+")


def chunks(text: str) -> list[bytes]:
    """List the runs of characters that may be in words, in UTF-8: each of `words` is in one, and this is faster.

    >>> chunks("x = 3px*rate_2")
    [b'x', b'3px', b'rate_2']
    """
    return text.encode("utf-8", "replace").translate(_TO_SPACE).split()


def spaced_lines(text: str) -> list[bytes]:
    r"""List the lines of a text in UTF-8 with spaces between their chunks.

    >>> spaced_lines("a = 3px*b\n\nc")
    [b'a   3px b', b'', b'c']
    """
    return text.encode("utf-8", "replace").translate(_IN_LINES).split(b"\n")


@lru_cache(maxsize=4_096)  # Callers remember more, and a worker 13 MB less than with 200,000.
def split_identifier(identifier: str) -> tuple[str, ...]:
    """Split one identifier at underscores, at digits and, if it is ASCII, at case changes.

    >>> split_identifier("parseHTTPResponse2_xx")
    ('parse', 'http', 'response', '2', 'xx')
    """
    part = _PART if identifier.isascii() else _PART_OF_ANY_SCRIPT
    return tuple(map(str.lower, part.findall(identifier)))


def subtokens(text: str) -> list[str]:
    """List the subtokens of a text in order.

    >>> subtokens("def intToStr(i): # Convert 3 ints")
    ['def', 'int', 'to', 'str', 'i', 'convert', '3', 'ints']
    """
    return [part for word in words(text) for part in split_identifier(word)]


def subtoken_spans(text: str) -> list[tuple[int, int]]:
    """List start and end of each subtoken of a text in order.

    >>> subtoken_spans("x = readLine()")
    [(0, 1), (4, 8), (8, 12)]
    """
    return [
        part.span()
        for word in _WORD.finditer(text)
        for part in (_PART if word.group().isascii() else _PART_OF_ANY_SCRIPT).finditer(text, *word.span())
    ]


def split_qualified(text: str, separator: str) -> tuple[str, str]:
    """Split a name as written into its qualifier and the name proper; unquote string keys.

    >>> split_qualified("Shape.prototype['area']", "."), split_qualified("fold'", ".")
    (('Shape', 'area'), ('', "fold'"))
    >>> split_qualified("Base.:(==)", "."), split_qualified("( >|> )", ".")
    (('Base', '=='), ('', '>|>'))
    """
    if operator := _OPERATOR.search(text):
        qualifier, name = text[: operator.start()], _BEFORE_SYMBOL.sub("", operator.group().rstrip())
        return without_type_arguments(qualifier).removesuffix(separator), name
    if symbols := _SYMBOLS.fullmatch(text):
        return symbols[1] or "", symbols[2]
    text = _SUBSCRIPT.sub(r".\2", text).removeprefix(".")
    if quoted := _QUOTED.fullmatch(text):
        text = quoted[2]
    bare = without_type_arguments(text)
    if separator == "::":  # C++ macros before a return type leave that type in the name.
        bare = _AROUND_COLONS.sub("::", bare).rpartition(" ")[2].lstrip("*&")
    for mark in (separator, "::"):
        qualifier, _, name = bare.rpartition(mark)
        if qualifier and _LAST_NAME.fullmatch(name):
            return qualifier.replace(".prototype", ""), name
    return "", bare if _LAST_NAME.fullmatch(bare) else text


def receiver_type(text: str) -> str:
    """Return the name of a receiver's type.

    >>> receiver_type("(r *Recv[T])"), receiver_type("Map.Entry<String, Int>?")
    ('Recv', 'Map.Entry')
    """
    if not text.startswith("("):
        return without_type_arguments(text).strip("?!&* ")
    found = re.findall(r"[A-Za-z_]\w*", text.partition("[")[0])
    return found[-1] if found else ""


def without_type_arguments(text: str) -> str:
    """Remove everything between angle brackets, also if they are nested."""
    while (shorter := _TYPE_ARGUMENTS.sub("", text)) != text:
        text = shorter
    return text


def cut_at_word(text: str, most: int) -> str:
    """Return the first characters of a text, without a word that would be cut.

    >>> cut_at_word("int area(int width)", 15), cut_at_word("int area(int width)", 4)
    ('int area(int ', 'int ')
    """
    kept = text[:most]
    return _LAST_PART.sub("", kept) or kept if re.match(r"\w", text[most:]) else kept


def module_name(path: str) -> str:
    """Return the name of a module: the file's without suffixes, or the folder's for a file like `index.js`.

    >>> module_name("src/http/client.test.js"), module_name("src/http/index.js")
    ('client', 'http')
    """
    *folders, file_name = path.split("/")
    stem = file_name.partition(".")[0]
    return folders[-1] if stem in FOLDER_FILES and folders else stem
