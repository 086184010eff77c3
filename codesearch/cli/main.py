"""The command line: it runs commands, catches their errors and sets the exit code.

Exit codes: 0 there are hits (or the work is done), 1 there are none, 2 an error, 130 interrupted. It is no error if the
reader closes the pipe early.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from keyword import iskeyword
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec

import typer
import typer.core
from typer._click.exceptions import NoArgsIsHelpError, UsageError  # The public modules do not have them.

import codesearch
from codesearch.cli.defaults import defaults_of
from codesearch.cli.invocation import Invocation, Output, merged, outputs
from codesearch.cli.options import with_revision
from codesearch.cli.output import INTERRUPTED, failed_output, write_output
from codesearch.errors import CodeSearchError
from codesearch.service.facts import facts
from codesearch.visible import visible

if TYPE_CHECKING:
    from codesearch.engine.opened import Opened

P = ParamSpec("P")
COMMANDS = (
    "index",
    "query",
    "similar",
    "watch",
    "serve",
    "mcp",
    "status",
    "config",
    "export",
    "import",
    "remove",
    "doctor",
    "bench",
)
"""Each name is that of a module in this package and of the function in it; `import` has an underscore there."""
_HELP = {"--help", "-h", "--version", "-V"}


def run(arguments: Sequence[str], commands: Iterable[str] = COMMANDS) -> None:
    """Run a command line of this process, print its output, and exit."""
    invocation = Invocation.of(facts())
    defaults = _defaults(invocation, arguments)
    command = typer.main.get_command(make_app(_printed, commands))
    try:
        code = command.main(
            list(arguments),
            prog_name="codesearch",
            standalone_mode=False,
            obj=invocation,
            default_map=defaults,
        )
    except NoArgsIsHelpError as error:
        error.show()
        code = 2
    except UsageError as error:
        print(f"error: {_usage_error(error)}", file=sys.stderr)
        code = 2
    except OSError as error:  # Help and other text of the library could not be written.
        code = failed_output(error)
    sys.exit(code)


def _usage_error(error: UsageError) -> str:
    """Return in one line what is wrong with the arguments, and where they are described."""
    said = visible(error.format_message().rstrip("."))
    command = error.ctx.command_path if error.ctx else "codesearch"
    return f"{said[:1].lower()}{said[1:]}: see `{command} --help`"


def _defaults(invocation: Invocation, arguments: Sequence[str]) -> dict[str, Any]:
    """Return the options that settings give; exit if settings are wrong, unless the user asks for help."""
    try:
        return defaults_of(invocation.settings())
    except CodeSearchError as error:
        if not _HELP.isdisjoint(arguments):
            return {}
        print(f"error: {visible(str(error))}", file=sys.stderr)
        sys.exit(2)


class Answering:
    """Runs command lines of other processes; safe to use from several threads."""

    def __init__(self, opened: Opened, commands: Iterable[str]) -> None:
        """Take the commands that may run, and the open indexes and models that they share."""
        self._opened = opened
        self._command = typer.main.get_command(make_app(_gathered, commands))

    def __call__(self, facts: dict[str, Any]) -> Output:
        """Run the command line of a process with these facts and return its output."""
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
    """Print each output of a command as it arrives, and exit with the command's code."""

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
    """Return the whole output of a command."""

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


class _Command(typer.core.TyperCommand):
    """A command that knows `--changed` without a revision."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - typer does not export the type.
        return super().parse_args(ctx, with_revision(args))


def make_app(
    wrap: Callable[[Callable[..., Iterator[Output]]], Callable[..., object]] = _printed,
    commands: Iterable[str] = COMMANDS,
) -> typer.Typer:
    """Make the command line; with only some of its commands it starts faster.

    Args:
        wrap: turns a command, which is a generator, into the function that is called.
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
        identifier = f"{name}_" if iskeyword(name) else name
        command = getattr(import_module(f"codesearch.cli.{identifier}"), identifier)
        app.command(name, cls=_Command)(wrap(command))
    return app
