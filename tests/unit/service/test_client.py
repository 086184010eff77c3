"""The home that a command line names, and the address of its socket."""

import os

import pytest

from codesearch.service.client import named_home, socket_path, with_address


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["query", "x"], "/default"),
        (["query", "x", "--home", "a"], "a"),
        (["query", "--home=b", "x"], "b"),
        (["query", "--home", "a", "x", "--home=~/c"], "/user/c"),
        (["query", "x", "--home"], "/default"),
        (["query", "x", "--home="], "/default"),
    ],
    ids=str,
)
def test_the_last_home_option_or_the_default_is_used(monkeypatch, arguments, expected):
    monkeypatch.setenv("CODESEARCH_HOME", "/default")
    monkeypatch.setenv("HOME", "/user")
    assert named_home(arguments) == expected


@pytest.mark.parametrize(("length", "expected"), [(10, None), (200, "socket")])
def test_a_long_path_is_opened_relative_to_its_folder(tmp_path, monkeypatch, length, expected):
    monkeypatch.chdir(tmp_path)
    home = "x" * length
    os.makedirs(os.path.dirname(socket_path(home)))
    seen = []
    with_address(home, lambda address: seen.append((address, os.getcwd())))
    inside = str(tmp_path / home / "service")
    assert seen == [(expected or socket_path(home), inside if expected else str(tmp_path))]
    assert os.getcwd() == str(tmp_path)
