"""CoSQA's files -> its functions, and its questions with the function that answers each.

*Source*: Huang et al. 2021, "CoSQA: 20,000+ web queries for code search and question answering".
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from codesearch.errors import ConfigError
from codesearch.evaluation.jsonl import field, read_jsonl
from codesearch.evaluation.qrels import Qrels, QueryId, query_id

GROUP = "python"


def one_file(folder: Path, pattern: str) -> Path:
    """Return the one file of a folder that matches a pattern."""
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        raise ConfigError(
            f"{folder}: {len(found)} files {pattern}, expected 1", "give --data the suite's folder"
        )
    return found[0]


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
