"""Suite advtest on four functions, and its results in the format of CodeXGLUE."""

import json

import pytest

from codesearch.errors import ConfigError
from codesearch.evaluation.judge import BenchOptions
from training.evaluation import advtest

FUNCTIONS = [
    ("Convert an integer to a string", "def Func(arg_0): return str(arg_0) # integer string"),
    ("Read the lines of a file", "def Func(arg_0): return open(arg_0).read().splitlines() # lines"),
    ("Push an item", 'def Func(arg_0, arg_1):\n    """Push an item."""\n    arg_0.append(arg_1)'),
    ("Pop an item", "def Func(arg_0): return arg_0.pop()"),
]


def row(number: int) -> dict[str, object]:
    docstring, code = FUNCTIONS[number]
    return {
        "idx": number,
        "url": f"https://example.org/{number}",
        "docstring_tokens": docstring.split(),
        "docstring": f"{docstring}.\n\nMore.",
        "function": code,
        "code": "def original_name(): pass",
    }


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "advtest"
    folder.mkdir()
    (folder / "test.jsonl").write_text("".join(json.dumps(row(number)) + "\n" for number in range(4)))
    return folder


def test_the_normalised_code_without_documentation_is_searched(data):
    test_set = advtest.read_test_set(data)
    assert test_set.queries["https://example.org/0"] == "Convert an integer to a string"
    assert test_set.answers == {f"https://example.org/{number}": str(number) for number in range(4)}
    assert "original_name" not in "".join(test_set.codes.values())
    assert "Push" not in test_set.codes["2"] and "append" in test_set.codes["2"]


def test_every_function_of_the_set_is_ranked(data, home, tiny_bundle):
    result = advtest.run(BenchOptions(home=home, data=data, model=tiny_bundle, device="cpu"))
    assert (result.judged_queries, result.documents) == (4, 4)
    run = result.runs["bm25"]
    assert [run["python", f"https://example.org/{number}"][0] for number in (0, 1, 3)] == ["0", "1", "3"]
    assert sorted(run["python", "https://example.org/2"]) == ["0", "1", "2", "3"]
    # No code has "push" or "item": all tie at 0, and the right one ranks last among ties.
    assert result.systems["bm25"].metrics["mrr"]["python"] == pytest.approx((1 + 1 + 0.25 + 1) / 4)
    assert result.systems["bm25"].metrics["recall_at_1"]["python"] == 0.75


def test_results_are_written_in_the_format_of_codexglue(tmp_path):
    file = tmp_path / "mine.jsonl"
    advtest.write_predictions(file, {("python", "https://example.org/1"): ["3", "2", "f"]})
    assert json.loads(file.read_text()) == {"url": "https://example.org/1", "answers": [3, 2, "f"]}


def test_functions_of_a_separate_file_are_ranked(data):
    codes = [{"idx": number, "function": f"def Func(): return {number}"} for number in range(6)]
    (data / "test_code.jsonl").write_text("".join(json.dumps(code) + "\n" for code in codes))
    test_set = advtest.read_test_set(data)
    assert len(test_set.codes) == 6 and test_set.codes["5"] == "def Func(): return 5"
    (data / "test_code.jsonl").write_text(json.dumps(codes[0]) + "\n")
    with pytest.raises(ConfigError, match="no function 1, which a query asks for"):
        advtest.read_test_set(data)


def test_rows_without_a_url_are_identified_by_their_line(tmp_path):
    rows = [{"docstring": docstring, "code": code, "url": ""} for docstring, code in FUNCTIONS]
    (tmp_path / "python.test.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows))
    assert advtest.read_test_set(tmp_path).answers == {"0": "0", "1": "1", "2": "2", "3": "3"}


def test_a_repeated_url_is_refused(data):
    with (data / "test.jsonl").open("a") as file:
        file.write(json.dumps({**row(3), "idx": 9}) + "\n")
    with pytest.raises(ConfigError, match=r"test.jsonl:5: url https://example.org/3 stands there twice"):
        advtest.read_test_set(data)
