"""A portable file gives the same answers on another machine; an invalid file is a one-line error."""

import io
import json
import os
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path

import pytest

from codesearch import Engine, PortableFileError, Scope
from codesearch.config import IndexOptions, WalkConfig
from codesearch.errors import ConfigError, ExportError
from codesearch.portable import unpack
from codesearch.portable.pack import HEAD
from codesearch.store.arrays import OFFSETS
from codesearch.store.catalogue import imported_folder
from codesearch.store.digest import remember_written
from codesearch.store.manifest import read_manifest
from tests.conftest import TINY_REPO, write_tree

QUERIES = ("convert a number to a string", "sort a list", "push", "read lines of a file")
STORE = "segments/000001/documents.sqlite"


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tree(tmp_path_factory.mktemp("builds") / "x", TINY_REPO)


@pytest.fixture(scope="module")
def builder(tmp_path_factory: pytest.TempPathFactory, source: Path) -> Engine:
    """Return the engine that makes the index, with the shipped model."""
    engine = Engine(tmp_path_factory.mktemp("ci"), device="cpu")
    engine.index(source)
    return engine


@pytest.fixture(scope="module")
def plain(builder: Engine, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return builder.export(tmp_path_factory.mktemp("plain") / "x.codesearch").file


@pytest.fixture(scope="module")
def with_code(builder: Engine, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return builder.export(tmp_path_factory.mktemp("code") / "x.codesearch", with_code=True).file


@pytest.fixture
def reader(engine: Engine) -> Engine:
    """Return an engine with another home, as on another machine."""
    return engine


def imported(engine: Engine, file: Path) -> Scope:
    """Return the scope of a portable file after its import."""
    return Scope((engine.import_index(file).root,))


def answers(engine: Engine, scope: Scope, *, without: tuple[str, ...] = ("root",)) -> list[list[dict]]:
    """Return the hits of all queries without some fields."""
    found = [engine.search(query, scope, context=1, refresh=False).hits for query in QUERIES]
    return [[{k: v for k, v in asdict(hit).items() if k not in without} for hit in hits] for hits in found]


def repacked(file: Path, target: Path, change: Callable[[dict[str, bytes]], None]) -> Path:
    """Rewrite a portable file with other entries and matching checksums, as an attacker would."""
    with zipfile.ZipFile(file) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    change(entries)
    head = json.loads(entries[HEAD])
    for segment in head["manifest"].get("segments", []):
        for name in segment.get("files", {}):
            path = f"segments/{segment['number']:06d}/{name}"
            if path in entries:
                digest = sha256(entries[path]).hexdigest()
                segment["files"][name] = {"bytes": len(entries[path]), "sha256": digest}
    entries[HEAD] = json.dumps(head).encode()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return target


def in_head(**fields: object) -> Callable[[dict[str, bytes]], None]:
    """Return a function that changes the head or the manifest in it."""

    def change(entries: dict[str, bytes]) -> None:
        head = json.loads(entries[HEAD])
        for name, value in fields.items():
            (head if name == "portable" else head["manifest"])[name] = value
        entries[HEAD] = json.dumps(head).encode()

    return change


def in_store(tmp_path: Path, statement: str, *values: object) -> Callable[[dict[str, bytes]], None]:
    """Return a function that changes the database."""

    def change(entries: dict[str, bytes]) -> None:
        path = tmp_path / "changed.sqlite"
        path.write_bytes(entries[STORE])
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(statement, values)
            connection.commit()
        entries[STORE] = path.read_bytes()

    return change


def refusal(engine: Engine, file: Path) -> str:
    """Return the one-line error for a file, and check that no files remain."""
    with pytest.raises(PortableFileError) as raised:
        engine.import_index(file)
    assert "\n" not in str(raised.value) and str(file) in str(raised.value)
    assert engine.status() == []
    assert [path for path in engine.home.rglob("*") if path.is_file()] == []
    return str(raised.value)


def test_the_same_index_gives_the_same_bytes_without_paths_of_the_machine(builder, source, tmp_path):
    for name in ("a", "b"):
        builder.export(tmp_path / name, with_code=True)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert str(source.parent).encode() not in zipfile.ZipFile(tmp_path / "a").read(HEAD)


def test_with_code_every_answer_is_the_same_without_the_sources(builder, reader, source, with_code):
    expected = answers(builder, Scope(roots=(source,)))
    report = reader.import_index(with_code)
    assert (report.root, report.manifest.has_sources, report.manifest.has_code) == ("x", False, True)
    assert answers(reader, Scope(roots=("x",))) == expected


def test_without_code_only_the_code_is_missing(builder, reader, source, plain):
    left_out = ("root", "code", "before", "after")
    expected = answers(builder, Scope(roots=(source,)), without=left_out)
    scope = imported(reader, plain)
    assert answers(reader, scope, without=left_out) == expected
    (hit, *_) = reader.search("push", scope).hits
    assert (hit.code, hit.signature, hit.root) == ("", "def push(self, item)", "x")


@pytest.mark.parametrize(
    "place", ["x/python/convert.py:5", "python/convert.py:5", "/else/x/python/convert.py:5"]
)
def test_code_like_an_imported_definition_is_found_without_its_file(builder, reader, source, plain, place):
    reader.import_index(plain)
    expected = builder.session(Scope(roots=(source,))).similar(f"{source}/python/convert.py:5").hits
    found = reader.session(Scope(roots=("x",))).similar(place).hits
    assert [(hit.path, hit.start_line, hit.score) for hit in found] == [
        (hit.path, hit.start_line, hit.score) for hit in expected
    ]


def test_the_files_of_an_imported_index_are_found_in_a_folder_with_its_name(builder, reader, tmp_path):
    source = write_tree(tmp_path / "x", {"src/x/a.py": "def push(item):\n    return [item]\n", **TINY_REPO})
    builder.index(source)
    file = builder.export(tmp_path / "x.codesearch", source).file
    builder.remove(source)
    scope = imported(reader, file)
    for place in ("x/src/x/a.py:1", "src/x/a.py:1", "a.py::push"):
        assert reader.session(scope).similar(place).hits[0].qualified_name == "Stack.push"


def test_with_another_checkout_the_code_is_read_there_and_an_update_parses_differing_files(
    builder, reader, source, plain, tmp_path
):
    checkout = tmp_path / "checkout"
    shutil.copytree(source, checkout, copy_function=shutil.copyfile)  # The copies get new time stamps.
    report = reader.import_index(plain, checkout)
    assert (report.root, report.manifest.has_sources) == (str(checkout), True)
    assert answers(reader, Scope(roots=(checkout,))) == answers(builder, Scope(roots=(source,)))
    assert not reader.index(checkout).built
    (checkout / "go/reader.go").write_text("package reader\n\n// Fresh is new.\nfunc Fresh() {\n}\n")
    updated = reader.index(checkout)
    assert (updated.parsed, updated.kept) == (1, 5)
    assert reader.search("Fresh", Scope(roots=(checkout,))).hits[0].name == "Fresh"


def test_a_search_reports_that_the_sources_are_not_here(reader, plain, with_code):
    for file, state in ((plain, "without code"), (with_code, "with code")):
        (freshness,) = reader.search("push", imported(reader, file)).freshness
        assert (freshness.root, freshness.state) == ("x", state)


def test_an_imported_index_can_be_exported_and_removed_by_its_name(reader, with_code, home, tmp_path):
    reader.import_index(with_code, name="other")
    again = reader.export(tmp_path / "again", "other", with_code=True)
    assert (again.root, again.missing, again.documents) == ("other", 0, 13)
    reader.remove("other")
    assert not imported_folder(home, "other").exists()


def test_a_changed_file_is_exported_without_its_code(tmp_path, reader):
    root = write_tree(tmp_path / "changing", TINY_REPO)
    reader.index(root)
    (root / "go/reader.go").write_text("package other\n")
    report = reader.export(tmp_path / "file", root, with_code=True)
    assert (report.changed, report.missing) == (1, 0)
    hits = reader.search("ReadLines", imported(reader, tmp_path / "file")).hits
    assert (hits[0].name, hits[0].code) == ("ReadLines", "")


def test_another_model_is_a_one_line_error_that_names_it(reader, plain, tmp_path):
    with zipfile.ZipFile(plain) as archive:
        model = {**json.loads(archive.read(HEAD))["manifest"]["model"], "name": "other", "id": "00"}
    file = repacked(plain, tmp_path / "file", in_head(model=model))
    with pytest.raises(ConfigError, match=r"was made with model other \(00\).*--model"):
        reader.import_index(file)


def test_only_a_portable_file_is_replaced(builder, tmp_path):
    file = tmp_path / "notes.txt"
    file.write_text("mine")
    with pytest.raises(ExportError, match="is not a portable file"):
        builder.export(file)
    assert file.read_text() == "mine"
    file.unlink()
    assert builder.export(file).bytes == builder.export(file).bytes


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"portable": 2}, "portable file of version 2, expected 1"),
        ({"format": 6}, "index format 6, expected"),
        ({"root": "../x"}, "field 'root'"),
        ({"root": "/etc"}, "field 'root'"),
        ({"root": "x."}, "field 'root'"),
        ({"documents": -1}, "field 'documents'"),
        ({"created": "yesterday"}, "field 'created'"),
        ({"settings": {"exclude": 3}}, "field 'settings'"),
        ({"settings": {"exclude": ["[z-a"]}}, "field 'settings'"),
        ({"settings": {"exclude": [f"?{number}*" for number in range(6_000)]}}, "field 'settings'"),
        ({"settings": {"exclude": ["*" * 1_000] * 200}}, "field 'settings'"),
        ({"settings": {"languages": ["klingon"]}}, "field 'settings'"),
        ({"settings": {"max_file_bytes": 10**12}}, "field 'settings'"),
        ({"settings": {"max_file_bytes": -5}}, "field 'settings'"),
        ({"settings": {"max_file_bytes": True}}, "field 'settings'"),
        ({"options": {"content": "x"}}, "field 'options'"),
        ({"options": {"content": []}}, "field 'options'"),
        ({"options": {"home": "/"}}, "field 'options'"),
        ({"model": {"name": "m", "id": "1", "dim": 384, "folder": "/tmp/evil"}}, "field 'model'"),
        ({"segments": [{}]}, "manifest is not valid"),
        ({"more": 1}, "manifest is not valid"),
    ],
)
def test_a_wrong_field_is_refused(reader, plain, tmp_path, fields, reason):
    assert reason in refusal(reader, repacked(plain, tmp_path / "file", in_head(**fields)))


