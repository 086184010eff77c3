"""Functions that do the same. The records have scores, so a caller can cut them again without a new search."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

TEXT, RENAMED, MEANING = "text", "renamed", "meaning"
SAME = (TEXT, RENAMED, MEANING)
"""What two functions have in common: their text; all but names and values; what they do."""


@dataclass(frozen=True, slots=True, order=True)
class Function:
    """A function of an index; its name is qualified, and its path relative to the root, with slashes."""

    root: str
    path: str
    language: str
    name: str
    start_line: int
    end_line: int

    def overlaps(self, other: Function) -> bool:
        """Say whether one function is inside of the other."""
        is_same_file = (self.root, self.path) == (other.root, other.path)
        return is_same_file and self.start_line <= other.end_line and other.start_line <= self.end_line

    @property
    def lines(self) -> int:
        """How many lines it has."""
        return self.end_line - self.start_line + 1


@dataclass(frozen=True, slots=True)
class Match:
    """A function that does the same as another; its score is 1 unless they share only the meaning."""

    function: Function
    same: str
    score: float


@dataclass(frozen=True, slots=True)
class Group:
    """A function and those that do the same, best first."""

    function: Function
    matches: tuple[Match, ...]

    @property
    def functions(self) -> list[Function]:
        """All of its functions."""
        return [self.function, *(match.function for match in self.matches)]

    @property
    def extra_lines(self) -> int:
        """The lines of all functions but the longest."""
        lines = [function.lines for function in self.functions]
        return sum(lines) - max(lines)


def cut(groups: Sequence[Group], same: Collection[str]) -> tuple[Group, ...]:
    """Return the groups with only the matches that are asked for; a group without matches is left out."""
    kept = []
    for group in groups:
        if matches := tuple(match for match in group.matches if match.same in same):
            kept.append(replace(group, matches=matches))
    return tuple(kept)
