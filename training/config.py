"""Settings of a training run with their only defaults; a TOML file and the command line set them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from math import inf
from pathlib import Path
from typing import Any

from training.errors import TrainingError

CONFIGS = Path(__file__).parent / "configs"
ALIASES = {"neuralbow": "nbow", "1dcnn": "cnn", "rnn": "birnn", "convselfatt": "cnn-selfatt"}
"""Names in CodeSearchNet's repository -> ours; `selfatt` is the same in both."""
BODIES = {"cnn": ("cnn",), "birnn": ("birnn",), "selfatt": ("selfatt",), "cnn-selfatt": ("cnn", "selfatt")}
"""Architectures that read a text in order -> modules of `training.encoders`, each with a function `make_body`."""
ARCHITECTURES = ("nbow", "unif", "ncs", "bert", *BODIES)
POOLINGS = ("mean", "max", "attention", "token-weights", "sigmoid")
DOCUMENTS = ("all", "code")
LOSSES = ("symmetric-softmax", "softmax", "cosine", "max-margin", "triplet")
SIMILARITIES = ("cosine", "dot")
LANGUAGE_WEIGHTS = ("pairs", "equal")
CODE_ENCODERS = ("shared", "per-language")
TEACHERS = ("minilm",)
CHOICES: dict[str, tuple[str, ...]] = {
    "architecture": ARCHITECTURES,
    "query_architecture": ("", "nbow", "unif", *BODIES),
    "pooling": POOLINGS,
    "query_pooling": ("", *POOLINGS),
    "documents": DOCUMENTS,
    "loss": LOSSES,
    "similarity": SIMILARITIES,
    "language_weights": LANGUAGE_WEIGHTS,
    "code_encoders": CODE_ENCODERS,
    "initial_vectors": ("noise", *TEACHERS),
}
_AT_LEAST_1 = (
    "dim layers kernel_size heads vocabulary_rows max_query_tokens max_document_tokens epochs patience "
    "validation_pools window skipgram_negatives"
).split()
_NOT_NEGATIVE = (
    "attention_dim hidden_dim frozen_layers max_pairs idf_power margin gradient_clip decay "
    "hard_negatives keep weight_learning_rate chunk"
).split()
_BOUNDS: dict[str, tuple[float, float]] = {
    **dict.fromkeys(_AT_LEAST_1, (1, inf)),
    **dict.fromkeys(_NOT_NEGATIVE, (0, inf)),
    **dict.fromkeys(("name_share", "token_dropout"), (0, 1)),
    "dropout": (0, 0.99),
    "count_power": (0, 10),
    "batch_size": (2, inf),  # The other pairs of a batch are the wrong answers.
    "vocabulary_size": (2, 1 << 16),  # Token ids are stored in 16 bits.
    "temperature": (1e-6, inf),
    "learning_rate": (0, inf),
    "body_learning_rate": (0, inf),
    "seed": (0, inf),
}
"""The least and the largest value of each number; "not a number" is in no bounds."""


