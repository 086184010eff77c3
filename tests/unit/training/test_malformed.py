"""Every command with missing, damaged and hostile input: one line on stderr and exit status 2, never a traceback."""

import json
import resource
import shutil

import pytest
import zstandard

import exporters.__main__ as exporting
import training.__main__ as training
from tests.unit.training.conftest import write_rows

DEEP = b'{"a":' * 100_000
SURROGATE = b'{"query": "\\ud800", "code": "\\udfff"}\n'
TRAIN = "train --dim 8 --vocabulary-size 200 --epochs 1 --device cpu --run".split()
CONTENTS = {
    "empty": b"",
    "spaces": b" \n\n",
    "null": b"null",
    "a number": b"1e999",
    "a list": b"[1, 2]",
    "an empty object": b"{}",
    "deep": DEEP,
    "cut": b'{"config": {"dim": 8',
    "NaN": b'{"config": NaN, "languages": NaN}',
    "binary": bytes(range(256)),
    "surrogates": SURROGATE,
    "wrong types": b'{"config": [], "languages": 3, "trained_on": {}, "files": 7, "average": "x"}',
}
QUICK = ("empty", "deep", "wrong types")


@pytest.fixture(scope="module")
def made(tmp_path_factory, synthetic_rows):
    """Return a folder with a corpus, a trained and evaluated run, its bundle, and queries."""
    folder = tmp_path_factory.mktemp("made")
    for partition in ("train", "valid", "test"):
        rows = synthetic_rows(40, len(partition), partition=partition)
        write_rows(folder / "corpus" / "rows" / f"go.{partition}.jsonl.zst", rows)
    corpus = ["--corpus", str(folder / "corpus")]
    assert training.main([*TRAIN, str(folder / "run"), *corpus]) == 0
    assert training.main(["evaluate", "--run", str(folder / "run"), *corpus]) == 0
    bundle = ["bundle", "--run", str(folder / "run"), "--out", str(folder / "bundle")]
    assert exporting.main(bundle) == 0
    (folder / "queries.csv").write_text("query\nsort a list\n")
    return folder


@pytest.fixture
def here(made, tmp_path, monkeypatch):
    """Return a copy of what was made, as the working folder."""
    shutil.copytree(made, tmp_path / "made")
    monkeypatch.chdir(tmp_path / "made")
    return tmp_path / "made"


@pytest.fixture(scope="module")
def copied(made, tmp_path_factory):
    """Return another copy, for commands that change nothing in it."""
    folder = tmp_path_factory.mktemp("copied") / "made"
    shutil.copytree(made, folder)
    (folder / "own.toml").write_text(RECIPE)
    (folder / "deep.toml").write_text("a = " + "[" * 5_000 + "]" * 5_000)
    (folder / "wrong.toml").write_text("[languages.go]\npackages = [3]")
    return folder


def refused(capsys, command):
    """Run a command that has to be refused; return its one line."""
    program, *arguments = command.split()
    try:
        status = {"training": training, "exporters": exporting}[program].main(arguments)
    except SystemExit as stopped:  # tyro's, which has several lines.
        assert stopped.code == 2
        return ""
    errors = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error: ")]
    assert (status, len(errors)) == (2, 1), (status, errors)
    return errors[0]


EVALUATE = "training evaluate --run run --corpus corpus"
BUNDLE = "exporters bundle --run run --out out"
COMMANDS_OF = {
    "run/config.json": (
        EVALUATE,
        BUNDLE,
        "training average run run --out out",
        "training train --run run --corpus corpus",
    ),
    "run/tokenizer.json": (EVALUATE, "training train --dim 8 --vocabulary run --corpus corpus --run new"),
    "run/weights.safetensors": (EVALUATE, BUNDLE),
    "run/checkpoint.pt": (" ".join(["training", *TRAIN, "run", "--corpus corpus"]),),
    "run/mrr_test.json": (BUNDLE,),
    "bundle/manifest.json": ("exporters check --bundle bundle", "training train --start bundle --run new"),
    "corpus/rows/stats.json": ("training corpus stats --corpus corpus",),
    "own.lock.json": ("training corpus fetch --recipe own.toml --out out",),
    "corpus/packages/go/a/package.json": ("training corpus extract --recipe own.toml --corpus corpus",),
}
RECIPE = '[languages.go]\npackages = [{kind = "debian", name = "a", repository = "a/a"}]\n'


