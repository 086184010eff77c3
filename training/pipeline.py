"""A corpus folder and a run folder -> trained weights and held-out figures: what the commands call."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path

import numpy as np

from codesearch.encoding.tokenizer import SubtokenTokenizer
from training import checkpoint
from training.config import TrainConfig
from training.corpus.rows import Row, read_rows
from training.encoders.nbow import NBowEncoder
from training.errors import TrainingError
from training.evaluate import mrr_by_language
from training.loop import build_model, train
from training.samples import Samples, make_samples, train_tokenizer


def train_run(corpus: Path, run: Path, config: TrainConfig) -> None:
    """Train a run, or go on with a killed one.

    Raises:
        TrainingError: the corpus has no rows, or the run was started with other settings or data.
    """
    paths = row_files(corpus, "train")
    rows = list(chain.from_iterable(read_rows(path) for path in paths))
    packages = {row.package for row in rows}
    checkpoint.write_config(run, config, checkpoint.data_hash(paths), sorted(packages))
    tokenizer = _tokenizer(rows, run, config)
    train_set = _samples(rows, tokenizer, config, config.name_share)
    del rows
    valid_set = read_samples(corpus, "valid", tokenizer, config)
    model = build_model(config, tokenizer.vocabulary_size, train_set)
    train(model, config, train_set, valid_set, run)


def evaluate_run(corpus: Path, run: Path, partition: str) -> dict[str, object]:
    """Compute a run's MRR on a partition, write it as `mrr_PARTITION.json` and return it."""
    started = time.perf_counter()
    model, tokenizer, config = load_run(run)
    samples = read_samples(corpus, partition, tokenizer, config)
    counts = np.bincount(samples.languages, minlength=len(samples.language_names))
    result: dict[str, object] = {
        "partition": partition,
        "data_hash": checkpoint.data_hash(row_files(corpus, partition)),
        "pairs": dict(zip(samples.language_names, counts.tolist(), strict=True)),
        "mrr_999": {name: round(mrr, 4) for name, mrr in mrr_by_language(model, samples).items()},
        "seconds": round(time.perf_counter() - started, 1),
    }
    (run / f"mrr_{partition}.json").write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    return result


def load_run(run: Path) -> tuple[NBowEncoder, SubtokenTokenizer, TrainConfig]:
    """Load the best weights of a run.

    Raises:
        TrainingError: the run has none yet.
    """
    config = TrainConfig(**checkpoint.read_config(run)["config"])
    if not (run / checkpoint.WEIGHTS).exists():
        raise TrainingError(f"{run} holds no weights yet: let `python -m training train` finish an epoch")
    tokenizer = SubtokenTokenizer.load(run / checkpoint.TOKENIZER)
    model = NBowEncoder(tokenizer.vocabulary_size, config.dim)
    model.load_state_dict(checkpoint.load(run / checkpoint.WEIGHTS))
    model.eval()
    return model, tokenizer, config


def read_samples(corpus: Path, partition: str, tokenizer: SubtokenTokenizer, config: TrainConfig) -> Samples:
    """Tokenize a partition, without name samples."""
    rows = chain.from_iterable(read_rows(path) for path in row_files(corpus, partition))
    return _samples(rows, tokenizer, config, 0.0)


def row_files(corpus: Path, partition: str) -> list[Path]:
    """List the row files of a partition.

    Raises:
        TrainingError: there are none.
    """
    paths = sorted((corpus / "rows").glob(f"*.{partition}.jsonl.zst"))
    if not paths:
        raise TrainingError(f"{corpus}/rows has no {partition} rows: run `python -m training corpus extract`")
    return paths


def _samples(rows: Iterable[Row], tokenizer: SubtokenTokenizer, config: TrainConfig, share: float) -> Samples:
    return make_samples(
        rows,
        tokenizer,
        max_query_tokens=config.max_query_tokens,
        max_document_tokens=config.max_document_tokens,
        name_share=share,
        seed=config.seed,
    )


def _tokenizer(rows: Sequence[Row], run: Path, config: TrainConfig) -> SubtokenTokenizer:
    path = run / checkpoint.TOKENIZER
    if not path.exists():
        chosen = np.random.default_rng(config.seed).permutation(len(rows))[: config.vocabulary_rows]
        train_tokenizer((rows[index] for index in chosen), config.vocabulary_size).save(path)
    return SubtokenTokenizer.load(path)
