"""Suite `direction`: does the function that converts in the asked direction rank above its inverse?

Sources and pairs of queries are in the package; see the README in their folder. `accuracy` is the share of queries
whose function ranks above its inverse. `mrr` is over all functions of its language.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

from codesearch.evaluation.judge import BenchOptions, Questions, Tree, judge
from codesearch.evaluation.metrics import reciprocal_rank
from codesearch.evaluation.qrels import QueryId, query_id
from codesearch.evaluation.result import SuiteResult

FOLDER = Path(__file__).parent.parent / "direction"


@dataclass(frozen=True, slots=True)
class Asked:
    """A query as it is asked, the name of its function, and the name of the inverse function."""

    text: str
    right: str
    inverse: str


def run(options: BenchOptions) -> SuiteResult:
    """Run the suite; its data is in the package."""
    asked = read_pairs(FOLDER / "pairs.csv")
    questions = Questions(
        {query: pair.text for query, pair in asked.items()},
        lambda found: {query: score(found[query], pair) for query, pair in asked.items()},
    )
    tree = Tree(
        FOLDER / "sources",
        lambda _: questions,
        key=lambda _, row: row.qualified_name,
        details={"pairs": len(asked) // 2},
    )
    return judge("direction", [tree], options)


def read_pairs(path: Path) -> dict[QueryId, Asked]:
    """Read both queries of each pair."""
    asked = {}
    with open(path, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            for text, right, inverse in (
                (row["query"], row["name"], row["inverse_name"]),
                (row["inverse"], row["inverse_name"], row["name"]),
            ):
                asked[query_id(row["language"], text)] = Asked(text, right, inverse)
    return asked


def score(found: list[str], asked: Asked) -> dict[str, float]:
    """Score the results of one query; a function that was not found ranks last."""
    right, inverse = (
        found.index(name) if name in found else len(found) for name in (asked.right, asked.inverse)
    )
    return {"accuracy": float(right < inverse), "mrr": reciprocal_rank(found, {asked.right})}
