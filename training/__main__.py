"""`python -m training`: fetch and extract a corpus, train an encoder, evaluate and benchmark it."""

from __future__ import annotations

import argparse
import dataclasses
import json
import logging
import os
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path
from typing import Any

from training.command import CORPUS, SETS, Parser, run_command
from training.config import (
    ALIASES,
    CHOICES,
    Source,
    TrainConfig,
    config_path,
    meanings,
    read_train_recipe,
    shipped_configs,
)
from training.corpus.apt import DEFAULT_SOURCES, AptLists
from training.corpus.recipe import DEFAULT_RECIPE, SourcePackage, read_lock, read_recipe, write_lock
from training.evaluation.command import add_bench
from training.evaluation.download import add_download


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit status."""
    logging.basicConfig(level=logging.INFO, format="%(levelname)s: %(message)s")
    return run_command(_parser(), arguments)


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="python -m training", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    corpus = commands.add_parser("corpus", help="make a corpus").add_subparsers(required=True, metavar="STEP")
    _add_fetch(corpus.add_parser("fetch", help="download the packages of a recipe"))
    _add_extract(corpus.add_parser("extract", help="parse the packages into rows"))
    _add_stats(corpus.add_parser("stats", help="count what was extracted, as a table"))
    _add_compounds(corpus.add_parser("compounds", help="find names that are two words written together"))
    _add_load(corpus.add_parser("load", help="read an existing corpus: CodeSearchNet in any layout"))
    _add_sample(corpus.add_parser("sample", help="choose functions to write questions about"))
    _add_check(corpus.add_parser("check", help="show the questions of authors to readers"))
    _add_join(corpus.add_parser("join", help="join the questions of authors to their functions"))
    _add_pairs(corpus.add_parser("pairs", help="join written questions to the functions of fetched packages"))
    _add_train(commands.add_parser("train", help="train an encoder on a corpus"))
    _add_average(commands.add_parser("average", help="average trained runs of one vocabulary"))
    _add_evaluate(commands.add_parser("evaluate", help="compute MRR and recall on held-out sets"))
    _add_predict(commands.add_parser("predict", help="rank all functions for queries, as a submission"))
    add_bench(commands.add_parser("bench", help="judge an encoder as published work does"))
    add_download(commands.add_parser("download", help="download the data of a suite of `codesearch bench`"))
    return parser


def _add_fetch(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", type=Path, default=CORPUS, help="corpus folder (default: %(default)s)")
    _add_recipe(parser)
    parser.add_argument("--languages", nargs="*", help="only these languages")
    parser.add_argument("--jobs", type=int, default=4, help="parallel downloads (default: %(default)s)")
    parser.add_argument("--update", action="store_true", help="take the newest versions and rewrite the lock")
    parser.add_argument(
        "--apt-sources",
        type=Path,
        default=DEFAULT_SOURCES,
        help="deb822 file with the address of Debian's archive (default: %(default)s)",
    )
    parser.set_defaults(run_command=_fetch)


def _fetch(options: argparse.Namespace) -> None:
    from training.corpus.fetch import fetch_all, pins_of

    packages = [
        package
        for package in _packages(options)
        if not options.languages or package.language in options.languages
    ]
    pins = {} if options.update else read_lock(options.recipe)
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as scratch:
        apt = AptLists(Path(scratch), options.apt_sources)
        fetched, missing = fetch_all(packages, options.out, apt, pins=pins, jobs=options.jobs)
    if options.update:
        write_lock(options.recipe, {**read_lock(options.recipe), **pins_of(fetched)})
    size = sum(package.download_bytes for package in fetched.values())
    print(
        f"{len(fetched)} packages in {options.out}, {size / 1e6:,.0f} MB of archives, "
        f"{time.perf_counter() - started:.0f} s; missing {len(missing)}: {', '.join(missing) or 'none'}"
    )


def _add_extract(parser: argparse.ArgumentParser) -> None:
    _add_corpus(parser, "fetch")
    _add_recipe(parser)
    parser.add_argument("--evaluation-sets", type=Path, help="folder of evaluation sets never to train on")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="worker processes")
    parser.set_defaults(run_command=_extract)


def _extract(options: argparse.Namespace) -> None:
    from training.corpus.extract import extract_corpus
    from training.corpus.stats import report

    stats = extract_corpus(
        _packages(options), options.corpus, options.evaluation_sets, processes=options.processes
    )
    print(report(stats))


def _add_corpus(parser: argparse.ArgumentParser, step: str) -> None:
    parser.add_argument(
        "--corpus", type=Path, default=CORPUS, help=f"folder that `{step}` filled (default: %(default)s)"
    )


def _add_recipe(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--recipe", type=Path, default=DEFAULT_RECIPE, help="packages by name")
    parser.add_argument(
        "--without-train-only", action="store_true", help="skip packages that are only for training"
    )


def _packages(options: argparse.Namespace) -> list[SourcePackage]:
    return [
        package
        for package in read_recipe(options.recipe)
        if not (options.without_train_only and package.train_only)
    ]


def _add_stats(parser: argparse.ArgumentParser) -> None:
    _add_corpus(parser, "extract")
    parser.add_argument("--page", type=Path, help="write the tables into this page, between its markers")
    parser.set_defaults(run_command=_stats)


def _stats(options: argparse.Namespace) -> None:
    from training.corpus.stats import read_stats, report, update_page

    stats = read_stats(options.corpus)
    if options.page:
        update_page(options.page, stats)
    print(report(stats))


def _add_compounds(parser: argparse.ArgumentParser) -> None:
    _add_corpus(parser, "extract")
    parser.add_argument("--every", type=int, default=1, help="read only every Nth row")
    parser.add_argument("--out", type=Path, required=True, help="file to write")
    parser.set_defaults(run_command=_compounds)


def _compounds(options: argparse.Namespace) -> None:
    from training.corpus.compounds import learn_compounds
    from training.corpus.rows import read_rows
    from training.evaluation.sets import row_files

    rows = read_rows(*row_files(options.corpus, "train"))
    found = learn_compounds(islice(rows, 0, None, options.every))
    lines = (f"{' '.join(entry)}\n" for entry in found)
    options.out.write_text(
        "# Learned from a corpus: `python -m training corpus compounds`.\n" + "".join(lines), "utf-8"
    )
    print(f"{options.out}: {len(found)} compounds")


def _add_sample(parser: argparse.ArgumentParser) -> None:
    _add_corpus(parser, "fetch")
    _add_recipe(parser)
    parser.add_argument("--evaluation-sets", type=Path, help="folder of evaluation sets never to train on")
    parser.add_argument("--quota", nargs="+", required=True, metavar="LANGUAGE=N", help="how many batches")
    parser.add_argument(
        "--first", type=int, default=0, help="number of the first batch (default: %(default)s)"
    )
    parser.add_argument("--out", type=Path, required=True, help="folder to write")
    parser.set_defaults(run_command=_sample)


def _sample(options: argparse.Namespace) -> None:
    from training.corpus.sample import sample_functions, write_batches

    quotas = {
        language: int(count) for language, _, count in (quota.partition("=") for quota in options.quota)
    }
    sampled = sample_functions(
        _packages(options), options.corpus, options.evaluation_sets, quotas, first=options.first
    )
    counts = write_batches(sampled, options.out)
    print(", ".join(f"{language} {count}" for language, count in counts.items()))


def _add_check(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, help="folder that `sample` wrote")
    parser.add_argument("--answers", type=Path, required=True, help="folder with the files of the authors")
    parser.add_argument("--out", type=Path, required=True, help="folder to write")
    parser.set_defaults(run_command=_check)


def _check(options: argparse.Namespace) -> None:
    from training.corpus.sample import write_checks

    print(f"{write_checks(options.folder, options.answers, options.out)} questions in {options.out}")


def _add_join(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folders", nargs="+", type=Path, help="folders that `sample` wrote")
    parser.add_argument("--answers", type=Path, required=True, help="folder with the files of the authors")
    parser.add_argument("--picks", type=Path, required=True, help="folder with the files of the readers")
    parser.add_argument("--out", type=Path, required=True, help="file to write")
    parser.set_defaults(run_command=_join)


def _join(options: argparse.Namespace) -> None:
    from training.corpus.sample import join_questions

    lines = list(join_questions(options.folders, options.answers, options.picks))
    options.out.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    print(f"{len(lines)} questions in {options.out}")


def _add_pairs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--questions", type=Path, required=True, help="file of written questions")
    parser.add_argument(
        "--corpus",
        type=Path,
        nargs=2,
        action="append",
        required=True,
        metavar=("DIR", "RECIPE"),
        help="folder that `fetch` filled and its recipe; repeatable",
    )
    parser.add_argument("--evaluation-sets", type=Path, help="folder of evaluation sets never to train on")
    parser.add_argument("--out", type=Path, required=True, help="folder to write")
    parser.set_defaults(run_command=_pairs)


def _pairs(options: argparse.Namespace) -> None:
    from training.corpus.written import write_pairs

    counts, left_out = write_pairs(options.questions, options.corpus, options.evaluation_sets, options.out)
    reasons = ", ".join(f"{reason} {count:,}" for reason, count in left_out.most_common() if count)
    print(
        f"pairs in {options.out}: to train on {counts['train']:,}, for validation {counts['valid']:,}; "
        f"questions left out: {reasons or 'none'}"
    )


def _add_load(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", type=Path, help="file or folder: jsonl, parquet or pickle")
    parser.add_argument("--out", type=Path, help="corpus folder to write rows to; default: only count them")
    parser.add_argument("--evaluation-sets", type=Path, help="folder of evaluation sets never to train on")
    parser.add_argument(
        "--advtest", action="store_true", help="filter as AdvTest does; held-out rows lose their names"
    )
    parser.set_defaults(run_command=_load)


def _load(options: argparse.Namespace) -> None:
    from training.corpus.load import counted, load_corpus

    counts, dropped = load_corpus(options.path, options.out, options.evaluation_sets, advtest=options.advtest)
    for (language, partition), count in sorted(counts.items()):
        print(f"{language} {partition or 'without partition'}: {count}")
    print(f"{sum(counts.values())} rows, dropped {counted(dropped)}")


def _add_train(parser: argparse.ArgumentParser) -> None:
    _add_folders(parser)
    parser.add_argument(
        "--encoder", choices=(*shipped_configs(), *ALIASES), default="nbow", help="a shipped set of settings"
    )
    parser.add_argument(
        "--config", type=Path, help="TOML file of settings and sources, instead of a shipped one"
    )
    parser.add_argument(
        "--questions", type=Path, nargs="*", default=[], help="files of real questions with their code"
    )
    parser.add_argument("--question-repeats", type=float, default=2, help="how often each occurs in an epoch")
    parser.add_argument(
        "--vocabulary", type=Path, metavar="RUN", help="run whose vocabulary to use, so that `average` works"
    )
    parser.add_argument("--start", type=Path, metavar="BUNDLE", help="bundle of a bag to start from")
    _add_device(parser)
    _add_settings(parser)
    parser.set_defaults(run_command=_train)


def _add_settings(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "settings", "They replace those of the file; a default counts if neither has the setting."
    )
    meaning = meanings()
    for field in dataclasses.fields(TrainConfig):
        values = ", ".join(filter(None, CHOICES.get(field.name, ())))
        group.add_argument(
            "--" + field.name.replace("_", "-"),
            type=type(field.default),
            default=argparse.SUPPRESS,
            help=f"{meaning[field.name]} ({values + '; ' if values else ''}default: {field.default!r})",
        )


def _given(options: argparse.Namespace) -> dict[str, Any]:
    names = [field.name for field in dataclasses.fields(TrainConfig)]
    return {name: getattr(options, name) for name in names if hasattr(options, name)}


def _train(options: argparse.Namespace) -> None:
    from training.pipeline import train_run

    recipe = read_train_recipe(options.config or config_path(options.encoder))
    config = TrainConfig(**{**recipe.settings, **_given(options)})
    corpus = Source("documentation", options.corpus, most=config.max_pairs)
    questions = [
        Source(path.name.split(".")[0], path, share=options.question_repeats) for path in options.questions
    ]
    train_run(
        [*(recipe.sources or [corpus]), *questions],
        options.run or Path("runs") / options.encoder,
        config,
        options.device,
        start=options.start or recipe.start,
        vocabulary=options.vocabulary,
    )


def _add_average(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("runs", type=Path, nargs="+", metavar="RUN", help="trained run")
    parser.add_argument("--out", type=Path, required=True, help="run folder to write")
    parser.set_defaults(run_command=_average)


def _average(options: argparse.Namespace) -> None:
    from training.average import average_runs

    average_runs(options.runs, options.out)


def _add_evaluate(parser: argparse.ArgumentParser) -> None:
    _add_folders(parser)
    parser.add_argument(
        "--on", nargs="+", choices=SETS, default=["test"], help="held-out sets (default: %(default)s)"
    )
    parser.add_argument(
        "--data", type=Path, help="evaluate on this data instead: CodeSearchNet in any layout"
    )
    parser.add_argument("--evaluation-sets", type=Path, help="folder that holds cosqa/")
    _add_device(parser)
    parser.set_defaults(run_command=_evaluate)


def _evaluate(options: argparse.Namespace) -> None:
    from training.pipeline import evaluate_elsewhere, evaluate_run

    run = options.run or Path("runs/nbow")
    if options.data:
        print(json.dumps(evaluate_elsewhere(options.data, run, options.device), indent=1))
        return
    for name in options.on:
        found = evaluate_run(options.corpus, run, name, options.evaluation_sets, options.device)
        print(json.dumps(found, indent=1))


def _add_predict(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--run", type=Path, required=True, help="folder of a trained run")
    parser.add_argument(
        "--data", type=Path, nargs="+", required=True, help="files or folders: CodeSearchNet in any layout"
    )
    parser.add_argument("--queries", type=Path, required=True, help="CSV file with a column `query`")
    parser.add_argument("--out", type=Path, default=Path("model_predictions.csv"), help="file to write")
    _add_device(parser)
    parser.set_defaults(run_command=_predict)


def _predict(options: argparse.Namespace) -> None:
    from training.evaluation.predict import predict

    counts = predict(options.run, options.data, options.queries, options.out, options.device)
    found = ", ".join(f"{language} {count:,}" for language, count in sorted(counts.items()))
    print(f"{options.out}: ranked the functions of {found}")


def _add_device(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--device", choices=("auto", "cpu", "cuda"), default="auto", help="default: CUDA if available"
    )


def _add_folders(parser: argparse.ArgumentParser) -> None:
    _add_corpus(parser, "extract")
    parser.add_argument(
        "--run", type=Path, help="folder of weights and metrics (default: runs/ENCODER, or runs/nbow)"
    )


if __name__ == "__main__":
    sys.exit(main())
