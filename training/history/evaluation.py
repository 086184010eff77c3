"""The repositories of evaluation sets, which are never mined: by name, and by the commits that they share.

`excluded.txt` names those of benchmarks whose files are not at hand. The folder of evaluation sets is that of
`training.corpus.decontaminate`, with `semble/repos.json` and `histories/tasks.jsonl` in addition.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from codesearch.evaluation.jsonl import read_jsonl
from training.history.repository import Repository

_COMMIT = re.compile(r"github\.com/[^/\s]+/[^/\s]+/blob/([0-9a-f]{40})/")


@dataclass(frozen=True, slots=True)
class Evaluated:
    """What evaluation sets consist of.

    Attributes:
        names: lower-case last parts of the names of repositories.
        commits: ids, or their beginnings.
    """

    names: frozenset[str]
    commits: tuple[str, ...]

    def has(self, repository: Repository) -> bool:
        """Say whether a repository is one of an evaluation set, a fork or a copy of one."""
        name = repository.name.lower().rpartition("/")[2]
        return name in self.names or repository.has_any(self.commits)


def read_evaluated(folder: Path | None) -> Evaluated:
    """Collect names and commits; without a folder, only the names of `excluded.txt`."""
    text = resources.files("training.history").joinpath("excluded.txt").read_text("utf-8")
    names = {line.lower().rpartition("/")[2] for line in text.splitlines() if not line.startswith("#")}
    commits: set[str] = set()
    for name, commit in _places(folder) if folder else ():
        names.add(name.lower())
        commits.add(commit)
    return Evaluated(frozenset(names - {""}), tuple(sorted(commits)))


def _places(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the name of a repository, "" if that is known elsewhere, and a commit of it."""
    if (path := folder / "semble/repos.json").exists():
        for row in json.loads(path.read_text("utf-8")):
            yield row["url"].rpartition("/")[2].removesuffix(".git"), row["revision"]
    if (path := folder / "histories/tasks.jsonl").exists():
        for _, row in read_jsonl(path):
            name, _, tree = row["tree"].partition("@")
            yield name, tree
            yield name, row["commit"]
    if (path := folder / "csn99/sources.jsonl.zst").exists():
        for _, row in read_jsonl(path):
            yield "", row["sha"]
    if (path := folder / "csn_urls/advtest_dev.txt").exists():
        for commit in _COMMIT.findall(path.read_text("utf-8")):
            yield "", commit
