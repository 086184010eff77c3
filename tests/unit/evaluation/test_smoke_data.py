"""Data of the smoke suite: judged functions exist, and statements of its README are true."""

import csv
from collections import Counter
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from codesearch.evaluation.data import query_id, read_annotations, read_queries
from codesearch.evaluation.suites import LANGUAGES, SMOKE, sample_tree
from codesearch.languages import language_named, load_parser
from codesearch.languages.records import Language
from codesearch.parsing.extract import extract
from codesearch.types import FUNCTIONS, Document


def spec_of(language: str) -> Language:
    return language_named(language)


@cache
def sources() -> dict[str, bytes]:
    with TemporaryDirectory() as home, sample_tree(SMOKE, Path(home)) as root:
        return {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.glob("*/*"))}


@cache
def functions() -> list[Document]:
    found = []
    for path, source in sources().items():
        found += extract(source, path, spec_of(path.split("/")[0])).documents
    return [document for document in found if document.kind in FUNCTIONS]


@cache
def qrels() -> dict[tuple[str, str], dict[str, float]]:
    return read_annotations(SMOKE / "annotations.csv", "Path", "Name")


def pairs() -> list[tuple[str, str]]:
    with open(SMOKE / "pairs.csv", encoding="utf-8", newline="") as file:
        return [(row["query"], row["inverse"]) for row in csv.DictReader(file)]


def answers(language: str, query: str) -> set[str]:
    grades = qrels().get(query_id(language, query), {})
    return {document for document, grade in grades.items() if grade == 3}


def test_every_source_parses_without_an_error():
    parsed = {
        path: load_parser(spec_of(path.split("/")[0])).parse(source) for path, source in sources().items()
    }
    assert len(parsed) == 38 and [path for path, tree in parsed.items() if tree.root_node.has_error] == []


def test_every_judged_function_exists_in_the_language_of_its_query():
    known = {f"{document.path} {document.qualified_name}": document.language for document in functions()}
    for (language, query), grades in qrels().items():
        for document in grades:
            assert known.get(document) == language, f"{query!r}: {document}"


def test_every_query_is_judged_and_has_an_answer_in_each_of_its_languages():
    asked = {query_id("", query)[1] for query in read_queries(SMOKE / "queries.csv")}
    assert {query for _, query in qrels()} == asked
    assert [query for query in qrels() if not answers(*query)] == []


def test_no_function_is_judged_twice_for_a_query():
    with open(SMOKE / "annotations.csv", encoding="utf-8", newline="") as file:
        rows = [(row["Language"], row["Query"], row["Path"], row["Name"]) for row in csv.DictReader(file)]
    assert [row for row, count in Counter(rows).items() if count > 1] == []


def test_both_directions_of_a_pair_are_asked_and_the_inverse_is_not_an_answer():
    asked = read_queries(SMOKE / "queries.csv")
    assert len(pairs()) >= 30
    for query, inverse in pairs():
        assert query in asked and inverse in asked
        judged_both = 0
        for language in LANGUAGES:
            there, back = answers(language, query), answers(language, inverse)
            judged_both += bool(there - back and back - there)
            for wanted, others in ((query, back - there), (inverse, there - back)):
                grades = qrels().get(query_id(language, wanted), {})
                assert [other for other in others if grades.get(other, 0)] == [], wanted
        assert judged_both, (query, inverse)
