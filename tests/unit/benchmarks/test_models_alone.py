import json

import numpy as np
import pytest

zstandard = pytest.importorskip("zstandard")

from benchmarks.models_alone import answers_and_others, judged_texts, mrr, within  # noqa: E402

COMMIT = "c0ffee00" * 5
URL = f"https://github.com/o/n/blob/{COMMIT}/src/x.py#L{{}}-L{{}}"
WORDS = ("sort", "parse", "list", "header")


def embed(texts):
    """A dimension a word that occurs."""
    found = np.array([[float(word in text) for word in WORDS] for text in texts], dtype=np.float32)
    return found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1)


def pack(path, rows):
    path.write_bytes(zstandard.compress("\n".join(map(json.dumps, rows)).encode()))


def test_judged_functions_are_extracted_and_no_others(tmp_path):
    text = "def sort_list(xs):\n    return sorted(xs)\n\n\ndef parse_header(text):\n    return text.split()\n"
    row = {"repo": "o/n", "sha": COMMIT, "path": "src/x.py", "language": "python", "text": text}
    pack(tmp_path / "pack.jsonl.zst", [row, {**row, "path": "src/y.py"}])
    qrels = {("python", "sort a list"): {URL.format(1, 2): 3.0, URL.format(40, 44): 2.0}}
    found = judged_texts(tmp_path / "pack.jsonl.zst", qrels)
    assert list(found) == [URL.format(1, 2)]
    assert found[URL.format(1, 2)].startswith("sort_list")


def test_the_order_within_judged_functions_is_scored():
    texts = {URL.format(1, 2): "sort list", URL.format(5, 6): "parse header"}
    right = {("python", "sort list"): {URL.format(1, 2): 3.0, URL.format(5, 6): 1.0, URL.format(40, 44): 2.0}}
    wrong = {("python", "sort list"): {URL.format(1, 2): 1.0, URL.format(5, 6): 3.0}}
    assert within(right, texts, embed, embed)["average"] == 1.0
    assert within(wrong, texts, embed, embed)["average"] < 0.9


def test_each_question_is_asked_among_all_functions():
    functions = {"a": "sort list", "b": "parse header", "c": "parse list"}
    assert mrr(functions, {"sort list": "a", "parse header": "b"}, embed, embed) == 1.0
    assert mrr(functions, {"sort list": "c"}, embed, embed) == 0.5


def test_answers_stay_among_the_drawn_functions(tmp_path):
    functions = [
        {"id": str(number), "code": f"def f{number}():\n    'Doc.'\n    pass"} for number in range(900)
    ]
    pack(tmp_path / "codebase.jsonl.zst", functions)
    questions = [{"query": f"ask {number}", "codebase_id": str(number)} for number in (7, 800)]
    pack(tmp_path / "retrieval_dev.jsonl.zst", questions)
    drawn, answers = answers_and_others(tmp_path)
    assert answers == {"ask 7": "7", "ask 800": "800"}
    assert len(drawn) == 802 and {"7", "800"} <= drawn.keys()
    assert drawn["7"].startswith("f7\nDoc.\n")
