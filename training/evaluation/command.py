"""`python -m training bench`: judge an encoder by documentation and code, as published work does.

A suite is a module of this package with a function `run(options: BenchOptions) -> SuiteResult`. If it scores and writes
files of results, it has `score(file, options)` and `write_results(file, result)` too.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from importlib import import_module
from pathlib import Path

from codesearch.errors import ConfigError
from codesearch.evaluation.judge import BenchOptions
from codesearch.evaluation.result import SuiteResult, result_text, write_json

SUITES = {
    "csn-mrr": "documentation against code among 999 others",
    "advtest": "documentation against Python functions that lost their names",
}
"""Name -> description. The module of a suite has the same name, with an underscore for the dash."""


def add_bench(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    what = "; ".join(f"{name}: {description}" for name, description in SUITES.items())
    parser.add_argument("--suite", required=True, choices=SUITES, help=what)
    parser.add_argument("--data", type=Path, required=True, help="folder or file of the suite's data")
    parser.add_argument("--model", type=Path, help="folder of a bundle; default: the shipped model")
    parser.add_argument("--device", default="auto", help="auto, cpu or cuda (default: %(default)s)")
    parser.add_argument("--json", type=Path, help="write all scores to this file")
    parser.add_argument("--predictions", type=Path, help="write the results; only of advtest")
    parser.add_argument("--score", type=Path, help="score the results in this file; only of advtest")
    parser.set_defaults(run_command=_bench)


def _bench(options: argparse.Namespace) -> None:
    suite = import_module(f"training.evaluation.{options.suite.replace('-', '_')}")
    if (options.score or options.predictions) and not hasattr(suite, "score"):
        raise ConfigError(
            f"suite {options.suite} has no files of results: leave out --score and --predictions"
        )
    asked = BenchOptions(
        home=Path("build"), data=options.data.absolute(), model=options.model, device=options.device
    )
    result: SuiteResult = suite.score(options.score, asked) if options.score else suite.run(asked)
    print(result_text(result), end="")
    if options.json:
        write_json(options.json, result, shlex.join(["python", "-m", "training", *sys.argv[1:]]))
    if options.predictions:
        suite.write_results(options.predictions, result)
