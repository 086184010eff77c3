"""Ignore files -> which paths are passed over, as git reads them.

A folder's path ends with a slash. Each folder on the way to a path has to be asked about first: what lies in an
ignored folder is never looked at, so a pattern speaks only of the very paths that it matches.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

IGNORE_FILES = (".gitignore", ".codesearchignore")
EXCLUDE_FILE = os.path.join(".git", "info", "exclude")
_TRAILING_SPACES = re.compile(r"(?<!\\) +$")
_POSIX_CLASSES = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": " \t",
    "digit": "0-9",
    "lower": "a-z",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\s",
    "upper": "A-Z",
    "xdigit": "0-9a-fA-F",
}
_BRACKET = re.compile(r"\[[!^]?\]?(?:\[:\w+:\]|\\.|[^\]\\])*\]", re.DOTALL)
_CLASS_OR_CHARACTER = re.compile(r"\[:(\w+):\]|\\?(.)", re.DOTALL)


class BadPatternError(ValueError):
    """A line that is no pattern; git passes over such lines in silence."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """One line of an ignore file; `regex` matches whole paths, without the slash at a folder's end."""

    regex: re.Pattern[str]
    folders_only: bool
    ignores: bool


@dataclass(frozen=True, slots=True)
class Rules:
    """The patterns of one ignore file, in its order.

    Attributes:
        above: the way from the file's folder down to the root of the walk, for a file above that root.
        below: the way from the root of the walk down to the file's folder.
    """

    patterns: tuple[Pattern, ...]
    above: str = ""
    below: str = ""

    def verdict(self, path: str) -> bool | None:
        """Say whether a path relative to the root is ignored; None when no pattern speaks of it."""
        return self.verdict_here(self.above + path.removeprefix(self.below))

    def verdict_here(self, path: str) -> bool | None:
        """Say the same of a path relative to the file's folder."""
        bare = path.removesuffix("/")
        for pattern in reversed(self.patterns):
            if pattern.regex.fullmatch(bare) and (bare != path or not pattern.folders_only):
                return pattern.ignores
        return None


def is_ignored(path: str, rules: Sequence[Rules]) -> bool:
    """Say whether a path is ignored by rules of which the last ones weigh most."""
    for one in reversed(rules):
        verdict = one.verdict(path)
        if verdict is not None:
            return verdict
    return False


def read_rules(path: str, *, above: str = "", below: str = "") -> Rules:
    """Read an ignore file.

    Raises:
        OSError: it cannot be read.
    """
    with open(path, encoding="utf-8", errors="replace") as file:
        return Rules(tuple(compile_lines(file.read().split("\n"), strict=False)), above, below)


def compile_lines(lines: Iterable[str], *, strict: bool) -> list[Pattern]:
    """Compile patterns.

    Raises:
        BadPatternError: `strict`, and a line is no pattern.
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


def rules_above(root: Path) -> list[Rules]:
    """Read the rules between the top of the git work tree and `root`, which itself is not included.

    A root that those rules ignore was asked for all the same, so then none of them apply.
    """
    absolute = root.resolve()
    tops = [folder for folder in (absolute, *absolute.parents) if (folder / ".git").exists()]
    if not tops:
        return []
    parts = absolute.relative_to(tops[0]).parts
    rules = []
    for depth in range(len(parts)):
        above = "".join(f"{part}/" for part in parts[depth:])
        folder = tops[0].joinpath(*parts[:depth])
        for name in (*(() if depth else (EXCLUDE_FILE,)), *IGNORE_FILES):
            try:
                rules.append(read_rules(str(folder / name), above=above))
            except OSError:
                continue
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
    line = _TRAILING_SPACES.sub("", line.removesuffix("\r"))
    if not line or line.startswith("#"):
        return None
    body = line.removeprefix("!")
    folders_only = body.endswith("/")
    body = body.removesuffix("/")
    anywhere = "" if "/" in body else "(?:.*/)?"
    body = body.removeprefix("/")
    if not body:
        raise BadPatternError(f"invalid pattern {line!r}")
    try:
        regex = re.compile(anywhere + _translate(body), re.DOTALL)
    except re.error:  # A range that ends before it begins.
        raise BadPatternError(f"invalid pattern {line!r}") from None
    return Pattern(regex, folders_only, ignores=not line.startswith("!"))


def _translate(glob: str) -> str:
    """Turn a pattern without its leading and trailing slash into a regular expression."""
    out = []
    position = 0
    while position < len(glob):
        character = glob[position]
        rest = glob[position:]
        if rest.startswith("**/") and (position == 0 or glob[position - 1] == "/"):
            out.append("(?:.*/)?")
            position += 3
        elif rest == "**" and position and glob[position - 1] == "/":
            out.append(".+")
            position += 2
        elif character == "[" and (bracket := _BRACKET.match(rest)):
            out.append(_translate_bracket(bracket.group()))
            position += bracket.end()
        elif character == "[" or rest == "\\":
            raise BadPatternError(f"invalid pattern {glob!r}")
        elif character == "\\":
            out.append(re.escape(glob[position + 1]))
            position += 2
        else:
            out.append({"*": "[^/]*", "?": "[^/]"}.get(character) or re.escape(character))
            position += 1
    return "".join(out)


def _translate_bracket(bracket: str) -> str:
    inside = bracket[1:-1]
    negated = inside[:1] in ("!", "^")
    parts = []
    for match in _CLASS_OR_CHARACTER.finditer(inside[negated:]):
        name, character = match.groups()
        if name:
            parts.append(_POSIX_CLASSES.get(name, ""))
        else:
            parts.append(character if match.group() == "-" else re.escape(character))
    return f"(?!/)[{'^' if negated else ''}{''.join(parts)}]"
