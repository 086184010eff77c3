"""The suites of `codesearch bench`, by name.

A suite is a module of this package with one function:

    def run(options: BenchOptions) -> SuiteResult

It indexes with `codesearch.evaluation.pool.open_pool`, asks each system of `codesearch.evaluation.systems`, makes a
score of each query (`metrics`; a query's id is its group, a language mostly, and its text), and lets
`result.summarise` make means and intervals of them. Metrics have names and are higher the better: whatever a suite
calls `mrr` or `ndcg_all` is printed, written to JSON and compared under that name. What is told about the run besides
(coverage, where the data came from) goes into `SuiteResult.details`.
To add one: write the module, and name it in `SUITES`.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from codesearch.errors import ConfigError
from codesearch.evaluation.options import BenchOptions
from codesearch.evaluation.result import SuiteResult

SUITES = {
    "csn99": "99 queries of the CodeSearchNet challenge over the files that were judged; needs data",
    "smoke": "a few dozen functions and queries in the package; answers anywhere, in seconds",
}
"""Name -> what it is; `advtest` and such are modules of the same name, with a dash read as an underscore."""


def load_suite(name: str) -> Callable[[BenchOptions], SuiteResult]:
    """Return what runs a suite; only that suite's module is imported.

    Raises:
        ConfigError: there is no such suite.
    """
    if name not in SUITES:
        raise ConfigError(f"suite {name!r}: choose one of {', '.join(SUITES)}")
    module = import_module(f"{__name__}.{name.replace('-', '_')}")
    run: Callable[[BenchOptions], SuiteResult] = module.run
    return run
