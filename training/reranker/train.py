"""Pools of candidates -> a trained cross-encoder.

Each step shows the model some questions with their right answer and `negatives` wrong candidates from the first
`depth` of the product. The loss is listwise: the cross-entropy of the right answer among them, once by the logit alone
and once by the logit added to the product's score. A run writes its state after each part of an epoch, and can
be resumed from it.
"""

from __future__ import annotations

import json
import logging
import random
import time
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from codesearch.encoding.cross_encoder import pair_ids
from codesearch.encoding.tokenizer import SubtokenTokenizer
from codesearch.evaluation.collection import FUNCTIONS
from training.encoders.bert import BertConfig
from training.errors import TrainingError
from training.pretrained import load_bert, pretrained_folder, prune_tokenizer, pruned
from training.reranker.config import RerankerConfig
from training.reranker.model import CrossEncoder, first_layers
from training.reranker.pools import ANSWERS, DOCUMENTATION, Pool, read_groups

log = logging.getLogger(__name__)


@dataclass(slots=True)
class TokenPool:
    """A pool in token ids, in the product's order.

    Attributes:
        wrong: positions of the candidates to learn from. These are functions and classes, because no question asks
            for another kind, and the model must not learn the kind.
        scores: those of the product, float32 [N]; an answer that was not found has none.
    """

    pool: Pool
    query: NDArray[np.uint32]
    candidates: list[NDArray[np.uint32]]
    wrong: list[int]
    scores: NDArray[np.float32]


def is_held_out(pool: Pool) -> bool:
    """Return whether a pool is for validation. The pools of one package in ten are."""
    return zlib.crc32(pool.package.encode()) % 10 == 0


def tokenized(folder: Path, tokenizer: SubtokenTokenizer, config: RerankerConfig) -> Iterator[TokenPool]:
    """Tokenize the pools of a folder."""
    for pools, candidates in read_groups(folder):
        ids: dict[tuple[int, bool], NDArray[np.uint32]] = {}
        for pool in pools:
            documentation = pool.style != DOCUMENTATION
            for number in pool.candidates:
                if (number, documentation) not in ids:
                    text = candidates[number].text(documentation)
                    ids[number, documentation] = tokenizer.encode(text, config.max_tokens)[1:]
            query = tokenizer.encode(pool.question, config.max_query_tokens)
            scores = np.sum([np.array(part) for part in pool.parts.values()], axis=0, dtype=np.float32)
            if len(query) and len(pool.candidates) > 1 and len(scores):
                texts = [ids[number, documentation] for number in pool.candidates]
                kinds = [candidates[number].kind for number in pool.candidates[: config.depth]]
                same = ANSWERS if not documentation else FUNCTIONS
                wrong = [at for at, kind in enumerate(kinds) if at != pool.answer and kind in same]
                yield TokenPool(pool, query, texts, wrong, scores)


def train(pools: Path, out: Path, config: RerankerConfig) -> None:
    """Train a run on a folder of pools, or resume it.

    Writes `tokenizer.json`, `config.json`, `state.pt` and `log.jsonl`.
    """
    out.mkdir(parents=True, exist_ok=True)
    model, tokenizer = start(pools, out, config)
    known, held = [], []
    for found in tokenized(pools, tokenizer, config):
        if not is_held_out(found.pool):
            known.append(found)
        elif found.pool.found and found.pool.style != DOCUMENTATION:
            held.append(found)
    (out / "config.json").write_text(json.dumps(asdict(config), indent=1) + "\n", "utf-8")
    model.bert.freeze(config.frozen)
    optimizer = torch.optim.AdamW(
        [weights for weights in model.parameters() if weights.requires_grad],
        lr=config.learning_rate,
        weight_decay=config.weight_decay,
    )
    steps = [step for epoch in range(config.epochs) for step in _steps(known, config, epoch)]
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: _rate(step, len(steps), config.warmup)
    )
    first = _resume(out, model, optimizer, schedule)
    log.info("%d questions, %d held out, %d steps, from %d", len(known), len(held), len(steps), first)
    started = time.monotonic()
    mean = 0.0
    for number in range(first, len(steps)):
        loss = _loss(model, [known[place] for place in steps[number]], config, number)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        mean += (loss.item() - mean) * 0.02 if number > first else loss.item()
        if number % 50 == 49:
            log.info(
                "step %d of %d, loss %.3f, %.0f s", number + 1, len(steps), mean, time.monotonic() - started
            )
        if number % 300 == 299 or number + 1 == len(steps):
            figures = validate(model, held[:400] if number + 1 < len(steps) else held, config)
            with (out / "log.jsonl").open("a", encoding="utf-8") as file:
                file.write(json.dumps({"step": number + 1, "loss": round(mean, 4), **figures}) + "\n")
            log.info("%s", figures)
            _save(out, model, optimizer, schedule, number + 1)


def start(pools: Path, out: Path, config: RerankerConfig) -> tuple[CrossEncoder, SubtokenTokenizer]:
    """Make a model from the pretrained one, with a tokenizer of the tokens that the pools use."""
    folder = pretrained_folder()
    texts = (candidate.text() for _, candidates in read_groups(pools) for candidate in candidates[::10])
    path = out / "tokenizer.json"
    kept_path = out / "kept.npy"
    if not kept_path.exists():
        np.save(kept_path, prune_tokenizer(folder / "tokenizer.json", path, texts, config.vocabulary_size))
    kept = np.load(kept_path)
    known = json.loads((folder / "config.json").read_text("utf-8"))
    bert = pruned(load_bert(folder), kept, config.max_tokens)
    sizes = {name: known[name] for name in BertConfig.__dataclass_fields__}
    sizes |= {"vocab_size": len(kept), "max_position_embeddings": config.max_tokens}
    torch.manual_seed(config.seed)
    return first_layers(bert, BertConfig(**sizes), config.layers), SubtokenTokenizer.load(path)


