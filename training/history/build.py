"""Repositories -> `history.train.jsonl.zst` and `history.valid.jsonl.zst`.

Each repository is read by one process into a separate file, so a stopped run continues with the next one. Then the
files are joined: without functions of evaluation sets, and without copies of the functions of other repositories. One
repository in ten, by a hash of its name, is for validation.
"""

from __future__ import annotations

import json
import logging
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from tqdm import tqdm

from codesearch.evaluation.jsonl import read_jsonl
from training.corpus.decontaminate import Forbidden, read_forbidden
from training.corpus.dedupe import NearDuplicates, fingerprint, sketch_of
from training.corpus.docstrings import split_docstring
from training.corpus.rows import new_rows, own_name
from training.corpus.split import stable_hash
from training.errors import TrainingError
from training.history.evaluation import Evaluated, read_evaluated
from training.history.mine import mine
from training.history.repository import Repository, find_repositories
from training.history.words import Words, read_words

_log = logging.getLogger(__name__)
_FOLDER = "repositories"
STATS = "stats.json"
_HELD_OUT = 10


@dataclass
class HistoryStats:
    """Counts of a corpus of history.

    Attributes:
        pairs: by language and partition.
        dropped: commits and functions, by filter.
        repositories: name, newest commit, commits without merges and pairs of each.
    """

    pairs: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    dropped: Counter[str] = field(default_factory=Counter)
    repositories: list[dict[str, Any]] = field(default_factory=list)


def build_history(
    folder: Path, out: Path, evaluation_sets: Path | None, *, processes: int, most: int
) -> HistoryStats:
    """Make the pairs of all repositories below a folder; return and write the counts.

    Args:
        folder: holds clones, bare or not.
        out: folder to write.
        evaluation_sets: folder of evaluation sets never to train on.
        processes: worker processes.
        most: commits of each repository that are compared with the tree before them, drawn by hash.

    Raises:
        TrainingError: there is no repository.
    """
    found = find_repositories(folder)
    if not found:
        raise TrainingError(f"{folder}: no git repository: give a folder of clones")
    (out / _FOLDER).mkdir(parents=True, exist_ok=True)
    words = read_words(out / "words.json", found)
    work = partial(
        _mine_one, words=words, folder=out / _FOLDER, evaluated=read_evaluated(evaluation_sets), most=most
    )
    todo = [one for one in found if not (out / _FOLDER / f"{one.file_name}.json").exists()]
    todo.sort(key=lambda repository: stable_hash(repository.name))
    with get_context("spawn").Pool(processes) as pool:
        for line in tqdm(pool.imap_unordered(work, todo), total=len(todo), unit="repository"):
            _log.info("%s", line)
        forbidden = read_forbidden(evaluation_sets, pool)
    stats = HistoryStats()
    _join(out, forbidden, stats)
    (out / STATS).write_text(json.dumps(vars(stats), indent=1) + "\n", "utf-8")
    return stats


def _mine_one(repository: Repository, *, words: Words, folder: Path, evaluated: Evaluated, most: int) -> str:
    """Mine a repository, and write its counts last; return a line about it. What fails is left out."""
    try:
        if evaluated.has(repository):
            return f"{repository.name}: left out, of an evaluation set"
        mined = mine(repository, words, folder, most)
    except TrainingError as error:
        return f"{repository.name}: left out: {error}"
    (folder / f"{repository.file_name}.json").write_text(json.dumps(asdict(mined)) + "\n", "utf-8")
    return f"{repository.name}: {mined.pairs:,} pairs of {mined.commits:,} commits"


def _join(out: Path, forbidden: Forbidden, stats: HistoryStats) -> None:
    seen: set[bytes] = set()
    near: dict[str, NearDuplicates] = defaultdict(NearDuplicates)
    with ExitStack() as stack:
        streams = {
            partition: stack.enter_context(new_rows(out / f"history.{partition}.jsonl.zst"))
            for partition in ("train", "valid")
        }
        for path in tqdm(sorted((out / _FOLDER).glob("*.json")), unit="repository", desc="join"):
            mined = json.loads(path.read_text("utf-8"))
            stats.dropped.update(mined["dropped"])
            partition = partition_of(mined["repository"])
            kept = 0
            for row in _new_rows_of(path.with_suffix(".jsonl.zst"), forbidden, seen, near, stats.dropped):
                line = json.dumps({**row, "partition": partition}, ensure_ascii=False)
                streams[partition].write(line.encode("utf-8", "replace") + b"\n")
                stats.pairs[row["language"]][partition] += 1
                kept += 1
            names = ("repository", "head", "commits")
            stats.repositories.append({**{name: mined[name] for name in names}, "pairs": kept})


def partition_of(repository: str) -> str:
    """Return the partition of a repository: one in ten is for validation."""
    return "valid" if stable_hash(repository.lower())[0] % _HELD_OUT == 0 else "train"


def _new_rows_of(
    path: Path,
    forbidden: Forbidden,
    seen: set[bytes],
    near: Mapping[str, NearDuplicates],
    dropped: Counter[str],
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a repository whose functions are in no evaluation set and in no repository before."""
    own: set[bytes] = set()
    sketches = []
    for _, row in read_jsonl(path):
        language = row["language"]
        paragraph = split_docstring(row["docstring"])[0]
        found = fingerprint(language, own_name(row["func_name"], language), paragraph, row["code"])
        sketch = sketch_of(found.tokens)
        reason = forbidden.reason(row["repo"], language, found.keys, sketch)
        if not reason and not seen.isdisjoint(found.keys):
            reason = "duplicate"
        if not reason and own.isdisjoint(found.keys) and near[language].has(sketch):
            reason = "near-duplicate"
        if reason:
            dropped[reason] += 1
            continue
        if own.isdisjoint(found.keys):
            sketches.append((language, sketch))
        own.update(found.keys)
        yield row
    seen |= own
    for language, sketch in sketches:
        near[language].add(sketch)
