"""The language server: it reads and writes messages in an event loop, and calls the engine in threads.

So a request that the editor cancels is answered at once, and its thread ends later. One thread indexes.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.protocol import JsonRPCNotification, LanguageServerProtocol

import codesearch
from codesearch.engine.engine import Engine
from codesearch.lsp.features import Features
from codesearch.lsp.folders import Folders


class Protocol(LanguageServerProtocol):
    """Answers a request that cannot be read with an error; pygls leaves it without an answer."""

    def structure_message(self, data: dict[str, Any]) -> Any:  # noqa: ANN401 - what pygls returns
        """Return the message in a JSON object."""
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if "id" in data:
                self._send_response(data["id"], error=error.to_response_error())
            return JsonRPCNotification("$/unreadable", self.VERSION, None)


def run(engine: Engine, here: Path, *, auto_index: bool, min_confidence: float = 0.0) -> None:
    """Answer an editor over stdin and stdout until it says `exit` or closes stdin."""
    messages = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # Whatever a library prints must not mix with the messages.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    server, end = make_server(engine, here, auto_index=auto_index, min_confidence=min_confidence)
    server.start_io(stdout=messages)
    end()


def make_server(
    engine: Engine, here: Path, *, auto_index: bool, min_confidence: float
) -> tuple[LanguageServer, Callable[..., None]]:
    """Make a server that calls a method for each message, and a function that ends what runs."""
    # An error that a request answers is not logged too: editors show what is on stderr.
    logging.getLogger("pygls").setLevel(logging.CRITICAL)
    # Pygls counts other line ends than editors do, such as a form feed, so changes of a part would be misplaced.
    changes = types.TextDocumentSyncKind.Full
    server = LanguageServer("codesearch", codesearch.__version__, changes, protocol_cls=Protocol)
    folders = Folders(server, engine, here, auto_index=auto_index)
    features = Features(server, engine, folders, min_confidence)

    def end(*_: object) -> None:
        folders.end()
        features.end()

    handlers: dict[str, Callable[..., Any]] = {
        types.INITIALIZED: folders.open_folders,
        types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS: folders.open_folders,
        types.TEXT_DOCUMENT_DID_SAVE: folders.saved,
        types.WORKSPACE_SYMBOL: features.symbols,
        types.TEXT_DOCUMENT_DOCUMENT_SYMBOL: features.outline,
        types.TEXT_DOCUMENT_DEFINITION: features.definitions,
        types.TEXT_DOCUMENT_IMPLEMENTATION: features.implementations,
        types.TEXT_DOCUMENT_REFERENCES: features.references,
        types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT: features.highlights,
        types.TEXT_DOCUMENT_HOVER: features.hover,
        types.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY: features.prepare_calls,
        types.CALL_HIERARCHY_INCOMING_CALLS: features.callers,
        types.CALL_HIERARCHY_OUTGOING_CALLS: features.called,
        types.SHUTDOWN: end,
    }
    for method, handle in handlers.items():  # Pygls sets attributes, which a method cannot have.
        server.feature(method)(partial(handle))
    return server, end
