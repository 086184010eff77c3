"""Token ids -> unit vectors, for graphs that only add up rows of a table. It needs numpy but not ONNX Runtime.

Importing ONNX Runtime and opening a graph takes longer than embedding a query. So the manifest of such a bundle says
where the arrays are in the file of each graph:

    "rows": {"query.onnx": {"table": {"offset": 570, "dtype": "int8", "shape": [V, D]},
                            "weights": {"offset": 8448597, "dtype": "float32", "shape": [V]},
                            "repeat_power": -0.5}}

If a token occurs n times in a text, each occurrence has the factor n ** repeat_power. Without the entry it is 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codesearch.errors import ModelBundleError

_EPSILON = 1e-12


class RowSum:
    """Computes what the graph computes: the weighted sum of a text's rows, at unit length."""

    def __init__(self, graph: Path, places: Mapping[str, Any]) -> None:
        """Map the arrays of a graph's file.

        Raises:
            ModelBundleError: the arrays are not where `places` says.
        """
        try:
            self._table, self._weights = (_mapped(graph, places[name]) for name in ("table", "weights"))
            self._repeat_power = float(places.get("repeat_power", 0.0))
        except (KeyError, TypeError, ValueError) as error:
            raise ModelBundleError(
                f"{graph}: no rows where the manifest says ({error}): install the model again"
            ) from None

    def encode(self, texts: Sequence[NDArray[np.uint32]]) -> NDArray[np.float32]:
        """Embed texts given as token ids: float32 [B, D], unit length; zeros for a text without tokens."""
        out = np.zeros((len(texts), self._table.shape[1]), dtype=np.float32)
        for vector, ids in zip(out, texts, strict=True):
            weights = self._weights[ids]
            if self._repeat_power:
                ids, weights = self._dampened(ids)
            np.matmul(weights, self._table[ids].astype(np.float32), out=vector)
            vector /= max(np.linalg.norm(vector), np.float32(_EPSILON))
        return out

    def _dampened(self, ids: NDArray[np.uint32]) -> tuple[NDArray[np.uint32], NDArray[np.float32]]:
        """Return the distinct ids of a text and the total weight of each."""
        distinct, counts = np.unique(ids, return_counts=True)
        return distinct, self._weights[distinct] * counts.astype(np.float32) ** np.float32(
            1 + self._repeat_power
        )


def _mapped(path: Path, place: Mapping[str, Any]) -> NDArray[Any]:
    return np.asarray(np.memmap(path, place["dtype"], "r", place["offset"], tuple(place["shape"])))
