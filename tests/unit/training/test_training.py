import dataclasses
import random

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("zstandard")
pytest.importorskip("tqdm")

from training import checkpoint, loop  # noqa: E402
from training.batches import batch_indices, counted, padded  # noqa: E402
from training.config import TrainConfig  # noqa: E402
from training.corpus.rows import Row  # noqa: E402
from training.encoders.nbow import NBowEncoder  # noqa: E402
from training.errors import TrainingError  # noqa: E402
from training.evaluate import mrr_by_language, reciprocal_ranks  # noqa: E402
from training.losses import symmetric_softmax  # noqa: E402
from training.samples import make_samples, name_texts_of_row, train_tokenizer  # noqa: E402

CONFIG = TrainConfig(
    dim=16,
    vocabulary_size=400,
    batch_size=50,
    epochs=4,
    learning_rate=0.02,
    temperature=0.05,
    seed=3,
    patience=9,
)
WORDS = "red green blue open close read write file line list map tree sort find".split()


def synthetic_rows(count, seed):
    """Queries in one set of words, code in another: only training can tell which belong together."""
    chance = random.Random(seed)
    rows = []
    for number in range(count):
        chosen = chance.sample(range(len(WORDS)), 4)
        docstring = " ".join(WORDS[index] for index in chosen)
        code = " ".join(f"{WORDS[index][::-1]}q" for index in chosen)
        rows.append(Row("a/b", "b", "x", f"n{number % 7}", f"n{number % 7}", "go", code, docstring, ""))
    return rows


@pytest.fixture(scope="module")
def data():
    train, valid = synthetic_rows(400, 1), synthetic_rows(100, 2)
    tokenizer = train_tokenizer(train, CONFIG.vocabulary_size)
    limits = {"max_query_tokens": 30, "max_document_tokens": 60}
    return tokenizer, make_samples(train, tokenizer, **limits), make_samples(valid, tokenizer, **limits)


def train(data, run, config=CONFIG):
    tokenizer, train_set, valid_set = data
    run.mkdir(exist_ok=True)
    model = loop.build_model(config, tokenizer.vocabulary_size, train_set)
    loop.train(model, config, train_set, valid_set, run, pool=100)
    return model


def losses(run):
    import json

    return [json.loads(line)["loss"] for line in (run / checkpoint.METRICS).read_text().splitlines()]


def test_training_raises_mrr_over_the_untrained_model(data, tmp_path):
    tokenizer, train_set, valid_set = data
    before = mrr_by_language(loop.build_model(CONFIG, tokenizer.vocabulary_size, train_set), valid_set, 100)
    after = mrr_by_language(train(data, tmp_path / "run"), valid_set, 100)
    assert before["go"] < 0.2
    assert after["go"] > 0.8


def test_a_killed_run_goes_on_to_the_same_losses(data, tmp_path, monkeypatch):
    train(data, tmp_path / "whole")
    save, calls = checkpoint.save, []

    def killed(state, path):
        save(state, path)
        calls.append(path.name)
        if calls.count(checkpoint.CHECKPOINT) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(checkpoint, "save", killed)
    with pytest.raises(KeyboardInterrupt):
        train(data, tmp_path / "killed")
    monkeypatch.setattr(checkpoint, "save", save)
    train(data, tmp_path / "killed")
    assert len(losses(tmp_path / "killed")) == CONFIG.epochs
    assert losses(tmp_path / "killed") == losses(tmp_path / "whole")


def test_training_stops_when_patience_is_used_up(data, tmp_path):
    config = dataclasses.replace(CONFIG, learning_rate=0.0, epochs=9, patience=1)
    train(data, tmp_path / "run", config)
    assert len(losses(tmp_path / "run")) == 2


def test_a_run_is_not_resumed_with_other_settings(tmp_path):
    checkpoint.write_config(tmp_path, CONFIG, "abc", ["p"])
    checkpoint.write_config(tmp_path, CONFIG, "abc", ["p"])
    with pytest.raises(TrainingError, match="other settings"):
        checkpoint.write_config(tmp_path, dataclasses.replace(CONFIG, dim=8), "abc", ["p"])


def test_counted_tokens_give_the_same_embedding_as_repeated_ones():
    model = NBowEncoder(20, 8)
    ids = torch.tensor([[5, 3, 5, 5], [7, 0, 0, 0]])
    mask = torch.tensor([[1, 1, 1, 1], [1, 0, 0, 0]])
    short_ids, counts = counted(ids, mask)
    assert short_ids.tolist() == [[3, 5], [7, 0]]
    assert counts.tolist() == [[1, 3], [1, 0]]
    torch.testing.assert_close(model.query(short_ids, counts), model.query(ids, mask))


def test_embeddings_have_unit_length_and_an_empty_text_is_zero():
    ids, mask = torch.tensor([[4, 5], [0, 0]]), torch.tensor([[1, 1], [0, 0]])
    lengths = NBowEncoder(9, 8).query(ids, mask).norm(dim=1)
    torch.testing.assert_close(lengths, torch.tensor([1.0, 0.0]))


def test_loss_is_the_mean_of_both_cross_entropies():
    queries, documents = torch.eye(2), torch.tensor([[1.0, 0.0], [1.0, 0.0]])
    by_query = (torch.log(torch.tensor(2.0)) * 2) / 2
    logits = documents @ queries.T
    by_document = torch.nn.functional.cross_entropy(logits, torch.arange(2))
    expected = (by_query + by_document) / 2
    torch.testing.assert_close(symmetric_softmax(queries, documents, 1.0), expected)


def test_ties_count_against_the_right_answer():
    similarities = torch.tensor([[0.5, 0.5, 0.1], [0.0, 0.9, 0.1], [0.9, 0.8, 0.7]])
    torch.testing.assert_close(reciprocal_ranks(similarities), torch.tensor([1 / 2, 1.0, 1 / 3]))


def test_a_batch_holds_one_language_and_an_epoch_every_sample(data):
    tokenizer, _, _ = data
    rows = [
        dataclasses.replace(row, language=language)
        for language in ("go", "php")
        for row in synthetic_rows(60, 5)
    ]
    samples = make_samples(rows, tokenizer, max_query_tokens=9, max_document_tokens=9)
    chunks = batch_indices(samples, 25, seed=1, epoch=0)
    assert all(len(set(samples.languages[chunk])) == 1 for chunk in chunks)
    assert sorted(np.concatenate(chunks)) == list(range(120))
    assert [chunk.tolist() for chunk in chunks] != [c.tolist() for c in batch_indices(samples, 25, 1, 1)]


def test_padding_is_masked(data):
    _, samples, _ = data
    ids, mask = padded(samples.documents, np.array([0, 1]))
    assert ids.shape == mask.shape
    assert ids[mask == 0].sum() == 0
    assert mask.sum(dim=1).tolist() == np.diff(samples.documents.starts)[:2].tolist()


def test_a_name_sample_hides_the_name_and_the_docstring():
    row = Row(
        "a/b", "b", "x", "A.readLines", "readLines", "java", "void readLines() { readLines(1); }", "d", "rest"
    )
    query, document = name_texts_of_row(row)
    assert query == "readLines"
    assert "readLines" not in document and "rest" not in document and document.startswith("A.")
