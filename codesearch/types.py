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
    "section",
    "setting",
)
"""Kinds of documents. An index stores their positions, so new ones go to the end."""
HEADER_KINDS = frozenset({"class", "interface", "enum", "struct", "trait"})
"""Kinds whose documents end before the first member, which has a document of its own."""
TEST_WORDS = frozenset({"test", "tests", "testing", "spec", "specs"})
"""What marks tests, in the path of a file as in a query."""
FOLDER_FILES = frozenset({"__init__", "index", "mod"})
"""Stems of files that are known by the name of their folder."""
STUB, GENERATED, TEST, VENDORED, BUILT = 1, 2, 4, 8, 16
"""Bits of `Document.flags`: a body that does nothing; a file that a program wrote; one that holds tests; one copied
from another project; one in a folder of build output. Of copies, that with the lowest bits is shown, `STUB` aside."""
MAX_COPIES = 10
"""A hit lists so many of its copies, and counts all."""


@dataclass(frozen=True, slots=True)
class Document:
    """One definition as parsed from a source file.

    Attributes:
        path: the file relative to its root, with forward slashes.
        kind: one of `KINDS`; those of `HEADER_KINDS` cover the header, not the members. A module is what a file
            has at its top level outside of all other documents. A section is a part of documentation, a setting a part
            of a configuration file.
        qualified_name: enclosing names and the own one, joined the language's way.
        signature: the definition up to its body, white space folded.
        docstring: docstring or leading comment without its markers; may be empty.
        code: text of the span without a docstring inside it, cut at `ParseConfig.max_code_bytes`.
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
        score: the fused score; higher is better, comparable within one query only.
        signals: what each named signal gave before weighting.
        parts: what each part added to the score; they sum up to it.
        code: the file's lines from `start_line` to `end_line`, whole.
        stale: the file changed after it was indexed, so the lines may have moved.
        before: lines of the file above `start_line`, as many as were asked for.
        after: lines of the file below `end_line`, likewise.
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
