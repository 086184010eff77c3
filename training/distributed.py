"""Several processes with one batch, as `torchrun` starts them: each embeds a part of it, and each sees all vectors.

Every process computes the loss of the whole batch. Its gradients are those of its own part, so their sum over the
processes is the gradient of the batch. All negatives of a batch are negatives of every query, as in one process.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TypeVar

import torch
from torch import Tensor, distributed
from torch.nn import functional

from training.files import TrainingError

_PATIENCE = timedelta(hours=6)
"""How long processes wait for the first one, which tokenizes."""
_Value = TypeVar("_Value")


def world() -> int:
    """Return the number of processes."""
    return distributed.get_world_size() if distributed.is_initialized() else 1


def rank() -> int:
    """Return the number of this process, from 0."""
    return distributed.get_rank() if distributed.is_initialized() else 0


@contextmanager
def process_group(device: torch.device) -> Iterator[torch.device]:
    """Join the processes that `torchrun` started, if it did; yield the device of this one."""
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        yield device
        return
    if device.type == "cuda":
        device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        if device.index >= torch.cuda.device_count():
            raise TrainingError(
                f"process {device.index} has no GPU: give torchrun a smaller --nproc-per-node"
            )
        torch.cuda.set_device(device)
    distributed.init_process_group("nccl" if device.type == "cuda" else "gloo", timeout=_PATIENCE)
    try:
        yield device
        barrier()
    finally:
        distributed.destroy_process_group()


def barrier() -> None:
    """Wait until all processes are here: `torchrun` may stop the first one, which still writes, when another ends."""
    if world() > 1:
        distributed.barrier()


@contextmanager
def main_process_first() -> Iterator[None]:
    """Let the first process finish the block before the others enter it, so they find its files."""
    if rank():
        barrier()
    yield
    if not rank():
        barrier()


def local_rows(rows: Tensor) -> Tensor:
    """Return the rows of this process."""
    return rows.tensor_split(world())[rank()]


def gather_vectors(vectors: Tensor, count: int) -> Tensor:
    """Return the `count` vectors of all processes, float32 [N, D]; only those of this one pass gradients on."""
    if world() == 1:
        return vectors
    sizes = [len(part) for part in torch.arange(count).tensor_split(world())]
    own = functional.pad(vectors, (0, 0, 0, sizes[0] - len(vectors)))  # All must have equal shapes.
    parts = [torch.empty_like(own) for _ in sizes]
    distributed.all_gather(parts, own.detach())
    parts[rank()] = own
    return torch.cat([part[:size] for part, size in zip(parts, sizes, strict=True)])


def sum_gradients(parameters: Iterable[Tensor]) -> None:
    """Add up the gradients of all processes."""
    if world() > 1:
        for parameter in parameters:
            if parameter.requires_grad:
                if parameter.grad is None:
                    parameter.grad = torch.zeros_like(parameter)
                distributed.all_reduce(parameter.grad)


def gather_values(value: _Value) -> list[_Value]:
    """Return the values of all processes, in their order."""
    values = [value] * world()
    if world() > 1:
        distributed.all_gather_object(values, value)
    return values


def any_rank(flag: bool, device: torch.device) -> bool:
    """Return whether the flag of any process is set."""
    if world() == 1:
        return flag
    found = torch.tensor(float(flag), device=device)
    distributed.all_reduce(found)
    return bool(found)
