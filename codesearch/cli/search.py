"""`codesearch query` and `codesearch similar`: rank indexed documents for a question, or for the code at a line."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from codesearch.cli.entry import MAX_STDIN_BYTES
from codesearch.cli.invocation import Invocation, Output, Terminal, notes_of
from codesearch.cli.options import CHANGED, FilterOptions, argument
from codesearch.cli.render import columns_of, has_colour, path_from, percent, render, screen_rows
from codesearch.config import FILE_SHARE
from codesearch.errors import ConfigError, IndexNotFoundError
from codesearch.languages import language_of_path
from codesearch.options import Opt
from codesearch.search.request import READ_S, SearchRequest
from codesearch.settings import ModelSettings, QuerySettings, SearchSettings, ServerSettings
from codesearch.types import KINDS, Hit
from codesearch.visible import visible

if TYPE_CHECKING:
    from codesearch.engine.answer import Answer
    from codesearch.engine.session import Session

_FORMATS = ("json", "jsonl", "vimgrep", "compact", "files")
"""The options that choose another form of output than text."""
_OF_DEFINITIONS = frozenset({"jsonl", "vimgrep", "compact"})
"""Those that list definitions; the others list files with their best definitions."""
_TOKENS, _CODE_LINES = 1_100, 42
"""The longest answer for a program, and its lines of code."""
FEW = 3
"""With fewer lines than this, an answer says what it did not see."""


_FEW_HITS, _FEW_OTHERS, _WEAK = 12, 30, 0.45
"""What a small screen has room for is shown, and more than that if it has this part of the best score."""
_QUOTED = re.compile(r"\s*([\"']).+\1\s*")
_ONLY_NAMED = "note: the query is a name, so only its definitions are shown: -n 20 shows others too\n"
_REGEX = re.compile(r"\S*(?:\.[*+][\w(\\]|\\[bdsw][+*]|\[\^)\S*")
"""A query that is clearly a regular expression: not `java.util.*`."""


class SearchOptions(SearchSettings, FilterOptions, ModelSettings, ServerSettings):
    """Options of `query` and `similar`."""

    kind: Annotated[tuple[str, ...], Opt(f"Only this kind: {', '.join(KINDS)}.", choices=KINDS)] = ()
    changed: Annotated[str | None, Opt(CHANGED.format("files"), metavar="[REV]")] = None
    jsonl: Annotated[bool, Opt("Print one JSON object for each hit.")] = False
    vimgrep: Annotated[bool, Opt("Print path:line:column:signature, for editors.")] = False
    compact: Annotated[bool, Opt("Print one line for each hit.")] = False
    files: Annotated[bool, Opt("Print only paths.", "--files -l")] = False
    full: Annotated[bool, Opt("Show the whole code of each hit.")] = False
    context_lines: Annotated[
        int, Opt("Lines to show above and below each hit.", "--context -C", low=0, high=1_000_000)
    ] = 0
    explain: Annotated[bool, Opt("Show the parts of each score.")] = False
    no_service: Annotated[bool, Opt("Answer in this process, even if `codesearch serve` runs.")] = False

    @property
    def form(self) -> str:
        """The form of the output."""
        form, *others = [name for name in _FORMATS if getattr(self, name)] or ["text"]
        if others:
            raise ConfigError(f"--{form} and --{others[0]} exclude each other", "give only one")
        return form

    def rows(self, terminal: Terminal) -> int:
        """Return how many rows the hits fill: those of a screen if no number of hits is given; else 0."""
        is_list = self.form == "text" and not (self.full or self.explain or self.context_lines)
        return screen_rows(terminal) if terminal.is_terminal and is_list and self.hits is None else 0

    def fields(self, invocation: Invocation) -> dict[str, Any]:
        """Return the fields of the request."""
        return {
            "top_k": self.hits or self.rows(invocation.terminal) or None,
            "filters": replace(invocation.filters(self), kinds=self.kind),
            "all_code": self.all_code,
            "context": self.context_lines,
            "changed": self.changed,
        }


class QueryOptions(QuerySettings, SearchOptions):
    """Options of `query`."""

    fixed: Annotated[bool, Opt("Find this exact text.", "--fixed -F")] = False
    seconds: Annotated[float, Opt("With -F: read files for at most this time.", low=0.1)] = READ_S

    def is_brief(self, terminal: Terminal) -> bool:
        """Say whether the answer is for a program that reads text, such as an agent."""
        is_other = self.full or self.explain or self.context_lines or self.fixed or self.at
        return (
            self.form == "text"
            and not is_other
            and not has_colour(terminal, self.color)
            and not terminal.is_terminal
        )

    def fields(self, invocation: Invocation) -> dict[str, Any]:
        """Return the fields of the request."""
        fields = super().fields(invocation) | {
            "mode": "lexical" if self.fixed else self.mode,
            "min_confidence": self.min_confidence,
            "fixed": self.fixed,
            "seconds": self.seconds,
        }
        if self.flat or self.form in _OF_DEFINITIONS:
            return fields
        fields |= {"top_k": self.hits, "by_file": True}
        if rows := self.rows(invocation.terminal):
            fields |= {"screen": rows, "columns": columns_of(invocation.terminal)}
        return fields


def query(
    invocation: Invocation,
    words: Annotated[
        list[str],
        argument(
            "What to search for (-: read it from stdin), then where: files or folders.", "TEXT... [PATH]..."
        ),
    ],
    options: QueryOptions,
) -> Iterator[Output]:
    """Search with a question, keywords, a name, a path or text.

    For example: codesearch query "retry a failed request" src/ --lang go
    """
    first = len(words)  # The first of the existing files and folders after the query.
    while first > 1 and is_path(words[first - 1], invocation):
        first -= 1
    text = _text_on_stdin(invocation) if words[:first] == ["-"] else " ".join(words[:first])
    for word in words[1:]:  # "tests/" and "src/app.py" can only be meant as paths; "and/or" may be a word.
        folder, slash, _ = word.partition("/")
        is_marked = (
            folder in ("", ".", "..", "~") or language_of_path(word) or is_path(folder + slash, invocation)
        )
        looks_so = word.endswith("/") or (is_marked and "/" in word.strip("/"))
        if looks_so and not os.path.exists(invocation.path(Path(word))):
            yield searched_as_words(word)
    yield from _search(text, invocation, options, words[first:])


def similar(
    invocation: Invocation,
    location: Annotated[str, argument("FILE:LINE, FILE::NAME, a name or a qualified name.", "PLACE")],
    paths: Annotated[list[str] | None, argument("Files or folders to search.", "[PATH]...")] = None,
    *,
    options: SearchOptions,
) -> Iterator[Output]:
    """Find code like a function or class."""
    yield from _search(location, invocation, options, paths or ())


def _text_on_stdin(invocation: Invocation) -> str:
    if invocation.stdin is None:
        raise ConfigError("no query on stdin", "pipe it into `codesearch query -`, or give it as words")
    if len(invocation.stdin.encode()) > MAX_STDIN_BYTES:
        problem = f"the query on stdin has more than {MAX_STDIN_BYTES:,} bytes"
        raise ConfigError(problem, "give a part of it, such as one function")
    return invocation.stdin.strip()


def _search(
    text: str, invocation: Invocation, options: SearchOptions, paths: Sequence[str]
) -> Iterator[Output]:
    """Search for a query or for code like that at a place, and yield what is printed; code 1 without hits."""
    form, request = options.form, SearchRequest(text, **options.fields(invocation))
    engine = invocation.engine(options.home, options, invocation.milvus(options))
    session = yield from invocation.session(engine, invocation.scope(options, paths), options)
    terminal, brief = invocation.showing(session.revision), None
    if isinstance(options, QueryOptions) and options.is_brief(terminal):
        from codesearch.engine.brief import make_brief

        brief = make_brief(session, replace(request, top_k=options.hits), _CODE_LINES, with_usages=False)
        answer = brief.answer
    elif isinstance(options, QueryOptions):
        answer = session.search(request)
    else:
        answer = session.similar(invocation.place(text) if invocation.pool else text, request)
    if options.full and engine.is_local and form == "text":
        answer = replace(answer, hits=[_whole(session, hit) for hit in answer.hits])
    spoken = answer if form == "text" else replace(answer, unknown_words=())
    notes = "".join(_notes(spoken, request, paths, terminal, is_json=form == "json"))
    is_few = answer.lines < FEW if request.fixed else not answer.hits
    if request.screen and answer.hits and answer.hits[0].is_named:
        named = [
            replace(hit, others=tuple(other for other in hit.others if other.is_named))
            for hit in answer.hits
            if hit.is_named
        ]
        notes += _ONLY_NAMED * (named != answer.hits)
        answer = replace(answer, hits=named)
    elif request.screen and not request.fixed:
        answer = replace(answer, hits=relevant(answer.hits))
    notes += notes_of(answer.freshness, answer.coverage, is_few=is_few)
    if brief and answer.hits:
        from codesearch.agents.text import FOR_SHELL, brief_text

        yield Output(brief_text(brief, partial(path_from, terminal), _TOKENS, FOR_SHELL))
    else:
        if request.screen:  # The notes are on it too.
            rows = sum(-(-len(line) // terminal.width) for line in notes.splitlines())
            terminal = replace(terminal, height=terminal.height - rows)
            answer = replace(answer, hits=answer.hits[: screen_rows(terminal)])
        yield Output(
            render(answer, form, terminal, full=options.full, explain=options.explain, color=options.color)
        )
    # Last, because that is where people look.
    yield Output(err=notes, code=0 if answer.hits or answer.outside else 1)


def relevant(hits: Sequence[Hit]) -> list[Hit]:
    """Leave out weak hits, and weak definitions of their files, that only a large screen has room for."""

    def value(other: Hit, of: Hit) -> float:
        return other.score + FILE_SHARE * of.score

    least = max((_WEAK * value(hit, hit) for hit in hits[:1]), default=0.0)
    others = sorted((value(other, hit) for hit in hits for other in hit.others), reverse=True)
    edge = min([least, *others[_FEW_OTHERS - 1 : _FEW_OTHERS]])
    strong = (hit for at, hit in enumerate(hits) if at < _FEW_HITS or value(hit, hit) >= least)
    return [
        replace(hit, others=tuple(other for other in hit.others if value(other, hit) >= edge))
        for hit in strong
    ]


def _whole(session: Session, hit: Hit) -> Hit:
    """Return a hit with all of its code; that of a class is only its header."""
    if hit.last_line == hit.end_line:
        return hit
    try:
        place = f"{os.path.join(hit.root, hit.path)}:{hit.start_line}"
        reading = session.read(place, most_lines=sys.maxsize).places[0]
    except IndexNotFoundError:
        return hit
    return replace(hit, code="\n".join(text for _, text in reading.lines), before=(), after=())


def is_path(word: str, invocation: Invocation) -> bool:
    """Say whether a word looks like a path and exists."""
    looks_so = "/" in word or os.sep in word or word in (".", "..") or language_of_path(word) is not None
    return looks_so and os.path.exists(invocation.path(Path(word)))


def searched_as_words(path: str) -> Output:
    """Return a note for a path that does not exist."""
    return Output(err=f"note: {visible(path)} does not exist: it is searched for as words\n")


def _notes(
    answer: Answer, request: SearchRequest, paths: Sequence[str], terminal: Terminal, *, is_json: bool
) -> Iterator[str]:
    """Yield why there are no hits, and that they probably do not answer the query."""
    from codesearch.search.forms import ENGLISH_ONLY, is_foreign

    roots = visible(answer.roots[0]) if len(answer.roots) == 1 else f"{len(answer.roots)} indexed folders"
    sure = percent(answer.confidence or 0.0)
    if not answer.documents:
        yield f"no document is indexed in {roots}: `codesearch status` counts what is not indexed\n"
    elif answer.changed_files == 0:
        yield f"no changed files against {visible(str(request.changed))} in {roots}\n"
    elif not answer.filters_match:
        filters = request.filters
        given = (("--lang", filters.languages), ("--kind", filters.kinds), ("--path", filters.paths))
        words = [word for option, values in given for value in values for word in (option, value)]
        changed = [] if request.changed is None else [f"--changed={request.changed}"]
        yield f"no document matches {visible(shlex.join([*words, *changed, *paths]))} in {roots}\n"
    elif request.fixed:
        if text := answer.text_note(partial(path_from, terminal)):
            yield f"note: {text}"
    elif is_json:  # It has the confidence.
        return
    elif answer.confidence is not None and answer.confidence < request.min_confidence:
        yield f"note: hits are hidden: confidence {sure}, below --min-confidence {percent(request.min_confidence)}\n"
    elif is_foreign(answer.query):
        yield f"note: {ENGLISH_ONLY}\n"
    elif doubts := "; ".join(_doubts(answer)):
        yield f"note: {doubts}\n"


def _doubts(answer: Answer) -> Iterator[str]:
    """Yield why hits probably do not answer a query."""
    if answer.low_confidence and answer.hits:
        yield f"probably nothing here does this (confidence {percent(answer.confidence or 0.0)})"
    if _REGEX.fullmatch(answer.query):
        yield "a query is no regular expression: give a fixed part of it with -F"
    has_text = any(hit.signals.get("literal") for hit in answer.screen)
    if answer.hits and _QUOTED.fullmatch(answer.query) and not has_text:
        yield "no definition has the quoted text: -F searches other lines too"
    elif answer.unknown_note:
        yield answer.unknown_note
