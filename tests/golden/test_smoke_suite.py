"""The shipped model on the bundled suite: no average may fall below its value in `smoke.txt`.

`pytest tests/golden --update-golden` rewrites the file. Commit the difference.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from codesearch.evaluation.judge import BenchOptions
from codesearch.evaluation.metrics import AVERAGE
from codesearch.evaluation.result import SuiteResult
from codesearch.evaluation.suites import run_suite

FIGURES = Path(__file__).parent / "smoke.txt"
TOLERANCE = 0.002
"""Processors add in different orders. This may swap neighbours whose scores differ only in the last bits."""


def averages(result: SuiteResult) -> dict[tuple[str, str], float]:
    return {
        (name, metric): means[AVERAGE]
        for name, system in result.systems.items()
        for metric, means in system.metrics.items()
    }


def drops(found: dict[tuple[str, str], float], golden: str) -> list[str]:
    """List the figures that are lower than in the golden file, or missing."""
    rows = (line.split() for line in golden.splitlines())
    return [
        f"{system} {metric}: {found.get((system, metric), 0):.4f}, was {value}"
        for system, metric, value in rows
        if found.get((system, metric), 0) < float(value) - TOLERANCE
    ]


def test_no_figure_of_the_smoke_suite_drops(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    found = averages(run_suite("smoke", BenchOptions(home=tmp_path, device="cpu")))
    if request.config.getoption("--update-golden"):
        lines = (f"{system:8} {metric:14} {value:.4f}\n" for (system, metric), value in found.items())
        FIGURES.write_text("".join(lines), "utf-8")
    assert drops(found, FIGURES.read_text("utf-8")) == []
    assert ("default", "ndcg_all") in found


def test_a_drop_is_noticed_and_a_rise_is_not():
    golden = "default ndcg_all 0.9000\nbm25 mrr 0.5000\n"
    assert drops({("default", "ndcg_all"): 0.95, ("bm25", "mrr"): 0.499}, golden) == []
    assert drops({("default", "ndcg_all"): 0.89}, golden) == [
        "default ndcg_all: 0.8900, was 0.9000",
        "bm25 mrr: 0.0000, was 0.5000",
    ]
