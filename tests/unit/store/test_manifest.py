"""The manifest names the segments and has the checksums of their files."""

import json
from collections import Counter

import pytest

from codesearch.config import WalkConfig
from codesearch.errors import IndexCorruptError, IndexFormatError, IndexNotFoundError
from codesearch.store.digest import check_intact, describe_files
from codesearch.store.manifest import (
    FORMAT_VERSION,
    MANIFEST,
    OTHER,
    Manifest,
    SegmentEntry,
    Tally,
    commit_manifest,
    limited_counts,
    read_manifest,
    segment_folder,
)
from codesearch.store.segments import IndexReader
from tests.conftest import LONG_FUNCTION, build, index_folder, only
from tests.tiny_bundle import change_one_byte


@pytest.fixture
def built_index(tiny_repo, home, encoder):
    """An index in which no file of a segment is empty: it has passages."""
    (tiny_repo / "long.py").write_text(LONG_FUNCTION)
    build(tiny_repo, home, encoder)
    index = IndexReader.open(index_folder(home, tiny_repo))
    yield index
    index.close()


def manifest(**changes: object) -> Manifest:
    fields = {
        "root": "/src",
        "commit": 3,
        "created": "2026-01-01T00:00:00+00:00",
        "config_digest": "c",
        "settings": {"exclude": ["*.gen"], "hidden": True},
        "options": {"hidden": True},
        "model": {"name": "m", "id": "1", "dim": 4, "folder": ""},
        "documents": 0,
        "source_files": 0,
        "languages": {},
        "walked": Tally({"too large": {".py": 1}}, {"hidden": {".venv": 2}}, ["a.py: 3 MB"]),
        "parsed": Tally({"binary": {".js": 2}}, {}, ["b.py: deep"]),
        "missing_grammars": {"lua": 1},
        "seconds": 0.5,
    }
    return Manifest(**{**fields, **changes})


def entry(number: int) -> SegmentEntry:
    return SegmentEntry(
        number=number,
        source_files=4,
        documents=9,
        live_documents=7,
        dead_files=[1, 3],
        field_sums=[9, 0, 2, 40, 3],
        field_counts=[7, 0, 1, 7, 2],
        files={"a": {"bytes": 1, "sha256": "x"}, "b/c": {"bytes": 20, "sha256": "y"}},
    )


def test_a_manifest_is_read_as_it_was_committed(tmp_path):
    committed = manifest(segments=[entry(2), entry(11)], complete=False)
    commit_manifest(tmp_path, committed)
    assert read_manifest(tmp_path) == committed
    assert committed.bytes == 42
    assert [path.name for path in tmp_path.iterdir()] == [MANIFEST]


def test_a_second_commit_replaces_the_first(tmp_path):
    commit_manifest(tmp_path, manifest())
    commit_manifest(tmp_path, manifest(commit=4, segments=[entry(12)]))
    found = read_manifest(tmp_path)
    assert found.commit == 4
    assert [segment.folder for segment in found.segments] == [segment_folder(12)] == ["segments/000012"]


def test_walk_options_are_restored():
    assert manifest().walk_config() == WalkConfig(hidden=True, exclude=("*.gen",))


def test_a_folder_without_a_manifest_is_not_found(tmp_path):
    with pytest.raises(IndexNotFoundError) as caught:
        read_manifest(tmp_path)
    assert str(caught.value) == f"no index at {tmp_path}: run `codesearch index FOLDER`"


@pytest.mark.parametrize("found", [FORMAT_VERSION + 1, 0, None, "1"])
def test_another_format_is_an_error_with_both_formats_and_the_cure(tmp_path, found):
    (tmp_path / MANIFEST).write_text(json.dumps({"format": found, "root": "/src"}))
    with pytest.raises(IndexFormatError) as caught:
        read_manifest(tmp_path)
    assert str(caught.value) == (
        f"index format {found}, expected {FORMAT_VERSION}: run `codesearch index /src` again"
    )
    assert (caught.value.root, caught.value.is_older) == ("/src", found == 0)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff\xfe",
        f'{{"format": {FORMAT_VERSION}, "root": "/src"}}'.encode(),
        f'{{"format": {FORMAT_VERSION}, "root": "/src", "segments": [{{"number": 1}}]}}'.encode(),
    ],
)
def test_a_manifest_that_cannot_be_read_is_a_corrupt_index(tmp_path, content):
    (tmp_path / MANIFEST).write_bytes(content)
    with pytest.raises(IndexCorruptError, match=r"manifest\.json: .*run `codesearch index --rebuild"):
        read_manifest(tmp_path)


def test_a_manifest_that_is_not_a_json_object_has_another_format(tmp_path):
    (tmp_path / MANIFEST).write_text("[]")
    with pytest.raises(IndexFormatError, match="index format None"):
        read_manifest(tmp_path)


def test_every_file_of_a_segment_is_described(built_index):
    described = describe_files(only(built_index).folder)
    (entry,) = built_index.manifest.segments
    assert described == entry.files
    assert built_index.folder / entry.folder == only(built_index).folder
    assert set(described) == {
        "documents.sqlite",
        "rows.npy",
        "vectors.int8",
        "vectors.scales",
        "words.npy",
        "passages.npy",
        "passages.int8",
        "passages.scales",
        *(
            f"postings/{name}.npy"
            for name in "term_bytes term_offsets list_offsets doc_ids frequencies field_lengths".split()
        ),
    }


def test_one_flipped_byte_is_found_in_every_file(built_index):
    (segment,) = built_index.manifest.segments
    folder = built_index.folder / segment.folder
    for name, entry in segment.files.items():
        path = folder / name
        for position in (0, entry["bytes"] // 2, entry["bytes"] - 1):
            change_one_byte(path, position)
            with pytest.raises(IndexCorruptError) as caught:
                check_intact(built_index.folder, built_index.manifest, is_thorough=True)
            assert caught.value.path == path
            assert "its bytes were changed: run `codesearch index --rebuild" in str(caught.value)
            change_one_byte(path, position)
    check_intact(built_index.folder, built_index.manifest, is_thorough=True)


def test_an_index_with_a_shorter_longer_or_missing_file_is_not_opened(built_index):
    (segment,) = built_index.manifest.segments
    for name in segment.files:
        path = built_index.folder / segment.folder / name
        content = path.read_bytes()
        for damage in (content[:-1], content + b"\0", None):
            path.unlink() if damage is None else path.write_bytes(damage)
            with pytest.raises(IndexCorruptError) as caught:
                IndexReader.open(built_index.folder)
            assert caught.value.path == path
            reason = "missing" if damage is None else f"{len(damage)} bytes, expected {len(content)}"
            assert reason in str(caught.value)
            path.write_bytes(content)
    IndexReader.open(built_index.folder).close()


def test_the_rarest_of_many_extensions_are_counted_together():
    counter = Counter({f".{number:03}": 2 + number for number in range(60)})
    found = limited_counts({"no parser": counter, "link": Counter({".py": 0})})
    assert list(found) == ["no parser"]
    assert len(found["no parser"]) == 51
    assert (found["no parser"][".059"], found["no parser"][OTHER]) == (61, sum(range(2, 12)))
    assert sum(found["no parser"].values()) == counter.total()
