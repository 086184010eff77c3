"""Settings, with the only defaults there are; the command line fills and shows them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

from codesearch.errors import ConfigError

PROJECT_FILE = ".codesearch.toml"
"""Settings of a project (see `codesearch.settings`), in its root."""
CONTENT = {
    "code": frozenset({"code"}),
    "docs": frozenset({"code", "docs"}),
    "config": frozenset({"code", "config"}),
    "all": frozenset({"code", "docs", "config"}),
}
"""What `WalkConfig.content` may be, and the `LanguageSpec.content` of the files that are then read."""


@dataclass(frozen=True, slots=True)
class WalkConfig:
    """Which files are read.

    Attributes:
        max_file_bytes: larger files are skipped.
        hidden: also enter names that begin with a dot.
        ignore_files: honour `.gitignore`, `.codesearchignore` and `.git/info/exclude`.
        follow_links: enter linked folders, each real folder once.
        exclude: further patterns, in the syntax of `.gitignore`, relative to the root.
        languages: names of the languages to index; empty for all.
        content: a key of `CONTENT`: what is read besides code.
    """

    max_file_bytes: int = 8_000_000
    hidden: bool = False
    ignore_files: bool = True
    follow_links: bool = False
    exclude: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    content: str = "code"


@dataclass(frozen=True, slots=True)
class IndexOptions:
    """Walk settings to choose; None leaves a setting as it is.

    Attributes: as in `WalkConfig`.

    Raises:
        ConfigError: `content` is unknown.
    """

    exclude: tuple[str, ...] | None = None
    languages: tuple[str, ...] | None = None
    hidden: bool | None = None
    ignore_files: bool | None = None
    follow_links: bool | None = None
    max_file_bytes: int | None = None
    content: str | None = None

    def __post_init__(self) -> None:
        if self.content is not None and self.content not in CONTENT:
            raise ConfigError(f"content {self.content!r}: choose one of {', '.join(CONTENT)}")

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Self:
        """Read settings as `given` returned them, in JSON or not; unknown ones are left out."""
        known: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in settings.items()
            if name in cls.__dataclass_fields__
        }
        return cls(**known)

    @property
    def given(self) -> dict[str, Any]:
        """The settings that are not None."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    def applied_to(self, walk: WalkConfig) -> WalkConfig:
        """Return `walk` with these settings."""
        return replace(walk, **self.given)

    def over(self, other: Self) -> Self:
        """Return these settings, and where they are None those of `other`."""
        return replace(other, **self.given)


@dataclass(frozen=True, slots=True)
class ParseConfig:
    """What is taken from a file.

    Attributes:
        max_code_bytes: longer definitions are searched by their first bytes.
        max_mean_line_bytes: a file whose mean line is longer is taken for minified and skipped.
        max_nesting: definitions nested deeper than this are left out, with a warning.
    """

    max_code_bytes: int = 16_384
    max_mean_line_bytes: int = 1_000
    max_nesting: int = 32


@dataclass(frozen=True, slots=True)
class VectorConfig:
    """When an HNSW graph is built, and how.

    Attributes:
        hnsw_threshold: from this many documents on, an HNSW graph is built (extra `hnsw`).
        hnsw_m: links a node.
        hnsw_ef_construction: candidates looked at while building.
    """

    hnsw_threshold: int = 500_000
    hnsw_m: int = 16
    hnsw_ef_construction: int = 200


@dataclass(frozen=True, slots=True)
class IndexConfig:
    """Everything that changes what an index holds.

    Attributes:
        walk: which files are read.
        parse: what is taken from a file.
        vectors: when an HNSW graph is built.
        options: the part of `walk` that the user chose by options; the next run repeats it.
    """

    walk: WalkConfig = WalkConfig()
    parse: ParseConfig = ParseConfig()
    vectors: VectorConfig = VectorConfig()
    options: IndexOptions = IndexOptions()

    def digest(self, *also: str) -> str:
        """Hash what decides the documents of a file, and `also`; a different digest makes the index anew."""
        text = json.dumps([asdict(self.parse), asdict(self.vectors), *also], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class RankConfig:
    """How signals are weighed; nothing here touches what is stored.

    Attributes:
        candidate_count: documents that each half puts forward; a graph, which may miss some, twice as many.
        semantic_weight: weight of the cosine.
        length_prior_half: terms of a body at which the cosine counts half; 0 turns the length prior off.
        lexical_weight: weight of the BM25F score divided by the sum of the idf of the query's terms.
        code_lexical_weight: the same where the query is a piece of code, whose words are those of what it came from.
        name_weight: added when the query is exactly the document's name.
        direction_reward: added where the query asks for a conversion and the document goes that way.
        direction_penalty: taken where it goes the other way.
        test_penalty: taken from documents in test files, unless the query asks for tests.
        generated_penalty: likewise, from those of files that a program wrote.
        vendored_penalty: from those of files copied from other projects.
        stub_penalty: from functions that do nothing, abstract ones among them.
        data_penalty: from modules, and half of it from constants, types and settings, unless the query asks for such.
        section_penalty: from documentation, unless the query is a question or asks for documentation.
        file_diversity_penalty: taken from a document for each of its file above it, up to four.
        rerank_count: documents at the head of the ranking that are looked at for that; 0 for none.
        k1: BM25F term saturation.
        field_weights: what an occurrence counts, in the order of `codesearch.analysis.terms.FIELDS`.
        field_b: how far a field's length discounts its occurrences, 0 to 1, in the same order.
        hnsw_ef_search: candidates that a search of the graph looks at; more is slower and misses less.
    """

    candidate_count: int = 500
    semantic_weight: float = 1.0
    length_prior_half: float = 3.0
    lexical_weight: float = 0.6
    code_lexical_weight: float = 1.5
    name_weight: float = 1.0
    direction_reward: float = 0.15
    direction_penalty: float = 0.15
    test_penalty: float = 0.2
    generated_penalty: float = 0.2
    vendored_penalty: float = 0.2
    stub_penalty: float = 0.2
    data_penalty: float = 0.2
    section_penalty: float = 0.15
    file_diversity_penalty: float = 0.05
    rerank_count: int = 200
    k1: float = 1.5
    field_weights: tuple[float, ...] = (3.0, 1.0, 0.75, 1.0, 0.5)
    field_b: tuple[float, ...] = (0.5, 0.5, 0.5, 0.75, 0.5)
    hnsw_ef_search: int = 400

    def penalty(self, reason: str) -> float:
        """Return the weight of one of `codesearch.search.penalties`."""
        return float(getattr(self, f"{reason}_penalty"))

    def for_code(self) -> RankConfig:
        """Return the weights for a query that is a piece of code."""
        return replace(self, lexical_weight=self.code_lexical_weight)

    def all_code(self) -> RankConfig:
        """Return these weights without any of those penalties."""
        return replace(self, test_penalty=0.0, generated_penalty=0.0, vendored_penalty=0.0, stub_penalty=0.0)
