"""Files and documents of a segment in SQLite. The database is written once and then only read.

    files      file_id and the fields of `FileRecord`
    documents  doc_id, file_id and the fields of `DocumentRow`
    members    member_id, and the same fields of what is no document and only found by its name

doc_ids count from 0 in the order of paths and then of places in the file, so the same tree has the same ids.
A member_id is file_id * 2^20 plus the position of the member in its file.
The database does not contain the code. A hit reads it from the source file and says if the file has changed.
"""

from __future__ import annotations

import errno
import sqlite3
import sys
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import closing, contextmanager
from dataclasses import fields
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple, get_type_hints

from codesearch.errors import IndexCorruptError, IndexWriteError, unreadable
from codesearch.files import create_private
from codesearch.types import KINDS, MEMBER_KINDS, Definition, Document

_FULL_ERRNOS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
DATABASE = "documents.sqlite"

_SCHEMA_QUERY = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY name"
_BATCH = 500
_MOST_SEEN = 256  # Documents that an open database remembers.
_FEW_LETTERS = 2
"""So few letters are in the names of almost everything."""
_MAPPED_BYTES = 1 << 30
MOST_OPEN = 100
"""Databases that are open at a time in a process, which may usually have 1,024 files open, on macOS 256."""


NO_CODE = "no code"
"""The reason for a file with nothing but imports and comments; a search for text reads it."""


class FileRecord(NamedTuple):
    """One file of an index. Unlike a dataclass, it is quick to make: an index may have 50,000."""

    path: str
    language: str
    size: int
    digest: bytes
    first_doc: int = 0
    doc_count: int = 0
    skipped: str = ""  # Why the file has no documents or only blocks of lines, or "".
    warnings: str = ""  # One warning per line, or "".
    summary: str = ""  # The first sentence of the documentation of the whole file, or "".


_FILES = f"SELECT file_id, {', '.join(FileRecord._fields)} FROM files"
_SHOWN = len(fields(Definition)) - 2  # Path and language are fields of the file.


class DocumentRow(NamedTuple):
    """The stored fields of a `Document`. Unlike a dataclass, it is quick to make and to send to another process."""

    kind: str
    name: str
    qualified_name: str
    signature: str
    docstring: str
    start_line: int
    end_line: int
    last_line: int
    start_byte: int
    end_byte: int
    flags: int
    copy_key: int
    shape_key: int

    def shown(self, file: FileRecord) -> tuple[Any, ...]:
        """Return the values of the definition; those after path and language are the first ones here."""
        return file.path, file.language, *self[:_SHOWN]

    def of(self, file: FileRecord) -> Definition:
        """Return the definition."""
        return Definition(*self.shown(file))


_DOCUMENTS = f"SELECT doc_id, file_id, {', '.join(DocumentRow._fields)} FROM documents"
_OF_FILE = f"SELECT {', '.join(DocumentRow._fields)} FROM documents"
_OF_FILE += " WHERE doc_id >= ? AND doc_id < ? AND kind != ? ORDER BY doc_id"
# Members are many and small, so of their qualified name only what is before the name is stored.
_MEMBERS = f"SELECT member_id, {', '.join(DocumentRow._fields)} FROM members".replace(
    "qualified_name", "qualified_name || name"
)
_stored = attrgetter(*DocumentRow._fields)
_SQL_TYPES = {str: "TEXT", int: "INTEGER", bytes: "BLOB"}


def _table(name: str, ids: str, record: type) -> str:
    columns = (f"{name} {_SQL_TYPES[kind]} NOT NULL" for name, kind in get_type_hints(record).items())
    return f"CREATE TABLE {name} ({ids}, {', '.join(columns)});"


_TABLES = _table("files", "file_id INTEGER PRIMARY KEY", FileRecord) + _table(
    "documents", "doc_id INTEGER PRIMARY KEY, file_id INTEGER NOT NULL", DocumentRow
)
_TABLES += _table("members", "member_id INTEGER PRIMARY KEY", DocumentRow)
_LOOK_UPS = (
    "CREATE UNIQUE INDEX by_path ON files (path); CREATE INDEX by_name ON documents (name COLLATE NOCASE);"
    "CREATE INDEX by_member ON members (name COLLATE NOCASE);"
)
_MEMBER_BITS = 20


def document_row(document: Document) -> DocumentRow:
    """Return the stored part of a parsed document."""
    return DocumentRow._make(_stored(document))


