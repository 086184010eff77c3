"""Ignore files -> the paths to skip, by the rules of git.

A folder's path ends with a slash. The caller must check each folder on the way to a path first and not enter ignored
ones. So a pattern has to match only the path itself, not the paths below it.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from codesearch.treefiles import read_regular

IGNORE_FILES = (".gitignore", ".codesearchignore")
EXCLUDE_FILE = os.path.join(".git", "info", "exclude")
_MAX_BYTES, _MAX_LINES, _MAX_CHARS = 1_000_000, 10_000, 4_096
"""Limits of an ignore file and of one pattern: a walk asks every pattern about every path."""
_GLOB = re.compile(r"\\(.)|\[([!^]?)(\]?[^\]]*)\]|(\*+)|(.)", re.DOTALL)


class BadPatternError(ValueError):
    """A line that is not a pattern. Git skips such lines without a message."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """One line of an ignore file.

    Attributes:
        parts: for the names of a path, last name first, what each must match; None for any number of names.
        ignores: False if the line begins with `!`.
        only_folders: whether the line ends with a slash.
    """

    parts: tuple[re.Pattern[str] | None, ...]
    ignores: bool
    only_folders: bool

    def matches(self, path: str) -> bool:
        """Say whether the path itself matches; a folder above it does not count.

        Only the last None that was passed may take more names, because no other choice matches more paths. So the time
        does not grow with the length of the path to the power of the number of parts.
        """
        if self.only_folders and not path.endswith("/"):
            return False
        parts, names = self.parts, path.removesuffix("/").split("/")[::-1]
        part = name = 0
        retry: tuple[int, int] | None = None
        while name < len(names):
            wanted = parts[part] if part < len(parts) else None
            if wanted and wanted.fullmatch(names[name]):
                part, name = part + 1, name + 1
            elif part < len(parts) and not wanted:
                part += 1
                if part == len(parts):
                    return True
                retry = part, name
            elif retry:
                part, name = retry = retry[0], retry[1] + 1
            else:
                return False
        return not any(parts[part:])


@dataclass(frozen=True, slots=True)
class Rules:
    """The patterns of one ignore file, in its order.

    Attributes:
        above: path from the file's folder to the root of the walk, if the file is above that root.
        below: path from the root of the walk to the file's folder.
    """

    patterns: tuple[Pattern, ...]
    above: str = ""
    below: str = ""

    def verdict(self, path: str) -> bool | None:
        """Say whether a path relative to the root is ignored; None if no pattern matches it."""
        return self.verdict_here(self.above + path.removeprefix(self.below))

    def verdict_here(self, path: str) -> bool | None:
        """Do the same for a path relative to the file's folder."""
        return next((pattern.ignores for pattern in reversed(self.patterns) if pattern.matches(path)), None)


def is_ignored(path: str, rules: Sequence[Rules]) -> bool | None:
    """Say whether rules ignore a path; None if none matches. Later rules override earlier ones."""
    for one in reversed(rules):
        verdict = one.verdict(path)
        if verdict is not None:
            return verdict
    return None


def read_rules(path: str, *, above: str = "", below: str = "") -> Rules:
    """Read an ignore file.

    Raises:
        OSError: it cannot be read, is no regular file or is too large.
    """
    content, _ = read_regular(path, _MAX_BYTES)
    if content.count(b"\n") >= _MAX_LINES:
        raise OSError(errno.EFBIG, f"more than {_MAX_LINES:,} lines", path)
    return Rules(_compile_once(content), above, below)


@lru_cache(maxsize=8)
def _compile_once(content: bytes) -> tuple[Pattern, ...]:
    """Compile a file; a repository can have the same one in thousands of folders."""
    # Git skips a byte order mark too.
    return tuple(compile_lines(content.decode("utf-8-sig", "replace").split("\n"), strict=False))


