"""An answer says that it saw everything only if nothing below the folder is hidden from it."""

import math
import re
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codesearch.config import IndexOptions
from codesearch.engine.answer import Answer, Changes, FoundAnswer, Freshness, State, coverage_of
from codesearch.engine.engine import Engine
from codesearch.engine.scope import Scope
from codesearch.engine.session import AS_INDEXED, Policy, Session
from codesearch.errors import IndexNotFoundError
from codesearch.search import exact as exact_text
from codesearch.search.request import SearchRequest
from codesearch.structure.text import outline_lines
from tests.conftest import write_tree

NAME = "needle_of_the_test"
CODE = f"def {NAME}():\n    return 1\n"
OTHER = "def other():\n    return 2\n"
OPTIONS = IndexOptions(exclude=("*ignored*",), max_file_bytes=12_000)


def _file(path: str, text: str = CODE) -> Callable[[Path], object]:
    return lambda root: write_tree(root, {path: text})


HIDDEN_BY: dict[str, Callable[[Path], object]] = {
    "ignored": _file("ignored.py"),
    "ignored folder": _file("build_ignored/a.py"),
    "hidden": _file(".hidden.py"),
    "hidden folder": _file(".config/a.py"),
    "always folder": _file("node_modules/a.js", f"function {NAME}() {{ return 1; }}\n"),
    "too large": _file("large.py", CODE + "# more\n" * 2_000),
    "other content": _file("notes.md", f"# Notes\n\n{NAME}\n"),
    "never": _file("package-lock.json", f'{{"{NAME}": 1}}\n'),
    "minified": _file("m.js", f"var {NAME}=1;" * 440),
    "unreadable": lambda root: (root / "caf\udce9.py").write_text(CODE, "utf-8"),
}
"""Reason -> a function that hides the name in a tree for it."""


def asked(session: Session) -> tuple[Answer, FoundAnswer]:
    return session.search(SearchRequest(NAME, mode="lexical", fixed=True)), session.usages(NAME)


@given(st.sets(st.sampled_from(sorted(HIDDEN_BY))), st.booleans())
@settings(max_examples=2_000 if settings().max_examples > 100 else 20)
def test_no_answer_says_that_it_is_complete_when_it_is_not(reasons, is_seen):
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(Engine(Path(folder, "home"), device="cpu")) as engine,
    ):
        root = Path(folder, "project")
        write_tree(root, {"seen.py": CODE if is_seen else OTHER, "logo.png": ""})
        (root / "link.py").symlink_to("seen.py")  # Neither hides anything.
        for reason in reasons:
            HIDDEN_BY[reason](root)
        engine.index(root, OPTIONS)
        session = engine.session(Scope((root,)), Policy(may_index=False, budget_s=math.inf))
        for answer in asked(session):
            found = answer.lines if isinstance(answer, Answer) else answer.found.definition_count
            assert found == is_seen
            assert answer.coverage.reasons.keys() == reasons
            assert answer.coverage.complete == (not reasons) == (not answer.coverage.text)
        outline, duplicates = session.outline(), session.duplicates(min_lines=1)
        assert outline.coverage == duplicates.coverage == answer.coverage
        if is_seen:
            assert session.read(NAME).coverage == answer.coverage
        else:
            with pytest.raises(IndexNotFoundError) as error:
                session.read(NAME)
            assert ("not seen: " in str(error.value)) == bool(reasons)


def test_an_index_that_is_behind_or_not_compared_is_not_complete(tmp_path, engine):
    root = write_tree(tmp_path / "project", {"seen.py": OTHER})
    engine.index(root)
    assert engine.session(Scope((root,)), AS_INDEXED).usages(NAME).coverage.reasons == {"not compared": 1}
    write_tree(root, {f"f{number}.py": CODE for number in range(3)})
    policy = Policy(may_index=False, budget_s=0.0)
    answer = engine.session(Scope((root,)), policy).usages(NAME)
    assert answer.coverage.reasons == {"changed": 3}
    assert (answer.coverage.complete, answer.coverage.text) == (False, "3 files that changed since")


@pytest.mark.parametrize(
    ("state", "changes", "reasons"),
    [
        (State.BEHIND, Changes(2, 3), {"changed": 5}),
        (State.BEHIND, Changes(0, 0), {"changed": 1}),  # There was no time to count.
        (State.LOCKED, Changes(0, 0), {"changed": 1}),
        (State.UNCHECKED, Changes(0, 0), {"not compared": 1}),
        (State.UNREADABLE, Changes(0, 0), {"unreadable index": 1}),
        (State.UPDATED, Changes(2, 3), {}),
    ],
)
def test_the_state_of_an_index_says_if_an_answer_is_complete(state, changes, reasons):
    assert coverage_of((), (Freshness("/src", state, changes),), {}).reasons == reasons


def test_of_many_reasons_a_note_names_the_first_two_and_what_was_not_read():
    reasons = {"other content": 90, "data": 51, "never": 360, "hidden": 9, "not read": 1}
    unread = "1 file not read, because there are too many or no time was left"
    first = "90 files that --content would add, 51 files of data"
    assert (
        coverage_of((), (), reasons).text == f"{first}, 369 others that `codesearch status` lists, {unread}"
    )
    assert (
        coverage_of((), (), {"other content": 90, "data": 51, "hidden": 1}).text == f"{first}, 1 hidden file"
    )


def test_what_is_not_shown_or_not_read_is_counted(tmp_path, engine, monkeypatch):
    used = f"def {NAME}():\n    return {{}}\n\n\n{NAME}()\n"
    root = write_tree(tmp_path / "project", {f"f{number}.py": used.format(number) for number in range(6)})
    engine.index(root)
    session = engine.session(Scope((root,)), Policy(may_index=False))
    exact = session.search(SearchRequest(NAME, 2, "lexical", fixed=True))
    assert (exact.lines, exact.files, exact.coverage.reasons["not shown"]) == (12, 6, 10)
    assert session.usages(NAME, limit=2).coverage.reasons == {"not shown": 4}
    monkeypatch.setattr(exact_text, "MOST_FILES", 2)
    late = session.search(SearchRequest(NAME, 9, "lexical", fixed=True, seconds=1e-9))
    assert (late.lines, late.coverage.reasons) == (0, {"not read": 6})
    assert session.usages(NAME).coverage.reasons == {"not read": 4}


def test_what_is_folded_is_counted_and_marked(tmp_path, engine):
    body = "".join(f"    needle({number})\n" for number in range(30))
    functions = "".join(f"def find_{number}():\n{body}\n" for number in range(9))
    root = write_tree(tmp_path / "project", {f"f{number}.py": functions for number in range(9)})
    engine.index(root)
    session = engine.session(Scope((root,)), Policy(may_index=False))
    whole = session.read("f1.py", most_lines=20).coverage
    assert (whole.complete, whole.reasons) == (False, {"folded": 9 * 31})
    several = session.outline("find_1", max_lines=20)
    assert (len(several.places), several.place_count, several.coverage.reasons) == (5, 9, {"not shown": 4})
    (answered,) = session.outline(question="find 3", max_lines=30).places
    shown = list(outline_lines(answered))
    code = [line for line in shown if " | " in line]
    assert re.fullmatch(r" +… lines \d+-\d+", shown[shown.index(code[-1]) + 1])
    assert answered.folded > 0
    counts = re.findall(
        r"\((\d+) definitions|\((\d+) more", "\n".join(outline_lines(session.outline(max_lines=6).places[0]))
    )
    assert [int(first or last) for first, last in counts] == [9, 9, 9, 9, 5]
