"""A corpus folder and a run folder -> trained weights and held-out figures. The commands call these functions."""

from __future__ import annotations

import json
import random
import shutil
import time
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from codesearch.encoding.tokenizer import SubtokenTokenizer
from codesearch.files import atomic_writer
from training import checkpoint
from training.config import TrainConfig
from training.corpus.rows import Row, read_rows
from training.encoders.bert import Bert
from training.encoders.joint import INIT_STD, JointEncoder
from training.errors import TrainingError
from training.evaluate import encode_texts, figures, ranks_among, recalls
from training.evaluation_sets import Questions, read_cosqa, row_files, rows_elsewhere, rows_of
from training.initial_vectors import fitted, teacher_vectors, vocabulary_of
from training.loop import build_model, train
from training.pretrained import pretrained_tokenizer, pretrained_weights
from training.questions import read_questions
from training.samples import Samples, make_samples, texts_of_row, train_tokenizer
from training.tokenized import kept_samples

MEASURED = {
    "all": "path, qualified name, rest of the docstring and code",
    "code": "code alone, as CodeSearchNet's published figures",
}
"""Setting `documents` -> how the figures of a run say what they were measured on."""


def train_run(
    corpus: Path,
    run: Path,
    config: TrainConfig,
    device: str = "auto",
    *,
    questions: Sequence[Path] = (),
    vocabulary: Path | None = None,
) -> None:
    """Train a run, or continue a killed one.

    Args:
        corpus: folder of rows.
        run: folder of the run.
        config: settings.
        device: where to train.
        questions: files of real questions to train on too.
        vocabulary: a run that gives its vocabulary.

    Raises:
        TrainingError: the corpus has no rows, the run was begun with other settings or data, or there is no
            vocabulary to take.
        MissingExtraError: the settings ask for a teacher that is not installed.
    """
    if vocabulary and not (vocabulary / checkpoint.TOKENIZER).exists():
        raise TrainingError(
            f"{vocabulary / checkpoint.TOKENIZER} is not there: name a run for its vocabulary"
        )
    on = choose_device(device)
    paths = row_files(corpus, "train")

    @cache
    def rows() -> list[Row]:  # This takes minutes for a whole corpus, and a resumed run needs no rows.
        read = list(chain.from_iterable(read_rows(path) for path in paths))
        return [*chosen_rows(read, config), *read_questions(questions, config.question_repeats)]

    data = checkpoint.data_hash([*paths, *questions])
    if not checkpoint.is_begun(run, config, data):
        checkpoint.write_config(
            run,
            config,
            data,
            packages=sorted({row.package or row.repo for row in rows()}),
            languages=sorted({row.language for row in rows()}),
            pairs=len(rows()),
        )
    if vocabulary:
        shutil.copyfile(vocabulary / checkpoint.TOKENIZER, run / checkpoint.TOKENIZER)
    tokenizer = _tokenizer(rows, run, config)
    train_set = _kept(corpus, run, rows, config, data, varied=True)
    rows.cache_clear()
    valid_data = checkpoint.data_hash(row_files(corpus, "valid"))
    valid_set = _kept(corpus, run, lambda: rows_of(corpus, "valid"), config, valid_data, varied=False)
    model = build_model(config, tokenizer.vocabulary_size, train_set)
    if isinstance(model.query, Bert):
        model.query.load_state_dict(
            pretrained_weights(run / checkpoint.TOKENIZER, config.max_document_tokens)
        )
    elif config.initial_vectors != "noise":
        model.set_vectors(_initial_vectors(run, config))
    train(model, config, train_set, valid_set, run, device=on)


def _initial_vectors(run: Path, config: TrainConfig) -> Tensor:
    """Run the teacher once; a resumed run reads the result."""
    kept = _once(run / "teacher.npy", lambda: teacher_vectors(vocabulary_of(run / checkpoint.TOKENIZER)))
    return fitted(kept, config.dim, INIT_STD, special=2)


def _once(path: Path, make: Callable[[], NDArray[Any]]) -> NDArray[Any]:
    """Read an array from its file; if there is none, make the array and write it."""
    if not path.exists():
        found = make()
        with atomic_writer(path) as file:
            np.save(file, found)
    return np.asarray(np.load(path))


def chosen_rows(rows: list[Row], config: TrainConfig) -> list[Row]:
    """Draw `max_pairs` rows by seed, in their order; a smaller draw is part of a larger one."""
    if not config.max_pairs or config.max_pairs >= len(rows):
        return rows
    chosen = np.random.default_rng((config.seed, 2)).permutation(len(rows))[: config.max_pairs]
    return [rows[index] for index in np.sort(chosen)]


def choose_device(device: str) -> torch.device:
    """Turn "auto" into CUDA if it is available, else into the CPU.

    Raises:
        TrainingError: CUDA was asked for and is not available.
    """
    if device == "cuda" and not torch.cuda.is_available():
        raise TrainingError("device cuda: not available to this torch: use --device cpu")
    return torch.device("cuda" if device != "cpu" and torch.cuda.is_available() else "cpu")


def evaluate_run(
    corpus: Path,
    run: Path,
    name: str,
    evaluation_sets: Path | None = None,
    device: str = "auto",
    *,
    max_pairs: int = 0,
) -> dict[str, object]:
    """Compute a run's figures on a held-out set, write them as `mrr_NAME.json` and return them.

    With `max_pairs`, use that number of pairs for each language, the same for every run.

    Raises:
        TrainingError: the run or the set does not exist.
    """
    if name == "cosqa":
        return _evaluate_questions(run, name, read_cosqa(evaluation_sets), device)
    return _evaluate_rows(run, name, _drawn(rows_of(corpus, name), max_pairs), device)


