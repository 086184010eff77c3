"""biRNN: gated recurrent units from both ends of the text.

*Source*: Cho et al. 2014 (GRU); Husain et al. 2019 (bidirectional RNN).
"""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class BirnnBody(nn.Module):
    """Residual bidirectional GRU, [B, T, D] -> [B, T, D], D / 2 units a direction."""

    def __init__(self, dim: int, *, layers: int, dropout: float) -> None:
        super().__init__()
        self.gru = nn.GRU(
            dim,
            dim // 2,
            layers,
            batch_first=True,
            bidirectional=True,
            dropout=dropout if layers > 1 else 0.0,
        )
        self.out = nn.Linear(dim, dim)
        nn.init.zeros_(self.out.weight)
        nn.init.zeros_(self.out.bias)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """Pass states through; the way back starts at each text's last token."""
        lengths = mask.sum(dim=1).clamp(min=1).cpu()  # An empty text cannot be packed; pooling leaves it out.
        packed = pack_padded_sequence(states, lengths, batch_first=True, enforce_sorted=False)
        read, _ = pad_packed_sequence(self.gru(packed)[0], batch_first=True, total_length=states.shape[1])
        return states + self.out(read)
