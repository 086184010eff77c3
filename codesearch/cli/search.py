"""`codesearch query` and `codesearch similar`: rank indexed documents for a question, or for the code at a line."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from codesearch.cli.entry import MAX_STDIN_BYTES
from codesearch.cli.invocation import Invocation, Output, invocation_of
from codesearch.cli.notes import counted
from codesearch.cli.options import CHANGED, Globs, Json, Languages, ScopeOptions, argument, only_one
from codesearch.errors import ConfigError, IndexNotFoundError, index_command
from codesearch.options import Opt
from codesearch.settings import (
    IndexingSettings,
    ModelSettings,
    QuerySettings,
    RefreshSettings,
    SearchSettings,
    ServerSettings,
)
from codesearch.types import KINDS
from codesearch.visible import visible

if TYPE_CHECKING:
    from codesearch.engine.answer import Answer, Freshness
    from codesearch.engine.session import Session
    from codesearch.search.request import Place, SearchRequest
    from codesearch.structure.whole import Reading

_FORMATS = ("json", "jsonl", "vimgrep", "compact", "files")
"""The options that choose another form of output than text."""
_OF_DEFINITIONS = frozenset({"jsonl", "vimgrep", "compact"})
"""Those that list definitions; the others list files with their best definitions."""
_SHOWN_PLACES = 5
"""Of an exact text outside of definitions."""


class SearchOptions(
    SearchSettings, RefreshSettings, ScopeOptions, ModelSettings, ServerSettings, IndexingSettings
):
    """Options of `query` and `similar`."""

    lang: Languages = ()
    path: Globs = ()
    kind: Annotated[tuple[str, ...], Opt(f"Only this kind: {', '.join(KINDS)}.", choices=KINDS)] = ()
    changed: Annotated[str | None, Opt(CHANGED.format("files"), metavar="[REV]")] = None
    json: Json = False
    jsonl: Annotated[bool, Opt("Print one JSON object for each hit.")] = False
    vimgrep: Annotated[bool, Opt("Print path:line:column:signature.")] = False
    compact: Annotated[bool, Opt("Print one line for each hit.")] = False
    files: Annotated[bool, Opt("Print only the paths of the files.", "--files -l")] = False
    full: Annotated[bool, Opt("Show whole bodies.")] = False
    context_lines: Annotated[
        int, Opt("Lines of the file to show around each hit.", "--context -C", low=0, high=1_000_000)
    ] = 0
    explain: Annotated[bool, Opt("Show what each part added to the score.")] = False
    no_service: Annotated[bool, Opt("Answer in this process, even if `codesearch serve` runs.")] = False


class QueryOptions(QuerySettings, SearchOptions):
    """Options of `query`."""

    fixed: Annotated[bool, Opt("Find this exact text.", "--fixed -F")] = False


def query(
    context: typer.Context,
    words: Annotated[
        list[str],
        argument(
            "What to look for, or - for stdin; then the files or folders to look in.", "TEXT... [PATH]..."
        ),
    ],
    options: QueryOptions,
) -> Iterator[Output]:
    """Search with a question, keywords, a name, a path or text."""
    invocation = invocation_of(context)
    first = len(words)  # The first of the existing files and folders after the query.
    while first > 1 and is_path(words[first - 1], invocation):
        first -= 1
    text = _text_on_stdin(invocation) if words[:first] == ["-"] else " ".join(words[:first])
    paths = words[first:]
    yield from _mistyped_paths(words, invocation)
    yield from _search(text, invocation, options, paths)


def similar(
    context: typer.Context,
    location: Annotated[str, argument("FILE:LINE, FILE::NAME, a name or a qualified name.", "PLACE")],
    paths: Annotated[list[str] | None, argument("The files or folders to look in.", "[PATH]...")] = None,
    *,
    options: SearchOptions,
) -> Iterator[Output]:
    """Find code like a function or class."""
    yield from _search(location, invocation_of(context), options, paths or ())


def _example(location: str, invocation: Invocation) -> Place | str:
    """Return the place of a file that exists; anything else is looked up in the indexes."""
    from codesearch.search.forms import parse_asked
    from codesearch.search.request import Place

    asked = parse_asked(location)
    path = invocation.path(Path(asked.path))
    return Place(path, asked.first) if asked.first and path.exists() else location


def _text_on_stdin(invocation: Invocation) -> str:
    if invocation.stdin is None:
        raise ConfigError("no query on stdin", "pipe it into `codesearch query -`, or give it as words")
    if len(invocation.stdin.encode()) > MAX_STDIN_BYTES:
        raise ConfigError(
            f"the query on stdin has more than {MAX_STDIN_BYTES:,} bytes",
            "give a part of it, such as one function",
        )
    return invocation.stdin.strip()


def _search(
    text: str, invocation: Invocation, options: SearchOptions, paths: Sequence[str]
) -> Iterator[Output]:
    """Search for a query or for code like that at a place, and yield what is printed; code 1 without hits."""
    from codesearch.cli.render import render
    from codesearch.search.request import Filters, SearchRequest

    output_format = only_one(options, _FORMATS) or "text"
    request = SearchRequest(
        text,
        options.hits,
        filters=Filters(options.lang, options.kind, options.path, here=invocation.terminal.here),
        all_code=options.all_code,
        context=options.context_lines,
        refresh=options.refresh,
        changed=options.changed,
    )
    if isinstance(options, QueryOptions):
        request = replace(
            request,
            mode="lexical" if options.fixed else options.mode,
            min_confidence=options.min_confidence,
            by_file=not options.flat and output_format not in _OF_DEFINITIONS,
            fixed=options.fixed,
        )
    backend = invocation.milvus(options)
    engine = invocation.engine(options.home, model=options.model, device=options.device, backend=backend)
    scope = invocation.scope(options, paths)
    session = yield from invocation.opened(engine, scope, options)
    if isinstance(options, QueryOptions):
        answer = session.search(request)
    else:
        answer = replace(session.similar(_example(text, invocation), request), query=text)
    is_full = options.full and engine.is_local and output_format == "text"
    yield Output(
        render(
            answer,
            output_format,
            invocation.showing(session.revision),
            full=options.full,
            explain=options.explain,
            color=options.color,
            classes=_classes(session, answer) if is_full else {},
        )
    )
    notes = [
        *map(freshness_note, answer.freshness),
        left_out_note(answer),
        _note(answer, request, paths, output_format),
    ]
    # Last, because that is where people look.
    yield Output(err="".join(notes), code=0 if answer.hits or answer.outside else 1)


def _classes(session: Session, answer: Answer) -> dict[int, Reading]:
    """Return the whole class of each hit that is only the header of one, by rank."""
    found = {}
    for hit in answer.hits:
        if hit.last_line > hit.end_line:
            with suppress(IndexNotFoundError):
                place = f"{os.path.join(hit.root, hit.path)}:{hit.start_line}"
                found[hit.rank] = session.read(place)[0]
    return found


def is_path(word: str, invocation: Invocation) -> bool:
    """Say whether a word looks like a path and exists."""
    from codesearch.parsing.languages import language_of_path

    looks_so = "/" in word or os.sep in word or word in (".", "..") or language_of_path(word) is not None
    return looks_so and os.path.exists(invocation.path(Path(word)))


def _mistyped_paths(words: Sequence[str], invocation: Invocation) -> Iterator[Output]:
    """Yield a note for each word after the first that can only be meant as a file or folder, but does not exist.

    Such words are "tests/" and "src/app.py"; "and/or" may be a word.
    """
    from codesearch.parsing.languages import language_of_path

    for word in words[1:]:
        is_marked = word.startswith(("/", "./", "../", "~/")) and "/" in word.strip("/") or word.endswith("/")
        looks_so = is_marked or ("/" in word.strip("/") and language_of_path(word))
        if looks_so and not os.path.exists(invocation.path(Path(word))):
            yield searched_as_words(word)


def searched_as_words(path: str) -> Output:
    """Return a note for a path that does not exist."""
    return Output(err=f"note: {visible(path)} does not exist: it is searched for as words\n")


def freshness_note(found: Freshness) -> str:
    """Say in one line that an index is older than its folder, and what to do."""
    root = visible(found.root)
    changed = found.changes.to_parse + found.changes.removed
    cure = f"run {visible(index_command(found.root))}"
    behind = f"{counted(changed, 'file')} changed since {root} was indexed: {cure}"
    if not changed:
        slow = f"{root} has changed, and a query has no time to find out what"
        behind = f"{slow}: {cure}, or keep {visible(index_command(found.root, command='watch'))} running"
    from codesearch.engine.answer import State

    notes = {
        State.LOCKED: f"{root} is being indexed by another process: this is the last complete index",
        State.WITH_CODE: f"the sources of {root} are not here: hits have the code that was indexed",
        State.WITHOUT_CODE: f"the sources of {root} are not here: hits have no code",
        State.BEHIND: behind,
        State.UNCHECKED: f"{root} was not compared with its index: {visible(found.error)}",
        State.UNREADABLE: f"{root} is left out: {visible(found.error)}",
    }
    return f"note: {notes[found.state]}\n" if found.state in notes else ""


def left_out_note(answer: Answer) -> str:
    """Say in one line that files are missing because of the limits of a run."""
    if not answer.left_out:
        return ""
    files, why = counted(answer.left_out, "file"), "too much time or memory for a parser, or a crash"
    return f"note: {files} not in the index ({why}): see `codesearch status --warnings`\n"


def _note_of_text(answer: Answer) -> str:
    """Say where an exact text is outside of definitions, and how many files were not read."""
    note = ""
    if answer.outside:
        shown, more = answer.outside[:_SHOWN_PLACES], len(answer.outside) - _SHOWN_PLACES
        rest = f" and {more:,} more" if more > 0 else ""
        note = f"note: outside of definitions: {visible(', '.join(shown))}{rest}\n"
    if answer.unread_files:
        note += f"note: {counted(answer.unread_files, 'more file')} may have the text: narrow with a path\n"
    return note


def _note(answer: Answer, request: SearchRequest, paths: Sequence[str], output_format: str) -> str:
    """Say why there are no hits, or that they probably do not answer the query."""
    from codesearch.cli.render import percent

    roots = visible(answer.roots[0]) if len(answer.roots) == 1 else f"{len(answer.roots)} indexed folders"
    if not answer.documents:
        return f"no document is indexed in {roots}: `codesearch status` counts what is not indexed\n"
    if answer.changed_files == 0:
        return f"no changed files against {visible(str(request.changed))} in {roots}\n"
    if not answer.filters_match:
        filters = request.filters
        given = (("--lang", filters.languages), ("--kind", filters.kinds), ("--path", filters.paths))
        words = [word for option, values in given for value in values for word in (option, value)]
        changed = [] if request.changed is None else [f"--changed={request.changed}"]
        return f"no document matches {visible(shlex.join([*words, *changed, *paths]))} in {roots}\n"
    if request.fixed:
        return _note_of_text(answer)
    if output_format == "json":  # It has the confidence.
        return ""
    doubt, sure = "note: probably nothing here does this", percent(answer.confidence or 0.0)
    if answer.confidence is not None and answer.confidence < request.min_confidence:
        return f"{doubt}: confidence {sure}, below --min-confidence {percent(request.min_confidence)}\n"
    is_doubtful = answer.low_confidence and answer.hits
    return f"{doubt} (confidence {sure})\n" if is_doubtful else ""
