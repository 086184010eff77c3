"""The cache of vectors by digest, over several runs and with damaged files."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing

import numpy as np
import pytest

from codesearch.build import cache as cache_module
from codesearch.build.cache import VectorCache, cache_path, collect_vectors
from codesearch.engine.engine import Engine
from codesearch.engine.scope import Scope
from codesearch.errors import IndexStoreError
from codesearch.store.catalogue import index_folder
from codesearch.store.reader import IndexReader
from codesearch.text.bundle import load_bundle
from tests.conftest import break_format, build, contents, index_by_engine, write_tree

DIM = 16


@pytest.fixture
def cache(home):
    with_cache = VectorCache(home, "model", DIM)
    yield with_cache
    with_cache.close()


def entries(count: int, seed: int = 0) -> tuple[list[bytes], np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    digests = [bytes([seed, number % 256, number // 256]) for number in range(count)]
    rows = generator.integers(-127, 128, (count, DIM)).astype(np.int8)
    return digests, rows, generator.random(count).astype(np.float32)


def as_lists(found: dict) -> dict[bytes, tuple[list[int], float]]:
    return {digest: (row.tolist(), float(scale)) for digest, (row, scale) in found.items()}


def test_vectors_are_found_by_their_digests_in_the_next_run(cache, home):
    digests, rows, scales = entries(1_200)
    cache.add(digests, rows, scales)
    cache.close()
    again = VectorCache(home, "model", DIM)
    found = as_lists(again.find(digests))
    again.close()
    assert found == {d: (r.tolist(), float(s)) for d, r, s in zip(digests, rows, scales, strict=True)}


def test_unknown_digests_are_left_out(cache):
    digests, rows, scales = entries(3)
    cache.add(digests[:1], rows[:1], scales[:1])
    assert list(cache.find(digests)) == digests[:1]
    assert cache.find([]) == {}


def test_a_digest_added_again_takes_the_new_vector(cache):
    digests, rows, scales = entries(1)
    cache.add(digests, rows, scales)
    cache.add(digests, -rows, scales)
    assert as_lists(cache.find(digests)) == {digests[0]: ((-rows[0]).tolist(), float(scales[0]))}


def test_models_do_not_share_vectors(cache, home):
    digests, rows, scales = entries(1)
    cache.add(digests, rows, scales)
    other = VectorCache(home, "other", DIM)
    assert other.find(digests) == {}
    other.close()


def test_a_vector_of_another_length_is_not_used(cache, home):
    digests, rows, scales = entries(1)
    cache.add(digests, rows, scales)
    wider = VectorCache(home, "model", DIM * 2)
    assert wider.find(digests) == {}
    wider.close()


def test_a_file_that_is_not_a_database_is_moved_aside(home):
    path = home / "cache" / "model.sqlite"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"this is no database, but it is long enough to be read as a header" * 20)
    cache = VectorCache(home, "model", DIM)
    digests, rows, scales = entries(2)
    assert cache.find(digests) == {}
    cache.add(digests, rows, scales)
    assert list(cache.find(digests)) == digests
    cache.close()
    assert path.with_suffix(".damaged").read_bytes().startswith(b"this is no database")


def test_a_file_is_moved_aside_when_damage_is_found_in_it(cache, home):
    digests, rows, scales = entries(2_000)
    cache.add(digests, rows, scales)
    cache.close()
    path = home / "cache" / "model.sqlite"
    content = bytearray(path.read_bytes())
    content[4096:-4096] = b"\xa5" * (len(content) - 8192)
    path.write_bytes(content)
    damaged = VectorCache(home, "model", DIM)
    assert damaged.find(digests) == {}
    damaged.add(digests, rows, scales)
    assert len(damaged.find(digests)) == 2_000
    damaged.close()
    assert path.with_suffix(".damaged").read_bytes() == bytes(content)


def test_a_locked_cache_is_not_moved_aside(cache, home, monkeypatch):
    digests, rows, scales = entries(1)
    cache.add(digests, rows, scales)
    path = home / "cache" / "model.sqlite"
    real = sqlite3.connect
    with monkeypatch.context() as patch:
        patch.setattr(sqlite3, "connect", lambda path, timeout: real(path, timeout=0.01))
        holder = real(path)
        holder.execute("BEGIN EXCLUSIVE")
        busy = VectorCache(home, "model", DIM)
        with pytest.raises(
            IndexStoreError, match=r"cache.model\.sqlite: cannot be written \(database is locked\)"
        ):
            busy.add(digests, rows, scales)
        busy.close()
        holder.close()
    assert not path.with_suffix(".damaged").exists()
    assert list(cache.find(digests)) == digests


def test_a_changed_byte_in_a_row_makes_it_unknown(cache):
    digests, rows, scales = entries(3)
    cache.add(digests, rows, scales)
    for position in (0, 5, 8 + DIM - 1):
        (row,) = cache._connection.execute(
            "SELECT row FROM vectors WHERE digest = ?", digests[1:2]
        ).fetchone()
        changed = bytearray(row)
        changed[position] ^= 1
        with cache._connection:
            cache._connection.execute(
                "UPDATE vectors SET row = ? WHERE digest = ?", (bytes(changed), digests[1])
            )
        assert list(cache.find(digests)) == [digests[0], digests[2]], position
        cache.add(digests[1:2], rows[1:2], scales[1:2])
        assert list(cache.find(digests)) == digests


def change(home, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(home / "cache" / "model.sqlite")) as connection, connection:
        connection.execute(statement, values)


def test_the_row_of_another_text_is_not_used(cache, home):
    digests, rows, scales = entries(3)
    cache.add(digests, rows, scales)
    change(
        home,
        "UPDATE vectors SET row = (SELECT row FROM vectors WHERE digest = ?) WHERE digest = ?",
        digests[0],
        digests[1],
    )
    assert list(cache.find(digests)) == [digests[0], digests[2]]


@pytest.mark.parametrize(
    "value", [7, 1.5, "a text as long as a row", None], ids=["int", "float", "text", "null"]
)
def test_a_row_of_another_type_is_unknown(home, value):
    VectorCache(home, "model", DIM).close()
    digests, rows, scales = entries(2)
    change(home, "DROP TABLE vectors")
    change(home, "CREATE TABLE vectors (digest BLOB PRIMARY KEY, row BLOB)")
    change(home, "INSERT INTO vectors VALUES (?, ?)", digests[0], value)
    cache = VectorCache(home, "model", DIM)
    assert cache.find(digests) == {}
    cache.add(digests, rows, scales)
    assert list(cache.find(digests)) == digests
    cache.close()


@pytest.mark.parametrize(
    "word", [b"row BLOB", b"digest BLOB", b"TABLE", b"tablevectors", b"PRIMARY", b"vectors"]
)
def test_a_file_with_a_damaged_schema_is_moved_aside(cache, home, word):
    digests, rows, scales = entries(2)
    cache.add(digests, rows, scales)
    cache.close()
    path = home / "cache" / "model.sqlite"
    content = path.read_bytes()
    assert word in content
    path.write_bytes(content.replace(word, b"q" + word[1:]))
    again = VectorCache(home, "model", DIM)
    assert set(again.find(digests)) in (set(), set(digests))
    again.add(digests, rows, scales)
    assert as_lists(again.find(digests)) == {
        digest: (row.tolist(), float(scale)) for digest, row, scale in zip(digests, rows, scales, strict=True)
    }
    assert len(again) == 2
    again.keep_only(digests[:1])
    assert list(again.find(digests)) == digests[:1]
    again.close()


def test_a_cache_without_space_is_named_in_the_error(cache, home):
    digests, rows, scales = entries(2_000)
    cache._connection.execute("PRAGMA max_page_count = 3")
    with pytest.raises(IndexStoreError, match=r"no space left under .*cache.model\.sqlite: free some"):
        cache.add(digests, rows, scales)


def test_a_failing_cleanup_of_the_cache_does_not_fail_the_build(tiny_repo, home, tiny_bundle, monkeypatch):
    def full(self, digests):
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(cache_module, "_SPARE", -1_000)
    monkeypatch.setattr(VectorCache, "keep_only", full)
    index_by_engine(tiny_repo, home, tiny_bundle)
    engine = Engine(home, model=tiny_bundle)
    assert engine.search("push", Scope()).hits
    engine.close()


def test_a_damaged_index_does_not_fail_the_build_of_another(
    tiny_repo, home, tiny_bundle, tmp_path, monkeypatch
):
    monkeypatch.setattr(cache_module, "_SPARE", -1_000)
    other = write_tree(tmp_path / "other", {"a.py": "def kept_by_another_index():\n    return 1\n"})
    index_by_engine(other, home, tiny_bundle)
    (index_folder(home, other) / "segments/000001/documents.sqlite").write_bytes(b"damaged" * 2_000)
    index_by_engine(tiny_repo, home, tiny_bundle)
    with closing(VectorCache(home, load_bundle(tiny_bundle).model_id, 32)) as cache:
        assert len(cache) == 13 + 1


def cached_digests(home) -> set[bytes]:
    with closing(sqlite3.connect(cache_path(home, "hash"))) as connection:
        return {digest for (digest,) in connection.execute("SELECT digest FROM vectors")}


def indexed_digests(home, root) -> set[bytes]:
    index = IndexReader.open(index_folder(home, root))
    try:
        return {values[0].text_digest for values in contents(index)["documents"].values()}
    finally:
        index.close()


def test_unused_vectors_are_deleted_once_they_outnumber_the_used_ones(
    tiny_repo, home, encoder, tmp_path, monkeypatch
):
    monkeypatch.setattr(cache_module, "_SPARE", 0)
    other = write_tree(tmp_path / "other", {"a.py": "def kept_by_another_index():\n    return 1\n"})
    build(tiny_repo, home, encoder)
    build(other, home, encoder)
    path = tiny_repo / "python" / "convert.py"
    text, counts = path.read_text(), []
    for number in range(30):
        path.write_text(f"{text}\n\ndef number_{number}():\n    return {number}\n")
        build(tiny_repo, home, encoder)
        collect_vectors(home, "hash", encoder.dim)
        live = indexed_digests(home, tiny_repo) | indexed_digests(home, other)
        assert cached_digests(home) >= live, "a vector of an index was deleted"
        counts.append(len(cached_digests(home)))
    assert max(counts) <= 2 * (13 + 2) < 13 + 30
    assert sorted(counts) != counts, "no vectors were deleted"
    for folder in home.glob("indexes/other-*"):
        shutil.rmtree(folder)
    (tiny_repo / "python" / "convert.py").unlink()
    build(tiny_repo, home, encoder, rebuild=True)
    collect_vectors(home, "hash", encoder.dim)
    assert cached_digests(home) == indexed_digests(home, tiny_repo)


def test_nothing_is_deleted_while_an_index_cannot_be_read(tiny_repo, home, encoder, monkeypatch):
    monkeypatch.setattr(cache_module, "_SPARE", -1_000)
    build(tiny_repo, home, encoder)
    (tiny_repo / "python" / "convert.py").unlink()
    build(tiny_repo, home, encoder, rebuild=True)
    before = cached_digests(home)
    break_format(index_folder(home, tiny_repo))
    collect_vectors(home, "hash", encoder.dim)
    assert cached_digests(home) == before
