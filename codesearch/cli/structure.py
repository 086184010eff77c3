"""`codesearch outline`, `read`, `usages`, `duplicates` and `history`: answers about places of code."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from codesearch.cli.invocation import Invocation, Output, Terminal, build_progress, notes_of
from codesearch.cli.options import CHANGED, AnswerOptions, FilterOptions, Home, Json, argument
from codesearch.cli.render import path_from, place_of, place_row, short_path, shown
from codesearch.cli.search import FEW, is_path, searched_as_words
from codesearch.duplicates import SAME, Group, Match, cut
from codesearch.engine.answer import DuplicatesAnswer, usages_fields
from codesearch.engine.scope import Scope
from codesearch.engine.session import AS_INDEXED, Session
from codesearch.errors import CodeSearchError, ConfigError
from codesearch.languages import language_of_path
from codesearch.options import Opt
from codesearch.search.forms import parse_asked
from codesearch.search.request import Limits
from codesearch.settings import HIT_FLAGS, HITS, MOST_HITS, Color, IndexingSettings
from codesearch.structure.text import (
    counted,
    outline_lines,
    owner_note,
    reading_lines,
    usages_lines,
    usages_summary,
)
from codesearch.visible import visible

if TYPE_CHECKING:
    from codesearch.engine.answer import PlacesAnswer
    from codesearch.structure.whole import Reading

_PLACE = "PATH, PATH:LINE, PATH::NAME, or a name or qualified name."
_LEAST_LINES = 24  # Of each of several places that are read.
_SHOWN = 5  # Matches of a group of duplicates.
_MOST_PLACES = 5  # With one name, whose commits are shown.


def outline(
    invocation: Invocation,
    place: Annotated[str, argument(f"{_PLACE} Default: this folder.", "[PLACE]")] = ".",
    *,
    max_lines: Annotated[int, Opt("Lines to show, the most important ones.", low=4, high=1_000_000)] = 40,
    question: Annotated[str, Opt("Show what answers this question, and what is around it.", "--for")] = "",
    options: AnswerOptions,
) -> Iterator[Output]:
    """Show what is in a folder, a file or a class."""
    session = yield from _opened(invocation, place, options)
    answer = session.outline(place, max_lines=max_lines, question=question)
    terminal, outlines = invocation.showing(session.revision), answer.places
    heads, path_of = len({outline.root for outline in outlines}) > 1, partial(path_from, terminal)
    parts = (
        [*([visible(one.root)] if heads else []), *outline_lines(one, terminal.max_line, path_of)]
        for one in outlines
    )
    text = _text(answer, chain.from_iterable(parts), terminal, options)
    notes = notes_of(answer.freshness, answer.coverage, is_few=not outlines)
    if not options.json and any(entry.kind == "rest" for one in outlines for entry in one.entries):
        notes += f"not all is shown: give --max-lines {5 * max_lines}, or a folder, file or class from it\n"
    yield Output(text)
    yield Output(err=notes if outlines or options.json else f"no hits\n{notes}", code=0 if outlines else 1)


def read(
    invocation: Invocation,
    places: Annotated[list[str], argument(_PLACE, "PLACE...")],
    *,
    max_lines: Annotated[
        int | None,
        Opt(
            "Fold longer classes and files, and longer functions around PATH:LINE. Default: 120; several places in a "
            "pipe share 300.",
            low=4,
            high=1_000_000,
        ),
    ] = None,
    options: AnswerOptions,
) -> Iterator[Output]:
    """Show the code of files, ranges of lines or definitions."""
    from codesearch.structure.whole import SHARED_LINES, WHOLE_LINES, shared

    _check_one(places, options)
    is_shared = max_lines is None and len(places) > 1 and not invocation.terminal.is_terminal
    most = max(SHARED_LINES // len(places), _LEAST_LINES) if is_shared else max_lines or WHOLE_LINES
    found: list[tuple[str, Session, PlacesAnswer[Reading]]] = []
    failed: CodeSearchError | None = None
    for place in places:
        try:
            session = yield from _opened(invocation, place, options)
            found.append((place, session, session.read(place, most_lines=most)))
        except CodeSearchError as error:
            failed = failed or error
    readings = [reading for *_, answer in found for reading in answer.places]
    chosen = iter(shared(readings, SHARED_LINES, _LEAST_LINES) if is_shared else readings)
    for at, (place, session, answer) in enumerate(found):
        answer = replace(answer, places=tuple(islice(chosen, len(answer.places))))
        yield Output("\n" if at else "")
        yield _reading(invocation, place, session, answer, options)
    if failed:
        raise failed


def _reading(
    invocation: Invocation,
    place: str,
    session: Session,
    answer: PlacesAnswer[Reading],
    options: AnswerOptions,
) -> Output:
    terminal = invocation.showing(session.revision)
    readings = (reading_lines(one, path_from(terminal, one.root, one.path)) for one in answer.places)
    lines = islice(chain.from_iterable(("", *lines) for lines in readings), 1, None)
    text = _text(answer, lines, terminal, options)
    note = f"note: {visible(place)} names {answer.place_count} places: give one of them\n"
    is_cut = answer.place_count > len(answer.places) or any(reading.folded for reading in answer.places)
    is_cut = is_cut and answer.place_count > 1 and not options.json
    return Output(text, (note if is_cut else "") + notes_of(answer.freshness, answer.coverage))


def _opened(invocation: Invocation, place: str, options: AnswerOptions) -> Generator[Output, None, Session]:
    """Open the indexes to look in: if the place is a path that exists, the index around it."""
    whole = invocation.terminal.here / invocation.path(Path(parse_asked(place).path))
    is_chosen = options.root or options.all or options.group
    paths = () if is_chosen or not whole.exists() else (str(whole),)
    engine, scope = invocation.engine(options.home), invocation.scope(options, paths)
    return (yield from invocation.session(engine, scope, options))


def usages(
    invocation: Invocation,
    words: Annotated[
        list[str],
        argument("Names or places, then where to search: files or folders.", "NAME|PLACE... [PATH]..."),
    ],
    *,
    hits: Annotated[int, Opt("Usages to show.", HIT_FLAGS, low=1, high=MOST_HITS)] = 20,
    all_code: Annotated[
        bool, Opt("Include possible usages, comments, tests, migrations, generated and vendored code.")
    ] = False,
    tests: Annotated[bool, Opt("List the tests with the name, one usage each.")] = False,
    vimgrep: Annotated[bool, Opt("Print path:line:column:text, for editors.")] = False,
    options: FilterOptions,
) -> Iterator[Output]:
    """Show where names are used."""
    _check_forms(options, vimgrep=vimgrep)
    first = next((at for at, word in enumerate(words) if at and _is_where(word, invocation)), len(words))
    _check_one(words[:first], options)
    code = 1
    for at, name in enumerate(words[:first]):
        yield Output("\n" if at else "")
        forms = {"all_code": all_code, "tests": tests, "limit": hits}
        for output in _usages(invocation, name, words[first:], options, forms, vimgrep=vimgrep):
            yield output
        code = min(code, output.code)
    yield Output(code=code)


def _usages(
    invocation: Invocation,
    asked: str,
    paths: Sequence[str],
    options: FilterOptions,
    forms: dict[str, Any],
    *,
    vimgrep: bool,
) -> Iterator[Output]:
    engine, scope = invocation.engine(options.home), invocation.scope(options, paths)
    place = asked if scope.at else invocation.place(asked)
    if place != asked:  # The index around the file is searched, not the file alone.
        scope = replace(scope, here=parse_asked(place).path)
    session = yield from invocation.session(engine, scope, options)
    answer = session.usages(place, filters=invocation.filters(options), **forms)
    terminal, found = invocation.showing(session.revision), answer.found
    notes = notes_of(answer.freshness, answer.coverage, is_few=found.usage_count < FEW)
    summary = usages_summary(found, tests=forms["tests"])
    if len(found.usages) < found.listed_count:
        summary += f"; -n {found.listed_count} lists more"
    if vimgrep:
        text = "".join(
            f"{path_from(terminal, usage.root, usage.path)}:{usage.line}:{usage.column}:{visible(usage.text)}\n"
            for usage in found.usages
        )
        owner = f"{owner_note(found)}\n" if found.not_in and found.usages else ""
        notes = f"{owner}{summary}\n{notes}"
    else:
        listed = usages_lines(found, terminal.max_line, partial(short_path, terminal))
        end = [""] if found.usages else []
        text = _text(usages_fields(answer), chain(listed, end, [summary]), terminal, options)
    yield Output(text)
    yield Output(err=notes, code=0 if found.usage_count else 1)


def duplicates(
    invocation: Invocation,
    paths: Annotated[list[str] | None, argument("Files or folders to search.", "[PATH]...")] = None,
    *,
    changed: Annotated[str | None, Opt(CHANGED.format("functions"), metavar="[REV]")] = None,
    same: Annotated[
        str, Opt("What is the same: the text, all but names (renamed), or the meaning.", choices=SAME)
    ] = "meaning",
    vimgrep: Annotated[bool, Opt("Print path:line:column:text of each pair, for editors.")] = False,
    limits: Limits,
    options: FilterOptions,
) -> Iterator[Output]:
    """List functions that do the same.

    The exit code is 1 if there are any. A comment "codesearch: ignore-duplicate" in a function keeps it out.
    """
    _check_forms(options, vimgrep=vimgrep)
    engine, scope = invocation.engine(options.home), invocation.scope(options, paths or ())
    session = yield from invocation.session(engine, scope, options, complete=changed is not None)
    answer = session.duplicates(changed=changed, filters=invocation.filters(options), **vars(limits))
    answer = replace(answer, groups=cut(answer.groups, SAME[: SAME.index(same) + 1]))
    terminal = invocation.showing(session.revision)
    if vimgrep:
        text = "".join(
            f"{place_of(group.function, terminal)}:1:{_relation(match)} as "
            f"{place_of(match.function, terminal)} {visible(match.function.name)}\n"
            for group in answer.groups
            for match in group.matches
        )
    else:
        groups = (_lines(group, terminal) for group in answer.groups)
        text = _text(answer, islice(chain.from_iterable(groups), 1, None), terminal, options)
    yield Output(text)
    notes = notes_of(answer.freshness, answer.coverage, is_few=True)
    yield Output(err=_summary(answer) + notes, code=1 if answer.groups else 0)


def _text(answer: object, lines: Iterable[str], terminal: Terminal, options: AnswerOptions) -> str:
    return terminal.json_text(answer) if options.json else shown(lines, terminal, options.color)


def _is_where(word: str, invocation: Invocation) -> bool:
    """Say whether a word can only be a folder or a file to search in, which may not exist."""
    asked = parse_asked(word)
    is_place = asked.first or asked.inside
    return os.path.exists(invocation.path(Path(word))) or ("/" in word and not is_place)


def _check_one(asked: Sequence[str], options: AnswerOptions) -> None:
    if options.json and len(asked) > 1:
        raise ConfigError("--json has one answer", f"give only one of {', '.join(asked)}")


def _check_forms(options: FilterOptions, *, vimgrep: bool) -> None:
    if options.json and vimgrep:
        raise ConfigError("--json and --vimgrep exclude each other", "give only one")


def _lines(group: Group, terminal: Terminal) -> Iterator[str]:
    yield ""
    listed = [(group.function, "", f"  {counted(group.function.lines, 'line')}")]
    listed += [(match.function, f"  {_relation(match):<15}  ", "") for match in group.matches[:_SHOWN]]
    for function, before, behind in listed:
        yield place_row(terminal, place_of(function, terminal), visible(function.name), before, behind)
    if (more := len(group.matches) - _SHOWN) > 0:
        yield f"  and {more:,} more, which --vimgrep lists"


def _relation(match: Match) -> str:
    return {"text": "same text", "renamed": "same but names"}.get(match.same) or f"similar {match.score:.0%}"


def _summary(answer: DuplicatesAnswer) -> str:
    compared = counted(answer.functions, "function")
    if answer.changed is not None:
        compared = f"{counted(answer.changed, 'changed definition')}, compared with {compared}"
    if not answer.groups:
        return f"no duplicates in {compared}\n"
    groups = counted(len(answer.groups), "group")
    pairs = counted(sum(len(group.matches) for group in answer.groups), "duplicate")
    lines = counted(sum(group.extra_lines for group in answer.groups), "line")
    return f"{groups}, {pairs} with {lines}, in {compared} ({answer.seconds:.1f} s)\n"


def history(
    invocation: Invocation,
    words: Annotated[
        list[str] | None,
        argument(
            "A file, folder or definition, then what to look for. One is enough.", "[PLACE] [QUESTION]..."
        ),
    ] = None,
    *,
    hits: Annotated[int, Opt("Commits to show.", HIT_FLAGS, low=1, high=MOST_HITS)] = HITS,
    since: Annotated[str, Opt('Only commits since a date, or a time such as "3 months".')] = "",
    author: Annotated[str, Opt("Only commits with this in the author's name or address.")] = "",
    path: Annotated[tuple[str, ...], Opt("Only commits that changed a path that matches this pattern.")] = (),
    root: Annotated[Path | None, Opt("The folder, by default this one.")] = None,
    color: Color = "auto",
    json: Json = False,
    home: Home = None,
    indexing: IndexingSettings,
) -> Iterator[Output]:
    """Search the commits of this repository."""
    from codesearch.history.hits import history_lines
    from codesearch.history.search import CommitFilters

    place, *rest = words or [""]
    engine, terminal = invocation.engine(home), invocation.terminal
    root = root and invocation.path(root)
    if root and not root.is_dir():
        raise ConfigError(f"{root} is not a folder", "give --root an existing folder")
    scope = Scope((root,)) if root else Scope(here=terminal.here)
    is_path_like = language_of_path(place) is not None or place.endswith("/")
    is_name = not is_path_like and _is_name(place)
    is_sure = _is_place(place, invocation)
    if is_sure or is_name:
        session = yield from invocation.session(engine, scope, indexing)
    else:  # The commits have an index of their own.
        session = engine.session(scope, AS_INDEXED)
    places = [place] if is_sure else _definitions(place, session, terminal) if is_name else []
    if json or len(places) > _MOST_PLACES:
        places = places and [place]
    if not places:
        if " " not in place and (is_path_like or len(parse_asked(place).names) > 1):
            yield searched_as_words(place)
        places, rest = [""], list(words or [])
    filters = CommitFilters(since, author, path, here=terminal.here)
    code = 1
    for at, one in enumerate(places):
        with build_progress("history", unit="commit") as show:
            answer = session.history(" ".join(rest), place=one, filters=filters, top_k=hits, on_progress=show)
        notes = (
            f"indexed {counted(answer.added, 'commit')} of {visible(answer.top)}\n" if answer.added else ""
        )
        if answer.shallow:
            top = visible(answer.top)
            cure = f"run `git -C {top} fetch --unshallow`"
            notes += f"note: {top} is a shallow clone, so older commits are missing: {cure}\n"
        lines = history_lines(answer, terminal.max_line, partial(path_from, terminal, answer.top))
        text = (
            terminal.json_text(answer) if json else shown(chain([""] if at else [], lines), terminal, color)
        )
        code = min(code, 0 if answer.hits else 1)
        yield Output(text, notes, code)


def _is_name(word: str) -> bool:
    """Say whether a word may be the name of a definition. A plain lowercase word is a question."""
    return bool(parse_asked(word).names) and " " not in word and not (word.isalpha() and word.islower())


def _definitions(word: str, session: Session, terminal: Terminal) -> list[str]:
    """Return the word if it is exactly the name of a definition; their places if it is that of several."""
    name = parse_asked(word).names[-1]
    with suppress(CodeSearchError), session.spots(word, only_definitions=True) as spots:
        named = [spot for spot in spots if spot.row and spot.row.name == name]
        places = [f"{path_from(terminal, spot.root, spot.path)}:{spot.first_line}" for spot in named]
        return [word] if len(places) == 1 else places
    return []  # Such as no index.


def _is_place(word: str, invocation: Invocation) -> bool:
    """Say whether a word is the place of a definition, or a path that exists."""
    asked = parse_asked(word)
    is_file = language_of_path(asked.path) is not None or os.path.exists(invocation.path(Path(asked.path)))
    return is_path(word, invocation) or (bool(asked.first or asked.inside) and is_file)
