"""`codesearch outline`, `read` and `usages`: the shape of a folder, a file or a class, its code, and who uses it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from codesearch.cli.first import opened
from codesearch.cli.invocation import Invocation, Output, invocation_of
from codesearch.cli.options import Globs, Json, Languages, ScopeOptions, argument
from codesearch.cli.render import path_from, render_readings
from codesearch.cli.search import freshness_note
from codesearch.errors import ConfigError
from codesearch.options import Opt
from codesearch.search.forms import parse_asked
from codesearch.settings import HIT_FLAGS, MOST_HITS, IndexingSettings, RefreshSettings
from codesearch.visible import visible

if TYPE_CHECKING:
    from codesearch.engine.engine import Engine
    from codesearch.engine.scope import Scope

_PLACE = "PATH, PATH:LINE, PATH::NAME, or a name or qualified name."


class OutlineOptions(ScopeOptions, IndexingSettings):
    """Options of `outline`."""

    max_lines: Annotated[
        int, Opt("Show at most this many lines, the most important ones.", low=4, high=1_000_000)
    ] = 40
    question: Annotated[str, Opt("Show what answers this question, and what is around it.", "--for")] = ""
    json: Json = False


def outline(
    context: typer.Context,
    place: Annotated[str, argument(f"{_PLACE} Default: this folder.", "[PLACE]")] = ".",
    *,
    options: OutlineOptions,
) -> Iterator[Output]:
    """Show what is in a folder, a file or a class."""
    from codesearch.structure.text import outline_lines

    invocation = invocation_of(context)
    engine, scope = _engine_and_scope(invocation, place, options)
    session = yield from opened(engine, scope, invocation, options)
    found = session.outline(place, max_lines=options.max_lines, question=options.question)
    yield Output(err="".join(map(freshness_note, session.freshness)))
    terminal = invocation.showing(session.revision)
    if options.json:
        yield Output(terminal.json_text(list(map(asdict, found)), indent=2), code=0 if found else 1)
        return
    heads = len({one.root for one in found}) > 1
    for one in found:
        head = f"{visible(one.root)}\n" if heads else ""
        yield Output(head + "".join(f"{line}\n" for line in outline_lines(one, terminal.max_line)))
    if not found:
        yield Output(err="no hits\n", code=1)


class ReadOptions(ScopeOptions, IndexingSettings):
    """Options of `read`."""

    max_lines: Annotated[int, Opt("Fold the members of longer classes and files.", low=4, high=1_000_000)] = (
        120
    )
    json: Json = False


def read(
    context: typer.Context, place: Annotated[str, argument(_PLACE, "PLACE")], options: ReadOptions
) -> Iterator[Output]:
    """Show the code of a file, a range of lines or a definition."""
    invocation = invocation_of(context)
    engine, scope = _engine_and_scope(invocation, place, options)
    session = yield from opened(engine, scope, invocation, options)
    found = session.read(place, most_lines=options.max_lines)
    yield Output(err="".join(map(freshness_note, session.freshness)))
    terminal = invocation.showing(session.revision)
    if options.json:
        yield Output(terminal.json_text(list(map(asdict, found)), indent=2))
    else:
        yield Output(*render_readings(found, place, terminal))


def _engine_and_scope(invocation: Invocation, place: str, options: ScopeOptions) -> tuple[Engine, Scope]:
    """Return an engine and where to look: if the place is a path that exists, in the index around it."""
    path = Path(parse_asked(place).path)
    is_chosen = options.root or options.all or options.index or options.group
    whole = invocation.terminal.here / invocation.path(path)
    paths = () if is_chosen or not whole.exists() else (whole,)
    return invocation.engine(options.home), invocation.scope(options, paths)


class UsagesOptions(RefreshSettings, ScopeOptions, IndexingSettings):
    """Options of `usages`."""

    hits: Annotated[int, Opt("Usages to show.", HIT_FLAGS, low=1, high=MOST_HITS)] = 20
    lang: Languages = ()
    path: Globs = ()
    json: Json = False
    vimgrep: Annotated[bool, Opt("Print path:line:column:text.")] = False


def usages(
    context: typer.Context,
    words: Annotated[
        list[str],
        argument(
            "A name, PATH:LINE or PATH::NAME, and the files or folders to look in.", "NAME|PLACE [PATH]..."
        ),
    ],
    options: UsagesOptions,
) -> Iterator[Output]:
    """Show where a name is used."""
    from codesearch.engine.answer import usages_fields
    from codesearch.search.request import Filters
    from codesearch.structure.text import usages_lines, usages_summary

    invocation = invocation_of(context)
    place, *paths = words
    for missing in (path for path in paths if not os.path.exists(invocation.path(Path(path)))):
        raise ConfigError(f"{missing} does not exist", "give files or folders after the name")
    engine, scope = invocation.engine(options.home), invocation.scope(options, paths)
    asked = parse_asked(place)
    whole = os.path.abspath(invocation.terminal.here / invocation.path(Path(asked.path)))
    if asked.path and (asked.first or asked.inside) and os.path.exists(whole) and not scope.at:
        # The index around the file is searched, not the file alone.
        place, scope = f"{whole}{place.strip().removeprefix(asked.path)}", replace(scope, here=whole)
    session = yield from opened(engine, scope, invocation, options)
    filters = Filters(options.lang, (), options.path, here=invocation.terminal.here)
    answer = session.usages(place, filters=filters, limit=options.hits)
    terminal, found = invocation.showing(session.revision), answer.found
    path_of = partial(path_from, terminal)
    if options.json:
        yield Output(terminal.json_text(usages_fields(answer), indent=2))
    elif options.vimgrep:
        rows = (
            f"{path_of(one.root, one.path)}:{one.line}:{one.column}:{visible(one.text)}\n"
            for one in found.usages
        )
        yield Output("".join(rows), f"{usages_summary(found)}\n")
    else:
        lines = usages_lines(found, terminal.max_line, path_of)
        yield Output("".join(f"{line}\n" for line in lines))
    notes = "".join(map(freshness_note, answer.freshness))
    yield Output(err=notes, code=0 if found.usage_count else 1)
