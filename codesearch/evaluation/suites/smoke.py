"""Suite `smoke`: sources, queries and judgements in the package; see its README there."""

from __future__ import annotations

from pathlib import Path

from codesearch.evaluation.challenge import Challenge, run_challenge
from codesearch.evaluation.options import BenchOptions
from codesearch.evaluation.qrels import Qrels, read_named_annotations, read_queries
from codesearch.evaluation.result import SuiteResult
from codesearch.evaluation.stages import StageClock
from codesearch.index.store import DocumentRow, FileRecord

FOLDER = Path(__file__).parent.parent / "smoke"


def run(options: BenchOptions) -> SuiteResult:
    """Run the suite; it needs no data but its own."""
    challenge = Challenge(
        suite="smoke",
        root=FOLDER / "sources",
        queries=read_queries(FOLDER / "queries.csv"),
        qrels=judgements(options),
        key=document_key,
    )
    return run_challenge(challenge, options, StageClock())


def judgements(options: BenchOptions) -> Qrels:
    """Read what results are judged by."""
    return read_named_annotations(options.annotations or FOLDER / "annotations.csv")


def document_key(file: FileRecord, row: DocumentRow) -> str:
    """Call a document by its path and qualified name."""
    return f"{file.path} {row[2]}"
