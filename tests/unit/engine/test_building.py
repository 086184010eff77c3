"""What other processes are told while a first index is made, and after it was interrupted."""

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from codesearch import Engine, Policy, Scope, SearchRequest
from codesearch.agents.text import status_text
from codesearch.build import build
from codesearch.engine import scope
from codesearch.engine.answer import State
from codesearch.engine.session import AS_INDEXED
from codesearch.errors import IndexLockedError
from codesearch.store import catalogue
from codesearch.store.catalogue import index_folder
from codesearch.structure.text import counted
from tests.command import Command
from tests.conftest import write_tree

FILES = {f"part{number}/a.py": f"def open_river_{number}(a):\n    return a\n" for number in range(9)}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(build, "_SEGMENT_BYTES", 100)
    monkeypatch.setattr(catalogue, "_PROGRESS_S", 0.0)
    monkeypatch.setattr(scope, "_FIRST_PART_S", 0.1)
    return write_tree(tmp_path / "src", FILES)


def while_indexed(engine: Engine, root: Path, look: Callable[[], object], commits: int = 1) -> None:
    """Index a folder, call a function after a number of commits, and then interrupt the build."""

    def on_progress(progress: build.Progress) -> None:
        folder = index_folder(engine.home, root)
        made = len(list(folder.glob("segments/*"))) - 1 if (folder / "manifest.json").exists() else 0
        if made >= commits:
            look()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        engine.index(root, on_progress=on_progress)


@pytest.mark.parametrize("budget_s", [None, 0.0, 0.5])
def test_an_answer_from_a_part_of_the_first_index_says_so(engine, root, budget_s):
    asked = SearchRequest("open river", 20, "lexical", seconds=1)

    def look(who: str = f"being indexed by process {os.getpid()}: ") -> None:
        session = engine.session(Scope(here=root), Policy(may_index=False, budget_s=budget_s))
        for answer in (session.search(asked), session.usages("a"), session.outline()):
            (freshness,) = answer.freshness
            assert freshness.state == State.PARTIAL
            assert freshness.note.startswith(f"only a part of {root} is indexed, so this is not complete: ")
            assert "% of its files are indexed; " in freshness.note and who in freshness.note
            assert not answer.coverage.complete
            assert 0 < answer.coverage.reasons["not indexed yet"] < 9

        exact = session.search(SearchRequest("return a", 20, "lexical", fixed=True))
        assert exact.text_note(lambda root, path: path).startswith(f"at least {exact.lines} line")

    while_indexed(engine, root, look)
    if budget_s is None:
        look(f"its first index was interrupted: run `codesearch index {root}`")
    engine.index(root)
    done = engine.session(Scope(here=root), Policy(budget_s=budget_s)).search(asked)
    assert len(done.hits) == 9 and "not indexed yet" not in done.coverage.reasons
    assert not catalogue.list_building(engine.home)


def test_an_index_after_an_interrupted_one_says_how_much_is_left(engine, root, tiny_bundle):
    while_indexed(engine, root, lambda: None)
    left = engine.status(root)[0].manifest.left
    done = Command(root, engine.home)("index", ".", "--model", tiny_bundle)
    assert done.stderr == f"src: the first index was interrupted with {counted(left, 'file')} left\n" and left
    assert done.stdout.startswith("src: 9 documents from 9 files in ")


def test_a_question_before_the_first_part_waits_and_says_who_works(engine, root):
    asked = []

    def look() -> None:
        for looked_at in (
            Scope(here=root / "part0"),
            Scope((root,)),
            Scope(within=(root / "part1/a.py",)),
            Scope(),
        ):
            with pytest.raises(
                IndexLockedError, match=f"being indexed by process {os.getpid()}, which has done [0-9]+%"
            ):
                engine.session(looked_at, AS_INDEXED).search("open")
            asked.append(looked_at)

    while_indexed(engine, root, look, commits=0)
    assert len(asked) == 4


def test_status_shows_a_first_index_that_is_made(engine, root):
    shown = []

    def look() -> None:
        for roots in ((), (root,)):
            (status,) = engine.status(*roots)
            assert (status.root, status.building.process) == (str(root), os.getpid())
            assert status.unfinished.startswith(f"being indexed by process {os.getpid()}: ")
            shown.append(Command(root, engine.home)("status", *roots).stdout)

    while_indexed(engine, root, look, commits=0)
    begun = rf"{root}\n  unfinished being indexed by process {os.getpid()}: \d+% done"
    assert [bool(re.match(begun, text)) for text in shown] == [True, True]
    show_page = pytest.importorskip("codesearch.web.present").show_status

    def look_later() -> None:
        (status,) = engine.status()
        assert "% of its files are indexed; being indexed by process" in status.unfinished
        assert show_page(engine)["unfinished"] == {str(root): status.unfinished}
        assert f"\nnot complete: {status.unfinished}\n" in status_text(status, root)
        shown.append(Command(root, engine.home)("status").stdout)

    while_indexed(engine, root, look_later, commits=2)
    assert "% of its files are indexed; being indexed by" in shown[-1] and "  documents  " in shown[-1]
    assert (
        "% of its files are indexed; the first index was interrupted"
        in Command(root, engine.home)("status").stdout
    )


def test_the_first_part_has_the_files_that_changed_last(engine, root):
    for number in range(9):
        os.utime(root / f"part{number}/a.py", (1_700_000_000 + (number == 6), 1_700_000_000 + (number == 6)))
    found = []

    def look() -> None:
        found.append([file[1] for file in engine.session(Scope((root,)), AS_INDEXED).files(scope_filters)])

    scope_filters = SearchRequest().filters
    while_indexed(engine, root, look)
    assert found == [["part6/a.py"]]


def test_what_a_killed_process_left_says_nothing(engine, root):
    folder = index_folder(engine.home, root)
    folder.mkdir(parents=True)
    for content in (b'{"root": "/src", "done": 1, "total": 2, "seconds": 3}', b"[]", b"\xff", b'{"root": 1}'):
        (folder / catalogue.PROGRESS).write_bytes(content)
        assert catalogue.building_in(folder) is None
        assert not engine.status()
