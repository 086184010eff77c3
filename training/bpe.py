"""Texts -> a tokenizer whose byte-pair pieces are learned from them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import partial

from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from codesearch.parsing.identifiers import subtokens
from codesearch.text.tokenizer import CONTINUATION, PAD, UNKNOWN, SubtokenTokenizer


def train_tokenizer(texts: Iterable[str], vocabulary_size: int) -> SubtokenTokenizer:
    """Learn a vocabulary of at most `vocabulary_size` tokens; the same texts give the same vocabulary."""
    model = models.BPE(
        unk_token=UNKNOWN, continuing_subword_prefix=CONTINUATION, fuse_unk=True, ignore_merges=True
    )
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    split = [" ".join(subtokens(text)) for text in texts]
    inner = {character for text in split for word in text.split() for character in word[1:]}
    # The trainer numbers pieces in the random order of a hash map and breaks ties by number. As special tokens,
    # the pieces come first in a fixed order.
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary_size,
        special_tokens=[PAD, UNKNOWN, *(CONTINUATION + character for character in sorted(inner))],
        continuing_subword_prefix=CONTINUATION,
        show_progress=False,
    )
    tokenizer.train_from_iterator(split, trainer)
    state = json.loads(tokenizer.to_str())
    state["added_tokens"] = [
        token for token in state["added_tokens"] if not token["content"].startswith(CONTINUATION)
    ]
    return SubtokenTokenizer(partial(Tokenizer.from_str, json.dumps(state)))