def compile_lines(lines: Iterable[str], *, strict: bool) -> list[Pattern]:
    """Compile patterns.

    Raises:
        BadPatternError: `strict` is set and a line is not a pattern.
    """
    patterns = []
    for line in lines:
        try:
            if compiled := _compile(line):
                patterns.append(compiled)
        except BadPatternError:
            if strict:
                raise
    return patterns


def rule_files_above(root: Path) -> list[tuple[str, str]]:
    """List the ignore files between the top of the git work tree and `root`, which itself is not included.

    Returns:
        The absolute path of each, which need not exist, and the path from its folder to `root` with a slash at the end.
    """
    absolute = root.resolve()
    tops = [folder for folder in (absolute, *absolute.parents) if (folder / ".git").exists()]
    if not tops:
        return []
    parts = absolute.relative_to(tops[0]).parts
    return [
        (str(tops[0].joinpath(*parts[:depth], name)), "".join(f"{part}/" for part in parts[depth:]))
        for depth in range(len(parts))
        for name in (*(() if depth else (EXCLUDE_FILE,)), *IGNORE_FILES)
    ]


def rules_above(files: Sequence[tuple[str, str]], warn: Callable[[str], None]) -> list[Rules]:
    """Read the rules of `rule_files_above`.

    If these rules ignore the root itself, none of them apply, because the user asked for this root.
    """
    if not files:
        return []
    rules = []
    for path, above in files:
        try:
            rules.append(read_rules(path, above=above))
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            warn(f"{path}: {error.strerror}: its rules are not applied")
    parts = files[0][1].rstrip("/").split("/")  # From the top of the work tree to the root.
    ignored = any(_is_folder_ignored(parts[: depth + 1], rules, len(parts)) for depth in range(len(parts)))
    return [] if ignored else rules


def _is_folder_ignored(parts: Sequence[str], rules: Sequence[Rules], root_depth: int) -> bool:
    for one in reversed(rules):
        below_file = parts[root_depth - one.above.count("/") :]
        verdict = one.verdict_here("/".join(below_file) + "/") if below_file else None
        if verdict is not None:
            return verdict
    return False


def _compile(line: str) -> Pattern | None:
    if len(line) > _MAX_CHARS:
        raise BadPatternError(f"pattern {line[:20]!r}... has more than {_MAX_CHARS:,} characters")
    text = line.removesuffix("\r")
    text = text if text.endswith("\\ ") else text.rstrip()
    if text in ("", "/") or text.startswith("#"):
        return None
    glob = re.sub(r"\*{3,}", "**", text.removeprefix("!"))
    names = glob.removesuffix("/").split("/")
    if len(names) == 1:
        names.insert(
            0, "**"
        )  # A pattern without a slash at its beginning or inside it matches in every folder.
    elif not names[0]:
        del names[0]
    if names[-1] == "**":
        names.append("*")  # `a/**` is not `a` itself.
    try:
        if not names[-1]:
            raise ValueError
        parts = [None if name == "**" else _name_pattern(name) for name in reversed(names)]
    except (ValueError, re.error):
        raise BadPatternError(f"invalid pattern {line!r}") from None
    return Pattern(tuple(parts), not text.startswith("!"), glob.endswith("/"))


def _name_pattern(glob: str) -> re.Pattern[str]:
    """Translate the pattern of one name; only its last star may try several places, as in `Pattern.matches`."""
    pieces = [""]
    for escaped, negation, characters, stars, literal in _GLOB.findall(glob):
        if stars:
            pieces.append("")
        elif characters:
            inside = characters.replace("\\", "\\\\").replace("[", "\\[")
            pieces[-1] += f"[{'^' if negation else ''}{inside}]"
        elif literal in ("[", "\\"):
            raise ValueError(glob)  # A set without an end, or a mark before nothing.
        else:
            pieces[-1] += "." if literal == "?" else re.escape(escaped or literal)
    first, *middle = pieces
    last = f".*{middle.pop()}" if middle else ""
    return re.compile("".join([first, *(f"(?>.*?{piece})" for piece in middle), last]), re.DOTALL)
