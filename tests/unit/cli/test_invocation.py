"""Facts about the calling process."""

from pathlib import Path
from typing import Any

import pytest

from codesearch.cli.invocation import Invocation, Output, outputs
from codesearch.engine.pool import Pool
from codesearch.errors import ConfigError


def invocation(**changes: Any) -> Invocation:
    facts = {
        "folder": "/work",
        "home": "/data",
        "user_home": "/me",
        "variables": {},
        "columns": 0,
        "lines": 0,
        "arguments": [],
        "stdin": None,
        "streams": [(True, "utf-8"), (False, "latin-1")],
    }
    return Invocation.of({**facts, **changes}, Pool())


@pytest.mark.parametrize(
    ("columns", "variables", "expected"),
    [(132, {}, 132), (0, {}, 80), (132, {"COLUMNS": "40"}, 40), (132, {"COLUMNS": "wide"}, 132)],
)
def test_the_width_is_that_of_the_callers_terminal(columns, variables, expected):
    assert invocation(columns=columns, variables=variables).terminal.width == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [("src", "/work/src"), ("/abs/x", "/abs/x"), ("~", "/me"), ("~/src", "/me/src"), (".", "/work")],
)
def test_a_path_is_relative_to_the_folder_or_home_of_the_caller(path, expected):
    assert invocation().path(Path(path)) == Path(expected)


def test_a_relative_home_is_below_the_callers_folder():
    assert invocation(home="indexes").engine().home == Path("/work/indexes")
    assert invocation().engine(Path("~/mine")).home == Path("/me/mine")


def test_an_error_is_the_last_output_and_sets_the_exit_code():
    def command():
        yield Output("half\n")
        raise ConfigError("no such folder: give another")

    parts = list(outputs(command()))
    assert parts == [Output("half\n"), Output(err="error: no such folder: give another\n", code=2)]
