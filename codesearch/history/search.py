"""A question, a place or both -> commits of the repository around a folder.

Without a question, commits are newest first, and the commits of a place come from git alone. With one, those with its
words are ranked by keywords in the message, names and paths. Among equal commits, newer ones come first.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from codesearch.build.parse import extract_each
from codesearch.config import ParseConfig
from codesearch.errors import ConfigError, IndexCorruptError
from codesearch.files import mark_used
from codesearch.git import work_tree
from codesearch.history.hits import HistoryAnswer, hits_of
from codesearch.history.table import CommitTable, History, commit_ids, find_history, table_at_head
from codesearch.languages import language_of_path
from codesearch.parsing.decoding import decoded
from codesearch.search.filters import path_filter
from codesearch.search.request import Filters, keep_tuples
from codesearch.store.catalogue import remove_unused
from codesearch.store.digest import content_digest
from codesearch.structure.places import Spot
from codesearch.structure.text import short_name
from codesearch.types import Coverage

if TYPE_CHECKING:
    from codesearch.build.build import ProgressCallback

_AGO = re.compile(r"(\d{1,4})[ .]?(day|week|month|year)s?(?:[ .]ago)?")
_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}
_DATE = re.compile(r"\d{4}(-\d\d(-\d\d)?)?")


@dataclass(frozen=True, slots=True)
class CommitFilters:
    """Which commits may be hits."""

    # Not older than this date, such as 2024, 2024-05 or 2024-05-31, or this time, such as "3 months"; "" for all.
    since: str = ""
    author: str = ""  # A part of the name or address of the author, in any case.
    paths: Sequence[str] = ()  # Globs; one of the changed files must pass them.
    here: Path | str | None = None  # Working directory; a glob may be relative to it.
    # Files and folders; one of the changed files must be in them. none for all.
    within: Sequence[Path | str] = ()

    def __post_init__(self) -> None:
        keep_tuples(self, "paths", "within")

    @property
    def is_open(self) -> bool:
        """Say whether every commit passes."""
        return not (self.since or self.author or self.paths or self.within)


def since_time(text: str) -> int:
    """Return the seconds since 1970 that a date or a time before now means.

    >>> since_time("2024-05"), since_time("1970-01-02")
    (1714521600, 86400)
    """
    if match := _AGO.fullmatch(text.strip().lower()):
        return int(time.time()) - int(match[1]) * _DAYS[match[2]] * 86_400
    try:
        if _DATE.fullmatch(text):
            day = datetime.fromisoformat((text + "-01-01")[: len("2024-01-01")])
            return int(day.replace(tzinfo=UTC).timestamp())
    except ValueError:  # There is no such day.
        pass
    raise ConfigError(
        f"--since {text!r}", 'give a date, such as 2024-05-31 or 2024, or a time, such as "3 months"'
    )


def rank_commits(
    table: CommitTable, top: str, question: str, filters: CommitFilters, *, ids: Collection[str] | None = None
) -> Iterator[tuple[str, float | None]]:
    """Yield the id and score of each commit that passes, best first; without a question, newest first.

    Paths are relative to `top`, the top of the work tree. With `ids`, only these commits count.
    """
    since, author = since_time(filters.since) if filters.since else 0, filters.author.lower()
    by_path = Filters(paths=filters.paths, here=filters.here, within=filters.within)
    passes = path_filter(by_path, Path(top))
    for commit, seconds, name, changed, score in table.rows(question):
        if (
            seconds >= since
            and (ids is None or commit in ids)
            and author in name.lower()
            and (by_path.allow_all or any(map(passes, changed.split("\n"))))
        ):
            yield commit, score


def history_of(folder: Path, home: Path) -> History:
    """Return the history of the git repository around a folder."""
    top = work_tree(folder.resolve())
    if top is None:
        raise ConfigError(f"{folder} is in no git repository", "there are no commits to search")
    return find_history(top, home.resolve())


def answer_history(
    history: History,
    home: Path,
    coverage_of: Callable[[Mapping[str, int]], Coverage],
    *,
    question: str,
    place: str,
    spot: Spot | None,
    filters: CommitFilters,
    top_k: int,
    on_progress: ProgressCallback,
) -> HistoryAnswer:
    """Return the commits for a question or a place; `Session.history` explains the arguments and errors."""
    path = path_of(history, spot) if spot else ""
    ids = _commits_of(history, spot, path) if spot else None

    def ranked() -> tuple[dict[str, float | None], int, int]:
        """Return the ids of commits with scores, and how many commits the table has and how many of these are new.

        A question gets `top_k` commits; those of a place follow even if they have no word of it.
        """
        top, among = history.repository.top, None if ids is None else frozenset(ids)
        with table_at_head(history, on_progress) as table:
            scores = dict(rank_commits(table, top, question, filters, ids=among))
            if question and among is not None:
                others = rank_commits(table, top, "", filters, ids=among)
                scores |= {commit: 0.0 for commit, _ in others if commit not in scores}
            return dict(islice(scores.items(), top_k if question else None)), len(table), table.added

    commits = added = 0
    if ids is not None and not question and filters.is_open:
        scores: dict[str, float | None] = dict.fromkeys(ids)
    else:
        if not history.folder.exists():
            remove_unused(home)
        try:
            scores, commits, added = ranked()
        except IndexCorruptError:  # It is made again from git.
            shutil.rmtree(history.folder, ignore_errors=True)
            scores, commits, added = ranked()
        mark_used(history.folder)
    is_shallow = bool(history.shallow)
    return HistoryAnswer(
        question=question,
        place=place,
        definition=short_name(spot.definition) if spot and spot.definition else "",
        path=path,
        top=history.repository.top,
        hits=hits_of(history, dict(islice(scores.items(), top_k))),
        commits=commits if ids is None else len(ids),
        added=added,
        shallow=is_shallow,
        coverage=coverage_of({"shallow": is_shallow, "not shown": max(len(scores) - top_k, 0)}),
    )


def path_of(history: History, spot: Spot) -> str:
    """Return the path of a place below the top of the repository."""
    whole = Path(spot.root, spot.path)
    # A folder can be a work tree itself; a file is never behind a link.
    whole = whole.resolve() if spot.file is None else whole.parent.resolve() / whole.name
    return whole.relative_to(history.repository.top).as_posix()


def _commits_of(history: History, spot: Spot, path: str) -> list[str]:
    """Return the ids of the commits that changed a place, newest first, also before a file was renamed."""
    repository, head = history.repository, history.head
    if spot.file is None:
        return commit_ids(repository, head, "--", path)
    path = _path_at_head(history, path)
    if spot.row is None and spot.lines is None:
        try:
            return commit_ids(repository, "--follow", "--root", head, "--", path)
        except ConfigError:  # A partial clone has no contents, so renames are not seen.
            return commit_ids(repository, head, "--", path)
    first, last = _lines_at_head(history, spot, path)
    return commit_ids(repository, f"-L{first},{last}:{path}", "--no-patch", head)


def _path_at_head(history: History, path: str) -> str:
    """Return the path of a file in the last commit; it is another one if a rename is staged."""
    renames = ("diff-index", "--cached", "-M", "--diff-filter=R", "--name-status", "-z", history.head)
    fields = iter(os.fsdecode(history.repository.git(*renames, codes=(0, 128))).split("\0"))
    return next((old for _, old, new in zip(fields, fields, fields, strict=False) if new == path), path)


def _lines_at_head(history: History, spot: Spot, path: str) -> tuple[int, int]:
    """Return the lines of a place in the last commit, which may differ from those of the file as it is now."""
    repository = history.repository
    content = repository.git("cat-file", "blob", f"{history.head}:{path}", codes=(0, 128))
    if not content:
        raise ConfigError(f"{path} is not in the last commit", "commit it first")
    source = decoded(content, path)
    if spot.file and content_digest(content) == spot.file.digest:
        first, last = (spot.row.start_line, spot.row.last_line) if spot.row else spot.lines or (1, 1)
        count = len(source.splitlines())
        if first > count:
            raise ConfigError(f"{path} has {count:,} lines", "give one of them")
        return first, min(last, count)
    spec = language_of_path(path)
    if spot.row is None or spec is None:
        raise ConfigError(f"{path} has changes that are not committed", f"give {path}::NAME for its lines")
    (extraction,) = extract_each([(source, path, spec)], ParseConfig())
    name = spot.row.qualified_name
    documents = extraction.documents if extraction else ()
    named = [document for document in documents if document.qualified_name == name]
    if not named:
        raise ConfigError(f"{name} of {path} is not in the last commit", "commit it first")
    nearest = min(named, key=lambda document: abs(document.start_line - spot.first_line))
    return nearest.start_line, nearest.last_line
