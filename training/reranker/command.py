"""`python -m training reranker`: index the packages, ask the questions, then train."""

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path

from training.command import CORPUS, POOLS, add_settings, settings_from
from training.corpus.recipe import DEFAULT_RECIPE, read_recipe
from training.reranker.config import RerankerConfig

WRITTEN = Path(__file__).parent.parent / "written"


def add_reranker_steps(parser: argparse.ArgumentParser) -> None:
    """Add the steps `pools` and `train`."""
    steps = parser.add_subparsers(required=True, metavar="STEP")
    pools = steps.add_parser(
        "pools", help="ask the written questions and keep the first results of the product"
    )
    pools.add_argument(
        "--out", type=Path, default=POOLS, help="folder to write; it is resumed (default: %(default)s)"
    )
    pools.add_argument(
        "--questions", type=Path, default=WRITTEN / "questions.tsv", help="default: %(default)s"
    )
    pools.add_argument(
        "--corpus",
        type=Path,
        nargs=2,
        action="append",
        metavar=("DIR", "RECIPE"),
        help="fetched packages and their recipe; repeatable (default: build/corpus and its recipe)",
    )
    pools.set_defaults(run_command=_pools)
    train = steps.add_parser("train", help="train a cross-encoder, or resume a run")
    train.add_argument(
        "--pools", type=Path, default=POOLS, help="folder that `pools` wrote (default: %(default)s)"
    )
    train.add_argument("--out", type=Path, required=True, help="run folder to write")
    add_settings(train, RerankerConfig)
    train.set_defaults(run_command=_train)


def _pools(options: argparse.Namespace) -> None:
    from training.reranker.pools import index_groups, read_written, write_group

    questions = defaultdict(list)
    for question in read_written(options.questions):
        questions[question.package].append(question)
    files = {url: [question.path for question in asked] for url, asked in questions.items()}
    corpora = options.corpus or [(CORPUS, DEFAULT_RECIPE)]
    sources = [(corpus, package) for corpus, recipe in corpora for package in read_recipe(recipe)]
    for group, packages in index_groups(files, sources, options.out):
        if not (group / "pools.jsonl").exists():
            print(f"{group}: {write_group(group, packages, questions)} questions", flush=True)


def _train(options: argparse.Namespace) -> None:
    from training.reranker.train import train

    train(options.pools, options.out, settings_from(options, RerankerConfig))
