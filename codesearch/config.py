"""Settings with their defaults. Defaults are defined only here; the command line sets and shows them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Self, TypeVar

from codesearch.errors import ConfigError

PROJECT_FILE = ".codesearch.toml"
"""The file in a project's root that holds its settings (see `codesearch.settings`)."""
CONTENT = {
    "code": frozenset({"code"}),
    "docs": frozenset({"code", "docs"}),
    "config": frozenset({"code", "config"}),
    "all": frozenset({"code", "docs", "config", "other"}),
}
"""The values of `WalkConfig.content`. Each maps to the `Language.content` of the files to read."""
MAX_FILE_MB = 1_000
"""The highest limit for the size of a source file."""
MODES = ("hybrid", "lexical", "semantic")
DEVICES = ("auto", "cpu", "cuda")


@dataclass(frozen=True, slots=True)
class WalkConfig:
    """Which files are read."""

    max_file_bytes: int = 8_000_000
    hidden: bool = False  # Names that begin with a dot.
    ignore_files: bool = True  # `.gitignore`, `.codesearchignore` and `.git/info/exclude`.
    follow_links: bool = False  # Each real folder is entered only once.
    exclude: tuple[str, ...] = ()  # Patterns in the syntax of `.gitignore`, relative to the root.
    languages: tuple[str, ...] = ()  # None for all.
    content: str = "code"  # A key of `CONTENT`.


Walk = TypeVar("Walk", WalkConfig, "IndexOptions")