def test_an_import_for_a_folder_reads_no_more_files_than_the_settings_of_the_user(reader, builder, tmp_path):
    made = write_tree(tmp_path / "made", {"a.py": "def my_function(): pass\n"})
    walk = IndexOptions(follow_links=True, hidden=True, ignore_files=False, max_file_bytes=9_000_000)
    builder.index(made, walk)
    builder.export(tmp_path / "file", made)
    private = write_tree(tmp_path / "private", {"keys.py": "def my_secret(): pass\n"})
    tree = {"a.py": "def my_function(): pass\n", ".b.py": "def my_secret(): pass\n", ".gitignore": "c.py\n"}
    root = write_tree(tmp_path / "root", {**tree, "c.py": "def my_secret(): pass\n"})
    (root / "docs").symlink_to(private)
    manifest = reader.import_index(tmp_path / "file", root).manifest
    assert (manifest.options, manifest.walk_config()) == ({}, WalkConfig())
    assert {hit.path for hit in reader.search("my secret", Scope(roots=(root,))).hits} == {"a.py"}


@pytest.mark.parametrize("name", ["../../evil", "/tmp/evil", "segments/000001/evil.pkl", "..\\evil"])
def test_an_entry_outside_of_the_folder_or_unknown_is_refused(reader, plain, tmp_path, name):
    file = repacked(plain, tmp_path / "file", lambda entries: entries.update({name: b"evil"}))
    assert "is not in its manifest" in refusal(reader, file)
    assert not list(tmp_path.rglob("evil*"))


