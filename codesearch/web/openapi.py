"""The OpenAPI description, made from the models of the parameters and the records that the engine returns."""

from __future__ import annotations

import types
from dataclasses import fields, is_dataclass
from typing import Any, get_args, get_origin, get_type_hints

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
_SIMPLE = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}
_LINE = {
    "type": "object",
    "required": ["line", "text", "tokens"],
    "properties": {
        "line": {"type": "integer"},
        "text": {"type": "string"},
        "tokens": {
            "type": "array",
            "items": {
                "type": "array",
                "prefixItems": [{"enum": list(CLASSES)}, {"type": "string"}],
                "minItems": 2,
                "maxItems": 2,
            },
        },
    },
}
_LINES = {"type": "array", "items": _LINE}
_COUNTS = {"type": "object", "additionalProperties": {"type": "integer"}}
_STATUS = {
    "type": "object",
    "required": ["version", "roots"],
    "properties": {
        "version": {"type": "string"},
        "roots": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["root", "documents", "files", "languages", "kinds", "indexed", "changes"],
                "properties": {
                    "root": {"type": "string"},
                    "documents": {"type": "integer"},
                    "files": {"type": "integer"},
                    "languages": _COUNTS,
                    "kinds": _COUNTS,
                    "indexed": {"type": "string", "format": "date-time"},
                    "changes": {"anyOf": [{"$ref": "#/components/schemas/Changes"}, {"type": "null"}]},
                },
            },
        },
    },
}
_ERROR = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["message", "cure"],
            "properties": {"message": {"type": "string"}, "cure": {"type": "string"}},
        }
    },
}


def description(prefix: str) -> dict[str, Any]:
    """Return the description of the API below a path."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "codesearch", "version": codesearch.__version__},
        "paths": {f"{prefix}/{name}": {"get": _operation(name)} for name in MODELS},
        "components": {
            "schemas": {
                "Answer": _record(Answer, hits={"type": "array", "items": _ref("Hit")}),
                "Hit": _record(Hit, snippet=_LINES, reasons={"type": "array", "items": {"type": "string"}}),
                "Definition": _record(Definition, lines=_LINES),
                "Status": _STATUS,
                "Changes": _record(Changes),
                "Description": {"type": "object"},
                "Error": _ERROR,
            },
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
    return {"$ref": f"#/components/schemas/{schema}"}


def _record(record: type, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - schemas
    hints = get_type_hints(record)
    names = [field.name for field in fields(record)]
    properties = {**{name: _schema(hints[name]) for name in names}, **more}
    return {"type": "object", "required": list(properties), "properties": properties}


def _schema(of: Any) -> dict[str, Any]:  # noqa: ANN401 - any annotation
    if of in _SIMPLE:
        return {"type": _SIMPLE[of]}
    if is_dataclass(of) and isinstance(of, type):
        return _record(of)
    inner = get_args(of)
    if get_origin(of) is types.UnionType:
        return {"anyOf": [_schema(one) for one in inner]}
    if get_origin(of) is dict:
        return {"type": "object", "additionalProperties": _schema(inner[1])}
    return {"type": "array", "items": _schema(inner[0])}
