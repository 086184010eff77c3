"""`python -m training pools`: ask questions about packages."""

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path

from training.command import CORPUS, POOLS
from training.corpus.recipe import DEFAULT_RECIPE, read_recipe

WRITTEN = Path(__file__).parent.parent / "written"


def add_pools(parser: argparse.ArgumentParser) -> None:
    """Add the options of `pools`."""
    parser.add_argument(
        "--out", type=Path, default=POOLS, help="folder to write; it is resumed (default: %(default)s)"
    )
    parser.add_argument(
        "--questions", type=Path, default=WRITTEN / "questions.tsv", help="default: %(default)s"
    )
    parser.add_argument(
        "--corpus",
        type=Path,
        nargs=2,
        action="append",
        metavar=("DIR", "RECIPE"),
        help="fetched packages and their recipe; repeatable (default: build/corpus and its recipe)",
    )
    parser.set_defaults(run_command=_pools)


def _pools(options: argparse.Namespace) -> None:
    from training.tuning.pools import index_groups, read_written, write_group

    questions = defaultdict(list)
    for question in read_written(options.questions):
        questions[question.package].append(question)
    files = {url: [question.path for question in asked] for url, asked in questions.items()}
    corpora = options.corpus or [(CORPUS, DEFAULT_RECIPE)]
    sources = [(corpus, package) for corpus, recipe in corpora for package in read_recipe(recipe)]
    for group, packages in index_groups(files, sources, options.out):
        if not (group / "pools.jsonl").exists():
            print(f"{group}: {write_group(group, packages, questions)} questions", flush=True)
