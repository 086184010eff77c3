"""Vectors by digest, across runs, and what damage to the file costs."""

from __future__ import annotations

import sqlite3

import numpy as np
import pytest

from codesearch.index.cache import VectorCache

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


def test_what_was_added_is_found_by_its_digest_in_the_next_run(cache, home):
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


def test_a_file_that_is_no_database_is_set_aside(home):
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


def test_damage_inside_the_file_is_set_aside_when_it_is_met(cache, home):
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


def test_a_cache_that_is_only_busy_stays_where_it_is(cache, home, monkeypatch):
    digests, rows, scales = entries(1)
    cache.add(digests, rows, scales)
    path = home / "cache" / "model.sqlite"
    real = sqlite3.connect
    with monkeypatch.context() as patch:
        patch.setattr(sqlite3, "connect", lambda path, timeout: real(path, timeout=0.01))
        holder = real(path)
        holder.execute("BEGIN EXCLUSIVE")
        busy = VectorCache(home, "model", DIM)
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            busy.add(digests, rows, scales)
        busy.close()
        holder.close()
    assert not path.with_suffix(".damaged").exists()
    assert list(cache.find(digests)) == digests
