"""After any history, a query, `index` and `status` know every change of a tree, its rules and its settings."""

import math
import os
import shutil
import subprocess
import tempfile
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from codesearch.build import stamps
from codesearch.build.plan import Stores
from codesearch.build.stamps import walk_in_force
from codesearch.config import IndexOptions
from codesearch.engine.answer import Changes
from codesearch.engine.engine import Engine
from codesearch.parsing.walker import WalkSummary, walk
from codesearch.store.catalogue import index_folder
from codesearch.store.digest import content_digest
from codesearch.store.manifest import Manifest, Tally, limited_counts, read_manifest

_TRUSTING = -(10**18)
FILES = st.sampled_from(
    ("a.py", "b.py", "tool", "sub/a.py", "sub/run", "sub/deep/c.py", "sub/deep/run", "d.md")
)
FOLDERS = st.sampled_from(("sub", "sub/deep", "other"))
TEXTS = st.sampled_from(
    (
        "",
        "#!/usr/bin/env python3\ndef a(): pass\n",
        "#!/usr/bin/env python3\ndef b(): pass\n",
        "#!/bin/nothing____here\ndef c(): pass\n",
        "# too large: " + "x" * 50,
    )
)
SECONDS = st.sampled_from((-(10**9), 0, 1_000_000_000, 4_000_000_000, 13_000_000_000))
RULES = st.sampled_from(("", "*.py\n", "sub/\n", "tool\n!a.py\n", "**/run\n!sub/run\n", None))
RULE_FILES = st.sampled_from((".gitignore", "sub/.gitignore", "sub/.codesearchignore", "../.gitignore"))
EXCLUDES = st.sampled_from((".git/info/exclude", "../.git/info/exclude", "../../.git/info/exclude"))
USER = st.sampled_from(
    ("", 'content = "all"\n', 'exclude = ["a.py"]\n', "follow_links = true\n", "ignore_files = false\n")
)
PROJECT = st.sampled_from(("", 'exclude = ["sub/deep"]\n', 'languages = ["go"]\n', None))
GIT = st.sampled_from(
    (
        "commit -qam x",
        "add -A",
        "checkout -qf HEAD~1",
        "checkout -qf main",
        "stash -q",
        "stash pop -q",
        "worktree add -q sub/tree",
        "worktree remove -f sub/tree",
        "clean -qfd",
    )
)


