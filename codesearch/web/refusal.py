"""An error of the HTTP API: a status, what happened and what to do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.responses import JSONResponse

from codesearch.errors import CodeSearchError, ConfigError, IndexLockedError, IndexNotFoundError


class Refusal(Exception):
    """A request that gets no answer.

    Attributes:
        status: the HTTP status.
        message: what happened.
        cure: what to do.
        headers: further headers, such as Retry-After.
    """

    def __init__(
        self, status: int, message: str, cure: str = "", headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status, self.message, self.cure = status, message, cure
        self.headers = dict(headers or {})

    def response(self) -> JSONResponse:
        """Return the answer that tells the client."""
        body: dict[str, Any] = {"error": {"message": self.message, "cure": self.cure}}
        return JSONResponse(body, self.status, self.headers)


def refusal_of(error: CodeSearchError) -> Refusal:
    """Return an error of the engine as an error of the API."""
    message, _, cure = str(error).rpartition(": ")
    if not message:
        message, cure = cure, ""
    if isinstance(error, IndexNotFoundError):
        return Refusal(404, message, cure)
    if isinstance(error, ConfigError):
        return Refusal(400, message, cure)
    headers = {"Retry-After": "5"} if isinstance(error, IndexLockedError) else None
    return Refusal(503, message, cure, headers)
