"""A cross-encoder: a query and a candidate in one text -> one number, higher for a better answer.

*Source*: Nogueira and Cho 2019 (a query and a passage in one input); Wang et al. 2020 (MiniLM, whose sentence encoder
gives the initial weights).
"""

from __future__ import annotations

from dataclasses import replace

from torch import Tensor, nn

from training.encoders.bert import Bert, BertConfig


class CrossEncoder(nn.Module):
    """The first layers of a pretrained BERT, the mean over all tokens, and a linear head."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.bert = Bert(config)
        self.head = nn.Linear(config.hidden_size, 1)

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Return a logit for each text: float32 [B]."""
        bert = self.bert
        states = bert.norm(bert.table(ids) + bert.positions[: ids.shape[1]])
        allowed = (mask > 0)[:, None, None]
        for layer in bert.layers:
            states = layer(states, allowed)
        weights = mask / mask.sum(1, keepdim=True)
        mean = (states * weights[..., None]).sum(1)
        logits: Tensor = self.head(mean.float())
        return logits[:, 0]


def first_layers(model: Bert, config: BertConfig, layers: int) -> CrossEncoder:
    """Make a cross-encoder from the first layers of a pretrained model; its head gives 0 for everything."""
    made = CrossEncoder(replace(config, num_hidden_layers=layers))
    model.layers = model.layers[:layers]
    made.bert.load_state_dict(model.state_dict())
    nn.init.zeros_(made.head.weight)
    nn.init.zeros_(made.head.bias)
    return made