def _drawn(rows: Iterable[Row], count: int) -> Iterable[Row]:
    if not count:
        return rows
    by_language: dict[str, list[Row]] = {}
    for row in rows:
        by_language.setdefault(row.language, []).append(row)
    return chain.from_iterable(
        random.Random(0).sample(found, min(count, len(found))) for found in by_language.values()
    )


def evaluate_elsewhere(path: Path, run: Path, device: str = "auto") -> dict[str, object]:
    """Compute a run's figures on the test rows of data in any layout; write them as `mrr_data.json`."""
    return _evaluate_rows(run, str(path), rows_elsewhere(path), device, file="data")


def _evaluate_rows(
    run: Path, name: str, rows: Iterable[Row], device: str, file: str = ""
) -> dict[str, object]:
    started = time.perf_counter()
    model, tokenizer, config = load_run(run)
    samples = _samples(rows, tokenizer, config)
    on = choose_device(device)
    samples = samples.only(model.languages(samples.language_names))
    if not len(samples):
        raise TrainingError(
            f"{name}: no documented functions of a language that {run} was trained on; a small corpus may hold out none"
        )
    counts = np.bincount(samples.languages, minlength=len(samples.language_names))
    pairs = dict(zip(samples.language_names, counts.tolist(), strict=True))
    found = {"set": name, "documents": MEASURED[config.documents], "pairs": pairs}
    return _written(run, file or name, started, found, figures(model.to(on), samples, device=on))


def _evaluate_questions(run: Path, name: str, questions: Questions, device: str) -> dict[str, object]:
    started = time.perf_counter()
    model, tokenizer, config = load_run(run)
    on = choose_device(device)
    model.to(on)
    queries = encode_texts(
        model.query, [tokenizer.encode(text, config.max_query_tokens) for text in questions.queries], on
    )
    documents = encode_texts(
        model.document(questions.language),
        [tokenizer.encode(text, config.max_document_tokens) for text in questions.documents],
        on,
    )
    ranks = ranks_among(queries, documents, np.array(questions.answers, np.int64))
    pairs = {questions.language: len(questions.queries)}
    found = {metric: {questions.language: value} for metric, value in recalls(ranks).items()}
    return _written(run, name, started, {"set": name, "documents": "code", "pairs": pairs}, found)


def _written(
    run: Path, name: str, started: float, about: dict[str, object], found: dict[str, dict[str, float]]
) -> dict[str, object]:
    rounded = {
        metric: {language: round(value, 4) for language, value in values.items()}
        for metric, values in found.items()
    }
    result = {**about, **rounded, "seconds": round(time.perf_counter() - started, 1)}
    (run / f"mrr_{name}.json").write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    return result


def load_run(run: Path) -> tuple[JointEncoder, SubtokenTokenizer, TrainConfig]:
    """Load the best weights of a run.

    Raises:
        TrainingError: the run has none yet.
    """
    record = checkpoint.read_config(run)
    config = TrainConfig(**record["config"])
    if not (run / checkpoint.WEIGHTS).exists():
        raise TrainingError(f"{run} holds no weights yet: let `python -m training train` finish an epoch")
    tokenizer = SubtokenTokenizer.load(run / checkpoint.TOKENIZER)
    model = build_model(config, tokenizer.vocabulary_size, languages=tuple(record["languages"]))
    model.load_state_dict(checkpoint.load(run / checkpoint.WEIGHTS))
    model.eval()
    return model, tokenizer, config


def _kept(
    corpus: Path,
    run: Path,
    rows: Callable[[], Iterable[Row]],
    config: TrainConfig,
    data: str,
    *,
    varied: bool,
) -> Samples:
    """Tokenize rows with the run's vocabulary, or read the stored result of an earlier run."""
    path = run / checkpoint.TOKENIZER
    shares = [config.name_share] if varied else []
    also = [config.max_pairs, config.question_repeats, config.max_query_tokens, config.max_document_tokens]
    return kept_samples(
        corpus / "tokenized",
        [data, checkpoint.data_hash([path]), shares, config.seed, *also, config.documents],
        lambda: _samples(rows(), SubtokenTokenizer.load(path), config, varied=varied),
    )


def _samples(
    rows: Iterable[Row], tokenizer: SubtokenTokenizer, config: TrainConfig, *, varied: bool = False
) -> Samples:
    """Tokenize rows; if `varied`, for training, a share of them become name samples."""
    return make_samples(
        rows,
        tokenizer,
        max_query_tokens=config.max_query_tokens,
        max_document_tokens=config.max_document_tokens,
        documents=config.documents,
        name_share=config.name_share if varied else 0.0,
        seed=config.seed,
    )


def _tokenizer(rows: Callable[[], Sequence[Row]], run: Path, config: TrainConfig) -> SubtokenTokenizer:
    path = run / checkpoint.TOKENIZER
    if not path.exists():
        chosen = np.random.default_rng(config.seed).permutation(len(rows()))[: config.vocabulary_rows]
        if config.architecture == "bert":
            texts = (text for index in chosen for text in texts_of_row(rows()[index], config.documents))
            pretrained_tokenizer(path, texts, config.vocabulary_size)
        else:
            learned_from = (rows()[index] for index in chosen)
            train_tokenizer(learned_from, config.vocabulary_size, config.documents).save(path)
    return SubtokenTokenizer.load(path)
