"""A text names the same definition on every surface: query, read, outline, similar, usages and history."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from codesearch.engine.engine import Engine
from codesearch.engine.scope import Scope
from codesearch.engine.session import AS_INDEXED
from tests.git import repository

TREE = {
    "app/stack.py": "# Stacks.\n\n\nclass Stack:\n    limit = 3\n\n"
    "    def push(self, item):\n        return [item]\n\n\n"
    "def read_lines(path):\n    return path\n",
    "app/heap.py": "class Heap:\n    def push(self, item):\n        return [self, item]\n",
    "tests/test_stack.py": "def push():\n    return 1\n",
}
STACK, PUSH, HEAP = "app/stack.py:4", "app/stack.py:7", "app/heap.py:2"
TEXTS = {
    "Stack": [STACK],
    "stack": [STACK],
    "class Stack": [STACK],
    "Stack class": [STACK],
    "where is Stack defined?": [STACK],
    "Stack.push": [PUSH],
    "Stack::push": [PUSH],
    "Stack#push": [PUSH],
    "Stack->push": [PUSH],
    "stack.push": [PUSH],
    "Stack.push(item)": [PUSH],
    "stack.Stack.push": [PUSH],
    "app.stack.Stack.push": [PUSH],
    "project.app.stack.Stack.push": [PUSH],
    "self.push": [HEAP, PUSH, "tests/test_stack.py:1"],
    "push": [HEAP, PUSH, "tests/test_stack.py:1"],
    "method push": [HEAP, PUSH],
    "readLines": ["app/stack.py:11"],
    "read_lines()": ["app/stack.py:11"],
    "app/stack.py:8": [PUSH],
    "stack.py:8:5": [PUSH],
    "./app/stack.py:8": [PUSH],
    "app\\stack.py:8": [PUSH],
    "project/app/stack.py:8": [PUSH],
    "app/stack.py::push": [PUSH],
    "stack.py::Stack.push": [PUSH],
    "stack.py::Stack::push": [PUSH],
    "stack.py::stack.push": [PUSH],
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return repository(tmp_path_factory.mktemp("agree") / "project", TREE)


@pytest.fixture(scope="module")
def engine(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    engine = Engine(tmp_path_factory.mktemp("home"))
    engine.index(root)
    yield engine
    engine.close()


@pytest.fixture
def answers(engine: Engine, root: Path) -> dict[str, Callable[[str], list[str]]]:
    scope = Scope((root,), here=root)

    def query(text: str) -> list[str]:
        hits = engine.search(text, scope, refresh=False).hits
        best = max(max(hit.signals["name"], hit.signals["path"]) for hit in hits)
        assert best >= 0.5
        named = [hit for hit in hits if max(hit.signals["name"], hit.signals["path"]) == best]
        return [f"{hit.path}:{hit.start_line}" for hit in named]

    def read(text: str) -> list[str]:
        return [
            f"{reading.path}:{reading.definition.start_line if reading.definition else reading.first_line}"
            for reading in engine.session(scope).read(text).places
        ]

    def outline(text: str) -> list[str]:
        heads = [outline.entries[0] for outline in engine.session(scope).outline(text).places]
        return [f"{entry.path}:{entry.definition.start_line if entry.definition else 1}" for entry in heads]

    def find(text: str) -> list[str]:
        return [
            f"{place.path.relative_to(root).as_posix()}:{place.line}"
            for place in engine.session(scope).find(text)
        ]

    def usages(text: str) -> list[str]:
        definitions = engine.session(scope, AS_INDEXED).usages(text).found.definitions
        return [f"{definition.path}:{definition.start_line}" for definition in definitions]

    return {"query": query, "read": read, "outline": outline, "find": find, "usages": usages}


@pytest.mark.parametrize("text", TEXTS)
def test_every_surface_names_the_same_definition(answers, text):
    found = {name: sorted(answer(text)) for name, answer in answers.items()}
    assert found == dict.fromkeys(answers, sorted(TEXTS[text]))


@pytest.mark.parametrize("text", [text for text, expected in TEXTS.items() if len(expected) == 1])
def test_similar_and_history_begin_at_the_same_definition(engine, root, text):
    scope = Scope((root,), here=root)
    (expected,) = TEXTS[text]
    assert engine.session(scope, AS_INDEXED).similar(text).query == str(root / expected)
    answer = engine.session(scope).history(place=text)
    assert (answer.path, len(answer.hits)) == (expected.partition(":")[0], 1)


def test_lines_are_shown_as_they_are_and_stand_for_the_definition_around_the_first(answers):
    found = {name: answer("app/stack.py:8-12") for name, answer in answers.items() if name != "outline"}
    assert found == {"query": [PUSH], "find": [PUSH], "usages": [PUSH], "read": ["app/stack.py:8"]}