class StoreWriter:
    """Writes files in the order of their paths and numbers the documents in the same order."""

    def __init__(self, segment: Path) -> None:
        create_private(segment / DATABASE)
        self._connection = sqlite3.connect(segment / DATABASE)
        # The segment is deleted if its writer fails, so the database needs no journal.
        self._connection.execute("PRAGMA journal_mode = OFF")
        self._connection.execute("PRAGMA synchronous = OFF")
        self._connection.executescript(_TABLES)
        self._connection.execute("BEGIN")
        self.document_count = 0
        self.file_count = 0

    def add_file(
        self, record: FileRecord, rows: Sequence[DocumentRow], members: Sequence[DocumentRow] = ()
    ) -> None:
        """Add a file with its documents and members; this sets `first_doc` and `doc_count` of the stored record."""
        first, file_id = self.document_count, self.file_count
        stored = record._replace(first_doc=first, doc_count=len(rows))
        self._connection.execute(
            f"INSERT INTO files VALUES (?,{','.join('?' * len(stored))})", (file_id, *stored)
        )
        self._connection.executemany(
            f"INSERT INTO documents VALUES (?,?,{','.join('?' * len(DocumentRow._fields))})",
            ((first + position, file_id, *row) for position, row in enumerate(rows)),
        )
        self._connection.executemany(
            f"INSERT INTO members VALUES (?,{','.join('?' * len(DocumentRow._fields))})",
            (
                (
                    file_id << _MEMBER_BITS | position,
                    *row._replace(qualified_name=row.qualified_name.removesuffix(row.name)),
                )
                for position, row in enumerate(members[: 1 << _MEMBER_BITS])
            ),
        )
        self.document_count += len(rows)
        self.file_count += 1

    def finish(self) -> None:
        """Create the database indexes for look-ups, commit and close."""
        self._connection.executescript(_LOOK_UPS)  # This commits first.
        self._connection.close()

    def close(self) -> None:
        """Close the database."""
        self._connection.close()


_lock = threading.RLock()
_open: dict[StoreReader, None] = {}
"""The readers with an open database; the one used last is last."""


