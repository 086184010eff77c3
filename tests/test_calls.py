"""Work is counted in Python calls, which do not depend on the speed of the machine."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

import pytest

from codesearch.build.file_parser import FileParser
from codesearch.cli.invocation import Terminal
from codesearch.cli.render import render
from codesearch.config import IndexConfig
from codesearch.engine.engine import Engine
from codesearch.engine.scope import Scope
from codesearch.evaluation.suites import SMOKE, sample_tree
from codesearch.parsing.walker import WalkSummary, walk
from codesearch.search.request import SearchRequest
from codesearch.text.bundle import SHIPPED, TOKENIZER, load_bundle
from tests.conftest import settle, write_tree

PARSED, ASKED = 254_000, 925
"""Calls for each megabyte of source that is parsed, and for a query. 5% more fail. Write lower numbers here."""
MODULES, MOVES = 48, 740
"""Bounds for a screen of five files. Words or control characters looked up line by line are thousands of moves."""


def module_of(frame: FrameType | None) -> str:
    """Return the innermost module of codesearch that a frame is in or was called from."""
    while frame and not frame.f_globals.get("__name__", "").startswith("codesearch."):
        frame = frame.f_back
    return frame.f_globals["__name__"] if frame else ""


def moves_between_modules(work: Callable[[], object]) -> list[str]:
    """Return the module of each call that comes from another module of codesearch."""
    entered: list[str] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        module = frame.f_globals.get("__name__", "")
        if event == "call" and module.startswith("codesearch.") and module_of(frame.f_back) != module:
            entered.append(module)

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return entered


def calls(work: Callable[[], object]) -> int:
    """Count the calls of functions of codesearch, after a call that fills caches."""
    work()
    count = 0

    def note(frame: FrameType, event: str, _: object) -> None:
        nonlocal count
        count += event == "call" and frame.f_globals.get("__name__", "").startswith("codesearch.")

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


@pytest.fixture
def samples(tmp_path: Path) -> Iterator[Path]:
    with sample_tree(SMOKE, tmp_path) as root:
        yield root


def test_a_parsed_megabyte_takes_as_many_calls_as_before(samples):
    config = IndexConfig()
    files = [file for file in walk(samples, config.walk, WalkSummary()) if file.path.startswith("python/")]
    parser = FileParser(samples, config, SHIPPED / TOKENIZER, load_bundle(SHIPPED).max_document_tokens)

    def parse() -> None:
        assert all(map(parser.parse, files))

    made = calls(parse) / sum(file.size for file in files) * 1e6
    assert made <= PARSED * 1.05, made


def test_a_query_takes_as_many_calls_as_before(samples, tmp_path):
    engine = Engine(tmp_path / "home")
    engine.index(samples)
    scope, request = Scope((samples,)), SearchRequest("read a file", 5, by_file=True)
    made = calls(lambda: engine.search(request, scope, refresh=False))
    engine.close()
    assert made <= ASKED * 1.05, made


def test_a_query_moves_a_few_hundred_times_between_modules_also_if_its_hits_are_long(tmp_path):
    body = "".join(f"    step_{number} = read_step(path, {number})\n" for number in range(60))
    files = {f"file{number}.py": f"def read_file_{number}(path):\n{body}" for number in range(5)}
    root = write_tree(tmp_path / "tree", files)
    engine = Engine(tmp_path / "home")
    engine.index(root)
    settle(root, tmp_path / "home")
    terminal = Terminal(root, is_terminal=True, width=100, height=24)

    def query() -> str:
        answer = engine.search(SearchRequest("read a file", 5, by_file=True), Scope((root,)))
        return render(answer, "text", terminal)

    assert query().count("read_file_") == 5
    moves = moves_between_modules(query)
    engine.close()
    assert len(set(moves)) <= MODULES and len(moves) <= MOVES, (len(set(moves)), len(moves))
