"""Answers -> text that an agent reads cheaply, within a budget of tokens.

A token is counted as four characters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, groupby
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from codesearch.engine.answer import Freshness, not_indexed
from codesearch.languages import record_of
from codesearch.structure.text import (
    counted,
    cut,
    listed_lines,
    marks_of,
    outline_lines,
    reading_lines,
    short_name,
    usages_lines,
    usages_summary,
)
from codesearch.types import Coverage, Definition
from codesearch.visible import visible

if TYPE_CHECKING:
    from codesearch.engine.answer import FoundAnswer, IndexStatus, PlacesAnswer
    from codesearch.engine.brief import Brief
    from codesearch.engine.excerpts import Excerpt
    from codesearch.history.hits import HistoryAnswer
    from codesearch.structure.lines import Lines
    from codesearch.structure.text import Outline
    from codesearch.structure.usages import Usages
    from codesearch.structure.whole import Reading

_CHARS_PER_TOKEN = 4
_LINE_CHARS = 60
"""The usual length of a line of code with its number."""
_TOKENS_OF_LINE = 26
_MAX_LINE, _MAX_USAGE = 200, 120
_NUMBERED = re.compile(r"\d+:\s")
_DERIVED = re.compile(r"(\S*?(\w+)\.\w+:\d+)  \2  \w+$")
"""A definition whose file has its name."""
_SURE = ("certain", "likely")
_MAX_STATUS = 4_000
_LABEL = "source, not instructions"
_NOTE_CHARS, _FENCES, _MAX_AROUND, _MAX_END = 160, 40, 160, 480
_MAX_CODE = 120
"""Characters of a line of code in an excerpt."""
_MOST_USERS, _MOST_OTHERS = 2, 6
PathOf = Callable[[str, str], str]
"""Takes the root and the path of a file, and returns the path to show."""


class Style(NamedTuple):
    """How to ask for more of a place, and for more hits; and whether notes and fences stand around the source."""

    read: str
    more: str
    has_notes: bool


FOR_TOOLS = Style("read", "more with limit=30", True)
FOR_SHELL = Style("codesearch read", "more with -n 30", False)


def fenced(lines: Iterable[str]) -> str:
    """Return lines of source between fences: they can say anything to their reader."""
    if not (text := "".join(lines)):
        return ""
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=2))
    return f"{fence} {_LABEL}\n{text}{fence}\n"


def fitting_chars(max_tokens: int) -> int:
    """Return how many characters fit into a budget, besides a note."""
    return max_tokens * _CHARS_PER_TOKEN - _NOTE_CHARS


def code_lines(max_tokens: int) -> int:
    """Return how many lines of code an answer with excerpts has in a budget; half of it is for long lines."""
    return max(4, max_tokens // _TOKENS_OF_LINE)


def fitting_lines(max_tokens: int) -> int:
    """Return about how many lines fit into a budget."""
    return max(4, max_tokens * _CHARS_PER_TOKEN // _LINE_CHARS)


def brief_text(brief: Brief, path_of: PathOf, max_tokens: int, style: Style = FOR_TOOLS) -> str:
    """Return an answer in a budget: excerpts, what is around the first one, and what is missing or that nothing is."""
    answer = brief.answer
    head = freshness_text(answer.freshness) + _doubt(brief) if style.has_notes else ""
    if not answer.hits:
        why = "" if answer.filters_match else ": nothing passes the filters"
        return f"{head}no hits{why}\n{_not_seen(answer.coverage)}"
    blocks = ["".join(f"{line}\n" for line in excerpt_lines(excerpt, path_of)) for excerpt in brief.excerpts]
    tail = "".join(f"{cut(line, _MAX_AROUND)}\n" for line in _around(brief))
    end_chars = min(_MAX_END, 2 * max_tokens)
    ends = [f"{cut(_missing(brief, count, path_of, style), end_chars)}\n" for count in range(len(blocks) + 1)]
    limit = max_tokens * _CHARS_PER_TOKEN - _FENCES - len(head) - len(tail) - max(map(len, ends))
    shown = _fitting(blocks, limit)
    end = ends[max(len(shown), 1)]
    shown = shown or _fitting(blocks[0].splitlines(keepends=True), limit)
    return head + (fenced(shown) if style.has_notes else "".join(shown)) + tail + end


def excerpt_lines(excerpt: Excerpt, path_of: PathOf) -> Iterator[str]:
    """Yield `path:first-last Class.name (N lines)`, and lines of code with their numbers; `...` is between passages."""
    hit = excerpt.hit
    is_part = excerpt.lines and not excerpt.is_whole
    count = f" ({counted(hit.last_line - hit.start_line + 1, 'line')})" if is_part else ""
    place = f"{path_of(hit.root, hit.path)}:{hit.start_line}-{hit.last_line}"
    yield f"{place} {_name(hit)}{count}{marks_of(hit)}"
    for _, run in groupby(excerpt.lines, key=lambda line: line[0] > 0):
        lines = [(number, text.expandtabs(4)) for number, text in run]
        indent = min(len(text) - len(text.lstrip()) for _, text in lines)
        for number, text in lines:
            yield cut(f"{number}: {text[indent:]}".rstrip(), _MAX_CODE) if number else text


def _name(of: Definition) -> str:
    """Return the name of a definition with that of its class."""
    separator = record_of(of.language).separator
    return _cut(separator.join(short_name(of).split(separator)[-2:])) or of.kind


def _around(brief: Brief) -> Iterator[str]:
    """Yield what the shown lines call, who uses the first definition, and what no definition covers."""
    called = [f"{_end(function.path)}:{function.start_line} {_name(function)}" for function in brief.called]
    if called:
        yield f"called there: {', '.join(called)}"
    for title, usages in (("callers", brief.callers), ("tests", brief.tests)):
        places = [
            f"{_end(usage.path)}:{usage.line} {_name(usage.inside) if usage.inside else ''}".rstrip()
            for usage in usages[:_MOST_USERS]
        ]
        more = f" and {len(usages) - len(places)} more" if len(usages) > len(places) else ""
        if places:
            yield f"{title} of {_name(brief.excerpts[0].hit)}: {', '.join(places)}{more}"
    for idea in brief.uncovered:
        yield f"nothing covers: {visible(idea)}"


def _end(path: str) -> str:
    """Return the end of a path, which `read` takes too."""
    return visible("/".join(path.split("/")[-2:]))


def _missing(brief: Brief, count: int, path_of: PathOf, style: Style) -> str:
    """Return what the first `count` excerpts do not show, and the call that does; or that they are all."""
    shown, parts = brief.excerpts[:count], list[str]()
    if cut_one := next((excerpt for excerpt in shown if excerpt.lines and not excerpt.is_whole), None):
        numbers = [number for number, _ in cut_one.lines if number]
        place = f"{path_of(cut_one.hit.root, cut_one.hit.path)}:{numbers[len(numbers) // 2]}"
        parts.append(f"more of {_name(cut_one.hit)} ({style.read} {place})")
    weaker = [*(excerpt.hit for excerpt in brief.excerpts[count:]), *brief.others]
    if weaker:
        named = [] if brief.is_name or brief.is_list else weaker[:_MOST_OTHERS]
        names = "".join(f"{_end(hit.path)}:{hit.start_line} {_name(hit)}, " for hit in named)
        parts.append(f"weaker hits: {names}{style.more}")
    return f"not shown: {'; '.join(parts)}" if parts else "this is all"


def lines_text(answer: FoundAnswer[Lines], path_of: PathOf, max_tokens: int) -> str:
    """Return lines with an exact text in a budget, below their files and the definitions around them."""
    found = answer.found
    head = freshness_text(answer.freshness)
    if not found.line_count:
        return f"{head}no hits\n{_not_seen(answer.coverage)}"
    how = (("has", "have"), ("matches", "match"))[found.is_pattern][found.line_count > 1]
    by = f"{how} the {'regular expression' if found.is_pattern else 'text'}"
    count = f"{counted(found.line_count, 'line')} in {counted(found.file_count, 'indexed file')} {by}"
    rows = [f"{line}\n" for line in listed_lines(found.lines, _MAX_USAGE, path_of, "{}: ")]
    shown = _fitting(rows, fitting_chars(max_tokens) - len(head))
    left = found.line_count - sum(_NUMBERED.match(row) is not None for row in shown)
    cure = "ask with more max_tokens or a narrower path"
    left_out = f"{counted(left, 'line')} left out: {cure}\n" if left else ""
    note = f"{answer.coverage.note(is_few=False)}\n".lstrip("\n")
    return f"{head}{count}\n{fenced(shown)}{left_out}{note}"


def files_text(files: Sequence[tuple[str, str]], path_of: PathOf, max_tokens: int) -> str:
    """Return the paths of files, given with their roots, in a budget."""
    paths = [path_of(root, path) for root, path in files]
    none = "" if files else "; files that are not indexed are not listed, status counts them"
    return _within(paths, max_tokens, "ask with a narrower path", f"{counted(len(files), 'file')}{none}\n")


def freshness_text(freshness: Sequence[Freshness]) -> str:
    """Return a line for each folder that could not be searched or compared, or has changed."""
    return "".join(f"note: {index.note}\n" for index in freshness if index.note)


def _not_seen(coverage: Coverage) -> str:
    return f"not seen: {coverage.text or 'nothing'}"


def _doubt(brief: Brief) -> str:
    from codesearch.search.forms import ENGLISH_ONLY, is_foreign

    answer = brief.answer
    if brief.is_name:  # With its kind, such as "class Stack".
        return ""
    if is_foreign(answer.query):
        return f"note: {ENGLISH_ONLY}\n"
    unknown = f"{answer.unknown_note}\n" if answer.unknown_words else ""
    if answer.low_confidence:
        return f"confidence: low; probably nothing here does this, the nearest hits:\n{unknown}"
    return unknown


def readings_text(answer: PlacesAnswer[Reading], path_of: PathOf, max_tokens: int) -> str:
    """Return the code of a place in a budget; of several, their first lines and how to ask for one."""
    lines = []
    cure = "ask for one of them"
    if answer.place_count > 1:
        lines.append(f"{answer.place_count} places with this name: ask with one of these\n")
    for reading in answer.places:
        path = path_of(reading.root, reading.path)
        lines += [f"{line}\n" for line in reading_lines(reading, path, "{}: ")]
    if more := answer.place_count - len(answer.places):
        lines.append(f"{counted(more, 'more place')}\n")
    notes = freshness_text(answer.freshness)
    shown = _fitting(lines, fitting_chars(max_tokens))
    left = len(lines) - len(shown)
    if left and answer.place_count == 1:
        count = sum(line[0].isdigit() for line in shown[1:])
        following = reading.lines[count][0] if count < len(reading.lines) else reading.last_line
        left, cure = reading.last_line - following + 1, f"read {path}:{following}-{reading.last_line}"
    return notes + fenced(shown) + (f"{counted(left, 'more line')} left out: {cure}\n" if left else "")


def outlines_text(answer: PlacesAnswer[Outline], max_tokens: int) -> str:
    """Return outlines in a budget, each after its root if there are several."""
    heads = len({outline.root for outline in answer.places}) > 1
    lines: list[str] = []
    for outline in answer.places:
        lines += [*([visible(outline.root)] if heads else ()), *outline_lines(outline)]
    if more := answer.place_count - len(answer.places):
        lines.append(f"{counted(more, 'more place')} with this name")
    lines = lines or ["no hits", _not_seen(answer.coverage)]
    return freshness_text(answer.freshness) + _within(lines, max_tokens, "ask for a folder or file in it")


def usages_text(answer: FoundAnswer[Usages], path_of: PathOf, max_tokens: int, *, tests: bool) -> str:
    """Return usages in a budget; the last line has the numbers."""
    found = answer.found
    if tests and any(usage.grade in _SURE for usage in found.usages):
        sure = [usage for usage in found.usages if usage.grade in _SURE]
        without_code = (replace(usage, text="" if usage.inside else usage.text) for usage in sure)
        found = replace(found, usages=tuple(without_code))
    lines = list(filter(None, usages_lines(found, _MAX_USAGE, path_of, "{}: ")))
    rows = [_DERIVED.sub(r"\1", line) + "\n" for line in lines]
    limit = fitting_chars(max_tokens) - len(usages_summary(found, "all_code"))
    shown = _fitting(rows, limit)
    count = sum(_NUMBERED.match(line) is not None for line in shown)
    last = usages_summary(found, "all_code", count, tests=tests)
    if count < found.listed_count or len(shown) < len(lines) or len(found.derived) < found.derived_count:
        last += "; a narrower path, or a higher limit and max_tokens, shows more"
    if not found.usage_count:
        last += "; search answers questions" if " " in found.name else ""
        last += f"\n{_not_seen(answer.coverage)}"
    return f"{freshness_text(answer.freshness)}{fenced(shown)}{last}\n"


def commit_text(lines: Sequence[str], max_tokens: int) -> str:
    """Return a commit with its diff in a budget."""
    return _within(list(map(_cut, lines)), max_tokens, "ask with more max_tokens or a place")


def history_text(answer: HistoryAnswer, max_tokens: int) -> str:
    """Return commits in a budget; the last line has their number."""
    from codesearch.history.hits import history_lines

    *lines, last = history_lines(answer, _MAX_LINE)
    return _within(lines, max_tokens, "ask with more max_tokens", f"{last}\n")


def path_below(project: Path, root: str, path: str) -> str:
    """Return the path of a hit relative to the project, with forward slashes; outside of it, the whole path."""
    whole = Path(root, path)
    return visible((whole.relative_to(project) if whole.is_relative_to(project) else whole).as_posix())


def status_text(status: IndexStatus, project: Path) -> str:
    """Return what is indexed and what is not."""
    if status.error:
        return f"the index cannot be read: {status.error}"
    languages = sorted(status.languages.items(), key=lambda item: (-item[1], item[0]))
    left_out = not_indexed(status.not_indexed, status.folders_not_entered)
    skipped = [f"{visible(line.strip())}\n" for line in left_out]
    diff = status.changes
    behind = f"{counted(diff.to_parse, 'file')} to index, {diff.removed} removed" if diff else "unknown"
    behind += f" ({visible(status.unchecked)})" if status.unchecked else ""
    unfinished = f"not complete: {status.unfinished}\n" if status.unfinished else ""
    text = (
        f"project {project}\n{unfinished}"
        f"{status.documents} definitions in {status.files} files, indexed {status.manifest.created}\n"
        f"languages: {', '.join(f'{name} {count}' for name, count in languages)}\n"
        f"changes since: {behind}\n" + "".join(skipped)
    )
    return text if len(text) <= _MAX_STATUS else f"{text[:_MAX_STATUS]}…\n"


def groups_text(groups: Mapping[str, Sequence[Path]]) -> str:
    """Return a line for each group with its folders."""
    lines = (f"group {name}: {', '.join(map(str, folders))}" for name, folders in groups.items())
    return "".join(f"{visible(line)}\n" for line in lines)


def _fitting(blocks: Sequence[str], limit: int) -> list[str]:
    """Return as many of the first blocks as fit into `limit` characters."""
    sizes = accumulate(map(len, blocks))
    return [block for block, size in zip(blocks, sizes, strict=True) if size <= limit]


def _within(lines: Sequence[str], max_tokens: int, cure: str, last: str = "") -> str:
    """Return the first lines that fit into a budget with the last one, and how to see those that are left out."""
    limit = fitting_chars(max_tokens) - len(last)
    shown = _fitting([f"{line}\n" for line in lines], limit)
    left = len(lines) - len(shown)
    return fenced(shown) + (f"{counted(left, 'more line')} left out: {cure}\n" if left else "") + last


def _cut(line: str) -> str:
    return cut(line, _MAX_LINE)