class StoreReader:
    """Reads one segment's files and documents."""

    def __init__(self, segment: Path, root: str) -> None:
        self._path = (segment / DATABASE).absolute()
        self._root = root
        self.seen_files: dict[int, FileRecord] = {}
        self._seen_documents: dict[int, tuple[FileRecord, DocumentRow]] = {}
        self._connection: sqlite3.Connection | None = None
        self._closed, self._users = False, 0
        with self._connected():  # Now, because a merge may delete the file later.
            pass

    def close(self) -> None:
        """Close the database."""
        with _lock:
            self._closed = True
            _open.pop(self, None)
            if self._connection:
                self._connection.close()

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        """Lend the open database. When too many are open, the one used longest ago is closed."""
        with _lock:
            if self._closed:
                raise sqlite3.ProgrammingError("closed database")
            if self._connection is None:
                self._connection = self._connect()
            _open.pop(self, None)
            _open[self] = None
            self._users += 1
            _close_spare()
            connection = self._connection
        try:
            yield connection
        finally:
            with _lock:
                self._users -= 1

    def _connect(self) -> sqlite3.Connection:
        try:
            self._path.open("rb").close()  # SQLite would not say why it cannot open the file.
        except OSError as error:
            raise unreadable(self._path, error, self._root) from None
        address = f"{self._path.as_uri()}?mode=ro&immutable=1"
        connection = None
        try:
            connection = sqlite3.connect(address, uri=True, check_same_thread=False)
            connection.execute("PRAGMA schema_version")  # SQLite opens the file now.
            connection.execute(f"PRAGMA mmap_size = {_MAPPED_BYTES}")
            # The file may come from another machine. Its schema must not run anything.
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA query_only = ON")
        except sqlite3.Error as error:
            if connection:
                connection.close()
            raise IndexCorruptError(self._path, str(error), self._root) from None
        return connection

    def fault(self) -> str:
        """Check the schema, the pages and every value of a database from another machine; return what is wrong."""
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.executescript(_TABLES + _LOOK_UPS)
            if list(self._select(_SCHEMA_QUERY)) != connection.execute(_SCHEMA_QUERY).fetchall():
                return "it has another schema"
        if next(self._select("PRAGMA quick_check(1)")) != ("ok",):
            return "its pages are damaged"
        for table in ("files", "documents", "members"):
            columns = self._select("SELECT name, lower(type) FROM pragma_table_info(?)", (table,))
            wrong = " OR ".join(f"typeof({name}) != '{kind}'" for name, kind in columns)
            if next(self._select(f"SELECT 1 FROM {table} WHERE {wrong} LIMIT 1"), None):
                return f"a value in {table} has another type"
        placed = (
            "start_line < 1 OR end_line < start_line OR last_line < end_line OR start_byte < 0 "
            "OR end_byte < start_byte OR flags NOT BETWEEN 0 AND 255 "
            "OR NOT EXISTS (SELECT 1 FROM files WHERE files.file_id ="
        )
        in_file = "documents.file_id AND doc_id >= first_doc AND doc_id < first_doc + doc_count)"
        document = f"kind NOT IN {KINDS} OR {placed} {in_file}"
        member = f"kind NOT IN {MEMBER_KINDS} OR {placed} member_id >> {_MEMBER_BITS} AND doc_count)"
        for table, wrong in (("documents", document), ("members", member)):
            if next(self._select(f"SELECT 1 FROM {table} WHERE {wrong} LIMIT 1"), None):
                return f"a value in {table} is out of range"
        return ""

    def files(self) -> list[FileRecord]:
        """Read all files; a file_id is a position in the list."""
        query = f"SELECT {', '.join(FileRecord._fields)} FROM files ORDER BY file_id"
        return list(map(FileRecord._make, self._select(query)))

    def numbered_files(self, paths: Sequence[str] | None = None) -> Iterator[tuple[int, FileRecord]]:
        """Read (file_id, file): for all files in doc_id order, or only for some paths."""
        if paths is None:
            return map(_numbered, self._select(f"{_FILES} ORDER BY file_id"))
        return map(_numbered, self._select_many(f"{_FILES} WHERE path IN", paths))

    def files_ending(self, path: str) -> Iterator[tuple[int, FileRecord]]:
        """Read (file_id, file) of each file with this path or with a path that ends in "/" and this path."""
        named = "SELECT file_id FROM files WHERE path = ? OR substr(path, ?) = ?"  # This reads only an index.
        query = f"{_FILES} WHERE file_id IN ({named})"
        return map(_numbered, self._select(query, (path, -len(path) - 1, f"/{path}")))

    def paths_below(self, folder: str) -> Iterator[tuple[str, int]]:
        """Read (path, file_id) of all files in a folder and its folders, by path; a database index has all of this."""
        # "0" follows "/". SQLite sorts all bytes after all text.
        span = (f"{folder}/", f"{folder}0") if folder else ("", b"")
        return self._select(
            "SELECT path, file_id FROM files WHERE path >= ? AND path < ? ORDER BY path", span
        )

    def document_rows(self, file: FileRecord | None = None, *, but: str = "") -> list[DocumentRow]:
        """Read the documents of a file in the order of the source, or of all files in the order of doc_ids.

        Those of the kind `but` are left out.
        """
        span = (file.first_doc, file.first_doc + file.doc_count) if file else (0, sys.maxsize)
        return list(map(DocumentRow._make, self._select(_OF_FILE, (*span, but))))

    def line_counts(self) -> list[int]:
        """Return the number of lines of each document."""
        query = "SELECT end_line - start_line + 1 FROM documents ORDER BY doc_id"
        return [count for (count,) in self._select(query)]

    def documents(self, doc_ids: Sequence[int]) -> dict[int, tuple[FileRecord, DocumentRow]]:
        """Read some documents with their files. A query reads most of its hits twice, so the last ones are kept."""
        seen = self._seen_documents
        missing = [doc_id for doc_id in doc_ids if doc_id not in seen]
        rows = list(self._select_many(f"{_DOCUMENTS} WHERE doc_id IN", missing))
        files = self.files_of({row[1] for row in rows})
        read = {row[0]: (files[row[1]], DocumentRow._make(row[2:])) for row in rows}
        found = seen | read
        self._seen_documents = found if len(found) <= _MOST_SEEN else {}
        return found

    def files_of(self, file_ids: Set[int]) -> Mapping[int, FileRecord]:
        """Read some files: file_id -> file; the result also contains all files that were read before."""
        missing = list(file_ids - self.seen_files.keys())
        self.seen_files.update(map(_numbered, self._select_many(f"{_FILES} WHERE file_id IN", missing)))
        return self.seen_files

    def documents_named(self, name: str) -> list[tuple[int, str, str]]:
        """List (doc_id, name, qualified_name) of every document with this name, ignoring case."""
        query = "SELECT doc_id, name, qualified_name FROM documents WHERE name = ? COLLATE NOCASE"
        return list(self._select(f"{query} ORDER BY doc_id", (name,)))

    def files_defining(self, name: str) -> set[int]:
        """Return the files that have a document with exactly this name."""
        query = "SELECT DISTINCT file_id FROM documents WHERE name = ?1 COLLATE NOCASE AND name = ?1"
        return {file_id for (file_id,) in self._select(query, (name,))}

    def members(self, file_id: int) -> list[DocumentRow]:
        """Read the members of a file, in the order of the source."""
        query = f"{_MEMBERS} WHERE member_id >= ? AND member_id < ? ORDER BY member_id"
        rows = self._select(query, (file_id << _MEMBER_BITS, file_id + 1 << _MEMBER_BITS))
        return [DocumentRow._make(row[1:]) for row in rows]

    def members_named(self, name: str) -> list[tuple[int, DocumentRow]]:
        """List (file_id, member) of every member with this name, ignoring case."""
        query = f"{_MEMBERS} WHERE name = ? COLLATE NOCASE ORDER BY member_id"
        return [(row[0] >> _MEMBER_BITS, DocumentRow._make(row[1:])) for row in self._select(query, (name,))]

    def names_like(self, name: str, file_ids: Collection[int] | None = None) -> set[str]:
        """Return the names that have the letters of a text in order, and those that begin like it and are as long.

        All ignore case. Of one or two letters, only the names that begin with them. Only names in some files count, if
        `file_ids` are given.
        """
        alike = "name >= ?1 COLLATE NOCASE AND name < ?2 COLLATE NOCASE AND length(name) BETWEEN ?3 AND ?4"
        tables = {"documents": "file_id", "members": f"member_id >> {_MEMBER_BITS}"}
        with_file = {of: "" if file_ids is None else f", {file}" for of, file in tables.items()}
        either = (
            f"SELECT name{file} FROM {of} WHERE {alike} OR name LIKE ?5" for of, file in with_file.items()
        )
        first, size = name[:1].lower(), len(name)
        end = chr(min(ord(first) + 1, 0x10FFFF)) if first else ""
        letters = [letter for letter in name if letter.isalnum()]
        pattern = "%".join(["", *letters, ""]) if len(letters) > _FEW_LETTERS else f"{''.join(letters)}%"
        values = first, end, size - size // 4 - 1, size + size // 4 + 1, pattern if letters else ""
        found = self._select(" UNION ".join(either), values)
        return {row[0] for row in found if file_ids is None or row[1] in file_ids}

    def _select_many(self, query: str, values: Sequence[int | str]) -> Iterator[tuple[Any, ...]]:
        """Run a query that ends in IN with all values, in batches."""
        for start in range(0, len(values), _BATCH):
            batch = values[start : start + _BATCH]
            yield from self._select(f"{query} ({','.join('?' * len(batch))})", batch)

    def _select(self, query: str, parameters: Iterable[object] = ()) -> Iterator[tuple[Any, ...]]:
        try:
            with self._connected() as connection:
                yield from connection.execute(query, tuple(parameters))
        except UnicodeEncodeError:  # No stored text has such a character.
            return
        except sqlite3.DatabaseError as error:
            raise IndexCorruptError(self._path, str(error), self._root) from None


