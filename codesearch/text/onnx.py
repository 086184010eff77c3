"""Texts -> unit vectors, by a model bundle that ONNX Runtime runs on the CPU or with CUDA.

Some models only add up rows of a table. For these, `RowSum` embeds queries without ONNX Runtime, because importing it
and opening a graph takes longer than embedding a query. On the CPU it also embeds passages, and without ONNX Runtime
documents. The manifest of such a bundle says where the arrays are in the file of each graph:

    "rows": {"query.onnx": {"table": {"offset": 570, "dtype": "int8", "shape": [V, D]},
                            "weights": {"offset": 8448597, "dtype": "float32", "shape": [V]},
                            "repeat_power": -0.5}}

If a token occurs n times in a text, each occurrence has the factor n ** repeat_power. Without the entry it is 1.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codesearch.config import DEVICES
from codesearch.errors import NO_MEMORY, ConfigError, MissingExtraError, ModelBundleError, lacks_memory
from codesearch.text.bundle import QUERY, TOKENIZER, Bundle, damaged, read_bundle
from codesearch.text.tokenizer import SubtokenTokenizer, TokenIds, padded

BATCH_TOKENS = 8_192
_EPSILON = 1e-12
_AT_ONCE = 256  # Texts that are embedded at a time by a sum of rows: more take more memory, and no less time.
_TABLES = ("nbow", "unif", "ncs")
"""Architectures that only look up tokens and add. A second thread makes them slower."""
_EXTERNAL_DATA = b"\n\x08location\x12"
"""The name of another file as a graph stores it: the entry "location" of a tensor's `external_data`."""


