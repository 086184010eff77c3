"""Named sources of pairs -> pairs of texts to train on, and the vocabulary of a run.

A source is a folder or a file of one of two kinds:

- a corpus: `rows/LANGUAGE.PARTITION.jsonl.zst`; a query is a docstring, its document the function
- pairs: a `.jsonl`, `.jsonl.gz` or `.jsonl.zst` file, or a folder of them

A line of pairs has `query` and `code`. It may have `func_name`, `path`, `docstring` and `context` (parts of the
document's text), `language` (pairs of one language share their batches), `repo`, `weight` (of its loss), `negatives` (a
list of wrong documents with the same fields) and `partition`: pairs of `valid` are for validation only. In place of
`partition`, the name of the file may say it: `NAME.train.jsonl.zst`, `NAME.valid.jsonl.zst`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codesearch.evaluation.data import read_jsonl, read_lines
from codesearch.text.tokenizer import join_fields
from training import pretrained
from training.bpe import train_tokenizer
from training.checkpoint import TOKENIZER
from training.config import Source, TrainConfig
from training.corpus.advtest import advtest_rows
from training.corpus.load import load
from training.corpus.rows import PARTITIONS, Row, read_rows
from training.files import TrainingError, writing
from training.samples import MAX_TEXT_CHARS, MIN_NAME_CHARS, Pair, texts_of_row, without_name

ALONE = "questions"
"""The group of pairs without a language."""
_SUFFIXES = (".jsonl", ".jsonl.gz", ".jsonl.zst")


def row_files(corpus: Path, partition: str) -> list[Path]:
    """List the row files of a partition."""
    paths = sorted((corpus / "rows").glob(f"*.{partition}.jsonl.zst"))
    if not paths:
        raise TrainingError(
            f"{corpus}/rows has no {partition} rows: give another --corpus, or run `python -m training corpus extract` "
            "or `corpus load`"
        )
    return paths


def first_test_rows(corpus: Path, count: int) -> Iterator[Row]:
    """Yield the first test rows of each language, about `count` in all."""
    files = row_files(corpus, "test")
    for path in files:
        yield from islice(read_rows(path), count // len(files))


def rows_of(corpus: Path, name: str) -> Iterator[Row]:
    """Yield the rows of a partition, or of the test partition in the form of AdvTest or asked by name."""
    if name == "names":
        rows = rows_of(corpus, "test")
        return (without_name(row) for row in rows if len(row.identifier) >= MIN_NAME_CHARS)
    if name != "advtest":
        return read_rows(*row_files(corpus, name))
    loaded = chain.from_iterable(load(path) for path in row_files(corpus, "test"))
    return (row.row for row in advtest_rows(loaded, Counter()))


def kind_of(source: Source) -> str:
    """Return "corpus" or "pairs"."""
    path = source.path
    if path.is_dir() and any(path.glob("rows/*.jsonl.zst")):
        return "corpus"
    if not path.exists():
        raise TrainingError(
            f"source {source.name}: {path} is not there: give a corpus folder or a file of pairs"
        )
    if path.is_file() and not path.name.endswith(_SUFFIXES):
        raise TrainingError(f"source {source.name}: {path}: expected {', '.join(_SUFFIXES)}")
    return "pairs" if path.is_file() or _pair_files(path) else "corpus"


def files_of(source: Source, partition: str) -> list[Path]:
    """List the files that the pairs of a partition are read from."""
    if kind_of(source) == "corpus":
        return row_files(source.path, partition)
    others = {".train.", ".valid.", ".test."} - {f".{partition}."}
    return [path for path in _pair_files(source.path) if not any(part in path.name for part in others)]


def read_pairs(
    source: Source, partition: str, config: TrainConfig, numbers: Container[int] | None = None
) -> Iterator[Pair]:
    """Yield the pairs of a partition, "train" or "valid"; if `numbers` is given, only the pairs with these numbers."""
    files = files_of(source, partition)
    if numbers is None and source.most and partition == "train":
        numbers = set(drawn_numbers(source, config).tolist())
    if kind_of(source) == "corpus":
        with_names = partition == "train" and config.name_share > 0
        yield from _of_rows(read_rows(*files, numbers=numbers), config, with_names=with_names)
    else:
        records = enumerate(chain.from_iterable(map(read_jsonl, files)))
        chosen = (record for number, record in records if numbers is None or number in numbers)
        yield from _of_records(chosen, source.name, partition)


def drawn_numbers(source: Source, config: TrainConfig) -> NDArray[np.int64]:
    """Draw the numbers of at most `most` training pairs by seed; a smaller draw is part of a larger one."""
    files = files_of(source, "train")
    count = sum(1 for path in files for _ in read_lines(path))
    return np.random.default_rng((config.seed, 2)).permutation(count)[: source.most or count]


def _of_rows(rows: Iterator[Row], config: TrainConfig, *, with_names: bool) -> Iterator[Pair]:
    """Yield the pair of each row; `with_names` adds the name as a query, if it is long enough."""
    for row in rows:
        query, document = texts_of_row(row, config.documents)
        by_name = ("", "")
        if with_names and len(row.identifier) >= MIN_NAME_CHARS:
            by_name = texts_of_row(without_name(row), config.documents)
        yield Pair(query, document, row.language, row.package or row.repo, by_name=by_name)


def _of_records(
    records: Iterable[tuple[str, Mapping[str, Any]]], name: str, partition: str
) -> Iterator[Pair]:
    for place, record in records:
        named = partition if f".{partition}." in Path(place).name else "train"
        try:
            if _field(record, "partition", named, PARTITIONS) == partition:
                yield Pair(
                    query=_field(record, "query"),
                    document=_text(record),
                    group=_field(record, "language", ALONE),
                    package=_field(record, "repo", f"{name}: {Path(place).name.split('.')[0]}"),
                    weight=_weight(record),
                    wrong=tuple(map(_text, record.get("negatives", ()))),
                )
        except (TypeError, ValueError, AttributeError) as error:
            raise TrainingError(f"{place}: no pair ({error}): see docs/dev/encoder.md") from None


def _text(record: Mapping[str, Any]) -> str:
    """Return the text of a document, as an index has it."""
    name, docstring, path, context = (
        record.get(key, "") for key in ("func_name", "docstring", "path", "context")
    )
    return join_fields(name, docstring, _field(record, "code")[:MAX_TEXT_CHARS], path=path, context=context)


def _field(record: Mapping[str, Any], name: str, default: str = "", known: Container[str] = ()) -> str:
    value = record.get(name) or default
    if not isinstance(value, str) or not value or (known and value not in known):
        raise ValueError(f"no {name}" if not value else f"{name} {value!r}")
    return value


def _weight(record: Mapping[str, Any]) -> float:
    if not 0 <= (weight := float(record.get("weight", 1.0))) < math.inf:
        raise ValueError(f"weight {weight}")
    return weight


def _pair_files(path: Path) -> list[Path]:
    return [path] if path.is_file() else sorted(one for one in path.iterdir() if one.name.endswith(_SUFFIXES))


def make_tokenizer(run: Path, sources: Sequence[Source], config: TrainConfig, known: Path | None) -> None:
    """Write the `tokenizer.json` of a run: a known one, or one that is learned from some of the pairs."""
    if known and not known.exists():
        raise TrainingError(f"{known} is not there: name a run for its vocabulary")
    texts = (text for pair in _some(sources, config) for text in (pair.query, pair.document))
    with writing(path := run / TOKENIZER):
        run.mkdir(parents=True, exist_ok=True)
        if known:
            path.write_bytes(known.read_bytes())
        elif config.architecture == "bert":
            source = pretrained.pretrained_folder() / TOKENIZER
            pretrained.prune_tokenizer(source, path, texts, config.vocabulary_size)
        else:
            train_tokenizer(texts, config.vocabulary_size).save(path)


def _some(sources: Sequence[Source], config: TrainConfig) -> Iterator[Pair]:
    """Draw pairs of all sources by seed."""
    config = replace(config, name_share=0.0)
    numbers = [drawn_numbers(source, config) for source in sources]
    owners = np.repeat(np.arange(len(sources)), [len(its) for its in numbers])
    chosen = np.random.default_rng(config.seed).permutation(len(owners))[: config.vocabulary_rows]
    every = np.concatenate(numbers)
    for number, source in enumerate(sources):
        wanted = set(every[chosen[owners[chosen] == number]].tolist())
        yield from read_pairs(source, "train", config, wanted)