@pytest.mark.parametrize("name", ["../evil", "/tmp/evil", "vectors.hnsw", "evil.pkl"])
def test_a_manifest_that_names_other_files_is_refused(reader, plain, tmp_path, name):
    def change(entries: dict[str, bytes]) -> None:
        head = json.loads(entries[HEAD])
        head["manifest"]["segments"][0]["files"][name] = {"bytes": 4, "sha256": sha256(b"evil").hexdigest()}
        entries[HEAD] = json.dumps(head).encode()
        entries[f"segments/000001/{name}"] = b"evil"

    assert "is no file of a segment" in refusal(reader, repacked(plain, tmp_path / "file", change))


def rewritten(file: Path, target: Path, entry_of: Callable[[zipfile.ZipInfo], list[zipfile.ZipInfo]]) -> Path:
    """Copy an archive; `entry_of` returns the headers under which each entry is written."""
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(target, "w") as new:
        for info in old.infolist():
            content = old.read(info)
            for written in entry_of(info):
                new.writestr(written, content)
    return target


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_links_devices_and_duplicates_are_refused(reader, plain, tmp_path):
    def of_type(kind: int) -> Callable[[zipfile.ZipInfo], list[zipfile.ZipInfo]]:
        def change(info: zipfile.ZipInfo) -> list[zipfile.ZipInfo]:
            if info.filename == STORE:
                info.external_attr = (kind | 0o777) << 16
            return [info]

        return change

    for kind in (stat.S_IFLNK, stat.S_IFCHR, stat.S_IFIFO):
        assert "is no file" in refusal(reader, rewritten(plain, tmp_path / "file", of_type(kind)))
    twice = rewritten(
        plain, tmp_path / "file", lambda info: [info, info] if info.filename == STORE else [info]
    )
    assert "occurs twice" in refusal(reader, twice)


