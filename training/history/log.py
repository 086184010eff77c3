"""`git log` -> the messages of all commits, and the files that chosen ones changed.

Only the second step reads trees, which takes most of the time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from codesearch.history.log import RAW, Change, Commit, read_commits
from training.history.repository import Repository


def read_log(repository: Repository) -> Iterator[Commit]:
    """Yield the commits of the current branch that are no merges, newest first, without their changes."""
    return read_commits(repository.lines, "--no-merges", "HEAD")


def read_changes(repository: Repository, commits: Sequence[Commit]) -> Iterator[tuple[Commit, list[Change]]]:
    """Yield each commit with the files that it changed."""
    given = [commit.id.encode() for commit in commits]
    if given:  # Without a commit, git lists HEAD.
        for commit in read_commits(repository.lines, "--no-walk=unsorted", "--stdin", *RAW, given=given):
            yield commit, commit.changes
