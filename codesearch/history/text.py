"""Commits as lines of text, for people and for agents."""

from __future__ import annotations

from collections.abc import Iterator

from codesearch.history.hits import CommitHit, HistoryAnswer
from codesearch.history.log import without_trailers
from codesearch.search.snippets import best_lines
from codesearch.structure.text import counted, cut
from codesearch.visible import visible

_SHORT = 10
_SHOWN_LINES = 3
_SHOWN_FILES = 3
_SHOWN_NAMES = 5


def history_lines(answer: HistoryAnswer, width: int) -> Iterator[str]:
    """Yield the lines of each commit: date, id, subject, author, the best lines of its message, and what it changed."""
    for hit in answer.hits:
        name = hit.author.rpartition(" <")[0] or hit.author
        yield cut(f"{hit.date}  {hit.id[:_SHORT]}  {hit.subject}  ({name})", width)
        yield from (cut(f"    | {line.strip()}", width) for line in message_lines(hit, answer.question))
        yield from (cut(f"    {line}", width) for line in _changed(hit, answer.path))
        yield ""
    yield summary(answer)


def message_lines(hit: CommitHit, question: str) -> list[str]:
    """Return the lines of the body that a question asks for, else the first ones."""
    lines = without_trailers(hit.body).split("\n")
    # The subject takes the place of a definition's head, which is always chosen.
    chosen = best_lines("\n".join([hit.subject, *lines]), question, _SHOWN_LINES + 1)
    return [lines[position - 1] for position in sorted(chosen) if position]


def _changed(hit: CommitHit, place: str) -> Iterator[str]:
    """Yield a line for each of the first changed files; the place and those with known definitions come first."""
    names: dict[str, list[str]] = {}
    for one in hit.definitions:
        names.setdefault(one.path, []).append(f"{one.name} (removed)" if one.removed else one.name)
    paths = [*names, *(path for path in hit.paths if path not in names)]
    paths.sort(key=lambda path: path != place)
    for path in paths[:_SHOWN_FILES]:
        of_file = names.get(path, [])
        more = f", {len(of_file) - _SHOWN_NAMES:,} more" if len(of_file) > _SHOWN_NAMES else ""
        yield f"{path}: {', '.join(of_file[:_SHOWN_NAMES])}{more}" if of_file else path
    if len(paths) > _SHOWN_FILES:
        yield counted(len(paths) - _SHOWN_FILES, "more file")


def summary(answer: HistoryAnswer) -> str:
    """Say in one line how many commits were found among how many."""
    found = counted(len(answer.hits), "commit") if answer.hits else "no commits"
    of = f" that changed {answer.place}" if answer.place else ""
    return visible(f"{found} of {answer.commits:,}{of}")