@dataclass(frozen=True, slots=True)
class TrainConfig:
    """The settings that, with the data, determine a run's weights.

    Attributes:
        architecture: how a text becomes a vector.
        query_architecture: the same for queries; empty for `architecture`.
        dim: length of the vectors.
        documents: text of a document: place, qualified name, rest of the docstring and code (`all`), or `code` alone.
        pooling: how the token vectors of a document become one, and of a query if `query_pooling` is empty.
        query_pooling: the same for queries.
        code_encoders: one for all languages, or one for each.
        layers: number of layers of convolution, recurrence or attention; `cnn-selfatt` has this number of each kind.
        kernel_size: tokens that a convolution sees; odd.
        heads: number of heads of self-attention.
        attention_dim: length of queries, keys and values of self-attention; 0 stands for `dim`.
        hidden_dim: width of self-attention's feed-forward half; 0 stands for twice `dim`, and four times in `bert`.
        frozen_layers: number of first layers that keep their pretrained weights, with all below them (`bert`).
        dropout: share of a sequence model's activations that are set to zero.
        max_pairs: pairs to train on, drawn by seed from all languages; 0 stands for all.
        vocabulary_size: tokens in the vocabulary, at most.
        vocabulary_rows: rows that the vocabulary is learned from.
        max_query_tokens: a query is cut to this number of tokens.
        max_document_tokens: a document is cut to this number of tokens.
        name_share: share of training samples whose query is the function's own name.
        idf_power: token weights start from idf to this power; 0 starts them equal.
        count_power: exponent of a token's count in a document (token weights); below 1, repetition counts less.
        initial_vectors: start of token vectors: noise, or a teacher's embedding of each token.
        token_dropout: share of a document's distinct tokens that are removed, drawn again each time.
        loss: what training minimises.
        similarity: what a loss sees of two vectors: their cosine, or the dot product before they have unit length.
        language_weights: languages count in the loss by their number of pairs, or all the same.
        temperature: divisor of the similarities in the softmax losses and `max-margin`.
        margin: of the losses `cosine`, `max-margin` and `triplet`; 1 in CodeSearchNet's repository.
        hard_negatives: wrong documents that a step draws for each pair of a source that has some.
        keep: weight of the squared difference to the cosines of the bundle that a run starts from.
        learning_rate: for token vectors.
        weight_learning_rate: for token weights; 0 stands for that of token vectors.
        body_learning_rate: for everything between token vectors and pooling, and for attention pooling.
        gradient_clip: largest norm of the gradient over all weights; 0 means no limit.
        chunk: texts that are embedded at once, if not a whole batch; it saves memory and takes a second pass.
        epochs: passes over the pairs, at most.
        validation_pools: pools of 1,000 pairs for each language in the validation MRR.
        patience: epochs without a better validation MRR before stopping.
        decay: the learning rate falls linearly to this share of its start.
        batch_size: pairs in a step.
        window: tokens to each side that skip-gram predicts (`ncs`).
        skipgram_negatives: tokens drawn against each right one (`ncs`).
        seed: of every random draw.
    """

    architecture: str = "nbow"
    query_architecture: str = ""
    dim: int = 256
    documents: str = "all"
    pooling: str = "token-weights"
    query_pooling: str = ""
    code_encoders: str = "shared"
    layers: int = 1
    kernel_size: int = 7
    heads: int = 4
    attention_dim: int = 0
    hidden_dim: int = 0
    frozen_layers: int = 0
    dropout: float = 0.0
    max_pairs: int = 0
    vocabulary_size: int = 22_000
    vocabulary_rows: int = 120_000
    max_query_tokens: int = 30
    max_document_tokens: int = 200
    name_share: float = 0.1
    idf_power: float = 0.25
    count_power: float = 1.0
    initial_vectors: str = "noise"
    token_dropout: float = 0.1
    loss: str = "symmetric-softmax"
    similarity: str = "cosine"
    language_weights: str = "pairs"
    temperature: float = 0.07
    margin: float = 0.5
    hard_negatives: int = 4
    keep: float = 0.0
    learning_rate: float = 0.005
    weight_learning_rate: float = 0.0
    body_learning_rate: float = 0.001
    gradient_clip: float = 0.0
    decay: float = 0.1
    batch_size: int = 1_024
    chunk: int = 0
    epochs: int = 3
    validation_pools: int = 5
    patience: int = 2
    window: int = 5
    skipgram_negatives: int = 5
    seed: int = 0

    def __post_init__(self) -> None:
        for name, choices in CHOICES.items():
            if getattr(self, name) not in choices:
                known = ", ".join(choice for choice in choices if choice)
                raise TrainingError(f"{name} {getattr(self, name)!r}: choose one of {known}")
        for name, (low, high) in _BOUNDS.items():
            if not low <= getattr(self, name) <= high:
                limit = f"at least {low}" if high == inf else f"from {low} to {high}"
                raise TrainingError(f"{name} {getattr(self, name)}: give {limit}")
        for fault, message in self._faults():
            if fault:
                raise TrainingError(message)

    def _faults(self) -> Iterator[tuple[object, str]]:
        """Yield which settings do not fit together, and what to do then."""
        encoders = (self.architecture, self.query_architecture)
        yield self.kernel_size % 2 == 0, f"kernel_size {self.kernel_size}: a convolution needs an odd one"
        yield "birnn" in encoders and self.dim % 2, f"dim {self.dim}: birnn needs a multiple of 2"
        yield (
            self.similarity == "dot" and (self.loss == "cosine" or self.keep),
            "similarity dot: the loss cosine and keep compare cosines: use similarity cosine",
        )
        yield self.loss == "triplet" and self.keep, "keep compares cosines: use another loss than triplet"
        yield (
            self.query_architecture and self.architecture in ("bert", "ncs"),
            f"query_architecture: {self.architecture} has one for both sides: leave it empty",
        )
        yield (
            self.architecture == "bert" and self.code_encoders != "shared",
            "code_encoders: bert is one encoder for queries and all code: leave it shared",
        )
        yield (
            self.architecture == "bert" and self.max_query_tokens > self.max_document_tokens,
            f"max_query_tokens {self.max_query_tokens}: bert has only the positions of a document: "
            f"give at most {self.max_document_tokens}",
        )
        has_heads = self.architecture == "bert" or any(name.endswith("selfatt") for name in encoders)
        name = "attention_dim" if self.attention_dim and self.architecture != "bert" else "dim"
        yield (
            has_heads and getattr(self, name) % self.heads,
            f"{name} {getattr(self, name)}: {self.heads} heads need a multiple of {self.heads}",
        )


