"""The suites of `codesearch bench`, by name.

A suite is a function of a module of this package:

    def run(options: BenchOptions) -> SuiteResult

If results from a file can be judged (`bench --score`), its module also has:

    def judgements(options: BenchOptions) -> Qrels

If others published figures, it has them in `PUBLISHED`: metric -> system -> average.

A suite gives its folder and its questions to `codesearch.evaluation.judge.judge`, which indexes the folder, asks each
system of `codesearch.evaluation.systems` and scores the results. The id of a query is its group, usually a language,
and its text. Each metric has a name, such as `mrr` or `ndcg_all`, under which it is printed, written to JSON and
compared. Higher is better. Other facts about the run go into `SuiteResult.details`.
To add a suite, write the function and name it in `SUITES`.
"""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import ModuleType

from codesearch.errors import ConfigError
from codesearch.evaluation.judge import BenchOptions
from codesearch.evaluation.metrics import score_graded
from codesearch.evaluation.qrels import judged, read_predictions
from codesearch.evaluation.result import SuiteResult, distinct_queries, summarise

SUITES = {
    "csn99": "99 queries of the CodeSearchNet challenge over the files that were judged; needs data",
    "smoke": "a few hundred functions and queries in the package; answers anywhere, in seconds",
    "cosqa": "web queries over 6,267 Python functions; needs data",
    "direction": "conversions and their inverses in the package: is the one that was asked for found first",
    "repositories": "questions to repositories in nineteen languages, judged by file; needs data",
    "histories": "subjects of commits and the functions that they changed, in eleven languages; needs data",
    "commits": "first sentences of the bodies of commits, and the commits; needs clones",
    "known-items": "questions to the standard libraries of Python, Go and Ruby; Python's needs no data",
    "forms": "names, paths and text from the code, as people type them; needs data",
    "applications": "questions to fifteen applications in ten languages, for development; needs data",
    "applications-end": "the other half of these questions, for final figures only; needs data",
}
"""Name -> description."""


def run_suite(name: str, options: BenchOptions) -> SuiteResult:
    """Run a suite."""
    suite = _load(name)
    run = suite.run_end if name == "applications-end" else suite.run
    result: SuiteResult = run(options)
    return replace(result, published=getattr(suite, "PUBLISHED", {}))


def score_file(name: str, file: Path, options: BenchOptions) -> SuiteResult:
    """Score results in the official format as a system of a suite."""
    suite = _load(name)
    if not hasattr(suite, "judgements"):
        raise ConfigError(f"suite {name} does not judge files", "leave out --score, or choose csn99")
    run, qrels = read_predictions(file), judged(suite.judgements(options))
    found = {document for documents in run.values() for document in documents}
    if not any(qrels.get(query, {}).keys() & documents for query, documents in run.items()):
        query, grades = next(iter(qrels.items()))
        raise ConfigError(
            f"{file}: none of its {len(found):,} distinct results is judged",
            f"check language, query and url, such as {query[0]}, {query[1]}, {next(iter(grades))}",
        )
    systems = {file.stem: summarise(score_graded(run, qrels))}
    return SuiteResult(
        suite=name,
        systems=systems,
        judged_queries=distinct_queries(systems),
        documents=len(found),
        details={"judged_pairs": len(qrels), "answered_pairs": len(qrels.keys() & run.keys())},
        runs={file.stem: run},
        published=getattr(suite, "PUBLISHED", {}),
    )


def _load(name: str) -> ModuleType:
    """Import the module of a suite and no other. It has the suite's name, with an underscore for each dash."""
    if name not in SUITES:
        raise ConfigError(f"suite {name!r}", f"choose one of {', '.join(SUITES)}")
    return import_module(f"{__name__}.{name.removesuffix('-end').replace('-', '_')}")
