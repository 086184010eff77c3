"""Requests of an editor to `codesearch lsp` -> `results/lsp.json`.

`python -m benchmarks.lsp ROOT HOME` asks about an indexed folder, with a client over pipes: questions to
`workspace/symbol`, the outline of source files that are spread over the folder, and the definitions and references of
functions in them. The first request of each kind is not counted.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.lsp.client import LanguageClient

from benchmarks.process import quantiles
from benchmarks.publish import DEV_DOCS, fill, line, record
from codesearch.engine.engine import Engine
from codesearch.engine.scope import Scope
from codesearch.evaluation.suites import read_questions

PAGE = DEV_DOCS / "bench-commands.md"
_REQUESTS = 200
_TYPING_S = 0.1
"""Seconds between two requests."""
_NAMES = {
    "symbols": "search for symbols",
    "outline": "outline of a file",
    "definition": "go to definition",
    "references": "find references",
}


def main() -> None:
    """Measure and record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path, help="indexed folder")
    parser.add_argument("home", type=Path, help="folder of its index")
    options = parser.parse_args()
    root = options.root.resolve()
    places = places_in(root, options.home)
    (status,) = Engine(options.home).status(root)
    assert status.manifest
    rows = asyncio.run(measure(root, options.home, places))
    record(
        "lsp", {"documents": status.manifest.documents, "requests_each": _REQUESTS, "rows": rows}, flat=True
    )
    fill(PAGE, "lsp", table(rows))


def places_in(root: Path, home: Path) -> list[types.TextDocumentPositionParams]:
    """Return where the names of functions in different files are."""
    found: dict[str, types.TextDocumentPositionParams] = {}
    engine = Engine(home)
    for query in questions():
        for hit in engine.search(query, Scope((root,)), mode="lexical", top_k=10).hits:
            path = Path(hit.root, hit.path)
            column = path.read_text("utf-8").splitlines()[hit.start_line - 1].find(hit.name)
            if hit.kind in ("function", "method") and column >= 0:  # Decorators stand above the name.
                document = types.TextDocumentIdentifier(path.as_uri())
                position = types.Position(hit.start_line - 1, column)
                found.setdefault(document.uri, types.TextDocumentPositionParams(document, position))
    engine.close()
    return list(found.values())


def questions() -> list[str]:
    """Return the questions of the suite `known-items` about Python's library."""
    return list(read_questions("python")[0].values())


async def connected(root: Path, home: Path) -> LanguageClient:
    """Start a server for a folder."""
    client = LanguageClient("benchmark", "1")
    client.feature(types.WINDOW_SHOW_MESSAGE)(lambda message: None)  # It counts the grades of references.
    await client.start_io(sys.executable, "-m", "codesearch", "lsp", "--home", str(home))
    folders = [types.WorkspaceFolder(root.as_uri(), root.name)]
    await client.initialize_async(
        types.InitializeParams(types.ClientCapabilities(), workspace_folders=folders)
    )
    client.initialized(types.InitializedParams())
    return client


async def measure(root: Path, home: Path, places: list[types.TextDocumentPositionParams]) -> dict[str, Any]:
    """Return the quantiles of each kind of request, in milliseconds."""
    client = await connected(root, home)
    queries = questions()

    def symbols(number: int) -> Awaitable[object]:
        return client.workspace_symbol_async(types.WorkspaceSymbolParams(queries[number % len(queries)]))

    def outline(number: int) -> Awaitable[object]:
        document = places[number % len(places)].text_document
        return client.text_document_document_symbol_async(types.DocumentSymbolParams(document))

    def definition(number: int) -> Awaitable[object]:
        place = places[number % len(places)]
        return client.text_document_definition_async(
            types.DefinitionParams(place.text_document, place.position)
        )

    def references(number: int) -> Awaitable[object]:
        place = places[number % len(places)]
        return client.text_document_references_async(
            types.ReferenceParams(types.ReferenceContext(False), place.text_document, place.position)
        )

    asked = {"symbols": symbols, "outline": outline, "definition": definition, "references": references}
    rows = {name: quantiles(await times_ms(ask)) for name, ask in asked.items()}
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()
    return rows


async def times_ms(ask: Callable[[int], Awaitable[object]]) -> list[float]:
    """Return how long each request takes, without the first one."""
    times = []
    for number in range(_REQUESTS + 1):
        started = time.perf_counter()
        await ask(number)
        times.append((time.perf_counter() - started) * 1_000)
        await asyncio.sleep(_TYPING_S)
    return times[1:]


def table(rows: dict[str, Any]) -> str:
    """Lay the rows out for the page."""
    head = [line(["request", "p50 ms", "p95 ms"]), line(["---", "--:", "--:"])]
    body = [
        line([text, *(f"{rows[name][of]:.0f}" for of in ("p50_ms", "p95_ms"))])
        for name, text in _NAMES.items()
        if name in rows  # Older measurements lack requests.
    ]
    return "\n".join([*head, *body])


if __name__ == "__main__":
    main()
