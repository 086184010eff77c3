"""The parameters of each path: one table checks requests and describes them in OpenAPI."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import QueryParams

from codesearch.config import MODES
from codesearch.types import KINDS
from codesearch.web.refusal import Refusal

MAX_TEXT = 4000
MAX_VALUES = 64
_DIGITS = 9
CONTENT = {
    "code": tuple(kind for kind in KINDS if kind not in ("section", "setting")),
    "docs": ("section",),
    "config": ("setting",),
    "all": (),
}
"""Content -> the kinds it has; none means all."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a path.

    Attributes:
        about: what it does, for the description.
        required: whether a request must have it.
        repeatable: whether it can be given several times.
        choices: the allowed values; empty for all.
        low: smallest number; None if it is text.
        high: largest number.
        default: value if it is absent; None for none.
    """

    about: str
    required: bool = False
    repeatable: bool = False
    choices: tuple[str, ...] = ()
    low: int | None = None
    high: int = 0
    default: str | int | None = None

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of the value."""
        one: dict[str, Any] = {"type": "string", "maxLength": MAX_TEXT}
        if self.choices:
            one = {"type": "string", "enum": list(self.choices)}
        if self.low is not None:
            one = {"type": "integer", "minimum": self.low, "maximum": self.high}
        if self.repeatable:
            return {"type": "array", "items": one, "maxItems": MAX_VALUES}
        return one if self.default is None else {**one, "default": self.default}

    def read(self, name: str, text: str) -> str | int:
        """Return a value of a request.

        Raises:
            Refusal: it is not allowed.
        """
        if "\0" in text:
            raise Refusal(400, f"{name} contains a NUL character", "remove it")
        if len(text) > MAX_TEXT:
            raise Refusal(400, f"{name} has {len(text):,} characters", f"use at most {MAX_TEXT:,} characters")
        if self.choices and text not in self.choices:
            raise Refusal(400, f"{name} {text!r} is unknown", f"choose one of {', '.join(self.choices)}")
        if self.low is None:
            return text
        number = int(text) if text.isascii() and text.isdigit() and len(text) <= _DIGITS else -1
        if not self.low <= number <= self.high:
            raise Refusal(
                400, f"{name} {text!r} is not a number in range", f"give one from {self.low} to {self.high:,}"
            )
        return number


LANG = Parameter("Languages, such as python or js.", repeatable=True)
KIND = Parameter("Kinds of definitions.", repeatable=True, choices=KINDS)
LIMIT = Parameter("How many hits.", low=1, high=100, default=20)
LINES = Parameter("Lines of each snippet.", low=0, high=50, default=3)
ABOUT_CONTENT = Parameter("Code, documentation, configuration or all.", choices=tuple(CONTENT), default="all")
PATHS = Parameter("Shell patterns of files or folders; `!` excludes.", repeatable=True)
ROOTS = Parameter("Indexed folders; all if absent.", repeatable=True)
YES_NO = ("yes", "no")
PLACE = {
    "root": Parameter("The indexed folder.", required=True),
    "path": Parameter("The file, relative to the folder.", required=True),
    "line": Parameter("A line of the definition.", required=True, low=1, high=10**_DIGITS - 1),
}
FILTERS = {"lang": LANG, "kind": KIND, "content": ABOUT_CONTENT, "limit": LIMIT, "lines": LINES}
PARAMETERS: dict[str, Mapping[str, Parameter]] = {
    "search": {
        "q": Parameter("A question, keywords, a name or code.", required=True),
        **FILTERS,
        "path": PATHS,
        "root": ROOTS,
        "mode": Parameter("How to search.", choices=MODES, default="hybrid"),
    },
    "similar": {**PLACE, **FILTERS, "filter_path": PATHS, "filter_root": ROOTS},
    "document": PLACE,
    "status": {
        "changes": Parameter("Whether to compare each folder with its index.", choices=YES_NO, default="no")
    },
    "openapi.json": {},
}
"""Name of a path below `/api/v1/` -> its parameters."""


@dataclass(frozen=True, slots=True)
class Values:
    """The checked values of a request: texts and numbers, and lists of texts."""

    given: Mapping[str, Any]

    def text(self, name: str) -> str:
        """Return a text."""
        return str(self.given[name])

    def number(self, name: str) -> int:
        """Return a number."""
        return int(self.given[name])

    def texts(self, name: str) -> tuple[str, ...]:
        """Return the values of a parameter that can be given several times."""
        return tuple(self.given[name])


def read_values(name: str, asked: QueryParams) -> Values:
    """Check the parameters of a request.

    Raises:
        Refusal: one is unknown, missing, repeated or has a value that is not allowed.
    """
    known = PARAMETERS[name]
    if unknown := sorted(set(asked.keys()) - known.keys()):
        cure = f"use only {', '.join(known)}" if known else "leave them out"
        raise Refusal(400, f"unknown parameters: {', '.join(unknown)[:200]}", cure)
    return Values({one: _value(one, known[one], asked.getlist(one)) for one in known})


def _value(name: str, parameter: Parameter, texts: Sequence[str]) -> Any:  # noqa: ANN401 - text, number or list
    if len(texts) > (MAX_VALUES if parameter.repeatable else 1):
        raise Refusal(400, f"{name} is given {len(texts)} times", "give it less often")
    values = [parameter.read(name, text) for text in texts]
    if parameter.repeatable:
        return values
    if values:
        if parameter.required and not str(values[0]).strip():
            raise Refusal(400, f"{name} is empty", f"give a value for {name}")
        return values[0]
    if parameter.required:
        raise Refusal(400, f"{name} is missing", f"give {name}")
    return parameter.default
