"""A second work tree and a revision of a repository -> `results/revisions.json`, a table of docs/dev/bench-commands.md.

Each REPOSITORY is cloned and indexed. A second work tree, with one more line in 1% of its files, is indexed twice: in
the home of the first, and in a new home for comparison. Then queries from the shell search the state of one year before
the newest commit.
"""

from __future__ import annotations

import argparse
import os
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.process import git, run_codesearch
from benchmarks.publish import DEV_DOCS, fill, line, record
from codesearch.store.catalogue import index_folder
from codesearch.store.manifest import read_manifest

_QUESTION = "retry after an error"
_EVERY = 100
"""One file of this many is changed in the second work tree."""


def main() -> None:
    """Measure each repository."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repositories", nargs="+", type=Path, help="git repositories; bare ones too")
    parser.add_argument(
        "--work", type=Path, default=Path("build/revisions"), help="folder for clones and indexes"
    )
    parser.add_argument("--rounds", type=int, default=5, help="repetitions, of which the median counts")
    options = parser.parse_args()
    rows = [measure(path.resolve(), options.work.resolve(), options.rounds) for path in options.repositories]
    record("revisions", rows)
    fill(DEV_DOCS / "bench-commands.md", "revisions", table(rows))


def measure(repository: Path, work: Path, rounds: int) -> dict[str, Any]:
    """Return the figures of one repository, which does not change."""
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    tree, second, first = work / "tree", work / "second", work / "first"
    git(work, "clone", "-q", repository, tree)
    git(tree, "worktree", "add", "-q", "--detach", second)
    index_s = run_codesearch(tree, first, "index", ".").wall_s
    manifest = read_manifest(index_folder(first, tree))
    changed = sorted(second.rglob(f"*{_suffix(second)}"))[::_EVERY]
    for path in changed:
        path.write_bytes(path.read_bytes() + b"\n")
    newest = int(git(tree, "log", "-1", "--format=%ct"))
    year_ago = git(tree, "rev-list", "-1", f"--before={newest - 365 * 86_400}", "HEAD")
    query = ("query", _QUESTION)
    times: dict[str, list[float]] = {}
    shares = []
    for number in range(rounds):
        home, alone = work / f"home-{number}", work / f"alone-{number}"
        shutil.copytree(first, home)
        before = _disk_mb(home)
        steps = {
            "second_s": run_codesearch(second, home, "index", ".").wall_s,
            "second_alone_s": run_codesearch(second, alone, "index", ".").wall_s,
            "query_s": run_codesearch(tree, home, *query).wall_s,
        }
        shares.append(_disk_mb(home) / before - 1)
        steps["revision_first_s"] = run_codesearch(tree, home, *query, "--at", year_ago).wall_s
        steps["revision_next_s"] = run_codesearch(tree, home, *query, "--at", year_ago).wall_s
        for name, seconds in steps.items():
            times.setdefault(name, []).append(seconds)
        shutil.rmtree(home)
        shutil.rmtree(alone)
    return {
        "repository": repository.parent.name.replace("+", "/"),
        "commit": git(tree, "rev-parse", "HEAD"),
        "revision": year_ago,
        "files": manifest.source_files,
        "documents": manifest.documents,
        "changed_files": len(changed),
        "index_s": index_s,
        "index_mb": round(_disk_mb(first), 1),
        "second_share_of_disk": round(float(np.median(shares)), 4),
        **{name: round(float(np.median(seconds)), 3) for name, seconds in times.items()},
    }


def _suffix(tree: Path) -> str:
    """Return the most frequent suffix of a tree's files."""
    suffixes = Counter(path.suffix for path in tree.rglob("*.*") if path.is_file())
    return suffixes.most_common(1)[0][0]


def _disk_mb(folder: Path) -> float:
    """Add up the disk space of the files below a folder; one that has several names counts once."""
    found = {(status.st_dev, status.st_ino): status.st_blocks for status in _statuses(folder)}
    return sum(found.values()) * 512 / 1e6


def _statuses(folder: Path) -> Iterator[os.stat_result]:
    return (path.lstat() for path in folder.rglob("*") if path.is_file())


def table(rows: list[dict[str, Any]]) -> str:
    """Lay out the medians for the page."""
    cells = (
        ("`index` of the first work tree", "index_s", "{:.1f} s"),
        ("`index` of the second, in a new home", "second_alone_s", "{:.1f} s"),
        ("`index` of the second, in the home of the first", "second_s", "{:.2f} s"),
        ("more disk space for the second", "second_share_of_disk", "{:.1%}"),
        ("first `query --at` of a revision", "revision_first_s", "{:.1f} s"),
        ("the next `query --at` of it", "revision_next_s", "{:.2f} s"),
        ("`query` without `--at`", "query_s", "{:.2f} s"),
    )
    head = [f"{row['repository']}: {row['files']:,} files, {row['documents']:,} documents" for row in rows]
    lines = [line([name, *(form.format(row[key]) for row in rows)]) for name, key, form in cells]
    return "\n".join([line(["", *head]), "|---" * (len(rows) + 1) + "|", *lines])


if __name__ == "__main__":
    main()
