"""Edits of text files that belong to a user or a project."""

from __future__ import annotations

import os
import re
from difflib import unified_diff
from pathlib import Path

from codesearch.errors import ConfigError
from codesearch.files import atomic_writer
from codesearch.treefiles import read_regular
from codesearch.visible import visible

BEGIN, END = "<!-- codesearch: begin -->", "<!-- codesearch: end -->"
"""The lines around a paragraph in an instruction file."""
_MAX_BYTES = 100_000_000


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


def write_text(path: Path, text: str, *, backup: str | None = None) -> None:
    """Replace the text of a file, whose permissions stay, and keep the text of before in `backup_of`."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        mode = path.stat().st_mode & 0o777 if path.exists() else None
        for target, content in ((backup_of(path), backup), (path, text)):
            if content is not None:
                with atomic_writer(target, sync=True) as file:
                    if mode is not None:
                        os.chmod(file.name, mode)
                    file.write(content.encode("utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}", "nothing was written") from None


def backup_of(path: Path) -> Path:
    """Return the file that keeps the text of before the last `write_text`."""
    return path.with_name(f"{path.name}.codesearch.bak")


def diff(path: Path, old: str, new: str) -> str:
    """Return the unified difference of two texts of a file, as it can be shown in a terminal."""
    lines = unified_diff(old.splitlines(keepends=True), new.splitlines(keepends=True), str(path), str(path))
    return "".join(
        f"{visible(line.removesuffix(end))}\n" + ("" if end else "\\ No newline at end of file\n")
        for line in lines
        for end in ["\n" if line.endswith("\n") else ""]
    )


def with_paragraph(text: str, paragraph: str, path: Path) -> str:
    """Return a text with a paragraph between markers, in place of the last one or at the end."""
    newline = _newline(text)
    block = f"{BEGIN}\n{paragraph}{END}".replace("\n", newline)
    if span := _marked(text, path):
        return text[: span[0]] + block + text[span[1] :]
    separator = "" if not text else newline if text.endswith(newline) else newline * 2
    return text + separator + block + newline


def without_paragraph(text: str, path: Path) -> str:
    """Return a text without the paragraph between markers and the empty line before it."""
    if span := _marked(text, path):
        newline = _newline(text)
        return text[: span[0]].removesuffix(newline) + text[span[1] :].removeprefix(newline)
    return text


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _marked(text: str, path: Path) -> tuple[int, int] | None:
    start, end = text.find(BEGIN), text.find(END)
    if start == end == -1:
        return None
    if not 0 <= start < end or text.count(BEGIN) != 1 or text.count(END) != 1:
        raise ConfigError(f"{path}: expected one {BEGIN} before one {END}", "edit the file by hand")
    return start, end + len(END)


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
