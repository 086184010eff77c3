"""Changed files of git work trees -> the files that a search is limited to."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from codesearch.errors import ConfigError
from codesearch.git import Repository, is_top, work_tree
from codesearch.search.filters import path_filter, slashes
from codesearch.search.request import Filters
from codesearch.store.snapshot import Snapshot

_DIFF = (
    *("--no-ext-diff", "--no-textconv", "--no-renames", "--no-relative", "--no-color"),
    "--ignore-submodules=all",
)
_PATCH = ("diff", "--patch", "--unified=0", "--inter-hunk-context=0", *_DIFF)
_HUNK = re.compile(rb"^@@ -\S+ \+(\d+)(?:,(\d+))? @@", re.MULTILINE)
_NO_LINES = re.compile(rb"^Binary files .* differ$", re.MULTILINE)
Lines = tuple[int, int]
"""The first and the last line. If lines were only deleted, the last line is the one before them and one less."""


def changed_lines(
    snapshot: Snapshot, filters: Filters, revision: str, *, with_lines: bool = True
) -> tuple[dict[str, list[Lines] | None], dict[str, ConfigError]]:
    """Find the files and lines in the searched roots that differ from a revision.

    Staged, unstaged and untracked files count, ignored files do not. A submodule is compared with the commit that the
    revision records for it.

    Returns:
        The absolute path of each file, with slashes -> its changed lines as they are now, or None for all lines and if
        `with_lines` is not set; and an error for each root, or work tree below it, that could not be compared.
    """
    changed: dict[str, list[Lines] | None] = {}
    failed: dict[str, ConfigError] = {}
    compared = 0
    for root in dict.fromkeys(map(str, snapshot.roots)):
        try:
            for tree in _work_trees(root, snapshot, filters, revision, failed):
                try:
                    changed.update(tree.changed(with_lines=with_lines))
                    compared += 1
                except ConfigError as error:
                    failed[tree.top] = error
        except ConfigError as error:
            failed[root] = error
    if failed and not compared:
        raise next(iter(failed.values()))
    return changed, failed


@dataclass(slots=True, kw_only=True)
class _WorkTree(Repository):
    """A work tree and the commit to compare it with; None compares with nothing, so all files are changed."""

    option: str = "--changed"
    root: str
    base: str | None = None

    def changed(self, *, with_lines: bool) -> dict[str, list[Lines] | None]:
        """Return the absolute paths of changed and untracked files below the root -> changed lines, None for all."""
        self.variables = self._without_filters()
        against = ("diff", "--name-only", *_DIFF, self.base) if self.base else ("ls-files", "--cached")
        differing = self.git(*against, "-z", "--", self._below).split(b"\0")[:-1]
        others = self.git("ls-files", "-z", "--others", "--exclude-standard", "--", self._below)
        names = differing + others.split(b"\0")[:-1]
        found: dict[str, list[Lines] | None] = dict.fromkeys(map(self._absolute, names))
        if with_lines and self.base is not None:
            patch = self.git(*_PATCH, self.base, "--", self._below)
            # Every line of a file has a mark before it.
            files = patch.split(b"\ndiff --git ") if patch else []
            if len(files) == len(differing):  # Otherwise something changed meanwhile.
                hunks = (_changed_in(file) for file in files)
                found.update(zip(map(self._absolute, differing), hunks, strict=True))
        return found | dict.fromkeys(map(self._absolute, self._unseen()))

    def _unseen(self) -> list[bytes]:
        """Return the files that git ignores by a mark in its index, if they differ from the base."""
        listed = self.git("ls-files", "-v", "-z", "--", self._below).split(b"\0")[:-1]
        # Lower case means "assume unchanged", S "skip work tree".
        names = [entry[2:] for entry in listed if entry[:1].islower() or entry[:1] == b"S"]
        names = [name for name in names if os.path.isfile(os.path.join(self.top, os.fsdecode(name)))]
        if not names or self.base is None or b"\n" in b"".join(names):
            return names
        paths = b"".join(os.fsencode(self.top) + b"/" + name + b"\n" for name in names)
        now = self.git("hash-object", "--no-filters", "--stdin-paths", stdin=paths)
        listed = self.git("ls-tree", "-r", "-z", "--full-tree", self.base).split(b"\0")[:-1]
        known = {name: about for about, _, name in (entry.partition(b"\t") for entry in listed)}
        pairs = zip(names, now.split(), strict=True)
        return [name for name, blob in pairs if blob not in known.get(name, b"").split()]

    @property
    def _below(self) -> str:
        return os.path.relpath(self.root, self.top) if Path(self.root).is_relative_to(self.top) else "."

    def _absolute(self, name: bytes) -> str:
        return slashes(os.path.join(self.top, os.fsdecode(name)))

    def base_of(self, revision: str) -> str | None:
        """Return the commit to compare with; None for HEAD of a repository without commits."""
        name = revision.removesuffix("...") or "HEAD"
        found = self.commit(name)
        if not found or not revision.endswith("..."):
            return found
        base = self.git("merge-base", found, "HEAD", codes=(0, 1)).decode().strip()
        if not base:
            raise ConfigError(
                f"{name} and HEAD have no common commit in {self.top}", f"give {name} without the dots"
            )
        return base

    def _without_filters(self) -> dict[str, str]:
        """Return variables that turn off the commands with which a repository converts its files, and its patterns."""
        pattern = r"^(filter\..*\.(clean|smudge|process|required)|diff\..*\.x?funcname)$"
        names = self.git("config", "-z", "--name-only", "--get-regexp", pattern, codes=(0, 1)).split(b"\0")
        keys = sorted({os.fsdecode(name) for name in names if name})
        # The configuration may name another folder.
        variables = {"GIT_WORK_TREE": self.top, "GIT_CONFIG_COUNT": str(len(keys))}
        for number, key in enumerate(keys):
            variables[f"GIT_CONFIG_KEY_{number}"] = key
            value = "false" if key.endswith(".required") else "^$" if key.endswith("funcname") else ""
            variables[f"GIT_CONFIG_VALUE_{number}"] = value
        return variables


def _work_trees(
    root: str, snapshot: Snapshot, filters: Filters, revision: str, failed: dict[str, ConfigError]
) -> list[_WorkTree]:
    """Return the work trees around and below a root, outer ones first, each with its commit.

    `failed` gets the errors of those that git cannot read.
    """
    trees: dict[str, _WorkTree] = {}
    for top in _tops(root, snapshot, filters):
        tree = _WorkTree(top=top, root=root)
        outer = next((trees[path] for path in map(str, Path(top).parents) if path in trees), None)
        try:
            recorded = outer and _recorded(outer, top)
            tree.base = tree.base_of(revision) if recorded is None else recorded or None
            trees[top] = tree
        except ConfigError as error:
            failed[top] = error
    if not trees and not failed:
        raise ConfigError(f"{root} is in no git work tree", "--changed compares files with a git revision")
    return list(trees.values())


def _recorded(outer: _WorkTree, top: str) -> str | None:
    """Return the commit of a submodule at the base of the outer work tree.

    "" means that the submodule is new, None that the folder is no submodule.
    """
    path = os.path.relpath(top, outer.top)
    known = outer.git("ls-tree", "-z", outer.base, "--", path) if outer.base else b""
    if known.startswith(b"160000 "):
        return known.split()[2].decode()
    staged = outer.git("ls-files", "-z", "--stage", "--", path)
    return "" if staged.startswith(b"160000 ") else None


def _tops(root: str, snapshot: Snapshot, filters: Filters) -> list[str]:
    """Return the top folders of work trees around a root and around its files that pass, outer ones first."""
    around = work_tree(Path(root))
    passes = path_filter(filters, Path(root))
    files = (file.path for segment in snapshot.segments if segment.root == root for file in segment.files)
    folders: set[str] = set()
    for name in {path.rpartition("/")[0] for path in files if passes(path)}:
        while name and name not in folders:
            folders.add(name)
            name = name.rpartition("/")[0]
    below = [path for path in (os.path.join(root, *name.split("/")) for name in folders) if is_top(path)]
    return sorted({*below, *([around] if around else [])}, key=lambda path: (len(Path(path).parts), path))


def _changed_in(file: bytes) -> list[Lines] | None:
    """Return the changed lines of a file in a patch; None for all, if git treats it as binary."""
    if _NO_LINES.search(file):
        return None
    hunks = ((int(hunk[1]), int(hunk[2] or 1)) for hunk in _HUNK.finditer(file))
    return [(first, first + count - 1) if count else (first + 1, first) for first, count in hunks]
