"""Trees of renamed functions, and the tables of growing indexes."""

import argparse
import json

import pytest

from benchmarks import growth
from benchmarks.growth import measure
from benchmarks.renamed import exchanged, frequent_first, rename, write_renamed
from codesearch.config import WalkConfig
from codesearch.parsing.walker import WalkSummary, walk
from tests.conftest import write_tree


def test_keywords_and_short_words_are_not_renamed():
    words = frequent_first(["def read_lines(path): return path.readLines()", "for (;;) readLines()"])
    assert words == ["lines", "read", "path"]
    assert (
        rename("return readLines(Path, id)", {"read": "open", "path": "file"}) == "return openLines(File, id)"
    )


def test_words_are_exchanged_for_similarly_frequent_ones_that_differ_in_each_copy():
    words = [f"{chr(97 + number % 26) * 3}{chr(97 + number // 26)}" for number in range(300)]
    first, second = exchanged(words, 1), exchanged(words, 2)
    assert sorted(first.values()) == sorted(words)
    assert first != second
    assert first == exchanged(words, 1)
    rank = {word: number for number, word in enumerate(words)}
    assert max(abs(rank[word] - rank[other]) for word, other in first.items()) < 64


def test_a_tree_is_repeated_with_other_names_up_to_the_number_of_documents(tmp_path):
    sources = write_tree(
        tmp_path / "sources",
        {
            "a.py": "def read_lines(path):\n    pass\n\ndef write_lines(path):\n    pass\n",
            "b.go": "package p\n\nfunc OpenFile() {}\n",
            "c.txt": "not code",
        },
    )
    tree = tmp_path / "tree"
    assert write_renamed(sources, tree, 9) == 6
    files = [file.path for file in walk(tree, WalkConfig(), WalkSummary())]
    texts = [(tree / path).read_text() for path in files]
    assert sorted(path.rpartition(".")[2] for path in files) == ["go", "go", "go", "py", "py", "py"]
    assert len(set(texts)) > 2
    assert {text.split("(")[0].split()[0] for text in texts} == {"def", "package"}


def test_a_step_that_was_measured_is_not_repeated(tmp_path, monkeypatch):
    runs: list[str] = []
    monkeypatch.setattr(growth, "measured", _counted(runs, growth.measured))
    options = argparse.Namespace(
        sources=tmp_path, queries=tmp_path / "q.csv", work=tmp_path / "work", graph_up_to=10
    )
    first = measure(10, options)
    again = measure(10, options)
    assert runs == list(growth.STEPS)
    assert first == again
    assert first["hnsw"]["found"] == 1
    assert measure(11, options).keys() == {"size", "tree", "exact", "exact_query"}, "no graph above the limit"
    assert json.loads((tmp_path / "work/10/tree.json").read_text())["found"] == 1


def _counted(runs, real):
    def run(command, **_):
        runs.append(command[-1])
        return real([command[0], "-c", "print('{\"found\": 1}')"])

    return run


def test_a_step_that_fails_stops_the_run_with_its_message(tmp_path, monkeypatch):
    real = growth.measured
    monkeypatch.setattr(
        growth, "measured", lambda command, **_: real([command[0], "-c", "raise SystemExit('full')"])
    )
    options = argparse.Namespace(sources=tmp_path, queries=tmp_path, work=tmp_path, graph_up_to=10)
    with pytest.raises(SystemExit, match="full"):
        measure(10, options)


def test_every_step_runs_on_a_small_tree(tmp_path):
    pytest.importorskip("hnswlib")
    sources = tmp_path / "sources"
    text = "".join(
        f"def read_{number}(path):\n    return open(path).read({number})\n\n" for number in range(300)
    )
    write_tree(sources, {"a.py": text})
    queries = tmp_path / "queries.csv"
    queries.write_text("query\nread a file\nopen path\n")
    options = argparse.Namespace(sources=sources, queries=queries, sizes=[400])
    place = tmp_path / "place"
    found = {name: step(options, place) for name, step in growth.STEPS.items()}
    assert found["exact"]["documents"] == 600
    assert found["hnsw"]["graph_mb"] > 0
    assert found["hnsw_query"]["recall_at_10"] == 1.0
    assert found["exact_query"]["p50_ms"] > 0
    assert found["exact_query"]["check_ms"] > 0
