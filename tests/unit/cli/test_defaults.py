"""Settings become the defaults of the commands that have the option."""

from __future__ import annotations

from codesearch.cli.defaults import defaults_of
from codesearch.settings import Value


def test_a_setting_reaches_every_command_with_its_option():
    user = {"device": Value("cpu", "file"), "auto_index": Value(False, "file"), "hits": Value(5, "default")}
    assert defaults_of(user) == {
        "query": {"device": "cpu", "auto_index": False},
        "similar": {"device": "cpu", "auto_index": False},
        "index": {"device": "cpu"},
        "watch": {"device": "cpu"},
        "mcp": {"auto_index": False},
        "status": {},
    }
