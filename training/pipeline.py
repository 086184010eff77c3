"""A corpus folder and a run folder -> trained weights and held-out figures. The commands call these functions."""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Iterable, Sequence
from copy import deepcopy
from dataclasses import asdict
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from codesearch.files import atomic_writer
from codesearch.text.bundle import Bundle, load_bundle, read_manifest
from codesearch.text.tokenizer import SubtokenTokenizer
from training import checkpoint
from training.batches import SourceDataset
from training.build import build_model, fitting_config, start_from
from training.config import Source, TrainConfig
from training.corpus.rows import Row
from training.distributed import main_process_first, process_group
from training.encoders.bert import Bert
from training.encoders.joint import INIT_STD, JointEncoder
from training.evaluation.mrr import POOL, figures, held_out, validate
from training.files import TrainingError, writing
from training.loop import CHECKPOINT_S, Progress, train
from training.objectives import make_objective
from training.pretrained import fitted, pretrained_weights, teacher_vectors, vocabulary_of
from training.samples import Samples, kept_samples, make_samples
from training.sources import files_of, make_tokenizer, read_pairs

_log = logging.getLogger(__name__)
WORKERS = 4
"""Processes that prepare batches for a GPU. On the CPU one is enough."""
LARGE = 50_000
"""Fewer pairs are prepared sooner than such a process starts, as far as a CPU is concerned."""

MEASURED = {
    "all": "path, qualified name, rest of the docstring and code",
    "code": "code alone, as CodeSearchNet's published figures",
}
"""Setting `documents` -> how the figures of a run say what they were measured on."""


def train_run(
    sources: Sequence[Source],
    run: Path,
    config: TrainConfig,
    device: str = "auto",
    *,
    start: Path | None = None,
    vocabulary: Path | None = None,
    compiled: bool = False,
) -> None:
    """Train a run, or continue a stopped one; the model may be `compiled`.

    The vocabulary may be that of another run, `vocabulary`, or that of the bundle of a bag, `start`, whose vectors are
    the initial ones.
    """
    if compiled and "birnn" in (config.architecture, config.query_architecture):
        raise TrainingError("birnn: torch.compile cannot keep a GRU in one graph: leave out --compile")
    with process_group(choose_device(device)) as on:
        bundle = load_bundle(start) if start else None
        if bundle:
            config = fitting_config(config, bundle)
        with main_process_first():
            datasets, valid = _prepared(sources, run, config, bundle, vocabulary)
            tokenizer = SubtokenTokenizer.load(run / checkpoint.TOKENIZER)
            model = build_model(config, tokenizer.vocabulary_size, [dataset.samples for dataset in datasets])
            original = _initialised(model, run, config, bundle)
        for tower in {model.query, *model.documents.values()} if compiled else ():
            tower.compile(dynamic=True)
        fit(model, config, datasets, valid, run, device=on, original=original)


def _prepared(
    sources: Sequence[Source], run: Path, config: TrainConfig, bundle: Bundle | None, vocabulary: Path | None
) -> tuple[list[SourceDataset], list[SourceDataset]]:
    """Begin a run, or check that it was begun with the same settings; return its training and validation pairs."""
    decisive = {
        "config": asdict(config),
        "sources": [{**asdict(source), "path": source.path.name} for source in sources],
        "start": bundle.model_id if bundle else "",
        "data_hash": checkpoint.data_hash([path for source in sources for path in files_of(source, "train")]),
    }
    is_begun = checkpoint.is_begun(run, decisive)
    if not is_begun or not (run / checkpoint.TOKENIZER).exists():
        given = bundle.folder if bundle else vocabulary
        make_tokenizer(run, sources, config, given / checkpoint.TOKENIZER if given else None)
    datasets, valid = (read_datasets(sources, run, config, partition) for partition in ("train", "valid"))
    if not is_begun:
        facts = _facts([dataset.samples for dataset in datasets], bundle)
        vocabulary_hash = checkpoint.data_hash([run / checkpoint.TOKENIZER])
        checkpoint.write_config(run, {**decisive, **facts, "vocabulary_hash": vocabulary_hash})
    return datasets, valid


def fit(
    model: JointEncoder,
    config: TrainConfig,
    datasets: Sequence[SourceDataset],
    valid: Sequence[SourceDataset],
    run: Path,
    *,
    device: torch.device | None = None,
    original: JointEncoder | None = None,
    pool: int = POOL,
    checkpoint_s: float = CHECKPOINT_S,
) -> Progress:
    """Train a model on pairs, by default on the CPU and in bfloat16 on CUDA; return the final progress.

    The MRR of `valid` in pools of `pool` pairs decides which epoch is kept. `original` is the model before training, if
    it starts from a bundle.
    """
    device = device or torch.device("cpu")
    pools = held_out(valid, pool)
    model.to(device)
    objective = make_objective(model, config, datasets, device, original.to(device) if original else None)
    weights = sum(parameter.numel() for parameter in model.parameters())
    pairs = sum(len(dataset.samples) for dataset in datasets)
    _log.info("%s, %s weights, %s pairs to learn from", device, f"{weights:,}", f"{pairs:,}")
    return train(
        model,
        objective,
        config,
        run,
        lambda: validate(model, pools, config, device),
        workers=WORKERS if device.type == "cuda" else int(pairs >= LARGE),
        checkpoint_s=checkpoint_s,
    )


