"""Results of `codesearch bench --json` with fp32 weights and with int8 -> `results/int8.json`: what rounding loses."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from benchmarks.record import record

_METRICS = ("ndcg_all", "ndcg_within", "recall_at_10")


def main() -> None:
    """Compare the averages of every system."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("fp32", type=Path)
    parser.add_argument("int8", type=Path)
    options = parser.parse_args()
    found = {name: json.loads(getattr(options, name).read_text("utf-8")) for name in ("fp32", "int8")}
    models = {name: result["details"]["model"] for name, result in found.items()}
    record("int8", {"models": models, "loss": losses(found["fp32"], found["int8"])}, flat=True)


def losses(fp32: dict[str, Any], int8: dict[str, Any]) -> dict[str, dict[str, float]]:
    """Return by system what int8 has less than fp32, on average over languages; below zero it has more."""
    return {
        name: {
            metric: round(system[metric]["average"] - int8["systems"][name][metric]["average"], 4)
            for metric in _METRICS
        }
        for name, system in fp32["systems"].items()
    }


if __name__ == "__main__":
    main()
