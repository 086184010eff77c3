"""The start of sections in configuration files."""

import pytest

from codesearch.languages import record_of
from codesearch.parsing.sections import setting_cuts

CASES = {
    "toml": (
        'name = 1\n[project]\nkeys = [\n["a", "b"],\n]\n  [tool."my tool".x]  # why\n[[points]]\n',
        [(1, "project"), (6, "points")],
    ),
    "ini": (
        '; top\n[tox]\n[testenv:docs]\ncommands =\n    [no]\n[include "x"]\n',
        [(1, "tox"), (2, "testenv:docs"), (5, "include x")],
    ),
    "yaml": (
        "# top: no\non:\n  push:\njobs:\n  - a: 1\n'quoted key': x\nurl: http://a\n- b: 1\nhttp://no\n",
        [(1, "on"), (3, "jobs"), (5, "quoted key"), (6, "url")],
    ),
    "json": (
        '{\n  "name": "x",\n  "scripts": {\n    "test": "y"\n  },\n  "a.b" : 1\n}',
        [(1, "name"), (2, "scripts"), (5, "a.b")],
    ),
    "dockerfile": (
        "ARG V=1\nFROM python:3 AS build\nRUN x\nfrom --platform=linux/amd64 alpine\n",
        [(1, "build"), (3, "alpine")],
    ),
    "makefile": (
        "CC := gcc\nX ?= a:b\nall: build\n\tmake x: y\nbuild/%.o: %.c\nclean::\n$(BIN)/x y: z\n",
        [(2, "all"), (4, "build/%.o"), (5, "clean"), (6, "$(BIN)/x y")],
    ),
    "dotenv": ("KEY=\n[no]\nno:\n", []),
}


@pytest.mark.parametrize("language", CASES)
def test_sections_of_a_language(language):
    text, expected = CASES[language]
    assert [
        (cut.row, cut.title) for cut in setting_cuts(text.split("\n"), record_of(language).section)
    ] == expected
