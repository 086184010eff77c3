"""The OpenAPI description, made from the models of the parameters and the records that the engine returns."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

import codesearch
from codesearch.engine.answer import Answer, Changes
from codesearch.types import Definition, Hit
from codesearch.web.highlight import CLASSES
from codesearch.web.parameters import MODELS

_PATHS = {
    "search": ("Rank documents for a query", "Answer"),
    "similar": ("Rank documents by their similarity to a definition", "Answer"),
    "document": ("Return a whole definition", "Definition"),
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


@dataclass(frozen=True, slots=True)
class Line:
    """A line of code; a token is a class and a text."""

    line: int
    text: str
    tokens: list[tuple[Literal[CLASSES], str]]  # type: ignore[valid-type]


@dataclass(frozen=True, slots=True)
class Root:
    """An indexed folder; `languages` and `kinds` are numbers of documents."""

    root: str
    documents: int
    files: int
    languages: dict[str, int]
    kinds: dict[str, int]
    indexed: datetime
    changes: Changes | None


@dataclass(frozen=True, slots=True)
class Status:
    """What is indexed."""

    version: str
    roots: list[Root]


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
    records: list[Any] = [Answer, Hit, Definition, Status, Error, Line]
    _, found = TypeAdapter.json_schemas(
        [(record, "serialization", TypeAdapter(record)) for record in records],
        ref_template=_REF.format("{model}"),
        schema_generator=_AllRequired,
    )
    schemas: dict[str, Any] = {**found["$defs"], "Description": {"type": "object"}}
    lines = {"type": "array", "items": _ref("Line")}
    reasons = {"type": "array", "items": {"type": "string"}}
    for name, added in (("Hit", {"snippet": lines, "reasons": reasons}), ("Definition", {"lines": lines})):
        schemas[name]["properties"].update(added)
        schemas[name]["required"] += added
    return schemas
