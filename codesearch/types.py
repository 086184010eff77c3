"""The records that packages exchange.

Lines are 1-based and inclusive; byte offsets are 0-based and half-open.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

KINDS = tuple(
    "function method class interface enum struct trait type constant module section setting".split()
)
"""Kinds of documents. An index stores their positions in this tuple, so add new kinds at the end."""
FIELD = "field"
"""The kind of what has no document and is only found by its name: fields, properties, enum members, small constants."""
PROTOTYPE = "prototype"
"""The kind of a declaration of a function in C and C++, which has no document either."""
MEMBER_KINDS = (FIELD, PROTOTYPE)
FUNCTIONS = ("function", "method")
"""Kinds that can be called."""
HEADER_KINDS = frozenset({"class", "interface", "enum", "struct", "trait"})
"""Kinds whose documents end before the first member. Each member is a separate document."""
TYPE_KINDS = HEADER_KINDS | {"type"}
TEXT_KINDS = frozenset({"module", "section", "setting"})
"""Kinds of documents that are no definitions in code."""
TEST_WORDS = frozenset({"test", "tests", "testing", "spec", "specs"})
"""Words that mark tests, both in the path of a file and in a query."""
OTHER_SPELLING = 0.5
"""The likeness of a name if only case or underscores differ; from this value on, a text names a document."""
FOLDER_FILES = frozenset({"__init__", "index", "mod"})
"""Stems of files that take the name of their folder, such as `__init__`."""
STUB, GENERATED, TEST, VENDORED, BUILT, NESTED = 1, 2, 4, 8, 16, 32
"""Bits of `Document.flags`: a body that does nothing, a file that is generated, contains tests, is copied from another
project or is build output, or a definition inside of a function."""
OF_FILE = GENERATED | TEST | VENDORED | BUILT
"""Among copies, the one with the lowest of these flags is shown."""
MAX_COPIES = 10
"""A hit lists at most this many of its copies. It counts all of them."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """What an answer did not see. If it is complete, what is not in the answer is not there."""

    complete: bool = True  # Nothing below the indexed folders was left out.
    # Reason -> number of files, folders, places or lines that were left out.
    reasons: Mapping[str, int] = field(default_factory=dict)
    text: str = ""  # The reasons in words; "" if there are none.

    def note(self, *, is_few: bool) -> str:
        """Say what an answer with few results, or without some files, did not see; "" if nothing."""
        return f"not seen: {self.text}" if self.text and (is_few or "not read" in self.reasons) else ""


@dataclass(frozen=True, slots=True)
class Definition:
    """A definition as every answer shows it."""

    path: str  # The file relative to its root, with forward slashes.
    language: str
    # One of `KINDS`, or `FIELD`; documents of `HEADER_KINDS` cover the header, not the members. A module contains the
    # top-level code of a file that is in no other document. A section is a part of documentation, a setting a part of a
    # configuration file.
    kind: str
    name: str
    qualified_name: str  # The enclosing names and the name, joined with the language's separator.
    signature: str  # The definition up to its body, with white space collapsed.
    docstring: str  # Docstring or leading comment without its markers; may be empty.
    start_line: int
    end_line: int
    last_line: (
        int  # Of the whole definition, with its members; `end_line` unless the kind is one of `HEADER_KINDS`.
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Document(Definition):
    """A definition as it is parsed, with all that is indexed."""

    code: str  # Text of the span without a docstring inside it, cut at `ParseConfig.max_code_bytes`.
    start_byte: int
    end_byte: int
    flags: int = 0  # Bits such as `STUB` that lower the rank.
    copy_key: int = 0  # The same for the same code in every file (see `codesearch.parsing.keys`).
    shape_key: int = 0  # The same for functions of the same shape (see `codesearch.parsing.keys`), or 0.
    context: str = ""  # The first paragraphs of the documentation of its class and of its module.


@dataclass(frozen=True, slots=True)
class Passage:
    """Some lines of a file, and how well they answer a query; higher is better."""

    start_line: int
    end_line: int
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit(Definition):
    """One ranked answer."""

    root: str  # The indexed folder.
    code: str  # The complete lines of the file from `start_line` to `end_line`.
    stale: bool = False  # The file changed after it was indexed, so the lines may have moved.
    rank: int  # 1-based.
    score: float  # The fused score; higher is better. Scores are comparable only within one query.
    signals: dict[str, float]  # The value of each signal before weighting.
    # The contribution of each part to the score; their sum is the score.
    parts: dict[str, float] = field(default_factory=dict)
    # The requested number of lines above `start_line`; fewer at the start of the file.
    before: tuple[str, ...] = ()
    # The requested number of lines below `end_line`; fewer at the end of the file.
    after: tuple[str, ...] = ()
    # "path:line" of the first `MAX_COPIES` other places with the same code, as `codesearch.parsing.keys` compares
    # it; the path is relative to `root` if it is below it.
    copies: tuple[str, ...] = ()
    copy_count: int = 0  # Total number of such places.
    # Up to two other definitions of the same file, best first, if files are ranked. The score and the parts of the
    # hit are then those of the file.
    others: tuple[Hit, ...] = ()
    # Up to three parts of a long definition that answer the query, best first; they do not overlap.
    passages: tuple[Passage, ...] = ()

    @property
    def best_line(self) -> int:
        """The first line of its best passage, else of the definition."""
        return self.passages[0].start_line if self.passages else self.start_line

    @property
    def is_named(self) -> bool:
        """Say whether the query is its name, perhaps in another spelling."""
        return self.signals.get("name", 0.0) >= OTHER_SPELLING
