"""Suite forms on two small repositories."""

import pytest

from benchmarks.suites import forms
from codesearch.errors import ConfigError
from codesearch.evaluation.judge import BenchOptions
from tests.conftest import write_tree

SOURCES = {
    "one/src/stack.py": "class Stack:\n    def push(self, item):\n        # Put the item above all others.\n"
    "        self.items.append(item)\n\n    def pop(self):\n        if not self.items:\n"
    "            raise IndexError('there is nothing to pop here')\n        return self.items.pop()\n",
    "one/src/io.py": "def load(path):\n    return open(path).read()\n\n\ndef push(path):\n    return load(path)\n",
    "two/lib/queue.rb": "class Queue\n  def add(item)\n    @items << item\n  end\nend\n",
}


def run(data, home, bundle):
    return forms.run(data, BenchOptions(home=home, model=bundle, device="cpu"))


def test_every_form_is_asked_and_the_same_files_give_the_same_queries(tmp_path, home, tiny_bundle):
    data = write_tree(tmp_path / "data", SOURCES)
    result = run(data, home, tiny_bundle)
    texts = set(result.queries.values())
    assert {
        "class Stack",
        "Stack.pop",
        "push()",
        "Queue class",
        "queue.rb",
        "lib/queue.rb",
        "Queue#add",
    } <= texts
    assert {"Put the item above all others.", "there is nothing to pop here"} <= texts
    assert result.systems["default"].metrics["accuracy"] == {**dict.fromkeys((*forms.FORMS, "average"), 1.0)}
    assert result.systems["default"].metrics["screen"]["average"] == 1.0
    assert run(data, home, tiny_bundle).queries == result.queries


def test_a_kind_and_the_names_around_decide_what_is_right(tmp_path, home, tiny_bundle):
    result = run(write_tree(tmp_path / "data", SOURCES), home, tiny_bundle)
    first = {query: found[0] for query, found in result.runs["default"].items()}
    assert first["keyword", "class stack"] == "src/stack.py:1:Stack"
    assert first["qualified", "stack.pop"] == "src/stack.py:6:Stack.pop"
    assert first["string", "there is nothing to pop here"] == "src/stack.py:6:Stack.pop"


def test_a_folder_without_repositories_is_one_error(tmp_path, home, tiny_bundle):
    (tmp_path / "empty/one").mkdir(parents=True)
    with pytest.raises(ConfigError, match="empty/one: there is nothing to ask"):
        run(tmp_path / "empty", home, tiny_bundle)
