"""The command line: it runs commands, catches their errors and sets the exit code.

Exit codes: 0 there are hits (or the work is done), 1 there are none, 2 an error, 130 interrupted. It is no error if the
reader closes the pipe early.
"""

from __future__ import annotations

import re
import shlex
import sys
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
import typer.core

import codesearch
from codesearch.cli.invocation import Invocation, Output, outputs
from codesearch.cli.options import with_options, with_revision
from codesearch.cli.output import INTERRUPTED, failed_output, write_output
from codesearch.errors import CodeSearchError
from codesearch.options import options_of
from codesearch.service.client import facts
from codesearch.settings import Value
from codesearch.visible import visible

if TYPE_CHECKING:
    from codesearch.engine.pool import Pool

COMMANDS = {
    command: module
    for module, commands in {
        "search": "query similar",
        "structure": "outline read usages duplicates history",
        "index": "index watch export import",
        "serve": "serve mcp lsp",
        "status": "status config remove doctor bench",
    }.items()
    for command in commands.split()
}
"""Command -> the module in this package that has a function of that name; that of `import` is `import_`."""
_WITHOUT_SETTINGS = ("bench", "doctor", "import")
"""Commands whose results must not depend on settings."""
_MEANING_QUERY = ("search", "find", "grep")
"""What users of other tools type for `query`."""
_HELP = {"--help", "-h", "--version", "-V"}


def run(arguments: Sequence[str], commands: Iterable[str] = COMMANDS, stdin: str | None = None) -> int:
    """Run a command line of this process, print its output as it arrives, and return the exit code."""
    invocation, code = Invocation.of(facts(arguments, stdin)), 0
    try:
        settings = invocation.settings()
    except CodeSearchError as error:
        settings = {}
        if _HELP.isdisjoint(arguments):
            print(f"error: {visible(str(error))}", file=sys.stderr)
            return 2
    try:
        result = _result(make_command(commands), arguments, invocation, defaults_of(settings, commands))
        for output in [Output(code=result)] if isinstance(result, int) else result:  # An int is that of help.
            sys.stderr.write(output.err)
            write_output(output.out)
            code = output.code
            if output.converse:
                import asyncio

                asyncio.run(output.converse())
    except typer.TyperException as error:
        print(f"error: {_usage_error(error.format_message(), arguments)}", file=sys.stderr)
        code = 2
    except KeyboardInterrupt:
        print(INTERRUPTED, file=sys.stderr)
        code = 130
    except OSError as error:  # The output, help for example, could not be written.
        code = failed_output(error)
    except Exception as error:  # Python would exit with 1, which means that there are no hits.
        frame = traceback.extract_tb(error.__traceback__)[-1]
        what = f"{type(error).__name__}: {error} ({Path(frame.filename).name}:{frame.lineno})"
        print(f"error: a defect of codesearch, please report it: {visible(what)}", file=sys.stderr)
        code = 2
    return code


def _usage_error(message: str, arguments: Sequence[str]) -> str:
    """Return what is wrong with a command line in one line; words without a command were probably meant as a query."""
    from difflib import get_close_matches

    said = visible(message.rstrip(".")).replace("a valid int", "a whole number")
    said = said[:1].lower() + said[1:]
    if said.startswith("no such command"):
        what, meant, command = said.partition(". Did you mean ")
        is_query = bool(get_close_matches(arguments[0], _MEANING_QUERY, 1, 0.8))
        query = visible(shlex.join(["query", *arguments[is_query:]]))
        return f"{what}: did you mean {command if meant and not is_query else f'`codesearch {query}`?'}"
    if said.startswith("no such option: --index"):
        return "no such option: --index: run `codesearch import FILE`, then search with `--root NAME`"
    if re.match(r"no such option: -[^-\w\\]", said):
        return f"{said}: put -- before text that begins with -"
    named = " ".join(["codesearch", *(one for one in arguments[:1] if one in COMMANDS)])
    return f"{said}: see `{named} --help`"


def answering(pool: Pool, commands: Sequence[str]) -> Callable[[dict[str, Any]], Output]:
    """Return a function for any thread: facts about another process -> the output of its command line."""
    command = make_command(commands)
    parsing = threading.Lock()  # Typer keeps the arguments of a call where the next call overwrites them.

    def answer(facts: dict[str, Any]) -> Output:
        invocation = Invocation.of(facts, pool)
        defaults = defaults_of(invocation.settings(), commands)
        with parsing:  # This does not run the command: it returns a generator.
            result = _result(command, facts["arguments"], invocation, defaults)
        if isinstance(result, int):
            raise TypeError(f"{facts['arguments']} gives no output")
        parts = list(result)
        out, err = "".join(part.out for part in parts), "".join(part.err for part in parts)
        return parts[-1]._replace(out=out, err=err) if parts else Output()

    return answer


def _result(
    command: typer.core.TyperGroup, arguments: Sequence[str], invocation: Invocation, defaults: dict[str, Any]
) -> int | Iterator[Output]:
    """Parse a command line; return an exit code if that answers it, else the outputs of its command."""
    result: int | Iterator[Output] = command.main(
        with_revision(arguments), "codesearch", standalone_mode=False, obj=invocation, default_map=defaults
    )
    return result if isinstance(result, int) else outputs(result)


def main(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", "-V", help="Show the version.")] = False,
) -> None:
    """Offline semantic search over local codebases."""
    if version:
        print(f"codesearch {codesearch.__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(2)


def function_of(name: str) -> Callable[..., Iterator[Output]]:
    """Return the function of a command."""
    module = import_module(f"codesearch.cli.{COMMANDS[name]}")
    function: Callable[..., Iterator[Output]] = getattr(module, "import_" if name == "import" else name)
    return function


def defaults_of(settings: Mapping[str, Value], commands: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return the values that a file or a variable sets for the options of each command."""
    changed = {name: value.value for name, value in settings.items() if value.source != "default"}
    return {
        command: {
            name: changed[name]
            for name, option in options_of(function_of(command)).items()
            if name in changed and option.is_setting and not option.in_index
        }
        for command in commands
        if command not in _WITHOUT_SETTINGS
    }


class _Command(typer.core.TyperCommand):
    """A command whose help has the options below their headings; typer has these only in its own colours."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:  # noqa: ANN401
        """Return what follows the name of the command, without the braces around what is required."""
        return [piece.strip("{}") for piece in super().collect_usage_pieces(ctx)]

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - typer hides these types.
        """Write the arguments and options, in sections."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            if record := param.get_help_record(ctx):
                heading = getattr(param, "rich_help_panel", None) or f"{param.param_type_name.capitalize()}s"
                sections.setdefault(heading, []).append(record)
        for heading, records in sections.items():
            with formatter.section(heading):
                formatter.write_dl(records)


def make_command(commands: Iterable[str] = COMMANDS) -> typer.core.TyperGroup:
    """Make the command line; with only some of its commands it starts faster."""
    app = typer.Typer(
        name="codesearch",
        help="Offline semantic search over local codebases.",
        epilog='Start in a project with `codesearch query "your question"`: the first query indexes it.',
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    app.callback(invoke_without_command=True)(main)
    for name in commands:
        app.command(name, cls=_Command)(with_options(function_of(name)))
    made = typer.main.get_command(app)
    assert isinstance(made, typer.core.TyperGroup)
    return made
