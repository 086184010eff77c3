"""What a power cut leaves of an update: what was not synced is old, new, missing or torn, in any order.

The steps of an update (a file is synced, a name is made, renamed or deleted) are a journal: the home before each of
them. A crash is one of these moments. The content of a path that was last synced is certain, each later one possible,
and so are parts and zeros of what was never synced. The index then has the answers of the old or the new commit.
"""

from __future__ import annotations

import os
import random
import shutil
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from codesearch.engine.engine import Engine
from codesearch.engine.scope import Scope
from codesearch.errors import IndexStoreError
from tests.conftest import TINY_REPO, write_tree

pytestmark = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="reads /proc")
QUERIES = ("int to string", "brand new", "read all lines", "sort strings")
Answers = list[list[tuple[str, str]]]
Home = dict[str, bytes]
"""Path below a home -> content."""


def read_home(home: Path) -> Home:
    paths = [path for path in home.rglob("*") if path.is_file()]
    return {str(path.relative_to(home)): path.read_bytes() for path in paths}


@dataclass
class Journal:
    """The home before each step of an update.

    Attributes:
        states: the home at each moment.
        certain: what is on the disk for sure at each moment.
        contents: the contents that were synced.
        names: what the folders that were synced have.
        folders: the folders whose own names were synced.
    """

    home: Path
    states: list[Home] = field(default_factory=list)
    certain: list[Home] = field(default_factory=list)
    contents: set[bytes] = field(default_factory=set)
    names: Home = field(default_factory=dict)
    folders: set[Path] = field(default_factory=set)

    def step(self, synced: Path | None = None) -> None:
        """Note the home now, after a file or a folder was synced."""
        now = read_home(self.home)
        if synced and synced.is_dir():
            self.folders.update(path for path in synced.iterdir() if path.is_dir())
            here = [path for path in {*now, *self.names} if (self.home / path).parent == synced]
            self.names = {path: content for path, content in self.names.items() if path not in here}
            self.names |= {path: now[path] for path in here if now.get(path) in self.contents}
        elif synced:
            self.contents.add(synced.read_bytes())
        self.states.append(now)
        self.certain.append({path: content for path, content in self.names.items() if self.is_named(path)})

    def is_named(self, path: str) -> bool:
        """Say whether the names of all folders around a file are on the disk."""
        around = (self.home / path).parents
        return all(folder in self.folders for folder in around if self.home in folder.parents)

    def crash(self, chance: random.Random) -> Home:
        """Return what may be on the disk after a crash at some moment."""
        moment = chance.randrange(len(self.states))
        home: Home = {}
        for path in sorted({path for state in self.states[: moment + 1] for path in state}):
            sure = self.certain[moment].get(path)
            versions = [state.get(path) for state in self.states[: moment + 1]]
            last = max((at for at, content in enumerate(versions) if content == sure), default=0)
            content = chance.choice(versions[last:])
            if content and content != sure and content not in self.contents:
                size = chance.choice((len(content), chance.randrange(len(content)), 0))
                content = chance.choice((content[:size], content[:size] + bytes(len(content) - size)))
            if content is not None:
                home[path] = content
        return home


@pytest.fixture
def journal(tmp_path, tiny_bundle, monkeypatch):
    """Return the journal of an update that merges segments, and the answers before and after it."""
    home, tree = tmp_path / "home", write_tree(tmp_path / "tree", TINY_REPO)
    update(home, tiny_bundle, tree)
    write_tree(tree, {"python/new.py": "def brand_new():\n    '''Brand new.'''\n    return 1\n"})
    (tree / "go/reader.go").unlink()
    old = answers(home, tiny_bundle, tree)  # A hit whose file is gone is not shown.
    before, sync = read_home(home), os.fsync
    journal = Journal(home, contents=set(before.values()), names=before)
    journal.folders.update(path for path in home.rglob("*") if path.is_dir())

    def synced(descriptor: int) -> None:
        sync(descriptor)
        journal.step(Path(f"/proc/self/fd/{descriptor}").resolve())

    monkeypatch.setattr(os, "fsync", synced)
    for name in ("replace", "unlink", "rmdir", "mkdir"):
        original = getattr(os, name)

        def stepped(*args, original=original, **options):
            journal.step()
            return original(*args, **options)

        monkeypatch.setattr(os, name, stepped)
    update(home, tiny_bundle, tree)
    journal.step()
    monkeypatch.undo()
    return journal, tree, old, answers(home, tiny_bundle, tree)


def update(home: Path, bundle: Path, tree: Path, *, rebuild: bool = False) -> None:
    with Engine(home, model=bundle) as engine:
        engine.index(tree, rebuild=rebuild, optimize=True)


def answers(home: Path, bundle: Path, tree: Path) -> Answers:
    with Engine(home, model=bundle) as engine:
        found = [engine.search(query, Scope((tree,)), refresh=False).hits for query in QUERIES]
    return [[(hit.path, hit.name) for hit in hits] for hits in found]


def check_crashes(made, bundle: Path, folder: Path, cases: int) -> None:
    journal, tree, old, new = made
    assert old != new
    assert len(journal.states) > 20
    seen = set()
    for case in range(cases):
        home = folder / "crashed"
        shutil.rmtree(home, ignore_errors=True)
        for path, content in journal.crash(random.Random(case)).items():
            (home / path).parent.mkdir(parents=True, exist_ok=True)
            (home / path).write_bytes(content)
        try:
            found = answers(home, bundle, tree)
            assert found in (old, new), case
            seen.add("old" if found == old else "new")
            update(home, bundle, tree)
        except IndexStoreError as error:
            assert "index --rebuild" in str(error), (case, error)
            seen.add("rebuild")
            update(home, bundle, tree, rebuild=True)
        assert answers(home, bundle, tree) == new, case
    assert seen == {"old", "new"}  # Nothing that an update syncs is lost.


def test_what_a_power_cut_leaves_is_the_old_or_the_new_index(journal, tiny_bundle, tmp_path):
    check_crashes(journal, tiny_bundle, tmp_path, 12)


@pytest.mark.thorough
def test_all_that_a_power_cut_may_leave_is_the_old_or_the_new_index(journal, tiny_bundle, tmp_path):
    check_crashes(journal, tiny_bundle, tmp_path, 300)
