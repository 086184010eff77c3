"""A session: what it does first, what it reads, and what one query of the command line reads."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from codesearch import IndexNotFoundError, Policy, Scope
from codesearch.engine.answer import Freshness, State
from codesearch.engine.indexer import Pace
from codesearch.errors import ConfigError, IndexStoreError
from codesearch.store.catalogue import index_folder
from tests.conftest import settle, write_tree

SCRIPT = """
import sys
opened = []
sys.addaudithook(lambda event, arguments: opened.append(str(arguments[0])) if event == "open" else None)
from codesearch import settings
settings.RACY_NS = -(10**18)
from codesearch.cli.main import run
try:
    run(sys.argv[1:], ["query"])
except SystemExit as done:
    assert done.code == 0, done.code
print("OPENED", *opened, sep="\\n")
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "src", {".git/HEAD": "", "a.py": "def push():\n    pass\n"})


def test_one_query_opens_the_manifest_and_each_settings_file_once(root, home, tmp_path):
    write_tree(root, {".codesearch.toml": "hidden = false\n"})
    user = write_tree(tmp_path / "config", {"codesearch/config.toml": "hits = 3\n"})
    environment = {**os.environ, "XDG_CONFIG_HOME": str(user), "CODESEARCH_HOME": str(home)}
    command = [sys.executable, "-c", SCRIPT, "query", "push", "--auto-index"]
    subprocess.run(command, cwd=root, env=environment, check=True, capture_output=True)
    settle(root, home)
    done = subprocess.run(command, cwd=root, env=environment, check=True, capture_output=True, text=True)
    answer, _, opened = done.stdout.partition("OPENED\n")
    assert "push" in answer and not done.stderr
    settings = (user / "codesearch/config.toml", root / ".codesearch.toml")
    for file in (index_folder(home, root) / "manifest.json", *settings):
        assert Counter(opened.splitlines())[str(file)] == 1, file


def test_a_session_indexes_what_its_policy_allows(engine, root):
    with pytest.raises(IndexNotFoundError, match=f"nothing is indexed in {engine.home}"):
        (session := engine.session(Scope(here=root), Policy(may_index=False))).search("push")
    assert session.missing == [root]
    session = engine.session(Scope(here=root))
    assert [hit.name for hit in session.search("push").hits] == ["push"]
    assert [one.state for one in session.freshness] == [State.CURRENT]
    assert session.find("push")[0].line == 1


def test_a_project_with_several_places_is_indexed_once_and_is_one_index(engine, root):
    indexed = []
    policy = Policy(indexing=lambda wanted, index: (indexed.append(wanted), index()))
    session = engine.session(Scope(within=(root / "a.py", root / "other.py")), policy)
    assert (indexed, [entry.root for entry in session.entries]) == ([root], [str(root)])


def test_a_session_compares_as_its_policy_says(engine, root):
    engine.index(root)
    write_tree(root, {"b.py": "def pop():\n    pass\n"})
    behind = [State.BEHIND]
    for budget_s, states in ((None, []), (-1.0, behind), (0.0, behind), (60.0, [State.UPDATED])):
        session = engine.session(Scope(here=root), Policy(budget_s=budget_s))
        assert [one.state for one in session.freshness] == states
    assert {hit.name for hit in session.search("pop").hits} == {"pop", "push"}


def test_a_limit_of_characters_or_lines_replaces_the_usual_one(engine, root):
    methods = "".join(f"    def m{number}(self):\n        return {number}\n\n" for number in range(60))
    write_tree(root, {"long.py": f"class Long:\n{methods}"})
    session = engine.session(Scope(here=root))
    limits = ({}, {"most_chars": 100_000}, {"most_lines": 500})
    assert [session.read("Long", **one).places[0].folded > 0 for one in limits] == [True, False, False]


def test_a_session_answers_from_a_later_commit_too(engine, root):
    engine.index(root)
    session = engine.session(Scope(here=root))
    write_tree(root, {"b.py": "def pop():\n    pass\n"})
    engine.index(root, rebuild=True)
    assert {hit.name for hit in session.search("pop").hits} == {"pop", "push"}


def test_a_folder_of_several_that_cannot_be_indexed_is_in_the_answer(engine, root, tmp_path):
    bad = write_tree(tmp_path / "bad", {"a.py": "", ".codesearch.toml": "x = ["})
    session = engine.session(Scope(folders=(root, bad)))
    for _ in range(2):
        assert [hit.name for hit in session.search("push").hits] == ["push"]
    assert [(one.root, one.state) for one in session.freshness] == [
        (str(root), State.CURRENT),
        (str(bad), State.UNREADABLE),
    ]
    with pytest.raises(ConfigError, match="not valid TOML"), session.indexes(strict=True):
        pass


@pytest.mark.parametrize("state", [State.BEHIND, State.LOCKED, State.UNCHECKED])
def test_changed_functions_are_not_compared_with_an_index_that_may_lack_them(engine, root, state):
    engine.index(root)
    session = engine.session(Scope(here=root), Policy(budget_s=None))
    session.freshness = [Freshness(str(root), state)]
    with pytest.raises(IndexStoreError, match="may lack changes"):
        session.duplicates(changed="HEAD")


def test_a_saved_file_makes_the_next_search_compare():
    pace = Pace(every_s=10)
    assert [pace.is_due(now) for now in (0, 1)] == [True, False]
    pace.forget()
    assert pace.budget_s() is not None


MANY = "".join(f"def array{number}(a):\n    return a\n\n" for number in range(30))


@pytest.mark.usefixtures("never_merged")
def test_names_that_were_removed_take_no_place_of_others(engine, root):
    live = "def the_live_array_of_all(a):\n    return a\n"
    write_tree(root, {"many.py": MANY + live})
    engine.index(root)
    write_tree(root, {"many.py": live})
    engine.index(root)
    session = engine.session(Scope(roots=(root,)))
    assert [hit.name for hit in session.named("array")] == ["the_live_array_of_all"]
    assert session.usages("array").found.near == ("the_live_array_of_all",)
    with pytest.raises(IndexNotFoundError, match="did you mean the_live_array_of_all?"):
        session.read("array")


def test_names_outside_of_a_scope_take_no_place_of_those_inside(engine, root):
    write_tree(root, {"many.py": MANY, "lib/own.py": "def the_own_array(a):\n    return a\n"})
    engine.index(root)
    session = engine.session(Scope(within=(root / "lib",)))
    assert [hit.name for hit in session.named("array")] == ["the_own_array"]
