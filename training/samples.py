"""Pairs -> packed token ids of queries and documents, in memory or in mapped files.

A sample is (first paragraph; place, qualified name, rest of the docstring, code). For training it can also have
(split name; the same without docstring and without the name), which a share of the steps takes in its place, to train
for short queries. With the setting `documents = "code"`, a document is the code alone, as in Husain et al. 2019.

`kept_samples` keeps samples in a folder under a hash of what decides them, so runs with the same vocabulary tokenize a
source only once. `NAME.bin` is the array of that name in `DTYPES`, `facts.json` has the names of groups and packages.
The arrays are mapped: samples take memory only where they are read.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codesearch.files import scratch_folder
from codesearch.text.tokenizer import SubtokenTokenizer, join_fields
from training.corpus.rows import Row
from training.files import TrainingError, read_json, writing

_FACTS = "facts.json"
Ids = NDArray[np.uint32]
"""Of the tokens of a text, [T]."""
Encode = Callable[[str, int], Ids]
_in_this_process: Callable[[Pair], list[Ids]]
"""Turns a pair into ids, in a process that only does this."""
TOGETHER = 8_192
"""Pairs that all processes together get at once; a single process tokenizes fewer sooner than they start."""
MAX_TEXT_CHARS = 4_000
MIN_NAME_CHARS = 4
"""Shorter names are not queries."""
_MAX_ID = np.iinfo(np.uint16).max
_TEXTS = ("query", "document", "name", "nameless")
DTYPES: dict[str, type[np.generic]] = {
    **{f"{text}_ids": np.uint16 for text in _TEXTS},
    **{f"{text}_starts": np.int64 for text in _TEXTS},
    **dict.fromkeys(("languages", "answers", "wrong", "wrong_starts"), np.int64),
    "weights": np.float32,
}
"""Name -> type of the arrays that hold samples."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A query, its document and `wrong` ones; a batch holds pairs of one `group`, a language mostly.

    `by_name` is the function's name as a query, and the document without it; empty if a step never takes them.
    """

    query: str
    document: str
    group: str
    package: str = ""
    weight: float = 1.0
    wrong: tuple[str, ...] = ()
    by_name: tuple[str, str] = ("", "")


@dataclass(frozen=True, slots=True)
class Packed:
    """Token ids (or other numbers) of N texts, laid end to end: text i is `ids[starts[i]:starts[i + 1]]`."""

    ids: NDArray[Any]
    starts: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Return the number of tokens of each text."""
        return np.diff(self.starts)

    def __getitem__(self, index: int) -> NDArray[Any]:
        return self.ids[self.starts[index] : self.starts[index + 1]]


@dataclass(frozen=True, slots=True)
class Samples:
    """The N pairs of one source and partition.

    Attributes:
        languages: the group of each pair, int64 [N]; it indexes `language_names`.
        answers: the right document of each pair, int64 [N]; `wrong` has the numbers of documents that are not right.
        names: the functions' names as queries, or empty; `nameless` has the documents without them.
    """

    queries: Packed
    documents: Packed
    names: Packed
    nameless: Packed
    languages: NDArray[np.int64]
    language_names: tuple[str, ...]
    answers: NDArray[np.int64]
    weights: NDArray[np.float32]
    wrong: Packed
    packages: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.languages)


def texts_of_row(row: Row, documents: str = "all") -> tuple[str, str]:
    """Return the query and the document text of a row; `documents` is a setting of `TrainConfig`."""
    code = row.code[:MAX_TEXT_CHARS]
    if documents == "code":
        return row.docstring, join_fields("", "", code)
    return row.docstring, join_fields(row.func_name, row.docstring_rest, code, path=row.path)


def without_name(row: Row) -> Row:
    """Return a function that is asked by its name: the name is the docstring, and is not elsewhere."""
    code = re.sub(rf"\b{re.escape(row.identifier)}\b", "", row.code[:MAX_TEXT_CHARS])
    enclosing = row.func_name.removesuffix(row.identifier)
    return replace(row, docstring=row.identifier, docstring_rest="", func_name=enclosing, path="", code=code)


