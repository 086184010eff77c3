"""Options of a suite's run."""

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
        home: has the suites' data below `cache/bench`. The index of a run is in a temporary folder.
        data: folder of the suite's data; None for the downloaded data.
        download: whether data that is not here may be downloaded.
        annotations: judgements that replace those of the suite.
        model: folder of a model bundle; None for the shipped one.
        device: where it runs.
        walk: settings of the walk.
        vectors: when an HNSW graph is built.
        without: signals of the ranking that are turned off; see `systems.SIGNALS`.
        on_progress: called with the stage, the amount done and the total (both 0 if not known).
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
        """Return the folder that keeps the data of all suites between runs."""
        return self.home / "cache" / "bench"
