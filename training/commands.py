"""Fetch and extract a corpus, train an encoder, evaluate and benchmark it."""

from __future__ import annotations

import json as json_
import logging
import os
import shlex
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Annotated, Literal

import tyro
from tyro.conf import arg

from codesearch.errors import ConfigError
from training.command import CORPUS
from training.config import Source, TrainConfig, config_path, read_train_recipe
from training.corpus.fetch import DEFAULT_SOURCES, AptLists
from training.corpus.recipe import DEFAULT_RECIPE, SourcePackage, read_lock, read_recipe, write_lock

Extracted = Annotated[Path, arg(help="Folder that `corpus extract` or `load` filled.")]
Fetched = Annotated[Path, arg(help="Folder that `corpus fetch` filled.")]
Forbidden = Annotated[Path | None, arg(help="Folder of evaluation sets never to train on.")]
Device = Annotated[Literal["auto", "cpu", "cuda"], arg(help="By default CUDA if available.")]
Run = Annotated[Path, arg(help="Folder of a trained run.")]
_log = logging.getLogger(__name__)
HeldOut = Literal["valid", "test", "names", "advtest"]
Suite = Literal["csn-mrr", "advtest"]
"""The module of a suite has the same name, with an underscore for the dash."""


@dataclass(frozen=True, slots=True)
class Packages:
    """Which packages of a recipe."""

    recipe: Annotated[Path, arg(help="Packages by name.")] = DEFAULT_RECIPE
    without_train_only: Annotated[bool, arg(help="Skip packages that are only for training.")] = False

    def read(self) -> list[SourcePackage]:
        """Return the packages."""
        packages = read_recipe(self.recipe)
        return [package for package in packages if not (self.without_train_only and package.train_only)]


def _at_least_one(**options: int) -> None:
    for name, value in options.items():
        if value < 1:
            raise ConfigError(f"--{name} {value}: give at least 1")


def fetch(
    packages: Packages = Packages(),
    *,
    out: Annotated[Path, arg(help="Corpus folder.")] = CORPUS,
    languages: Annotated[tuple[str, ...], arg(help="Only these languages.")] = (),
    jobs: Annotated[int, arg(help="Parallel downloads.")] = 4,
    update: Annotated[bool, arg(help="Take the newest versions and rewrite the lock.")] = False,
    apt_sources: Annotated[
        Path, arg(help="Deb822 file with the address of Debian's archive.")
    ] = DEFAULT_SOURCES,
) -> None:
    """Download the packages of a recipe."""
    from training.corpus.fetch import fetch_all, pins_of

    _at_least_one(jobs=jobs)
    chosen = [package for package in packages.read() if not languages or package.language in languages]
    pins = {} if update else read_lock(packages.recipe)
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as scratch:
        apt = AptLists(Path(scratch), apt_sources)
        fetched, missing = fetch_all(chosen, out, apt, pins=pins, jobs=jobs)
    if update:
        write_lock(packages.recipe, {**read_lock(packages.recipe), **pins_of(fetched)})
    size = sum(package.download_bytes for package in fetched.values())
    print(
        f"{len(fetched)} packages in {out}, {size / 1e6:,.0f} MB of archives, "
        f"{time.perf_counter() - started:.0f} s; missing {len(missing)}: {', '.join(missing) or 'none'}"
    )


def extract(
    packages: Packages = Packages(),
    *,
    corpus: Fetched = CORPUS,
    evaluation_sets: Forbidden = None,
    processes: Annotated[int, arg(help="Worker processes.")] = os.cpu_count() or 1,
) -> None:
    """Parse the packages into rows."""
    from training.corpus.extract import extract_corpus
    from training.corpus.stats import report

    _at_least_one(processes=processes)
    print(report(extract_corpus(packages.read(), corpus, evaluation_sets, processes=processes)))


def stats(*, corpus: Extracted = CORPUS) -> None:
    """Count what was extracted, as a table."""
    from training.corpus.stats import read_stats, report

    print(report(read_stats(corpus)))