@pytest.mark.parametrize(
    "kinds", [pytest.param(QUICK, id="quick"), pytest.param(CONTENTS, id="all", marks=pytest.mark.thorough)]
)
@pytest.mark.parametrize("name", COMMANDS_OF)
def test_a_damaged_record_is_named(name, kinds, here, capsys, monkeypatch):
    monkeypatch.setattr("training.corpus.fetch.fetch_all", lambda *rest, **options: ({}, []))
    (here / "own.toml").write_text(RECIPE)
    (here / name).parent.mkdir(parents=True, exist_ok=True)
    for kind in kinds:
        (here / name).write_bytes(CONTENTS[kind])
        for command in COMMANDS_OF[name] if (name, kind) != ("own.lock.json", "an empty object") else ():
            error = refused(capsys, command)
            # A bundle is named by its folder, a vocabulary by its copy.
            assert name in error or error.startswith(("error: bundle", "error: new/tokenizer.json")), kind


@pytest.mark.parametrize(
    ("command", "named"),
    [
        (" ".join(TRAIN) + " new --corpus corpus", "new/tokenizer.json"),
        (" ".join(TRAIN) + " new --corpus corpus --vocabulary run", "new/tokenizer.json"),
        (" ".join(TRAIN) + " again --corpus corpus", "again/weights.safetensors"),
        (" ".join(TRAIN) + " again --corpus corpus", "again/checkpoint.pt"),
        ("average run run --out new", "new"),
        ("evaluate --run run --corpus corpus", "run"),
        ("corpus load corpus --out new", "new/load-"),
        ("corpus compounds --corpus corpus --out new", "new"),
        ("predict --run run --data corpus --queries queries.csv --out new", "new"),
        ("bundle --run run --out new", "new"),
    ],
)
def test_a_full_disk_is_one_line(command, named, here, capsys):
    """A limit on the size of files has the same effect as a full disk, in this process alone."""
    shutil.copytree("run", "again")
    (here / "again/checkpoint.pt").unlink()
    limit = (here / "run/weights.safetensors").stat().st_size if named.endswith(".pt") else 16
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        error = refused(capsys, f"{'exporters' if command.startswith('bundle') else 'training'} {command}")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert error.startswith(f"error: {named}"), error


@pytest.mark.parametrize(
    "name", ["facts.json", "answers.bin", "query_ids.bin", "query_starts.bin", "weights.bin"]
)
def test_damaged_samples_name_their_folder(name, here, capsys):
    samples = max(here.glob("corpus/tokenized/*"), key=lambda path: (path / "query_ids.bin").stat().st_size)
    for content in (b"", b"x", b"12345678"):
        (samples / name).write_bytes(content)
        assert str(samples.relative_to(here)) in refused(
            capsys, " ".join(["training", *TRAIN, "new", "--corpus corpus"])
        )


QUESTIONS = "training train --dim 8 --vocabulary-size 200 --device cpu --run new --corpus corpus --questions own.jsonl"


@pytest.mark.parametrize(
    "line",
    [
        DEEP,
        b"[1]",
        b"{",
        b'{"query": "a"}',
        b'{"query": 1, "code": "b"}',
        b'{"query": "a", "code": ["b"]}',
        b'{"query": "a", "code": "b", "weight": "heavy"}',
        b'{"query": "a", "code": "b", "weight": NaN}',
        b'{"query": "a", "code": "b", "weight": -1}',
        b'{"query": "a", "code": "b", "weight": 1e999}',
        b'{"query": "a", "code": "b", "negatives": "c"}',
        b'{"query": "a", "code": "b", "negatives": [{"code": 1}]}',
        b'{"query": "a", "code": "b", "negatives": 7}',
        b'{"query": "a", "code": "b", "language": 3}',
        b'{"query": "a", "code": "b", "language": ["go"]}',
        b'{"query": "a", "code": "b", "repo": {"x": 1}}',
        b'{"query": "a", "code": "b", "path": 5, "docstring": null}',
        b'{"query": "a", "code": "b", "partition": "tset"}',
        bytes(range(256)),
    ],
)
def test_a_damaged_pair_is_named_with_its_line(line, here, capsys):
    good = b'{"query": "sort the list", "code": "list.sort()"}\n'
    (here / "own.jsonl").write_bytes(good * 20 + line + b"\n")
    assert "own.jsonl:21" in refused(capsys, QUESTIONS)


ROW = {"repo": "a/b", "path": "x.go", "func_name": "f", "original_string": "f", "language": "go", "code": "f"}


