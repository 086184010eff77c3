"""Rows of one language -> capped and given a partition, whole repositories at a time.

Repositories are taken in the order of a hash of their name: the first ones fill the test partition up to its
share of the rows (at least `MIN_HELD_OUT`), the next ones the validation partition, the rest is trained on.
One that alone is more than a quarter of that share is trained on, so that several make up a partition.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

HELD_OUT_SHARE = 0.1
MIN_HELD_OUT = 1_100
REPOSITORY_SHARE = 0.1
MIN_CAP = 2_000
_MAX_REPOSITORY_SHARE = 0.25


@dataclass(frozen=True, slots=True)
class Place:
    """Where a row comes from, all that placing it takes.

    Attributes:
        repository: lower case.
        order: bytes that order the rows of a repository at random, see `stable_hash`.
    """

    repository: str
    order: bytes


def place_rows(rows: Sequence[Place], share: float = REPOSITORY_SHARE) -> list[str]:
    """Return the partition of each row of one language, "" for those over their repository's share."""
    kept = _within_share(rows, share)
    partitions = _partition_of_repositories(Counter(rows[index].repository for index in kept))
    placed = [""] * len(rows)
    for index in kept:
        placed[index] = partitions[rows[index].repository]
    return placed


def _within_share(rows: Sequence[Place], share: float) -> list[int]:
    """Return the indices of at most `share` of the rows (but `MIN_CAP`) from each repository."""
    cap = max(MIN_CAP, int(share * len(rows)))
    by_repository: dict[str, list[int]] = defaultdict(list)
    for index, row in enumerate(rows):
        by_repository[row.repository].append(index)
    return [
        index
        for indices in by_repository.values()
        for index in sorted(indices, key=lambda index: rows[index].order)[:cap]
    ]


def _partition_of_repositories(sizes: Counter[str]) -> dict[str, str]:
    quota = max(MIN_HELD_OUT, int(HELD_OUT_SHARE * sizes.total()))
    filled: Counter[str] = Counter()
    partitions = {}
    for repository in sorted(sizes, key=stable_hash):
        size = sizes[repository]
        unfilled = [partition for partition in ("test", "valid") if filled[partition] < quota]
        held_out = unfilled and size <= _MAX_REPOSITORY_SHARE * quota
        partitions[repository] = unfilled[0] if held_out else "train"
        filled[partitions[repository]] += size
    return partitions


def stable_hash(text: str) -> bytes:
    """Hash a text to bytes that order it at random, always the same way."""
    return blake2b(text.encode("utf-8", "replace"), digest_size=8).digest()