def _facts(samples: Sequence[Samples], bundle: Bundle | None) -> dict[str, object]:
    before = read_manifest(bundle.folder).get("trained_on", []) if bundle else []
    return {
        "pairs": sum(map(len, samples)),
        "languages": sorted({name for its in samples for name in its.language_names}),
        "trained_on": sorted({*before, *(package for its in samples for package in its.packages)}),
    }


def _initialised(
    model: JointEncoder, run: Path, config: TrainConfig, bundle: Bundle | None
) -> JointEncoder | None:
    """Give a model its initial weights; return a copy of it if they are those of a bundle."""
    if bundle:
        start_from(model, bundle)
        return deepcopy(model).eval().requires_grad_(False)
    if isinstance(model.query, Bert):
        tokenizer = run / checkpoint.TOKENIZER
        model.query.load_state_dict(pretrained_weights(tokenizer, config.max_document_tokens))
    elif config.initial_vectors != "noise":
        model.set_vectors(_initial_vectors(run, config))
    return None


def _initial_vectors(run: Path, config: TrainConfig) -> Tensor:
    """Run the teacher once; a resumed run reads the result."""
    path = run / "teacher.npy"
    if not path.exists():
        vectors = teacher_vectors(vocabulary_of(run / checkpoint.TOKENIZER))
        with atomic_writer(path) as file:
            np.save(file, vectors)
    return fitted(np.load(path), config.dim, INIT_STD, special=2)


def choose_device(device: str) -> torch.device:
    """Turn "auto" into CUDA if it is available, else into the CPU."""
    if device == "cuda" and not torch.cuda.is_available():
        raise TrainingError("device cuda: not available to this torch: use --device cpu")
    return torch.device("cuda" if device != "cpu" and torch.cuda.is_available() else "cpu")


def evaluate_run(
    run: Path, name: str, rows: Iterable[Row], device: str = "auto", *, file: str
) -> dict[str, object]:
    """Compute a run's figures on the rows of a set, write them as `mrr_FILE.json` and return them."""
    started = time.perf_counter()
    model, tokenizer, config = load_run(run)
    samples = make_samples(
        (row for row in rows if model.languages([row.language])),
        tokenizer,
        max_query_tokens=config.max_query_tokens,
        max_document_tokens=config.max_document_tokens,
        documents=config.documents,
    )
    on = choose_device(device)
    if not len(samples):
        raise TrainingError(
            f"{name}: no documented functions of a language that {run} was trained on; a small corpus may hold out none"
        )
    counts = np.bincount(samples.languages, minlength=len(samples.language_names))
    result: dict[str, object] = {
        "set": name,
        "documents": MEASURED[config.documents],
        "pairs": dict(zip(samples.language_names, counts.tolist(), strict=True)),
    }
    for metric, values in figures(model.to(on), samples, device=on).items():
        result[metric] = {language: round(value, 4) for language, value in values.items()}
    result["seconds"] = round(time.perf_counter() - started, 1)
    with writing(run):
        (run / f"mrr_{file}.json").write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    return result


def load_run(run: Path) -> tuple[JointEncoder, SubtokenTokenizer, TrainConfig]:
    """Load the best weights of a run."""
    record = checkpoint.read_config(run)
    config = TrainConfig(**record["config"])
    tokenizer = SubtokenTokenizer.load(run / checkpoint.TOKENIZER)
    if record.get("vocabulary_hash", found := checkpoint.data_hash([run / checkpoint.TOKENIZER])) != found:
        raise TrainingError(f"{run / checkpoint.TOKENIZER}: not the vocabulary of this run: train it again")
    model = build_model(config, tokenizer.vocabulary_size, languages=tuple(record["languages"]))
    checkpoint.load_weights(model, run)
    model.eval()
    return model, tokenizer, config


def read_datasets(
    sources: Sequence[Source], run: Path, config: TrainConfig, partition: str
) -> list[SourceDataset]:
    """Tokenize the pairs of each source with the run's vocabulary, or map the result of an earlier run."""
    tokenizer = run / checkpoint.TOKENIZER
    vocabulary = checkpoint.data_hash([tokenizer])
    limits = config.max_query_tokens, config.max_document_tokens
    datasets = []
    for source in sources:
        decided_by = [checkpoint.data_hash(files_of(source, partition)), vocabulary, partition, source.most]
        folder = source.path if source.path.is_dir() else source.path.parent
        samples = kept_samples(
            (folder if os.access(folder, os.W_OK) else run) / "tokenized",
            [*decided_by, config.seed if source.most else 0, config.name_share > 0, config.documents],
            read_pairs(source, partition, config),
            SubtokenTokenizer.load(tokenizer),
            limits,
        )
        if not len(samples) and partition == "train":
            raise TrainingError(f"source {source.name}: no pairs to train on in {source.path}")
        datasets.append(SourceDataset(source, samples))
    return datasets