@pytest.mark.parametrize(
    "line",
    [
        DEEP,
        b"7",
        json.dumps({**ROW, "language": "klingon"}).encode(),
        json.dumps({**ROW, "language": None}).encode(),
        json.dumps({**ROW, "code": 9}).encode(),
        json.dumps({**ROW, "docstring_tokens": "a"}).encode(),
        json.dumps({**ROW, "url": ["u"]}).encode(),
        b"\xff\xfe",
    ],
)
def test_a_damaged_function_is_named_with_its_line(line, here, capsys):
    good = json.dumps({**ROW, "docstring": "Say it."}).encode() + b"\n"
    (here / "go_test_0.jsonl").write_bytes(good * 2 + line + b"\n")
    for command in (
        "training corpus load go_test_0.jsonl --out new",
        "training evaluate --run run --data go_test_0.jsonl",
        "training predict --run run --queries queries.csv --data go_test_0.jsonl",
    ):
        assert "go_test_0.jsonl:3" in refused(capsys, command)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl.zst", zstandard.compress(b"{}\n" * 999)[:15]),
        ("a.jsonl.zst", b"plain"),
        ("a.parquet", b"PAR1"),
    ],
)
def test_a_damaged_file_of_functions_is_named(name, content, here, capsys):
    (here / name).write_bytes(content)
    assert name in refused(capsys, f"training corpus load {name}")


@pytest.mark.parametrize(
    "command",
    [
        "training",
        "training nothing",
        "training average --out out",
        "training average nowhere --out out",
        "training average run",
        "training evaluate --run nowhere",
        "training evaluate --run run --corpus nowhere",
        "training evaluate --run run --data nowhere",
        "training evaluate --run run --on nothing",
        "training predict --run run --data nowhere --queries queries.csv",
        "training predict --run run --data corpus --queries nowhere.csv",
        "training predict --run run --data corpus --queries run/weights.safetensors",
        "training predict --run run --data corpus --queries queries.csv --out corpus",
        "training predict --run run --data corpus --queries queries.csv --out /dev/full",
        "training corpus load nowhere",
        "training corpus load corpus --out corpus",
        "training corpus load corpus --out new --evaluation-sets queries.csv",
        "training corpus stats --corpus nowhere",
        "training corpus extract --corpus nowhere",
        "training corpus extract --recipe queries.csv",
        "training corpus extract --recipe own.toml --corpus corpus --processes 0",
        "training corpus fetch --recipe nowhere.toml",
        "training corpus fetch --jobs 0 --out new",
        "training corpus compounds --corpus nowhere --out x",
        "training corpus compounds --corpus corpus --out corpus",
        "training corpus pairs --questions nowhere --corpus corpus own.toml --out new",
        "training corpus pairs --questions run/weights.safetensors --corpus corpus own.toml --out new",
        "training train --config nowhere.toml",
        "training train --config deep.toml",
        "training corpus fetch --recipe deep.toml",
        "training corpus fetch --recipe wrong.toml",
        "training train --config run/weights.safetensors",
        "training train --encoder ../nbow",
        "training train --corpus nowhere --run new",
        "training train --corpus corpus --run queries.csv",
        "training train --corpus corpus --run new --questions nowhere.jsonl",
        "training train --corpus corpus --run new --questions corpus/rows/stats",
        "training train --corpus corpus --run new --question-repeats nan --questions own.jsonl",
        "training train --corpus corpus --run new --learning-rate nan",
        "training train --corpus corpus --run new --batch-size -1",
        "training train --corpus corpus --run new --seed 99999999999999999999999",
        "training train --corpus corpus --run new --start nowhere",
        "training train --corpus corpus --run new --start run",
        "training train --corpus corpus --run new --vocabulary corpus",
        "training train --corpus corpus --run new --device cuda",
        "training bench --suite csn-mrr --data nowhere",
        "training bench --suite csn-mrr --data corpus --model nowhere",
        "training bench --suite advtest --data corpus",
        "training bench --suite csn-mrr --data corpus --predictions x",
        "training download csn98 --out new",
        "exporters",
        "exporters bundle --run nowhere --out out",
        "exporters bundle --run run --out /dev/full",
        "exporters bundle --run run --out out --dtype int4",
        "exporters check --bundle nowhere",
        "exporters check --bundle bundle --run nowhere",
        "exporters check --bundle bundle --run run --corpus nowhere",
    ],
)
def test_an_argument_that_cannot_be_used_is_one_line(command, copied, capsys, monkeypatch):
    monkeypatch.chdir(copied)
    refused(capsys, command)
