"""biRNN: gated recurrent units from both ends of the text.

*Source*: Cho et al. 2014 (GRU); Husain et al. 2019 (bidirectional RNN).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from training.config import TrainConfig

DIRECTIONS = ("", "_reverse")
"""Endings of the names of `nn.GRU`'s weights that read forward and backward."""


def make_body(config: TrainConfig, _: int) -> BirnnBody:
    """Make the body from the settings of a run."""
    return BirnnBody(config.dim, layers=config.layers, dropout=config.dropout)


class BirnnBody(nn.Module):
    """Residual bidirectional GRU, [B, T, D] -> [B, T, D], D / 2 units for each direction."""

    def __init__(self, dim: int, *, layers: int, dropout: float) -> None:
        super().__init__()
        self.gru = nn.GRU(dim, dim // 2, layers, batch_first=True, bidirectional=True)
        self.dropout = dropout
        self.out = nn.Linear(dim, dim)
        nn.init.zeros_(self.out.weight)
        nn.init.zeros_(self.out.bias)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """Pass states through; the backward direction starts at each text's last token.

        Each direction reads padded texts, and the backward one reads them reversed, because training with packed
        sequences takes twice as long on a CPU.
        """
        turned = _turned(mask)[:, :, None]
        read = states
        for layer in range(self.gru.num_layers):
            if layer:
                read = functional.dropout(read, self.dropout, self.training)
            back = read.gather(1, turned.expand_as(read))
            there, back = map(self._read, (read, back), (layer, layer), DIRECTIONS)
            read = torch.cat([there, back.gather(1, turned.expand_as(back))], dim=2)
        return states + self.out(read)

    def _read(self, states: Tensor, layer: int, direction: str) -> Tensor:
        """Read texts from their first state on with one direction of one layer: [B, T, *] -> [B, T, D / 2]."""
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        weights = [getattr(self.gru, f"{name}_l{layer}{direction}") for name in names]
        start = states.new_zeros(1, len(states), self.gru.hidden_size)
        read, _ = torch.gru(states, start, weights, True, 1, 0.0, self.training, False, True)
        return read


def _turned(mask: Tensor) -> Tensor:
    """Return the position of each token when a text is reversed and its padding stays in place: int64 [B, T].

    >>> _turned(torch.tensor([[1, 1, 1, 0]])).tolist()
    [[2, 1, 0, 3]]
    """
    places = torch.arange(mask.shape[1], device=mask.device)
    last = mask.sum(dim=1, keepdim=True) - 1
    return torch.where(places <= last, last - places, places)