def _steps(pools: Sequence[TokenPool], config: RerankerConfig, epoch: int) -> Iterator[list[int]]:
    """Yield the questions of each step; those of one step have texts of similar length."""
    chance = random.Random(f"{config.seed} {epoch}")
    chosen = [
        number
        for number, pool in enumerate(pools)
        if pool.pool.style != DOCUMENTATION or chance.random() < config.documentation
    ]
    chance.shuffle(chosen)
    steps = [chosen[at : at + config.questions] for at in range(0, len(chosen), config.questions)]
    chance.shuffle(steps)
    yield from steps


def _rate(step: int, steps: int, warmup: float) -> float:
    first = max(1, round(steps * warmup))
    return (step + 1) / first if step < first else max(0.0, (steps - step) / (steps - first))


def _loss(model: CrossEncoder, pools: Sequence[TokenPool], config: RerankerConfig, step: int) -> Tensor:
    chance = random.Random(f"{config.seed} {step} negatives")
    rows: list[NDArray[np.int64]] = []
    masks: list[NDArray[np.int64]] = []
    places, scores = [], []
    for pool in pools:
        answer = pool.pool.answer
        drawn = chance.sample(pool.wrong, min(config.negatives, len(pool.wrong)))
        drawn += chance.choices(drawn or [answer], k=config.negatives - len(drawn))
        lists = [answer, *drawn]
        ids, mask = pair_ids(pool.query, [pool.candidates[place] for place in lists], config.max_tokens)
        rows.append(ids)
        masks.append(mask)
        places.append(lists)
        scores.append(
            [pool.scores[place] if place < len(pool.scores) else pool.scores[-1] for place in lists]
        )
    width = max(ids.shape[1] for ids in rows)
    ids = np.concatenate([np.pad(ids, ((0, 0), (0, width - ids.shape[1]))) for ids in rows])
    mask = np.concatenate([np.pad(mask, ((0, 0), (0, width - mask.shape[1]))) for mask in masks])
    with torch.autocast("cpu", torch.bfloat16):
        logits = model(torch.from_numpy(ids), torch.from_numpy(mask).float()).view(len(pools), -1).float()
    target = torch.zeros(len(pools), dtype=torch.long)
    both = logits + config.score_scale * torch.tensor(np.array(scores, np.float32))
    return functional.cross_entropy(logits, target) + functional.cross_entropy(both, target)


@torch.inference_mode()
def logits_of(model: CrossEncoder, pool: TokenPool, depth: int, max_tokens: int) -> NDArray[np.float32]:
    """Return the logits of the first `depth` candidates: float32 [N]."""
    ids, mask = pair_ids(pool.query, pool.candidates[: min(depth, len(pool.scores))], max_tokens)
    with torch.autocast("cpu", torch.bfloat16):
        logits: NDArray[np.float32] = (
            model(torch.from_numpy(ids), torch.from_numpy(mask).float()).float().numpy()
        )
    return logits


def validate(
    model: CrossEncoder, pools: Sequence[TokenPool], config: RerankerConfig, depth: int = 20
) -> dict[str, float]:
    """Return the MRR of the written questions: the product's, the model's, and both together, by weight."""
    model.eval()
    ranks: dict[str, list[float]] = {}
    for pool in pools:
        logits = logits_of(model, pool, depth, config.max_tokens)
        for name, weight in (
            ("product", 0.0),
            ("w.02", 0.02),
            ("w.04", 0.04),
            ("w.06", 0.06),
            ("w.1", 0.1),
            ("model", 100.0),
        ):
            scores = pool.scores.copy()
            scores[len(logits) :] -= 1_000
            scores[: len(logits)] += weight * logits
            rank = 1 + int((scores > scores[pool.pool.answer]).sum())
            ranks.setdefault(name, []).append(1 / rank)
    model.train()
    return {name: round(float(np.mean(found)), 4) for name, found in ranks.items()} | {
        "questions": len(pools)
    }


def _save(out: Path, model: nn.Module, optimizer: torch.optim.Optimizer, schedule: object, step: int) -> None:
    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}
    state["schedule"] = schedule.state_dict()  # type: ignore[attr-defined]
    torch.save(state, out / "state.part")
    (out / "state.part").replace(out / "state.pt")


def _resume(out: Path, model: nn.Module, optimizer: torch.optim.Optimizer, schedule: object) -> int:
    path = out / "state.pt"
    if not path.exists():
        return 0
    state = torch.load(path, weights_only=True)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    schedule.load_state_dict(state["schedule"])  # type: ignore[attr-defined]
    return int(state["step"])


def load_reranker(run: Path) -> tuple[CrossEncoder, RerankerConfig]:
    """Read the weights of a run.

    Raises:
        TrainingError: the run has none.
    """
    if not (run / "state.pt").exists():
        raise TrainingError(
            f"{run}: no state.pt: train it with `python -m training reranker train --out {run}`"
        )
    config = RerankerConfig(**json.loads((run / "config.json").read_text("utf-8")))
    model, _ = start(run, run, config)
    model.load_state_dict(torch.load(run / "state.pt", weights_only=True)["model"])
    return model.eval(), config
