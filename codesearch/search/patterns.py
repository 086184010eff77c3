"""An exact text or a regular expression -> what finds it in texts and in bytes, in limited time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any, AnyStr, Self

from codesearch.errors import ConfigError

_SECONDS = 2
"""How long a regular expression may look at a text. Some take exponential time, such as `(a|aa)+$`."""


class TextPattern:
    """Finds an exact text, or what a regular expression of the library `regex` matches; `^` and `$` are of lines.

    Raises:
        ConfigError: the text is no regular expression.
    """

    def __init__(self, text: str | bytes, *, is_pattern: bool = False, ignore_case: bool = False) -> None:
        """Compile a text. Only a regular expression needs the import of `regex`, which takes 20 ms."""
        self._text, self._is_pattern, self._ignore_case = text, is_pattern, ignore_case
        engine = import_module("regex") if is_pattern else re
        wanted = text if is_pattern else re.escape(text)  # type: ignore[type-var]
        self._limit = {"timeout": _SECONDS} if is_pattern else {}
        flags = engine.MULTILINE | (engine.IGNORECASE if ignore_case else 0)
        try:
            self._compiled: Any = engine.compile(wanted, flags)
        except (engine.error, OverflowError) as error:
            cure = r"correct it, or write \ before characters that stand for themselves"
            raise ConfigError(f"{text!r} is no regular expression: {error}", cure) from None

    def of_bytes(self) -> Self:
        """Return the same for sources, of which few match, so that they need not be decoded."""
        text = self._text.encode("utf-8", "surrogateescape") if isinstance(self._text, str) else self._text
        return type(self)(text, is_pattern=self._is_pattern, ignore_case=self._ignore_case)

    def finditer(self, text: AnyStr) -> Iterator[re.Match[AnyStr]]:
        """Yield all matches in a text.

        Raises:
            ConfigError: this takes too long.
        """
        try:
            yield from self._compiled.finditer(text, **self._limit)
        except TimeoutError:
            raise ConfigError(
                f"{self._text!r} takes too long to match", "repeat no alternatives or repetitions"
            ) from None

    def first(self, text: str, start: int, end: int) -> int | None:
        """Return where the first match in a part of a text begins; None without one in time."""
        try:
            match = self._compiled.search(text, start, end, **self._limit)
        except TimeoutError:
            return None
        return match.start() if match else None
