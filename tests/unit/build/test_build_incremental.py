"""An update processes only changes, and its index equals that of a fresh build."""

import os
import shutil
import time
from pathlib import Path

import numpy as np
import pytest

from codesearch.build import file_parser
from codesearch.build import plan as plan_module
from codesearch.config import IndexConfig, VectorConfig
from codesearch.store import postings as postings_module
from codesearch.store import sorting
from codesearch.store.catalogue import index_folder
from codesearch.store.segments import IndexReader
from codesearch.store.snapshot import Snapshot
from tests.conftest import HashEncoder, build, contents, only, write_tree

CONVERT = "python/convert.py"
DOCUMENTS = [
    ("go/reader.go", "ReadLines", "function"),
    ("go/reader.go", "Close", "method"),
    ("java/Sorter.java", "Sorter", "class"),
    ("java/Sorter.java", "sortStrings", "method"),
    ("javascript/http.js", "getJson", "function"),
    ("php/Crypto.php", "encryptAes", "function"),
    (CONVERT, "int_to_string", "function"),
    (CONVERT, "string_to_int", "function"),
    (CONVERT, "Stack", "class"),
    (CONVERT, "push", "method"),
    (CONVERT, "pop", "method"),
    ("ruby/queue.rb", "PriorityQueue", "class"),
    ("ruby/queue.rb", "push", "method"),
]


def change(root: Path) -> None:
    path = root / CONVERT
    path.write_text(path.read_text().replace("decimal", "octal") + "\n\ndef last():\n    pass\n")


def delete(root: Path) -> None:
    (root / "java/Sorter.java").unlink()


def delete_the_first_and_the_last(root: Path) -> None:
    (root / "go/reader.go").unlink()
    (root / "ruby/queue.rb").unlink()


def rename(root: Path) -> None:
    shutil.move(root / CONVERT, root / "aaa.py")


def add(root: Path) -> None:
    write_tree(root, {"a.py": "def a():\n    pass\n", "z/z.go": "package z\n\nfunc Zed() {\n}\n", "e.py": ""})


def swap(root: Path) -> None:
    (root / CONVERT).rename(root / "tmp")
    (root / "go/reader.go").rename(root / CONVERT)
    (root / "tmp").rename(root / "go/reader.go")


def empty(root: Path) -> None:
    for path in root.rglob("*.*"):
        path.unlink()


def become_binary(root: Path) -> None:
    (root / CONVERT).write_bytes(b"\0" + (root / CONVERT).read_bytes())


def all_at_once(root: Path) -> None:
    for step in (change, delete, add):
        step(root)
    shutil.move(root / "php", root / "web")


STEPS = (add, swap, swap, become_binary, all_at_once, rename, delete_the_first_and_the_last, empty)


def names(index: IndexReader) -> list[tuple[str, str, str]]:
    """List the live documents in the order of equal scores."""
    snapshot = Snapshot([index])
    live = np.arange(snapshot.size)
    if snapshot.dead is not None:
        live = live[~snapshot.dead]
    ranked = live[snapshot.order(live, np.zeros(len(live), np.float32))]
    return [(ref.path, ref.row.name, ref.row.kind) for ref in snapshot.refs(ranked.tolist())]


def test_a_fresh_index_has_every_definition_in_the_order_of_paths(built_index):
    assert names(built_index) == DOCUMENTS
    assert [row.name for row in only(built_index).store.document_rows()] == [name for _, name, _ in DOCUMENTS]
    manifest = built_index.manifest
    assert (manifest.documents, manifest.source_files) == (13, 6)
    assert manifest.languages == {"go": 2, "java": 2, "javascript": 1, "php": 1, "python": 5, "ruby": 2}
    assert (manifest.not_indexed, manifest.warnings) == ({}, [])


@pytest.mark.parametrize("merging", ["usual", "never_merged", "always_merged"])
def test_updates_end_with_the_index_of_a_fresh_build(
    tiny_repo, tmp_path, encoder, index_tree, request, merging
):
    if merging != "usual":
        request.getfixturevalue(merging)
    index_tree(tiny_repo)
    for number, step in enumerate(STEPS):
        step(tiny_repo)
        updated = index_tree(tiny_repo)
        build(tiny_repo, tmp_path / str(number), encoder)
        fresh = IndexReader.open(index_folder(tmp_path / str(number), tiny_repo))
        assert contents(updated) == contents(fresh)
        assert names(updated) == names(fresh)
        for field in ("documents", "source_files", "languages", "not_indexed", "config_digest"):
            assert getattr(updated.manifest, field) == getattr(fresh.manifest, field), field
        fresh.close()
    assert updated.manifest.commit == 1 + len(STEPS)


def files_of(home: Path, root: Path) -> dict[str, bytes]:
    folder = index_folder(home, root)
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.glob("segments/**/*")
        if path.is_file()
    }


@pytest.mark.parametrize("run_words", [30, 100])
def test_postings_sorted_in_many_runs_have_the_same_bytes(
    tiny_repo, home, tmp_path, encoder, monkeypatch, always_merged, run_words
):
    spilled = tmp_path / "spilled"
    for number, step in enumerate((add, all_at_once, delete_the_first_and_the_last)):
        step(tiny_repo)
        build(tiny_repo, home, encoder)
        with monkeypatch.context() as patch:
            patch.setattr(sorting, "RUN_WORDS", run_words)
            patch.setattr(postings_module, "SLICE", 17)
            report = build(tiny_repo, spilled, encoder)
        assert files_of(spilled, tiny_repo) == files_of(home, tiny_repo)
        (entry,) = report.manifest.segments
        assert entry.number == number + 1, "the old segment was not merged"
        assert {f"{entry.folder}/{name}" for name in entry.files} == files_of(spilled, tiny_repo).keys()
        assert len(files_of(home, tiny_repo)[f"{entry.folder}/postings/frequencies.npy"]) > 3 * run_words