@dataclass(frozen=True, slots=True)
class IndexOptions:
    """Which files an index reads; None keeps the current value.

    Raises:
        ConfigError: `content` is unknown.
    """

    exclude: tuple[str, ...] | None = None  # Patterns in the syntax of `.gitignore`, relative to the root.
    languages: tuple[str, ...] | None = None  # Names of the languages to index; empty for all.
    hidden: bool | None = None  # Also enter names that begin with a dot.
    ignore_files: bool | None = None  # Honour `.gitignore`, `.codesearchignore` and `.git/info/exclude`.
    follow_links: bool | None = None  # Enter linked folders, but each real folder only once.
    max_file_bytes: int | None = None  # Larger files are skipped.
    content: str | None = None  # "code", "docs", "config" or "all".

    def __post_init__(self) -> None:
        if self.content is not None and self.content not in CONTENT:
            raise ConfigError(f"content {self.content!r}", f"choose one of {', '.join(CONTENT)}")

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Self:
        """Read the settings that `given` returned, also from JSON, or options of a user; ignore unknown names."""
        known: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in settings.items()
            if name in cls.__dataclass_fields__
        }
        if (megabytes := settings.get("max_file_mb")) is not None:
            known["max_file_bytes"] = round(megabytes * 1_000_000)
        return cls(**known)

    @property
    def given(self) -> dict[str, Any]:
        """The settings that are not None."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    def over(self, other: Walk) -> Walk:
        """Return these settings; take those that are None from `other`."""
        return replace(other, **self.given)


@dataclass(frozen=True, slots=True)
class ParseConfig:
    """What is taken from a file."""

    max_code_bytes: int = 16_384  # Of a definition, from its start.
    max_mean_line_bytes: int = 1_000  # A file with longer lines counts as minified and is skipped.
    max_nesting: int = 32  # Definitions that are nested deeper are skipped with a warning.
    max_whole_lines: int = 25  # Longer documents have passages (see `codesearch.parsing.passages`).
    passage_lines: int = 12  # Of a passage, more or less.
    passage_slack: int = 4  # How many more or less, so that a passage begins where a statement begins.


@dataclass(frozen=True, slots=True)
class VectorConfig:
    """When an HNSW graph is built, and how."""

    hnsw_threshold: int = 500_000  # The number of documents from which an HNSW graph is built (extra `hnsw`).
    hnsw_m: int = 16  # Links per node (M).
    hnsw_ef_construction: int = 200  # Candidates examined for each insertion (ef_construction).


@dataclass(frozen=True, slots=True)
class IndexConfig:
    """All settings that change the content of an index."""

    walk: WalkConfig = WalkConfig()
    parse: ParseConfig = ParseConfig()
    vectors: VectorConfig = VectorConfig()
    options: IndexOptions = IndexOptions()  # The part of `walk` that options set; the next run uses it again.

    def digest(self, *also: str) -> str:
        """Hash `also` and the settings that affect a file's documents; a new digest means a rebuild of the index."""
        text = json.dumps([asdict(self.parse), asdict(self.vectors), *also], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


FILE_SHARE = 0.2
"""The share of the score of its file that is added to that of a definition, to choose those that are shown."""


@dataclass(frozen=True, slots=True)
class RankConfig:
    """The weights of the ranking. They do not change what an index stores."""

    # Candidates from keywords and from vectors each; twice as many from an HNSW graph, which may miss some.
    candidate_count: int = 500
    semantic_weight: float = 1.4  # Weight of the cosine.
    # How much of what the best passage of a document is more similar than the document counts.
    passage_weight: float = 0.7
    # Weight of the share of the idf of the query's terms that stands in one passage, or in a short document.
    window_weight: float = 0.1
    # Number of terms in a body at which the cosine counts half; 0 turns the length prior off.
    length_prior_half: float = 4.0
    # Weight of the BM25F score divided by the sum of the idf of the query's terms.
    lexical_weight: float = 0.6
    # Replaces `lexical_weight` if the query is code, because code shares exact words with the code that it was
    # copied from.
    code_lexical_weight: float = 2.1
    named_lexical_weight: float = 0.84  # Likewise if a word of the query can only be a name in code.
    name_weight: float = 1.4  # Added if the query is exactly the document's name.
    # Added if the query asks for a conversion and the document converts in that direction.
    direction_reward: float = 0.15
    direction_penalty: float = 0.15  # Subtracted if the document converts in the opposite direction.
    # Subtracted from documents in test files, unless the query has such a word; twice as much is added if it wants
    # tests ("tests for the tokenizer").
    test_penalty: float = 0.2
    # Subtracted from documents in generated files, unless the query asks for them.
    generated_penalty: float = 0.2
    # Subtracted from documents in vendored files, unless the query asks for them.
    vendored_penalty: float = 0.2
    # Subtracted from functions that do nothing, such as abstract ones, unless the query asks for them.
    stub_penalty: float = 0.2
    # Subtracted from definitions inside of functions, unless the query asks for them: the function is often a hit
    # itself, and its pieces would fill the list.
    nested_penalty: float = 0.1
    # Subtracted from modules, and half of it from classes, constants, types and settings, unless the query asks for
    # them.
    data_penalty: float = 0.2
    # Subtracted from documentation, unless the query is a question or asks for documentation.
    section_penalty: float = 0.15
    # Weight of the share of the query that is in the first sentence of public documentation.
    summary_weight: float = 0.1
    uses_weight: float = 0.7  # Weight of how much other files use the name of a public definition.
    # Subtracted from definitions whose name does the opposite: `write` if the query says "read".
    opposite_penalty: float = 0.15
    # Subtracted from examples, benchmarks and migrations, unless the query asks for them.
    aside_penalty: float = 0.1
    # Subtracted from definitions whose name has words that the query lacks; less for long queries.
    extra_penalty: float = 0.16
    # Subtracted from a document for each document of the same file above it, up to four.
    file_diversity_penalty: float = 0.02
    # Number of best candidates that direction, single words and penalties apply to; 0 for none.
    heuristics_count: int = 200
    file_support_weight: float = 0.1  # Weight of the other definitions of a file, if files are ranked.
    # Weight of the words of a file's name that are in the query, if files are ranked.
    file_name_weight: float = 0.2
    k1: float = 1.5  # BM25F term saturation.
    # Weight of an occurrence in each field, in the order of `codesearch.text.terms.FIELDS`.
    field_weights: tuple[float, ...] = (3.0, 1.0, 0.75, 1.0, 0.5)
    # How strongly a field's length lowers the weight of its occurrences, 0 to 1, in the same order.
    field_b: tuple[float, ...] = (0.5, 0.5, 0.5, 0.75, 0.5)
    # Candidates that a search of the graph examines (ef_search); more is slower and misses fewer.
    hnsw_ef_search: int = 400

    def penalty(self, reason: str) -> float:
        """Return the weight of a penalty, given the name of its signal in `codesearch.search.heuristics`."""
        return float(getattr(self, f"{reason}_penalty"))

    def keywords_for(self, *, code: bool, named: bool) -> RankConfig:
        """Return the weights for a query that is code, or of which a word can only be a name in code."""
        weight = self.code_lexical_weight if code else self.named_lexical_weight
        return replace(self, lexical_weight=weight) if code or named else self

    def all_code(self) -> RankConfig:
        """Return these weights without the penalties for tests, generated code, vendored code and stubs."""
        return replace(self, test_penalty=0.0, generated_penalty=0.0, vendored_penalty=0.0, stub_penalty=0.0)
