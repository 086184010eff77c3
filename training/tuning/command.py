"""`python -m training tune`: fine-tune the bag of a bundle on questions."""

from __future__ import annotations

import argparse
from pathlib import Path

from codesearch.encoding.bundle import SHIPPED
from training.command import POOLS, add_settings, settings_from
from training.tuning.config import TuningConfig


def add_tune(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument(
        "--bundle", type=Path, default=SHIPPED, help="bundle to start from (default: the shipped)"
    )
    parser.add_argument(
        "--pools", type=Path, default=POOLS, help="folder that `reranker pools` wrote (default: %(default)s)"
    )
    parser.add_argument(
        "--pairs",
        type=Path,
        nargs="*",
        default=[],
        help="files with real questions and the code that answers them (`query`, `code`)",
    )
    parser.add_argument("--out", type=Path, required=True, help="run folder to write; it is resumed")
    add_settings(parser, TuningConfig)
    parser.set_defaults(run_command=_tune)


def _tune(options: argparse.Namespace) -> None:
    from training.tuning.train import tune

    config = settings_from(options, TuningConfig)
    print(tune(options.bundle, options.pools, options.pairs, options.out, config))
