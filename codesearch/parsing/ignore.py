"""Ignore files -> the rules that apply in a folder."""

from __future__ import annotations

import errno
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from codesearch.parsing.globs import MOST_GLOBS
from codesearch.parsing.patterns import Patterns, PatternsHere, read_patterns
from codesearch.treefiles import read_regular

_MAX_BYTES, _MAX_LINES = 1_000_000, 10_000
_MOST_FILES, MOST_WEIGHT = 50, 5_000
"""Limits of the ignore files in force in one folder: a walk asks them about every path in it."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The patterns of one ignore file.

    Attributes:
        above: path from the file's folder to the root of the walk, if the file is above that root.
        below: path from the root of the walk to the file's folder.
    """

    patterns: Patterns
    above: str = ""
    below: str = ""

    def inside(self, folder: str) -> PatternsHere:
        """Return the patterns for a folder, whose path is relative to the root and ends with a slash."""
        return self.patterns.inside((self.above + folder.removeprefix(self.below)).split("/")[:-1])


class RuleReader:
    """Reads the ignore files of one walk, and refuses those that would make it slow."""

    def __init__(self) -> None:
        self._globs: set[str] = set()

    def read(self, path: str, in_force: Sequence[Rules], *, above: str = "", below: str = "") -> Rules:
        """Read an ignore file."""
        content, _ = read_regular(path, _MAX_BYTES)
        if content.count(b"\n") >= _MAX_LINES:
            raise OSError(errno.EFBIG, f"more than {_MAX_LINES:,} lines", path)
        patterns = _read_once(content)
        if len(in_force) >= _MOST_FILES:
            raise OSError(errno.E2BIG, f"more than {_MOST_FILES} ignore files in the folders above", path)
        weight = patterns.weight + sum(rules.patterns.weight for rules in in_force)
        if weight > MOST_WEIGHT or len(self._globs | patterns.globs) > MOST_GLOBS:
            count = f"{len(patterns.wildcards):,} in this file"
            raise OSError(errno.E2BIG, f"too many patterns with wildcards ({count})", path)
        self._globs |= patterns.globs
        return Rules(patterns, above, below)


@lru_cache(maxsize=8)
def _read_once(content: bytes) -> Patterns:
    """Read the patterns of a file; a repository can have the same one in thousands of folders."""
    # Git skips a byte order mark too.
    return read_patterns(content.decode("utf-8-sig", "replace").split("\n"), strict=False)


def rules_above(
    files: Sequence[tuple[str, str]], reader: RuleReader, warn: Callable[[str], None]
) -> list[Rules]:
    """Read the rules of `rule_files_above`.

    If these rules ignore the root itself, none of them apply, because the user asked for this root.
    """
    if not files:
        return []
    rules: list[Rules] = []
    for path, above in files:
        try:
            rules.append(reader.read(path, rules, above=above))
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            warn(f"{path}: {error.strerror}: its rules are not applied")
    parts = files[0][1].rstrip("/").split("/")  # From the top of the work tree to the root.
    ignored = any(_is_folder_ignored(parts[: depth + 1], rules, len(parts)) for depth in range(len(parts)))
    return [] if ignored else rules


def _is_folder_ignored(parts: Sequence[str], rules: Sequence[Rules], root_depth: int) -> bool:
    for one in reversed(rules):
        if below_file := parts[root_depth - one.above.count("/") :]:
            verdict = one.patterns.inside(below_file[:-1]).verdict(below_file[-1], is_folder=True)
            if verdict is not None:
                return verdict
    return False