def make_samples(
    rows: Iterable[Row],
    tokenizer: SubtokenTokenizer,
    *,
    max_query_tokens: int,
    max_document_tokens: int,
    documents: str = "all",
) -> Samples:
    """Tokenize rows in memory; `documents` is a setting of `TrainConfig`."""
    writer = SampleWriter(lambda _: io.BytesIO(), tokenizer, max_query_tokens, max_document_tokens)
    writer.add_all(Pair(*texts_of_row(row, documents), row.language, row.package) for row in rows)
    return samples_of(
        {name: np.frombuffer(file.getvalue(), DTYPES[name]) for name, file in writer.files.items()},
        writer.facts(),
    )


def short_ids(ids: NDArray[np.integer]) -> NDArray[np.uint16]:
    """Store token ids in 16 bits."""
    if len(ids) and ids.max() > _MAX_ID:
        raise TrainingError(f"token id {ids.max()}: give a vocabulary of at most {_MAX_ID + 1:,} tokens")
    return ids.astype(np.uint16)


def pack(texts: Sequence[NDArray[Any]], dtype: type[np.generic] = np.uint16) -> Packed:
    """Concatenate texts."""
    starts = np.zeros(len(texts) + 1, dtype=np.int64)
    np.cumsum([len(text) for text in texts], out=starts[1:])
    return Packed(np.concatenate(texts).astype(dtype) if texts else np.zeros(0, dtype), starts)


class SampleWriter:
    """Tokenizes pairs and appends them to files, so that memory does not grow with their number.

    Only documents of pairs with wrong ones are written once per text.
    """

    def __init__(
        self,
        open_file: Callable[[str], Any],
        tokenizer: SubtokenTokenizer,
        max_query_tokens: int,
        max_document_tokens: int,
    ) -> None:
        self.files = {name: open_file(name) for name in DTYPES}
        self._encode, self._limits = tokenizer.encode, (max_query_tokens, max_document_tokens)
        self._counts = dict.fromkeys(DTYPES, 0)
        self._groups: dict[str, int] = {}
        self._packages: dict[str, None] = {}
        self._known: dict[bytes, int] = {}
        for name in DTYPES:
            if name.endswith("_starts"):
                self._append(name, [0])

    def add_all(self, pairs: Iterable[Pair]) -> None:
        """Append pairs."""
        for pair, ids in tokenized(pairs, self._encode, self._limits):
            self._add(pair, *ids)

    def _add(self, pair: Pair, query: Ids, name: Ids, nameless: Ids, document: Ids, *wrong: Ids) -> None:
        self._text("query", query)
        self._text("name", name)
        self._text("nameless", nameless)
        self._append("answers", [self._document(pair.document, document, remember=bool(wrong))])
        self._append(
            "wrong", [self._document(*its, remember=True) for its in zip(pair.wrong, wrong, strict=True)]
        )
        self._append("wrong_starts", [self._counts["wrong"]])
        self._append("weights", [pair.weight])
        self._append("languages", [self._groups.setdefault(pair.group, len(self._groups))])
        self._packages[pair.package] = None

    def facts(self) -> dict[str, list[str]]:
        """Return the names of the groups and packages."""
        return {"groups": list(self._groups), "packages": sorted(self._packages)}

    def _document(self, text: str, ids: Ids, *, remember: bool) -> int:
        number = self._counts["document_starts"] - 1
        if remember:
            known = self._known.setdefault(
                hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=12).digest(), number
            )
            if known != number:
                return known
        self._text("document", ids)
        return number

    def _text(self, name: str, ids: Ids) -> None:
        self._append(f"{name}_ids", short_ids(ids))
        self._append(f"{name}_starts", [self._counts[f"{name}_ids"]])

    def _append(self, name: str, values: Sequence[float] | NDArray[Any]) -> None:
        self.files[name].write(np.asarray(values, DTYPES[name]).tobytes())
        self._counts[name] += len(values)


