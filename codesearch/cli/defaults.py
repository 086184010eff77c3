"""Settings -> defaults of the options that the command line does not give."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from codesearch.settings import Value

_OF_SERVER = {"backend": "backend", "uri": "uri", "prefix": "prefix"}
_OF_SEARCHES = {
    "hits": "top_k",
    "mode": "mode",
    "min_confidence": "min_confidence",
    "all_code": "all_code",
    "color": "color",
    "refresh": "refresh",
    "auto_index": "auto_index",
    "device": "device",
    "model": "model",
    **_OF_SERVER,
}
"""Setting -> parameter of `query` and `similar`."""
_OF_INDEX = {"device": "device", "model": "model", **_OF_SERVER}


def defaults_of(settings: Mapping[str, Value]) -> dict[str, Any]:
    """Return the parameters of each command that a file or a variable sets."""
    changed = {name: value.value for name, value in settings.items() if value.source != "default"}

    def of(parameters: Mapping[str, str]) -> dict[str, Any]:
        return {parameters[name]: value for name, value in changed.items() if name in parameters}

    return {
        "query": of(_OF_SEARCHES),
        "similar": of(_OF_SEARCHES),
        "index": of(_OF_INDEX),
        "watch": of({"device": "device", "model": "model"}),
        "mcp": of({"auto_index": "auto_index"}),
        "status": of(_OF_SERVER),
    }
