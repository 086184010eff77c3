"""Describe the API with pydantic models: they check the parameters of requests and make the OpenAPI document.

The parameters are those of the functions that answer, and the schemas of answers are the records of the engine.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError, create_model
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import PydanticCustomError
from starlette.datastructures import QueryParams

import codesearch
from codesearch.engine.answer import Answer, Changes
from codesearch.types import Hit
from codesearch.web.present import CLASSES
from codesearch.web.security import Refusal

MAX_TEXT = 4000
MAX_VALUES = 64
Text = Annotated[str, Field(max_length=MAX_TEXT, pattern=r"^[^\x00]*$")]
Words = Annotated[str, Field(max_length=MAX_TEXT, pattern=r"^[^\x00]*[^\s\x00][^\x00]*$")]
"""A text that is not blank."""
Several = Field(max_length=MAX_VALUES)
"""Of a parameter that can be given several times; its type is a tuple."""
YesNo = Literal["yes", "no"]
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


Digits = BeforeValidator(_digits)


def model_of(answer: Callable[..., Any]) -> type[BaseModel]:
    """Return the model of the parameters of a function that answers requests."""
    fields: dict[str, Any] = {
        name: (parameter.annotation, ... if parameter.default is parameter.empty else parameter.default)
        for name, parameter in inspect.signature(answer, eval_str=True).parameters.items()
    }
    return create_model(answer.__name__, __config__=ConfigDict(extra="forbid"), **fields)


def read_values(model: type[BaseModel], parameters: QueryParams) -> dict[str, Any]:
    """Return the values of a request, with defaults."""
    fields = model.model_fields
    values: dict[str, Any] = {name: parameters.getlist(name) for name in parameters}
    for name, texts in values.items():
        # A list in the place of one value is refused.
        if len(texts) == 1 and not (name in fields and isinstance(fields[name].default, tuple)):
            values[name] = texts[0]
    try:
        return dict(model.model_validate(values))
    except ValidationError as error:
        raise _refusal(error, list(fields)) from None


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


class Line(BaseModel):
    """A line of code; a token is a class and a text, and true if it is a word of the query."""

    line: int
    text: str
    tokens: list[_Token | _MarkedToken]


class Outlined(BaseModel):
    """A definition of a file; `end_line` is the end of a class's header, `last_line` that of the class."""

    kind: str
    name: str
    qualified_name: str
    signature: str
    start_line: int
    end_line: int
    last_line: int


class File(BaseModel):
    """Up to 2,000 lines of a file, and up to 2,000 definitions from there on, in the order of the source."""

    root: str
    path: str
    language: str
    stale: bool
    line_count: int
    lines: list[Line]
    definition_count: int
    definitions: list[Outlined]


class Root(BaseModel):
    """An indexed folder; `languages` and `kinds` are numbers of documents, `examples` questions that it answers."""

    root: str
    documents: int
    files: int
    languages: dict[str, int]
    kinds: dict[str, int]
    examples: list[str]
    indexed: datetime
    changes: Changes | None


class Status(BaseModel):
    """What is indexed; `groups` are the folders of each group in the user's settings."""

    version: str
    roots: list[Root]
    groups: dict[str, list[str]]


class Failure(BaseModel):
    """What happened, and what to do."""

    message: str
    cure: str


class Error(BaseModel):
    """The answer if a request fails."""

    error: Failure


class _AllRequired(GenerateJsonSchema):
    """Make schemas in which fields with a default are required too, because every answer has all of them."""

    def field_is_required(self, field: Any, total: bool) -> bool:  # noqa: ANN401 - a type of pydantic
        return True


def description(prefix: str, answers: Mapping[str, tuple[Callable[..., Any], str]]) -> dict[str, Any]:
    """Describe the API: the function that answers a path below a prefix, and the schema of its answer, by name."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "codesearch", "version": codesearch.__version__},
        "paths": {f"{prefix}/{name}": {"get": _operation(*answer)} for name, answer in answers.items()},
        "components": {
            "schemas": _schemas(),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"token": []}],
    }


def _operation(answer: Callable[..., Any], schema: str) -> dict[str, Any]:
    errors = {status: {"description": about, **_json("Error")} for status, about in _STATUSES.items()}
    return {
        "operationId": answer.__name__,
        "summary": (answer.__doc__ or "").partition("\n")[0].removesuffix("."),
        "parameters": _parameters(model_of(answer)),
        "responses": {"200": {"description": "The answer", **_json(schema)}, **errors},
    }


def _parameters(model: type[BaseModel]) -> list[dict[str, Any]]:
    described = model.model_json_schema()
    return [
        {
            "name": name,
            "in": "query",
            "required": name in described.get("required", ()),
            "description": schema.pop("description"),
            "schema": schema,
        }
        for name, schema in described.get("properties", {}).items()
    ]


def _json(schema: str) -> dict[str, Any]:
    return {"content": {"application/json": {"schema": {"$ref": _REF.format(schema)}}}}


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
        "snippet": {"type": "array", "items": {"$ref": _REF.format("Line")}},
        "reasons": {"type": "array", "items": {"type": "string"}},
    }
    schemas["Hit"]["properties"].update(added)
    schemas["Hit"]["required"] += added
    return schemas
