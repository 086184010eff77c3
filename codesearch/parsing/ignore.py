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
from functools import cached_property, lru_cache

from codesearch.treefiles import read_regular

_MAX_BYTES, _MAX_LINES = 1_000_000, 10_000
_MOST_FILES, MOST_WEIGHT = 50, 5_000
"""Limits of the ignore files in force in one folder: a walk asks them about every path in it."""
_MAX_CHARS = 4_096
_MIDDLE_WEIGHT = 50
_ROOTED = 0
"""In `Patterns.depths`: some keys are whole paths, from the folder of the ignore file."""
Segments = tuple[tuple[str, ...], ...]
_ANYWHERE: Segments = ((), ())
Tests = Sequence[tuple[int, Callable[[str], object]]]
"""Numbers of patterns, last one first, and what says whether a name matches."""
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


@dataclass(slots=True)
class _Table:
    """Patterns without wildcards: what they match -> number of the last one."""

    paths: dict[str, int] = field(
        default_factory=dict
    )  # `/a/b` is the path of a file or folder, `a/b` the end of a path
    ends: dict[str, int] = field(default_factory=dict)  # of names
    lengths: tuple[int, ...] = ()  # of these ends


@dataclass(frozen=True, slots=True, order=True)
class Wildcards:
    """A pattern with wildcards."""

    number: int
    folders: Segments  # what the names of the folders above must match, split at each `**`
    name: str  # what the last name must match
    only_folders: bool  # the line ends with a slash

    @property
    def weight(self) -> int:
        """How much time the pattern can take: about so many times 0.1 µs for each path, at most ten times that."""
        globs = [self.name, *(glob for segment in self.folders for glob in segment)]
        longest = (max(map(len, glob.split("*")[1:-1]), default=0) for glob in globs)
        middle = sum(map(len, self.folders[1:-1]))
        return sum(longest) + sum(1 + len(glob) // 16 for glob in globs) + _MIDDLE_WEIGHT * middle

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


@dataclass(frozen=True)
class Patterns:
    """The patterns of one ignore file. The number of a pattern is twice that of its line, plus 1 if it ignores."""

    files: _Table = field(default_factory=_Table)  # without wildcards
    folders: _Table = field(default_factory=_Table)
    depths: tuple[int, ...] = ()  # how many names the keys of `paths` have
    wildcards: tuple[Wildcards, ...] = ()  # last one first
    weight: int = 0  # the sum of their weights
    globs: frozenset[str] = frozenset()  # the names with wildcards in them
    ignores_case: bool = False  # the patterns are in lower case

    @property
    def is_empty(self) -> bool:
        """Say whether there are no patterns."""
        return not (self.folders.paths or self.folders.ends or self.wildcards)

    def inside(self, names: Sequence[str]) -> PatternsHere:
        """Return the patterns that can match in a folder; `names` lead to it from that of the ignore file."""
        if self.ignores_case:
            names = [name.lower() for name in names]
        heads = [
            "".join(f"{name}/" for name in names[len(names) - depth + 1 :])
            for depth in self.depths
            if depth <= len(names) + 1 and depth != _ROOTED
        ]
        if _ROOTED in self.depths:
            heads.append("".join(f"{name}/" for name in ("", *names)))
        found = [one for one in self._somewhere if one.is_in(names)]
        tests = _tests(sorted([*self._anywhere, *found], reverse=True)) if found else self._tests_anywhere
        return PatternsHere(self.ignores_case, heads, (self.files, tests[0]), (self.folders, tests[1]))

    @cached_property
    def _anywhere(self) -> Sequence[Wildcards]:
        return [one for one in self.wildcards if one.folders == _ANYWHERE]

    @cached_property
    def _somewhere(self) -> Sequence[Wildcards]:
        return [one for one in self.wildcards if one.folders != _ANYWHERE]

    @cached_property
    def _tests_anywhere(self) -> tuple[Tests, Tests]:
        return _tests(self._anywhere)


def _tests(wildcards: Sequence[Wildcards]) -> tuple[Tests, Tests]:
    """Return the tests of files and of folders."""
    all_tests = [(one.number, matcher(one.name)) for one in wildcards]
    of_files = [test for one, test in zip(wildcards, all_tests, strict=True) if not one.only_folders]
    return of_files, all_tests


@dataclass(frozen=True, slots=True)
class PatternsHere:
    """The patterns of one ignore file that can match in one folder."""

    ignores_case: bool
    heads: Sequence[str]  # what to put before a name to look it up
    files: tuple[_Table, Tests]  # those without wildcards, and the others, last one first
    folders: tuple[_Table, Tests]

    def verdict(self, name: str, *, is_folder: bool) -> bool | None:
        """Say whether a file or folder is ignored; None if no pattern matches it."""
        table, tests = self.folders if is_folder else self.files
        if self.ignores_case:
            name = name.lower()
        last = -1
        for head in self.heads:  # A walk spends most of its time here.
            if (found := table.paths.get(head + name, -1)) > last:
                last = found
        size = len(name)
        for length in table.lengths:
            if length <= size and (found := table.ends.get(name[size - length :], -1)) > last:
                last = found
        for number, matches in tests:
            if number < last:
                break
            if matches(name):
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
    files, folders = _Table(), _Table()
    depths: set[int] = set()
    wildcards = []
    for row, line in enumerate(map(_folded, lines) if ignores_case else lines):
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
        is_free = names[0] == "**"
        plain = "/".join(names[is_free:])
        tables = (folders,) if only_folders else (files, folders)
        if is_plain(plain):
            depths.add(len(names) - 1 if is_free else _ROOTED)
            for table in tables:
                table.paths[plain if is_free else f"/{plain}"] = number
        elif names[:-1] == ["**"] and plain[0] == "*" and is_plain(end := plain.lstrip("*")):
            for table in tables:
                table.ends[end] = number
        else:
            wildcards.append(Wildcards(number, _segments(names[:-1]), names[-1], only_folders))
    for table in (files, folders):
        table.lengths = tuple(sorted(set(map(len, table.ends))))
    globs = (glob for one in wildcards for glob in (one.name, *(g for s in one.folders for g in s)))
    return Patterns(
        files,
        folders,
        tuple(sorted(depths)),
        tuple(reversed(wildcards)),
        sum(one.weight for one in wildcards),
        frozenset(glob for glob in globs if not is_plain(glob)),
        ignores_case,
    )


def _folded(line: str) -> str:
    """Return a pattern in lower case, for names in lower case."""
    return re.sub(r"\[:(?:upper|lower):\]", "[:alpha:]", line.lower())


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
        if weight > MOST_WEIGHT or len(self._globs | patterns.globs) > MOST_GLOBS:
            count = f"{len(patterns.wildcards):,} in this file"
            raise OSError(errno.E2BIG, f"too many patterns with wildcards ({count})", path)
        self._globs |= patterns.globs
        return Rules(patterns, above, below)


@lru_cache(maxsize=8)
def _read_once(content: bytes, ignores_case: bool) -> Patterns:
    """Read the patterns of a file; a repository can have the same one in thousands of folders."""
    # Git skips a byte order mark too.
    lines = content.decode("utf-8-sig", "replace").split("\n")
    return read_patterns(lines, strict=False, ignores_case=ignores_case)


def rules_above(
    files: Sequence[tuple[str, str]],
    reader: RuleReader,
    warn: Callable[[str], None],
    *,
    ignores_case: bool,
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
    ignored = any(_is_folder_ignored(parts[: depth + 1], rules, len(parts)) for depth in range(len(parts)))
    return [] if ignored else rules


def _is_folder_ignored(parts: Sequence[str], rules: Sequence[Rules], root_depth: int) -> bool:
    for one in reversed(rules):
        if below_file := parts[root_depth - one.above.count("/") :]:
            verdict = one.patterns.inside(below_file[:-1]).verdict(below_file[-1], is_folder=True)
            if verdict is not None:
                return verdict
    return False


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
