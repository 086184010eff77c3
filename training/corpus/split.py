"""Rows of one language -> capped and given a partition, whole repositories at a time.

Repositories are taken in the order of a hash of their name: the first ones fill the test partition up to its
share of the rows (at least `MIN_HELD_OUT`), the next ones the validation partition, the rest is trained on.
One that alone is more than a quarter of that share is trained on, so that several make up a partition.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from hashlib import blake2b

from training.corpus.rows import Row

HELD_OUT_SHARE = 0.1
MIN_HELD_OUT = 1_100
REPOSITORY_SHARE = 0.1
_MIN_CAP = 2_000
_MAX_REPOSITORY_SHARE = 0.25


def cap_repositories(rows: Sequence[Row], share: float, dropped: Counter[str]) -> list[Row]:
    """Keep at most `share` of the rows (but 2,000) from one repository, chosen by hash; the order stays."""
    cap = max(_MIN_CAP, int(share * len(rows)))
    by_repository: dict[str, list[int]] = defaultdict(list)
    for index, row in enumerate(rows):
        by_repository[row.repo.lower()].append(index)
    kept: list[int] = []
    for indices in by_repository.values():
        ordered = sorted(indices, key=lambda index: stable_hash(f"{rows[index].path}\0{rows[index].code}"))
        kept += ordered[:cap]
        dropped["over its repository's share"] += max(0, len(indices) - cap)
    return [rows[index] for index in sorted(kept)]


def partition_of_repositories(rows: Sequence[Row]) -> dict[str, str]:
    """Give each repository of one language its partition."""
    sizes = Counter(row.repo.lower() for row in rows)
    quota = max(MIN_HELD_OUT, int(HELD_OUT_SHARE * len(rows)))
    filled: Counter[str] = Counter()
    partitions = {}
    for repository in sorted(sizes, key=stable_hash):
        size = sizes[repository]
        unfilled = [partition for partition in ("test", "valid") if filled[partition] < quota]
        held_out = unfilled and size <= _MAX_REPOSITORY_SHARE * quota
        partitions[repository] = unfilled[0] if held_out else "train"
        filled[partitions[repository]] += size
    return partitions


def split(rows: Sequence[Row]) -> list[Row]:
    """Return the rows of one language with their partitions, by package and path."""
    partitions = partition_of_repositories(rows)
    placed = [replace(row, partition=partitions[row.repo.lower()]) for row in rows]
    return sorted(placed, key=lambda row: (row.package, row.path))


def stable_hash(text: str) -> bytes:
    """Hash a text to bytes that order it at random, always the same way."""
    return blake2b(text.encode("utf-8", "replace"), digest_size=8).digest()
