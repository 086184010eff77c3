"""What a query may answer with; applied before ranking, so a filtered top ten has ten answers if ten exist."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import translate

import numpy as np
from numpy.typing import NDArray

from codesearch.errors import ConfigError
from codesearch.index.reader import IndexReader
from codesearch.parsing.languages import LANGUAGES, language_named
from codesearch.types import KINDS


@dataclass(frozen=True, slots=True)
class Filters:
    """Allowed languages, kinds and paths; an empty tuple allows all.

    Attributes:
        paths: shell patterns on the path below the root, for files or folders; one without a slash matches any
            one part of it.
    """

    languages: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for language in self.languages:
            if language_named(language) is None:
                names = ", ".join(spec.name for spec in LANGUAGES)
                raise ConfigError(f"language {language!r}: choose one of {names}")
        for kind in self.kinds:
            if kind not in KINDS:
                raise ConfigError(f"kind {kind!r}: choose one of {', '.join(KINDS)}")


def allowed_documents(filters: Filters, index: IndexReader) -> NDArray[np.bool_] | None:
    """Return which documents pass: bool [N], or None when all do."""
    allowed: NDArray[np.bool_] | None = None
    if filters.languages or filters.paths:
        files = np.ones(len(index.files), dtype=bool)
        if filters.languages:
            files = np.isin(index.languages, filters.languages)
        if filters.paths:
            patterns = [_compile(pattern) for pattern in filters.paths]
            matching = (any(pattern.match(f"/{file.path}") for pattern in patterns) for file in index.files)
            files &= np.fromiter(matching, dtype=bool, count=len(files))
        allowed = files[index.rows.files] if len(files) else np.zeros(0, dtype=bool)
    if filters.kinds:
        numbers = [KINDS.index(kind) for kind in filters.kinds]
        of_kind = np.isin(index.rows.kinds, numbers)
        allowed = of_kind if allowed is None else allowed & of_kind
    return allowed


def _compile(pattern: str) -> re.Pattern[str]:
    """Compile a user's pattern for "/" + path; what it names may also be a folder above."""
    pattern = pattern.removeprefix("./")
    bare = pattern.rstrip("/")
    if "/" not in bare:
        bare = f"*/{bare}"
    elif not bare.startswith("*"):
        bare = f"/{bare.lstrip('/')}"
    below = translate(f"{bare}/*")
    return re.compile(below if pattern.endswith("/") else f"{translate(bare)}|{below}")
