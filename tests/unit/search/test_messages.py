"""Messages that a program has printed find the text that they were made from, and its line."""

import time
from collections.abc import Callable

import pytest

from codesearch.search.literals import texts_in
from codesearch.search.request import SearchRequest
from codesearch.search.searcher import Searcher
from codesearch.search.snippets import snippet_lines
from tests.conftest import LONG_FUNCTION

STEPS = "".join(f"\tstep(sc, {number});\n" for number in range(40))
SPAWN = (
    "int\nspawn_window(struct spawn_context *sc, char **cause)\n{\n"
    + STEPS
    + '\tif (idx != -1) {\n\t\txasprintf(cause, "index %d in use", idx);\n\t\treturn (-1);\n\t}\n\treturn (0);\n}\n'
)
TREE = {
    "spawn.c": SPAWN,
    "window.c": 'int\nnew_window(char *cause)\n{\n\terror("create window failed: %s", cause);\n\treturn 1;\n}\n',
    "shape.py": LONG_FUNCTION
    + "    if queue.ndim == 1:\n        raise ValueError(\n"
    + "            f'Expected 2D array, got 1D array instead:\\narray={queue}.\\n'\n"
    + "            'Reshape your data.'\n        )\n"
    + LONG_FUNCTION.partition("\n")[2].replace("drop", "pop"),
    "Open.java": 'class Open {\n  void open(String path) {\n    throw new IOError("Cannot read " + path + '
    '" at offset " + this.at() + " of it");\n  }\n}\n',
    "stop.ts": "function stop(name: string) {\n  log(`worker ${name} has stopped by itself`);\n}\n",
    **{f"use_{n}.py": f"def use_{n}():\n    fail('file not found: %s' % name)\n" for n in range(6)},
}
FOUND = {
    "create window failed: index 5 in use": ("spawn_window", 45),
    "tmux: create window failed: index 5 in use": ("spawn_window", 45),
    "create window failed: no space on the device": ("new_window", 4),
    "ValueError: Expected 2D array, got 1D array instead": ("drain", 44),
    "my script says: Expected 2D array, got 1D array instead: array=[1, 2]. Reshape your data.": (
        "drain",
        44,
    ),
    "IOError: Cannot read /tmp/a.txt at offset 12 of it": ("Open.open", 3),
    "worker 'mail 7' has stopped by itself": ("stop", 2),
}
NOT_FOUND = (
    "how is index 5 in use",
    "index out of use",
    "array of 2 windows",
    "Error: file not found: a.txt",  # It is in too many places.
    "Worker has failed to stop",
)


@pytest.fixture
def searcher(searcher_of: Callable[..., Searcher]) -> Searcher:
    return searcher_of(TREE)


def test_a_message_finds_the_line_of_the_text_that_it_was_made_from(searcher):
    for query, (name, line) in FOUND.items():
        first, *others = searcher.answer(SearchRequest(query)).hits
        assert (first.qualified_name, first.best_line) == (name, line), query
        assert line - first.start_line in snippet_lines(first, query, "hybrid", 3), query
        assert not any(hit.signals["literal"] for hit in others), query


def test_questions_other_orders_and_texts_in_many_places_find_no_text(searcher):
    for query in NOT_FOUND:
        assert not any(hit.signals["literal"] for hit in searcher.answer(SearchRequest(query)).hits), query


def test_without_a_sign_of_a_message_five_words_of_the_text_are_needed(searcher_of):
    searcher = searcher_of(
        {"a.py": "def f():\n    fail('no more files')\n    fail('no more files can be read')\n"}
    )
    for query, count in {"Because no more files are there": 0, "Sorry no more files can be read": 1}.items():
        assert len(message_found(searcher, query)) == count, query
    assert message_found(searcher, "tool: no more files are there") == [2]


def message_found(searcher: Searcher, query: str) -> list[int]:
    return [hit.best_line for hit in searcher.answer(SearchRequest(query)).hits if hit.signals["literal"]]


def test_a_message_in_a_report_is_found_too(searcher):
    report = "Fitting fails since today\n\nIt worked before.\n\nValueError: Expected 2D array, got 1D array instead\n"
    first = searcher.answer(SearchRequest(report)).hits[0]
    assert (first.qualified_name, first.best_line) == ("drain", 44)


def test_hostile_strings_take_time_in_proportion_to_their_length():
    started = time.process_time()
    said = " index 5 in use" * 15 + " "
    for hostile in (
        '"a" + ' * 20_000,
        '"' + "%s " * 20_000 + '"',
        '"index' + " %s in use" * 500 + '"',
        "'" * 50_000,
    ):
        list(texts_in(hostile, said))
    assert time.process_time() - started < 5


def test_a_query_of_one_long_word_takes_time_in_proportion_to_its_length(searcher: Searcher) -> None:
    started = time.process_time()
    for hostile in ("a1" * 30_000, "aB" * 30_000, "a(" * 50_000):
        searcher.answer(SearchRequest(hostile))
    assert time.process_time() - started < 5
