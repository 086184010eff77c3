"""Token ids -> unit vectors, for a bag's graph that adds rows of a table: without a runtime.

A query has a few tokens, and to import ONNX Runtime and open a graph for them takes longer than all else that embeds
them. So the manifest of such a bundle says where in the graph's file its arrays lie:

    "query_rows": {"table": {"offset": 570, "dtype": "int8", "shape": [V, D]},
                   "weights": {"offset": 8448597, "dtype": "float32", "shape": [V]}}
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
    """The sum of a text's rows by their weights, at unit length, as the graph computes it."""

    def __init__(self, graph: Path, places: Mapping[str, Any]) -> None:
        """Map the arrays of a graph's file.

        Raises:
            ModelBundleError: they are not where `places` says.
        """
        try:
            self._table, self._weights = (_mapped(graph, places[name]) for name in ("table", "weights"))
        except (KeyError, TypeError, ValueError) as error:
            raise ModelBundleError(
                f"{graph}: no rows where the manifest says ({error}): install the model again"
            ) from None

    def encode(self, texts: Sequence[NDArray[np.uint32]]) -> NDArray[np.float32]:
        """Embed texts given as token ids: float32 [B, D], unit length; zeros for a text without tokens."""
        out = np.zeros((len(texts), self._table.shape[1]), dtype=np.float32)
        for vector, ids in zip(out, texts, strict=True):
            np.matmul(self._weights[ids], self._table[ids].astype(np.float32), out=vector)
            vector /= max(np.linalg.norm(vector), np.float32(_EPSILON))
        return out


def _mapped(path: Path, place: Mapping[str, Any]) -> NDArray[Any]:
    return np.asarray(np.memmap(path, place["dtype"], "r", place["offset"], tuple(place["shape"])))
