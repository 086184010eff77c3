"""Documents are embedded in batches, each text once, and at most one batch is held in memory."""

from __future__ import annotations

import os
import time

import numpy as np
import pytest

from codesearch.build import build as build_module
from codesearch.build import embed, parse
from codesearch.build.embed import Embedder, embedding_processes
from codesearch.errors import IndexStoreError, ModelBundleError
from codesearch.store.digest import text_digest
from codesearch.store.vectors import ROWS_FILE, VectorWriter, quantize
from tests.conftest import HashEncoder, build, child_processes


@pytest.fixture
def batches(encoder, monkeypatch):
    """Return the list of batch sizes that the model gets."""
    sizes = []

    def encode(documents, real=encoder.encode_documents):
        sizes.append(len(documents))
        return real(documents)

    monkeypatch.setattr(embed, "_BATCH", 10)
    monkeypatch.setattr(encoder, "encode_documents", encode)
    return sizes


@pytest.fixture
def embedder(encoder, home, tmp_path):
    writer = VectorWriter(tmp_path, encoder.dim)
    opened = Embedder(home, encoder)
    opened.start(writer)
    yield opened
    opened.close()
    writer.abandon()


def files(count: int) -> list[list[np.ndarray]]:
    """Return files of three documents with distinct ids."""
    return [[np.array([7, 3 * file + doc], np.uint32) for doc in range(3)] for file in range(count)]


def test_a_batch_exceeds_the_batch_size_by_at_most_one_file(embedder, batches):
    for tokens in files(40):
        embedder.add([text_digest(ids) for ids in tokens], tokens)
        assert len(embedder._tokens) < 10, "a full batch was not flushed"
    embedder.finish()
    assert batches == [12] * 10


def test_kept_files_and_equal_texts_do_not_accumulate(embedder, batches, encoder):
    (tokens,) = files(1)
    kept = np.zeros((3, encoder.dim), np.int8), np.zeros(3, np.float32)
    for _ in range(40):
        embedder.add_kept(*kept)
        embedder.add([text_digest(ids) for ids in tokens], tokens)
        assert len(embedder._waiting) < 10
    embedder.finish()
    assert batches == [3], "a text from the cache was embedded"
    assert (embedder.embedded, embedder.cached) == (3, 117)


def test_rows_are_written_in_document_order_and_each_text_is_embedded_once(
    embedder, batches, encoder, tmp_path
):
    ((a, b, c),) = files(1)
    for tokens in ([a, b], [b, c, a], [c]):
        embedder.add([text_digest(ids) for ids in tokens], tokens)
    embedder.finish()
    embedder._writer.abandon()
    rows = np.fromfile(tmp_path / ROWS_FILE, np.int8).reshape(-1, encoder.dim)
    assert (rows == quantize(encoder.encode_documents([a, b, b, c, a, c]))[0]).all()
    assert batches == [3, 6]
    assert (embedder.embedded, embedder.cached) == (3, 3)


class StoppedEncoder(HashEncoder):
    """Simulate a process that the system stops because memory runs out."""

    def encode_documents(self, documents):
        os._exit(9)


class FailingEncoder(HashEncoder):
    def encode_documents(self, documents):
        raise ModelBundleError("model.onnx: cannot be read: install the model again")


class SlowEncoder(HashEncoder):
    def encode_documents(self, documents):
        time.sleep(0.2)
        return super().encode_documents(documents)


def embed_all(home, folder, encoder, processes):
    """Embed 40 files with a number of processes; return the rows, the scales and the counts."""
    folder.mkdir()
    writer = VectorWriter(folder, encoder.dim)
    embedder = Embedder(home, encoder, processes)
    try:
        embedder.start(writer)
        for tokens in files(40):
            embedder.add([text_digest(ids) for ids in tokens], tokens)
            embedder.add_kept(np.full((1, encoder.dim), 7, np.int8), np.ones(1, np.float32))
        embedder.finish()
    finally:
        embedder.close()
        writer.abandon()
    contents = [(folder / name).read_bytes() for name in ("vectors.int8", "vectors.scales")]
    return contents, (embedder.embedded, embedder.cached)


@pytest.mark.parametrize("processes", [1, 2])
def test_other_processes_give_the_same_vectors_in_the_same_order(encoder, tmp_path, monkeypatch, processes):
    monkeypatch.setattr(embed, "_BATCH", 10)
    here = embed_all(tmp_path / "a", tmp_path / "here", encoder, 0)
    encoder.embedded.clear()
    assert embed_all(tmp_path / "b", tmp_path / "there", encoder, processes) == here
    assert here[1] == (120, 0)
    assert not encoder.embedded
    again = embed_all(tmp_path / "b", tmp_path / "again", encoder, processes)
    assert again == (here[0], (0, 120)), "the cache was not used"


def test_a_stopped_process_is_one_error_with_the_reason(tokenizer_path, tmp_path):
    with pytest.raises(IndexStoreError, match="embedding process was stopped, probably because memory"):
        embed_all(tmp_path / "home", tmp_path / "out", StoppedEncoder(tokenizer_path), 1)


def test_an_error_of_the_model_is_raised_unchanged(tokenizer_path, tmp_path):
    with pytest.raises(ModelBundleError) as caught:
        embed_all(tmp_path / "home", tmp_path / "out", FailingEncoder(tokenizer_path), 1)
    assert str(caught.value) == "model.onnx: cannot be read: install the model again"
    assert "in encode_documents" in caught.value.__notes__[0], "no traceback of the other process"


def test_batches_are_collected_while_others_are_embedded_and_no_process_remains(
    tokenizer_path, tmp_path, monkeypatch
):
    monkeypatch.setattr(embed, "_BATCH", 3)
    before = child_processes()
    writer = VectorWriter(tmp_path, HashEncoder.dim)
    embedder = Embedder(tmp_path / "home", SlowEncoder(tokenizer_path), 2)
    embedder.start(writer)
    first, second, third = files(3)
    for tokens in (first, second):
        embedder.add([text_digest(ids) for ids in tokens], tokens)
    assert embedder.embedded == 0, "waited for one of two batches"
    embedder.add([text_digest(ids) for ids in third], third)
    assert embedder.embedded == 3, "the third batch did not wait for the first"
    embedder.close()
    writer.abandon()
    assert child_processes() <= before


@pytest.mark.parametrize(("cores", "processes"), [(1, 0), (2, 0), (5, 0), (6, 1), (16, 2)])
def test_few_cores_use_no_extra_process_for_embedding(monkeypatch, cores, processes):
    monkeypatch.setattr(embed, "available_cores", lambda: cores)
    assert embedding_processes() == processes


def test_an_index_is_the_same_with_embedding_processes(tiny_repo, tmp_path, encoder, monkeypatch):
    expected = build(tiny_repo, tmp_path / "one", encoder)
    opened = []

    def many(*arguments, real=embed.Workers):
        opened.append(arguments)
        return real(*arguments)

    monkeypatch.setattr(parse, "_SERIAL_BYTES", 0)
    monkeypatch.setattr(build_module, "embedding_processes", lambda: 2)
    monkeypatch.setattr(embed, "Workers", many)
    found = build(tiny_repo, tmp_path / "two", encoder)
    assert len(opened) == 1
    assert found.manifest.segments == expected.manifest.segments
    assert (found.embedded, found.cached) == (expected.embedded, expected.cached)
