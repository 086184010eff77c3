"""Ignore files -> which names in a folder they ignore, by the rules of git.

Most patterns are names without wildcards, or a star and the end of a name. They are keys of dictionaries, so thousands
of them cost no more than one. Each other pattern is compared with every name in the folders that it applies to.

The caller must check each folder on the way to a path first and not enter ignored ones. So a pattern has to match only
the path itself, not the paths below it.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from codesearch.treefiles import read_regular

_MAX_BYTES, _MAX_LINES = 1_000_000, 10_000
_MOST_FILES, MOST_WEIGHT = 50, 5_000
"""Limits of the ignore files in force in one folder: a walk asks them about every path in it."""
_MAX_CHARS = 4_096
_MIDDLE_WEIGHT = 50
Segments = tuple[tuple[str, ...], ...]
MOST_GLOBS = 10_000
"""So many compiled names stay in memory. A walk needs no more."""
_SPECIAL = re.compile(r"[*?\[\\]")
# An escaped character; a set, with the mark that negates it and what is in it; stars; any other character.
_GLOB = re.compile(r"\\(.)|\[([!^]?)(\]?(?:\[:[a-z]*:\]|\\.|[^\]\\])*)\]|(\*+)|(.)", re.DOTALL)
# The name of a class; or a character, and the last one of a range that it begins.
_IN_SET = re.compile(r"\[:([a-z]*):\]|\\?(.)(?:-(?!\Z)\\?(.))?", re.DOTALL)
_CLASSES = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": r" \t",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": r" \t\n\r",
    "upper": "A-Z",
    "xdigit": "0-9a-fA-F",
}


class BadPatternError(ValueError):
    """A line that is not a pattern. Git skips such lines without a message."""


@dataclass(frozen=True, slots=True)
class Wildcards:
    """A pattern with wildcards."""

    number: int
    folders: Segments  # what the names of the folders above must match, split at each `**`
    name: str  # what the last name must match
    only_folders: bool  # the line ends with a slash

    @property
    def globs(self) -> list[str]:
        """What the names of a path must match."""
        return [self.name, *(glob for segment in self.folders for glob in segment)]

    @property
    def weight(self) -> int:
        """How much time the pattern can take: about so many times 0.1 µs for each path, at most ten times that."""
        longest = (max(map(len, glob.split("*")[1:-1]), default=0) for glob in self.globs)
        middle = sum(map(len, self.folders[1:-1]))
        return sum(longest) + sum(1 + len(glob) // 16 for glob in self.globs) + _MIDDLE_WEIGHT * middle

    def is_in(self, names: Sequence[str]) -> bool:
        """Say whether the pattern can match a name in a folder; `names` lead to it from that of the ignore file.

        Each segment between two `**` takes the first place that it fits. No other choice leaves more for the others.
        """
        head, *middles, tail = self.folders if len(self.folders) > 1 else (*self.folders, ())
        start, end = len(head), len(names) - len(tail)
        if start > end or (len(self.folders) == 1 and start < end):
            return False
        if not _fit(head, names) or not _fit(tail, names[end:]):
            return False
        for middle in filter(None, middles):
            first, end_of_first = matcher(middle[0]), end - len(middle) + 1
            while start < end_of_first and not (first(names[start]) and _fit(middle, names[start:])):
                start += 1
            start += len(middle)
        return start <= end


def _fit(globs: Sequence[str], names: Sequence[str]) -> bool:
    return not globs or all(matcher(glob)(name) for glob, name in zip(globs, names, strict=False))


@dataclass(frozen=True, slots=True)
class Patterns:
    """The patterns of one ignore file. The number of a pattern is twice that of its line, plus 1 if it ignores."""

    # Without wildcards -> number of the last one: a name, `/` and a path, `*` and the end of a name. A slash at the end
    # means that only folders match.
    plain: dict[str, int] = field(default_factory=dict)
    endings: tuple[int, ...] = ()  # lengths of the ends of names
    wildcards: tuple[Wildcards, ...] = ()  # last one first
    ignores_case: bool = False  # the patterns are in lower case

    @property
    def is_empty(self) -> bool:
        """Say whether there are no patterns."""
        return not (self.plain or self.wildcards)

    @property
    def weight(self) -> int:
        """The sum of the weights of its wildcards."""
        return sum(pattern.weight for pattern in self.wildcards)

    def inside(self, names: Sequence[str]) -> PatternsHere:
        """Return the patterns that can match in a folder; `names` lead to it from that of the ignore file."""
        if self.ignores_case:
            names = [name.lower() for name in names]
        tests = [
            (pattern.number, pattern.only_folders, matcher(pattern.name))
            for pattern in self.wildcards
            if pattern.is_in(names)
        ]
        return PatternsHere(self, "".join(f"{name}/" for name in ("", *names)), tests)


@dataclass(frozen=True, slots=True)
class PatternsHere:
    """The patterns of one ignore file that can match in one folder."""

    patterns: Patterns
    folder: str  # path from that of the ignore file, between slashes
    # Of those with wildcards: number, whether only folders match, what says whether a name matches.
    tests: Sequence[tuple[int, bool, Callable[[str], object]]]

    def verdict(self, name: str, *, is_folder: bool) -> bool | None:
        """Say whether a file or folder is ignored; None if no pattern matches it."""
        if self.patterns.ignores_case:
            name = name.lower()
        size = len(name)
        ends = [f"*{name[size - length :]}" for length in self.patterns.endings if length <= size]
        keys = [name, self.folder + name, *ends]
        if is_folder:
            keys += [f"{key}/" for key in keys]
        numbers, last = self.patterns.plain, -1
        for key in keys:  # A walk spends most of its time here.
            if key in numbers and numbers[key] > last:
                last = numbers[key]
        for number, only_folders, matches in self.tests:
            if number < last:
                break
            if is_folder >= only_folders and matches(name):
                last = number
                break
        return None if last < 0 else last % 2 == 1


def is_ignored(here: Iterable[PatternsHere], name: str, *, is_folder: bool) -> bool | None:
    """Say whether patterns ignore a name; None if none matches. The first ones that match decide."""
    for patterns in here:
        verdict = patterns.verdict(name, is_folder=is_folder)
        if verdict is not None:
            return verdict
    return None


def read_patterns(lines: Iterable[str], *, strict: bool, ignores_case: bool = False) -> Patterns:
    """Read patterns."""
    plain: dict[str, int] = {}
    endings: set[int] = set()
    wildcards = []
    for row, line in enumerate(lines):
        if ignores_case:  # The names are in lower case too.
            line = re.sub(r"\[:(?:upper|lower):\]", "[:alpha:]", line.lower())
        try:
            names, ignores = _names(line, strict=strict)
        except BadPatternError:
            if strict:
                raise
            continue
        only_folders = names[-1:] == [""]
        names = names[: len(names) - only_folders]
        if not names or "" in names:  # No name is empty.
            continue
        number = 2 * row + ignores
        is_free, name = names[:-1] == ["**"], names[-1]
        end = name.lstrip("*")
        key = name if is_free else "/".join(["", *names])
        if is_free and end != name and is_plain(end):
            endings.add(len(end))
            plain[f"*{end}" + "/" * only_folders] = number
        elif is_plain(key):
            plain[key + "/" * only_folders] = number
        else:
            wildcards.append(Wildcards(number, _segments(names[:-1]), name, only_folders))
    return Patterns(plain, tuple(endings), tuple(reversed(wildcards)), ignores_case)


def _names(line: str, *, strict: bool) -> tuple[list[str], bool]:
    """Return the names of a pattern with "" at the end if it has a slash there, and whether it ignores."""
    if len(line) > _MAX_CHARS:
        raise BadPatternError(f"pattern {line[:20]!r}... has more than {_MAX_CHARS:,} characters")
    text = line.removesuffix("\r")
    text = text if text.endswith("\\ ") else text.rstrip()
    if text in ("", "/") or text.startswith("#"):
        return [], True
    glob = re.sub(r"\*{3,}", "**", text.removeprefix("!"))
    names = glob.removesuffix("/").split("/")
    if len(names) == 1:
        names.insert(0, "**")  # Without a slash at its beginning or inside, it matches in every folder.
    elif not names[0]:
        del names[0]
    if names[-1] == "**":
        names.append("*")  # `a/**` is not `a` itself.
    if not names[-1] or (strict and any(matcher(name) is _no_match for name in names)):
        raise BadPatternError(f"invalid pattern {line!r}")
    return [*names, ""] if glob.endswith("/") else names, not text.startswith("!")


def _segments(names: Sequence[str]) -> Segments:
    segments: list[list[str]] = [[]]
    for name in names:
        if name == "**":
            segments.append([])
        else:
            segments[-1].append(name)
    return tuple(map(tuple, segments))


@dataclass(frozen=True, slots=True)
class Rules:
    """The patterns of one ignore file."""

    patterns: Patterns
    above: str = ""  # path from the file's folder to the root of the walk, if the file is above that root
    below: str = ""  # path from the root of the walk to the file's folder

    def inside(self, folder: str) -> PatternsHere:
        """Return the patterns for a folder, whose path is relative to the root and ends with a slash."""
        return self.patterns.inside((self.above + folder.removeprefix(self.below)).split("/")[:-1])


class RuleReader:
    """Reads the ignore files of one walk, and refuses those that would make it slow."""

    def __init__(self) -> None:
        self._globs: set[str] = set()

    def read(
        self,
        path: str,
        in_force: Sequence[Rules],
        *,
        above: str = "",
        below: str = "",
        ignores_case: bool = False,
    ) -> Rules:
        """Read an ignore file."""
        content, _ = read_regular(path, _MAX_BYTES)
        if content.count(b"\n") >= _MAX_LINES:
            raise OSError(errno.EFBIG, f"more than {_MAX_LINES:,} lines", path)
        patterns = _read_once(content, ignores_case)
        if len(in_force) >= _MOST_FILES:
            raise OSError(errno.E2BIG, f"more than {_MOST_FILES} ignore files in the folders above", path)
        weight = patterns.weight + sum(rules.patterns.weight for rules in in_force)
        globs = {
            glob for pattern in patterns.wildcards for glob in pattern.globs if not is_plain(glob)
        } | self._globs
        if weight > MOST_WEIGHT or len(globs) > MOST_GLOBS:
            count = f"{len(patterns.wildcards):,} in this file"
            raise OSError(errno.E2BIG, f"too many patterns with wildcards ({count})", path)
        self._globs = globs
        return Rules(patterns, above, below)


@lru_cache(maxsize=8)
def _read_once(content: bytes, ignores_case: bool) -> Patterns:
    """Read the patterns of a file; a repository can have the same one in thousands of folders."""
    # Git skips a byte order mark too.
    lines = content.decode("utf-8-sig", "replace").split("\n")
    return read_patterns(lines, strict=False, ignores_case=ignores_case)


def rules_above(
    files: Sequence[tuple[str, str]], reader: RuleReader, warn: Callable[[str], None], *, ignores_case: bool
) -> list[Rules]:
    """Read the rules of ignore files at and above a root: paths, and the path from the folder of each to the root.

    If these rules ignore the root itself, none of them apply, because the user asked for this root.
    """
    if not files:
        return []
    rules: list[Rules] = []
    for path, above in files:
        try:
            rules.append(reader.read(path, rules, above=above, ignores_case=ignores_case))
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            warn(f"{path}: {error.strerror}: its rules are not applied")
    parts = files[0][1].rstrip("/").split("/")  # From the top of the work tree to the root.
    for depth, name in enumerate(parts):
        # A file applies to what is below its own folder.
        tops = [(rule.patterns, len(parts) - rule.above.count("/")) for rule in reversed(rules)]
        here = [patterns.inside(parts[top:depth]) for patterns, top in tops if top <= depth]
        if is_ignored(here, name, is_folder=True):
            return []
    return rules


def is_plain(glob: str) -> bool:
    """Say whether a pattern matches only itself."""
    return not _SPECIAL.search(glob)


@lru_cache(maxsize=MOST_GLOBS)
def matcher(glob: str) -> Callable[[str], object]:
    """Return what says whether a name matches a pattern; an invalid one matches nothing."""
    if is_plain(glob):
        return glob.__eq__
    try:
        return re.compile(_translated(glob), re.DOTALL).fullmatch
    except (ValueError, re.error):
        return _no_match


def _no_match(name: str) -> bool:
    return False


def _translated(glob: str) -> str:
    """Translate the pattern of one name to a regular expression that tries each place at most once.

    What is before the first star is at the beginning, what is after the last one at the end, and each piece between
    two stars takes the first place that it fits.
    """
    pieces: list[list[str]] = [[]]
    for escaped, negation, characters, stars, literal in _GLOB.findall(glob):
        if stars:
            pieces.append([])
        elif characters:
            pieces[-1].append(_set(characters, is_negated=bool(negation)))
        elif literal in ("[", "\\"):
            raise ValueError(glob)  # A set without an end, or a mark before nothing.
        else:
            pieces[-1].append("." if literal == "?" else re.escape(escaped or literal))
    first, *middle = map("".join, pieces)
    if not middle:
        return first
    last = middle.pop()
    tail = f"(?=.{{{len(pieces[-1])}}}).*+(?<={last})" if last else ".*"
    return "".join([first, *(f"(?>.*?{piece})" for piece in middle if piece), tail])


def _set(characters: str, *, is_negated: bool) -> str:
    """Translate what is between the brackets of a set. A range that ends before it begins is its first character."""
    inside = ""
    for name, first, last in _IN_SET.findall(characters):
        if not first:
            if name not in _CLASSES:
                raise ValueError(name)
            inside += _CLASSES[name]
        else:
            inside += re.escape(first) + (f"-{re.escape(last)}" if first <= last else "")
    return f"[{'^' if is_negated else ''}{inside}]"