def test_the_report_counts_what_was_parsed_kept_and_removed(tiny_repo, home, encoder):
    first = build(tiny_repo, home, encoder)
    assert (first.parsed, first.kept, first.removed, first.embedded) == (6, 0, 0, 13)
    change(tiny_repo)
    delete(tiny_repo)
    second = build(tiny_repo, home, encoder)
    assert (second.parsed, second.kept, second.removed, second.embedded) == (1, 4, 1, 6)


def test_a_moved_file_is_embedded_again_because_its_place_is_in_the_text(tiny_repo, home, encoder):
    build(tiny_repo, home, encoder)
    rename(tiny_repo)
    report = build(tiny_repo, home, encoder)
    assert (report.embedded, len(encoder.embedded)) == (5, 18)


def test_vectors_of_another_model_are_not_used(tiny_repo, tokenizer_path, index_tree):
    index_tree(tiny_repo)
    other = HashEncoder(tokenizer_path, "other")
    other.table = -other.table
    index = index_tree(tiny_repo, encoder=other)
    assert len(other.embedded) == 13
    assert index.manifest.model["id"] == "other"


def test_only_the_segments_of_the_last_commit_remain(tiny_repo, home, index_tree):
    for step in (change, delete, rename):
        index_tree(tiny_repo)
        step(tiny_repo)
    index = index_tree(tiny_repo)
    assert (
        sorted(path.name for path in index.folder.iterdir())
        == "checked manifest.json segments stamps".split()
    )
    assert segment_names(index.folder) == [f"{entry.number:06d}" for entry in index.manifest.segments]
    assert index.manifest.commit == 4


def segment_names(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "segments").iterdir())


def test_a_segment_of_a_killed_writer_is_deleted_and_its_number_not_reused(tiny_repo, index_tree):
    folder = index_tree(tiny_repo).folder
    write_tree(folder / "segments/000002", {"documents.sqlite": "half"})
    write_tree(folder / "segments/000007", {"documents.sqlite": "half"})
    change(tiny_repo)
    index = index_tree(tiny_repo)
    assert segment_names(folder) == ["000008"]
    assert index.manifest.documents == 14


def test_a_graph_is_built_at_the_threshold(tiny_repo, encoder, index_tree):
    pytest.importorskip("hnswlib")
    index = index_tree(tiny_repo, config=IndexConfig(vectors=VectorConfig(hnsw_threshold=13)))
    (entry,) = index.manifest.segments
    assert "vectors.hnsw" in entry.files
    assert only(index).vectors.has_graph


def test_an_empty_tree_gives_an_empty_index(tmp_path, index_tree):
    (tmp_path / "src").mkdir()
    index = index_tree(tmp_path / "src")
    assert (index.manifest.documents, index.manifest.source_files, index.segments) == (0, 0, [])
    (tmp_path / "src" / "a.py").write_text("def a():\n    pass\n")
    assert names(index_tree(tmp_path / "src")) == [("a.py", "a", "function")]


def test_a_file_deleted_after_the_walk_is_not_indexed(tiny_repo, index_tree, monkeypatch):
    def walk(*arguments, real=plan_module.walk):
        yield from real(*arguments)
        (tiny_repo / CONVERT).unlink()

    monkeypatch.setattr(plan_module, "walk", walk)
    index = index_tree(tiny_repo)
    assert (index.manifest.documents, index.manifest.source_files) == (8, 5)


def test_an_unreadable_file_is_one_warning_and_is_not_read_again_each_time(
    tiny_repo, home, encoder, monkeypatch
):
    def refuse(root, path, *arguments, real=file_parser.read_below, **options):
        if path == CONVERT:
            raise PermissionError(13, "Permission denied", path)
        return real(root, path, *arguments, **options)

    monkeypatch.setattr(file_parser, "read_below", refuse)
    monkeypatch.setattr(plan_module, "read_below", refuse)
    manifest = build(tiny_repo, home, encoder).manifest
    assert (manifest.documents, manifest.not_indexed) == (8, {"unreadable": {".py": 1}})
    assert manifest.warnings == [f"{CONVERT}: Permission denied: left out"]
    assert build(tiny_repo, home, encoder).parsed == 0
    monkeypatch.undo()
    os.utime(tiny_repo / CONVERT)
    assert build(tiny_repo, home, encoder).manifest.documents == 13


def test_the_warnings_of_unchanged_files_are_kept(tiny_repo, index_tree):
    (tiny_repo / "latin.py").write_bytes(b"def f():\n    return '\x81'\n")
    warning = "latin.py: invalid UTF-8 at byte 21: read with replacement characters"
    assert index_tree(tiny_repo).manifest.warnings == [warning]
    (tiny_repo / CONVERT).unlink()
    assert index_tree(tiny_repo).manifest.warnings == [warning]


def test_a_build_deletes_old_partial_files_of_killed_processes(tiny_repo, home, encoder):
    build(tiny_repo, home, encoder)
    folder = index_folder(home, tiny_repo)
    write_tree(folder, {"stamps.0a1b2c3d.part": "old", "checked.4e5f6a7b.part": "being written"})
    an_hour_ago = time.time() - 3700
    os.utime(folder / "stamps.0a1b2c3d.part", (an_hour_ago, an_hour_ago))
    write_tree(tiny_repo, {"python/new.py": "def brand_new():\n    return 1\n"})
    build(tiny_repo, home, encoder)
    assert [path.name for path in folder.glob("*.part")] == ["checked.4e5f6a7b.part"]
