"""`git log` -> the commits before HEAD in one SQLite table for full-text search.

<home>/commits/<name>-<hash>/commits.sqlite     one for a repository and all its work trees

    commits   an FTS5 table with a row for each commit. Searched are the terms of its subject, of the rest of its
              message without trailers such as Signed-off-by, and of the paths that it changed (see
              `codesearch.text.terms`). Id, time, author and paths are stored for filters. The message is not: git has
              it.
    hits      what was shown of commits, as JSON, so that it need not be read again (see `hits`)
    state     HEAD when the table was complete, and a digest of what makes the clone shallow

A merge has a row only if its message says more than what was merged.

An update adds what HEAD can reach and the last one could not, and drops what only the last one could. So the table of a
branch that was rebased is that of a fresh clone. An update is one transaction, and so are the questions after it: what
is killed or finds no space leaves the table as it was, and another work tree cannot change it in between.
"""

from __future__ import annotations

import hashlib
import os
import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

from codesearch.errors import ConfigError, IndexCorruptError, IndexStoreError
from codesearch.files import COMMITS, create_private, make_folder, unique_name
from codesearch.git import LOG, Repository
from codesearch.parsing.identifiers import chunks
from codesearch.store.catalogue import COMMITS_FILE
from codesearch.store.database import storage_error
from codesearch.text.terms import FORMS, STOP_WORDS, query_terms

if TYPE_CHECKING:
    from codesearch.build.build import ProgressCallback

_VERSION = 3
"""Changes with the columns or the terms; a table of another version is made again."""
_SCHEMA = """
    DROP TABLE IF EXISTS commits;
    DROP TABLE IF EXISTS hits;
    DROP TABLE IF EXISTS state;
    CREATE VIRTUAL TABLE commits USING fts5(
        id UNINDEXED, time UNINDEXED, author UNINDEXED, changed UNINDEXED, subject, body, paths,
        tokenize = 'unicode61 remove_diacritics 0'
    );
    CREATE TABLE hits (id TEXT PRIMARY KEY, parsers TEXT NOT NULL, hit TEXT NOT NULL);
    CREATE TABLE state (head TEXT NOT NULL);
"""
_INSERT = "INSERT INTO commits VALUES (?, ?, ?, ?, ?, ?, ?)"
_WEIGHTS = (3.0, 2.0, 1.0)
"""How much a term counts in the subject, the body and the paths."""
_COLUMNS = "id, time, author, changed"
_RANKED = f"""
    SELECT {_COLUMNS}, -bm25(commits, 0, 0, 0, 0, {", ".join(map(str, _WEIGHTS))}) AS score
    FROM commits WHERE commits MATCH ? ORDER BY score DESC, time DESC, id
"""
_NEWEST = f"SELECT {_COLUMNS}, NULL FROM commits ORDER BY time DESC, id"
_MOST = 200_000
"""Only so many of the newest commits are searched."""
_MOST_TERMS = 100
"""Of a question."""
_MAX_PATHS = 200
"""Of a commit, whose words are searched."""
_REPORTED = 100
"""After so many commits, the progress is reported."""
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
_MERGE = re.compile(r"Merge[sd]? ")
_STORAGE = tuple(
    f"SQLITE_{name}" for name in "FULL READONLY BUSY LOCKED IOERR CANTOPEN NOMEM PERM AUTH".split()
)


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


@dataclass(frozen=True, slots=True)
class History:
    """A repository with the folder of its table; `common` has the objects of all its work trees.

    `shallow` is the digest of the commits whose parents are missing; "" if none are.
    """

    repository: Repository
    folder: Path
    common: Path
    head: str
    shallow: str


def find_history(top: str, home: Path) -> History:
    """Return the history of HEAD in a work tree or a bare repository."""
    repository = Repository(top, "history")
    common = Path(top, os.fsdecode(repository.git("rev-parse", "--git-common-dir")).rstrip("\n")).resolve()
    head = repository.commit("HEAD")
    if head is None:
        raise ConfigError(f"{top} has no commits", "`codesearch history` searches commits")
    shallow = ""
    with suppress(FileNotFoundError):
        shallow = hashlib.sha256((common / "shallow").read_bytes()).hexdigest()
    name = common.parent.name if common.name == ".git" else common.name
    return History(repository, home / COMMITS / unique_name(name, str(common)), common, head, shallow)


@dataclass(frozen=True, slots=True)
class CommitTable:
    """The commits of a history, of which `added` are new."""

    connection: sqlite3.Connection
    added: int

    def __len__(self) -> int:
        return int(self.connection.execute("SELECT count(*) FROM commits_docsize").fetchone()[0])

    def rows(self, question: str = "") -> Iterator[tuple[str, int, str, str, float | None]]:
        """Yield id, time, author, changed paths as lines, and score of each commit with a word of a question.

        The best ones come first. Without a question, these are all, newest first, without a score.
        """
        terms = query_terms(question)
        if question and not terms:
            raise ConfigError(f"query {question!r} has no words to search for")
        match = " OR ".join(f'"{term}"' for term in terms[:_MOST_TERMS])
        return self.connection.execute(_RANKED, (match,)) if match else self.connection.execute(_NEWEST)