def tokenized(
    pairs: Iterable[Pair], encode: Encode, limits: tuple[int, int]
) -> Iterator[tuple[Pair, list[Ids]]]:
    """Yield each pair with the ids of its texts, in order; if there are many, all cores tokenize."""
    rest, tokenize = iter(pairs), partial(_tokenize, encode, limits)
    some = list(islice(rest, TOGETHER))
    if len(some) < TOGETHER:
        yield from ((pair, tokenize(pair)) for pair in some)
        return
    # Forked, they have the tokenizer without a copy of it for each task.
    with get_context("fork").Pool(initializer=_begin, initargs=(tokenize,)) as pool:
        while some:
            found = pool.map_async(_in_process, some)
            following = list(islice(rest, TOGETHER))
            yield from zip(some, found.get(), strict=True)
            some = following


def _tokenize(encode: Encode, limits: tuple[int, int], pair: Pair) -> list[Ids]:
    """Return the ids of the query, the name, the document without it, the document, and the wrong documents."""
    queries, documents = (pair.query, pair.by_name[0]), (pair.by_name[1], pair.document, *pair.wrong)
    texts = ((text, limit) for its, limit in zip((queries, documents), limits, strict=True) for text in its)
    return [encode(text, limit) if text else np.zeros(0, np.uint32) for text, limit in texts]


def _begin(tokenize: Callable[[Pair], list[Ids]]) -> None:
    global _in_this_process
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # The main process ends the others.
    _in_this_process = tokenize


def _in_process(pair: Pair) -> list[Ids]:
    return _in_this_process(pair)


def samples_of(arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Sequence[str]]) -> Samples:
    """Put together what a `SampleWriter` wrote; groups are numbered in order of their names."""
    names = sorted(facts["groups"])
    numbers = np.array([names.index(name) for name in facts["groups"]], np.int64)
    queries, documents, func_names, nameless = (
        Packed(arrays[f"{text}_ids"], arrays[f"{text}_starts"]) for text in _TEXTS
    )
    return Samples(
        queries=queries,
        documents=documents,
        names=func_names,
        nameless=nameless,
        languages=numbers[arrays["languages"]] if len(numbers) else np.zeros(0, np.int64),
        language_names=tuple(names),
        answers=arrays["answers"],
        weights=arrays["weights"],
        wrong=Packed(arrays["wrong"], arrays["wrong_starts"]),
        packages=tuple(facts["packages"]),
    )


def kept_samples(
    folder: Path,
    decided_by: object,
    pairs: Iterable[Pair],
    tokenizer: SubtokenTokenizer,
    limits: tuple[int, int],
) -> Samples:
    """Map the samples that `decided_by`, any JSON value, and the most tokens of a query and a document decide.

    If there are none in `folder`, make them first; only then the pairs are read.
    """
    decisive = json.dumps([decided_by, limits, [*DTYPES]], sort_keys=True)
    key = hashlib.sha256(decisive.encode()).hexdigest()[:16]
    kept = folder / key
    if not kept.exists():
        with writing(folder), scratch_folder(folder.parent) as scratch:
            part = scratch / key
            part.mkdir()
            with ExitStack() as stack:
                writer = SampleWriter(
                    lambda name: stack.enter_context((part / f"{name}.bin").open("wb")), tokenizer, *limits
                )
                writer.add_all(pairs)
            (part / _FACTS).write_text(json.dumps(writer.facts()), "utf-8")
            folder.mkdir(exist_ok=True)
            with suppress(OSError):  # Another run has made the same samples.
                part.rename(kept)
    facts = read_json(dict[str, list[str]], kept / _FACTS, f"delete {kept}")
    try:
        samples = samples_of(
            {name: _mapped(kept / f"{name}.bin", dtype) for name, dtype in DTYPES.items()}, facts
        )
        texts = (samples.queries, samples.documents, samples.names, samples.nameless, samples.wrong)
        is_whole = all(its.starts[-1] == len(its.ids) for its in texts) and bool(
            len(samples.queries) == len(samples.answers) == len(samples.weights) == len(samples)
            and (samples.answers < len(samples.documents)).all()
        )
    except (LookupError, ValueError, OSError):
        is_whole = False
    if not is_whole:
        raise TrainingError(f"{kept}: damaged samples: delete this folder")
    return samples


def _mapped(path: Path, dtype: type[np.generic]) -> np.ndarray:
    """Map an array; an empty file cannot be mapped."""
    return np.memmap(path, dtype, "r") if path.stat().st_size else np.zeros(0, dtype)
