"""An index that starts from another one gives the same answers as an index made without it."""

import tempfile
from dataclasses import replace
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from codesearch.engine.answer import IndexSummary
from codesearch.engine.engine import Engine
from codesearch.engine.scope import Scope
from tests.conftest import write_tree

WORDS = ("open", "socket", "parse", "invoice", "retry", "limit")
FUNCTIONS = st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(WORDS)), max_size=3)
NAMES = ("a.py", "b.py", "sub/a.py", "sub/c.py", "sub/deep/d.py", "e.py", "f.py", "lib.js")
TREES = st.dictionaries(st.sampled_from(NAMES), FUNCTIONS, min_size=2)
CHANGES = st.dictionaries(st.sampled_from(NAMES), st.one_of(st.none(), FUNCTIONS), max_size=3)


def source(path: str, functions: list[tuple[str, str]]) -> str:
    form = "function {}_{}(x) {{ return x }}\n" if path.endswith(".js") else "def {}_{}(x):\n    return x\n\n"
    return "".join(form.format(*words) for words in functions)


def change(root: Path, changes: dict[str, list[tuple[str, str]] | None]) -> None:
    write_tree(root, {path: source(path, found) for path, found in changes.items() if found is not None})
    for path in (path for path, found in changes.items() if found is None):
        (root / path).unlink(missing_ok=True)


def answers(home: Path, root: Path) -> list[object]:
    with_all = Engine(home, device="cpu")
    found = [with_all.search(f"{one} the {two}", Scope((root,))) for one in WORDS[::2] for two in WORDS[1::2]]
    with_all.close()
    return [(one.hits, one.confidence, one.documents, one.freshness) for one in found]


def counts(report: IndexSummary) -> object:
    manifest = report.manifest
    return replace(manifest, commit=0, created="", seconds=0, segments=[]), manifest.complete


@settings(max_examples=6)
@given(TREES, CHANGES, CHANGES)
def test_an_index_that_starts_from_another_one_answers_as_one_that_does_not(tree, later, branch):
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder).resolve()
        for name in ("main", "other"):
            change(place / name, tree)
        engine = Engine(place / "home", device="cpu")
        engine.index(place / "main")
        change(place / "main", later)
        engine.index(place / "main")
        change(place / "other", {**later, **branch})
        seeded = engine.index(place / "other")
        engine.remove(place / "main")
        engine.close()
        alone = Engine(place / "alone", device="cpu")
        assert counts(seeded) == counts(alone.index(place / "other"))
        alone.close()
        assert answers(place / "home", place / "other") == answers(place / "alone", place / "other")
