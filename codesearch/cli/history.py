"""`codesearch history`: the commits that answer a question, or that changed a file, a folder or a definition."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from codesearch.cli.first import opened
from codesearch.cli.invocation import Invocation, Output, invocation_of
from codesearch.cli.notes import build_progress, counted
from codesearch.cli.options import Home, Json, argument
from codesearch.cli.search import is_path, searched_as_words
from codesearch.errors import ConfigError
from codesearch.options import Opt
from codesearch.parsing.languages import language_of_path
from codesearch.settings import HIT_FLAGS, MOST_HITS, IndexingSettings, SearchSettings
from codesearch.visible import visible


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
    root = invocation.path(options.root) if options.root else None
    if root and not root.is_dir():
        raise ConfigError(f"{root} is not a folder", "give --root an existing folder")
    scope = Scope((root,)) if root else Scope(here=terminal.here)
    if place:
        yield from opened(engine, scope, invocation, options)
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
    from codesearch.search.forms import parse_asked

    if is_path(word, invocation):
        return True
    asked = parse_asked(word)
    if not (asked.first or asked.inside):
        return False
    return language_of_path(asked.path) is not None or os.path.exists(invocation.path(Path(asked.path)))
