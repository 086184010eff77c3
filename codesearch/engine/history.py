"""A question, a place or both -> commits of the repository around a folder.

Without a question, commits are newest first, and the commits of a place come from git alone. With one, they are ranked
by the index of commits, which is brought up to date first.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from codesearch.build.parse import extract_each
from codesearch.build.workers import start_early
from codesearch.config import ParseConfig
from codesearch.engine.pool import Pool
from codesearch.errors import ConfigError, IndexCorruptError, IndexLockedError
from codesearch.git import work_tree
from codesearch.history.build import History, find_history, update_history
from codesearch.history.hits import HistoryAnswer, read_hits
from codesearch.history.log import commit_ids
from codesearch.history.search import CommitFilters, CommitSearcher
from codesearch.home import COMMITS, is_unused, mark_used
from codesearch.parsing.languages import language_of_path
from codesearch.search.searcher import Searcher
from codesearch.store.catalogue import remove_index
from codesearch.store.digest import content_digest
from codesearch.structure.places import Spot
from codesearch.text.encoder import Encoder

if TYPE_CHECKING:
    from codesearch.build.build import Progress


def history_of(folder: Path, home: Path) -> History:
    """Return the history of the git repository around a folder."""
    top = work_tree(folder.resolve())
    if top is None:
        raise ConfigError(
            f"{folder} is in no git work tree", "`codesearch history` searches the commits of one"
        )
    return find_history(top, home.resolve())


def answer_history(
    history: History,
    home: Path,
    pool: Pool,
    open_encoder: Callable[[], Encoder],
    *,
    question: str,
    place: str,
    spot: Spot | None,
    filters: CommitFilters,
    top_k: int,
    on_progress: Callable[[Progress], None],
) -> HistoryAnswer:
    """Return the commits for a question or a place; `Engine.history` explains the arguments and errors."""
    start_early()  # The process that parses what the hits changed imports its modules meanwhile.
    path = _path_of(history, spot) if spot else ""
    ids = _commits_of(history, spot, path) if spot else None
    if ids is not None and not question and filters.is_open:
        scores: dict[str, float | None] = dict.fromkeys(ids[:top_k])
        commits = added = 0
    else:
        filters = replace(filters, ids=None if ids is None else frozenset(ids))
        encoder = open_encoder()

        def ranked() -> tuple[dict[str, float | None], int, int]:
            if not history.folder.exists():
                _delete_unused(home)
            added = update_history(history, encoder, on_progress)
            mark_used(history.folder)
            with pool.index(history.folder) as index:
                searcher = CommitSearcher(index, history.repository.top, Searcher([index], encoder))
                return searcher.ranked(question, filters, top_k), searcher.commit_count, added

        try:
            scores, commits, added = ranked()
        except IndexCorruptError:  # It is made again from git.
            remove_index(history.folder, str(history.common))
            scores, commits, added = ranked()
    commits = commits if ids is None else len(ids)
    hits = read_hits(history.repository, scores)
    return HistoryAnswer(
        question, place, path, history.repository.top, hits, commits, added, bool(history.shallow)
    )


def _path_of(history: History, spot: Spot) -> str:
    """Return the path of a place below the top of the repository."""
    whole = Path(spot.root, spot.path)
    # A folder can be a work tree itself; a file is never behind a link.
    whole = whole.resolve() if spot.file is None else whole.parent.resolve() / whole.name
    return whole.relative_to(history.repository.top).as_posix()


def _commits_of(history: History, spot: Spot, path: str) -> list[str]:
    """Return the ids of the commits that changed a place, newest first."""
    if spot.row is None and spot.lines is None:
        return commit_ids(history.repository, history.head, "--", path)
    first, last = _lines_at_head(history, spot, path)
    return commit_ids(history.repository, f"-L{first},{last}:{path}", "--no-patch", history.head)


def _lines_at_head(history: History, spot: Spot, path: str) -> tuple[int, int]:
    """Return the lines of a place in the last commit, which may differ from those of the file as it is now."""
    repository = history.repository
    source = repository.git("cat-file", "blob", f"{history.head}:{path}", codes=(0, 128))
    if not source:
        raise ConfigError(f"{path} is not in the last commit", "commit it first")
    if spot.file and content_digest(source) == spot.file.digest:
        first, last = (spot.row.start_line, spot.row.last_line) if spot.row else spot.lines or (1, 1)
        count = len(source.splitlines())
        if first > count:
            raise ConfigError(f"{path} has {count:,} lines", "give one of them")
        return first, min(last, count)
    spec = language_of_path(path)
    if spot.row is None or spec is None:
        raise ConfigError(f"{path} has changes that are not committed", f"give {path}::NAME for its lines")
    (found,) = extract_each([(source, path, spec)], ParseConfig())
    named = [one for one in found.documents if one.qualified_name == spot.row.qualified_name] if found else []
    if not named:
        raise ConfigError(f"{spot.row.qualified_name} of {path} is not in the last commit", "commit it first")
    nearest = min(named, key=lambda one: abs(one.start_line - spot.first_line))
    return nearest.start_line, nearest.last_line


def _delete_unused(home: Path) -> None:
    """Delete the indexes of commits that were not used for a long time."""
    for folder in (home / COMMITS).glob("*"):
        with suppress(OSError, IndexLockedError):
            if is_unused(folder):
                remove_index(folder, str(folder))