class Trees(RuleBasedStateMachine):
    """Changes of a tree and of what is around it, and questions about its index."""

    def __init__(self) -> None:
        super().__init__()
        self.patch = pytest.MonkeyPatch()
        self.place = Path(tempfile.mkdtemp()).resolve()
        self.root = self.place / "up/src"
        self.settings = self.place / "settings/codesearch/config.toml"
        for folder in (self.root / "sub/deep", self.root / "other", self.settings.parent):
            folder.mkdir(parents=True)
        self.patch.setenv("XDG_CONFIG_HOME", str(self.place / "settings"))
        self.patch.setattr(stamps, "RACY_NS", _TRUSTING)
        self.engine = Engine(self.place / "home", device="cpu")

    def teardown(self) -> None:
        self.ask_index()
        self.engine.close()
        self.patch.undo()
        shutil.rmtree(self.place)

    @initialize(
        racy_ns=st.sampled_from((_TRUSTING, _TRUSTING, 0, 2_000_000_000)), is_repository=st.booleans()
    )
    def start(self, racy_ns, is_repository) -> None:
        self.patch.setattr(stamps, "RACY_NS", racy_ns)
        if is_repository:
            self.git("init -q -b main")
        self.write("a.py", "def a(): pass\n", keep_time=False)
        self.write("sub/run", "#!/usr/bin/env python3\ndef b(): pass\n", keep_time=False)
        self.git("add -A")
        self.git("commit -qm x")
        self.ask_index()

    def path(self, name: str) -> Path:
        """Return a path that can be written; folders on the way are made."""
        path = self.root / name
        for folder in reversed(path.relative_to(self.place).parents):
            if not (self.place / folder).is_dir():
                (self.place / folder).unlink(missing_ok=True)
                (self.place / folder).mkdir()
        return path

    def free(self, name: str) -> Path:
        """Return a path where nothing is."""
        path = self.path(name)
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        path.unlink(missing_ok=True)
        return path

    @rule(name=FILES, text=TEXTS, keep_time=st.booleans())
    def write(self, name, text, keep_time) -> None:
        path = self.path(name)
        if not path.is_file():
            self.free(name)
        seen = path.stat() if path.exists() else None
        path.write_text(text)
        if seen and keep_time:
            os.utime(path, ns=(seen.st_atime_ns, seen.st_mtime_ns))

    @rule(name=FILES | FOLDERS)
    def delete(self, name) -> None:
        self.free(name)

    @rule(one=FILES | FOLDERS, two=FILES | FOLDERS)
    def exchange(self, one, two) -> None:
        first, second, other = self.path(one), self.path(two), self.place / "exchanged"
        if first not in (second, *second.parents) and second not in first.parents:
            for source, target in ((first, other), (second, first), (other, second)):
                if source.exists() or source.is_symlink():
                    source.rename(target)

    @rule(one=FILES, two=FILES)
    def link(self, one, two) -> None:
        source = self.path(one)
        if one != two and source.is_file():
            os.link(source, self.free(two))

    @rule(leads_to=FILES | FOLDERS, name=FILES)
    def symlink(self, leads_to, name) -> None:
        self.free(name).symlink_to(self.root / leads_to)

    @rule(name=FILES | FOLDERS, mode=st.sampled_from((0o644, 0o755, 0o700)))
    def change_mode(self, name, mode) -> None:
        if (self.root / name).exists():
            (self.root / name).chmod(mode | 0o100 if (self.root / name).is_dir() else mode)

    @rule(name=FILES | FOLDERS)
    def change_owner(self, name) -> None:
        if os.geteuid() == 0 and (self.root / name).exists():
            os.chown(self.root / name, 1, 1)

    @rule(name=FILES | FOLDERS, seconds=SECONDS)
    def change_time(self, name, seconds) -> None:
        if (self.root / name).exists():
            os.utime(self.root / name, (seconds, seconds))

    @rule(name=RULE_FILES | EXCLUDES, text=RULES)
    def change_rules(self, name, text) -> None:
        path = self.root / name
        if path.parent.is_dir() and text is not None:
            path.write_text(text)
        elif path.parent.is_dir():
            path.unlink(missing_ok=True)

    @rule(above=st.sampled_from(("..", "../..")))
    def start_or_end_a_repository_above(self, above) -> None:
        folder = self.root / above / ".git"
        shutil.rmtree(folder) if folder.exists() else (folder / "info").mkdir(parents=True)

    @rule(text=USER)
    def change_settings_of_the_user(self, text) -> None:
        self.settings.write_text(text)

    @rule(text=PROJECT)
    def change_settings_of_the_project(self, text) -> None:
        if text is None:
            (self.root / ".codesearch.toml").unlink(missing_ok=True)
        else:
            (self.root / ".codesearch.toml").write_text(text)

    @rule()
    def put_a_copy_in_the_place_of_the_folder_above(self) -> None:
        (self.place / "up").rename(self.place / "old")
        shutil.copytree(self.place / "old", self.place / "up", symlinks=True)
        shutil.rmtree(self.place / "old")

    @rule(arguments=GIT)
    def git(self, arguments) -> None:
        name = ("-c", "user.name=n", "-c", "user.email=e@localhost", "-c", "core.hooksPath=/dev/null")
        subprocess.run(
            ["git", *name, *arguments.split()],
            cwd=self.root,
            check=False,
            capture_output=True,
            env={**os.environ, "GIT_CEILING_DIRECTORIES": str(self.root.parent)},
        )
        self.path("sub/deep/x")

    @rule()
    def ask_status(self) -> None:
        manifest = read_manifest(index_folder(self.place / "home", self.root))
        before, (_, now) = self.live(manifest), self.walked(manifest)
        changed = sum(before.get(path) != digest for path, digest in now.items())
        (status,) = self.engine.status(self.root, changes=True)
        assert status.changes == Changes(changed, len(before.keys() - now.keys()))

    @rule()
    def ask_query(self) -> None:
        self.engine.refresh(self.root, budget_s=math.inf)
        manifest = read_manifest(index_folder(self.place / "home", self.root))
        assert self.live(manifest) == self.walked(manifest)[1]
        self.wait_for_a_tick()

    @rule()
    def ask_index(self) -> None:
        manifest = self.engine.index(self.root, IndexOptions(max_file_bytes=50)).manifest
        report, files = self.walked(manifest)
        assert self.live(manifest) == files
        assert manifest.walked == report
        self.wait_for_a_tick()

    def walked(self, manifest: Manifest) -> tuple[Tally, dict[str, bytes]]:
        """Return what a walk finds now with the settings in force."""
        report = WalkSummary()
        config, _ = walk_in_force(self.root, manifest, IndexOptions())
        files = [file.path for file in walk(self.root, config, report)]
        counts = limited_counts(report.skipped), limited_counts(report.folders)
        tally = Tally(*counts, report.warnings, report.vendored)
        return tally, {path: content_digest((self.root / path).read_bytes()) for path in files}

    def live(self, manifest: Manifest) -> dict[str, bytes]:
        """Return what the index has."""
        with closing(Stores(index_folder(self.place / "home", self.root), manifest)) as stores:
            known = stores.files()
        return {path: live.record.digest for path, live in known.items()}

    def wait_for_a_tick(self) -> None:
        """Wait until a new change gets a new time stamp, because these tests trust recent ones."""
        probe = self.place / "probe"
        probe.write_text("")
        first = probe.stat().st_ctime_ns
        while probe.stat().st_ctime_ns == first:
            probe.chmod(0o600)


class TestSomeHistoriesAreKnown(Trees.TestCase):
    settings = settings(max_examples=10, stateful_step_count=20, phases=[Phase.generate])


@pytest.mark.thorough
class TestAnyHistoryIsKnown(Trees.TestCase):
    settings = settings(derandomize=False, max_examples=100, stateful_step_count=50, phases=[Phase.generate])
