"""`git log` -> commits: messages, names and paths are text that anyone may have written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from codesearch.errors import ConfigError
from codesearch.git import LOG, Repository

_FORMAT = "--format=%x00%H%x00%ct%x00%an <%ae>%x00%s%x00%b%x00"
_FIELDS = 5
_CHANGES = ("--raw", "--no-abbrev", "--no-renames", "--ignore-submodules=all")
_DIFF_S = 20.0
"""What git may take for the diff of a commit: a pattern in its configuration could keep it busy for ever."""
_MAX_MESSAGE = 20_000
_MAX_DIFF_LINES = 10_000
_MAX_CHANGES = 1_000
_CHANGE = re.compile(
    rb""":(?P<old_mode>\d+)[ ](?P<new_mode>\d+)[ ]
    (?P<old>[0-9a-f]+)[ ](?P<new>[0-9a-f]+)[ ]   # ids of the content
    [A-Z]\d*\t(?P<path>.*)\n                     # after the kind of the change""",
    re.DOTALL | re.VERBOSE,
)
_TRAILER = re.compile(
    r"(?:[A-Z][\w-]*-[Bb]y|C[Cc]|Change-Id|git-svn-id|Link|Message-I[Dd]):? .*\n?", re.MULTILINE
)
_FILE = b"100"
"""How the modes of files begin that are no links and no submodules."""


@dataclass(frozen=True, slots=True)
class Change:
    """A file that a commit changed; `old` and `new` are the ids of its content, "" if it is not there."""

    path: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit: `time` in seconds since 1970, and the first paragraph of its message as one line in `subject`.

    `changes` are at most 1,000, without links, submodules, and paths with control characters or quotes.
    """

    id: str
    time: int
    author: str
    subject: str
    body: str
    changes: list[Change] = field(default_factory=list)


def read_commits(repository: Repository, ids: Iterable[str]) -> Iterator[Commit]:
    """Yield commits with their changes, in the order of their ids."""
    if given := [commit.encode() for commit in ids]:  # Without any, git would list HEAD.
        arguments = (*LOG, _FORMAT, *_CHANGES, "--no-walk=unsorted", "--stdin")
        yield from parse_log(repository.lines(*arguments, given=given))


def parse_log(lines: Iterable[bytes]) -> Iterator[Commit]:
    """Yield the commits in what git prints."""
    commit, header = None, b""
    for line in lines:
        if header or line.startswith(b"\0"):
            header += line if len(header) < _MAX_MESSAGE else b""
            if line.endswith(b"\0\n"):  # Git ends a message at a null character, so there is none in it.
                if commit:
                    yield commit
                commit, header = _commit(header), b""
        elif commit and len(commit.changes) < _MAX_CHANGES and (change := _change(line)):
            commit.changes.append(change)
    if commit:
        yield commit


def commit_ids(repository: Repository, *arguments: str) -> list[str]:
    """Return the ids of the commits that `git log` lists, in its order."""
    lines = repository.lines(*LOG, "--format=%x00 %H", *arguments)
    return [line.split()[1].decode() for line in lines if line.startswith(b"\0")]


def read_diff(repository: Repository, revision: str, paths: Sequence[Path | str]) -> list[str]:
    """Return the lines of a commit: date, id, author, message, numbers of lines by file, and the diff of some paths.

    The diff of a merge is that against its first parent. After 10,000 lines, a line says that more were left out.
    """
    commit = repository.commit(revision)
    arguments = ("-c", "core.bigFileThreshold=1m", *LOG, "--no-walk", "--format=%cs  %h  %an%n%B")
    shown = ("--diff-merges=first-parent", "--numstat", "--patch", str(commit), "--", *map(str, paths))
    lines = repository.lines(*arguments, *shown, timeout_s=_DIFF_S)
    told = [line.decode("utf-8", "replace").rstrip("\r\n") for line in islice(lines, _MAX_DIFF_LINES)]
    if not told:
        raise ConfigError(
            f"{revision} changed nothing in {', '.join(map(str, paths))}", "choose a commit that did"
        )
    return [*told, "… more lines"] if next(lines, None) is not None else told


def without_trailers(body: str) -> str:
    r"""Return the body of a message without lines such as Signed-off-by.

    >>> without_trailers("It leaked.\n\nSigned-off-by: A <a@b.c>\nChange-Id: 3\n")
    'It leaked.'
    """
    return _TRAILER.sub("", body).strip()


def _commit(header: bytes) -> Commit:
    fields = header.decode("utf-8", "replace").strip("\0\n").split("\0")
    identifier, time, author, subject, body = (fields + [""] * _FIELDS)[:_FIELDS]
    return Commit(identifier, int(time) if time.isdigit() else 0, author, subject, body.strip())


def _change(line: bytes) -> Change | None:
    """Return the change of a regular file; None for others, and for paths that git quotes."""
    match = _CHANGE.fullmatch(line)
    if match is None or match["path"].startswith(b'"'):
        return None
    modes = [mode for mode in (match["old_mode"], match["new_mode"]) if mode.strip(b"0")]
    if not all(mode.startswith(_FILE) for mode in modes):
        return None
    return Change(match["path"].decode("utf-8", "surrogateescape"), _blob(match["old"]), _blob(match["new"]))


def _blob(object_id: bytes) -> str:
    """Return an id; "" for the id of no object, which is all zeros."""
    return object_id.decode() if object_id.strip(b"0") else ""
