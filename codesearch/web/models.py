"""Describe the API with pydantic models: they check the parameters of requests and make the OpenAPI document.

The parameters come from the table of options, and the answers from the records of the engine.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError, create_model
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import PydanticCustomError
from starlette.datastructures import QueryParams

import codesearch
from codesearch.engine.answer import Answer, Changes
from codesearch.options import Option, options_of
from codesearch.types import Hit
from codesearch.web.present import CLASSES
from codesearch.web.security import Refusal

MAX_TEXT = 4000
MAX_VALUES = 64
_NO_NUL = r"^[^\x00]*$"
_NOT_BLANK = r"^[^\x00]*[^\s\x00][^\x00]*$"
_PATHS = {
    "search": ("Rank documents for a query", "Answer"),
    "similar": ("Rank documents by their similarity to a definition", "Answer"),
    "file": ("Return lines and definitions of an indexed file", "File"),
    "status": ("List the indexed folders", "Status"),
    "openapi.json": ("Return this description", "Description"),
}
"""Name of a path -> its summary, and the schema of its answer."""
_REF = "#/components/schemas/{}"
_STATUSES = {
    "400": "A parameter is wrong",
    "401": "The token is missing or wrong",
    "403": "Another site asks",
    "404": "Not indexed",
    "405": "Another method than GET",
    "413": "The request has a body",
    "414": "The address is too long",
    "500": "A fault in codesearch",
    "503": "Busy; try again",
    "504": "It takes too long",
}


def _digits(value: Any) -> Any:  # noqa: ANN401 - what pydantic gives
    """Refuse other texts that pydantic reads as numbers, such as " +2" or "2.0"."""
    if isinstance(value, str) and not (value.isascii() and value.isdigit()):
        raise PydanticCustomError("digits", "Input should be a number in digits")
    return value


def _field(option: Option) -> Any:  # noqa: ANN401 - a type and a default, as `create_model` wants them
    one: Any = option.kind
    if option.choices:
        one = Literal[option.choices]
    elif option.kind is int:
        one = Annotated[int, BeforeValidator(_digits), Field(ge=int(option.low), le=int(option.high))]
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
    for name in _PATHS
}
"""Name of a path below `/api/v1/` -> the model of its parameters."""


def read_values(name: str, asked: QueryParams) -> dict[str, Any]:
    """Return the values of a request, with defaults."""
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


_Class = Literal[CLASSES]  # type: ignore[valid-type]
_Token = tuple[_Class, str]
_MarkedToken = tuple[_Class, str, Literal[True]]


@dataclass(frozen=True, slots=True)
class Line:
    """A line of code; a token is a class and a text, and true if it is a word of the query."""

    line: int
    text: str
    tokens: list[_Token | _MarkedToken]


@dataclass(frozen=True, slots=True)
class Outlined:
    """A definition of a file; `end_line` is the end of a class's header, `last_line` that of the class."""

    kind: str
    name: str
    qualified_name: str
    signature: str
    start_line: int
    end_line: int
    last_line: int


@dataclass(frozen=True, slots=True)
class File:
    """Up to 2,000 lines of a file, and up to 2,000 definitions from there on, in the order of the source."""

    root: str
    path: str
    language: str
    stale: bool
    line_count: int
    lines: list[Line]
    definition_count: int
    definitions: list[Outlined]


@dataclass(frozen=True, slots=True)
class Root:
    """An indexed folder; `languages` and `kinds` are numbers of documents, `examples` questions that it answers."""

    root: str
    documents: int
    files: int
    languages: dict[str, int]
    kinds: dict[str, int]
    examples: list[str]
    indexed: datetime
    changes: Changes | None


@dataclass(frozen=True, slots=True)
class Status:
    """What is indexed; `groups` are the folders of each group in the user's settings."""

    version: str
    roots: list[Root]
    groups: dict[str, list[str]]


@dataclass(frozen=True, slots=True)
class Failure:
    """What happened, and what to do."""

    message: str
    cure: str


@dataclass(frozen=True, slots=True)
class Error:
    """The answer if a request fails."""

    error: Failure


class _AllRequired(GenerateJsonSchema):
    """Make schemas in which fields with a default are required too, because every answer has all of them."""

    def field_is_required(self, field: Any, total: bool) -> bool:  # noqa: ANN401 - a type of pydantic
        return True


def description(prefix: str) -> dict[str, Any]:
    """Return the description of the API below a path."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "codesearch", "version": codesearch.__version__},
        "paths": {f"{prefix}/{name}": {"get": _operation(name)} for name in MODELS},
        "components": {
            "schemas": _schemas(),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"token": []}],
    }


def _operation(name: str) -> dict[str, Any]:
    summary, schema = _PATHS[name]
    errors = {status: {"description": about, **_json("Error")} for status, about in _STATUSES.items()}
    return {
        "operationId": name.partition(".")[0],
        "summary": summary,
        "parameters": _parameters(name),
        "responses": {"200": {"description": "The answer", **_json(schema)}, **errors},
    }


def _parameters(name: str) -> list[dict[str, Any]]:
    model = MODELS[name].model_json_schema()
    return [
        {
            "name": one,
            "in": "query",
            "required": one in model.get("required", ()),
            "description": schema.pop("description"),
            "schema": schema,
        }
        for one, schema in model.get("properties", {}).items()
    ]


def _json(schema: str) -> dict[str, Any]:
    return {"content": {"application/json": {"schema": _ref(schema)}}}


def _ref(schema: str) -> dict[str, Any]:
    return {"$ref": _REF.format(schema)}


def _schemas() -> dict[str, Any]:
    """Return the schemas of all answers: records of the engine, and what `present` adds to them."""
    records: list[Any] = [Answer, Hit, File, Status, Error]
    _, found = TypeAdapter.json_schemas(
        [(record, "serialization", TypeAdapter(record)) for record in records],
        ref_template=_REF.format("{model}"),
        schema_generator=_AllRequired,
    )
    schemas: dict[str, Any] = {**found["$defs"], "Description": {"type": "object"}}
    added = {
        "snippet": {"type": "array", "items": _ref("Line")},
        "reasons": {"type": "array", "items": {"type": "string"}},
    }
    schemas["Hit"]["properties"].update(added)
    schemas["Hit"]["required"] += added
    return schemas
