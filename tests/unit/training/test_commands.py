"""`python -m training` and `python -m exporters`, from rows to a bundle that `codesearch` accepts."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch

import exporters.__main__ as exporting
import training.__main__ as training
from codesearch.text.onnx import OnnxEncoder
from codesearch.text.tokenizer import join_fields
from tests.command import Command
from tests.conftest import TINY_REPO, index_by_engine, write_tree
from tests.unit.training.conftest import WORDS, write_rows
from training import checkpoint
from training.config import Source, TrainConfig
from training.corpus.rows import Row, read_rows
from training.pipeline import load_run
from training.samples import texts_of_row
from training.sources import read_pairs, rows_of

ROOT = Path(__file__).parents[3]
SETTINGS = "--dim 8 --vocabulary-size 300 --batch-size 40 --patience 99 --epochs 6".split()


def functions(language, partition, count, start):
    for number in range(start, start + count):
        first, second = WORDS[number % len(WORDS)], WORDS[(number * 7 + 3) % len(WORDS)]
        name = f"{first}{second.title()}{number}"
        codes = {
            "go": f"func {name}(value int) int {{\n\tresult := {second}(value)\n\treturn result\n}}",
            "php": f"function {name}($value) {{\n    $result = {second}($value);\n    return $result;\n}}",
        }
        docstring = f"{first} the {second} and return it as number {number}"
        yield Row("a/b", "pkg", "x", name, name, language, codes[language], docstring, "", partition)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    for language in ("go", "php"):
        for start, (partition, count) in enumerate([("train", 90), ("valid", 30), ("test", 30)]):
            rows = functions(language, partition, count, start * 100)
            write_rows(folder / "rows" / f"{language}.{partition}.jsonl.zst", rows)
    return folder


@pytest.fixture(scope="module")
def run(corpus, tmp_path_factory):
    """Train and evaluate a run with one code encoder per language, without an interruption."""
    folder = tmp_path_factory.mktemp("runs") / "whole"
    assert training.main(train_arguments(corpus, folder)) == 0
    assert training.main(["evaluate", "--corpus", str(corpus), "--run", str(folder)]) == 0
    return folder


def train_arguments(corpus, run):
    options = ["--encoder", "nbow-per-language", "--device", "cpu", *SETTINGS]
    return ["train", "--corpus", str(corpus), "--run", str(run), *options]


def curve(run):
    lines = map(json.loads, (run / checkpoint.METRICS).read_text().splitlines())
    return [(line["epoch"], line["loss"], line["valid_mrr"]) for line in lines]


KILLED = """
import os, signal, sys
from training import __main__ as training, checkpoint

def append_and_die(run, record, epoch):
    if (epoch, when) == (2, "before"):
        os.kill(os.getpid(), signal.SIGKILL)
    append(run, record, epoch)
    if (epoch, when) == (2, "after"):
        os.kill(os.getpid(), signal.SIGKILL)

