"""`git log` -> commits. Messages, names and paths are text that anyone may have written."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from codesearch.errors import ConfigError
from codesearch.git import LOG, Repository

_FORMAT = "--format=%x00%H%x00%ct%x00%an <%ae>%x00%s%x00%b%x00"
_FIELDS = 5
RAW = ("--raw", "--no-abbrev", "--no-renames", "--ignore-submodules=all")
"""Arguments with which `git log` lists the changed files."""
_HUNKS = ("--patch", "--unified=0", "--inter-hunk-context=0", "--full-index")
_LARGE = ("-c", "core.bigFileThreshold=1m")
"""Git shows no hunks of larger files."""
_MAX_MESSAGE = 20_000
_MAX_CHANGES, _MAX_HUNKS, _MAX_CONTEXTS = 1_000, 1_000, 100
_RAW = re.compile(rb":(\d+) (\d+) ([0-9a-f]+) ([0-9a-f]+) [A-Z]\d*\t(.*)\n", re.DOTALL)
_PATCH = re.compile(rb"index ([0-9a-f]+)\.\.([0-9a-f]+)\b")
_HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)\n", re.DOTALL)
_TRAILER = re.compile(
    r"(?:[A-Z][\w-]*-[Bb]y|C[Cc]|Change-Id|git-svn-id|Link|Message-I[Dd]):? .*\n?", re.MULTILINE
)
_FILE = b"100"
"""How the modes of files begin that are no links and no submodules."""
Span = tuple[int, int]
"""The first line and the number of lines; if that is 0, the place is after the line."""


@dataclass(slots=True)
class Change:
    """A file that a commit changed; `old` and `new` are the ids of its content, "" if it is not there.

    `hunks` has the lines of each hunk before and after the commit.
    """

    path: str
    old: str
    new: str
    hunks: list[tuple[Span, Span]] = field(default_factory=list)


@dataclass(slots=True)
class Commit:
    """A commit: `time` in seconds since 1970, and the first paragraph of its message as one line in `subject`.

    `changes` are at most 1,000, without links, submodules, and paths with control characters or quotes. `contexts` has
    the line of the definition around each hunk, as git finds it, without repetitions.
    """

    id: str
    time: int
    author: str
    subject: str
    body: str
    changes: list[Change] = field(default_factory=list)
    contexts: dict[str, None] = field(default_factory=dict)


def read_commits(
    lines: Callable[..., Iterator[bytes]], *arguments: str, given: Iterable[bytes] = ()
) -> Iterator[Commit]:
    """Yield the commits that `git log` lists, in its order."""
    reader: _Reader | None = None
    for is_header, text in _parts(lines(*_LARGE, *LOG, _FORMAT, *arguments, given=given)):
        if is_header:
            if reader:
                yield reader.commit
            reader = _Reader(_commit(text))
        elif reader:
            reader.add(text)
    if reader:
        yield reader.commit


def _parts(lines: Iterable[bytes]) -> Iterator[tuple[bool, bytes]]:
    """Yield (True, header of a commit with its message) and (False, line after it)."""
    header = b""
    for line in lines:
        if not header and not line.startswith(b"\0"):
            yield False, line
            continue
        header += line if len(header) < _MAX_MESSAGE else b""
        if line.endswith(b"\0\n"):  # Git ends a message at a null character, so there is none in it.
            yield True, header
            header = b""


@dataclass(slots=True)
class _Reader:
    """Reads the changes of a commit."""

    commit: Commit
    _by_ids: dict[tuple[str, str], list[Change]] = field(default_factory=dict)
    _change: Change | None = None

    def add(self, line: bytes) -> None:
        """Read a line after the header. Lines of the contents begin with other characters."""
        if line.startswith(b":"):
            if len(self.commit.changes) < _MAX_CHANGES and (change := _change(line)):
                self.commit.changes.append(change)
                self._by_ids.setdefault((change.old, change.new), []).append(change)
        elif match := _PATCH.match(line):
            same = self._by_ids.get((_blob(match[1]), _blob(match[2])))
            self._change = same.pop(0) if same else None  # Patches have the order of the changes.
        elif line.startswith(b"@@ ") and self._change and (match := _HUNK.fullmatch(line)):
            old, old_count, new, new_count, context = match.groups(b"1")
            if len(self._change.hunks) < _MAX_HUNKS:
                self._change.hunks.append(((int(old), int(old_count)), (int(new), int(new_count))))
            if (context := context.strip()) and len(self.commit.contexts) < _MAX_CONTEXTS:
                self.commit.contexts[context.decode("utf-8", "replace")] = None


def commit_ids(repository: Repository, *arguments: str) -> list[str]:
    """Return the ids of the commits that `git log` lists, in its order."""
    lines = repository.lines(*LOG, "--format=%x00 %H", *arguments)
    return [line.split()[1].decode() for line in lines if line.startswith(b"\0")]


def without_trailers(body: str) -> str:
    r"""Return the body of a message without lines such as Signed-off-by.

    >>> without_trailers("It leaked.\n\nSigned-off-by: A <a@b.c>\nChange-Id: 3\n")
    'It leaked.'
    """
    return _TRAILER.sub("", body).strip()


def read_changes(repository: Repository, ids: Iterable[str]) -> list[Commit]:
    """Return commits with their changes and hunks, in the order of their ids; without hunks in a partial clone."""
    arguments, given = ("--no-walk=unsorted", "--stdin", *RAW), [one.encode() for one in ids]
    if not given:  # Git would list HEAD.
        return []
    try:
        return list(read_commits(repository.lines, *arguments, *_HUNKS, given=given))
    except ConfigError:  # A partial clone has no contents. If anything else is wrong, this fails too.
        return list(read_commits(repository.lines, *arguments, given=given))


def _commit(header: bytes) -> Commit:
    fields = header.decode("utf-8", "replace").strip("\0\n").split("\0")
    identifier, time, author, subject, body = (fields + [""] * _FIELDS)[:_FIELDS]
    return Commit(identifier, int(time) if time.isdigit() else 0, author, subject, body.strip())


def _change(line: bytes) -> Change | None:
    """Return the change of a regular file; None for others, and for paths that git quotes."""
    match = _RAW.fullmatch(line)
    if match is None:
        return None
    old_mode, new_mode, old, new, path = match.groups()
    modes = [mode for mode in (old_mode, new_mode) if mode.strip(b"0")]
    if path.startswith(b'"') or not all(mode.startswith(_FILE) for mode in modes):
        return None
    return Change(path.decode("utf-8", "surrogateescape"), _blob(old), _blob(new))


def _blob(object_id: bytes) -> str:
    """Return an id; "" for the id of no object, which is all zeros."""
    return object_id.decode() if object_id.strip(b"0") else ""
