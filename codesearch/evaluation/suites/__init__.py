"""The suites of `codesearch bench`, by name.

A suite is a module of this package with one function:

    def run(options: BenchOptions) -> SuiteResult

If results from a file can be judged (`bench --score`), it has another:

    def judgements(options: BenchOptions) -> Qrels

If such files have a different format, it has two others instead:

    def score(file: Path, options: BenchOptions) -> SuiteResult
    def write_results(file: Path, result: SuiteResult) -> None

A suite over whole code gives its folder and its questions to `codesearch.evaluation.judge.judge`, which indexes the
folder, asks each system of `codesearch.evaluation.systems` and scores the results. The id of a query is its group,
usually a language, and its text. Each metric has a name, such as `mrr` or `ndcg_all`, under which it is printed,
written to JSON and compared. Higher is better. Other facts about the run go into `SuiteResult.details`.
To add a suite, write the module and name it in `SUITES`.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import ModuleType

from codesearch.errors import ConfigError
from codesearch.evaluation.grades import score_predictions
from codesearch.evaluation.options import BenchOptions
from codesearch.evaluation.qrels import read_predictions, write_predictions
from codesearch.evaluation.result import SuiteResult
from codesearch.evaluation.systems import DEFAULT

SUITES = {
    "csn99": "99 queries of the CodeSearchNet challenge over the files that were judged; needs data",
    "smoke": "a few hundred functions and queries in the package; answers anywhere, in seconds",
    "cosqa": "web queries over 6,267 Python functions; needs data",
    "direction": "conversions and their inverses in the package: is the one that was asked for found first",
    "docstrings": "held-out documentation against its functions, through the whole product; needs data",
    "csn-mrr": "documentation against code among 999 others, the encoders' protocol; needs data",
    "advtest": "documentation against Python functions that lost their names; needs data",
    "known-items": "questions to the standard libraries of Python, Go and Ruby; Python's needs no data",
    "applications": "questions to fifteen applications in ten languages, for development; needs data",
    "applications-end": "the other half of these questions, for final figures only; needs data",
    "ncs": "questions about Android over a folder of Java code of yours; needs data",
}
"""Name -> description. The module of a suite has the same name, with an underscore for each dash."""


def load_suite(name: str) -> ModuleType:
    """Return the module of a suite; this imports no other suite.

    Raises:
        ConfigError: there is no such suite.
    """
    if name not in SUITES:
        raise ConfigError(f"suite {name!r}: choose one of {', '.join(SUITES)}")
    return import_module(f"{__name__}.{name.replace('-', '_')}")


def run_suite(name: str, options: BenchOptions) -> SuiteResult:
    """Run a suite."""
    result: SuiteResult = load_suite(name).run(options)
    return result


def score_file(name: str, file: Path, options: BenchOptions) -> SuiteResult:
    """Score results in the official format as a system of a suite.

    Raises:
        ConfigError: the suite has no such format, or the file is not in it.
    """
    suite = load_suite(name)
    if hasattr(suite, "score"):
        result: SuiteResult = suite.score(file, options)
        return result
    if not hasattr(suite, "judgements"):
        raise ConfigError(f"suite {name} does not judge files: leave out --score, or choose csn99")
    return score_predictions(name, file.stem, read_predictions(file), suite.judgements(options))


def write_results(file: Path, result: SuiteResult) -> None:
    """Write the results of a suite in its official format.

    Raises:
        ConfigError: it has none.
    """
    suite = load_suite(result.suite)
    if hasattr(suite, "write_results"):
        suite.write_results(file, result)
    elif DEFAULT in result.runs:
        write_predictions(file, result.runs[DEFAULT], result.queries, result.names)
    else:
        raise ConfigError(
            f"suite {result.suite} has no results in the official format: leave out --predictions"
        )