when = sys.argv[1]
checkpoint.plot_curve = lambda run: None
append, checkpoint.append_metrics = checkpoint.append_metrics, append_and_die
training.main(sys.argv[2:])
"""


@pytest.mark.parametrize(
    ("when", "lines"), [pytest.param("before", 2, marks=pytest.mark.thorough), ("after", 3)]
)
def test_a_killed_run_resumes_with_the_same_curve(corpus, run, tmp_path, when, lines):
    """The process is killed after an epoch, before or after its metrics are written, and before its checkpoint."""
    killed = tmp_path / "killed"
    done = subprocess.run(
        [sys.executable, "-c", KILLED, when, *train_arguments(corpus, killed)],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stderr=subprocess.DEVNULL,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL
    assert len(curve(killed)) == lines
    assert training.main(train_arguments(corpus, killed)) == 0
    assert curve(killed) == curve(run)


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor")
def test_a_run_may_be_compiled(corpus, tmp_path, monkeypatch, capsys):
    compiled = []

    def traced(function, **options):  # The default backend compiles C++, for a minute.
        compiled.append(options)
        return torch_compile(function, backend="eager", **options)

    torch_compile = torch.compile
    monkeypatch.setattr(torch, "compile", traced)
    options = ["--encoder", "unif", "--device", "cpu", *SETTINGS[:-2], "--epochs", "1"]
    train = ["train", "--corpus", str(corpus), *options]
    assert training.main([*train, "--run", str(tmp_path / "plain")]) == 0
    assert compiled == []
    assert training.main([*train, "--run", str(tmp_path / "fast"), "--compile"]) == 0
    assert len(compiled) == 2
    ((_, loss, mrr),), ((_, expected_loss, expected_mrr),) = (
        curve(tmp_path / "fast"),
        curve(tmp_path / "plain"),
    )
    assert (loss, mrr["average"]) == pytest.approx((expected_loss, expected_mrr["average"]), rel=1e-4)
    assert training.main([*train, "--encoder", "birnn", "--run", str(tmp_path / "rnn"), "--compile"]) == 2
    assert "birnn: torch.compile cannot keep a GRU" in capsys.readouterr().err


def test_a_finished_run_says_so(corpus, run, capsys, caplog):
    caplog.set_level("INFO")
    assert training.main(train_arguments(corpus, run)) == 0
    assert f"{run}: finished after 6 epochs, kept epoch " in caplog.text


def test_help_explains_each_setting_with_the_value_of_the_preset(capsys):
    with pytest.raises(SystemExit):
        training.main(["train", "--encoder", "birnn", "--help"])
    shown = " ".join(capsys.readouterr().out.replace("│", " ").split())
    losses = "{symmetric-softmax,softmax,cosine,max-margin,triplet}"
    assert f"--loss {losses} What training minimises. (default: symmetric-softmax)" in shown
    assert "How a text becomes a vector. (default: birnn)" in shown


def test_options_replace_the_settings_of_a_file(tmp_path, monkeypatch, caplog):
    path = tmp_path / "own.toml"
    path.write_text('dim = 8\nepochs = 7\nstart = "bundle"\n[[sources]]\nname = "a"\npath = "b"\nshare = 2\n')
    calls = []
    monkeypatch.setattr("training.pipeline.train_run", lambda *given, **named: calls.append((given, named)))
    options = ["--dim", "16", "--questions", "c.jsonl", "d.jsonl", "--device", "cpu", "--max-pairs", "5"]
    assert training.main(["train", "--config", str(path), *options]) == 0
    (((sources, run, config, device), named),) = calls
    assert [(its.name, its.share) for its in sources] == [("a", 2.0), ("c", 2.0), ("d", 2.0)]
    assert (config, run, device) == (TrainConfig(dim=16, epochs=7, max_pairs=5), Path("runs/own"), "cpu")
    assert "own.toml has sources: --corpus and --max-pairs are not used" in caplog.text
    assert named == {"start": Path("bundle"), "vocabulary": None, "compiled": False}


WITHOUT_EXTRA = """
import sys

class Missing:
    def find_spec(name, path=None, target=None):
        if name in ("tyro" if "download" in sys.argv else "torch zstandard tqdm rensa safetensors onnx").split():
            raise ModuleNotFoundError(name=name)