def compounds(*, out: Annotated[Path, arg(help="File to write.")], corpus: Extracted = CORPUS) -> None:
    """Find names that are two words written together."""
    from training.corpus.compounds import learn_compounds
    from training.corpus.rows import read_rows
    from training.files import writing
    from training.sources import row_files

    found = learn_compounds(read_rows(*row_files(corpus, "train")))
    lines = (f"{' '.join(entry)}\n" for entry in found)
    with writing(out):
        out.write_text(
            "# Learned from a corpus: `python -m training corpus compounds`.\n" + "".join(lines), "utf-8"
        )
    print(f"{out}: {len(found)} compounds")


def load(
    path: Annotated[Path, arg(help="File or folder: jsonl, parquet or pickle.")],
    /,
    *,
    out: Annotated[
        Path | None, arg(help="Corpus folder to write rows to; by default only count them.")
    ] = None,
    evaluation_sets: Forbidden = None,
    advtest: Annotated[bool, arg(help="Filter as AdvTest does; held-out rows lose their names.")] = False,
) -> None:
    """Read an existing corpus: CodeSearchNet in any layout."""
    from training.corpus.load import counted, load_corpus

    counts, dropped = load_corpus(path, out, evaluation_sets, advtest=advtest)
    for (language, partition), count in sorted(counts.items()):
        print(f"{language} {partition or 'without partition'}: {count}")
    print(f"{sum(counts.values())} rows, dropped {counted(dropped)}")


def pairs(
    *,
    questions: Annotated[Path, arg(help="File of written questions.")],
    corpus: Annotated[
        tuple[tuple[Path, Path], ...],
        tyro.conf.UseAppendAction,
        arg(help="Folder that `fetch` filled and its recipe; repeatable."),
    ],
    out: Annotated[Path, arg(help="Folder to write.")],
    evaluation_sets: Forbidden = None,
) -> None:
    """Join written questions to the functions of fetched packages."""
    from training.corpus.written import write_pairs

    counts, left_out = write_pairs(questions, corpus, evaluation_sets, out)
    reasons = ", ".join(f"{reason} {count:,}" for reason, count in left_out.most_common() if count)
    print(
        f"pairs in {out}: to train on {counts['train']:,}, for validation {counts['valid']:,}; "
        f"questions left out: {reasons or 'none'}"
    )


@dataclass(frozen=True, slots=True)
class Preset:
    """Where the settings come from, which the other options replace."""

    encoder: Annotated[str, arg(help="A shipped set of settings.")] = "nbow"
    config: Annotated[Path | None, arg(help="TOML file of settings and sources, instead.")] = None

    @property
    def path(self) -> Path:
        """The file of settings."""
        return self.config or config_path(self.encoder)


def train(
    sources: tuple[Source, ...],
    preset: Preset,
    settings: TrainConfig,
    *,
    corpus: Extracted = CORPUS,
    run: Annotated[
        Path | None,
        arg(help="Folder of weights and metrics; by default runs/NAME, of the encoder or the file."),
    ] = None,
    questions: Annotated[tuple[Path, ...], arg(help="Files of real questions with their code.")] = (),
    question_repeats: Annotated[float, arg(help="How often each occurs in an epoch.")] = 2,
    vocabulary: Annotated[
        Path | None, arg(help="Run whose vocabulary to use, so that `average` works.")
    ] = None,
    start: Annotated[Path | None, arg(help="Bundle of a bag to start from.")] = None,
    device: Device = "auto",
    compiled: Annotated[bool, arg(name="compile", help="Compile the encoder with torch.compile.")] = False,
) -> None:
    """Train an encoder on a corpus."""
    from training.pipeline import train_run

    if sources and (settings.max_pairs or corpus != CORPUS):
        _log.warning("%s has sources: --corpus and --max-pairs are not used", preset.path)
    documentation = Source("documentation", corpus, most=settings.max_pairs)
    asked = [Source(path.name.split(".")[0], path, share=question_repeats) for path in questions]
    train_run(
        [*(sources or [documentation]), *asked],
        run or Path("runs") / (preset.config.stem if preset.config else preset.encoder),
        settings,
        device,
        start=start,
        vocabulary=vocabulary,
        compiled=compiled,
    )