def test_an_entry_with_another_size_or_checksum_is_refused(reader, plain, tmp_path):
    with zipfile.ZipFile(plain) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    for content, reason in (
        (entries[STORE] + bytes(1 << 24), "bytes, expected"),
        (b"\0" * len(entries[STORE]), "has a wrong checksum"),
    ):
        with zipfile.ZipFile(tmp_path / "file", "w", zipfile.ZIP_DEFLATED) as archive:
            for name, kept in entries.items():
                archive.writestr(name, content if name == STORE else kept)
        assert reason in refusal(reader, tmp_path / "file")


def test_a_file_that_unpacks_to_too_much_is_refused(reader, plain, monkeypatch):
    monkeypatch.setattr(unpack, "MAX_BYTES", 1000)
    with pytest.raises(PortableFileError, match="is refused: it unpacks to more than"):
        reader.import_index(plain)


@pytest.mark.parametrize("path", ["../../../etc/passwd", "/etc/passwd", "a/../../b", "a\0b"])
def test_a_document_path_outside_of_the_folder_is_refused(reader, plain, tmp_path, path):
    change = in_store(tmp_path, "UPDATE files SET path = ? WHERE file_id = 0", path)
    assert "leaves the folder" in refusal(reader, repacked(plain, tmp_path / "file", change))


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE VIEW v AS SELECT 1",
        "CREATE TRIGGER t AFTER INSERT ON files BEGIN DELETE FROM files; END",
        "CREATE TABLE more (a)",
        "UPDATE files SET size = 'much'",
        "UPDATE files SET size = -1",
        "UPDATE files SET first_doc = 7",
        "UPDATE files SET language = 'klingon'",
        "UPDATE documents SET start_line = -1",
        "UPDATE documents SET kind = 'virus'",
        "UPDATE documents SET name = x'ff'",
        "UPDATE documents SET file_id = 99",
        "DELETE FROM documents WHERE doc_id = 3",
    ],
)
def test_a_database_with_another_schema_or_wrong_values_is_refused(reader, plain, tmp_path, statement):
    line = refusal(reader, repacked(plain, tmp_path / "file", in_store(tmp_path, statement)))
    assert "documents.sqlite" in line


