"""Run a suite of questions over data of your own -> the scores, as `codesearch bench` prints and writes them.

    python -m benchmarks.suite NAME --data DIR [--json FILE]

`codesearch bench --compare` compares two files of `--json`.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from codesearch.cli.notes import stage_progress
from codesearch.errors import CodeSearchError
from codesearch.evaluation.judge import DEFAULT, SIGNALS, BenchOptions
from codesearch.evaluation.qrels import write_predictions
from codesearch.evaluation.result import SuiteResult, result_text, write_json
from codesearch.home import default_home

SUITES = {
    "cosqa": "web queries over 6,267 Python functions",
    "repositories": "questions to repositories in nineteen languages, judged by file",
    "histories": "subjects of commits and the functions that they changed, in eleven languages",
    "commits": "first sentences of the bodies of commits, and the commits; needs clones",
    "forms": "names, paths and text from the code, as people type them",
    "applications": "questions to fifteen applications in ten languages, for development",
    "applications-end": "the other half of these questions, for final figures only",
}
"""Name -> description. A suite has the module of its name in `benchmarks/suites`."""


def main() -> None:
    """Run one suite."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    what = "; ".join(f"{name}: {description}" for name, description in SUITES.items())
    parser.add_argument("suite", choices=SUITES, metavar="NAME", help=what)
    parser.add_argument("--data", type=Path, required=True, help="folder of the suite's data")
    parser.add_argument(
        "--without", action="append", default=[], choices=SIGNALS, help="turn a signal of the ranking off"
    )
    parser.add_argument("--json", type=Path, help="write all scores to this file")
    parser.add_argument("--predictions", type=Path, help="write the results of the default system")
    parser.add_argument("--model", type=Path, help="folder of a bundle; default: the shipped model")
    parser.add_argument("--device", default="auto", help="auto, cpu or cuda (default: %(default)s)")
    parser.add_argument("--home", type=Path, default=default_home(), help="folder for temporary indexes")
    arguments = parser.parse_args()
    try:
        with stage_progress(arguments.suite) as on_progress:
            options = BenchOptions(
                home=arguments.home.absolute(),
                model=arguments.model,
                device=arguments.device,
                without=tuple(arguments.without),
                on_progress=on_progress,
            )
            result = run_suite(arguments.suite, arguments.data.absolute(), options)
    except (CodeSearchError, OSError) as error:
        parser.exit(2, f"error: {error}\n")
    print(result_text(result), end="")
    if arguments.json:
        command = shlex.join(["python", "-m", "benchmarks.suite", *sys.argv[1:]])
        write_json(arguments.json, result, command)
    if arguments.predictions:
        write_predictions(arguments.predictions, result.runs[DEFAULT], result.queries, result.names)


def run_suite(name: str, data: Path, options: BenchOptions) -> SuiteResult:
    """Run a suite over a folder of its data."""
    suite = import_module(f"benchmarks.suites.{name.removesuffix('-end')}")
    run = suite.run_end if name.endswith("-end") else suite.run
    result: SuiteResult = run(data, options)
    return replace(result, published=getattr(suite, "PUBLISHED", {}))


if __name__ == "__main__":
    main()