class RowSum:
    """Computes what the graph computes: the weighted sum of a text's rows, at unit length."""

    def __init__(self, graph: Path, places: Mapping[str, Any]) -> None:
        """Map the arrays of a graph's file."""
        try:
            self._table, self._weights = (
                np.asarray(np.memmap(graph, place["dtype"], "r", place["offset"], tuple(place["shape"])))
                for place in (places["table"], places["weights"])
            )
            self._repeat_power = float(places.get("repeat_power", 0.0))
            if self._table.ndim != 2 or self._weights.shape != self._table.shape[:1]:
                raise ValueError("one weight for each row is missing")
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise damaged(f"{graph}: no rows where the manifest says ({error})") from None

    def encode(self, texts: Sequence[TokenIds]) -> NDArray[np.float32]:
        """Embed texts given as token ids: float32 [B, D], unit length; zeros for a text without tokens."""
        out = np.zeros((len(texts), self._table.shape[1]), dtype=np.float32)
        for start in range(0, len(texts), _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            with np.errstate(all="ignore"):  # `OnnxEncoder` refuses what is not finite.
                self._add(texts[part], out[part])
        return out

    def _add(self, texts: Sequence[TokenIds], out: NDArray[np.float32]) -> None:
        lengths = [len(ids) for ids in texts]
        ids = np.concatenate([np.empty(0, np.uint32), *texts])
        weights, ends = self._weights[ids], np.cumsum([0, *lengths])
        if self._repeat_power:  # Each distinct id of a text counts once, with all its occurrences.
            numbers = np.repeat(np.arange(len(texts), dtype=np.uint64), lengths)
            keys, counts = np.unique(numbers << np.uint64(32) | ids, return_counts=True)
            ids = keys.astype(np.uint32)
            ends = np.searchsorted(keys >> np.uint64(32), np.arange(len(texts) + 1))
            weights = self._weights[ids] * counts.astype(np.float32) ** np.float32(1 + self._repeat_power)
        for vector, (start, end) in zip(out, pairwise(ends.tolist()), strict=True):
            rows = self._table.take(ids[start:end], axis=0).astype(np.float32)
            np.matmul(weights[start:end], rows, out=vector)
            vector /= max(np.linalg.norm(vector), np.float32(_EPSILON))


class OnnxEncoder:
    """Runs a bundle. A session opens at its first use, so a query does not load the document graph."""

    def __init__(self, bundle: Bundle, device: str = "auto") -> None:
        self.bundle = bundle
        self.device = choose_device(device)  # "cpu" or "cuda".
        self.model_id, self.name, self.dim = bundle.model_id, bundle.name, bundle.dim
        self.max_document_tokens = bundle.max_document_tokens
        self.is_costly = bundle.architecture not in _TABLES  # Embedding takes most of the time of an index.
        self.tokenizer_path = bundle.checked(TOKENIZER)  # For other processes.
        self.tokenizer = SubtokenTokenizer.load(self.tokenizer_path)
        self._graphs = {self._language_id(name): file for name, file in bundle.document_graphs.items()}
        self._sessions: dict[str, Any] = {}
        self._row_sums: dict[str, RowSum | None] = {}
        self._opening = threading.Lock()

    @classmethod
    def load(cls, folder: Path, device: str = "auto") -> OnnxEncoder:
        """Open the bundle in a folder."""
        return cls(read_bundle(folder), device)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the folder and the device, because sessions cannot be pickled; another process loads them again."""
        return self.load, (self.bundle.folder, self.device)

    def encode_queries(self, queries: Sequence[str]) -> NDArray[np.float32]:
        """Embed queries: float32 [B, D], unit length; zeros for a query without known tokens."""
        tokens = [self.tokenizer.encode(query, self.bundle.max_query_tokens) for query in queries]
        return self._vectors(QUERY, tokens, by_rows=True)

    def encode_documents(self, documents: Sequence[TokenIds]) -> NDArray[np.float32]:
        """Embed documents given as token ids: float32 [B, D], unit length, in the same order.

        If the first id is that of a language with its own graph, it selects the graph and is not embedded.
        """
        return self._embed(documents, by_rows=not has_runtime())

    def encode_passages(self, passages: Sequence[TokenIds]) -> NDArray[np.float32]:
        """Embed passages like documents; on the CPU by a sum of rows if the model is one, in half the time."""
        return self._embed(passages, by_rows=self.device == "cpu")

    def _embed(self, documents: Sequence[TokenIds], *, by_rows: bool) -> NDArray[np.float32]:
        out = np.zeros((len(documents), self.dim), dtype=np.float32)
        for graph, positions in self._by_graph(documents).items():
            tagged = graph != self.bundle.document_graph
            tokens = [documents[i][1:] if tagged else documents[i] for i in positions]
            out[positions] = self._vectors(graph, tokens, by_rows=by_rows)
        return out

    def _vectors(self, graph: str, tokens: Sequence[TokenIds], *, by_rows: bool) -> NDArray[np.float32]:
        """Embed texts, by a sum of rows if that is possible; the bundle may be damaged or come from a stranger."""
        path = self.bundle.folder / graph
        rows = self._rows(graph) if by_rows else None
        try:
            vectors = rows.encode(tokens) if rows else self._encode(graph, tokens)
        except (IndexError, TypeError, ValueError) as error:
            raise damaged(f"{path}: does not fit to its tokenizer or manifest ({error})") from None
        if vectors.shape != (len(tokens), self.dim):
            raise damaged(f"{path}: gives {vectors.shape[-1]} dimensions, its manifest says {self.dim}")
        if not np.isfinite(vectors).all():
            raise damaged(f"{path}: gives numbers that are not finite")
        return vectors

    def _rows(self, graph: str) -> RowSum | None:
        """Return the `RowSum` of a graph that only adds up rows; None for any other graph."""
        if graph not in self._row_sums:
            places = self.bundle.rows.get(graph)
            self._row_sums[graph] = RowSum(self.bundle.checked(graph), places) if places else None
        return self._row_sums[graph]

    def _language_id(self, language: str) -> int:
        found = self.tokenizer.language_id(language)
        if found is None:
            raise ModelBundleError(f"{self.tokenizer_path}: no token of {language}", "export the model again")
        return found

    def _by_graph(self, documents: Sequence[TokenIds]) -> dict[str, list[int]]:
        """Group the positions of documents by graph, which the first id of a document may select."""
        common = self.bundle.document_graph
        if not self._graphs:
            return {common: list(range(len(documents)))}
        positions: dict[str, list[int]] = {}
        for position, ids in enumerate(documents):
            graph = self._graphs.get(int(ids[0]), common) if len(ids) else common
            positions.setdefault(graph, []).append(position)
        return positions

    def _encode(self, graph: str, tokens: Sequence[TokenIds]) -> NDArray[np.float32]:
        out = np.zeros((len(tokens), self.dim), dtype=np.float32)
        self._session(graph)  # Without texts, this only opens the graph.
        for batch in _batches(tokens):
            vectors = self._run(graph, [tokens[i] for i in batch])
            if vectors.shape[1:] != out.shape[1:]:
                return vectors
            out[batch] = vectors
        return out

    def _run(self, graph: str, tokens: list[TokenIds]) -> NDArray[np.float32]:
        ids, mask = padded(tokens)
        session = self._session(graph)
        try:
            (embedding,) = session.run(["embedding"], {"input_ids": ids, "attention_mask": mask})
        except Exception as error:  # The exceptions of ONNX Runtime have no other common base class.
            if lacks_memory(error):
                raise MemoryError(NO_MEMORY) from None
            problem = " ".join(str(error).split())
            raise damaged(f"{self.bundle.folder / graph}: ONNX Runtime cannot run it ({problem})") from None
        return np.asarray(embedding, dtype=np.float32)

    def _session(self, graph: str) -> Any:  # noqa: ANN401 - ONNX Runtime has no types.
        with self._opening:
            if graph not in self._sessions:
                self._sessions[graph] = open_session(
                    self.bundle.checked(graph), self.device, threads=int(not self.is_costly)
                )
            return self._sessions[graph]


def _batches(tokens: Sequence[TokenIds]) -> Iterator[NDArray[np.intp]]:
    """Yield the positions of texts that have tokens, with texts of similar length together to reduce padding.

    A batch has at most `BATCH_TOKENS` tokens, including padding, unless one text is longer.
    """
    lengths = np.fromiter(map(len, tokens), np.int64, len(tokens))
    order = lengths.argsort(kind="stable")[np.count_nonzero(lengths == 0) :]
    while len(order):
        sizes = np.arange(1, len(order) + 1) * lengths[order]
        count = max(int(sizes.searchsorted(BATCH_TOKENS, "right")), 1)
        yield order[:count]
        order = order[count:]


def choose_device(device: str) -> str:
    """Return "cuda" or "cpu"; "auto" is "cuda" if a driver and the GPU build of ONNX Runtime are installed."""
    if device not in DEVICES:
        raise ConfigError(f"device {device!r}", f"choose one of {', '.join(DEVICES)}")
    if device == "cpu" or (device == "auto" and not (has_driver() and has_runtime())):
        return "cpu"
    if not has_runtime():
        raise MissingExtraError("onnxruntime-gpu")
    available = "CUDAExecutionProvider" in onnx_runtime().get_available_providers()
    if device == "cuda" and not (available and has_driver()):
        from codesearch.installation import how_to_add

        add = how_to_add("onnxruntime-gpu", without=["onnxruntime"])
        cure = "install the NVIDIA driver" if available else add
        raise ConfigError("device cuda: not available here", f"{cure}, or use --device cpu")
    return "cuda" if available else "cpu"


def has_driver() -> bool:
    """Say whether the CUDA driver is installed; without it the CUDA provider only prints warnings."""
    from ctypes.util import find_library

    return sys.platform == "linux" and os.path.exists("/dev/nvidiactl") and find_library("cuda") is not None


def has_runtime() -> bool:
    """Say whether ONNX Runtime is installed."""
    return find_spec("onnxruntime") is not None


def onnx_runtime() -> Any:  # noqa: ANN401 - a module without types.
    """Import ONNX Runtime with its telemetry turned off, which versions from 1.31 on send."""
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    try:
        import onnxruntime
    except ModuleNotFoundError:
        raise MissingExtraError("onnxruntime") from None
    return onnxruntime


def open_session(path: Path, device: str, *, threads: int) -> Any:  # noqa: ANN401 - ONNX Runtime has no types.
    """Open a graph with options under which the batch of a text changes only the last bits of its vector."""
    runtime = onnx_runtime()
    providers = ["CPUExecutionProvider"]
    if device == "cuda":
        runtime.preload_dlls()
        providers.insert(0, "CUDAExecutionProvider")
    options = runtime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = threads
    # A thread that spins while it waits would take a core from the processes that parse.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # Compute products with int8 matrices in float32. Otherwise the input is rounded too, and the kernel that does it
    # depends on the batch.
    options.add_session_config_entry("session.qdq_matmulnbits_accuracy_level", "1")
    graph = path.read_bytes()
    if _EXTERNAL_DATA in graph:  # The checksums of a bundle do not cover it.
        raise ModelBundleError(f"{path}: its weights are in another file", "export the model as one file")
    try:
        session = runtime.InferenceSession(graph, options, providers=providers)
    except Exception as error:  # As in `OnnxEncoder._run`.
        if lacks_memory(error):
            raise MemoryError(NO_MEMORY) from None
        raise damaged(f"{path}: ONNX Runtime cannot open it ({error})") from None
    if device == "cuda" and "CUDAExecutionProvider" not in session.get_providers():
        raise ConfigError(
            "device cuda: ONNX Runtime fell back to the CPU", "check the driver, or use --device cpu"
        )
    return session
