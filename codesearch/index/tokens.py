"""Lists of token ids <-> one array, which crosses processes faster than many."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:  # A worker has no encoder: with this import parsing took one part in twenty longer.
    from codesearch.encoding.encoder import TokenIds


def join_tokens(lists: Collection[TokenIds]) -> tuple[NDArray[np.uint32], list[int]]:
    """Put lists of ids one after the other: uint32 [sum of lengths], and the length of each."""
    joined = np.concatenate(list(lists)) if lists else np.empty(0, np.uint32)
    return joined, [len(ids) for ids in lists]


def split_tokens(joined: NDArray[np.uint32], lengths: Sequence[int]) -> list[TokenIds]:
    """Take apart what `join_tokens` put together."""
    return [joined[end - length : end] for end, length in zip(accumulate(lengths), lengths, strict=True)]
