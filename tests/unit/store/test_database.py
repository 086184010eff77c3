"""Files and documents of a store, and errors of a failing disk."""

import errno
import sqlite3
from dataclasses import asdict, astuple, fields
from zlib import crc32

import pytest

from codesearch.errors import IndexCorruptError, IndexWriteError
from codesearch.store.arrays import ROW
from codesearch.store.database import (
    DATABASE,
    DocumentRow,
    FileRecord,
    StoreReader,
    StoreWriter,
    document_row,
    storage_error,
)
from codesearch.store.manifest import FORMAT_VERSION
from codesearch.types import Definition, Document
from tests.tiny_bundle import change_one_byte


def row(name: str, line: int = 1) -> DocumentRow:
    described = ("function", name, f"Outer.{name}", f"def {name}()", "says", line, line + 2, line + 2)
    keys = {"flags": 1, "copy_key": -5, "shape_key": 9}
    return document_row(Document("", "", *described, code="", start_byte=10, end_byte=20, **keys))


@pytest.fixture
def store(tmp_path):
    writer = StoreWriter(tmp_path)
    writer.add_file(FileRecord("b.py", "python", 5, b"d1"), [row("first"), row("Second", 4)])
    writer.add_file(FileRecord("empty.go", "go", 0, b"d2", skipped="binary"), [])
    writer.add_file(FileRecord("a.py", "python", 6, b"d3"), [row("second", 9)])
    writer.finish()
    reader = StoreReader(tmp_path, "root")
    yield reader
    reader.close()


def test_names_are_found_in_any_case(store):
    assert store.documents_named("SECOND") == [(1, "Second", "Outer.Second"), (2, "second", "Outer.second")]
    assert store.documents_named("sec") == []


def test_text_that_is_not_unicode_is_not_found(store):
    assert store.documents_named("caf\udce9") == list(store.files_ending("caf\udce9.py")) == []


def test_a_row_has_the_fields_of_a_document_first_those_of_a_definition_in_the_same_order():
    described = ("p.py", "python", "method", "n", "C.n", "def n()", "doc", 3, 9, 20)
    document = Document(
        *described, code="code", start_byte=40, end_byte=90, flags=2, copy_key=-7, shape_key=8
    )
    row = document_row(document)
    assert row._asdict() == {name: getattr(document, name) for name in DocumentRow._fields}
    definition = row.of(FileRecord("p.py", "python", 1, b""))
    assert astuple(definition)[:10] == described
    assert asdict(definition) == {field.name: getattr(document, field.name) for field in fields(Definition)}


def test_other_columns_are_another_format():
    columns = crc32(repr((DocumentRow._fields, FileRecord._fields, ROW.descr)).encode())
    assert (FORMAT_VERSION, columns) == (22, 4109897307), (
        "raise FORMAT_VERSION, then write the new numbers here"
    )


def test_a_missing_database_is_a_corrupt_index(tmp_path):
    with pytest.raises(IndexCorruptError, match=r"documents\.sqlite.*run `codesearch index --rebuild /src`"):
        StoreReader(tmp_path, "/src")


def test_a_damaged_database_is_a_corrupt_index(tmp_path, store):
    change_one_byte(tmp_path / DATABASE, 0)
    with pytest.raises(IndexCorruptError, match=r"documents\.sqlite: file is not a database"):
        StoreReader(tmp_path, "/src")


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "No space left on device"),
        OSError(errno.EDQUOT, "Disk quota exceeded"),
        OSError(errno.EFBIG, "File too large"),
        sqlite3.OperationalError("database or disk is full"),
    ],
    ids=["disk", "quota", "file size", "sqlite"],
)
def test_full_storage_is_an_error_with_a_cure(tmp_path, error):
    known = storage_error(error, tmp_path)
    assert type(known) is IndexWriteError
    assert str(known) == (f"no space left under {tmp_path}: free some or give another --home")


def test_other_storage_failures_name_the_file_and_the_reason(tmp_path):
    denied = storage_error(PermissionError(errno.EACCES, "Permission denied", "/x/y"), tmp_path)
    assert str(denied) == "/x/y: Permission denied"
    failed = storage_error(sqlite3.OperationalError("disk I/O error"), tmp_path)
    assert str(failed) == f"{tmp_path}: cannot be written (disk I/O error)"


def test_other_errors_are_not_storage_failures(tmp_path):
    assert storage_error(ValueError("a bug"), tmp_path) is None
