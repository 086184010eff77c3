"""Edits of text files that belong to a user or a project; everything else in them stays, byte for byte."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Sequence
from itertools import count
from pathlib import Path

from codesearch.errors import ConfigError
from codesearch.files import atomic_writer
from codesearch.treefiles import read_regular

BEGIN, END = "<!-- codesearch: begin -->", "<!-- codesearch: end -->"
"""The lines around a paragraph in an instruction file."""
_MAX_BYTES = 100_000_000
_SPACE = re.compile(r"[ \t\r\n]*")


def read_text(path: Path) -> str | None:
    """Return the text of a file, or None if there is no file."""
    try:
        return read_regular(path, _MAX_BYTES)[0].decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise ConfigError(f"{path} is not UTF-8", "nothing was written") from None
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}", "nothing was written") from None


def write_text(path: Path, text: str, *, with_backup: bool = True) -> Path | None:
    """Replace the text of a file, whose permissions stay; return the backup of the last file, if there was one."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        backup = None
        mode = path.stat().st_mode & 0o777 if path.exists() else None
        if mode is not None and with_backup:
            names = (path.with_name(f"{path.name}.codesearch-{number}.bak") for number in count(1))
            backup = next(name for name in names if not name.exists())
            shutil.copy2(path, backup)
        with atomic_writer(path, sync=True) as file:
            if mode is not None:
                os.chmod(file.name, mode)
            file.write(text.encode("utf-8"))
        return backup
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}", "nothing was written") from None


def backups(path: Path) -> list[Path]:
    """Return the backups of a file that `write_text` made."""
    name = re.compile(rf"{re.escape(path.name)}\.codesearch-\d+\.bak")
    found = path.parent.iterdir() if path.parent.is_dir() else ()
    return sorted(one for one in found if name.fullmatch(one.name) and one.is_file() and not one.is_symlink())


def with_paragraph(text: str, paragraph: str, path: Path) -> str:
    """Return a text with a paragraph between markers, in place of the last one or at the end."""
    newline = "\r\n" if "\r\n" in text else "\n"
    block = f"{BEGIN}\n{paragraph}{END}".replace("\n", newline)
    if span := _marked(text, path):
        return text[: span[0]] + block + text[span[1] :]
    if not text:
        return block + newline
    # Without a newline at the end of the text there is none after the block, so that it can be taken out again.
    return text + newline + (block + newline if text.endswith("\n") else newline + block)


def without_paragraph(text: str, path: Path) -> str:
    """Return a text without the paragraph between markers, and without the lines that separated it."""
    span = _marked(text, path)
    if not span:
        return text
    newline = "\r\n" if "\r\n" in text else "\n"
    before, after = text[: span[0]], text[span[1] :]
    if not after.startswith(newline):
        return before.removesuffix(newline).removesuffix(newline) + after
    separated = before.endswith(newline * 2)
    return (before.removesuffix(newline) if separated else before) + after.removeprefix(newline)


def _marked(text: str, path: Path) -> tuple[int, int] | None:
    start, end = text.find(BEGIN), text.find(END)
    if start == end == -1:
        return None
    if not 0 <= start < end or text.count(BEGIN) != 1 or text.count(END) != 1:
        raise ConfigError(f"{path}: expected one {BEGIN} before one {END}", "edit the file by hand")
    return start, end + len(END)


def without_member(text: str, keys: Sequence[str]) -> str:
    """Return a JSON text without the member that a path of keys leads to, and without objects that had only it.

    >>> without_member('{"a": {"x": 1,  "y": {"z": 2}}}', ("a", "y", "z"))
    '{"a": {"x": 1}}'
    """
    decode = json.JSONDecoder().raw_decode
    start, first, last = 0, 0, 0
    comma: int | None = None
    for key in keys:
        position = text.index("{", start) + 1
        name, comma = None, None
        while name != key:
            comma = position - 1 if name is not None else None
            first = _after_space(text, position)
            name, end = decode(text, first)
            start = _after_space(text, text.index(":", end) + 1)
            _, last = decode(text, start)
            position = _after_space(text, last) + 1
    if text[position - 1] == ",":
        return text[:first] + text[_after_space(text, position) :]
    if comma is not None:
        return text[:comma] + text[last:]
    return without_member(text, keys[:-1]) if keys[1:] else ""


def _after_space(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position


def without_table(text: str, name: str) -> str:
    """Return a TOML text without a table, the tables in it, and the empty line before it."""
    header = re.compile(rf"\[{re.escape(name)}(\.[^\]]*)?\]")
    kept: list[str] = []
    is_inside = False
    for line in text.splitlines(keepends=True):
        if header.match(line):
            is_inside = True
            if kept and not kept[-1].strip():
                kept.pop()
        elif is_inside and (not line.strip() or line.startswith(("[", "#"))):
            is_inside = False
        if not is_inside:
            kept.append(line)
    return "".join(kept)
