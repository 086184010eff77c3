"""Float weights -> int8 rows with one scale for each row."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_LEVELS = 127


def quantize_rows(table: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Quantize each row by its largest magnitude.

    Args:
        table: float32 [V, D].

    Returns:
        int8 [V, D] and float32 scales [V]; rows times scales is close to the table. A zero row has scale 1.
    """
    scales = np.abs(table).max(axis=1) / _LEVELS
    scales[scales == 0] = 1
    rows = np.rint(table / scales[:, None]).astype(np.int8)
    return rows, scales.astype(np.float32)
