"""The table of options on the command line."""

from __future__ import annotations

from codesearch.cli.main import COMMANDS
from codesearch.cli.options import defaults_of
from codesearch.settings import Value


def test_a_setting_reaches_every_command_with_its_option():
    user = {
        "device": Value("cpu", "file"),
        "auto_index": Value(False, "file"),
        "hidden": Value(True, "file"),
        "hits": Value(5, "default"),
    }
    assert {command: options for command, options in defaults_of(user, COMMANDS).items() if options} == {
        "query": {"device": "cpu", "auto_index": False},
        "similar": {"device": "cpu", "auto_index": False},
        "index": {"device": "cpu"},
        "watch": {"device": "cpu"},
        "mcp": {"auto_index": False},
    }
