"""Suite `docstrings`: the query is documentation, and the document is its function without it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from codesearch.errors import ConfigError
from codesearch.evaluation.judge import BenchOptions
from training.evaluation import docstrings

ROWS = [
    {
        "language": "python",
        "path": "a/convert.py",
        "docstring": "Make a string of an int.\n\nSlowly.",
        "code": 'def int_to_string(number):\n    """Make a string of an int."""\n    return str(number)',
    },
    {
        "language": "python",
        "path": "b/stack.py",
        "docstring": "Put an item on top of the stack.",
        "code": "def push(self, item):\n    self.items.append(item)\n    return self",
    },
    {"language": "python", "path": "c.py", "docstring": "No function at all.", "code": "x = 1"},
]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    file = tmp_path / "test.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return file


def test_a_function_is_written_without_its_documentation_and_identified_by_its_path(
    data: Path, tmp_path: Path
):
    functions = docstrings.read_functions(data)
    assert [function.path for function in functions] == [
        "python/0/convert.py",
        "python/1/stack.py",
        "python/2/c.py",
    ]
    docstrings.write_functions(tmp_path / "tree", functions)
    assert "Make a string" not in (tmp_path / "tree/python/0/convert.py").read_text()


def test_records_without_a_function_are_skipped_and_the_others_are_found(
    data: Path, home: Path, tiny_bundle: Path
):
    result = docstrings.run(BenchOptions(home=home, data=data, model=tiny_bundle, device="cpu"))
    assert set(result.queries.values()) == {"Make a string of an int.", "Put an item on top of the stack."}
    assert result.details["functions"] == 3 and result.documents == 2
    assert result.systems["bm25"].metrics["recall_at_1"]["python"] == 1.0


def test_it_needs_data(home: Path):
    with pytest.raises(ConfigError, match="suite docstrings needs data"):
        docstrings.run(BenchOptions(home=home))
