"""Run folders and their bundles -> `results/encoders.json` and the table of docs/dev/encoder.md.

RUNS has a folder for each run. If the run was exported, BUNDLES has one of the same name. BENCH may have a NAME.json
from `codesearch bench --json`. Missing values are null. Documents per second are those of the bundle in ONNX Runtime
on the CPU, without tokenizing, over the first test documents of the corpus.
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.process import seconds_of
from benchmarks.publish import DEV_DOCS, fill, line, record
from codesearch.text.onnx import OnnxEncoder
from training import checkpoint
from training.command import CORPUS
from training.pipeline import load_run
from training.samples import texts_of_row
from training.sources import first_test_rows

PAGE = DEV_DOCS / "encoder.md"
PUBLISHED = {
    "nbow": (0.6409, 0.5140, 0.4607, 0.4835, 0.5809, 0.4285, 0.164),
    "cnn": (0.6274, 0.5270, 0.3523, 0.5294, 0.5708, 0.2450, 0.108),
    "birnn": (0.4524, 0.2865, 0.1530, 0.2512, 0.3213, 0.0835, 0.041),
    "selfatt": (0.6809, 0.5866, 0.4506, 0.6011, 0.6922, 0.3651, 0.113),
}
"""Husain et al. 2019: MRR of Go, Java, JavaScript, PHP, Python and Ruby, then NDCG All of the challenge. Their average
is left out, because it ranks among functions of mixed languages; the table shows the mean of a row."""
_DOCUMENTS = 2_000
_REPEATS = 3
_SMALL = re.compile(r"-\d+k$")


def main() -> None:
    """Measure the runs that exist, then write the JSON and the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=Path, required=True, help="folder of run folders")
    parser.add_argument("--bundles", type=Path, required=True, help="folder of bundle folders")
    parser.add_argument("--bench", type=Path, help="folder of NAME.json from `codesearch bench --json`")
    parser.add_argument(
        "--corpus", type=Path, default=CORPUS, help="for texts to time (default: %(default)s)"
    )
    options = parser.parse_args()
    names = sorted(path.parent.name for path in options.runs.glob("*/mrr_test.json"))
    texts = test_documents(options.corpus)
    rows = {
        name: encoder_row(
            options.runs / name,
            options.bundles / name,
            options.bench and options.bench / f"{name}.json",
            texts,
        )
        for name in names
    }
    record("encoders", rows, flat=True)
    fill(PAGE, "encoders", encoder_table(rows))


def test_documents(corpus: Path) -> list[tuple[str, str]]:
    """Return (language, text) of the first test documents, the same number for each language."""
    return [(row.language, texts_of_row(row)[1]) for row in first_test_rows(corpus, _DOCUMENTS)]


def encoder_row(run: Path, bundle: Path, bench: Path | None, texts: list[tuple[str, str]]) -> dict[str, Any]:
    """Collect the figures of one encoder."""
    settings = checkpoint.read_config(run)
    config = settings["config"]
    model, _, _ = load_run(run)
    parameters = {
        id(value): value.numel() for name, value in model.named_parameters() if "context" not in name
    }
    metrics = checkpoint.read_metrics(run) if (run / checkpoint.METRICS).exists() else []
    test = _figures(run, "test")
    return {
        "architecture": config["architecture"],
        "code_encoders": config["code_encoders"],
        "pooling": config["pooling"],
        "dim": config["dim"],
        "max_document_tokens": config["max_document_tokens"],
        "averaged": len(settings.get("averaged", [])),
        "pairs": settings["pairs"],
        "epochs": len(metrics) / config.get("epoch_parts", 1),  # Older runs do not have this setting.
        "train_s": round(sum(line["train_s"] for line in metrics), 1),
        "valid_mrr": [round(line["valid_mrr"]["average"], 4) for line in metrics],
        "parameters": sum(parameters.values()),
        "bundle_mb": _bundle_mb(bundle),
        "documents_per_s": _documents_per_s(bundle, texts),
        **{name: test.get(name) for name in ("mrr_999", "mrr_full", "recall_at_10")},
        "mrr_advtest": _figures(run, "advtest").get("mrr_full"),
        "ndcg_all": _ndcg_all(bench),
    }


def _figures(run: Path, name: str) -> dict[str, Any]:
    path = run / f"mrr_{name}.json"
    return json.loads(path.read_text("utf-8")) if path.exists() else {}


def _bundle_mb(bundle: Path) -> float | None:
    sizes = [path.stat().st_size for path in bundle.glob("*")]
    return round(sum(sizes) / 1e6, 1) if sizes else None


def _documents_per_s(bundle: Path, texts: list[tuple[str, str]]) -> int | None:
    if not (bundle / "manifest.json").exists():
        return None
    encoder = OnnxEncoder.load(bundle, "cpu")
    tokens: list[NDArray[np.uint32]] = [
        encoder.tokenizer.encode_document(text, encoder.max_document_tokens, language)
        for language, text in texts
    ]
    encoder.encode_documents(tokens[:: len(tokens) // 20])
    fastest = min(seconds_of(lambda: encoder.encode_documents(tokens)) for _ in range(_REPEATS))
    return round(len(tokens) / fastest)


def _ndcg_all(bench: Path | None) -> float | None:
    if bench is None or not bench.exists():
        return None
    systems = json.loads(bench.read_text("utf-8"))["systems"]
    found: float = systems.get("dense", systems.get("default"))["ndcg_all"]["average"]
    return found


def encoder_table(rows: dict[str, dict[str, Any]]) -> str:
    """Lay out the encoders of the whole corpus, ours below the published one of the same architecture."""
    head = ["encoder", "parameters", "documents/s", "MRR", "NDCG All", "trained on"]
    lines = [line(head), "|---" * len(head) + "|"]
    for name in rows:
        if _SMALL.search(name):
            continue
        if name in PUBLISHED:
            *mrr, ndcg = PUBLISHED[name]
            figures = [_shown(mean(mrr)), _shown(ndcg)]
            lines.append(line([f"{name}, published", "", "", *figures, "CodeSearchNet, 2M pairs"]))
        lines.append(line([f"**{name}**", *_cells(rows[name])]))
    return "\n".join(lines)


def _cells(row: dict[str, Any]) -> list[str]:
    return [
        f"{row['parameters'] / 1e6:.1f} M",
        f"{row['documents_per_s']:,}" if row["documents_per_s"] else "",
        _shown((row["mrr_999"] or {}).get("average")),
        _shown(row["ndcg_all"]),
        f"{row['pairs']:,} pairs, "
        + (f"the mean of {row['averaged']} runs" if row["averaged"] else f"{row['epochs']:g} epochs"),
    ]


def _shown(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}".lstrip("0")


if __name__ == "__main__":
    main()
