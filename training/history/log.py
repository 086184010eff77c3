"""`git log` -> the messages of all commits, and the files that chosen ones changed.

Only the second step reads trees, which takes most of the time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from training.history.repository import Repository

_SAFE = (
    "--no-show-signature",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--no-notes",
    "--encoding=UTF-8",
)
_MESSAGES = ("log", *_SAFE, "--no-merges", "--format=%x01%H%x02%an <%ae>%x02%s%x02%b%x03", "HEAD")
_CHANGES = (
    "log",
    *_SAFE,
    "--no-walk=unsorted",
    "--stdin",
    "--raw",
    "--no-abbrev",
    "--no-renames",
    "--format=%x01%H",
)
_MAX_MESSAGE = 20_000
_RAW = re.compile(rb":(\d+) (\d+) ([0-9a-f]+) ([0-9a-f]+) ([A-Z])\d*\t(.*)\n")
_FILE = b"100"
"""How the modes of files begin that are no links and no submodules."""


@dataclass(frozen=True, slots=True)
class Change:
    """A file of a commit: ids of its content before and after, "" if it was not there."""

    path: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit that is no merge."""

    id: str
    author: str
    subject: str
    body: str


def read_log(repository: Repository) -> Iterator[Commit]:
    """Yield the commits of the current branch, newest first."""
    message = b""
    for line in repository.lines(_MESSAGES):
        message = line if line.startswith(b"\x01") else message + line[: max(0, _MAX_MESSAGE - len(message))]
        if line.endswith(b"\x03\n") and message.startswith(b"\x01"):
            text = message.decode("utf-8", "replace").strip("\x01\x03\n")
            identifier, author, subject, body = (text.split("\x02", 3) + ["", "", ""])[:4]
            yield Commit(identifier, author, subject, body.strip())
            message = b""


def read_changes(repository: Repository, commits: Sequence[Commit]) -> Iterator[tuple[Commit, list[Change]]]:
    """Yield each commit with the files that it changed."""
    known = {commit.id.encode(): commit for commit in commits}
    commit: Commit | None = None
    changes: list[Change] = []
    for line in repository.lines(_CHANGES, known):
        if line.startswith(b"\x01"):
            if commit:
                yield commit, changes
            commit, changes = known.get(line.strip(b"\x01\n")), []
        elif (match := _RAW.fullmatch(line)) and (change := _change(match)):
            changes.append(change)
    if commit:
        yield commit, changes


def _change(match: re.Match[bytes]) -> Change | None:
    """Return the change of a regular file; None for others, and for paths that git quotes."""
    old_mode, new_mode, old, new, _, path = match.groups()
    modes = [mode for mode in (old_mode, new_mode) if mode.strip(b"0")]
    if path.startswith(b'"') or not all(mode.startswith(_FILE) for mode in modes):
        return None
    ids = [blob.decode() if blob.strip(b"0") else "" for blob in (old, new)]
    return Change(path.decode("utf-8", "replace"), *ids)
