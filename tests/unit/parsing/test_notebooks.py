"""Notebooks: the code of their cells, at the lines of the file."""

import json
import time

import pytest

from codesearch.parsing.notebooks import code_of
from tests.command import Command

CELLS = [
    {"cell_type": "markdown", "metadata": {}, "source": ["# def no(): pass"]},
    {
        "cell_type": "code",
        "metadata": {"source": ["no = 1"]},
        "outputs": [{"data": {"source": ["no = 2"]}, "text": ['a "quoted" { bracket\\n']}],
        "source": [
            "%matplotlib inline\n",
            "def train_model(x):\n",
            '    """Größe."""\n',
            "    return x\n",
            "\n",
            "!ls",
        ],
    },
    {"cell_type": "code", "source": ["%%bash\n", "echo {no}"], "outputs": []},
    {"cell_type": "code", "source": "%%time\nlast = train_model(1)", "outputs": []},
]


def notebook(language: str = "python", **options: object) -> str:
    about = {"kernelspec": {"language": language, "name": "k"}}
    return json.dumps({"cells": CELLS, "metadata": about, "nbformat": 4}, **options)


def test_each_line_of_code_is_at_the_line_of_the_file():
    text = notebook(indent=1, ensure_ascii=False)
    code = code_of(text.encode()).decode().split("\n")
    rows = [row for row, line in enumerate(code) if line]
    assert [code[row] for row in rows] == [
        "# %matplotlib inline",
        "def train_model(x):",
        '    """Größe."""',
        "    return x",
        "# !ls",
        "# %%bash",
        "# echo {no}",
        "# %%time",
        "last = train_model(1)",
    ]
    assert "def train_model" in text.split("\n")[rows[1]] and "echo" in text.split("\n")[rows[6]]


def test_the_worksheets_of_older_notebooks_have_cells_too():
    cell = {"cell_type": "code", "input": ["def f():\n", "    pass"], "language": "python"}
    notebook = json.dumps({"worksheets": [{"cells": [cell]}]})
    assert code_of(notebook.encode()) == b"def f():\n    pass"


def test_cells_in_one_line_follow_each_other():
    code = code_of(notebook().encode()).decode()
    assert "def train_model(x):\n" in code and code.endswith("# %%time\nlast = train_model(1)")


@pytest.mark.parametrize("content", [b"", b"{", b']}]{["', b"[1, 2", b'{"cells": 3}', notebook("R").encode()])
def test_what_has_no_code_in_python_is_empty(content):
    assert code_of(content) == b""


@pytest.mark.parametrize("piece", [b"[", b'"', b'"\\\\', b'"",', b"\n", b'{"cells":[{"source":["'])
def test_reading_is_linear_in_the_bytes(piece):
    started = time.process_time()
    code_of(piece * (200_000 // len(piece)))
    assert time.process_time() - started < 2


def test_a_notebook_is_indexed_and_one_in_another_language_is_counted(home, tmp_path):
    root = tmp_path / "project"
    root.mkdir()
    (root / "a.ipynb").write_text(notebook(indent=1))
    (root / "b.ipynb").write_text(notebook("R"))
    command = Command(root, home)
    assert "1 notebook without code in Python (.ipynb 1)" in command("index", ".").stdout
    assert "return x" in command("read", "a.ipynb::train_model").stdout
    assert command("query", "-F", "Größe", "--compact").stdout.startswith("a.ipynb:")


def test_reading_a_file_that_is_left_out_says_how_to_index_it(home, tmp_path):
    root = tmp_path / "project"
    for folder in ("build", ".tool"):
        (root / folder).mkdir(parents=True)
        (root / folder / "keep.py").write_text("def kept():\n    return 1\n")
    (root / "a.py").write_text("x = 1\n")
    (root / ".gitignore").write_text("build/\n")
    command = Command(root, home)
    command("index", ".")
    cures = {
        "build/keep.py::kept": f"it is ignored: run `codesearch index --exclude '!/build/' {root}`",
        ".tool/keep.py": f"it is hidden: run `codesearch index --hidden {root}`",
    }
    for place, cure in cures.items():
        assert command("read", place).stderr.endswith(f"is not indexed: {cure}\n")
    command("index", "--exclude", "!/build/", "--hidden", ".")
    assert "return 1" in command("read", "build/keep.py::kept").stdout
    assert "def kept" in command("read", ".tool/keep.py").stdout