sys.meta_path.insert(0, Missing)
import training.__main__ as training
sys.exit(training.main(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    ("arguments", "status", "output"),
    [
        (["--help"], 0, "Fetch and extract a corpus"),
        (["train"], 2, "pip install -e '.[train]'"),
        (["download", "csn99"], 2, "error: tyro is not installed: run `pip install -e '.[train]'"),
    ],
)
def test_a_missing_extra_is_named_when_it_is_needed(arguments, status, output, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_EXTRA, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status
    assert output in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_a_bundle_with_an_encoder_per_language_can_index_and_query(run, tmp_path):
    bundle = tmp_path / "bundle"
    assert exporting.main(["bundle", "--run", str(run), "--out", str(bundle)]) == 0
    manifest = json.loads((bundle / "manifest.json").read_text())
    assert manifest["document_graphs"]["php"] == "document.php.onnx"
    assert "go" not in manifest["document_graphs"]
    tree = write_tree(tmp_path / "tiny", TINY_REPO)
    index_by_engine(tree, tmp_path / "home", bundle)
    done = Command(tmp_path, tmp_path / "home")(
        "query", "--all", "push", "--model", str(bundle), "-k", "3", "--json"
    )
    assert done.returncode == 0, done.stderr  # A busy machine adds a note.
    answer = json.loads(done.stdout)
    assert answer["model"] == "nbow-per-language-8-v1"
    assert len(answer["hits"]) == 3


def test_a_document_is_embedded_by_the_encoder_of_its_language(run, tmp_path):
    exporting.main(["bundle", "--run", str(run), "--out", str(tmp_path), "--dtype", "fp32"])
    encoder = OnnxEncoder.load(tmp_path, "cpu")
    model, tokenizer, _ = load_run(run)
    text = join_fields("sortList", "", "function sortList($list) { return $list; }")
    languages = ["php", "go", "bash", "unheard of", "php"]
    found = encoder.encode_documents(
        [encoder.tokenizer.encode_document(text, 200, name) for name in languages]
    )
    ids = torch.from_numpy(tokenizer.encode(text, 200).astype("int64"))[None]
    with torch.inference_mode():
        php, go = (model.document(name)(ids, torch.ones_like(ids))[0].numpy() for name in ("php", "go"))
    assert abs(php - go).max() > 1e-3
    for vector, expected in zip(found, [php, go, php, go, php], strict=True):
        assert abs(vector - expected).max() < 1e-6


def test_a_bundle_is_checked_against_its_run_on_the_texts_of_the_corpus(run, corpus, tmp_path, capsys):
    exporting.main(["bundle", "--run", str(run), "--out", str(tmp_path)])
    check = ["check", "--bundle", str(tmp_path), "--run", str(run), "--corpus", str(corpus)]
    assert exporting.main(check) == 0
    assert "document.php.onnx: differs from the run by at most " in capsys.readouterr().out


def test_evaluation_covers_each_held_out_set(run, corpus, capsys):
    arguments = ["evaluate", "--run", str(run), "--corpus", str(corpus)]
    assert training.main([*arguments, "--on", "valid", "test"]) == 0
    found = {name: json.loads((run / f"mrr_{name}.json").read_text()) for name in ("valid", "test")}
    assert found["test"]["pairs"] == {"go": 30, "php": 30}
    assert "mrr_999" not in found["test"]
    capsys.readouterr()
    assert training.main([*arguments, "--on", "advtest"]) == 2  # The run has no encoder of Python.
    assert "no documented functions" in capsys.readouterr().err
    assert training.main([*arguments, "--data", str(corpus / "rows" / "go.test.jsonl.zst")]) == 0
    elsewhere = json.loads((run / "mrr_data.json").read_text())
    assert elsewhere["mrr_full"]["go"] == found["test"]["mrr_full"]["go"]
    assert elsewhere["set"] == str(corpus / "rows" / "go.test.jsonl.zst")
    assert elsewhere["documents"] == "path, qualified name, rest of the docstring and code"


def test_functions_are_asked_by_names_that_are_long_enough(corpus, tmp_path):
    row = next(read_rows(corpus / "rows" / "go.valid.jsonl.zst"))
    named = [
        replace(row, path="", func_name=f"R.{name}", code=f"func {name}() {{}}")
        for name in ("Get", "ReadLine")
    ]
    write_rows(tmp_path / "rows" / "go.test.jsonl.zst", named)
    (found,) = rows_of(tmp_path, "names")
    assert texts_of_row(found) == ("ReadLine", join_fields("R.", "", "func () {}"))


def test_a_smaller_number_of_pairs_is_a_subset_of_a_larger_one(corpus):
    few, more, every = (
        [
            pair.query
            for pair in read_pairs(Source("d", corpus, most=most), "train", TrainConfig(name_share=0.0))
        ]
        for most in (10, 40, 500)
    )
    assert (len(few), len(more), len(every)) == (10, 40, 180)
    assert set(few) < set(more) < set(every)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("dims = 8", "own.toml: dims 8: no such field: see `python -m training train --help`"),
        ('dim = "8"', "dim '8': Input should be a valid integer"),
        ("dim = ", "not TOML"),
        ('pooling = "sum"', "Input should be 'mean', 'attention'"),
        ("kernel_size = 0", "kernel_size 0: Input should be greater than or equal to 1"),
        ('architecture = "selfatt"\ndim = 30', "multiple of 4"),
        ("sources = 3", "sources 3: Input should be"),
        ('[[sources]]\nname = "a"', "path: Field required"),
        (
            '[[sources]]\nname = "a"\npath = "b"\nshare = 0',
            "share 0: Input should be greater than or equal to 0.000001",
        ),
        ('[[sources]]\nname = "a"\npath = "nowhere"', "source a: nowhere is not there"),
    ],
)
def test_invalid_settings_are_a_one_line_error(text, message, tmp_path, capsys):
    path = tmp_path / "own.toml"
    path.write_text(text)
    assert training.main(["train", "--corpus", str(tmp_path), "--config", str(path)]) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1
