"""How well one annotator of the 99 queries foretells the others, and how well the product does.

    python -m benchmarks.agreement --data CSN99 [--upgrade]

Of each function that several people graded for a query, one grade is drawn and set apart, and the mean of the others
counts. A query's functions are then put in order by the grades set apart, equal ones by chance, and by each system. The
grades do not say whose they are, so "one annotator" may be another for each function.

Also told: how far the best order of what was extracted would come, and where the functions of each grade stand.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean, stdev

from benchmarks.record import record
from codesearch.evaluation.download import ANNOTATIONS
from codesearch.evaluation.metrics import ndcg, ndcg_within
from codesearch.evaluation.options import BenchOptions
from codesearch.evaluation.qrels import Grades, Qrels, Run, read_grades
from codesearch.evaluation.result import summarise
from codesearch.evaluation.significance import AVERAGE
from codesearch.evaluation.suites import run_suite

ANNOTATOR, CHANCE = "one annotator", "chance"
_FEWEST = 3
"""Fewer functions of a query have no order to speak of."""
_DRAWS = 200


def main() -> None:
    """Run the benchmark, judge people and systems alike."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the 99 queries")
    parser.add_argument("--upgrade", action="store_true", help="also with the larger model's vectors")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        found = run_suite(
            "csn99", BenchOptions(home=Path(home), data=arguments.data, upgrade=arguments.upgrade)
        )
    grades = graded_by_several(read_grades(arguments.data / ANNOTATIONS), found.names)
    scores = {
        query: score(of_query, {name: run.get(query, []) for name, run in found.runs.items()})
        for query, of_query in grades.items()
    }
    names = next(iter(scores.values()))
    record(
        "agreement",
        {
            "queries": len(grades),
            "functions": sum(map(len, grades.values())),
            "ndcg_within": {name: round(mean(of[name] for of in scores.values()), 4) for name in names},
            "above_one_annotator": {
                name: _difference([of[name] - of[ANNOTATOR] for of in scores.values()]) for name in found.runs
            },
            "within_of_all_that_were_extracted": reachable(found.qrels, found.names),
            "in_first_ten_by_grade": {name: in_first(run, found.qrels) for name, run in found.runs.items()},
        },
        flat=True,
    )


def graded_by_several(grades: Grades, extracted: Mapping[str, str]) -> Grades:
    """Keep functions that the index has and several people graded, of queries with enough of them.

    One of them must be relevant to two people, so that it is still when either's grade is set apart.
    """
    kept = {
        query: {url: given for url, given in of_query.items() if len(given) > 1 and url in extracted}
        for query, of_query in grades.items()
    }
    return {
        query: of_query
        for query, of_query in kept.items()
        if len(of_query) >= _FEWEST and any(sum(given) > max(given) for given in of_query.values())
    }


def score(grades: Mapping[str, Sequence[float]], runs: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """Return the mean NDCG within a query's graded functions of one annotator, of chance and of each run."""
    chance = random.Random(0)
    found: dict[str, list[float]] = defaultdict(list)
    for _ in range(_DRAWS):
        set_apart, truth = {}, {}
        for url, given in grades.items():
            drawn = chance.randrange(len(given))
            set_apart[url] = given[drawn]
            truth[url] = mean([*given[:drawn], *given[drawn + 1 :]])
        if not any(truth.values()):
            continue
        shuffled = chance.sample(list(grades), len(grades))
        found[CHANCE].append(ndcg(shuffled, truth))
        found[ANNOTATOR].append(ndcg(sorted(shuffled, key=set_apart.__getitem__, reverse=True), truth))
        for name, run in runs.items():
            found[name].append(ndcg_within(run, truth))
    return {name: mean(values) for name, values in found.items()}


def reachable(qrels: Qrels, extracted: Mapping[str, str]) -> float:
    """Return the NDCG of the best order of the judged functions that the index has, averaged as the benchmark does."""
    best = {
        query: {
            "ndcg_within": ndcg(
                sorted(extracted.keys() & grades, key=grades.__getitem__, reverse=True), grades
            )
        }
        for query, grades in qrels.items()
    }
    return round(summarise(best).metrics["ndcg_within"][AVERAGE], 4)


def in_first(run: Run, qrels: Qrels, count: int = 10) -> dict[int, float]:
    """Return the share of the functions of each grade, rounded, that are among the first answers to their query."""
    found: dict[int, list[bool]] = defaultdict(list)
    for query, grades in qrels.items():
        first = set(run.get(query, [])[:count])
        for url, grade in grades.items():
            found[round(grade)].append(url in first)
    return {grade: round(mean(of_grade), 4) for grade, of_grade in sorted(found.items())}


def _difference(values: Sequence[float]) -> list[float]:
    """Return the mean of paired differences and its 95% interval's half."""
    return [round(mean(values), 4), round(1.96 * stdev(values) / len(values) ** 0.5, 4)]


if __name__ == "__main__":
    main()
