"""Options on the command line: those that several commands have, and how typer gets the options of a command."""

# Without the import of `annotations`, which would leave their text to be compiled at each start.
import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from codesearch.errors import ConfigError
from codesearch.options import Opt, Option, is_record, options_of, read
from codesearch.settings import Color, IndexingSettings, RefreshSettings, user_groups

CHANGED = "Only {} that differ from a git revision, by default HEAD; main... is where your branch left main."
_OFTEN = ("hits", "lang", "path", "kind", "changed", "full", "compact")
"""Options that people need often: help shows them first."""
_HEADINGS = {
    name: heading
    for heading, names in {
        "Output": "hits full compact json jsonl vimgrep files context_lines explain color",
        "How to search": "fixed seconds mode min_confidence flat",
        "What is searched": "lang path kind changed root all group at all_code",
        "Indexes, model and server": "home refresh auto_index no_service model device backend uri prefix",
    }.items()
    for name in names.split()
}
"""Option -> its heading in the help of a command with many options."""
_MANY = 20
Home = Annotated[Path | None, Opt("Folder of the indexes; default: $CODESEARCH_HOME, or your data folder.")]
Json = Annotated[bool, Opt("Print one JSON document.")]
Revision = Annotated[str, Opt("Use this git revision, not the files on disk.", metavar="REV")]


class AnswerOptions(RefreshSettings, IndexingSettings):
    """What commands that answer from indexes share: where to search, and what to do first."""

    root: Annotated[tuple[Path, ...], Opt("Search this indexed folder, or imported index.")] = ()
    all: Annotated[bool, Opt("Search all indexed folders.")] = False
    group: Annotated[str, Opt("Search this group of your settings.")] = ""
    at: Revision = ""
    color: Color = "auto"
    json: Json = False
    home: Home = None


class FilterOptions(AnswerOptions):
    """Which files to search."""

    lang: Annotated[tuple[str, ...], Opt("Only this language.")] = ()
    path: Annotated[
        tuple[str, ...], Opt("Only paths that match this pattern, as 'src/*.py'; ! before it excludes them.")
    ] = ()


def argument(text: str, metavar: str | None = None) -> Any:  # noqa: ANN401 - as typer has it.
    """Return what the annotation of an argument says: its help, and what stands for it there."""
    return typer.Argument(help=text, metavar=metavar, show_default=False)


def with_options(command: Callable[..., Iterator[Any]]) -> Callable[..., Iterator[Any]]:
    """Return a command as typer reads it: a parameter for each of its options, also of those in records."""
    _, *own = inspect.signature(command, eval_str=True).parameters.values()
    options = options_of(command)
    records = {one.name: one.annotation for one in own if is_record(one.annotation)}
    arguments = [one for one in own if one.name not in options and one.name not in records]

    @functools.wraps(command)
    def checked(context: typer.Context, **values: Any) -> Iterator[Any]:  # noqa: ANN401 - the types of the options.
        _check_not_empty(context.find_root().obj.arguments, options.values())
        given = {name: read(record, values) for name, record in records.items()}
        for name in (one.name for one in own if one.name not in records):
            given[name] = options[name].given(values[name]) if name in options else values[name]
        yield from command(context.find_root().obj, **given)

    given = (_parameter(one.name, one.annotation, one.default) for one in arguments)
    ordered = sorted(options.values(), key=lambda one: (*_OFTEN, one.name).index(one.name))
    headings = _HEADINGS if len(ordered) > _MANY else {}
    declared = (_declared(one, headings.get(one.name)) for one in ordered)
    parameters = [_parameter("context", typer.Context), *given, *declared]
    vars(checked)["__signature__"] = inspect.Signature(parameters)
    return checked


def _check_not_empty(words: Sequence[str], options: Iterable[Option]) -> None:
    """Refuse empty values, such as that of a variable of a script that is not set; typer would read "" as "."."""
    end = words.index("--") if "--" in words else len(words)
    clearing = {flag for one in options if one.repeatable and one.in_index for flag in one.flags}
    for position, (before, word) in enumerate(zip(("", *words), words, strict=False)):
        is_option = word.startswith("--") and position < end
        name, mark, value = word.partition("=") if is_option else (before, "=", word)
        if mark and not value and name not in clearing:
            about = f"the value of {name}" if name.startswith("-") and position < end else "an argument"
            raise ConfigError(f"{about} is empty", "give it a value, or leave it out")


def _parameter(name: str, annotation: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:  # noqa: ANN401
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _declared(option: Option, heading: str | None = None) -> inspect.Parameter:
    """Return an option as typer reads it. An option of an index is None unless it is given."""
    annotation: Any = list[option.kind] if option.repeatable else option.kind  # type: ignore[name-defined]
    default = option.default
    if option.repeatable or option.in_index or default in (None, ""):
        annotation, default = annotation | None, None
    usual = {int: "N", float: "N", bool: None}.get(option.kind, option.flags[0].strip("-").upper())
    declared = typer.Option(
        *option.flags,
        help=_help(option),
        metavar=option.opt.metavar or ("PATH" if option.kind is Path else usual),
        autocompletion=_values(option),
        rich_help_panel=heading,
    )
    return _parameter(option.name, Annotated[annotation, declared], default)


def _values(option: Option) -> Callable[[], Iterable[str]] | None:
    """Return what lists the values that completion offers; None if an option has no list of values."""
    if option.opt.choices:
        return lambda: option.opt.choices
    if option.name == "group":
        return lambda: user_groups()
    return _languages if option.name in ("lang", "languages") else None


def _languages() -> list[str]:
    from codesearch.languages.records import BLOCK_LANGUAGES, LANGUAGES

    return [spec.name for spec in (*LANGUAGES, *BLOCK_LANGUAGES)]


def _help(option: Option) -> str:
    text = option.opt.help.removesuffix(".")
    if option.repeatable:
        text += "; repeatable" + ("; '' clears it" if option.in_index else "")
    elif option.in_index:
        shown = {True: "yes", False: "no"}.get(option.default, option.default)
        text += f"; default: {shown}"
    return f"{text}."


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
