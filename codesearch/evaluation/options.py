"""What a suite is asked to do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from codesearch.config import IndexOptions, VectorConfig


def _silent(stage: str, done: int, total: int) -> None:
    """Show nothing."""


@dataclass(frozen=True, slots=True)
class BenchOptions:
    """How to run a suite.

    Attributes:
        home: keeps the suites' data below `cache/bench`; a bench's own index lives in a folder of its own and goes.
        data: folder of the suite's data; None for what was downloaded.
        download: whether data that is not here may be downloaded.
        annotations: judgements to use in place of the suite's own.
        model: folder of a model bundle; None for the shipped one.
        device: where it runs.
        walk: settings of the walk.
        vectors: when an HNSW graph is built.
        without: signals of the ranking that are turned off; see `systems.SIGNALS`.
        on_progress: told the stage, and what is done of how much (0 of 0 where that is not known).
    """

    home: Path
    data: Path | None = None
    download: bool = False
    annotations: Path | None = None
    model: Path | None = None
    device: str = "auto"
    walk: IndexOptions = field(default_factory=IndexOptions)
    vectors: VectorConfig = field(default_factory=VectorConfig)
    without: tuple[str, ...] = ()
    on_progress: Callable[[str, int, int], None] = _silent

    @property
    def cache(self) -> Path:
        """Where data of all suites is kept between runs."""
        return self.home / "cache" / "bench"
