"""Suite `csn-mrr`: the encoders' protocol of CodeSearchNet, documentation against code, by language.

The data is a file or folder in any layout of `training.corpus.load`, such as the official test set or a corpus of this
project; its test rows count.

`mrr`: batches of 1,000 pairs in an order drawn once. Each query ranks the codes of its batch. An incomplete batch is
not used, so a language with fewer pairs than a batch has no score.

`bm25` is the product's BM25F. `bm25_english` is BM25 of ElasticSearch's English analyser, the paper's baseline.

*Source*: Husain et al. 2019, section 4.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from codesearch.errors import ConfigError
from codesearch.evaluation.judge import BenchOptions
from codesearch.evaluation.result import SuiteResult, describe_encoder
from codesearch.text.bundle import SHIPPED
from codesearch.text.onnx import OnnxEncoder
from training.corpus.load import load_test
from training.evaluation.pairs import SYSTEMS, CodeScorer, EnglishScorer, Pair, ranks, summarise_means

COMPETING = 1_000
COMPARED = (*SYSTEMS, "bm25_english")
_SEED = 99
PUBLISHED = {"mrr": {"NBoW": 0.5181, "1D-CNN": 0.4753, "biRNN": 0.2580, "SelfAtt": 0.5628}}
"""Husain et al. 2019, over their test set: means of the six languages. Their own average is of mixed languages."""
ReciprocalRanks = dict[str, NDArray[np.float64]]
"""System -> reciprocal ranks [Q]."""


def run(options: BenchOptions) -> SuiteResult:
    """Run the suite."""
    if options.data is None:
        raise ConfigError("suite csn-mrr needs data: give --data a file or folder of held-out functions")
    with options.clock.stage("read"):
        pairs = read_pairs(options.data)
    large = {language: found for language, found in sorted(pairs.items()) if len(found) >= COMPETING}
    if not large:
        raise ConfigError(f"{options.data}: no language has {COMPETING:,} functions: give a larger test set")
    encoder = OnnxEncoder.load(options.model or SHIPPED, options.device)
    found: dict[str, ReciprocalRanks] = {}
    for number, (language, of_language) in enumerate(large.items()):
        options.on_progress("rank", number, len(large))
        with options.clock.stage(language):
            found[language] = reciprocal_ranks(of_language, encoder, COMPETING)
    return SuiteResult(
        suite="csn-mrr",
        systems={
            system: summarise_means({"mrr": {language: found[language][system] for language in found}})
            for system in COMPARED
        },
        judged_queries=sum(len(of_language["dense"]) for of_language in found.values()),
        documents=sum(map(len, large.values())),
        seconds=options.clock.seconds,
        published=PUBLISHED,
        details={
            "model": describe_encoder(encoder),
            "pairs": {language: len(of_language) for language, of_language in sorted(pairs.items())},
            "competing": COMPETING,
            "seed": _SEED,
        },
    )


def read_pairs(path: Path) -> dict[str, list[Pair]]:
    """Read the documented test rows of each language from a file or folder."""
    pairs: dict[str, list[Pair]] = defaultdict(list)
    for loaded in load_test(path):
        query = " ".join(loaded.docstring_tokens) or loaded.row.docstring
        pairs[loaded.row.language].append(Pair(query, loaded.row.code))
    return pairs


def reciprocal_ranks(pairs: list[Pair], encoder: OnnxEncoder, size: int) -> ReciprocalRanks:
    """Rank each pair's code among the codes of its batch."""
    order = np.random.default_rng(_SEED).permutation(len(pairs))
    found: dict[str, list[NDArray[np.float64]]] = {system: [] for system in COMPARED}
    codes = [pair.code for pair in pairs]
    scorer, english = CodeScorer(codes, encoder), EnglishScorer(codes)
    try:
        for start in range(0, len(order) - size + 1, size):
            batch = order[start : start + size]
            queries = [pairs[row].query for row in batch]
            of_all = scorer.scores(queries) | {"bm25_english": english.scores(queries)}
            scores = {system: its[:, batch] for system, its in of_all.items()}
            scores["fused"] = scorer.fused(scores["bm25"], scores["dense"])
            for system in COMPARED:
                found[system].append(1.0 / ranks(scores[system], np.arange(size)))
    finally:
        scorer.close()
    return {system: np.concatenate(parts) for system, parts in found.items()}
