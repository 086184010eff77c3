"""`codesearch adapt`: kept where it helps, shown by `status`, undone."""

from __future__ import annotations

import json
import random

import pytest

from codesearch.search import adapt as learning
from tests.command import Command
from tests.conftest import write_tree

WORDS = (
    "string int list stack item top queue file line slice send get request parse json text key sort".split()
)


def mannered(count: int) -> str:
    """Functions whose documentation says much that has nothing to do with them."""
    chance = random.Random(0)
    parts = []
    for number in range(count):
        said = chance.sample(WORDS, 5)
        prose = f"element priority element priority whole container {' '.join(said)}"
        parts.append(f'def f{number}(value):\n    """{prose}."""\n    return {"_".join(said)}(value)\n')
    return "\n\n".join(parts)


@pytest.fixture
def ask(tmp_path, tiny_bundle) -> Command:
    from codesearch.cli.index import update_index

    tree = write_tree(tmp_path / "tree", {"mannered.py": mannered(4000)})
    update_index(tree, tmp_path / "home", model=tiny_bundle, device="cpu")
    return Command(tmp_path, tmp_path / "home")


def test_a_projects_own_words_are_learned_shown_and_forgotten(ask):
    done = ask("adapt", "tree")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "learned from 3," in done.stdout and done.stdout.rstrip().endswith(": kept")
    (shown,) = json.loads(ask("status", "--json").stdout)
    learned = shown["adaptation"]
    assert learned["mrr_after"] >= learned["mrr_before"] + learning.MIN_GAIN
    assert "  adapted    held-out MRR " in ask("status").stdout
    assert ask("adapt", "tree", "--undo").stdout == "tree: adaptation removed\n"
    assert ask("adapt", "tree", "--undo").stdout == "tree: has no adaptation\n"
    assert "adaptation" not in json.loads(ask("status", "--json").stdout)[0]


def test_a_folder_that_is_not_indexed_or_hardly_documented_is_one_line(ask, tmp_path):
    done = ask("adapt", "elsewhere")
    assert (done.returncode, done.stderr) == (
        2,
        "error: elsewhere is not indexed: run `codesearch index elsewhere` first\n",
    )
