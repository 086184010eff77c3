"""This checkout, earlier ones and semble in turn -> `results/in_turn.json`, a table of docs/dev/speed.md.

python -m benchmarks.in_turn TREE... --checkouts FOLDER...

In each round, every system indexes a copy of each tree, then again after a function was appended to one file, and
answers ten queries five times in one process. The figures are medians of user CPU time, which other programs on the
machine change less than time on the clock.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np

from benchmarks.peers import PEERS, QUERIES, Command, Paths, System, installed, ours
from benchmarks.process import INSTALLED, folder_mb, git
from benchmarks.publish import DEV_DOCS, fill, line, record

_QUERIES = (*QUERIES, "remove a folder", "retry a request")
_BY_CPU = (
    "import runpy, sys, time; time.perf_counter = time.process_time; del sys.argv[0];"
    "runpy.{}(sys.argv[0], run_name='__main__')"
)
_COLUMNS = {
    "index_s": "first index, s",
    "changed_s": "one changed file, s",
    "query_ms": "query, ms",
    "mb": "index, MB",
}


def main() -> None:
    """Measure all systems with all trees."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("trees", nargs="+", type=Path, help="folders of sources")
    parser.add_argument("--checkouts", nargs="*", type=Path, default=[], help="folders with earlier commits")
    parser.add_argument("--peers", type=Path, default=Path("build/peers"), help="folder for environments")
    parser.add_argument(
        "--work", type=Path, default=Path("build/in_turn"), help="folder for copies and indexes"
    )
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    checkouts = [Path(__file__).parents[1], *(path.resolve() for path in options.checkouts)]
    semble = PEERS[0]
    environment = options.peers.resolve() / "semble"
    if reason := installed(semble, environment):
        sys.exit(reason)
    figures: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for number in range(options.rounds):
        for tree in options.trees:
            copy = options.work.resolve() / tree.name
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(tree, copy, symlinks=True)
            for system, checkout in [*((ours(), path) for path in checkouts), (semble, None)]:
                name = git(checkout, "rev-parse", "--short=8", "HEAD") if checkout else system.name
                paths = Paths(copy, options.work.resolve() / f"{name}-{tree.name}", environment)
                for key, value in _round(system, checkout, paths, number).items():
                    figures[tree.name, name][key].append(value)
        rows = [
            {
                "tree": tree,
                "system": name,
                **{key: round(float(np.median(of)), 3) for key, of in values.items()},
            }
            for (tree, name), values in figures.items()
        ]
        record(
            "in_turn", {"rounds": number + 1, "rows": rows}, flat=True
        )  # After each round, which takes minutes.
        fill(DEV_DOCS / "speed.md", "in_turn", table(rows))


def _round(system: System, checkout: Path | None, paths: Paths, number: int) -> dict[str, float]:
    """Return the figures of one round of one system."""
    shutil.rmtree(paths.store, ignore_errors=True)
    paths.store.mkdir(parents=True)
    assert system.index and system.warm
    variables = (
        {"PYTHONPATH": str(checkout)} if checkout else {"HF_HUB_OFFLINE": "1", **system.variables(paths)}
    )
    index_s = _user_s(system.index(paths), variables)[0]
    mb = folder_mb(paths.store)
    sources = sorted(path for path in paths.root.rglob("*") if path.suffix in (".py", ".cpp"))
    with sources[number * 7 % len(sources)].open("a") as file:
        file.write(
            f"\n// appended in round {number}\n" if file.name.endswith("cpp") else f"\nNUMBER = {number}\n"
        )
    changed_s = _user_s(system.index(paths), variables)[0]
    python, *driver = system.warm(paths)
    kind, driver = ("run_module", driver[1:]) if checkout else ("run_path", driver)
    warm: Command = [python, "-c", _BY_CPU.format(kind), *driver]
    if not checkout:
        variables["PYTHONPATH"] = str(Path(driver[0]).parent)
    times_ms = json.loads(_user_s(warm, variables, json.dumps(_QUERIES))[1])
    return {"index_s": index_s, "changed_s": changed_s, "query_ms": float(np.median(times_ms)), "mb": mb}


def _user_s(command: Command, variables: dict[str, str], text: str = "") -> tuple[float, str]:
    """Run a command; return the user time of all its processes, and its output."""
    before = os.times().children_user
    environment = {**os.environ, **INSTALLED, **variables}
    done = subprocess.run(
        list(map(str, command)),
        input=text,
        capture_output=True,
        text=True,
        check=True,
        cwd="/",
        env=environment,
    )
    return os.times().children_user - before, done.stdout


def table(rows: list[dict[str, object]]) -> str:
    """Lay out the medians for the page."""
    head = ["tree", "system", *_COLUMNS.values()]
    cells = [
        [str(row["tree"]), str(row["system"]), *(f"{row[key]:,.2f}" for key in _COLUMNS)] for row in rows
    ]
    return "\n".join([line(head), "|---" * len(head) + "|", *map(line, cells)])


if __name__ == "__main__":
    main()