def average(
    runs: Annotated[tuple[Path, ...], arg(help="Trained runs.")],
    /,
    *,
    out: Annotated[Path, arg(help="Run folder to write.")],
) -> None:
    """Average trained runs of one vocabulary."""
    from training.checkpoint import average_runs

    average_runs(runs, out)
    print(f"{out}: mean of {len(runs)} runs; run `python -m training evaluate --run {out}` next")


def evaluate(
    *,
    corpus: Extracted = CORPUS,
    run: Run = Path("runs/nbow"),
    on: Annotated[tuple[HeldOut, ...], arg(help="Held-out sets.")] = ("test",),
    data: Annotated[
        Path | None, arg(help="Data in any layout of CodeSearchNet, in place of the sets.")
    ] = None,
    device: Device = "auto",
) -> None:
    """Compute MRR and recall on held-out sets."""
    from training.corpus.load import load_test
    from training.pipeline import evaluate_run
    from training.sources import rows_of

    for name in ("data",) if data else on:
        rows = (loaded.row for loaded in load_test(data)) if data else rows_of(corpus, name)
        found = evaluate_run(run, str(data or name), rows, device, file=name)
        print(json_.dumps(found, indent=1))


def predict(
    *,
    run: Run,
    data: Annotated[tuple[Path, ...], arg(help="Files or folders: CodeSearchNet in any layout.")],
    queries: Annotated[Path, arg(help="CSV file with a column `query`.")],
    out: Annotated[Path, arg(help="File to write.")] = Path("model_predictions.csv"),
    device: Device = "auto",
) -> None:
    """Rank all functions for queries, as a submission."""
    from training.evaluation.predict import predict

    counts = predict(run, data, queries, out, device)
    found = ", ".join(f"{language} {count:,}" for language, count in sorted(counts.items()))
    print(f"{out}: ranked the functions of {found}")


def bench(
    *,
    suite: Annotated[
        Suite,
        arg(
            help="Documentation against code among 999 others, or against Python functions that lost their names."
        ),
    ],
    data: Annotated[Path, arg(help="Folder or file of the suite's data.")],
    model: Annotated[Path | None, arg(help="Folder of a bundle; by default the shipped model.")] = None,
    device: Device = "auto",
    json: Annotated[Path | None, arg(help="Write all scores to this file.")] = None,
    predictions: Annotated[
        Path | None, arg(help="Write the results for CodeXGLUE's evaluator; only of advtest.")
    ] = None,
) -> None:
    """Measure a bundle by documentation and code, as published work does."""
    from codesearch.evaluation.judge import BenchOptions
    from codesearch.evaluation.result import SuiteResult, result_text, write_json

    module = import_module(f"training.evaluation.{suite.replace('-', '_')}")
    if predictions and not hasattr(module, "write_predictions"):
        raise ConfigError(f"suite {suite} has no files of results: leave out --predictions")
    options = BenchOptions(home=Path("build"), data=data.absolute(), model=model, device=device)
    result: SuiteResult = module.run(options)
    print(result_text(result), end="")
    if json:
        write_json(json, result, shlex.join(["python", "-m", "training", *sys.argv[1:]]))
    if predictions:
        module.write_predictions(predictions, result.runs["fused"])


def download(
    suite: Annotated[Literal["csn99"], arg(help="The 99 queries.")],
    /,
    *,
    out: Annotated[Path, arg(help="Folder to write; one begun before goes on.")],
) -> None:
    """Download the data of the 99 queries."""
    from training.evaluation.download import download

    download(out)
    print(f"{out}: run `python -m benchmarks.suite csn99 --data {out}`")


def commands(arguments: Sequence[str]) -> dict[str, Callable[..., None]]:
    """Return the functions of the commands; `train` starts from the settings of the file that its arguments name."""
    steps = (fetch, extract, stats, compounds, load, pairs)
    named: dict[str, Callable[..., None]] = {f"corpus {step.__name__}": step for step in steps}
    others = (average, evaluate, predict, bench, download)
    preset = Preset()
    if arguments[:1] == ["train"]:
        preset, _ = tyro.cli(Preset, args=arguments[1:], return_unknown_args=True, add_help=False)
    recipe = read_train_recipe(preset.path)
    named["train"] = partial(
        train, recipe.sources, preset=preset, settings=recipe.settings, start=recipe.start
    )
    return named | {command.__name__: command for command in others}
