"""Settings of a training run with their only defaults; a TOML file and the command line set them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import ConfigDict, Field, ValidationError, model_validator
from pydantic.dataclasses import dataclass

from training.files import TrainingError, read_toml

CONFIGS = Path(__file__).parent / "configs"
SequenceModel = Literal["cnn", "birnn", "selfatt", "cnn-selfatt"]
"""Architectures that read a text in order. Each part of a name is a module of `training.encoders` with `make_body`."""
Architecture = Literal["nbow", "unif", "ncs", "bert", SequenceModel]
_READS_IN_ORDER = get_args(SequenceModel)
Pooling = Literal["mean", "attention", "token-weights", "sigmoid"]
Loss = Literal["symmetric-softmax", "softmax", "cosine", "max-margin", "triplet"]
Positive = Annotated[int, Field(ge=1, lt=1 << 31)]
Count = Annotated[int, Field(ge=0, lt=1 << 31)]
Amount = Annotated[float, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]
_NUMBERS = ConfigDict(allow_inf_nan=False, extra="forbid")
_STRICT: ConfigDict = {**_NUMBERS, "strict": True}


class _OneLineErrors:
    """Raises a wrong value as a TrainingError; pydantic would write several lines and an address."""

    @model_validator(mode="wrap")
    @classmethod
    def _checked(cls, values: Any, checked: Callable[[Any], Any]) -> Any:  # noqa: ANN401 - as pydantic has it.
        try:
            return checked(values)
        except ValidationError as error:
            first = error.errors()[0]
            value = "" if first["type"] == "missing" else f" {first['input']!r}"
            is_unknown = first["type"] == "unexpected_keyword_argument"
            fault = "no such field: see `python -m training train --help`" if is_unknown else first["msg"]
            raise TrainingError(f"{first['loc'][0]}{value}: {fault}") from None


@dataclass(frozen=True, slots=True, config=_STRICT)
class TrainConfig(_OneLineErrors):
    """The settings that, with the data, determine a run's weights."""

    architecture: Architecture = "nbow"
    """How a text becomes a vector."""
    query_architecture: Literal["", "nbow", "unif", SequenceModel] = ""
    """The same for queries; empty for `architecture`."""
    dim: Annotated[int, Field(ge=1, le=1 << 14)] = 256
    """Length of the vectors."""
    documents: Literal["all", "code"] = "all"
    """Text of a document: place, qualified name, rest of the docstring and code (`all`), or `code` alone."""
    pooling: Pooling = "token-weights"
    """How the token vectors of a document become one, and of a query if `query_pooling` is empty."""
    query_pooling: Literal["", Pooling] = ""
    """The same for queries."""
    code_encoders: Literal["shared", "per-language"] = "shared"
    """One for all languages, or one for each."""
    layers: Positive = 1
    """Number of layers of convolution, recurrence or attention; `cnn-selfatt` has this number of each kind."""
    kernel_size: Positive = 7
    """Tokens that a convolution sees; of an even number, one more after the token than before it."""
    positions: bool = False
    """Learn a vector for each position, added before the first layer; self-attention has its own anyway."""
    heads: Positive = 4
    """Number of heads of self-attention."""
    hidden_dim: Count = 0
    """Width of self-attention's feed-forward half; 0 stands for twice `dim`, and four times in `bert`."""
    frozen_layers: Count = 0
    """Number of first layers that keep their pretrained weights, with all below them (`bert`)."""
    dropout: Annotated[float, Field(ge=0, le=0.99)] = 0.0
    """Share of a sequence model's activations that are set to zero."""
    table_dropout: Annotated[float, Field(ge=0, le=0.99)] = 0.0
    """Share of the numbers of token vectors that are set to zero, the same ones in all texts of a step."""
    max_pairs: Count = 0
    """Pairs to train on, drawn by seed from all languages; 0 stands for all."""
    vocabulary_size: Annotated[int, Field(ge=2, le=1 << 16)] = 22_000  # Token ids are stored in 16 bits.
    """Tokens in the vocabulary, at most."""
    vocabulary_rows: Positive = 120_000
    """Rows that the vocabulary is learned from."""
    max_query_tokens: Annotated[int, Field(ge=1, le=1 << 16)] = 30
    """A query is cut to this number of tokens."""
    max_document_tokens: Annotated[int, Field(ge=1, le=1 << 16)] = 200
    """A document is cut to this number of tokens."""
    name_share: Share = 0.1
    """Share of training samples whose query is the function's own name."""
    idf_power: Amount = 0.25
    """Token weights start from idf to this power; 0 starts them equal."""
    count_power: Annotated[float, Field(ge=0, le=10)] = 1.0
    """Exponent of a token's count in a document (token weights); below 1, repetition counts less."""
    initial_vectors: Literal["noise", "minilm"] = "noise"
    """Start of token vectors: noise, or a teacher's embedding of each token."""
    token_dropout: Share = 0.1
    """Share of a document's distinct tokens that are removed, drawn again each time."""
    loss: Loss = "symmetric-softmax"
    """What training minimises."""
    similarity: Literal["cosine", "dot"] = "cosine"
    """What a loss sees of two vectors: their cosine, or the dot product before they have unit length."""
    language_weights: Literal["pairs", "equal"] = "pairs"
    """Languages count in the loss by their number of pairs, or all the same."""
    temperature: Annotated[float, Field(ge=1e-6)] = 0.07
    """Divisor of the similarities in the softmax losses and `max-margin`."""
    margin: Amount = 0.5
    """Of the losses `cosine`, `max-margin` and `triplet`; 1 in CodeSearchNet's repository."""
    hard_negatives: Count = 4
    """Wrong documents that a step draws for each pair of a source that has some."""
    keep: Amount = 0.0
    """Weight of the squared difference to the cosines of the bundle that a run starts from."""
    learning_rate: Amount = 0.005
    """For token vectors and token weights."""
    body_learning_rate: Amount = 0.001
    """For everything between token vectors and pooling, and for attention pooling."""
    gradient_clip: Amount = 0.0
    """Largest norm of the gradient over all weights; 0 means no limit."""
    decay: Amount = 0.1
    """The learning rate falls to this share of its highest value."""
    schedule: Literal["linear", "cosine"] = "linear"
    """How it falls: in a line, or as half a cosine."""
    warmup: Annotated[float, Field(ge=0, le=0.9)] = 0.0
    """Share of all steps in which it first rises in a line."""
    batch_size: Annotated[int, Field(ge=2)] = 1_024  # The other pairs of a batch are the wrong answers.
    """Pairs in a step."""
    neighbours: Positive = 1
    """Pairs that follow each other in a source, mostly of one file, and are drawn together: harder negatives."""
    chunk: Count = 0
    """Texts that are embedded at once, if not a whole batch; it saves memory and takes a second pass."""
    epochs: Positive = 3
    """Passes over the pairs, at most."""
    validation_pools: Positive = 5
    """Pools of 1,000 pairs for each language in the validation MRR."""
    patience: Positive = 2
    """Epochs without a better validation MRR before stopping."""
    seed: Count = 0
    """Of every random draw."""

    def __post_init__(self) -> None:
        for fault, message in self._faults():
            if fault:
                raise TrainingError(message)

    def _faults(self) -> Iterator[tuple[object, str]]:
        """Yield which settings do not fit together, and what to do then."""
        encoders = (self.architecture, self.query_architecture)
        has_layers = any(name in _READS_IN_ORDER for name in encoders)
        for name in ("dropout", "positions"):
            yield (
                getattr(self, name) and not has_layers,
                f"{name}: only {', '.join(_READS_IN_ORDER)} have it: leave it out, or use table_dropout",
            )
        yield (
            self.table_dropout and self.architecture in ("bert", "ncs"),
            f"table_dropout: {self.architecture} has none: leave it out",
        )
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
        yield (
            has_heads and self.dim % self.heads,
            f"dim {self.dim}: {self.heads} heads need a multiple of {self.heads}",
        )


