"""Questions for the start page, taken from documentation."""

from __future__ import annotations

from pathlib import Path

import pytest

from codesearch import Engine, Scope
from codesearch.engine.session import AS_INDEXED
from codesearch.search.examples import example_questions
from tests.conftest import write_tree

DOCUMENTED = 'def {name}():\n    """{docs}"""\n    return 1\n'
LONG = "Remove old sessions from the store.\n\n    They are kept for a day, and longer if somebody uses them."


def examples(engine: Engine, root: Path, count: int = 3) -> list[str]:
    with engine.session(Scope((root,)), AS_INDEXED).indexes() as (index,):
        return example_questions(index, count)


@pytest.mark.parametrize(
    ("docs", "question"),
    [
        ("Copy a directory tree.", "copy a directory tree"),
        ("Copy a tree\n    of directories. Links stay.", "copy a tree of directories"),
        ("run copies a directory tree", "copies a directory tree"),
        ("Copy `a` to *b*.", ""),
        ("Copy it.", ""),
        ("It copies a directory tree.", ""),
        ("Copy a tree with everything in it and all of its links.", ""),
        ("Copy a tree: all of it.", ""),
    ],
)
def test_a_question_is_a_plain_short_first_sentence(engine, tmp_path, docs, question):
    root = write_tree(tmp_path / "src", {"a.py": DOCUMENTED.format(name="run", docs=docs)})
    engine.index(root)
    assert examples(engine, root) == ([question] if question else [])


def test_questions_come_from_different_files_longest_documentation_first_and_not_from_tests(engine, tmp_path):
    two = DOCUMENTED.format(name="one", docs="Copy a directory tree.") + DOCUMENTED.format(
        name="two", docs="Copy a file with its permissions."
    )
    root = write_tree(
        tmp_path / "src",
        {
            "a.py": two,
            "b.py": DOCUMENTED.format(name="remove", docs=LONG),
            "c.py": DOCUMENTED.format(name="copy", docs="Copy a file with its permissions."),
            "tests/test_d.py": DOCUMENTED.format(name="test_d", docs="Check that the sessions are removed."),
        },
    )
    engine.index(root)
    expected = ["remove old sessions from the store", "copy a file with its permissions"]
    assert examples(engine, root) == expected
    assert examples(engine, root, 1) == expected[:1]
    (root / "b.py").unlink()
    engine.index(root)
    assert examples(engine, root) == expected[1:]
