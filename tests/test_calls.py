"""A query that has nothing to refresh enters few modules, and moves between them a few hundred times."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

from codesearch.cli.invocation import Terminal
from codesearch.cli.render import render
from codesearch.engine.engine import Engine
from codesearch.engine.scope import Scope
from codesearch.search.request import SearchRequest
from tests.conftest import settle, write_tree

MODULES, MOVES = 45, 540
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


def test_a_query_moves_a_few_hundred_times_between_modules_also_if_its_hits_are_long(tmp_path: Path) -> None:
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