@dataclass(frozen=True, slots=True)
class Source:
    """Where pairs come from, and how much they count.

    Attributes:
        path: a corpus folder, or a file or folder of pairs (see `training.sources`).
        share: of its pairs that an epoch takes, one part after the other; 2 takes each pair twice.
        weight: factor of the loss of its pairs.
        most: at most so many pairs, drawn by seed; 0 for all.
    """

    name: str
    path: Path
    share: float = 1.0
    weight: float = 1.0
    most: int = 0

    def __post_init__(self) -> None:
        for name, low in (("share", 1e-6), ("weight", 0), ("most", 0)):
            if not low <= getattr(self, name) < inf:
                raise TrainingError(f"source {self.name}: {name} {getattr(self, name)}: give at least {low}")


@dataclass(frozen=True, slots=True)
class TrainRecipe:
    """What a TOML file says.

    Attributes:
        settings: values of `TrainConfig`; the others keep their defaults.
        sources: pairs to learn from, `[[sources]]` with the fields of `Source`.
        start: bundle of a bag to start from.
    """

    settings: dict[str, Any]
    sources: tuple[Source, ...] = ()
    start: Path | None = None


def read_train_recipe(path: Path) -> TrainRecipe:
    """Read a TOML file.

    Raises:
        TrainingError: it is missing, is not TOML, or has an unknown setting or a value of the wrong type.
    """
    try:
        settings = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise TrainingError(f"{path}: {error.strerror}: give the path of a TOML file") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise TrainingError(f"{path}: not TOML ({error})") from None
    sources, start = settings.pop("sources", []), settings.pop("start", "")
    if not isinstance(sources, list) or not isinstance(start, str):
        raise TrainingError(f"{path}: expected [[sources]], and the path of a bundle as start")
    _check(path, settings, {field.name: type(field.default) for field in fields(TrainConfig)})
    for one in sources:
        _check(path, one, {"name": str, "path": str, "share": float, "weight": float, "most": int})
        if not {"name", "path"} <= one.keys():
            raise TrainingError(f"{path}: [[sources]] without name or path: give both")
    named = tuple(Source(**{**one, "path": Path(one["path"])}) for one in sources)
    return TrainRecipe(settings, named, Path(start) if start else None)


def _check(path: Path, values: Mapping[str, object], kinds: Mapping[str, type]) -> None:
    for name, value in values.items():
        if name not in kinds:
            raise TrainingError(f"{path}: no setting {name}: see `python -m training train --help`")
        if type(value) is not kinds[name] and not (kinds[name] is float and type(value) is int):
            raise TrainingError(f"{path}: {name} = {value!r}: expected {kinds[name].__name__}")


def meanings() -> dict[str, str]:
    """Return what each setting means, from the docstring of `TrainConfig`."""
    return dict(re.findall(r"^ {8}(\w+): (.+)\.$", TrainConfig.__doc__ or "", re.MULTILINE))


def config_path(name: str) -> Path:
    """Return the file of shipped settings, which may have CodeSearchNet's name."""
    return CONFIGS / f"{ALIASES.get(name, name)}.toml"


def shipped_configs() -> list[str]:
    """List the names of the settings that come with training."""
    return sorted(path.stem for path in CONFIGS.glob("*.toml"))
