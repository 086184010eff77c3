"""1D-CNN: each layer adds a convolution over a window of tokens.

*Source*: Kim 2014; Husain et al. 2019 (1D-CNN).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from training.config import TrainConfig


def make_body(config: TrainConfig, _: int) -> CnnBody:
    """Make the body from the settings of a run."""
    return CnnBody(config.dim, layers=config.layers, kernel_size=config.kernel_size, dropout=config.dropout)


class CnnBody(nn.Module):
    """Residual convolutions along the text, [B, T, D] -> [B, T, D]."""

    def __init__(self, dim: int, *, layers: int, kernel_size: int, dropout: float) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Conv1d(dim, dim, kernel_size) for _ in range(layers))
        self.beyond = (kernel_size - 1) // 2, kernel_size // 2
        """Positions before the start and after the end of a text that a layer sees."""
        self.dropout = nn.Dropout(dropout)
        for layer in self.layers:
            nn.init.zeros_(layer.weight)
            nn.init.zeros_(layer.bias)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """Pass states through; padding is set to zero before each layer, like the space beyond the ends of a text."""
        present = mask[:, :, None].to(states.dtype)
        for layer in self.layers:
            states = states * present
            seen = torch.tanh(layer(functional.pad(states.transpose(1, 2), self.beyond))).transpose(1, 2)
            states = states + self.dropout(seen)
        return states
