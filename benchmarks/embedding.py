"""Functions per second that the models embed with ONNX Runtime and numpy, on the CPU and on a GPU.

    python -m benchmarks.embedding [TREE] [--functions 100000] [--limit-s 60] [--bundles FOLDER ...] [--out FILE]

Writes `results/embedding.json` and a table of docs/dev/speed.md; with `--out`, only that file. The functions of a tree,
repeated until there are enough, are embedded in the batches that `codesearch index` makes. A run stops after the batch
in which it exceeds the limit. Time in the model includes the copies to a GPU and back. The remaining time is sorting
and padding, which the CPU always does.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import cycle, islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from benchmarks.publish import DEV_DOCS, fill, line, record
from benchmarks.speed import standard_library
from codesearch.config import WalkConfig
from codesearch.evaluation.result import describe_environment
from codesearch.languages import language_named
from codesearch.parsing.extract import extract
from codesearch.parsing.walker import WalkSummary, walk
from codesearch.text import onnx as encoding
from codesearch.text.bundle import SHIPPED
from codesearch.text.onnx import OnnxEncoder, RowSum, choose_device
from codesearch.text.tokenizer import TokenIds, document_text

PAGE = DEV_DOCS / "speed.md"
_BATCH = 4_096
Embed = Callable[[Sequence[TokenIds]], object]


class Stopwatch:
    """Adds up the seconds that calls take."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def timed(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """Return a call that does the same and is timed."""

        def run(*args: object, **kwargs: object) -> object:
            started = time.perf_counter()
            result = call(*args, **kwargs)
            self.seconds += time.perf_counter() - started
            return result

        return run


def main() -> None:
    """Embed with each model in every way that this machine has."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tree", nargs="?", type=Path, help="default: CPython's standard library")
    parser.add_argument("--functions", type=int, default=100_000)
    parser.add_argument("--limit-s", type=float, default=60, help="limit for each model in each way")
    parser.add_argument("--bundles", nargs="+", type=Path, default=[SHIPPED], help="default: the shipped one")
    parser.add_argument("--out", type=Path, help="write only this JSON file")
    options = parser.parse_args()
    texts = list(islice(function_texts(options.tree or standard_library()), options.functions))
    models = {}
    for folder in options.bundles:
        encoder = OnnxEncoder.load(folder, "cpu")
        started = time.perf_counter()
        tokens = [encoder.tokenizer.encode_document(text, encoder.max_document_tokens, "") for text in texts]
        tokenize_s = time.perf_counter() - started
        models[encoder.name] = {
            "tokenized_per_s": round(len(tokens) / tokenize_s),
            "ways": {
                name: throughput(embed, watch, tokens, options.functions, options.limit_s)
                for name, embed, watch in ways(encoder)
            },
        }
    rows = {"functions": options.functions, "models": models}
    if options.out:
        options.out.write_text(json.dumps({**describe_environment(), **rows}, indent=1) + "\n")
        print(table(models))
        return
    record("embedding", rows, flat=True)
    fill(PAGE, "embedding", table(models))


def function_texts(tree: Path) -> Iterator[str]:
    """Yield the text that an encoder reads of each function under a folder."""
    for file in walk(tree, WalkConfig(), WalkSummary()):
        spec = language_named(file.language)
        if spec:
            for document in extract((tree / file.path).read_bytes(), file.path, spec).documents:
                yield document_text(document)


def ways(encoder: OnnxEncoder) -> Iterator[tuple[str, Embed, Stopwatch]]:
    """Yield the ways to run a model on this machine: a name, the embedder, and the watch on the model only."""
    folder = encoder.bundle.folder
    for device in dict.fromkeys(("cpu", choose_device("auto"))):
        watch = Stopwatch()
        yield f"ONNX Runtime, {device}", onnx_way(folder, device, watch), watch
    if rows := encoder.bundle.rows.get(encoder.bundle.document_graph):
        watch = Stopwatch()
        row_sum = RowSum(folder / encoder.bundle.document_graph, rows)
        yield "numpy, cpu", watch.timed(row_sum.encode), watch


def onnx_way(folder: Path, device: str, watch: Stopwatch) -> Embed:
    """Return an embedder that runs a bundle as the product does."""
    encoder, open_session = OnnxEncoder.load(folder, device), encoding.open_session

    def opened(*args: Any, **kwargs: Any) -> SimpleNamespace:  # noqa: ANN401 - handed on.
        return SimpleNamespace(run=watch.timed(open_session(*args, **kwargs).run))

    def embed(tokens: Sequence[TokenIds]) -> object:
        with patch.object(encoding, "open_session", opened):
            return encoder.encode_documents(tokens)

    return embed


def throughput(
    embed: Embed, watch: Stopwatch, tokens: Sequence[TokenIds], count: int, limit_s: float
) -> dict[str, float]:
    """Embed `count` documents, repeating those given, or as many as the limit allows."""
    embed(tokens[:_BATCH:64])
    watch.seconds = done = 0
    documents = islice(cycle(tokens), count)
    started = time.perf_counter()
    while (batch := list(islice(documents, _BATCH))) and time.perf_counter() - started < limit_s:
        embed(batch)
        done += len(batch)
    seconds = time.perf_counter() - started
    return {
        "functions": done,
        "functions_per_s": round(done / seconds),
        "outside_model": round(1 - watch.seconds / seconds, 3),
    }


def table(models: dict[str, dict[str, Any]]) -> str:
    """Lay the rows out for the page."""
    lines = [line(["model", "by", "functions", "functions/s", "time outside the model"]), "|---" * 5 + "|"]
    for name, model in models.items():
        for way, row in model["ways"].items():
            cells = [f"{row['functions']:,}", f"{row['functions_per_s']:,}", f"{row['outside_model']:.1%}"]
            lines.append(line([name, way, *cells]))
    rates = [f"{name} {model['tokenized_per_s']:,}" for name, model in models.items()]
    return "\n".join([*lines, "", f"Tokenizing, on one core: {', '.join(rates)} functions a second."])


if __name__ == "__main__":
    main()
