"""Text that others wrote -> text that is safe to print.

A terminal obeys control characters: a file name can clear the screen, change the title or write to the clipboard.
Invisible characters can make code read differently from what it is (Trojan Source). Both are replaced by escapes.
"""

from __future__ import annotations

import re
from typing import Any

_OTHERS = (
    r"\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164"
    r"\ud800-\udfff\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Control characters above ASCII, and characters that change the direction, have no width or are no characters."""
_UNSAFE = re.compile(rf"[\x00-\x1f{_OTHERS}]")
_UNSAFE_IN_JSON = re.compile(rf"[{_OTHERS}]")  # JSON has escapes for the rest, and line ends between values.
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def visible(text: str) -> str:
    r"""Return one line of text with escapes for control characters and invisible characters.

    >>> print(visible("a\x1b[2Jb\nc\u202ed"))
    a\x1b[2Jb\nc\u202ed
    """
    return _UNSAFE.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def visible_json(text: str) -> str:
    r"""Return JSON with escapes for the characters that `visible` replaces; the data stays the same.

    >>> print(visible_json('"\u202e"'))
    "\u202e"
    """
    import json

    return _UNSAFE_IN_JSON.sub(lambda match: json.dumps(match[0])[1:-1], text)


def encodable(text: str) -> str:
    r"""Return text that UTF-8 can have: a byte of a path that is not UTF-8 becomes an escape.

    >>> print(encodable("b\udcff/g.py"))
    b\udcff/g.py
    """
    return _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def encodable_json(fields: Any) -> str:  # noqa: ANN401 - whatever JSON can have.
    r"""Return JSON whose texts are those of `encodable`. JSON has an escape for such a byte, but few programs read it.

    Dataclasses are objects of their fields.

    >>> print(encodable_json(["b\udcff", "é"]))
    ["b\\udcff","é"]
    """
    import json

    def object_of(record: Any) -> dict[str, Any]:  # noqa: ANN401 - a dataclass.
        return {name: getattr(record, name) for name in record.__dataclass_fields__}

    text = json.dumps(fields, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=object_of)
    return _SURROGATE.sub(lambda match: f"\\\\u{ord(match[0]):04x}", text)
