"""The parameters of a search. This module imports fast, because it does not need numpy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, TypedDict

from codesearch.config import MODES
from codesearch.errors import ConfigError, nearest_or
from codesearch.languages import language_name
from codesearch.options import Opt, Record
from codesearch.search.forms import parse_asked
from codesearch.settings import HITS, QuerySettings, SearchSettings
from codesearch.types import KINDS

READ_S = 30.0
"""How long files are read for an exact text."""


def keep_tuples(record: object, *names: str) -> None:
    """Replace sequences in fields of a frozen record by tuples, so it can be hashed; a string alone is one element."""
    for name in names:
        value = getattr(record, name)
        object.__setattr__(record, name, (value,) if isinstance(value, str) else tuple(value))


@dataclass(frozen=True, slots=True)
class Filters:
    """Languages, kinds and paths that a document must have; an empty sequence allows all.

    Raises:
        ConfigError: a language or kind is unknown.
    """

    languages: Sequence[str] = ()  # Names, common short names or extensions, such as "python", "c++" or "js".
    kinds: Sequence[str] = ()  # Kinds in `codesearch.types.KINDS`.
    # Shell patterns for files or folders (see `codesearch.search.filters`); a pattern after "!" excludes.
    paths: Sequence[str] = ()
    # Files or folders; a document's file must be one of them or in one. Those of a scope replace them.
    within: Sequence[Path | str] = ()
    # Absolute path of the working directory; patterns may be relative to it or to the root.
    here: Path | str | None = None
    # Absolute paths, with slashes, that a file must be among; None for all.
    files: frozenset[str] | None = None

    def __post_init__(self) -> None:
        keep_tuples(self, "languages", "kinds", "paths", "within")
        object.__setattr__(self, "languages", tuple(map(language_name, self.languages)))
        object.__setattr__(self, "kinds", tuple(kind.lower() for kind in self.kinds))
        for kind in self.kinds:
            if kind not in KINDS:
                cure = nearest_or(kind, KINDS, f"choose one of {', '.join(KINDS)}")
                raise ConfigError(f"unknown kind {kind!r}", cure)

    @property
    def allow_all(self) -> bool:
        """Say whether every document passes."""
        return self == Filters(here=self.here)

    @property
    def by_path(self) -> bool:
        """Say whether the path of a file decides whether its documents pass."""
        return bool(self.paths or self.within) or self.files is not None


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """What to search for.

    Raises:
        ConfigError: the mode is unknown.
        ValueError: `top_k` is below 1, `context` is below 0, `seconds` is not above 0, or `min_confidence` is not from
            0 to 1.
    """

    # A question, keywords, a name, a path, text from the code, or code; `Session.similar` ignores it.
    query: str = ""
    top_k: int | None = None  # Hits to return, with `screen` the fewest; five if it is None.
    # "hybrid", "lexical" (only keywords, no model) or "semantic" (only vectors).
    mode: str = QuerySettings.mode
    filters: Filters = field(default_factory=Filters)  # Which documents may be hits.
    # Rank tests, generated code, vendored code and stubs like other code.
    all_code: bool = SearchSettings.all_code
    context: int = 0  # Number of lines to return above and below each hit.
    # Return no hits if the confidence is known and lower than this, 0 to 1.
    min_confidence: float = QuerySettings.min_confidence
    # A git revision; only files that differ from it may have hits. "REV..." is the merge base with HEAD.
    changed: str | None = None
    # Rank files; each hit is the best definition of its file, with the score of the file and with other definitions
    # of the file that match.
    by_file: bool = False
    # If files are ranked, how many rows to fill with definitions: those that score best together with their files,
    # also in further files than `top_k`. By default three for each of `top_k` files on average.
    screen: int = 0
    columns: int = 1  # Definitions that share a row, except for the best one of a file.
    # The query is an exact text: hits are the definitions that it stands in, in the same case.
    fixed: bool = False
    # With `fixed`, how long files are read; those that are not read then are counted.
    seconds: float = READ_S

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise ConfigError(f"mode {self.mode!r}", f"choose one of {', '.join(MODES)}")
        if self.count < 1:
            raise ValueError(f"top_k must be at least 1, not {self.top_k}")
        if self.context < 0:
            raise ValueError(f"context must not be negative, not {self.context}")
        if self.seconds <= 0:
            raise ValueError(f"seconds must be above 0, not {self.seconds}")
        if not 0.0 <= self.min_confidence <= 1.0:
            raise ValueError(f"min_confidence must be from 0 to 1, not {self.min_confidence}")

    @property
    def count(self) -> int:
        """The number of hits."""
        return HITS if self.top_k is None else self.top_k


class SearchFields(TypedDict, total=False):
    """The fields of a `SearchRequest` after the query, as keyword arguments."""

    top_k: int | None
    mode: str
    filters: Filters
    all_code: bool
    context: int
    min_confidence: float
    changed: str | None
    by_file: bool
    screen: int
    columns: int
    fixed: bool
    seconds: float


class Limits(Record):
    """Which functions a search for duplicates compares, and how sure a match must be."""

    min_lines: Annotated[int, Opt("Leave out shorter functions.", low=1, high=1_000_000)] = 6
    min_score: Annotated[float, Opt("Lowest score of functions that share the meaning.", low=0, high=1)] = (
        0.75
    )
    all_code: Annotated[bool, Opt("Include tests, examples, migrations, generated and vendored code.")] = (
        False
    )


@dataclass(frozen=True, slots=True)
class Place:
    """A 1-based line of a source file. If its text is given, the file is not read: it may not be saved yet."""

    path: Path
    line: int
    text: str | None = None

    @classmethod
    def parse(cls, text: str) -> Place:
        """Parse FILE:LINE; ignore a column after the line, which editors and `--vimgrep` write.

        >>> Place.parse("src/app.py:12:5").line
        12

        Raises:
            ConfigError: the text is something else.
        """
        asked = parse_asked(text)
        if not asked.first:
            raise ConfigError(f"{text!r} is not FILE:LINE", "give a line of a function, as in src/app.py:12")
        return cls(Path(asked.path), asked.first)
