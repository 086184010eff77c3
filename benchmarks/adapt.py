"""What indexes learn from their own documentation: held-out MRR before and after, for each folder given.

python -m benchmarks.adapt FOLDER...
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from codesearch.search.adapt import adapt

from benchmarks.record import record
from codesearch.encoding.bundle import SHIPPED
from codesearch.encoding.encoder import OnnxEncoder
from codesearch.evaluation.options import BenchOptions
from codesearch.evaluation.pool import open_pool
from codesearch.evaluation.stages import StageClock


def main() -> None:
    """Index each folder, learn, and write what it was worth."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+")
    encoder = OnnxEncoder.load(SHIPPED, "cpu")
    rows = {}
    for folder in parser.parse_args().folders:
        options = BenchOptions(home=Path(tempfile.gettempdir()), device="cpu")
        with open_pool(folder, options, StageClock(), lambda file, row: f"{file.path} {row[2]}") as pool:
            started = time.monotonic()
            learned = adapt(pool.index, encoder)
            rows[folder.name] = {
                "documents": pool.index.manifest.documents,
                "pairs": learned.adaptation.pairs,
                "mrr_before": round(learned.adaptation.mrr_before, 4),
                "mrr_after": round(learned.adaptation.mrr_after, 4),
                "half_interval": round(learned.margin, 4),
                "kept": learned.is_kept,
                "seconds": round(time.monotonic() - started, 1),
            }
    record("adapt", rows)


if __name__ == "__main__":
    main()
