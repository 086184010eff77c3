"""Why a document ranks below what answers as well: tests, generated and vendored code, and stubs.

Each uses the words of the code that people look for, and seldom is that code. A query that asks for one of them, such
as "test for the parser", gets it unlowered.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from codesearch.parsing.identifiers import subtokens
from codesearch.types import GENERATED, STUB

_PART_ENDS = re.compile(r"[-_/]")
_TEST_WORDS = frozenset({"test", "tests", "testing", "spec", "specs"})
_VENDOR_FOLDERS = frozenset(
    "vendor vendored _vendor node_modules bower_components site-packages dist-packages third_party third-party "
    "thirdparty 3rdparty godeps externals jspm_packages".split()
)
_GENERATED_NAME = re.compile(
    r"_pb2(?:_grpc)?\.pyi?$|\.pb\.(?:go|cc|h|validate\.go|gw\.go)$|[._]generated\.\w+$|(?:^|/)zz_generated|"
    r"\.(?:g|designer|g\.i)\.cs$|\.min\.js$|(?:^|/)(?:parsetab|lextab|yacctab)\.py$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Reason:
    """A reason to rank lower.

    Attributes:
        name: of the signal; `RankConfig.<name>_penalty` is its weight.
        asked_by: words of a query that asks for such documents.
        applies: whether it holds for a path below the root and `Document.flags`.
    """

    name: str
    asked_by: frozenset[str]
    applies: Callable[[str, int], bool]


def is_test(path: str) -> bool:
    """Tell from its path whether a file holds tests.

    >>> is_test("lib/test/test_gzip.py"), is_test("src/contest/latest.py")
    (True, False)
    """
    *folders, name = path.split("/")
    stem, _, extensions = name.partition(".")
    return _is_test_folder("/".join(folders)) or not _TEST_WORDS.isdisjoint(
        (*subtokens(stem), *extensions.split("."))
    )


@lru_cache(maxsize=4096)
def _is_test_folder(folder: str) -> bool:
    return not _TEST_WORDS.isdisjoint(_PART_ENDS.split(folder.lower()))


def is_vendored(path: str) -> bool:
    """Tell from its path whether a file is a copy of somebody else's.

    >>> is_vendored("web/node_modules/left-pad/index.js"), is_vendored("src/vendor.py")
    (True, False)
    """
    return not _VENDOR_FOLDERS.isdisjoint(path.lower().split("/")[:-1])


def is_generated(path: str, flags: int) -> bool:
    """Tell from its path or its head whether a program wrote a file.

    >>> is_generated("api/users_pb2.py", 0)
    True
    """
    return bool(flags & GENERATED) or _GENERATED_NAME.search(path) is not None


REASONS = (
    Reason("test", _TEST_WORDS, lambda path, _: is_test(path)),
    Reason("generated", frozenset({"generated", "protobuf", "pb2"}), is_generated),
    Reason("vendored", frozenset({"vendor", "vendored"}), lambda path, _: is_vendored(path)),
    Reason(
        "stub", frozenset({"stub", "stubs", "abstract", "interface"}), lambda _, flags: bool(flags & STUB)
    ),
)


@lru_cache(maxsize=65_536)
def reasons_for(path: str, flags: int) -> tuple[bool, ...]:
    """Say which of `REASONS` hold for a document; a file's documents share two or three answers."""
    return tuple(reason.applies(path, flags) for reason in REASONS)
