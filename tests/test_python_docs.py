"""The examples of docs/python.md run and print what the page shows, and the page lists every public name."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import get_type_hints

import pytest

import codesearch
from codesearch.search.request import SearchFields, SearchRequest
from tests.command import TIMEOUT
from tests.conftest import TINY_REPO, write_tree

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/python.md").read_text("utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```(?:\s*^```text\n(.*?)^```)?", PAGE, re.DOTALL | re.MULTILINE)
"""The code of each example and what it prints."""
NEXT = "--- next example"
SOURCE_BYTES = 1_200_000
"""Source of this size is parsed by worker processes."""


def run_script(folder: Path, script: str) -> str:
    """Run a script that lies beside a folder in this folder, and return what it prints."""
    file = folder.parent / "script.py"
    file.write_text(script, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, file],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "CODESEARCH_HOME": str(folder.parent / "home")},
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "project", TINY_REPO)


def test_the_first_example_is_a_short_script():
    code, shown = EXAMPLES[0]
    assert len(code.splitlines()) <= 6
    assert "__main__" not in code
    assert shown == "python/convert.py 4 int_to_string\npython/convert.py 9 string_to_int\n"


def test_all_examples_run_in_order_and_print_what_they_show(folder):
    quick = "from codesearch.engine import verify\nverify.load_query = lambda _: None\n"  # It takes seconds.
    script = quick + f"print({NEXT!r})\n".join(code for code, _ in EXAMPLES)
    printed = run_script(folder, script).split(f"{NEXT}\n")
    assert printed == [shown for _, shown in EXAMPLES]


def test_a_script_without_a_main_guard_runs_once_even_with_worker_processes(tmp_path):
    body = "    first = second\n" * 100
    source = "".join(f"def function_{number}(first, second):\n{body}\n" for number in range(30))
    files = {f"module_{number}.py": source for number in range(SOURCE_BYTES // len(source) + 1)}
    tree = write_tree(tmp_path / "project", files)
    script = "import codesearch\nprint('begins')\nprint(codesearch.Engine().index('.').files)\n"
    assert run_script(tree, script) == f"begins\n{len(files)}\n"


@pytest.mark.parametrize("name", codesearch.__all__)
def test_every_public_name_imports(name):
    assert getattr(codesearch, name).__name__ == name


def test_the_page_lists_exactly_the_public_names():
    listed = re.findall(r"`([A-Z]\w+)`", PAGE.partition("## Public names")[2])
    assert sorted(listed) == sorted(codesearch.__all__)


def test_keywords_of_a_search_are_the_fields_of_a_request():
    fields = get_type_hints(SearchRequest)
    assert fields.pop("query") is str
    assert get_type_hints(SearchFields) == fields


def test_an_engine_closes_what_it_opened(folder):
    with codesearch.Engine(folder.parent / "home") as engine:
        engine.index(folder)
        assert engine.search("push", codesearch.Scope([folder]), top_k=1, mode="lexical").hits
        assert engine.pool._indexes
    assert not engine.pool._indexes


def test_importing_the_package_takes_under_ten_milliseconds_of_processor_time_and_neither_numpy_nor_dataclasses():
    script = (
        "import sys, time; started = time.process_time(); import codesearch; "
        "print(1000 * (time.process_time() - started), *{'numpy', 'dataclasses'} & set(sys.modules))"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    for _ in range(20):  # A busy machine may need more than one try.
        line = [sys.executable, "-c", script]
        done = subprocess.run(line, env=environment, capture_output=True, text=True, check=True)
        milliseconds, *loaded = done.stdout.split()
        assert loaded == []
        if float(milliseconds) < 10:
            return
    pytest.fail(f"{milliseconds} ms")
