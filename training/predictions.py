"""Results in the form of CodeSearchNet's challenge: a CSV file with the columns query,language,identifier,url.

A row is one result, best first within query and language.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from codesearch.errors import ConfigError
from codesearch.evaluation.data import QueryId, Run, checked_id, csv_rows


def read_predictions(path: Path) -> Run:
    """Read results in the official format; the first position of a document counts."""
    run: dict[QueryId, dict[str, None]] = defaultdict(dict)
    for line, row in csv_rows(path, "query", "language", "url"):
        run[checked_id(path, line, row["language"], row["query"])][row["url"]] = None
    return {query: list(urls) for query, urls in run.items()}


def write_predictions(path: Path, run: Run, queries: Mapping[QueryId, str], names: Mapping[str, str]) -> None:
    """Write results in the official format."""
    try:
        with open(path, "w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(("query", "language", "identifier", "url"))
            for query, documents in run.items():
                asked = queries.get(query, query[1])
                writer.writerows((asked, query[0], names.get(doc, ""), doc) for doc in documents)
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}", "give a file that can be written") from None
