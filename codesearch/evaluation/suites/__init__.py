"""The suites of `codesearch bench`, by name.

A suite is a module of this package with one function:

    def run(options: BenchOptions) -> SuiteResult

If results from a file can be judged (`bench --score`), it has another:

    def judgements(options: BenchOptions) -> Qrels

If others published figures, it has them in `PUBLISHED`: metric -> system -> average.

A suite gives its folder and its questions to `codesearch.evaluation.judge.judge`, which indexes the folder, asks each
system of `codesearch.evaluation.systems` and scores the results. The id of a query is its group, usually a language,
and its text. Each metric has a name, such as `mrr` or `ndcg_all`, under which it is printed, written to JSON and
compared. Higher is better. Other facts about the run go into `SuiteResult.details`.
To add a suite, write the module and name it in `SUITES`.
"""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import ModuleType

from codesearch.errors import ConfigError
from codesearch.evaluation.grades import score_predictions
from codesearch.evaluation.options import BenchOptions
from codesearch.evaluation.qrels import read_predictions
from codesearch.evaluation.result import SuiteResult

SUITES = {
    "csn99": "99 queries of the CodeSearchNet challenge over the files that were judged; needs data",
    "smoke": "a few hundred functions and queries in the package; answers anywhere, in seconds",
    "cosqa": "web queries over 6,267 Python functions; needs data",
    "direction": "conversions and their inverses in the package: is the one that was asked for found first",
    "known-items": "questions to the standard libraries of Python, Go and Ruby; Python's needs no data",
    "applications": "questions to fifteen applications in ten languages, for development; needs data",
    "applications-end": "the other half of these questions, for final figures only; needs data",
}
"""Name -> description. The module of a suite has the same name, with an underscore for each dash."""


def run_suite(name: str, options: BenchOptions) -> SuiteResult:
    """Run a suite.

    Raises:
        ConfigError: there is no such suite.
    """
    suite = _load(name)
    return _with_published(suite.run(options), suite)


def score_file(name: str, file: Path, options: BenchOptions) -> SuiteResult:
    """Score results in the official format as a system of a suite.

    Raises:
        ConfigError: the suite does not exist or does not judge files, or the file is not in the official format.
    """
    suite = _load(name)
    if not hasattr(suite, "judgements"):
        raise ConfigError(f"suite {name} does not judge files: leave out --score, or choose csn99")
    scored = score_predictions(name, file.stem, read_predictions(file), suite.judgements(options))
    return _with_published(scored, suite)


def _load(name: str) -> ModuleType:
    """Import the module of a suite, and no other suite."""
    if name not in SUITES:
        raise ConfigError(f"suite {name!r}: choose one of {', '.join(SUITES)}")
    return import_module(f"{__name__}.{name.replace('-', '_')}")


def _with_published(result: SuiteResult, suite: ModuleType) -> SuiteResult:
    return replace(result, published=getattr(suite, "PUBLISHED", {}))
