"""The official files of CodeSearchNet, from loading to a submission and an index, as docs/dev/codesearchnet.md says."""

import contextlib
import csv
import gzip
import io
import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
import torch

import exporters.__main__ as exporting
import training.__main__ as training
from benchmarks import suite
from tests import codesearchnet_sample
from tests.command import Command
from training.corpus.load import load
from training.evaluation.mrr import encode_texts
from training.evaluation.predict import predict
from training.pipeline import load_run
from training.samples import texts_of_row

PAGE = Path(__file__).parents[3] / "docs/dev/codesearchnet.md"
MAINS = {"training": training.main, "exporters": exporting.main}


def commands():
    block = re.search(r"<!-- ten commands -->\n```\n(.*?)^```", PAGE.read_text("utf-8"), re.DOTALL | re.M)[1]
    return [shlex.split(line) for line in block.replace("\\\n", " ").splitlines()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder in which the ten commands of the page have run, and what they printed: `printed`, `query.txt`."""
    folder = tmp_path_factory.mktemp("csn")
    product, printed = Command(folder, folder / "home"), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(printed):
        patch.chdir(folder)
        assert len(commands()) == 10
        for program, *arguments in commands():
            arguments = [str(path) for each in arguments for path in sorted(folder.glob(each)) or [each]]
            if program == "codesearch":
                done = product(*arguments)
                assert (done.returncode, done.stderr) == (0, ""), arguments
                (folder / f"{arguments[0]}.txt").write_text(done.stdout)
            elif arguments[1] == "benchmarks.suite":
                patch.setattr("sys.argv", arguments[1:])
                suite.main()
            elif arguments[1] == "tests.codesearchnet_sample":
                codesearchnet_sample.main(Path(arguments[2]))
            else:
                assert MAINS[arguments[1]](arguments[2:]) == 0, arguments
    (folder / "printed").write_text(printed.getvalue())
    return folder


def test_the_ten_commands_of_the_page_run(folder):
    printed = (folder / "printed").read_text()
    assert "mrr_full" in printed and re.search(r"model_predictions +0\.[1-9]", printed)
    manifest = json.loads((folder / "bundles/neuralbow/manifest.json").read_text())
    assert manifest["trained_on"] == ["python/cpython"]
    assert "textwrap.py" in (folder / "query.txt").read_text()


def test_a_submission_has_the_nearest_functions_of_all_files(folder, tmp_path, monkeypatch):
    monkeypatch.setattr("training.evaluation.predict._AT_ONCE", 300)
    files = sorted((folder / "build/official/data/python/final").rglob("*.gz"))
    counts = predict(
        folder / "runs/neuralbow",
        files,
        folder / "build/official/challenge/queries.csv",
        tmp_path / "found.csv",
        "cpu",
    )
    rows = [loaded.row for file in files for loaded in load(file)]
    assert counts == {"python": len(rows)}
    with (tmp_path / "found.csv").open(newline="") as file:
        found = list(csv.DictReader(file))
    asked = found[0]["query"]
    model, tokenizer, config = load_run(folder / "runs/neuralbow")
    encode = lambda tower, text, limit: encode_texts(tower, [tokenizer.encode(text, limit)])  # noqa: E731
    query = encode(model.query, asked, config.max_query_tokens)
    documents = [
        encode(model.document("python"), texts_of_row(row, config.documents)[1], config.max_document_tokens)
        for row in rows
    ]
    cosines = (torch.cat(documents) @ query.T).numpy()[:, 0]
    broadcast = [row for row in found if row["query"] == asked]
    assert len(broadcast) == 100 and len(found) == 100 * len({row["query"] for row in found})
    by_url = {row.url: (row.func_name, cosine) for row, cosine in zip(rows, cosines, strict=True)}
    assert [by_url[row["url"]][0] for row in broadcast] == [row["identifier"] for row in broadcast]
    np.testing.assert_allclose(
        [by_url[row["url"]][1] for row in broadcast], np.sort(cosines)[::-1][:100], atol=1e-5
    )


def test_data_in_other_languages_than_the_run_is_an_error(folder, tmp_path, capsys):
    options = ["--corpus", str(folder / "build/csn"), "--run", str(tmp_path / "run"), "--epochs", "1"]
    small = "--encoder nbow-per-language --dim 8 --vocabulary-size 300 --device cpu".split()
    assert training.main(["train", *options, *small]) == 0
    (file,) = (folder / "build/official/data/python/final/jsonl/test").glob("*.gz")
    other = tmp_path / "go_test_0.jsonl"
    lines = [{**json.loads(line), "language": "go"} for line in load_lines(file)]
    other.write_text("".join(json.dumps(line) + "\n" for line in lines))
    queries = str(folder / "build/official/challenge/queries.csv")
    arguments = ["predict", "--run", str(tmp_path / "run"), "--data", str(other), "--queries", queries]
    assert training.main([*arguments, "--out", str(tmp_path / "found.csv")]) == 2
    assert "no function of a language that" in capsys.readouterr().err


def load_lines(file):
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        return list(lines)
