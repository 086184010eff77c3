"""A bag as a static model: the libraries that it is for give the vectors of the bundle."""

import json
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnx")
pytest.importorskip("safetensors")

from codesearch.text.bundle import SHIPPED, TOKENIZER  # noqa: E402
from codesearch.text.onnx import OnnxEncoder  # noqa: E402
from codesearch.text.tokenizer import SubtokenTokenizer  # noqa: E402
from exporters.__main__ import main  # noqa: E402
from exporters.bundle import write_bundle  # noqa: E402
from exporters.static import _whole_tokenizer  # noqa: E402

TEXTS = [
    "func readLines(path string) []string",
    "read file into lines",
    "lines lines File",
    "",
    "read " * 300,
]


@pytest.fixture
def folder(tiny_run, tmp_path):
    """Return a folder with a bundle and its static model."""
    write_bundle(tiny_run, tmp_path / "bundle", "int8")
    arguments = ["static", "--bundle", str(tmp_path / "bundle"), "--out", str(tmp_path / "static")]
    assert main(arguments) == 0
    return tmp_path


def expected(folder):
    encoder = OnnxEncoder.load(folder / "bundle", "cpu")
    limit = encoder.max_document_tokens
    documents = encoder.encode_documents([encoder.tokenizer.encode(text, limit) for text in TEXTS])
    return {"query": encoder.encode_queries(TEXTS), "document": documents}


def test_model2vec_gives_the_vectors_of_the_bundle(folder):
    model2vec = pytest.importorskip("model2vec", reason="pip install model2vec")
    for side, vectors in expected(folder).items():
        model = model2vec.StaticModel.from_pretrained(folder / "static" / side)
        assert model.embedding.dtype == np.int8
        np.testing.assert_allclose(model.encode(TEXTS), vectors, atol=1e-6)


def test_sentence_transformers_gives_the_vectors_of_the_bundle(folder):
    library = pytest.importorskip("sentence_transformers", reason="pip install sentence-transformers")
    model = library.SentenceTransformer(str(folder / "static"), device="cpu")
    vectors = expected(folder)
    np.testing.assert_allclose(model.encode_query(TEXTS), vectors["query"], atol=1e-6)
    np.testing.assert_allclose(model.encode_document(TEXTS), vectors["document"], atol=1e-6)


def test_the_tokenizer_alone_splits_as_the_product_does():
    from tokenizers import Tokenizer

    state = json.loads((SHIPPED / TOKENIZER).read_text("utf-8"))
    alone, product = (
        Tokenizer.from_str(json.dumps(_whole_tokenizer(state, 5_000))),
        SubtokenTokenizer.load(SHIPPED / TOKENIZER),
    )
    sources = sorted((Path(__file__).parents[3] / "codesearch/evaluation/smoke/sources").rglob("*.*"))
    names = "parseHTTPResponse2_xx __init__ ABc IOError x1y2 $el a$b HTTP _ 12ab aB"
    texts = [names, *(path.read_text("utf-8") for path in sources[::9])]
    assert len(texts) > 5
    for text in texts:
        plain = text.encode("ascii", "ignore").decode()
        assert alone.encode(plain, add_special_tokens=False).ids == product.encode(plain, 5_000).tolist()


def test_the_card_has_data_figures_and_limits(folder):
    card = (folder / "static/README.md").read_text("utf-8")
    assert "from 1 packages or repositories: p." in card
    assert "| `mrr_999` | 0.500 | 0.500 |" in card
    assert "## Limits" in card and "FOLDER/query" in card


def test_a_bag_that_dampens_repeats_is_refused(tmp_path, capsys):
    arguments = ["static", "--bundle", str(SHIPPED), "--out", str(tmp_path / "static")]
    assert main(arguments) == 2
    assert "train with --count-power 1" in capsys.readouterr().err
    assert not (tmp_path / "static").exists()
