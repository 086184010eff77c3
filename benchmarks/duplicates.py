"""Labelled pairs of functions -> precision and recall of `codesearch duplicates`; `results/duplicates.json`.

`duplicates.jsonl` has 100 behaviours in six languages, each as four functions: an original, a copy (the same text,
other names, or edited), one that another author wrote from the specification alone, and one that has the words of the
original and does something else. Two readers have labelled the 300 pairs with the original, without seeing how they
were made. All 400 functions compete. The weights of `codesearch.duplicates.find` come from the behaviours with even
numbers, so those with odd numbers are reported.

With TREE, the functions of a diff are also looked for in a large tree: one line is changed in each of 20 functions.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
from collections.abc import Collection, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

from benchmarks.process import seconds_of
from benchmarks.publish import DOCS, fill, line, record
from codesearch import Engine, Scope
from codesearch.duplicates import MEANING, Function
from codesearch.duplicates.find import find_duplicates
from codesearch.engine.session import AS_INDEXED
from codesearch.search.request import Limits
from codesearch.store.snapshot import Snapshot

_PAIRS = Path(__file__).parent / "duplicates.jsonl"
_SUFFIXES = {"python": "py", "javascript": "js", "go": "go", "java": "java", "rust": "rs", "c": "c"}
_MIN_LINES = 5
_THRESHOLDS = (0.5, 0.6, 0.7, 0.75, 0.8, 0.9)
_ROUNDS = 5
Pair = frozenset[str]


def main() -> None:
    """Measure quality, and with TREE the time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tree", nargs="?", type=Path, help="folder with many functions")
    parser.add_argument(
        "--work", type=Path, default=Path("build/duplicates"), help="folder for files and indexes"
    )
    options = parser.parse_args()
    shutil.rmtree(options.work, ignore_errors=True)
    found = quality(options.work.resolve() / "pairs")
    if options.tree:
        found["speed"] = speed(options.tree.resolve(), options.work.resolve() / "speed")
    record("duplicates", found, flat=True)
    fill(DOCS / "duplicates.md", "duplicates", table(found))


def quality(work: Path) -> dict[str, Any]:
    """Return precision and recall on the behaviours with odd numbers, and how often the readers agreed."""
    rows = [json.loads(text) for text in _PAIRS.read_text("utf-8").splitlines()]
    labels = [row["labels"] for row in rows if "labels" in row]
    odd = [row for row in rows if int(row["behaviour"][1:]) % 2]
    right = set(_right(odd))
    scores = {
        pair: score for pair, score in _matches(work, rows).items() if all(_is_odd(one) for one in pair)
    }
    same = [pair for pair, (kind, _) in scores.items() if kind != MEANING]
    copies = set(_right(odd, ("original", "text", "renamed")))
    others = set(_right(odd, ("original", "edited", "rewritten")))
    return {
        "agreement": sum(one == other for one, other in labels) / len(labels),
        "shape": {**_counted(same, right), "recall": round(len(copies.intersection(same)) / len(copies), 3)},
        "meaning": {
            str(least): {
                **_counted([pair for pair in kept if scores[pair][0] == MEANING], right),
                "recall": round(len(others.intersection(kept)) / len(others), 3),
            }
            for least in _THRESHOLDS
            for kept in [[pair for pair, (_, score) in scores.items() if score >= least]]
        },
    }


def _counted(found: Collection[Pair], right: Collection[Pair]) -> dict[str, float]:
    return {"found": len(found), "precision": round(sum(pair in right for pair in found) / len(found), 3)}


def _is_odd(name: str) -> bool:
    return bool(int(name[1:4]) % 2)


def _right(rows: list[dict[str, Any]], kinds: Collection[str] = ()) -> Iterator[Pair]:
    """Yield the pairs that do the same, of these kinds or of all; a function is `<behaviour>-<kind>`."""
    same: dict[str, list[str]] = {}
    for row in rows:
        if all(row.get("labels", [1])) and (not kinds or row["kind"] in kinds):
            same.setdefault(row["behaviour"], []).append(f"{row['behaviour']}-{row['kind']}")
    for names in same.values():
        pairs = combinations(names, 2) if not kinds else ((names[0], name) for name in names[1:])
        yield from map(frozenset, pairs)


def _matches(work: Path, rows: list[dict[str, Any]]) -> dict[Pair, tuple[str, float]]:
    """Return what is found among all functions: the pair of their files -> what they share, and the score."""
    for row in rows:
        code = row["code"]
        if row["language"] == "java" and not re.search(r"\bclass\b", code):
            code = f"class Holder {{\n{code}\n}}\n"
        path = work / "src" / row["kind"] / f"{row['behaviour']}.{_SUFFIXES[row['language']]}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(code, "utf-8")
    engine = Engine(work / "home", device="cpu")
    engine.index(work / "src")
    found: dict[Pair, tuple[str, float]] = {}
    with engine.session(Scope((work / "src",)), AS_INDEXED).indexes() as indexes:
        snapshot = Snapshot(indexes)
        everything = range(snapshot.size)
        limits = Limits(min_lines=_MIN_LINES, all_code=True, min_score=min(_THRESHOLDS))
        for group in find_duplicates(snapshot, limits, changed=everything)[0]:
            for match in group.matches:
                pair = frozenset((_name(group.function), _name(match.function)))
                if len(pair) > 1 and match.score >= found.get(pair, ("", 0.0))[1]:
                    found[pair] = match.same, match.score
    engine.close()
    return found


def _name(function: Function) -> str:
    path = Path(function.path)
    return f"{path.stem}-{path.parent.name}"


def speed(tree: Path, work: Path) -> dict[str, Any]:
    """Return the times of a whole listing and of a diff with 20 functions, in process, indexes open."""
    root = work / "tree"
    shutil.copytree(tree, root)
    for words in (
        ("init", "-q"),
        ("add", "-A"),
        ("-c", "user.name=a", "-c", "user.email=a", "commit", "-qm", "a"),
    ):
        subprocess.run(["git", *words], cwd=root, check=True)
    engine = Engine(work / "home", device="cpu")
    engine.index(root)
    session = engine.session(Scope((root,)), AS_INDEXED)
    whole_s = seconds_of(session.duplicates)
    changed = [group.function for group in session.duplicates().groups[:20]]
    for function in changed:
        lines = (root / function.path).read_bytes().split(b"\n")
        lines[function.start_line] += b" "
        (root / function.path).write_bytes(b"\n".join(lines))
    engine.index(root)
    times = []
    for _ in range(_ROUNDS):
        times.append(seconds_of(lambda: session.duplicates(changed="HEAD")))
    answer = session.duplicates(changed="HEAD")
    engine.close()
    return {
        "functions": answer.functions,
        "changed": answer.changed,
        "groups": len(answer.groups),
        "whole_s": round(whole_s, 2),
        "changed_s": round(sorted(times)[_ROUNDS // 2], 2),
    }


def table(found: dict[str, Any]) -> str:
    """Lay out precision and recall for the page."""
    rows = [("same text, or the same but for names", found["shape"])]
    rows += [(f"similar, score from {least}", figures) for least, figures in found["meaning"].items()]
    lines = [line([name, f"{row['precision']:.2f}", f"{row['recall']:.2f}"]) for name, row in rows]
    return "\n".join([line(["", "precision", "recall"]), "|---|---|---|", *lines])


if __name__ == "__main__":
    main()
