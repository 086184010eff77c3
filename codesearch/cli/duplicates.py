"""`codesearch duplicates`: functions that do the same; exit code 1 if there are any, for checks before a commit."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from codesearch.cli.invocation import Output, invocation_of
from codesearch.cli.notes import counted
from codesearch.cli.options import CHANGED, Globs, Json, Languages, ScopeOptions, argument, only_one
from codesearch.cli.render import place_of
from codesearch.cli.search import freshness_note
from codesearch.duplicates.records import SAME, Limits, cut
from codesearch.errors import ConfigError
from codesearch.options import Opt
from codesearch.settings import IndexingSettings, RefreshSettings
from codesearch.visible import visible

if TYPE_CHECKING:
    from codesearch.cli.invocation import Terminal
    from codesearch.duplicates.records import Group, Match
    from codesearch.engine.answer import DuplicatesAnswer

_FORMATS = ("json", "jsonl", "vimgrep")
_SHOWN = 5
"""Matches of a group that the text shows."""


class DuplicatesOptions(Limits, RefreshSettings, ScopeOptions, IndexingSettings):
    """Options of `duplicates`."""

    changed: Annotated[str | None, Opt(CHANGED.format("functions"), metavar="[REV]")] = None
    same: Annotated[
        str,
        Opt(
            "What they share: text, all but names and values (renamed), or what they do (meaning).",
            choices=SAME,
        ),
    ] = "meaning"
    lang: Languages = ()
    path: Globs = ()
    ignore: Annotated[tuple[str, ...], Opt("Leave out paths that match this glob.")] = ()
    json: Json = False
    jsonl: Annotated[bool, Opt("Print one JSON object for each pair.")] = False
    vimgrep: Annotated[bool, Opt("Print path:line:column:text for each pair.")] = False


def duplicates(
    context: typer.Context,
    paths: Annotated[list[str] | None, argument("Files or folders to look in.", "[PATH]...")] = None,
    *,
    options: DuplicatesOptions,
) -> Iterator[Output]:
    """List functions that do the same.

    The exit code is 1 if there are any. A comment "codesearch: ignore-duplicate" in a function keeps it out.
    """
    from codesearch.search.request import Filters

    output_format = only_one(options, _FORMATS) or "text"
    invocation = invocation_of(context)
    for missing in (path for path in paths or () if not os.path.exists(invocation.path(Path(path)))):
        raise ConfigError(f"{missing} does not exist", "give files or folders")
    engine, scope = invocation.engine(options.home), invocation.scope(options, paths or ())
    is_complete = options.changed is not None
    session = yield from invocation.opened(engine, scope, options, is_complete=is_complete)
    ignored = (f"!{glob}" for glob in options.ignore)
    answer = session.duplicates(
        changed=options.changed,
        filters=Filters(options.lang, (), (*options.path, *ignored), here=invocation.terminal.here),
        min_lines=options.min_lines,
        min_score=options.min_score,
        all_code=options.all_code,
    )
    same = SAME[: SAME.index(options.same) + 1]
    answer = replace(answer, groups=cut(answer.groups, same=same))
    yield Output(_rendered(answer, output_format, invocation.showing(session.revision)))
    notes = "".join(map(freshness_note, answer.freshness))
    yield Output(err=notes + _summary(answer), code=1 if answer.groups else 0)


def _rendered(answer: DuplicatesAnswer, output_format: str, terminal: Terminal) -> str:
    if output_format == "json":
        return terminal.json_text(asdict(answer), indent=2)
    pairs = [(group.function, match) for group in answer.groups for match in group.matches]
    if output_format == "jsonl":
        return "".join(terminal.json_text({"function": asdict(one), **asdict(match)}) for one, match in pairs)
    if output_format == "vimgrep":
        return "".join(
            f"{place_of(one, terminal)}:1:{_relation(match)} as "
            f"{place_of(match.function, terminal)} {visible(match.function.name)}\n"
            for one, match in pairs
        )
    return "\n".join(_lines(group, terminal) for group in answer.groups)


def _lines(group: Group, terminal: Terminal) -> str:
    one = group.function
    lines = [f"{place_of(one, terminal)}  {visible(one.name)}  {counted(one.lines, 'line')}\n"]
    for match in group.matches[:_SHOWN]:
        place, name = place_of(match.function, terminal), visible(match.function.name)
        lines.append(f"  {_relation(match):<15}  {place}  {name}\n")
    if (more := len(group.matches) - _SHOWN) > 0:
        lines.append(f"  and {more:,} more, which --vimgrep lists\n")
    return "".join(lines)


def _relation(match: Match) -> str:
    return {"text": "same text", "renamed": "same but names"}.get(match.same) or f"similar {match.score:.0%}"


def _summary(answer: DuplicatesAnswer) -> str:
    compared = counted(answer.functions, "function")
    if answer.changed is not None:
        compared = f"{counted(answer.changed, 'changed definition')}, compared with {compared}"
    if not answer.groups:
        return f"no duplicates in {compared}\n"
    lines = sum(group.extra_lines for group in answer.groups)
    pairs = sum(len(group.matches) for group in answer.groups)
    found = (
        f"{counted(len(answer.groups), 'group')}, {counted(pairs, 'duplicate')} with {counted(lines, 'line')}"
    )
    return f"{found}, in {compared} ({answer.seconds:.1f} s)\n"
