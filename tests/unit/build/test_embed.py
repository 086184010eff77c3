"""Documents are embedded in batches, and at most one batch is held in memory."""

import numpy as np
import pytest

from codesearch.build import build as build_module
from codesearch.build.build import Embedder
from codesearch.store.vectors import VectorWriter, quantize


@pytest.fixture
def batches(encoder, monkeypatch):
    """Return the list of batch sizes that the model gets."""
    sizes = []

    def encode(documents, real=encoder.encode_documents):
        sizes.append(len(documents))
        return real(documents)

    monkeypatch.setattr(build_module, "_BATCH", 10)
    monkeypatch.setattr(encoder, "encode_documents", encode)
    return sizes


@pytest.fixture
def embedder(encoder, batches, tmp_path):
    writer = VectorWriter(tmp_path, encoder.dim)
    yield Embedder(encoder.encode_documents, writer)
    writer.close()


def text_of(*ids: int) -> bytes:
    return np.array(ids, np.uint32).tobytes()


def files(count: int) -> list[list[bytes]]:
    """Return files of three documents with distinct ids."""
    return [[text_of(7, 3 * file + doc) for doc in range(3)] for file in range(count)]


def test_a_batch_exceeds_the_batch_size_by_at_most_one_file(embedder, batches):
    for texts in files(40):
        embedder.add(texts)
        assert len(embedder._rows) < 10, "a full batch was not flushed"
    embedder.finish()
    assert batches == [12] * 10


def test_files_whose_vectors_are_known_do_not_accumulate(embedder, batches, encoder):
    for _ in range(40):
        embedder.add_kept(np.zeros((3, encoder.dim), np.int8), np.zeros(3, np.float32))
        assert len(embedder._waiting) < 10


def test_rows_are_written_in_document_order(embedder, batches, encoder, tmp_path):
    expected = []
    for texts in files(11):
        embedder.add(texts)
        known = np.full((1, encoder.dim), 7, np.int8), np.ones(1, np.float32)
        embedder.add_kept(*known)
        tokens = [np.frombuffer(text, np.uint32) for text in texts]
        expected += [quantize(encoder._encode(tokens)), known]
    embedder.finish()
    embedder._writer.close()
    rows, scales = (np.concatenate(parts) for parts in zip(*expected, strict=True))
    assert (tmp_path / "vectors.int8").read_bytes() == rows.tobytes()
    assert (tmp_path / "vectors.scales").read_bytes() == scales.tobytes()
    assert embedder.embedded == 33


def test_equal_texts_of_a_batch_are_embedded_once_and_have_equal_vectors(embedder, batches, tmp_path):
    for texts in ([text_of(7, 8, 9)], [text_of(5), text_of(7, 8, 9)], []):
        embedder.add(texts)
    embedder.finish()
    embedder._writer.close()
    assert batches == [2] and embedder.embedded == 2
    rows = np.frombuffer((tmp_path / "vectors.int8").read_bytes(), np.int8).reshape(3, -1)
    scales = np.frombuffer((tmp_path / "vectors.scales").read_bytes(), np.float32)
    assert (rows[0] == rows[2]).all() and not (rows[0] == rows[1]).all()
    assert scales[0] == scales[2]
