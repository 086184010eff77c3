"""Numbers as people read them: nouns with their plurals, lists with counts, and what an index leaves out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from codesearch.store.manifest import Counts

_SHOWN = 5
_FILES = {
    "other language": ("file of another language than --lang", "files of other languages than --lang"),
    "other content": ("file that --content would add", "files that --content would add"),
    "too large": ("file over the limit of --max-file-mb", "files over the limit of --max-file-mb"),
    "binary": ("binary file", "binary files"),
    "minified": ("minified file", "minified files"),
    "generated": ("generated file", "generated files"),
    "data": ("file of data", "files of data"),
    "never": ("lock file, licence or secret", "lock files, licences and secrets"),
    "unreadable": ("file that cannot be read", "files that cannot be read"),
    "crashed": ("file whose parser takes too much or crashes", "files whose parsers take too much or crash"),
    "only as blocks": (
        "file only as blocks, because its parser takes too much or crashes",
        "files only as blocks, because their parsers take too much or crash",
    ),
    "ignored": ("ignored file", "ignored files"),
    "hidden": ("hidden file", "hidden files"),
    "link": ("symbolic link", "symbolic links"),
    "rules": ("ignore file whose rules are not applied", "ignore files whose rules are not applied"),
}
_FOLDERS = {
    "ignored": ("ignored folder", "ignored folders"),
    "hidden": ("hidden folder", "hidden folders"),
    "always": ("folder that is always skipped", "folders that are always skipped"),
}
"""Reason -> singular and plural name, in the order shown."""


def counted(number: int, noun: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "file"), counted(1200, "file")
    ('1 file', '1,200 files')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def size_of(count: int) -> str:
    """Return a number of bytes with its unit.

    >>> size_of(1200), size_of(94_000_000)
    ('2 kB', '94.0 MB')
    """
    return f"{-(-count // 1000)} kB" if count < 1_000_000 else f"{count / 1e6:,.1f} MB"


def counts(numbers: Mapping[str, int]) -> str:
    """List the most frequent names with their numbers.

    >>> counts({"php": 3, "go": 1200})
    'go 1,200, php 3'
    >>> counts({".md": 1200, ".a": 1, ".b": 1, ".c": 1, ".d": 1, ".e": 1, ".f": 1})
    '.md 1,200, .a 1, .b 1, .c 1, .d 1, and 2 more'
    """
    ordered = sorted(numbers.items(), key=lambda entry: (-entry[1], entry[0]))
    count = _SHOWN if len(ordered) > _SHOWN + 1 else len(ordered)  # "and 1 more" is as long as a name.
    shown = [f"{name or 'no extension'} {number:,}" for name, number in ordered[:count]]
    more = len(ordered) - len(shown)
    return ", ".join([*shown, f"and {more} more"] if more else shown)


def not_indexed_lines(files: Counts, folders: Counts) -> Iterator[str]:
    """Yield a heading and a line for each reason; yield nothing if everything is indexed."""
    lines = [*_lines(_FILES, files), *_lines(_FOLDERS, folders)]
    if lines:
        yield "  not indexed"
        yield from (f"    {line}" for line in lines)


def _lines(names: Mapping[str, tuple[str, str]], found: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    for reason, (one, several) in names.items():
        if total := sum(found.get(reason, {}).values()):
            yield f"{total:,} {one if total == 1 else several} ({counts(found[reason])})"
