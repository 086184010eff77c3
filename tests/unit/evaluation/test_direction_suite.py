"""Suite `direction`: its data agrees with its README, and the ranking reaches a minimum accuracy."""

import csv
from collections import Counter

from codesearch.evaluation.judge import BenchOptions
from codesearch.evaluation.metrics import AVERAGE
from codesearch.evaluation.suites import (
    DIRECTION,
    LANGUAGES,
    Conversion,
    direction,
    read_pairs,
    sample_tree,
    score_direction,
)
from codesearch.languages import language_named, load_parser
from codesearch.parsing.extract import extract

BAR = 0.9
"""Minimum accuracy. Without the direction rule, accuracy is about 0.5."""


def test_there_are_enough_pairs_and_each_names_two_functions_of_its_language(tmp_path):
    names = Counter()
    with sample_tree(DIRECTION, tmp_path) as root:
        for path in sorted(root.glob("*/*")):
            spec = language_named(path.parent.name)
            assert not load_parser(spec).parse(path.read_bytes()).root_node.has_error
            found = extract(path.read_bytes(), path.name, spec).documents
            names.update((spec.name, document.qualified_name) for document in found)
    with open(DIRECTION / "pairs.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) >= 60
    assert sorted({row["language"] for row in rows}) == list(LANGUAGES)
    asked = [(row["language"], row[column]) for row in rows for column in ("name", "inverse_name")]
    assert [name for name in asked if names[name] != 1] == []
    assert len(set(asked)) == len(asked)


def test_both_queries_of_a_pair_are_asked_as_written():
    asked = read_pairs(DIRECTION / "pairs.csv")
    assert asked["java", "convert localdatetime to date"] == Conversion(
        "convert LocalDateTime to Date", "Conversions.asDate", "Conversions.asLocalDateTime"
    )
    assert asked["go", "convert string to int"].inverse == "Itoa"


def test_a_function_that_is_not_found_scores_zero():
    asked = Conversion("", "right", "wrong")
    assert score_direction(["x", "right", "wrong"], asked) == {"accuracy": 1.0, "mrr": 0.5}
    assert score_direction(["wrong", "right"], asked)["accuracy"] == 0.0
    assert score_direction(["x"], asked) == {"accuracy": 0.0, "mrr": 0.0}


def test_the_conversion_asked_for_ranks_above_its_inverse(tmp_path):
    systems = direction(BenchOptions(home=tmp_path, device="cpu")).systems
    assert systems["default"].metrics["accuracy"][AVERAGE] >= BAR
    assert systems["fused"].metrics["accuracy"][AVERAGE] < 0.6
    assert systems["default"].metrics["screen"][AVERAGE] == 1.0
