"""Lists of token ids <-> one array, which is faster to send to another process."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:  # A worker has no encoder, and importing its module made parsing 5 % slower.
    from codesearch.encoding.encoder import TokenIds


def join_tokens(lists: Collection[TokenIds]) -> tuple[NDArray[np.uint32], list[int]]:
    """Concatenate lists of ids; return uint32 [sum of lengths] and the length of each list."""
    joined = np.concatenate(list(lists)) if lists else np.empty(0, np.uint32)
    return joined, [len(ids) for ids in lists]


def split_tokens(joined: NDArray[np.uint32], lengths: Sequence[int]) -> list[TokenIds]:
    """Split the array that `join_tokens` returned into the lists."""
    return [joined[end - length : end] for end, length in zip(accumulate(lengths), lengths, strict=True)]
