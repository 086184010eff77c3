"""Suite `cosqa`: real web queries over Python functions, one right answer each.

The data is a folder with the codebase (`codebase*.jsonl*`: `id, code`) and the queries of one split
(`retrieval_dev*.jsonl*`: `query, codebase_id`). Each function is written to a separate file, so the suite measures the
whole product: parsing, indexing and searching. A function that cannot be parsed is never found.

*Source*: Huang et al. 2021, "CoSQA: 20,000+ web queries for code search and question answering".
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from codesearch.errors import ConfigError
from codesearch.evaluation.data import Qrels, QueryId, field, query_id, read_jsonl
from codesearch.evaluation.judge import BenchOptions, Tree, answered_questions, judge
from codesearch.evaluation.result import SuiteResult
from codesearch.files import scratch_folder
from codesearch.store.database import DocumentRow, FileRecord
from training.evaluation.pairs import one_file

GROUP = "python"
CODEBASE, QUERIES = "codebase*.jsonl*", "retrieval_dev*.jsonl*"
DEPTHS = (1, 5, 10, 100)
_FOLDER_SIZE = 1_000


def run(data: Path, options: BenchOptions) -> SuiteResult:
    """Run the suite."""
    functions = read_functions(one_file(data, CODEBASE))
    queries, qrels = read_queries(one_file(data, QUERIES), functions)
    with scratch_folder(options.home) as root:
        with options.clock.stage("unpack"):
            write_tree(root, functions)
        tree = Tree(
            root,
            lambda _: answered_questions(queries, qrels, DEPTHS),
            document_key,
            details={"functions": len(functions)},
        )
        return judge("cosqa", [tree], options)


def read_functions(path: Path) -> dict[str, str]:
    """Read id -> code of every function."""
    return {field(place, record, "id"): field(place, record, "code") for place, record in read_jsonl(path)}


def read_queries(path: Path, functions: Mapping[str, str]) -> tuple[dict[QueryId, str], Qrels]:
    """Read the queries, and the function that answers each."""
    queries: dict[QueryId, str] = {}
    qrels: Qrels = {}
    for place, record in read_jsonl(path):
        text, answer = field(place, record, "query"), field(place, record, "codebase_id")
        if answer not in functions:
            raise ConfigError(
                f"{place}: function {answer} is not in the codebase", "give files of one release"
            )
        query = query_id(GROUP, text)
        queries[query] = text
        qrels.setdefault(query, {})[answer] = 1.0
    return queries, qrels


def write_tree(root: Path, functions: Mapping[str, str]) -> None:
    """Write each function to a file that has its id as name."""
    for number, (name, code) in enumerate(functions.items()):
        folder = root / str(number // _FOLDER_SIZE)
        folder.mkdir(exist_ok=True)
        (folder / f"{name}.py").write_bytes(f"{code}\n".encode())


def document_key(file: FileRecord, _: DocumentRow) -> str:
    """Return the file of a document as its name, so a nested function counts as the outer one."""
    return PurePosixPath(file.path).stem
