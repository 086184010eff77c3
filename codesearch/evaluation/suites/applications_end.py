"""Suite `applications-end`: the half of the questions to applications that nothing is chosen by."""

from __future__ import annotations

from codesearch.evaluation.options import BenchOptions
from codesearch.evaluation.result import SuiteResult
from codesearch.evaluation.suites.applications import run_half


def run(options: BenchOptions) -> SuiteResult:
    """Run the suite with the questions for the end."""
    return run_half("applications-end", "end", options)
