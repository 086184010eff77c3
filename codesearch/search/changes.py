"""Changed files of git work trees -> the files that a search is limited to.

Git runs offline, without hooks, and without any command from the configuration of a repository. It takes no locks.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from codesearch.errors import ConfigError
from codesearch.index.snapshot import Snapshot
from codesearch.processes import run_git
from codesearch.search.paths import path_filter, slashes
from codesearch.search.request import Filters

_TIMEOUT_S = 60
_KEPT_VARIABLES = {"GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_SYSTEM"}
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


@dataclass
class _WorkTree:
    """A work tree and the commit to compare it with; None compares with nothing, so all files are changed."""

    top: str
    root: str
    _disabled: dict[str, str] = field(default_factory=dict)
    base: str | None = None

    def changed(self) -> Iterator[str]:
        """Yield the absolute paths of changed and untracked files below the root."""
        below = os.path.relpath(self.root, self.top) if _is_below(self.root, self.top) else "."
        self._disabled = self._without_filters()
        if self.base is None:
            names = self.git("ls-files", "-z", "--cached", "--", below)
        else:
            names = self.git(*_DIFF, self.base, "--", below)
        names += self.git("ls-files", "-z", "--others", "--exclude-standard", "--", below)
        for name in names.split(b"\0"):
            if name:
                yield slashes(os.path.join(self.top, os.fsdecode(name)))

    def commit(self, revision: str) -> str | None:
        """Return the id of the commit that a revision names; None for HEAD of a repository without commits."""
        name = revision.removesuffix("...") or "HEAD"
        verify = ("rev-parse", "--verify", "--quiet", "--end-of-options")
        found = self.git(*verify, f"{name}^{{commit}}", codes=(0, 1, 128)).decode().strip()
        if not found:
            self.git("rev-parse", "--git-dir")  # Says what is wrong if the repository cannot be read at all.
            if name == "HEAD":
                return None
            hint = "give a branch, tag or commit; words of the query stand before --changed or after --changed=REV"
            raise ConfigError(f"no revision {name!r} in {self.top}: {hint}")
        if not revision.endswith("..."):
            return found
        base = self.git("merge-base", found, "HEAD", codes=(0, 1)).decode().strip()
        if not base:
            raise ConfigError(
                f"{name} and HEAD have no common commit in {self.top}: give {name} without the dots"
            )
        return base

    def git(self, *arguments: str, codes: Sequence[int] = (0,)) -> bytes:
        """Run git in the work tree and return its output.

        Raises:
            ConfigError: it ends with a code that is not in `codes`, or takes too long.
        """
        try:
            done = run_git(arguments, self.top, _environment(self.top, self._disabled), timeout_s=_TIMEOUT_S)
        except FileNotFoundError as error:
            cure = "install git or leave --changed out"
            raise ConfigError(f"{error}, and --changed needs it: {cure}") from None
        except TimeoutError as error:
            raise ConfigError(f"{error} in {self.top}: leave --changed out") from None
        if done.returncode not in codes:
            lines = os.fsdecode(done.stderr).strip().splitlines() or [f"git ended with {done.returncode}"]
            raise ConfigError(f"git failed in {self.top}: {lines[0].removeprefix('fatal: ')}")
        return done.stdout

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
        tree = trees[top] = _WorkTree(top, root)
        outer = next((trees[path] for path in map(str, Path(top).parents) if path in trees), None)
        recorded = outer and _recorded(outer, top)
        tree.base = tree.commit(revision) if recorded is None else recorded or None
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
    around = next((str(path) for path in (Path(root), *Path(root).parents) if _is_top(str(path))), None)
    passes = path_filter(filters, Path(root))
    files = (file.path for segment in snapshot.segments if segment.root == root for file in segment.files)
    folders: set[str] = set()
    for name in {path.rpartition("/")[0] for path in files if passes(path)}:
        while name and name not in folders:
            folders.add(name)
            name = name.rpartition("/")[0]
    below = [path for path in (os.path.join(root, *name.split("/")) for name in folders) if _is_top(path)]
    return sorted({*below, *([around] if around else [])}, key=lambda path: (len(Path(path).parts), path))


def _is_top(folder: str) -> bool:
    return os.path.lexists(os.path.join(folder, ".git"))


def _is_below(path: str, folder: str) -> bool:
    return Path(path).is_relative_to(folder)


def _environment(top: str, disabled: Mapping[str, str]) -> dict[str, str]:
    """Return variables for git: none that names another repository, no locks, no network and no questions."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or name in _KEPT_VARIABLES
    }
    own = {
        "GIT_ALLOW_PROTOCOL": "none",
        # A damaged `.git` is an error; git must not use the repository above instead.
        "GIT_CEILING_DIRECTORIES": os.path.dirname(top),
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
    }
    return {**kept, **own, **disabled}
