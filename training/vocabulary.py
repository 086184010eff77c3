"""Sources -> the vocabulary of a run."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from training.bpe import train_tokenizer
from training.checkpoint import TOKENIZER
from training.config import Source, TrainConfig
from training.errors import TrainingError
from training.pretrained import pretrained_tokenizer
from training.samples import Pair
from training.sources import drawn_numbers, read_pairs


def make_tokenizer(run: Path, sources: Sequence[Source], config: TrainConfig, known: Path | None) -> None:
    """Write the `tokenizer.json` of a run: a known one, or one that is learned from some of the pairs.

    Raises:
        TrainingError: the known one is not there.
    """
    if known and not known.exists():
        raise TrainingError(f"{known} is not there: name a run for its vocabulary")
    run.mkdir(parents=True, exist_ok=True)
    if known:
        shutil.copyfile(known, run / TOKENIZER)
        return
    texts = (text for pair in _some(sources, config) for text in (pair.query, pair.document))
    if config.architecture == "bert":
        pretrained_tokenizer(run / TOKENIZER, texts, config.vocabulary_size)
    else:
        train_tokenizer(texts, config.vocabulary_size).save(run / TOKENIZER)


def _some(sources: Sequence[Source], config: TrainConfig) -> Iterator[Pair]:
    """Draw pairs of all sources by seed."""
    config = replace(config, name_share=0.0)
    numbers = [drawn_numbers(source, config) for source in sources]
    owners = np.repeat(np.arange(len(sources)), [len(its) for its in numbers])
    chosen = np.random.default_rng(config.seed).permutation(len(owners))[: config.vocabulary_rows]
    every = np.concatenate(numbers)
    for number, source in enumerate(sources):
        wanted = set(every[chosen[owners[chosen] == number]].tolist())
        yield from read_pairs(source, "train", config, wanted)
