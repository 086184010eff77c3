"""Written questions become pairs with the code of fetched packages."""

from pathlib import Path

import pytest

from codesearch.text.tokenizer import join_fields
from tests.conftest import write_tree
from training.__main__ import main
from training.config import Source, TrainConfig
from training.corpus.fetch import MARKER
from training.corpus.written import read_written
from training.files import TrainingError
from training.sources import read_pairs

WRITTEN = Path(__file__).parents[3] / "training" / "written"
TREES = '"""Work on folders."""\n\n\ndef wipe(path):\n    """Remove files."""\n    unlink(path)\n'
TRAIN, VALID, EVALUATED = (f"pkg:pypi/{name}@1" for name in ("trees", "leaves3", "redis"))
RECIPE = """
[languages.python]
packages = [
    { kind = "pypi", name = "trees", repository = "a/trees", licence = "MIT" },
    { kind = "pypi", name = "leaves3", repository = "a/leaves3", licence = "MIT" },
    { kind = "pypi", name = "redis", repository = "redis/redis-py", licence = "MIT" },
    { kind = "pypi", name = "absent", repository = "a/absent", licence = "MIT" },
]
"""
ASKED = [
    (TRAIN, "lib/trees.py", 4, "delete a folder"),
    (VALID, "lib/trees.py", 4, "empty a directory"),
    (EVALUATED, "lib/trees.py", 4, "drop keys"),
    ("pkg:pypi/absent@1", "lib/trees.py", 4, "not fetched"),
    ("pkg:pypi/trees@2", "lib/trees.py", 4, "another version"),
    (TRAIN, "lib/trees.py", 5, "no function begins here"),
    (TRAIN, "lib/gone.py", 1, "no such file"),
]


@pytest.fixture
def folder(tmp_path):
    for name in ("trees", "leaves3", "redis"):
        package = write_tree(tmp_path / "corpus" / "packages" / "python" / name, {"lib/trees.py": TREES})
        (package / MARKER).write_text('{"version": "1", "download_bytes": 1, "files": 1, "bytes": 1}')
    (tmp_path / "recipe.toml").write_text(RECIPE)
    (tmp_path / "never_train.txt").write_text("# Projects.\nredis\n")
    lines = (
        f"keywords\tundocumented\tpython\t{p}\t{path}\t{line}\twipe\t{q}\n" for p, path, line, q in ASKED
    )
    (tmp_path / "questions.tsv").write_text("".join(lines))
    return tmp_path


def pairs(folder, *options):
    command = ["corpus", "pairs", "--questions", folder / "questions.tsv", "--out", folder / "out"]
    corpus = ["--corpus", folder / "corpus", folder / "recipe.toml"]
    return main([str(part) for part in (*command, *corpus, *options)])


def test_a_question_is_a_pair_with_its_function_as_an_index_has_it(folder):
    assert pairs(folder, "--evaluation-sets", folder) == 0
    source = Source("written", folder / "out")
    train, valid = (list(read_pairs(source, name, TrainConfig())) for name in ("train", "valid"))
    assert [(pair.query, pair.group, pair.package) for pair in train] == [
        ("delete a folder", "python", TRAIN)
    ]
    assert [(pair.query, pair.package) for pair in valid] == [("empty a directory", VALID)]
    code = "def wipe(path):\n    \n    unlink(path)"
    fields = {"path": "lib/trees.py", "context": "Work on folders."}
    assert train[0].document == join_fields("wipe", "Remove files.", code, **fields)


def test_a_question_about_a_passage_is_a_pair_with_its_lines(folder):
    fields = ("symptom", "documented", "python", TRAIN, "lib/trees.py", "4", "wipe", "6", "6", "files stay")
    (folder / "questions.tsv").write_text("\t".join(fields) + "\n")
    assert pairs(folder) == 0
    (pair,) = read_pairs(Source("written", folder / "out"), "train", TrainConfig())
    code = '    """Remove files."""\n    unlink(path)'
    assert (pair.query, pair.document) == (
        "files stay",
        join_fields("wipe", "", f"def wipe(path):\n{code}", path="lib/trees.py"),
    )


def test_questions_that_have_no_function_are_counted_by_reason(folder, capsys):
    assert pairs(folder, "--evaluation-sets", folder) == 0
    assert capsys.readouterr().out == (
        f"pairs in {folder / 'out'}: to train on 1, for validation 1; questions left out: "
        "function not there 2, package not fetched 2, project of an evaluation set 1\n"
    )


def test_without_evaluation_sets_a_warning_says_that_nothing_is_left_out(folder, capsys, caplog):
    assert pairs(folder) == 0
    assert "to train on 2, for validation 1" in capsys.readouterr().out
    assert "no --evaluation-sets" in caplog.text


def test_an_invalid_line_is_an_error(tmp_path):
    path = tmp_path / "questions.tsv"
    path.write_text("keywords\tundocumented\tpython\n")
    with pytest.raises(TrainingError, match=r"questions\.tsv:1: not a written question"):
        read_written(path)


@pytest.mark.parametrize(
    ("file", "count"), [("questions.tsv", 20_010), ("passages.tsv", 7_508), ("everyday.tsv", 2_163)]
)
def test_the_shipped_questions_can_be_read(file, count):
    questions = read_written(WRITTEN / file)
    assert len(questions) == count
    assert len({(asked.package, asked.path, asked.line, asked.passage) for asked in questions}) == count
