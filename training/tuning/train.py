"""A bundle with a bag, and questions -> the bundle's vectors, fine-tuned.

A step shows the bag some questions with their right answer and wrong results of the product. The loss has three parts:
the cross-entropy of the right answer among the question's candidates, by the product's score with the new cosine; the
cross-entropy among all candidates of the step, by the cosine alone; and the squared difference to the cosines of the
original bundle, which preserves what no question covers. A run writes its state after each epoch, and can be resumed
from it.
"""

from __future__ import annotations

import json
import logging
import shutil
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from codesearch.config import RankConfig
from codesearch.encoding.bundle import DOCUMENT, QUERY, TOKENIZER, Bundle, load_bundle
from codesearch.encoding.tokenizer import SubtokenTokenizer
from training.errors import TrainingError
from training.tuning.config import TuningConfig
from training.tuning.examples import Bag, BagReader, Example, examples_of_pools, examples_of_questions
from training.tuning.pools import DOCUMENTATION

log = logging.getLogger(__name__)
TABLES = "tables.npz"
CONFIG = "config.json"
LOG = "log.jsonl"
_STATE = "state.pt"
_SEMANTIC_WEIGHT = RankConfig().semantic_weight


class Side(nn.Module):
    """The vectors of one side. They start as those of a bundle, and have learned weights and a learned matrix."""

    def __init__(self, rows: NDArray[np.float32]) -> None:
        super().__init__()
        rows = rows / np.median(np.linalg.norm(rows, axis=1))
        self.original: Tensor
        self.register_buffer("original", torch.from_numpy(rows))
        self.table = nn.Parameter(torch.from_numpy(rows.copy()))
        self.log_weight = nn.Parameter(torch.zeros(len(rows)))
        self.turn = nn.Parameter(torch.eye(rows.shape[1]))

    def forward(self, bags: Sequence[Bag], *, original: bool = False) -> Tensor:
        """Embed texts: float32 [B, D] of unit length. With `original`, as the bundle does."""
        ids = torch.from_numpy(np.concatenate([ids for ids, _ in bags]))
        counts = torch.from_numpy(np.concatenate([counts for _, counts in bags]))
        starts = torch.tensor(np.cumsum([0, *(len(ids) for ids, _ in bags[:-1])]))
        if original:
            return functional.normalize(_sum(ids, self.original, starts, counts))
        counts = counts * self.log_weight[ids].exp()
        return functional.normalize(_sum(ids, self.table, starts, counts) @ self.turn)

    def rows(self, share: float) -> NDArray[np.float32]:
        """Return the tuned vectors [V, D], mixed with the original ones."""
        tuned = (self.table * self.log_weight.exp()[:, None]) @ self.turn
        mixed: NDArray[np.float32] = (share * tuned + (1 - share) * self.original).detach().numpy()
        return mixed


def _sum(ids: Tensor, table: Tensor, starts: Tensor, counts: Tensor) -> Tensor:
    return functional.embedding_bag(ids, table, starts, mode="sum", per_sample_weights=counts)


class Bags(nn.Module):
    """Both sides."""

    def __init__(self, query: NDArray[np.float32], document: NDArray[np.float32]) -> None:
        super().__init__()
        self.query, self.document = Side(query), Side(document)

    def cosines(
        self, queries: Sequence[NDArray[np.int64]], documents: Sequence[Bag], *, original: bool = False
    ) -> Tensor:
        """Return the cosines of all queries and documents, float32 [Q, D]."""
        bags = [(ids, np.ones(len(ids), np.float32)) for ids in queries]
        return self.query(bags, original=original) @ self.document(documents, original=original).T


def tune(
    bundle: Path, pools: Path, questions: Sequence[Path], out: Path, config: TuningConfig
) -> dict[str, float]:
    """Tune a bundle's bag, or resume a run; return the figures of the last epoch.

    Writes `tables.npz`, `tokenizer.json`, `config.json`, `state.pt` and `log.jsonl`.

    Raises:
        TrainingError: the bundle is not a bag.
    """
    torch.manual_seed(config.seed)
    out.mkdir(parents=True, exist_ok=True)
    start = load_bundle(bundle)
    model, reader = Bags(_rows(start, QUERY), _rows(start, DOCUMENT)), _reader(start)
    shutil.copyfile(start.folder / TOKENIZER, out / TOKENIZER)
    (out / CONFIG).write_text(json.dumps(asdict(config), indent=1) + "\n", "utf-8")
    examples = [
        *examples_of_pools(pools, reader),
        *examples_of_questions(questions, reader, config.most_of_file, config.seed),
    ]
    known = _of_written([example for example in examples if not example.held_out], config)
    held = [example for example in examples if example.held_out and example.style != DOCUMENTATION]
    optimizer = _optimizer(model, config)
    first = _resume(out, model, optimizer)
    figures = validate(model, held)
    log.info("%d questions, %d held out, from epoch %d: %s", len(known), len(held), first, figures)
    for epoch in range(first, config.epochs):
        started = time.monotonic()
        loss = _epoch(model, optimizer, known, config, epoch)
        figures = validate(model, held)
        log.info("epoch %d, loss %.3f, %s, %.0f s", epoch + 1, loss, figures, time.monotonic() - started)
        with (out / LOG).open("a", encoding="utf-8") as file:
            file.write(json.dumps({"epoch": epoch + 1, "loss": round(loss, 4), **figures}) + "\n")
        state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epochs": epoch + 1}
        torch.save(state, out / _STATE)
    np.savez(out / TABLES, query=model.query.rows(config.share), document=model.document.rows(config.share))
    return figures


