"""The parts that `query` and `similar` share: they turn options into a request, a scope and a form of output."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from codesearch.cli.amounts import amount
from codesearch.cli.invocation import Invocation, Output
from codesearch.cli.options import positive
from codesearch.errors import ConfigError
from codesearch.visible import visible

if TYPE_CHECKING:
    from codesearch.cli.hits import View
    from codesearch.engine.answer import Answer, Freshness
    from codesearch.engine.engine import Engine
    from codesearch.engine.reports import IndexReport
    from codesearch.engine.scope import Scope
    from codesearch.search.request import SearchRequest

_NOTE = "note: probably nothing here does this (confidence {}); the nearest hits:\n"
_LEFT_OUT = "note: probably nothing here does this: confidence {}, below --min-confidence {}\n"


def make_request(
    query: str,
    invocation: Invocation,
    *,
    top_k: int,
    lang: Sequence[str] | None,
    kind: Sequence[str] | None,
    path: Sequence[str] | None,
    all_code: bool,
    context: int,
    mode: str = "hybrid",
    min_confidence: float = 0.0,
    changed: str | None = None,
    refresh: bool = True,
) -> SearchRequest:
    """Make a request from the options of a command."""
    from codesearch.search.request import Filters, SearchRequest

    if context < 0:
        raise ConfigError(f"--context must not be negative, as {context} is")
    if not 0.0 <= min_confidence <= 1.0:
        raise ConfigError(f"--min-confidence must be from 0 to 1, not {min_confidence:g}")
    filters = Filters(tuple(lang or ()), tuple(kind or ()), tuple(path or ()), here=invocation.terminal.here)
    return SearchRequest(
        query,
        positive("-n", top_k),
        mode,
        filters,
        all_code,
        context,
        refresh=refresh,
        min_confidence=min_confidence,
        changed=changed,
    )


def split_places(words: Sequence[str], invocation: Invocation) -> tuple[str, list[str]]:
    """Split the words of a command line into a query and the existing files and folders after it."""
    first = len(words)
    while first > 1 and _is_place(words[first - 1], invocation):
        first -= 1
    return " ".join(words[:first]), list(words[first:])


def mistyped_places(words: Sequence[str], invocation: Invocation) -> Iterator[Output]:
    """Yield a note for each word after the first that can only be meant as a file or folder, but does not exist."""
    for word in words[1:]:
        if _must_be_place(word) and not os.path.exists(invocation.path(Path(word))):
            yield Output(err=f"note: {visible(word)} does not exist: it is searched for as words\n")


def _is_place(word: str, invocation: Invocation) -> bool:
    """Say whether a word looks like a path and exists."""
    from codesearch.parsing.languages import language_of_path

    looks_so = "/" in word or os.sep in word or word in (".", "..") or language_of_path(word) is not None
    return looks_so and os.path.exists(invocation.path(Path(word)))


def _must_be_place(word: str) -> bool:
    """Say whether a word is a path and nothing else, as "tests/" and "src/app.py" are; "and/or" may be a word."""
    from codesearch.parsing.languages import language_of_path

    if "/" not in word.strip("/") and not word.endswith("/"):
        return False
    return (
        word.startswith(("/", "./", "../", "~/")) or word.endswith("/") or language_of_path(word) is not None
    )


def make_scope(
    invocation: Invocation,
    roots: Sequence[Path] | None,
    files: Sequence[Path] | None = None,
    *,
    everything: bool,
    places: Sequence[str] = (),
) -> Scope:
    """Return the scope that options name; without options, the working directory of the process."""
    from codesearch.engine.scope import Scope

    named = tuple(invocation.path(root) for root in roots or ())
    portable = tuple(invocation.path(file) for file in files or ())
    if portable and (named or everything):
        raise ConfigError("--index excludes --root and --all: search portable files alone, or import them")
    within = tuple(invocation.path(Path(place)) for place in places)
    return Scope(named, invocation.terminal.here, everything, within, portable)


def first_index(
    engine: Engine, scope: Scope, invocation: Invocation, *, auto_index: bool
) -> Iterator[Output]:
    """Index the project of a scope that no index covers, and make indexes of an earlier version again.

    A service leaves that to its client.
    """
    if not auto_index or invocation.opened is not None:
        return
    for project in engine.missing_projects(scope):
        yield _indexed(project, engine.index_project)
    for root in engine.outdated_roots(scope):
        yield _indexed(root, engine.index)


def _indexed(root: Path, index: Callable[..., IndexReport]) -> Output:
    """Index a folder, and say so in one line."""
    from codesearch.cli.index import earlier_format, missing_parsers
    from codesearch.cli.progress import build_progress

    with build_progress(root.name) as on_progress:
        report = index(root, on_progress=on_progress)
    done = f"indexed {visible(str(root))}: {amount(report.documents, 'document')} in {report.seconds:.1f} s\n"
    return Output(err="".join([done, *earlier_format(report), *missing_parsers(report)]))


def chosen_format(**wanted: bool) -> str:
    """Return the format whose option is given, or "text".

    Raises:
        ConfigError: several are given.
    """
    chosen = [name for name, is_wanted in wanted.items() if is_wanted]
    if len(chosen) > 1:
        options = " and ".join(f"--{name}" for name in chosen)
        raise ConfigError(f"{options} exclude each other: give only one")
    return chosen[0] if chosen else "text"


def shown(
    answer: Answer,
    request: SearchRequest,
    invocation: Invocation,
    *,
    form: str,
    view: View,
    places: Sequence[str] = (),
) -> Iterator[Output]:
    """Yield an answer as a command prints it; the exit code is 1 if nothing was found.

    Args:
        answer: what was found.
        request: what was asked.
        invocation: the process that asked.
        form: one of `codesearch.cli.render.FORMATS`.
        view: what people are shown.
        places: the files and folders that the search was limited to, as they were typed.
    """
    from codesearch.cli.render import render

    yield Output(err="".join(map(_freshness_note, answer.freshness)))
    if not answer.documents:
        yield Output(
            err=f"no document is indexed in {_listed(answer.roots)}: `codesearch status` counts what is not indexed\n"
        )
    elif answer.changed_files == 0:
        yield Output(
            err=f"no changed files against {visible(str(request.changed))} in {_listed(answer.roots)}\n"
        )
    elif not answer.filters_match:
        filters = _typed(request, places)
        yield Output(err=f"no document matches {visible(filters)} in {_listed(answer.roots)}\n")
    elif form != "json":
        yield Output(err=_note(answer, request))
    text = render(answer, form, invocation.terminal, view)
    yield Output(out=text, code=0 if answer.hits else 1)


def _note(answer: Answer, request: SearchRequest) -> str:
    """Say that the hits probably do not answer the query, or why there are none."""
    from codesearch.cli.hits import percent

    if answer.confidence is not None and answer.confidence < request.min_confidence:
        return _LEFT_OUT.format(percent(answer.confidence), percent(request.min_confidence))
    is_doubtful = answer.low_confidence and answer.hits
    return _NOTE.format(percent(answer.confidence or 0.0)) if is_doubtful else ""


def _freshness_note(found: Freshness) -> str:
    """Say in one line that an index is older than its folder, and what to do."""
    root = visible(found.root)
    if found.state == "locked":
        return f"note: {root} is being indexed by another process: this is the last complete index\n"
    if found.state == "with code":
        return f"note: the sources of {root} are not here: hits have the code that was indexed\n"
    if found.state == "without code":
        return f"note: the sources of {root} are not here: hits have no code\n"
    if found.state != "behind":
        return ""
    files = amount(found.changes.to_parse + found.changes.removed, "file")
    return f"note: {files} changed since {root} was indexed: run `codesearch index {root}`\n"


def _typed(request: SearchRequest, places: Sequence[str]) -> str:
    """Return filters as a user types them."""
    filters = request.filters
    options = (("--lang", filters.languages), ("--kind", filters.kinds), ("--path", filters.paths))
    words = [word for option, values in options for value in values for word in (option, value)]
    changed = [] if request.changed is None else [f"--changed={request.changed}"]
    return shlex.join([*words, *changed, *places])


def _listed(roots: Sequence[str]) -> str:
    return visible(roots[0]) if len(roots) == 1 else f"{len(roots)} indexed folders"
