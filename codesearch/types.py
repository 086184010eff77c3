"""The records that pass between packages.

Lines are 1-based and inclusive; byte offsets are 0-based and half-open.
"""

from __future__ import annotations

from dataclasses import dataclass, field

KINDS = (
    "function",
    "method",
    "class",
    "interface",
    "enum",
    "struct",
    "trait",
    "type",
    "constant",
    "module",
)
"""Kinds of documents. An index stores their positions, so new ones go to the end."""
HEADER_KINDS = frozenset({"class", "interface", "enum", "struct", "trait"})
"""Kinds whose documents end before the first member. Each member is a separate document."""
TEST_WORDS = frozenset({"test", "tests", "testing", "spec", "specs"})
"""Words that mark tests, both in the path of a file and in a query."""
FOLDER_FILES = frozenset({"__init__", "index", "mod"})
"""Stems of files that take their name from their folder."""
STUB, GENERATED, TEST, VENDORED, BUILT = 1, 2, 4, 8, 16
"""Bits of `Document.flags`: a body that does nothing; a file that a program wrote; one that holds tests; one copied
from another project; one in a folder of build output. The copy with the lowest bits, without `STUB`, is shown."""
MAX_COPIES = 10
"""The largest number of copies that a hit lists. It counts all of them."""


@dataclass(frozen=True, slots=True)
class Document:
    """One definition as parsed from a source file.

    Attributes:
        path: the file relative to its root, with forward slashes.
        kind: one of `KINDS`. Those in `HEADER_KINDS` cover the header, not the members. A module is the code at the
        top level of a file, outside of all other documents.
        qualified_name: the enclosing names and the definition's name, joined as in the language.
        signature: the definition up to its body; each run of white space is one space.
        docstring: docstring or leading comment without its markers; may be empty.
        code: text of the span without the docstring in it, cut at `ParseConfig.max_code_bytes`.
        flags: bits such as `STUB`, which lower its rank.
        copy_key: a number that the same code has in every file (see `codesearch.parsing.copies`).
    """

    path: str
    language: str
    kind: str
    name: str
    qualified_name: str
    signature: str
    docstring: str
    code: str
    start_line: int
    end_line: int
    start_byte: int
    end_byte: int
    flags: int = 0
    copy_key: int = 0


@dataclass(frozen=True, slots=True)
class Hit:
    """One ranked answer.

    Attributes:
        rank: 1-based.
        score: the fused score. Higher is better; it is comparable only within one query.
        signals: the value of each named signal before weighting.
        parts: the contribution of each part; their sum is the score.
        code: the file's lines from `start_line` to `end_line`, whole.
        stale: the file changed after it was indexed, so the lines may have moved.
        before: as many lines of the file above `start_line` as the request asks for.
        after: as many lines of the file below `end_line`.
        copies: "path:line" of the first `MAX_COPIES` other places with the same code, as `codesearch.parsing.copies`
            compares it; the path is relative to `root` if it is below it.
        copy_count: how many such places there are.
    """

    rank: int
    score: float
    root: str
    path: str
    language: str
    kind: str
    name: str
    qualified_name: str
    signature: str
    docstring: str
    start_line: int
    end_line: int
    code: str
    signals: dict[str, float]
    parts: dict[str, float] = field(default_factory=dict)
    stale: bool = False
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    copies: tuple[str, ...] = ()
    copy_count: int = 0
