"""`codesearch outline`, `read`, `usages` and `history`: the shape of code, the code, who uses it, what changed it."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from codesearch.cli.invocation import Invocation, Output, invocation_of
from codesearch.cli.notes import build_progress, counted
from codesearch.cli.options import Globs, Home, Json, Languages, ScopeOptions, argument
from codesearch.cli.render import path_from, render_readings
from codesearch.cli.search import freshness_note, is_path, searched_as_words
from codesearch.errors import ConfigError
from codesearch.options import Opt
from codesearch.parsing.languages import language_of_path
from codesearch.search.forms import parse_asked
from codesearch.settings import HIT_FLAGS, MOST_HITS, IndexingSettings, RefreshSettings, SearchSettings
from codesearch.visible import visible

if TYPE_CHECKING:
    from codesearch.engine.session import Session

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
    session = yield from _opened(invocation, place, options)
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
    session = yield from _opened(invocation, place, options)
    found = session.read(place, most_lines=options.max_lines)
    yield Output(err="".join(map(freshness_note, session.freshness)))
    terminal = invocation.showing(session.revision)
    if options.json:
        yield Output(terminal.json_text(list(map(asdict, found)), indent=2))
    else:
        yield Output(*render_readings(found, place, terminal))


def _opened(
    invocation: Invocation, place: str, options: OutlineOptions | ReadOptions
) -> Generator[Output, None, Session]:
    """Open the indexes to look in: if the place is a path that exists, the index around it."""
    path = Path(parse_asked(place).path)
    is_chosen = options.root or options.all or options.index or options.group
    whole = invocation.terminal.here / invocation.path(path)
    paths = () if is_chosen or not whole.exists() else (whole,)
    engine, scope = invocation.engine(options.home), invocation.scope(options, paths)
    return (yield from invocation.opened(engine, scope, options))


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
    session = yield from invocation.opened(engine, scope, options)
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


class HistoryOptions(IndexingSettings):
    """Options of `history`."""

    hits: Annotated[int, Opt("Commits to show.", HIT_FLAGS, low=1, high=MOST_HITS)] = SearchSettings.hits
    since: Annotated[
        str, Opt('Only commits since a date, such as 2024-05-31, or a time, such as "3 months".')
    ] = ""
    author: Annotated[str, Opt("Only commits whose author has this in the name or address.")] = ""
    path: Annotated[
        tuple[str, ...], Opt("Only commits that changed a path that matches this glob; ! before it excludes.")
    ] = ()
    root: Annotated[Path | None, Opt("The folder, by default this one.")] = None
    json: Json = False
    home: Home = None


def history(
    context: typer.Context,
    words: Annotated[
        list[str] | None,
        argument("A file or folder, PATH:LINE or PATH::NAME, and what to look for.", "[PLACE] [QUESTION]..."),
    ] = None,
    *,
    options: HistoryOptions,
) -> Iterator[Output]:
    """Search the commits of this repository."""
    from codesearch.engine.scope import Scope
    from codesearch.history.hits import history_lines
    from codesearch.history.search import CommitFilters

    invocation = invocation_of(context)
    place, *rest = words or [""]
    if not _is_place(place, invocation):
        if " " not in place and (language_of_path(place) or place.endswith("/")):
            yield searched_as_words(place)
        place, rest = "", list(words or [])
    engine = invocation.engine(options.home)
    terminal = invocation.terminal
    root = options.root and invocation.path(options.root)
    if root and not root.is_dir():
        raise ConfigError(f"{root} is not a folder", "give --root an existing folder")
    scope = Scope((root,)) if root else Scope(here=terminal.here)
    if place:
        yield from invocation.opened(engine, scope, options)
    filters = CommitFilters(options.since, options.author, options.path, here=terminal.here)
    with build_progress("history", unit="commits") as on_progress:
        answer = engine.history(
            " ".join(rest), scope, place=place, filters=filters, top_k=options.hits, on_progress=on_progress
        )
    notes = f"indexed {counted(answer.added, 'commit')} of {visible(answer.top)}\n" if answer.added else ""
    if answer.shallow:
        cure = f"`git -C {answer.top} fetch --unshallow`"
        notes += f"note: {visible(answer.top)} is a shallow clone, so older commits are missing: run {visible(cure)}\n"
    yield Output(err=notes)
    if options.json:
        text = terminal.json_text(asdict(answer), indent=2)
    else:
        text = "".join(f"{line}\n" for line in history_lines(answer, terminal.max_line))
    yield Output(text, code=0 if answer.hits else 1)


def _is_place(word: str, invocation: Invocation) -> bool:
    """Say whether a word is the place of a definition, or a path that exists."""
    if is_path(word, invocation):
        return True
    asked = parse_asked(word)
    if not (asked.first or asked.inside):
        return False
    return language_of_path(asked.path) is not None or os.path.exists(invocation.path(Path(asked.path)))
