"""Suite `smoke`: sources, queries and judgements in the package; see the README in their folder.

A query is asked only in the languages that it has judgements for.
"""

from __future__ import annotations

from pathlib import Path

from codesearch.evaluation.judge import BenchOptions, Tree, graded_questions, judge
from codesearch.evaluation.qrels import Qrels, query_id, read_named_annotations, read_queries
from codesearch.evaluation.result import SuiteResult
from codesearch.store.database import DocumentRow, FileRecord

FOLDER = Path(__file__).parent.parent / "smoke"


def run(options: BenchOptions) -> SuiteResult:
    """Run the suite; its data is in the package."""
    texts = {query_id("", text)[1]: text for text in read_queries(FOLDER / "queries.csv")}
    qrels = judgements(options)
    questions = graded_questions({query: texts.get(query[1], query[1]) for query in qrels}, qrels)
    return judge("smoke", [Tree(FOLDER / "sources", lambda _: questions, document_key)], options)


def judgements(options: BenchOptions) -> Qrels:
    """Read the judgements."""
    return read_named_annotations(options.annotations or FOLDER / "annotations.csv")


def document_key(file: FileRecord, row: DocumentRow) -> str:
    """Return the path and qualified name of a document as its name."""
    return f"{file.path} {row.qualified_name}"