def _of_written(examples: list[Example], config: TuningConfig) -> list[Example]:
    """Drop written questions beyond the number in the settings."""
    written = [place for place, example in enumerate(examples) if example.style != DOCUMENTATION]
    if not 0 < config.written < len(written):
        return examples
    drawn = np.random.default_rng(config.seed).permutation(written)[config.written :]
    left_out = set(drawn.tolist())
    return [example for place, example in enumerate(examples) if place not in left_out]


def _rows(bundle: Bundle, file: str) -> NDArray[np.float32]:
    """Return the vectors of a graph, each multiplied by its weight: float32 [V, D]."""
    if file not in bundle.rows:
        raise TrainingError(f"{bundle.folder}: {file} is not a bag: give a bundle of nbow")
    arrays = [
        np.memmap(bundle.folder / file, place["dtype"], "r", place["offset"], tuple(place["shape"])).astype(
            np.float32
        )
        for place in (bundle.rows[file]["table"], bundle.rows[file]["weights"])
    ]
    rows: NDArray[np.float32] = arrays[0] * arrays[1][:, None]
    return rows


def _reader(bundle: Bundle) -> BagReader:
    return BagReader(
        SubtokenTokenizer.load(bundle.folder / TOKENIZER),
        bundle.max_query_tokens,
        bundle.max_document_tokens,
        1.0 + bundle.rows[DOCUMENT].get("repeat_power", 0.0),
    )


def _optimizer(model: Bags, config: TuningConfig) -> torch.optim.Optimizer:
    sides = (model.query, model.document)
    groups = (
        ([side.table for side in sides], config.table_rate),
        ([side.turn for side in sides], config.turn_rate),
        ([side.log_weight for side in sides], config.weight_rate),
    )
    return torch.optim.Adam([{"params": weights, "lr": rate} for weights, rate in groups], betas=(0.9, 0.99))


def _resume(out: Path, model: Bags, optimizer: torch.optim.Optimizer) -> int:
    """Load the state of an earlier run, if there is one; return its number of epochs."""
    if not (out / _STATE).exists():
        return 0
    state = torch.load(out / _STATE, weights_only=True)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    return int(state["epochs"])


def _epoch(
    model: Bags,
    optimizer: torch.optim.Optimizer,
    examples: Sequence[Example],
    config: TuningConfig,
    epoch: int,
) -> float:
    """Train one epoch; return the mean loss."""
    draw = np.random.default_rng([config.seed, epoch])
    order = [
        example
        for example in examples
        if example.style != DOCUMENTATION or draw.random() < config.documentation
    ]
    order = [order[place] for place in draw.permutation(len(order))]
    losses = []
    for first in range(0, len(order), config.questions):
        loss = _loss(model, order[first : first + config.questions], config, draw)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return float(np.mean(losses))


def _loss(model: Bags, batch: Sequence[Example], config: TuningConfig, draw: np.random.Generator) -> Tensor:
    """Compute the loss of a step."""
    drawn = [_drawn(example, config, draw) for example in batch]
    documents = [
        _without(example.candidates[at], config.drop, draw)
        for example, places in zip(batch, drawn, strict=True)
        for at in places
    ]
    queries = [example.query for example in batch]
    cosines = model.cosines(queries, documents)
    with torch.inference_mode():
        original = model.cosines(queries, documents, original=True)
    width = config.negatives + 1
    own = torch.stack([row[at * width : (at + 1) * width] for at, row in enumerate(cosines)])
    rest, prior = (
        torch.from_numpy(
            np.stack([getattr(it, name)[places] for it, places in zip(batch, drawn, strict=True)])
        )
        for name in ("rest", "prior")
    )
    scores = config.score_scale * (_SEMANTIC_WEIGHT * own * prior + rest)
    answers = torch.arange(len(batch)) * width
    return (
        functional.cross_entropy(scores, torch.zeros(len(batch), dtype=torch.long))
        + functional.cross_entropy(cosines / config.temperature, answers)
        + config.keep * functional.mse_loss(cosines, original.clone())
    )


def _drawn(example: Example, config: TuningConfig, draw: np.random.Generator) -> list[int]:
    """Draw wrong candidates; the answer comes first. If there are too few, some are drawn again."""
    places = np.arange(min(config.depth, len(example.candidates)))
    wrong = places[places != example.answer]
    if not len(wrong):
        return [example.answer] * (config.negatives + 1)
    chosen = draw.permutation(wrong)[: config.negatives]
    again = draw.choice(wrong, config.negatives - len(chosen))
    return [example.answer, *chosen.tolist(), *again.tolist()]


def _without(bag: Bag, drop: float, draw: np.random.Generator) -> Bag:
    """Drop tokens of a document, but never all."""
    ids, counts = bag
    kept = draw.random(len(ids)) >= drop
    return (ids[kept], counts[kept]) if kept.any() else bag


@torch.inference_mode()
def validate(model: Bags, examples: Sequence[Example]) -> dict[str, float]:
    """Return the mean reciprocal rank of the answers that the product finds: with its score, and by cosine alone."""
    ranks: dict[str, list[float]] = {"mrr": [], "mrr_cosine": []}
    for example in examples:
        cosine = model.cosines([example.query], example.candidates)[0].numpy()
        score = _SEMANTIC_WEIGHT * cosine * example.prior + example.rest
        for name, values in (("mrr", score), ("mrr_cosine", cosine)):
            ranks[name].append(1.0 / (1 + int((values > values[example.answer]).sum())))
    return {name: round(float(np.mean(found)), 4) for name, found in ranks.items()}
