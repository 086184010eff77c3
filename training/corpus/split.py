"""Rows of one language -> capped rows with a partition, in whole repositories.

Repositories are taken in the order of a hash of their name. The first ones fill the test partition up to its share of
the rows (at least `MIN_HELD_OUT`), and the next ones the validation partition. The rest is for training. A repository
with more than a quarter of that share is for training too, so each partition has several repositories. Rows that are
only for training are counted separately, so the held-out partitions do not change when a recipe grows.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b

HELD_OUT_SHARE = 0.1
MIN_HELD_OUT = 1_100
REPOSITORY_SHARE = 0.1
MIN_CAP = 2_000
_MAX_REPOSITORY_SHARE = 0.25
HELD_OUT_RULE = (
    f"whole repositories are held out, of at most {int(MIN_HELD_OUT * _MAX_REPOSITORY_SHARE)} functions "
    f"(or {HELD_OUT_SHARE * _MAX_REPOSITORY_SHARE:.1%} of a language), until the tests have {MIN_HELD_OUT:,} of them"
)


@dataclass(frozen=True, slots=True)
class Place:
    """The origin of a row, from which its partition follows; `order` is a `stable_hash`."""

    repository: str
    order: bytes
    train_only: bool = False


def place_rows(rows: Sequence[Place], share: float = REPOSITORY_SHARE) -> list[str]:
    """Return the partition of each row of one language, or "" if it is over its repository's share."""
    divided = [index for index, row in enumerate(rows) if not row.train_only]
    trained_on = [index for index, row in enumerate(rows) if row.train_only]
    kept = _within_share(rows, divided, int(share * len(divided)))
    partitions = _partition_of_repositories(Counter(rows[index].repository for index in kept))
    placed = [""] * len(rows)
    for index in kept:
        placed[index] = partitions[rows[index].repository]
    for index in _within_share(rows, trained_on, int(share * len(rows))):
        placed[index] = "train"
    return placed


def _within_share(rows: Sequence[Place], indices: Iterable[int], cap: int) -> list[int]:
    """Return the `indices` that remain if each repository has at most `cap` rows (or `MIN_CAP`)."""
    by_repository: dict[str, list[int]] = defaultdict(list)
    for index in indices:
        by_repository[rows[index].repository].append(index)
    return [
        index
        for its in by_repository.values()
        for index in sorted(its, key=lambda index: rows[index].order)[: max(MIN_CAP, cap)]
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
    """Hash a text to bytes that give a random but fixed order."""
    return blake2b(text.encode("utf-8", "replace"), digest_size=8).digest()
