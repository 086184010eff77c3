"""`codesearch outline` and `codesearch read`: the shape of a folder, a file or a class, and its code."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from codesearch.cli.invocation import Invocation, Output, invocation_of
from codesearch.cli.render import path_from
from codesearch.cli.search import first_indexed, scope_of
from codesearch.visible import visible, visible_json

if TYPE_CHECKING:
    from codesearch.engine.engine import Engine
    from codesearch.engine.scope import Scope
    from codesearch.structure.whole import Reading

_PLACE = "PATH, PATH:LINE, PATH::NAME, or a name or qualified name."


def outline(
    context: typer.Context,
    place: Annotated[
        str, typer.Argument(metavar="[PLACE]", help=f"{_PLACE} Default: this folder.", show_default=False)
    ] = ".",
    **options: Any,  # noqa: ANN401 - the types are in `codesearch.options`.
) -> Iterator[Output]:
    """Show what is in a folder, a file or a class."""
    from codesearch.structure.text import outline_lines

    invocation = invocation_of(context)
    engine, scope = _engine_and_scope(invocation, place, options)
    yield from first_indexed(engine, scope, invocation, options)
    found = engine.outline(place, scope, max_lines=options["max_lines"], question=options["question"] or "")
    if options["json"]:
        yield _json([asdict(one) for one in found])
        return
    terminal = invocation.terminal
    width = terminal.width if terminal.is_terminal else 200
    for one in found:
        yield Output("".join(f"{line}\n" for line in outline_lines(one, width)))
    if not found:
        yield Output(err="no hits\n", code=1)


def read(
    context: typer.Context,
    place: Annotated[str, typer.Argument(metavar="PLACE", help=_PLACE, show_default=False)],
    **options: Any,  # noqa: ANN401 - the types are in `codesearch.options`.
) -> Iterator[Output]:
    """Show the code of a file, a range of lines or a definition."""
    invocation = invocation_of(context)
    engine, scope = _engine_and_scope(invocation, place, options)
    yield from first_indexed(engine, scope, invocation, options)
    found = engine.read(place, scope, most_lines=options["max_lines"])
    if options["json"]:
        yield _json([asdict(one) for one in found])
        return
    for reading in found:
        yield Output("".join(f"{line}\n" for line in _reading_text(reading, invocation)))
    if len(found) > 1:
        yield Output(err=f"note: {visible(place)} names {len(found)} places: give one of them\n")


def _engine_and_scope(invocation: Invocation, place: str, options: Mapping[str, Any]) -> tuple[Engine, Scope]:
    """Return an engine and where to look: if the place is a path that exists, in the index around it."""
    path = Path(place.partition("::")[0].partition(":")[0])
    is_chosen = options["root"] or options["all"] or options["index"]
    paths = () if is_chosen or not os.path.exists(invocation.path(path)) else (path,)
    return invocation.engine(options["home"]), scope_of(invocation, options, paths)


def _reading_text(reading: Reading, invocation: Invocation) -> Iterator[str]:
    from codesearch.structure.text import reading_lines

    path = path_from(invocation.terminal, reading.root, reading.path)
    about = (
        f"  {visible(reading.definition.qualified_name)}  {reading.definition.kind}"
        if reading.definition
        else ""
    )
    stale = "  [changed since it was indexed]" if reading.stale else ""
    yield f"{path}:{reading.first_line}-{reading.last_line}{about}{stale}"
    yield from reading_lines(reading)


def _json(found: list[dict[str, Any]]) -> Output:
    return Output(f"{visible_json(dumps(found, indent=2, ensure_ascii=False))}\n", code=0 if found else 1)
