"""`python -m training reranker`: index the packages of the questions and ask them, then train."""

from __future__ import annotations

import argparse
from collections import defaultdict
from dataclasses import fields
from pathlib import Path

from training.corpus.recipe import DEFAULT_RECIPE, read_recipe

WRITTEN = Path(__file__).parent.parent / "written"


def add_reranker_steps(parser: argparse.ArgumentParser) -> None:
    """Add the steps `pools` and `train`."""
    steps = parser.add_subparsers(required=True, metavar="STEP")
    pools = steps.add_parser(
        "pools", help="ask the written questions and keep the first results of the product"
    )
    pools.add_argument("--out", type=Path, default=Path("reranker"), help="folder to write; it is resumed")
    pools.add_argument(
        "--questions", type=Path, default=WRITTEN / "questions.tsv", help="default: %(default)s"
    )
    pools.add_argument(
        "--corpus",
        type=Path,
        nargs=2,
        action="append",
        metavar=("DIR", "RECIPE"),
        help="fetched packages and their recipe; repeatable (default: corpus, and the recipe of the corpus)",
    )
    pools.set_defaults(run_command=_pools)
    train = steps.add_parser("train", help="train a cross-encoder, or go on with a run")
    train.add_argument("--pools", type=Path, default=Path("reranker"), help="folder that `pools` wrote")
    train.add_argument("--out", type=Path, required=True, help="run folder to write")
    _add_settings(train)
    train.set_defaults(run_command=_train)


def _add_settings(parser: argparse.ArgumentParser) -> None:
    from training.reranker.config import RerankerConfig

    for field in fields(RerankerConfig):
        parser.add_argument(
            f"--{field.name.replace('_', '-')}",
            type=type(field.default),
            default=field.default,
            help="default: %(default)s",
        )


def _pools(options: argparse.Namespace) -> None:
    from training.reranker.pools import index_groups, read_written, write_group

    questions = defaultdict(list)
    for question in read_written(options.questions):
        questions[question.package].append(question)
    files = {url: [question.path for question in asked] for url, asked in questions.items()}
    corpora = options.corpus or [(Path("corpus"), DEFAULT_RECIPE)]
    sources = [(corpus, package) for corpus, recipe in corpora for package in read_recipe(recipe)]
    for group, packages in index_groups(files, sources, options.out):
        if not (group / "pools.jsonl").exists():
            print(f"{group}: {write_group(group, packages, questions)} questions", flush=True)


def _train(options: argparse.Namespace) -> None:
    from training.reranker.config import RerankerConfig
    from training.reranker.train import train

    settings = {field.name: getattr(options, field.name) for field in fields(RerankerConfig)}
    train(options.pools, options.out, RerankerConfig(**settings))
