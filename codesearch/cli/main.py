"""The command line: what runs, what is caught, what it exits with.

Exit codes: 0 there are hits (or the work is done), 1 there are none, 2 an error, 130 interrupted. A reader that closes
the pipe early is not an error.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec

import typer

import codesearch
from codesearch.cli.defaults import defaults_of
from codesearch.cli.invocation import Invocation, Output, merged, outputs
from codesearch.cli.output import INTERRUPTED, failed_output, write_output
from codesearch.errors import CodeSearchError
from codesearch.service.facts import facts

if TYPE_CHECKING:
    from codesearch.engine.opened import Opened

P = ParamSpec("P")
COMMANDS = ("index", "query", "similar", "serve", "status", "config", "export", "remove", "doctor", "bench")
"""Each the name of a module beside this one and of the function in it."""
_HELP = {"--help", "-h", "--version", "-V"}


def run(arguments: Sequence[str], commands: Iterable[str] = COMMANDS) -> None:
    """Run a command line of this process, print what it gives, and exit."""
    invocation = Invocation.of(facts())
    make_app(_printed, commands)(
        list(arguments), prog_name="codesearch", obj=invocation, default_map=_defaults(invocation, arguments)
    )


def _defaults(invocation: Invocation, arguments: Sequence[str]) -> dict[str, Any]:
    """Return what settings say of options; exit where they are wrong, unless the user asks for help."""
    try:
        return defaults_of(invocation.settings())
    except CodeSearchError as error:
        if not _HELP.isdisjoint(arguments):
            return {}
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)


class Answering:
    """Runs command lines of other processes; safe to use from several threads."""

    def __init__(self, opened: Opened, commands: Iterable[str]) -> None:
        """Take the commands that may be asked for, and what is open for all of them."""
        self._opened = opened
        self._command = typer.main.get_command(make_app(_gathered, commands))

    def __call__(self, facts: dict[str, Any]) -> Output:
        """Return what a command line prints for the process with these facts."""
        invocation = Invocation.of(facts, self._opened)
        output = self._command.main(
            list(facts["arguments"]),
            prog_name="codesearch",
            standalone_mode=False,
            obj=invocation,
            default_map=defaults_of(invocation.settings()),
        )
        if not isinstance(output, Output):  # Help, for example.
            raise TypeError(f"{facts['arguments']} gives no output")
        return output


def _printed(command: Callable[P, Iterator[Output]]) -> Callable[P, None]:
    """Print what a command gives as it comes, and exit with its code."""

    @functools.wraps(command)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> None:
        code = 0
        try:
            for output in outputs(command, *args, **kwargs):
                sys.stderr.write(output.err)
                write_output(output.out)
                code = output.code
        except KeyboardInterrupt:
            print(INTERRUPTED, file=sys.stderr)
            code = 130
        except OSError as error:
            code = failed_output(error)
        raise typer.Exit(code)

    return wrapper


def _gathered(command: Callable[P, Iterator[Output]]) -> Callable[P, Output]:
    """Return all that a command gives."""

    @functools.wraps(command)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> Output:
        return merged(list(outputs(command, *args, **kwargs)))

    return wrapper


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"codesearch {codesearch.__version__}")
        raise typer.Exit


def main(
    version: Annotated[
        bool,
        typer.Option("--version", "-V", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Offline semantic search over local codebases."""


def make_app(
    wrap: Callable[[Callable[..., Iterator[Output]]], Callable[..., object]] = _printed,
    commands: Iterable[str] = COMMANDS,
) -> typer.Typer:
    """Make the command line; with some of its commands it starts quicker.

    Args:
        wrap: makes of a command, which is a generator, the function that is called.
        commands: of `COMMANDS`.
    """
    app = typer.Typer(
        name="codesearch",
        help="Offline semantic search over local codebases.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    app.callback()(main)
    for name in commands:
        app.command()(wrap(getattr(import_module(f"codesearch.cli.{name}"), name)))
    return app
