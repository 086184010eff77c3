"""Run a suite of questions -> the scores, as `codesearch bench` prints and writes them, and the memory of each stage.

    python -m benchmarks.suite NAME --data DIR [--json FILE]
    python -m benchmarks.suite csn99 --data DIR --score FILE [--annotations FILE]

It runs the suites of `codesearch bench` too. `python -m benchmarks.compare` compares two files of `--json`.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.process import MemoryClock
from codesearch.cli.invocation import stage_progress
from codesearch.errors import CodeSearchError, ConfigError
from codesearch.evaluation import suites
from codesearch.evaluation.data import judged, read_annotations
from codesearch.evaluation.judge import DEFAULT, SYSTEMS, BenchOptions, System
from codesearch.evaluation.metrics import score_graded
from codesearch.evaluation.result import SuiteResult, distinct_queries, result_text, summarise, write_json
from codesearch.files import default_home
from training.predictions import read_predictions, write_predictions

SUITES = {
    "cosqa": "web queries over 6,267 Python functions",
    "repositories": "questions to repositories in nineteen languages, judged by file",
    "histories": "subjects of commits and the functions that they changed, in eleven languages",
    "commits": "first sentences of the bodies of commits, and the commits; needs clones",
    "forms": "names, paths and text from the code, as people type them",
    "applications": "questions to fifteen applications in ten languages, for development",
    "applications-end": "the other half of these questions, for final figures only",
    "passages": "questions about a few lines of functions in twenty applications, for development",
    "passages-end": "the other half of these questions, for final figures only",
    "everyday": "what newcomers ask of twelve well-known libraries in twelve languages, for development",
    "everyday-end": "the same of twelve other libraries, for final figures only",
    "everyday-large": "the same of Boost, with 15,281 files",
}
"""Name -> description. A suite has the module of its name, up to the hyphen, in `benchmarks/suites`."""
SIGNALS: dict[str, dict[str, Any]] = {
    "vectors": {"semantic_weight": 0.0},
    "keywords": {"lexical_weight": 0.0, "code_lexical_weight": 0.0},
    "length_prior": {"length_prior_half": 0.0},
    "name": {"name_weight": 0.0},
    "prominence": {"summary_weight": 0.0, "uses_weight": 0.0},
    "direction": {"direction_reward": 0.0, "direction_penalty": 0.0},
    **{
        name: {f"{name}_penalty": 0.0}
        for name in ("test", "generated", "vendored", "stub", "nested", "data", "file_diversity")
    },
}
"""Signal that `--without` turns off -> the settings that do it."""


def main() -> None:
    """Run one suite, or score a file of results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    what = "; ".join(f"{name}: {description}" for name, description in SUITES.items())
    parser.add_argument("suite", choices=[*suites.SUITES, *SUITES], metavar="NAME", help=what)
    parser.add_argument("--data", type=Path, help="folder of the suite's data")
    parser.add_argument(
        "--without", action="append", default=[], choices=SIGNALS, help="turn a signal of the ranking off"
    )
    parser.add_argument("--json", type=Path, help="write all scores to this file")
    parser.add_argument("--predictions", type=Path, help="write the results of the default system")
    parser.add_argument("--score", type=Path, help="score these results, in the official format of csn99")
    parser.add_argument("--annotations", type=Path, help="the judgements for --score, if not those of --data")
    parser.add_argument("--model", type=Path, help="folder of a bundle; default: the shipped model")
    parser.add_argument("--device", default="auto", help="auto, cpu or cuda (default: %(default)s)")
    parser.add_argument("--home", type=Path, default=default_home(), help="folder for temporary indexes")
    arguments = parser.parse_args()
    clock = MemoryClock()
    try:
        with stage_progress(arguments.suite) as on_progress:
            if arguments.score:
                annotations = arguments.annotations or (arguments.data or Path()) / suites.ANNOTATIONS
                result = score_file(arguments.score, annotations)
            else:
                options = BenchOptions(
                    home=arguments.home.absolute(),
                    data=arguments.data and arguments.data.absolute(),
                    model=arguments.model,
                    device=arguments.device,
                    systems=systems_without(arguments.without),
                    on_progress=on_progress,
                    clock=clock,
                )
                result = run_suite(arguments.suite, options)
                result.details["rss_bytes"] = clock.rss_bytes
    except (CodeSearchError, OSError) as error:
        parser.exit(2, f"error: {error}\n")
    print(result_text(result), end="")
    if area := result.details.get("confidence_auc"):
        print(f"\narea under the ROC curve of the confidence, for the first hit: {area:.3f}")
    if clock.rss_bytes:
        print(f"\npeak memory {max(clock.rss_bytes.values()) / 1e6:.0f} MB")
    if arguments.json:
        command = shlex.join(["python", "-m", "benchmarks.suite", *sys.argv[1:]])
        write_json(arguments.json, result, command)
    if arguments.predictions:
        write_predictions(arguments.predictions, result.runs[DEFAULT], result.queries, result.names)


def run_suite(name: str, options: BenchOptions) -> SuiteResult:
    """Run a suite."""
    if name in suites.SUITES:
        return suites.run_suite(name, options)
    if options.data is None:
        raise ConfigError(f"the data of {name} is not here", "give --data FOLDER")
    module, _, part = name.partition("-")
    suite = import_module(f"benchmarks.suites.{module}")
    run = getattr(suite, f"run_{part}" if part else "run")
    result: SuiteResult = run(options.data, options)
    return replace(result, published=getattr(suite, "PUBLISHED", {}))


def systems_without(signals: Sequence[str]) -> tuple[System, ...]:
    """Return the systems; all but the first two lack some signals of the ranking."""
    off = {name: value for signal in signals for name, value in SIGNALS[signal].items()}
    return tuple(
        replace(system, config=replace(system.config, **off)) if system.mode == "hybrid" else system
        for system in SYSTEMS
    )


def score_file(file: Path, annotations: Path) -> SuiteResult:
    """Score results in the official format of `csn99` as a system."""
    run, qrels = read_predictions(file), judged(read_annotations(annotations))
    results = {document for documents in run.values() for document in documents}
    if not any(qrels.get(query, {}).keys() & documents for query, documents in run.items()):
        query, grades = next(iter(qrels.items()))
        raise ConfigError(
            f"{file}: none of its {len(results):,} distinct results is judged",
            f"check language, query and url, such as {query[0]}, {query[1]}, {next(iter(grades))}",
        )
    systems = {file.stem: summarise(score_graded(run, qrels))}
    return SuiteResult(
        suite="csn99",
        systems=systems,
        judged_queries=distinct_queries(systems),
        documents=len(results),
        details={"judged_pairs": len(qrels), "answered_pairs": len(qrels.keys() & run.keys())},
        runs={file.stem: run},
        published=suites.PUBLISHED,
    )


if __name__ == "__main__":
    main()