def _numbered(row: tuple[Any, ...]) -> tuple[int, FileRecord]:
    return row[0], FileRecord._make(row[1:])


def _close_spare() -> None:
    """Close databases beyond `MOST_OPEN`, those used longest ago first, but none that is in use."""
    for reader in [reader for reader in list(_open)[:-MOST_OPEN] if not reader._users]:
        del _open[reader]
        if reader._connection:
            reader._connection.close()
            reader._connection = None


def storage_error(error: Exception, folder: Path) -> IndexWriteError | None:
    """Return an error that says why writing to `folder` failed, or None if the storage is not the reason."""
    full = (isinstance(error, sqlite3.OperationalError) and "full" in str(error)) or (
        isinstance(error, OSError) and error.errno in _FULL_ERRNOS
    )
    if full:
        return IndexWriteError(f"no space left under {folder}", "free some or give another --home")
    if isinstance(error, sqlite3.Error):
        return IndexWriteError(f"{folder}: cannot be written ({error})")
    if isinstance(error, OSError):
        return IndexWriteError(f"{error.filename or folder}: {error.strerror or error}")
    return None


@contextmanager
def storage_errors(home: Path) -> Iterator[None]:
    """Turn an error of the storage into one line."""
    try:
        yield
    except OSError as error:
        raise storage_error(error, home) or error from error
