"""The bytes of a source file -> text in UTF-8 whose lines end in LF or CRLF. All that reads a source calls `decoded`.

A byte order mark decides, then a declaration in the first two lines. Other text that is not UTF-8 is read in the code
page whose letters it has in words. A carriage return alone ends a line, as in editors.
"""

from __future__ import annotations

import codecs
import re
from contextlib import suppress

SNIFF_BYTES = 8_192
NOTEBOOK = ".ipynb"
_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",  # It begins with the mark of UTF-16.
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
# Every query imports this module, and few files need these patterns, so they are compiled when one does.
_LONE_CR = rb"\r(?!\n)"
_DECLARED = rb"""(?:[^\n]*\n)?[^\n]*?(?:coding|charset)[:=]\s*["']?([-\w.]+)"""
_CODE_PAGE = r"(?i:iso|latin|cp|windows|koi8|mac|euc|shift|sjis|gb|big5)[-\w]*"
"""Other codecs of Python do not read text, or take quadratic time."""
_RUSSIAN, _JAPANESE = "[А-Яа-яё][а-яё]{2,}", "[\u3040-\u30ff]+[\u4e00-\u9fff]*"
_PAGES = (
    ("cp1251", _RUSSIAN, 0.6),
    ("koi8_r", _RUSSIAN, 0.6),
    ("euc_jp", _JAPANESE, 0.6),
    ("cp932", _JAPANESE, 0.6),
    ("cp949", "[\uac00-\ud7a3]{2,}", 0.9),
    ("gb18030", "[\u4e00-\u9fff]{2,}", 0.6),
    ("cp1252", "", 0.0),
)
"""Code pages, what is in words of them, and its least share among the characters that are not ASCII.

Text of a page is unlikely to pass the test of a page above it.
"""
_SAMPLE = 100_000


def decoded(content: bytes, path: str = "") -> bytes:
    r"""Return the content of a file as UTF-8, and of a notebook its code; binary content and UTF-8 with errors stay.

    >>> decoded("a = 'Größe'".encode("latin-1")).decode(), decoded(b"a\rb\r\n")
    ("a = 'Größe'", b'a\nb\r\n')
    """
    if not content.isascii():
        content = _as_utf8(content)
    text = content.rstrip(b"\0")
    content = content if b"\0" in text[:SNIFF_BYTES] else text
    has_lone = b"\r" in content and content.count(b"\r") != content.count(b"\r\n")
    if has_lone and b"\0" not in content[:SNIFF_BYTES]:
        content = re.sub(_LONE_CR, b"\n", content)
    if path.lower().endswith(NOTEBOOK):
        from codesearch.parsing.notebooks import code_of

        return code_of(content)
    return content


def _as_utf8(content: bytes) -> bytes:
    for mark, encoding in _MARKS.items():
        if content.startswith(mark):
            return content.decode(encoding, "replace").encode()
    if b"\0" in content[:SNIFF_BYTES]:
        return content
    try:
        content.decode()
        return content
    except UnicodeDecodeError:
        text = _declared(content) or _guessed(content)
        return content if text is None else text.encode()


def _declared(content: bytes) -> str | None:
    match = re.match(_DECLARED, content)
    name = match[1].decode() if match else ""
    with suppress(LookupError, UnicodeDecodeError):
        return content.decode(name) if re.fullmatch(_CODE_PAGE, name) else None
    return None


def _guessed(content: bytes) -> str | None:
    text = content.decode("utf-8", "replace")
    if _not_ascii(text) >= 2 * text.count("\ufffd"):  # It is UTF-8 with a few errors.
        return None
    for name, letters, share in _PAGES:
        with suppress(UnicodeDecodeError):
            text = content.decode(name)
            sample = text[:_SAMPLE]
            if sum(map(len, re.findall(letters, sample))) >= share * _not_ascii(sample):
                return text
    return None


def _not_ascii(text: str) -> int:
    return len(text) - len(text.encode("ascii", "ignore"))
