"""Options: annotated fields of records and annotated parameters of commands, declared where they are used.

    class SearchSettings(Record):
        hits: Annotated[int, Opt("Hits to show.", "-n --limit", low=1)] = 5

The command line, settings files and environment variables read the annotations with `options_of`, and `read` makes the
record from values.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from math import inf
from types import NoneType, UnionType
from typing import Any, NamedTuple, TypeVar, dataclass_transform, get_args, get_origin

from codesearch.errors import ConfigError

COMMAND, USER, ENVIRONMENT, PROJECT = "command", "user", "environment", "project"
"""Who may set an option: the command line, the user's settings file, an environment variable, or the settings file of a
project, which stands for an imported portable file too. A server sets none. Anybody can make a project and a portable
file, so they can only narrow what is read (`Opt.narrow`)."""


@dataclass_transform(eq_default=False, frozen_default=True, kw_only_default=True)
class Record:
    """Values of the options that a subclass declares; making a dataclass would take longer than all the rest."""

    def __init__(self, **values: Any) -> None:  # noqa: ANN401 - the types are those of the fields.
        vars(self).update(values)


R = TypeVar("R", bound=Record)


# Making a dataclass takes a millisecond, which each command would pay.
class Opt(NamedTuple):
    """What the annotation of an option says."""

    help: str
    flags: str = ""  # With spaces between; empty for the usual one, such as --min-confidence.
    choices: tuple[str, ...] = ()
    low: float = -inf
    high: float = inf
    metavar: str | None = None  # Stands for the value in the help; by default its type.
    set_by: frozenset[str] = frozenset({COMMAND})
    # (value of a project or a portable file, value of the user) -> the value in force. It never reads more files, or
    # larger ones, than that of the user. None if any value is harmless.
    narrow: Callable[[Any, Any], Any] | None = None


class Option(NamedTuple):
    """An option with the name, type and default of its field or parameter."""

    name: str
    opt: Opt
    kind: type  # Of one value: bool, int, float, str, Path or dict.
    repeatable: bool
    default: Any
    flags: tuple[str, ...]  # Its names on the command line, in the syntax of typer.
    in_index: bool  # Whether it changes the content of an index, which then keeps it for later runs.

    @classmethod
    def of(cls, name: str, opt: Opt, annotation: Any, default: Any) -> Option:  # noqa: ANN401 - any type.
        """Make the option of a field or parameter."""
        kind, repeatable = _kind(annotation)
        in_index = {USER, COMMAND} <= opt.set_by and ENVIRONMENT not in opt.set_by
        usual = f"--{name.replace('_', '-')}"
        if kind is bool and (default or in_index):
            usual += f"/--no-{usual[2:]}"
        return cls(name, opt, kind, repeatable, default, tuple(opt.flags.split()) or (usual,), in_index)

    @property
    def is_setting(self) -> bool:
        """Say whether a settings file may set it."""
        return USER in self.opt.set_by

    @property
    def variable(self) -> str:
        """The environment variable that sets it, if `set_by` has ENVIRONMENT."""
        return f"CODESEARCH_{self.name.upper()}"

    def checked(self, value: Any, name: str = "") -> Any:  # noqa: ANN401 - the type is that of the option.
        """Return a value of the right type; an error has a name, by default that of the command line."""
        choices, low, high = self.opt.choices, self.opt.low, self.opt.high
        if choices and value not in choices:
            name = name or self.flags[0]
            raise ConfigError(f"{name} must be one of {', '.join(choices)}, not {value!r}")
        if self.kind in (int, float) and not low <= value <= high:
            limit = f"at least {low}" if high == inf else f"from {low:,} to {high:,}"
            raise ConfigError(f"{name or self.flags[0]} must be {limit}, not {value}")
        return value

    def given(self, value: Any) -> Any:  # noqa: ANN401 - the type is that of the option.
        """Return the value of a command line, which has None for what is not given."""
        if self.repeatable:  # An empty value clears what an index keeps.
            if self.in_index:
                return tuple(filter(None, value)) if value else None
            return tuple(value or ())
        if value is None:
            return self.default if self.kind is str and not self.in_index else None
        return self.checked(value)

    def may_narrow(self, value: Any) -> bool:  # noqa: ANN401 - the type is that of the option.
        """Say whether a value narrows what is read, if the user has the widest value."""
        widest = () if self.repeatable else not value if self.kind is bool else inf
        return self.opt.narrow is None or self.opt.narrow(value, widest) == value


@functools.cache
def options_of(declared: Callable[..., Any]) -> dict[str, Option]:
    """Return the options of a record, or of a command and of the records that it takes, by name."""
    options: dict[str, Option] = {}
    for name, annotation, default in _declarations(declared):
        opt = getattr(annotation, "__metadata__", (None,))[0]
        if isinstance(opt, Opt):
            options[name] = Option.of(name, opt, annotation.__origin__, default)
        elif is_record(annotation):
            options |= options_of(annotation)
    # The options of a record come before those that it shares with others.
    for base in filter(is_record, getattr(declared, "__bases__", ())):
        options |= {name: option for name, option in options_of(base).items() if name not in options}
    return options


def _declarations(declared: Callable[..., Any]) -> list[tuple[str, Any, Any]]:
    """Return name, annotation and default of each field or parameter; `typing.get_type_hints` would be slow."""
    if isinstance(declared, type):
        annotations = inspect.get_annotations(declared, eval_str=True)
        return [(name, annotations[name], vars(declared).get(name)) for name in annotations]
    parameters = inspect.signature(declared, eval_str=True).parameters.values()
    return [(parameter.name, parameter.annotation, parameter.default) for parameter in parameters]


def is_record(annotation: Any) -> bool:  # noqa: ANN401 - any type.
    """Say whether a parameter takes a record of options."""
    return isinstance(annotation, type) and issubclass(annotation, Record)


def _kind(annotation: Any) -> tuple[type, bool]:  # noqa: ANN401 - any type.
    if isinstance(annotation, UnionType):
        annotation = next(kind for kind in get_args(annotation) if kind is not NoneType)
    if get_origin(annotation) is tuple:
        return get_args(annotation)[0], True
    return get_origin(annotation) or annotation, False


def read(record: Callable[..., R], values: Mapping[str, Any]) -> R:
    """Make a record from values of a command line, by name."""
    return record(**{name: option.given(values[name]) for name, option in options_of(record).items()})
