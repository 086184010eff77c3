"""The shipped model on the bundled suite: no average may fall below its value in `smoke.txt`.

`pytest tests/golden --update-golden` rewrites the file. Commit the difference.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

FIGURES = Path(__file__).parent / "smoke.txt"
TOLERANCE = 0.002
"""Processors add in different orders. This may swap neighbours whose scores differ only in the last bits."""


def averages(systems: dict[str, dict[str, Any]]) -> dict[tuple[str, str], float]:
    return {
        (name, metric): means["average"]
        for name, metrics in systems.items()
        for metric, means in metrics.items()
        if isinstance(means, dict) and "average" in means
    }


def drops(found: dict[tuple[str, str], float], golden: str) -> list[str]:
    """List the figures that are lower than in the golden file, or missing."""
    rows = (line.split() for line in golden.splitlines())
    return [
        f"{system} {metric}: {found.get((system, metric), 0):.4f}, was {value}"
        for system, metric, value in rows
        if found.get((system, metric), 0) < float(value) - TOLERANCE
    ]


def test_no_figure_of_the_smoke_suite_which_runs_without_data_drops(request, command):
    bench = replace(command, variables={"CODESEARCH_BENCH_DATA": ""})
    text = bench.succeeds("bench", "--json", "smoke.json").splitlines()
    assert text[0].startswith("smoke") and text[-1].startswith("Row `default` is the product;")
    found = averages(json.loads((command.folder / "smoke.json").read_text("utf-8"))["systems"])
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
