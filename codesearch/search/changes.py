"""Changed files of git work trees -> the files that a search is limited to."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from codesearch.errors import ConfigError
from codesearch.git import Repository, is_top, work_tree
from codesearch.index.snapshot import Snapshot
from codesearch.search.paths import path_filter, slashes
from codesearch.search.request import Filters

_DIFF = (
    *("diff", "--name-only", "-z", "--no-ext-diff", "--no-textconv", "--no-renames", "--no-relative"),
    *("--no-color", "--ignore-submodules=all"),
)


def changed_files(
    snapshot: Snapshot, filters: Filters, revision: str
) -> tuple[frozenset[str], dict[str, ConfigError]]:
    """Find the files in the searched roots that differ from a revision.

    Staged, unstaged and untracked files count, ignored files do not. A submodule is compared with the commit that the
    revision records for it.

    Args:
        snapshot: what is searched. Work trees without an indexed file that passes the filters are not asked.
        filters: which files may be hits.
        revision: anything that git takes for a commit; with "..." at the end, its merge base with HEAD.

    Returns:
        The absolute paths of the files, with slashes, and an error for each root that could not be compared.

    Raises:
        ConfigError: no root could be compared: git is missing or fails, they are in no work tree, or the revision is
            unknown.
    """
    found: set[str] = set()
    failed: dict[str, ConfigError] = {}
    roots = list(dict.fromkeys(map(str, snapshot.roots)))
    for root in roots:
        try:
            for tree in _work_trees(root, snapshot, filters, revision):
                found.update(tree.changed())
        except ConfigError as error:
            failed[root] = error
    if failed and len(failed) == len(roots):
        raise failed[roots[0]]
    return frozenset(found), failed


@dataclass(slots=True, kw_only=True)
class _WorkTree(Repository):
    """A work tree and the commit to compare it with; None compares with nothing, so all files are changed."""

    option: str = "--changed"
    root: str
    base: str | None = None

    def changed(self) -> Iterator[str]:
        """Yield the absolute paths of changed and untracked files below the root."""
        below = os.path.relpath(self.root, self.top) if _is_below(self.root, self.top) else "."
        self.variables = self._without_filters()
        if self.base is None:
            names = self.git("ls-files", "-z", "--cached", "--", below)
        else:
            names = self.git(*_DIFF, self.base, "--", below)
        names += self.git("ls-files", "-z", "--others", "--exclude-standard", "--", below)
        for name in names.split(b"\0"):
            if name:
                yield slashes(os.path.join(self.top, os.fsdecode(name)))

    def base_of(self, revision: str) -> str | None:
        """Return the commit to compare with; None for HEAD of a repository without commits."""
        name = revision.removesuffix("...") or "HEAD"
        found = self.commit(name)
        if not found or not revision.endswith("..."):
            return found
        base = self.git("merge-base", found, "HEAD", codes=(0, 1)).decode().strip()
        if not base:
            raise ConfigError(
                f"{name} and HEAD have no common commit in {self.top}: give {name} without the dots"
            )
        return base

    def _without_filters(self) -> dict[str, str]:
        """Return variables that turn off the commands with which a repository converts its files."""
        pattern = r"^filter\..*\.(clean|smudge|process|required)$"
        names = self.git("config", "-z", "--name-only", "--get-regexp", pattern, codes=(0, 1)).split(b"\0")
        keys = sorted({os.fsdecode(name) for name in names if name})
        variables = {"GIT_CONFIG_COUNT": str(len(keys))}
        for number, key in enumerate(keys):
            variables[f"GIT_CONFIG_KEY_{number}"] = key
            variables[f"GIT_CONFIG_VALUE_{number}"] = "false" if key.endswith(".required") else ""
        return variables


def _work_trees(root: str, snapshot: Snapshot, filters: Filters, revision: str) -> list[_WorkTree]:
    """Return the work trees around and below a root, outer ones first, each with its commit."""
    trees: dict[str, _WorkTree] = {}
    for top in _tops(root, snapshot, filters):
        tree = trees[top] = _WorkTree(top=top, root=root)
        outer = next((trees[path] for path in map(str, Path(top).parents) if path in trees), None)
        recorded = outer and _recorded(outer, top)
        tree.base = tree.base_of(revision) if recorded is None else recorded or None
    if not trees:
        raise ConfigError(f"{root} is in no git work tree: --changed compares files with a git revision")
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


def _is_below(path: str, folder: str) -> bool:
    return Path(path).is_relative_to(folder)