@dataclass(frozen=True, slots=True, config=_NUMBERS)
class Source(_OneLineErrors):
    """Where pairs come from, and how much they count."""

    name: str
    path: Path
    """A corpus folder, or a file or folder of pairs (see `training.sources`)."""
    share: Annotated[float, Field(ge=1e-6)] = 1.0
    """Of its pairs that an epoch takes, one part after the other; 2 takes each pair twice."""
    weight: Amount = 1.0
    """Factor of the loss of its pairs."""
    most: Count = 0
    """At most so many pairs, drawn by seed; 0 for all."""


@dataclass(frozen=True, slots=True, config=_NUMBERS)
class TrainRecipe(_OneLineErrors):
    """What a TOML file says; a setting that it does not have keeps its default."""

    settings: TrainConfig
    sources: tuple[Source, ...] = ()
    """Pairs to learn from, `[[sources]]` with the fields of `Source`."""
    start: Path | None = None
    """Bundle of a bag to start from."""


def read_train_recipe(path: Path) -> TrainRecipe:
    """Read a TOML file."""
    values = read_toml(dict[str, Any], path, "give the path of a TOML file")
    try:
        others = {name: values.pop(name) for name in ("sources", "start") if name in values}
        return TrainRecipe(settings=TrainConfig(**values), **others)
    except TrainingError as error:
        raise TrainingError(f"{path}: {error}") from None


def config_path(name: str) -> Path:
    """Return the file of shipped settings."""
    if name not in (known := shipped_configs()):
        raise TrainingError(f"encoder {name}: choose one of {', '.join(known)}")
    return CONFIGS / f"{name}.toml"


def shipped_configs() -> list[str]:
    """List the names of the settings that come with training."""
    return sorted(path.stem for path in CONFIGS.glob("*.toml"))
