import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from benchmarks.compare import compare, main, randomisation_test
from codesearch.errors import ConfigError
from codesearch.evaluation.data import QueryScores
from codesearch.evaluation.result import SuiteResult, summarise, write_json

BASE = {("go", f"q{number}"): {"mrr": 0.2 + number / 100, "ndcg_all": 0.5} for number in range(20)}


def written(path: Path, suite: str = "x", **systems: QueryScores) -> Path:
    found = {name: summarise(scores) for name, scores in systems.items()}
    write_json(path, SuiteResult(suite, found, judged_queries=1, documents=1), "codesearch bench")
    return path


def changed(by: float) -> QueryScores:
    return {query: {**scores, "mrr": scores["mrr"] + by} for query, scores in BASE.items()}


@pytest.mark.parametrize(("by", "verdict"), [(0.1, "better"), (-0.1, "worse"), (0.0, "the same scores")])
def test_the_verdict_says_which_is_better(tmp_path, by, verdict):
    mrr, ndcg = compare(written(tmp_path / "a", default=BASE), written(tmp_path / "b", default=changed(by)))
    assert (mrr.system, mrr.metric, mrr.verdict()) == ("default", "mrr", verdict)
    assert mrr.change() == pytest.approx(by)
    assert ndcg.verdict() == "the same scores"


def test_a_change_of_one_query_is_not_a_significant_difference(tmp_path):
    other = {**BASE, ("go", "q0"): {"mrr": 1.0, "ndcg_all": 0.5}}
    mrr, _ = compare(written(tmp_path / "a", default=BASE), written(tmp_path / "b", default=other))
    assert mrr.p["average"] == 1
    assert mrr.verdict() == "no difference shown"


def test_systems_with_different_names_are_paired_only_if_each_result_has_one(tmp_path):
    first = written(tmp_path / "a", mine=BASE)
    assert compare(first, written(tmp_path / "b", theirs=changed(0.1)))[0].system == "mine to theirs"
    with pytest.raises(ConfigError, match="no system in common: mine; theirs, others"):
        compare(first, written(tmp_path / "c", theirs=BASE, others=BASE))


def test_results_that_cannot_be_paired_are_refused(tmp_path):
    first = written(tmp_path / "a", default=BASE)
    with pytest.raises(ConfigError, match="is of suite x, .* of y"):
        compare(first, written(tmp_path / "b", suite="y", default=BASE))
    fewer = {query: scores for query, scores in BASE.items() if query[1] != "q0"}
    with pytest.raises(ConfigError, match="judge other queries for default"):
        compare(first, written(tmp_path / "c", default=fewer))


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"suite": "x", "systems": {"a": {}}}', '{"suite": 1, "systems": 2}']
)
def test_a_file_that_is_not_a_result_is_a_one_line_error(tmp_path, text):
    (tmp_path / "b").write_text(text)
    with pytest.raises(ConfigError, match="not what --json of a suite writes") as error:
        compare(written(tmp_path / "a", default=BASE), tmp_path / "b")
    assert "\n" not in str(error.value)


def test_a_result_keeps_every_score_in_its_json(tmp_path):
    fields = json.loads(written(tmp_path / "a", default=BASE).read_text())
    system = fields["systems"]["default"]
    assert system["mrr"] == pytest.approx({"go": 0.295, "average": 0.295})
    assert system["ci95"]["mrr"]["average"][0] < 0.295 < system["ci95"]["mrr"]["average"][1]
    assert (fields["queries"]["group"][1], fields["queries"]["text"][1]) == ("go", "q1")
    assert {metric: scores[1] for metric, scores in system["scores"].items()} == pytest.approx(
        BASE["go", "q1"]
    )


def scores_of(values: list[float], group: str = "go") -> dict[tuple[str, str], float]:
    return {(group, f"q{number:02}"): value for number, value in enumerate(values)}


def test_the_p_value_agrees_with_the_exact_one_over_all_swaps():
    first, second = [0.1, 0.4, 0.3, 0.5, 0.2, 0.6], [0.3, 0.5, 0.2, 0.9, 0.4, 0.8]
    differences = np.subtract(second, first)
    seen = abs(differences.sum()) - 1e-12
    exact = np.mean([abs(differences @ signs) >= seen for signs in product([-1, 1], repeat=6)])
    found = randomisation_test(scores_of(first), scores_of(second))
    assert found["go"] == pytest.approx(exact, abs=0.015)
    assert found["average"] == found["go"]


def test_scores_of_other_queries_are_refused():
    with pytest.raises(ValueError, match="cannot be paired"):
        randomisation_test(scores_of([1]), scores_of([1, 0]))


def test_the_command_prints_every_metric_and_refuses_a_missing_file(tmp_path, monkeypatch, capsys):
    file = str(written(tmp_path / "a", default=BASE))
    monkeypatch.setattr("sys.argv", ["compare", file, file])
    main()
    assert capsys.readouterr().out.count("the same scores") == 2
    monkeypatch.setattr("sys.argv", ["compare", file, str(tmp_path / "none")])
    with pytest.raises(SystemExit, match="2"):
        main()
    assert "none: No such file" in capsys.readouterr().err
