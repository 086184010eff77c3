"""Suite commits on one small repository."""

import json
import shutil

import pytest

from benchmarks.suites import commits
from codesearch.errors import ConfigError
from codesearch.evaluation.judge import BenchOptions
from tests.conftest import write_tree
from tests.git import git, repository

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
MESSAGES = (
    "feed: limit the grain\n\nA hungry pigeon must not empty the loft. It is fed again at night.",
    "gate: shut it\n\nHawks come after dusk.\n\nThey are hungry.",
    "docs\n\n- a list of things that changed",
    "open the loft\n\nOpen the loft.",
    "one\n\nThis sentence stands in two messages.",
    "two\n\nThis sentence stands in two messages.",
    "robot\n\nThis sentence was written by a machine.",
)


@pytest.fixture
def options(tmp_path, home, tiny_bundle):
    root = repository(tmp_path / "data/clones/loft", {"loft.py": "def feed(pigeon):\n    return pigeon\n"})
    for message in MESSAGES:
        write_tree(root, {f"{message.split()[0].strip(':')}.py": f"x = {message!r}\n"})
        git(root, "add", ".")
        author = "helper[bot] <a@b.c>" if message.startswith("robot") else "a <a@b.c>"
        git(root, "commit", "-q", f"--author={author}", "-m", message)
    log = git(root, "log", "--format=%h %s")
    feed = next(line.split()[0] for line in log.splitlines() if "feed" in line)
    (tmp_path / "data/tasks.jsonl").write_text(json.dumps({"tree": "loft@c0ffee", "commit": feed}) + "\n")
    return BenchOptions(home=home, data=tmp_path / "data", model=tiny_bundle, device="cpu")


def test_first_sentences_are_asked_and_are_not_in_the_index(options, monkeypatch):
    indexed = []
    table_at_head = commits.table_at_head

    def spied(history, cut=None):
        indexed.extend((cut or {}).values())
        return table_at_head(history, cut=cut)

    monkeypatch.setattr(commits, "table_at_head", spied)
    result = commits.run(options.data, options)
    assert (
        sorted(result.queries.values())
        == sorted(indexed)
        == ["A hungry pigeon must not empty the loft.", "Hawks come after dusk."]
    )
    scores = {group: found for (group, _), found in result.systems["default"].queries.items()}
    assert scores.keys() == {"changed functions", "any commit"}
    # Only "loft", in the path of another commit, and nothing of the sentence about hawks is left.
    assert scores["any commit"]["recall_at_10"] == 0.0
    assert result.details["repositories"] == {"loft": {"commits": 8, "questions": 2}}


def test_clones_are_needed(options):
    shutil.rmtree(options.data / "clones/loft")
    with pytest.raises(ConfigError, match="loft does not exist: clone each repository"):
        commits.run(options.data, options)
