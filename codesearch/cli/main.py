"""The command line: what runs, what is caught, what it exits with.

Exit codes: 0 there are hits (or the work is done), 1 there are none, 2 an error, 130 interrupted. A reader
that closes the pipe early is not an error.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Annotated, ParamSpec

import typer

import codesearch
from codesearch.cli.output import INTERRUPTED, failed_output
from codesearch.errors import CodeSearchError

P = ParamSpec("P")

COMMANDS = ("index", "query", "similar", "serve", "status", "remove", "doctor", "bench")
"""Each the name of a module beside this one and of the function in it."""


def guarded(command: Callable[P, int]) -> Callable[P, None]:
    """Turn a command's result or error into an exit code; errors are one line on stderr."""

    @functools.wraps(command)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            code = command(*args, **kwargs)
            sys.stdout.flush()
        except CodeSearchError as error:
            print(f"error: {error}", file=sys.stderr)
            code = 2
        except KeyboardInterrupt:
            print(INTERRUPTED, file=sys.stderr)
            code = 130
        except OSError as error:
            code = failed_output(error)
        raise typer.Exit(code)

    return wrapper


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"codesearch {codesearch.__version__}")
        raise typer.Exit


def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Offline semantic search over local codebases."""


def make_app(commands: Iterable[str] = COMMANDS) -> typer.Typer:
    """Make the command line; with some of its commands it starts quicker."""
    app = typer.Typer(
        name="codesearch",
        help="Offline semantic search over local codebases.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(main)
    for name in commands:
        app.command()(guarded(getattr(import_module(f"codesearch.cli.{name}"), name)))
    return app
