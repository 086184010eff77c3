"""The index of commits of a large repository -> `results/commits.json`, a table of docs/dev/bench-commands.md.

A clone without files stands at the first commit with 50,000 commits before it. `codesearch history` indexes these, then
those of 100 further merges or commits, and then answers with nothing to index.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.process import Usage, folder_mb, git, run_codesearch
from benchmarks.publish import DEV_DOCS, fill, line, record

_QUESTION = "why is the number of renames limited"
_NEW = 100


def main() -> None:
    """Measure the repository."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repository", type=Path, help="a git repository, bare or not")
    parser.add_argument("--commits", type=int, default=50_000, help="commits of the first index")
    parser.add_argument("--work", type=Path, default=Path("build/commits"), help="folder for clone and index")
    parser.add_argument("--rounds", type=int, default=5, help="answers, of which the median counts")
    options = parser.parse_args()
    found = measure(options.repository.resolve(), options.work.resolve(), options.commits, options.rounds)
    record("commits", found)
    fill(DEV_DOCS / "bench-commands.md", "commits", table(found))


def measure(repository: Path, work: Path, commits: int, rounds: int) -> dict[str, Any]:
    """Return the figures of one repository, which does not change."""
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    clone, home = work / "clone", work / "home"
    git(work, "clone", "-q", "--shared", "--no-checkout", repository, clone)
    line_of_merges = git(clone, "rev-list", "--reverse", "--first-parent", "HEAD").split()
    at = _first_with(clone, line_of_merges, commits)
    newer = min(at + _NEW, len(line_of_merges) - 1)
    first = _run(clone, home, line_of_merges[at])
    update = _run(clone, home, line_of_merges[newer])
    answers = [_run(clone, home, line_of_merges[newer]).wall_s for _ in range(rounds)]
    count = int(git(clone, "rev-list", "--count", line_of_merges[at]))
    return {
        "repository": repository.parent.name.replace("+", "/"),
        "commit": line_of_merges[at],
        "commits": count,
        "index_s": round(first.wall_s, 1),
        "index_cpu_s": round(first.cpu_s, 1),
        "index_mb": folder_mb(home),
        "new_commits": int(git(clone, "rev-list", "--count", line_of_merges[newer])) - count,
        "update_s": round(update.wall_s, 2),
        "answer_s": round(float(np.median(answers)), 2),
    }


def _first_with(clone: Path, line_of_merges: list[str], commits: int) -> int:
    """Return the position of the first commit that reaches so many commits."""
    low, high = 0, len(line_of_merges) - 1
    while low < high:
        middle = (low + high) // 2
        if int(git(clone, "rev-list", "--count", line_of_merges[middle])) < commits:
            low = middle + 1
        else:
            high = middle
    return low


def _run(clone: Path, home: Path, head: str) -> Usage:
    """Ask the question at a commit."""
    git(clone, "update-ref", "--no-deref", "HEAD", head)
    return run_codesearch(clone, home, "history", _QUESTION)


def table(found: dict[str, Any]) -> str:
    """Lay out the figures for the page."""
    rows = (
        (f"first `history`: {found['commits']:,} commits", f"{found['index_s']:.0f} s"),
        ("processor time of it", f"{found['index_cpu_s']:.0f} s"),
        ("size of the index", f"{found['index_mb']:.0f} MB"),
        (f"`history` with {found['new_commits']:,} new commits", f"{found['update_s']:.1f} s"),
        ("`history` without new commits", f"{found['answer_s']:.1f} s"),
    )
    return "\n".join([line(["", found["repository"]]), "|---|---|", *map(line, map(list, rows))])


if __name__ == "__main__":
    main()
