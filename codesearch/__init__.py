"""Offline semantic search over local codebases.

    from codesearch import Engine

    engine = Engine()
    engine.index(".")
    for hit in engine.search("copy a directory tree").hits:
        print(hit.path, hit.start_line, hit.name)

The names in `__all__` are the public interface. A name is imported when it is first used.
"""

from __future__ import annotations

# Type checkers know this name. Importing it from `typing` would take longer than the rest of this module.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from codesearch.config import IndexOptions, RankConfig, VectorConfig
    from codesearch.engine.answer import (
        Answer,
        Changes,
        Check,
        DuplicatesAnswer,
        FoundAnswer,
        Freshness,
        IndexStatus,
        IndexSummary,
        PlacesAnswer,
        State,
    )
    from codesearch.engine.engine import Engine
    from codesearch.engine.scope import Scope
    from codesearch.engine.session import Policy, Session
    from codesearch.errors import (
        CodeSearchError,
        ConfigError,
        ExportError,
        IndexCorruptError,
        IndexFormatError,
        IndexLockedError,
        IndexNotFoundError,
        IndexStoreError,
        MissingExtraError,
        ModelBundleError,
        PortableFileError,
    )
    from codesearch.history.hits import HistoryAnswer
    from codesearch.history.search import CommitFilters
    from codesearch.portable.pack import ExportSummary
    from codesearch.search.request import Filters, Place, SearchRequest
    from codesearch.structure.lines import Lines
    from codesearch.structure.text import Outline
    from codesearch.structure.usages import Usage, Usages
    from codesearch.structure.whole import Reading
    from codesearch.types import Coverage, Definition, Hit

__version__ = "0.2.0"
_ENGINE = tuple(f"engine.{name}" for name in ("answer", "scope", "session", "engine"))
_STRUCTURE = tuple(f"structure.{name}" for name in ("text", "usages", "whole", "lines"))
_MODULES = (
    *("errors", "config", "types", "search.request", *_ENGINE),
    *("history.search", "history.hits", "portable.pack", *_STRUCTURE),
)
"""The modules with the public names; those that import fast come first."""
__all__ = [
    "Answer",
    "Changes",
    "Check",
    "CodeSearchError",
    "CommitFilters",
    "ConfigError",
    "Coverage",
    "Definition",
    "DuplicatesAnswer",
    "Engine",
    "ExportError",
    "ExportSummary",
    "Filters",
    "FoundAnswer",
    "Freshness",
    "HistoryAnswer",
    "Hit",
    "IndexCorruptError",
    "IndexFormatError",
    "IndexLockedError",
    "IndexNotFoundError",
    "IndexOptions",
    "IndexSummary",
    "IndexStatus",
    "IndexStoreError",
    "Lines",
    "MissingExtraError",
    "ModelBundleError",
    "Outline",
    "Place",
    "PlacesAnswer",
    "Policy",
    "PortableFileError",
    "RankConfig",
    "Reading",
    "Scope",
    "SearchRequest",
    "Session",
    "State",
    "Usage",
    "Usages",
    "VectorConfig",
]


def __getattr__(name: str) -> object:
    if name in __all__:
        from importlib import import_module

        for module in _MODULES:
            if value := getattr(import_module(f"codesearch.{module}"), name, None):
                globals()[name] = value
                return value
    raise AttributeError(f"module 'codesearch' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
