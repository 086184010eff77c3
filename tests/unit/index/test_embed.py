"""Documents in batches through cache and model: each text once, and never more than a batch held."""

from __future__ import annotations

import numpy as np
import pytest

from codesearch.index import embed
from codesearch.index.cache import VectorCache
from codesearch.index.digest import text_digest
from codesearch.index.embed import Embedder
from codesearch.index.vectors import ROWS_FILE, VectorWriter, quantize


@pytest.fixture
def batches(encoder, monkeypatch):
    """The sizes of the batches that the model was given."""
    sizes = []

    def encode(documents, real=encoder.encode_documents):
        sizes.append(len(documents))
        return real(documents)

    monkeypatch.setattr(embed, "_BATCH", 10)
    monkeypatch.setattr(encoder, "encode_documents", encode)
    return sizes


@pytest.fixture
def embedder(encoder, home, tmp_path):
    cache = VectorCache(home, encoder.model_id, encoder.dim)
    writer = VectorWriter(tmp_path, encoder.dim)
    yield Embedder(encoder, cache, writer)
    cache.close()
    writer.abandon()


def files(count: int) -> list[list[np.ndarray]]:
    """Files of three documents with ids of their own."""
    return [[np.array([7, 3 * file + doc], np.uint32) for doc in range(3)] for file in range(count)]


def test_no_batch_is_larger_than_a_batch_and_a_file(embedder, batches):
    for tokens in files(40):
        embedder.add([text_digest(ids) for ids in tokens], tokens)
        assert len(embedder._tokens) < 10, "what waits is flushed as soon as it makes a batch"
    embedder.flush()
    assert batches == [12] * 10


def test_neither_kept_files_nor_equal_texts_wait_without_end(embedder, batches, encoder):
    (tokens,) = files(1)
    kept = np.zeros((3, encoder.dim), np.int8), np.zeros(3, np.float32)
    for _ in range(40):
        embedder.add_kept(*kept)
        embedder.add([text_digest(ids) for ids in tokens], tokens)
        assert len(embedder._waiting) < 10
    embedder.flush()
    assert batches == [3], "the rest is in the cache"
    assert (embedder.embedded, embedder.cached) == (3, 117)


def test_rows_are_written_in_the_order_of_the_documents_each_text_embedded_once(
    embedder, batches, encoder, tmp_path
):
    ((a, b, c),) = files(1)
    for tokens in ([a, b], [b, c, a], [c]):
        embedder.add([text_digest(ids) for ids in tokens], tokens)
    embedder.flush()
    embedder._writer.abandon()
    rows = np.fromfile(tmp_path / ROWS_FILE, np.int8).reshape(-1, encoder.dim)
    assert (rows == quantize(encoder.encode_documents([a, b, b, c, a, c]))[0]).all()
    assert batches == [3, 6]
    assert (embedder.embedded, embedder.cached) == (3, 3)
