"""Suites of questions whose data does not come with the package; `benchmarks/suite.py` lists and runs them.

A suite is a module with `run(data: Path, options: BenchOptions) -> SuiteResult`. If others published figures, it has
them in `PUBLISHED`: metric -> system -> average. `codesearch.evaluation.judge` indexes, asks and scores for all suites.
"""