@pytest.mark.parametrize(
    "name", ["rows.npy", "words.npy", "passages.npy", "postings/doc_ids.npy", "postings/list_offsets.npy"]
)
def test_an_array_with_numbers_out_of_range_is_refused(reader, plain, tmp_path, name):
    def change(entries: dict[str, bytes]) -> None:
        content = entries[f"segments/000001/{name}"]
        entries[f"segments/000001/{name}"] = content[:-8] + b"\xff" * 8

    assert "is not valid" in refusal(reader, repacked(plain, tmp_path / "file", change))


def test_code_of_another_number_of_files_is_refused(reader, with_code, tmp_path):
    import numpy as np

    def change(entries: dict[str, bytes]) -> None:
        offsets = np.load(io.BytesIO(entries[name := f"segments/000001/{OFFSETS}"]))
        np.save(changed := io.BytesIO(), np.delete(offsets, 1))
        entries[name] = changed.getvalue()

    assert f"{OFFSETS} is not valid" in refusal(reader, repacked(with_code, tmp_path / "file", change))


def test_a_pickle_in_an_array_is_not_loaded(reader, plain, tmp_path):
    import numpy as np

    np.save(tmp_path / "evil.npy", np.array([{}], dtype=object), allow_pickle=True)
    evil = (tmp_path / "evil.npy").read_bytes()
    change = lambda entries: entries.update({"segments/000001/rows.npy": evil})  # noqa: E731
    assert "rows.npy is not valid" in refusal(reader, repacked(plain, tmp_path / "file", change))


def test_concurrent_imports_leave_one_complete_index(home, with_code, plain):
    engines = [Engine(home, device="cpu") for _ in range(4)]
    files = [with_code, plain, with_code, plain]
    threads = [
        threading.Thread(target=engine.import_index, args=(file,))
        for engine, file in zip(engines, files, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (status,) = engines[0].status()
    assert (status.root, status.documents) == ("x", 13)
    assert len(list(imported_folder(home, "x").glob("segments/*"))) == 1
    assert list((home / "scratch").iterdir()) == []


def test_a_killed_import_leaves_no_index_and_a_later_one_removes_its_scratch_folder(
    reader, home, plain, monkeypatch
):
    program = (
        "import signal, sys\nfrom codesearch import Engine\nimport codesearch.portable.unpack as unpack\n"
        "unpack.writer_lock = lambda *_, **__: (print('unpacked', flush=True), signal.pause())\n"
        "Engine(sys.argv[1]).import_index(sys.argv[2])\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, home, plain], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout and process.stdout.readline() == "unpacked\n"
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert reader.status() == []
    (abandoned,) = (home / "scratch").iterdir()
    os.utime(abandoned, (time.time() - 3600,) * 2)
    assert reader.import_index(plain).documents == 13
    assert list((home / "scratch").iterdir()) == []


def test_a_path_in_an_index_that_leaves_the_folder_is_never_opened(reader, home, tmp_path):
    root = write_tree(tmp_path / "root", {"ab.py": "def secret_function():\n    pass\n"})
    (tmp_path / "b.py").write_text("def secret_function():\n    return 'outside'\n")
    reader.index(root)
    reader.close()
    (store,) = home.glob(f"indexes/root-*/{STORE}")
    with closing(sqlite3.connect(store)) as connection:
        connection.execute("UPDATE files SET path = '../b.py'")
        connection.commit()
    folder = store.parents[2]
    manifest = read_manifest(folder)
    remember_written(folder, manifest, manifest.segments)  # The index then passes its check.
    assert reader.search("secret function", Scope(roots=(root,)), refresh=False).hits == []
