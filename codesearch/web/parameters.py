"""Check the parameters of a request with pydantic models, made from the table of options."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from starlette.datastructures import QueryParams

from codesearch.options import Option, options_of
from codesearch.web.security import Refusal

MAX_TEXT = 4000
MAX_VALUES = 64
_NO_NUL = r"^[^\x00]*$"
_NOT_BLANK = r"^[^\x00]*[^\s\x00][^\x00]*$"


def _field(option: Option) -> Any:  # noqa: ANN401 - a type and a default, as `create_model` wants them
    one: Any = option.kind
    if option.choices:
        one = Literal[option.choices]
    elif option.kind is int:
        one = Annotated[int, Field(ge=int(option.low), le=int(option.high))]
    else:
        pattern = _NOT_BLANK if option.required else _NO_NUL
        one = Annotated[str, Field(max_length=MAX_TEXT, pattern=pattern)]
    if option.repeatable:
        one = Annotated[tuple[one, ...], Field(max_length=MAX_VALUES)]
    default = ... if option.required else option.default
    return (one, Field(default, description=option.help))


MODELS: dict[str, type[BaseModel]] = {
    name: create_model(
        name,
        __config__=ConfigDict(extra="forbid"),
        **{option.name: _field(option) for option in options_of(f"/{name}").values()},
    )
    for name in ("search", "similar", "document", "status", "openapi.json")
}
"""Name of a path below `/api/v1/` -> the model of its parameters."""


def read_values(name: str, asked: QueryParams) -> dict[str, Any]:
    """Return the values of a request, with defaults.

    Raises:
        Refusal: a parameter is unknown, missing, repeated or has a value that is not allowed.
    """
    options = options_of(f"/{name}")
    values: dict[str, Any] = {one: asked.getlist(one) for one in asked}
    for one, texts in values.items():
        # A list in the place of one value is refused.
        if len(texts) == 1 and not (one in options and options[one].repeatable):
            values[one] = texts[0]
    try:
        return MODELS[name].model_validate(values).model_dump()
    except ValidationError as error:
        raise _refusal(error, list(options)) from None


def _refusal(error: ValidationError, known: list[str]) -> Refusal:
    details = error.errors(include_url=False)
    if unknown := sorted(str(one["loc"][0]) for one in details if one["type"] == "extra_forbidden"):
        cure = f"use only {', '.join(known)}" if known else "leave them out"
        return Refusal(400, f"unknown parameters: {', '.join(unknown)[:200]}", cure)
    wrong = details[0]
    name = str(wrong["loc"][0])
    if wrong["type"] == "missing":
        return Refusal(400, f"{name} is missing", f"give {name}")
    if "\0" in str(wrong["input"]):
        return Refusal(400, f"{name} contains a NUL character", "remove it")
    if wrong["type"] == "string_pattern_mismatch":
        return Refusal(400, f"{name} is empty", f"give a value for {name}")
    if isinstance(wrong["input"], list):
        return Refusal(400, f"{name} is given {len(wrong['input'])} times", "give it less often")
    cure = wrong["msg"].replace("Input", name, 1).replace("String", name, 1)
    return Refusal(400, f"{name} {str(wrong['input'])[:200]!r} is not allowed", cure)
