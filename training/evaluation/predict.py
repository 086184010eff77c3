"""`python -m training predict`: a run ranks every function of a data set for queries -> a submission.

The file has CodeSearchNet's columns `query,language,identifier,url`, best first, with 100 results for each query and
language. Functions are read as a stream, and only the best so far are kept.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from itertools import chain, groupby, islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from codesearch.evaluation.data import query_id, read_queries
from training.corpus.load import load
from training.corpus.rows import Row
from training.evaluation.mrr import encode_texts
from training.files import TrainingError
from training.pipeline import choose_device, load_run
from training.predictions import write_predictions
from training.samples import texts_of_row

TOP_K = 100
_AT_ONCE = 4_096
Best = list[tuple[float, str, str]]
"""(minus cosine, url, identifier) of the functions found for a query, best first."""


def predict(
    run: Path, data: Sequence[Path], queries: Path, out: Path, device: str = "auto"
) -> dict[str, int]:
    """Write a submission; return the number of functions that were ranked, by language."""
    model, tokenizer, config = load_run(run)
    on = choose_device(device)
    model.to(on)
    asked = read_queries(queries)
    ids = [tokenizer.encode(query, config.max_query_tokens) for query in asked]
    query_vectors = encode_texts(model.query, ids, on)
    best: dict[str, list[Best]] = {}
    counts: dict[str, int] = {}
    for language, rows in _chunks(data):
        if not model.languages([language]):
            continue
        texts = [texts_of_row(row, config.documents)[1] for row in rows]
        encoded = [tokenizer.encode(text, config.max_document_tokens) for text in texts]
        cosines = (query_vectors @ encode_texts(model.document(language), encoded, on).T).cpu().numpy()
        kept = best.setdefault(language, [[] for _ in asked])
        best[language] = [_merged(old, scores, rows) for old, scores in zip(kept, cosines, strict=True)]
        counts[language] = counts.get(language, 0) + len(rows)
    if not counts:
        raise TrainingError(f"{data[0]}: no function of a language that {run} was trained on")
    _write(out, asked, best)
    return counts


def _chunks(data: Sequence[Path]) -> Iterator[tuple[str, list[Row]]]:
    """Yield functions of one language at a time."""
    loaded = tqdm(chain.from_iterable(map(load, data)), unit="function", unit_scale=True, disable=None)
    rows = (each.row for each in loaded)
    for language, of_language in groupby(rows, key=lambda row: row.language):
        while chunk := list(islice(of_language, _AT_ONCE)):
            yield language, chunk


def _merged(best: Best, scores: NDArray[np.float32], rows: Sequence[Row]) -> Best:
    found = ((-float(score), row.url, row.func_name) for score, row in zip(scores, rows, strict=True))
    return heapq.nsmallest(TOP_K, heapq.merge(best, sorted(found)))


def _write(out: Path, asked: Sequence[str], best: dict[str, list[Best]]) -> None:
    queries, run, names = {}, {}, {}
    for language, of_language in best.items():
        for text, found in zip(asked, of_language, strict=True):
            query = query_id(language, text)
            queries[query] = text
            run[query] = [url for _, url, _ in found]
            names.update({url: name for _, url, name in found})
    write_predictions(out, run, queries, names)
