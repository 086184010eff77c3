"""Trained encoder and held-out pairs -> MRR and recall, by language.

- `mrr_999`: batches of 1,000 pairs of one language; each query ranks its own document and the 999 others. An
  incomplete batch is not used.
- `mrr_999_by_code`: the same, but each document ranks the queries, as the released evaluation does.
- `mrr_999_mixed`: batches of 1,000 pairs of all languages, the paper's headline; only under `average`.
- `mrr_full`, `recall_at_K`: against every document of the language.

A tied document ranks above the right answer. Each metric has the mean over languages as `average`.

*Source*: Husain et al. 2019, section 4 (batches of 1,000); Lu et al. 2021 (AdvTest: every document).
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from training.batches import SourceDataset, counted, mixed_precision, padded, stream
from training.config import TrainConfig
from training.corpus.split import HELD_OUT_RULE
from training.distributed import gather_values, rank, world
from training.encoders.joint import JointEncoder
from training.evaluation.pairs import ranks
from training.files import TrainingError
from training.samples import Packed, Samples, pack, short_ids

_log = logging.getLogger(__name__)
POOL = 1_000
RECALL_AT = (1, 5, 10)
_EVALUATION_SEED = 99
_ENCODE_BATCH = 500
_SCORED_AT_ONCE = 1_024
_LEAST_POOL = 2


def ranks_among(queries: Tensor, documents: Tensor, answers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rank of each query's answer among all documents [N, D], from 1: int64 [Q]."""
    found = []
    for start in range(0, len(queries), _SCORED_AT_ONCE):
        similarities = queries[start : start + _SCORED_AT_ONCE] @ documents.T
        found.append(ranks(similarities.cpu().numpy(), answers[start : start + _SCORED_AT_ONCE]))
    return np.concatenate(found)


def encode(
    model: JointEncoder, samples: Samples, indices: NDArray[np.int64], device: torch.device | None = None
) -> tuple[Tensor, Tensor]:
    """Embed the queries and the documents of some samples of one language: float32 [N, D] each."""
    tower = model.document(samples.language_names[samples.languages[indices[0]]])
    return (
        _encoded(model.query, samples.queries, indices, device),
        _encoded(tower, samples.documents, samples.answers[indices], device, counts=model.takes_counts),
    )


def encode_texts(
    tower: nn.Module, texts: Sequence[NDArray[np.integer]], device: torch.device | None = None
) -> Tensor:
    """Embed token ids with one side of an encoder: float32 [N, D], in the order given."""
    return _encoded(tower, pack([short_ids(text) for text in texts]), np.arange(len(texts)), device)


@torch.inference_mode()
def _encoded(
    tower: nn.Module,
    texts: Packed,
    indices: NDArray[np.int64],
    device: torch.device | None,
    *,
    counts: bool = False,
) -> Tensor:
    # Texts of one length share a batch, which needs little padding.
    order = np.argsort(texts.lengths[indices], kind="stable")
    parts = []
    for start in range(0, len(order), _ENCODE_BATCH):
        ids, mask = padded(texts, indices[order[start : start + _ENCODE_BATCH]])
        ids, mask = counted(ids, mask) if counts else (ids, mask)
        parts.append(tower(ids.to(device), mask.to(device)))
    return torch.cat(parts)[torch.from_numpy(np.argsort(order))]


def mrr_by_language(
    model: JointEncoder,
    samples: Samples,
    pool: int = POOL,
    max_pools: int | None = None,
    device: torch.device | None = None,
) -> dict[str, float]:
    """Compute `mrr_999`, without languages that have fewer pairs than one pool; all processes share the pools."""
    model.eval()
    pools = [
        (name, indices[start : start + pool])
        for name, indices in _shuffled(samples).items()
        for start in range(0, len(indices) - pool + 1, pool)[:max_pools]
    ]
    own = {}
    for number in range(rank(), len(pools), world()):
        with mixed_precision(device or torch.device("cpu")):
            queries, documents = encode(model, samples, pools[number][1], device)
        own[number] = batch_mrr(queries.float(), documents.float(), pool)
    values = {number: value for its in gather_values(own) for number, value in its.items()}
    found: dict[str, list[float]] = {}
    for number, (name, _) in enumerate(pools):
        found.setdefault(name, []).append(values[number])
    return with_average({name: sum(its) / len(its) for name, its in found.items()})


