"""Suite `smoke`: sources, queries and judgements in the package; see the README beside them.

A query is asked only in the languages in which it is judged.
"""

from __future__ import annotations

from pathlib import Path

from codesearch.evaluation.challenge import Challenge, run_challenge
from codesearch.evaluation.options import BenchOptions
from codesearch.evaluation.qrels import Qrels, query_id, read_named_annotations, read_queries
from codesearch.evaluation.result import SuiteResult
from codesearch.evaluation.stages import StageClock
from codesearch.segments.store import DocumentRow, FileRecord

FOLDER = Path(__file__).parent.parent / "smoke"


def run(options: BenchOptions) -> SuiteResult:
    """Run the suite; it needs no data but its own."""
    texts = {query_id("", text)[1]: text for text in read_queries(FOLDER / "queries.csv")}
    qrels = judgements(options)
    challenge = Challenge(
        suite="smoke",
        root=FOLDER / "sources",
        queries={query: texts.get(query[1], query[1]) for query in qrels},
        qrels=qrels,
        key=document_key,
    )
    return run_challenge(challenge, options, StageClock())


def judgements(options: BenchOptions) -> Qrels:
    """Read what results are judged by."""
    return read_named_annotations(options.annotations or FOLDER / "annotations.csv")


def document_key(file: FileRecord, row: DocumentRow) -> str:
    """Call a document by its path and qualified name."""
    return f"{file.path} {row.qualified_name}"
