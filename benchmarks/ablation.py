"""Every signal of the ranking turned off in turn, on the suites that may be fitted to.

python -m benchmarks.ablation --cosqa DIR
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from benchmarks.record import record
from codesearch.evaluation.options import BenchOptions
from codesearch.evaluation.significance import AVERAGE
from codesearch.evaluation.suites import run_suite
from codesearch.evaluation.systems import DEFAULT, SIGNALS

_METRICS = {"direction": "accuracy", "smoke": "ndcg_all", "cosqa": "mrr"}
_NOT_IN_COSQA = ("name", "test", "generated", "vendored")
"""Nobody asks for names there, and each function is a file of its own, called by a number."""


def main() -> None:
    """Run each suite with everything and without each signal."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cosqa", type=Path, required=True)
    data = {"cosqa": parser.parse_args().cosqa}
    rows: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as home:
        for signal in (None, *SIGNALS):
            rows[f"without {signal}" if signal else "everything"] = {
                suite: _average(suite, metric, home=Path(home), data=data.get(suite), signal=signal)
                for suite, metric in _METRICS.items()
                if suite != "cosqa" or signal not in _NOT_IN_COSQA
            }
    record("ablation", rows)


def _average(suite: str, metric: str, *, home: Path, data: Path | None, signal: str | None) -> float:
    options = BenchOptions(home=home, data=data, device="cpu", without=(signal,) if signal else ())
    return round(run_suite(suite, options).systems[DEFAULT].metrics[metric][AVERAGE], 4)


if __name__ == "__main__":
    main()