@contextmanager
def table_at_head(
    history: History, on_progress: ProgressCallback = lambda _: None, cut: Mapping[str, str] | None = None
) -> Iterator[CommitTable]:
    """Bring the table of a history up to date and lend it in a transaction.

    `cut` maps ids of commits to texts that are left out.
    """
    with _connected(history) as connection:
        connection.execute("BEGIN")
        added = 0
        if _state(connection) != f"{history.head} {history.shallow}":
            connection.execute("ROLLBACK")
            # Only one process writes; it may have done this work meanwhile.
            connection.execute("BEGIN IMMEDIATE")
            added = _update(connection, history, on_progress, cut or {})
        yield CommitTable(connection, added)
        connection.execute("COMMIT")


@contextmanager
def opened(history: History) -> Iterator[sqlite3.Connection]:
    """Open the database of a history as it is, without waiting for others; an error if none is of this version."""
    if (history.folder / COMMITS_FILE).exists():
        with _connected(history, patience_s=0) as connection:
            if _state(connection) is not None:
                yield connection
                return
    raise IndexStoreError(f"{history.folder}: no table of commits")


@contextmanager
def _connected(history: History, patience_s: float = 60.0) -> Iterator[sqlite3.Connection]:
    """Open the database of a history, which may be empty."""
    path = history.folder / COMMITS_FILE
    try:
        make_folder(history.folder)
        if not path.exists():
            create_private(path)
    except OSError as error:
        raise IndexStoreError(f"{history.folder}: {error.strerror}", "give another --home") from None
    try:
        with closing(sqlite3.connect(path, patience_s, isolation_level=None)) as connection:
            yield connection
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorname", "").startswith(_STORAGE):
            raise storage_error(error, history.folder) or error from None
        raise IndexCorruptError(path, str(error), str(history.common)) from None


def _state(connection: sqlite3.Connection) -> str | None:
    """Return HEAD and the digest of the last update; None if there is no table of this version."""
    if connection.execute("PRAGMA user_version").fetchone() != (_VERSION,):
        return None
    (state,) = connection.execute("SELECT head FROM state").fetchone()
    return str(state)


def _update(
    connection: sqlite3.Connection, history: History, on_progress: ProgressCallback, cut: Mapping[str, str]
) -> int:
    """Add and drop commits; return how many rows are new."""
    from codesearch.build.build import Progress

    repository, (before, _, shallow) = history.repository, (_state(connection) or "").partition(" ")
    if not before:
        for statement in _SCHEMA.split(";"):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {_VERSION}")
    if before and shallow == history.shallow and repository.known_commit(before):
        to_add = _listed(repository, history.head, f"^{before}")
        gone = set(_listed(repository, before, f"^{history.head}"))
    else:
        listed, known = _listed(repository, history.head), _rows_by_id(connection)
        to_add = [commit for commit in listed if commit not in known]
        gone = known.keys() - listed
    if gone:
        dead = [(row,) for commit, row in _rows_by_id(connection).items() if commit in gone]
        connection.executemany("DELETE FROM commits WHERE rowid = ?", dead)
        connection.executemany("DELETE FROM hits WHERE id = ?", [(commit,) for commit in gone])
    added = 0
    for number, commit in enumerate(read_commits(repository, to_add), 1):
        if row := _row(commit, cut.get(commit.id, "\0")):
            connection.execute(_INSERT, row)
            added += 1
        if not number % _REPORTED:
            on_progress(Progress("parse", number, len(to_add), added))
    connection.execute("DELETE FROM state")
    connection.execute("INSERT INTO state VALUES (?)", (f"{history.head} {history.shallow}",))
    return added


def _rows_by_id(connection: sqlite3.Connection) -> dict[str, int]:
    return dict(connection.execute("SELECT id, rowid FROM commits"))


def _listed(repository: Repository, *commits: str) -> list[str]:
    """Return the ids of the commits that the first one can reach and the second one, after "^", cannot."""
    return [
        line.decode().strip() for line in repository.lines("rev-list", f"--max-count={_MOST}", *commits, "--")
    ]


def _row(commit: Commit, without: str) -> tuple[str | int, ...] | None:
    """Return the values of a commit; None if its message says nothing."""
    body = without_trailers(commit.body.replace(without, ""))
    if not (commit.subject or body) or (_MERGE.match(commit.subject) and not body):
        return None
    paths = [change.path.encode("utf-8", "replace").decode() for change in commit.changes]
    about = commit.id, commit.time, commit.author, "\n".join(paths)
    in_paths = dict.fromkeys(_terms("\n".join(paths[:_MAX_PATHS])))
    return (*about, *map(" ".join, (_terms(commit.subject, b"."), _terms(body), in_paths)))


def _terms(text: str, mark: bytes = b"") -> Iterator[str]:
    """Yield the terms of a text without stop words. With the mark of a name, its words are terms as a whole too."""
    terms = chain.from_iterable(FORMS[mark + chunk] for chunk in chunks(text))
    return (term for term in terms if term not in STOP_WORDS)
