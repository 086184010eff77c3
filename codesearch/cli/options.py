"""The table of options on the command line: parameters of commands, and the settings that are their defaults."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any

import typer

from codesearch.cli.invocation import Output
from codesearch.errors import ConfigError
from codesearch.options import Option, options_of
from codesearch.settings import Value, user_groups

_WITHOUT_SETTINGS = ("bench", "doctor", "import")
"""Commands whose results must not depend on settings."""


def with_options(name: str, command: Callable[..., Iterator[Output]]) -> Callable[..., Iterator[Output]]:
    """Give a command the options that the table has for it.

    A parameter of the function with the name of an option gets the option's type, default, help and limits. A parameter
    `**options` stands for all other options of the command.
    """
    options = options_of(name)
    own = inspect.signature(command, eval_str=True).parameters
    arguments = [own[one] for one in own if one not in options and own[one].kind is not own[one].VAR_KEYWORD]

    @functools.wraps(command)
    def checked(**values: Any) -> Iterator[Output]:  # noqa: ANN401 - the types are those of the options.
        for option in options.values():
            value = values[option.name]
            if option.repeatable:  # An empty value clears what an index keeps.
                given = tuple(filter(None, value or ())) if option.in_index else tuple(value or ())
                values[option.name] = given if value or not option.in_index else None
            elif value is not None:
                option.checked(value, option.flags[0])
        yield from command(**values)

    parameters = [*arguments, *map(_parameter, options.values())]
    vars(checked)["__signature__"] = inspect.Signature(
        [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in parameters]
    )
    return checked


def only_one(options: Mapping[str, Any], names: Iterable[str]) -> str:
    """Return which of some flags is given; "" if none is."""
    given = [name for name in names if options[name]]
    if len(given) > 1:
        raise ConfigError(
            f"{' and '.join(f'--{name}' for name in given)} exclude each other", "give only one"
        )
    return given[0] if given else ""


def _parameter(option: Option) -> inspect.Parameter:
    """Return an option as typer reads it. An option of an index is None unless it is given."""
    annotation: Any = list[option.kind] if option.repeatable else option.kind  # type: ignore[name-defined]
    default = option.default
    if option.repeatable or option.in_index or default in (None, ""):
        annotation, default = annotation | None, None
    declared = typer.Option(
        *option.flags, help=_help(option), metavar=option.metavar, autocompletion=_values(option)
    )
    return inspect.Parameter(
        option.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[annotation, declared],
    )


def _values(option: Option) -> Callable[[], Iterable[str]] | None:
    """Return what lists the values that completion offers; None if an option has no list of values."""
    if option.choices:
        return lambda: option.choices
    if option.name == "group":
        return lambda: user_groups()
    return _languages if option.name in ("lang", "languages") else None


def _languages() -> list[str]:
    from codesearch.parsing.languages import BLOCK_LANGUAGES, LANGUAGES

    return [spec.name for spec in (*LANGUAGES, *BLOCK_LANGUAGES)]


def _help(option: Option) -> str:
    text = option.help.removesuffix(".")
    if option.repeatable:
        text += "; repeatable" + ("; '' clears it" if option.in_index else "")
    elif option.in_index:
        shown = {True: "yes", False: "no"}.get(option.default, option.default)
        text += f"; default: {shown}"
    return f"{text}."


def defaults_of(settings: Mapping[str, Value], commands: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return the options of each command that a file or a variable sets."""
    changed = {name: value.value for name, value in settings.items() if value.source != "default"}
    return {
        command: {
            name: changed[name]
            for name, option in options_of(command).items()
            if name in changed and option.is_setting and not option.in_index
        }
        for command in commands
        if command not in _WITHOUT_SETTINGS
    }


def with_revision(arguments: Sequence[str]) -> list[str]:
    """Give `--changed` the value HEAD where no revision follows it; typer has no options with an optional value.

    >>> with_revision(["a query", "--changed", "-n", "3"])
    ['a query', '--changed=HEAD', '-n', '3']
    """
    end = arguments.index("--") if "--" in arguments else len(arguments)
    following = [*arguments, "-"][1:]
    return [
        "--changed=HEAD" if word == "--changed" and position < end and after.startswith("-") else word
        for position, (word, after) in enumerate(zip(arguments, following, strict=True))
    ]
