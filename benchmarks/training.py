"""A made corpus of the size of CodeSearchNet's -> pairs per second and peak memory of each part that reads a corpus.

Each part runs in a process of its own. The functions are made of words as frequent as words of a language are, so
counts of tokens are like those of real functions; the texts mean nothing. Parts with a result are not repeated.
Memory includes the parts of mapped files that were read.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.process import measured
from benchmarks.publish import record
from training.config import CONFIGS, Source, TrainConfig, read_train_recipe
from training.corpus.rows import CsnRow, Row, to_line, write_lines
from training.pipeline import read_datasets
from training.sources import make_tokenizer, read_pairs

LANGUAGES = ("go", "java", "javascript", "php", "python", "ruby")
_WORDS, _DISTINCT = 60_000, 5_000
_NUMBER = "Number"
_PART_S = 6 * 3_600


def main() -> None:
    """Run one part, or all of them in separate processes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=2_000_000)
    parser.add_argument("--work", type=Path, default=Path("build/training"), help="folder for corpus and run")
    parser.add_argument("--part", choices=PARTS, help="run only this part")
    options = parser.parse_args()
    config = read_train_recipe(CONFIGS / "nbow.toml").settings
    work = options.work / str(options.pairs)
    if options.part:
        started = time.perf_counter()
        pairs = PARTS[options.part](work, config, options.pairs)
        print(json.dumps({"pairs": pairs, "seconds": round(time.perf_counter() - started, 1)}))
        return
    rows = {name: _measured(name, work, options.pairs) for name in PARTS}
    record("training", {"pairs": options.pairs, "parts": rows}, flat=True)


def _measured(name: str, work: Path, pairs: int) -> dict[str, Any]:
    done = work / f"{name}.json"
    if not done.exists():
        work.mkdir(parents=True, exist_ok=True)
        options = f"-m benchmarks.training --pairs {pairs} --part {name}".split()
        usage = measured([sys.executable, *options, "--work", work.parent], timeout_s=_PART_S)
        if usage.code:
            raise RuntimeError(usage.output)
        found = json.loads(usage.output.splitlines()[0])
        speed = {"cpu_s": usage.cpu_s, "pairs_per_cpu_s": round(found["pairs"] / usage.cpu_s)}
        done.write_text(json.dumps({**found, **speed, "peak_mb": usage.peak_mb}), "utf-8")
    return dict(json.loads(done.read_text("utf-8")))


def made_lines(count: int, language: str, partition: str) -> Iterator[bytes]:
    """Yield rows of functions with 20 to 120 words, and documentation of 5 to 25 words; every name is another one."""
    draw = np.random.default_rng([LANGUAGES.index(language), len(partition)])
    share = 1 / np.arange(2, _WORDS + 2)
    chances = np.cumsum(share / share.sum())
    names = np.array([_spelled(number) for number in range(_WORDS)])
    known = []
    for _ in range(_DISTINCT):
        words, asked = (
            names[np.searchsorted(chances, draw.random(int(draw.integers(*limits))))]
            for limits in ((20, 120), (5, 25))
        )
        lines = (f"    {a} = {b}.{c}{a.title()}({b})\n" for a, b, c in zip(*[iter(words)] * 3, strict=False))
        name = f"{words[0]}{words[1].title()}{_NUMBER}"
        code = f"def {name}({words[2]}):\n{''.join(lines)}    return {words[3]}\n"
        path = f"src/{words[4]}.x"
        row = Row("made/up", "", path, name, name, language, code, " ".join(asked), "", partition)
        known.append(to_line(CsnRow(row)))
    for number in range(count):
        yield known[number % _DISTINCT].replace(_NUMBER.encode(), str(number).encode())


def _spelled(number: int) -> str:
    """Return a word of letters for a number."""
    letters = ""
    while number or not letters:
        number, digit = divmod(number, 20)
        letters += "bcdfghjklmnpqrstvwxz"[digit] + "aeiou"[digit % 5]
    return letters


def _make(work: Path, config: TrainConfig, pairs: int) -> int:
    for language in LANGUAGES:
        for partition, count in (("train", pairs // len(LANGUAGES)), ("valid", 1_000)):
            path = work / "corpus" / "rows" / f"{language}.{partition}.jsonl.zst"
            write_lines(path, made_lines(count, language, partition))
    return pairs


def _read(work: Path, config: TrainConfig, pairs: int) -> int:
    return sum(1 for _ in read_pairs(_source(work), "train", config))


def _vocabulary(work: Path, config: TrainConfig, pairs: int) -> int:
    make_tokenizer(work, [_source(work)], config, None)
    return pairs


def _tokenize(work: Path, config: TrainConfig, pairs: int) -> int:
    (part,) = read_datasets([_source(work)], work, config, "train")
    return len(part.samples)


def _source(work: Path) -> Source:
    return Source("documentation", work / "corpus")


PARTS: dict[str, Callable[[Path, TrainConfig, int], int]] = {
    "make": _make,
    "reading": _read,
    "vocabulary": _vocabulary,
    "tokenizing": _tokenize,
}

if __name__ == "__main__":
    main()