def batch_mrr(queries: Tensor, documents: Tensor, pool: int) -> float:
    """Return the mean reciprocal rank over whole batches of `pool` pairs."""
    found = [
        ranks_among(queries[start : start + pool], documents[start : start + pool], np.arange(pool))
        for start in range(0, len(queries) - pool + 1, pool)
    ]
    return float((1 / np.concatenate(found)).mean())


def figures(
    model: JointEncoder, samples: Samples, pool: int = POOL, device: torch.device | None = None
) -> dict[str, dict[str, float]]:
    """Compute every figure of the module's docstring: {name: {language: value}}.

    A language with fewer pairs than one pool has only the figures over all documents.
    """
    model.eval()
    found: dict[str, dict[str, float]] = {}
    sides: list[tuple[Tensor, Tensor]] = []
    for language, indices in _shuffled(samples).items():
        queries, documents = encode(model, samples, indices, device)
        sides.append((queries, documents))
        its = recalls(ranks_among(queries, documents, np.arange(len(queries))))
        if len(queries) >= pool:
            its["mrr_999"] = batch_mrr(queries, documents, pool)
            its["mrr_999_by_code"] = batch_mrr(documents, queries, pool)
        else:
            _log.warning("%s: no mrr_999, because there are %d pairs, not %d", language, len(indices), pool)
        for name, value in its.items():
            found.setdefault(name, {})[language] = value
    result = {name: with_average(values) for name, values in found.items()}
    if len(sides) > 1 and len(samples) >= pool:
        order = torch.from_numpy(np.random.default_rng(_EVALUATION_SEED).permutation(len(samples)))
        queries, documents = (torch.cat(side)[order] for side in zip(*sides, strict=True))
        result["mrr_999_mixed"] = {"average": batch_mrr(queries, documents, pool)}
    return result


def recalls(of_right: NDArray[np.int64]) -> dict[str, float]:
    """Return MRR and recall at each cut-off of ranks that count from 1."""
    found = {"mrr_full": float((1 / of_right).mean())}
    return found | {f"recall_at_{k}": float((of_right <= k).mean()) for k in RECALL_AT}


def with_average(values: Mapping[str, float]) -> dict[str, float]:
    """Add the mean over languages."""
    return {**values, "average": sum(values.values()) / max(1, len(values))}


def _shuffled(samples: Samples) -> dict[str, NDArray[np.int64]]:
    """Return each language's pairs in the order that pools are cut from."""
    return {
        name: np.random.default_rng(stream(_EVALUATION_SEED, name)).permutation(
            np.flatnonzero(samples.languages == language)
        )
        for language, name in enumerate(samples.language_names)
    }


def held_out(datasets: Sequence[SourceDataset], pool: int = POOL) -> list[tuple[SourceDataset, int]]:
    """Return the sources that hold out pairs, with the number of pairs of a validation pool.

    It is smaller than `pool` if no language has as many.
    """
    found = []
    for dataset in datasets:
        largest = max(np.bincount(dataset.samples.languages).tolist(), default=0)
        if largest >= _LEAST_POOL:
            found.append((dataset, min(pool, largest)))
            if largest < pool:
                _log.warning(
                    "validation pools of %s have %d pairs, not %d: MRR is higher than published figures",
                    dataset.source.name,
                    largest,
                    pool,
                )
    if not found:
        count = sum(len(dataset.samples) for dataset in datasets)
        raise TrainingError(
            f"{count} validation pairs, not two of one language: {HELD_OUT_RULE}: add small ones to the recipe"
        )
    return found


def validate(
    model: JointEncoder,
    datasets: Sequence[tuple[SourceDataset, int]],
    config: TrainConfig,
    device: torch.device,
) -> dict[str, float]:
    """Return the MRR of each source and their mean; with a single source, that of its languages."""
    found = [
        mrr_by_language(model, dataset.samples, pool, config.validation_pools, device)
        for dataset, pool in datasets
    ]
    if len(found) == 1:
        return found[0]
    return with_average(
        {dataset.source.name: its["average"] for (dataset, _), its in zip(datasets, found, strict=True)}
    )
