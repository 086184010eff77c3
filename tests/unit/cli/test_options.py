"""Options on the command line."""

from types import SimpleNamespace
from typing import Annotated, Any

import pytest
import typer

from codesearch.cli.index import IndexRunOptions
from codesearch.cli.invocation import Output
from codesearch.cli.main import COMMANDS, defaults_of, function_of
from codesearch.cli.options import _check_not_empty, with_options
from codesearch.cli.search import QueryOptions
from codesearch.errors import ConfigError
from codesearch.options import options_of
from codesearch.settings import Value


def test_a_setting_reaches_every_command_with_its_option():
    user = {
        "device": Value("cpu", "file"),
        "auto_index": Value(False, "file"),
        "refresh": Value(False, "file"),
        "hidden": Value(True, "file"),
        "hits": Value(5, "default"),
    }
    assert {command: options for command, options in defaults_of(user, COMMANDS).items() if options} == {
        "query": {"device": "cpu", "auto_index": False, "refresh": False},
        "similar": {"device": "cpu", "auto_index": False, "refresh": False},
        "index": {"device": "cpu"},
        "watch": {"device": "cpu"},
        "outline": {"auto_index": False, "refresh": False},
        "read": {"auto_index": False, "refresh": False},
        "usages": {"auto_index": False, "refresh": False},
        "duplicates": {"auto_index": False, "refresh": False},
        "history": {"auto_index": False},
        "mcp": {"auto_index": False},
        "lsp": {"auto_index": False},
    }


@pytest.fixture
def run():
    """Run a command with options of `index` or `query`, and return the options that it receives."""

    def run(record: type[Any], *arguments: str) -> Any:
        received: list[Any] = []

        def command(invocation: Any, words: Annotated[list[str], typer.Argument()], options: Any):
            received.append(options)
            yield Output()

        command.__annotations__["options"] = record
        app, facts = typer.Typer(), SimpleNamespace(arguments=["word", *arguments])
        app.command()(with_options(command))
        list(typer.main.get_command(app).main(["word", *arguments], standalone_mode=False, obj=facts))
        return received[0]

    return run


def test_a_command_receives_a_record_with_values_and_defaults(run):
    given = run(QueryOptions, "--lang", "go", "--lang", "c", "-C", "2")
    assert (given.lang, given.kind, given.context_lines, given.hits) == (("go", "c"), (), 2, None)
    assert (given.model, given.refresh, given.group) == (None, True, "")


def test_an_option_of_an_index_is_none_unless_it_is_given_and_an_empty_value_clears_it(run):
    given = run(IndexRunOptions, "--exclude", "", "--no-hidden")
    assert (given.exclude, given.hidden) == ((), False)
    assert (given.languages, given.ignore_files, given.max_file_mb) == (None, None, None)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-k", "0"], "-n must be from 1 to 1,000,000, not 0"),
        (["--min-confidence", "2"], "--min-confidence must be from 0 to 1, not 2.0"),
        (["--mode", "fuzzy"], "--mode must be one of hybrid, lexical, semantic, not 'fuzzy'"),
        (["--backend", "x"], "--backend must be one of local, milvus, not 'x'"),
    ],
)
def test_a_value_that_an_option_does_not_allow_is_an_error(run, arguments, message):
    with pytest.raises(ConfigError, match=message):
        run(QueryOptions, *arguments)


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["query", "a", "--at="], "the value of --at"),
        (["query", "a", "--at", ""], "the value of --at"),
        (["query", "a", "-n", ""], "the value of -n"),
        (["query", "a", "--path="], "the value of --path"),
        (["query", "a", "--group", ""], "the value of --group"),
        (["index", "--lang="], ""),
        (["index", ""], "an argument"),
        (["query", "a", "--", ""], "an argument"),
        (["index", "--exclude="], ""),
        (["index", "--exclude", ""], ""),
        (["query", "--", "--at="], ""),
        (["query", "a=", "b"], ""),
    ],
)
def test_an_empty_value_is_an_error_unless_it_clears_one(words, what):
    options = options_of(function_of(words[0])).values()
    if not what:
        _check_not_empty(words[1:], options)
        return
    with pytest.raises(ConfigError, match=f"^{what} is empty: give it a value, or leave it out$"):
        _check_not_empty(words[1:], options)
