"""`codesearch bench`: measure this installation with queries whose answers are known."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from codesearch.cli.invocation import Output, invocation_of
from codesearch.errors import ConfigError

DATA_VARIABLE = "CODESEARCH_BENCH_DATA"
_DATA_HELP = f"Folder of the suite's data; default: ${DATA_VARIABLE}."


def bench(
    context: typer.Context,
    suite: Annotated[
        str | None,
        typer.Option(help="What to run; `--suite help` lists them; default: csn99 with --data, else smoke."),
    ] = None,
    data: Annotated[Path | None, typer.Option(help=_DATA_HELP, show_default=False)] = None,
    annotations: Annotated[
        Path | None, typer.Option(help="Use the judgements in this file, in the official format.")
    ] = None,
    without: Annotated[
        list[str] | None, typer.Option(help="Turn a signal of the ranking off; repeatable.")
    ] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write all scores to a JSON file.")] = None,
    predictions: Annotated[
        Path | None, typer.Option(help="Write the results of the default system, in the official format.")
    ] = None,
    score: Annotated[Path | None, typer.Option(help="Score these results, in the official format.")] = None,
    compare: Annotated[
        tuple[Path, Path] | None, typer.Option(help="Compare two files of --json, query by query.")
    ] = None,
    *,
    model: Path | None,
    device: str,
    home: Path | None,
) -> Iterator[Output]:
    """Measure search quality with questions whose answers are known.

    It indexes a suite's sources in a separate home, and scores the results of the product and of its parts.
    """
    if suite == "help":
        from codesearch.evaluation.suites import SUITES

        width = max(map(len, SUITES))
        yield from (Output(f"{name:{width}}  {suite.what}\n") for name, suite in SUITES.items())
        return
    given = data or (Path(os.environ[DATA_VARIABLE]) if os.environ.get(DATA_VARIABLE) else None)
    suite = suite or ("csn99" if given or score else "smoke")
    invocation = invocation_of(context)
    if compare:
        if score:
            raise ConfigError("--compare and --score exclude each other", "give only one")
        from codesearch.evaluation.render import comparison_text
        from codesearch.evaluation.significance import compare as compare_files

        first, second = map(invocation.path, compare)
        yield Output(comparison_text(first, second, compare_files(first, second)))
        return
    if score and predictions:
        raise ConfigError("--score runs no search, so --predictions has nothing to write", "give only one")
    files = {
        name: invocation.path(file)
        for name, file in (("json", json_file), ("predictions", predictions))
        if file
    }
    for file in files.values():  # Before a long run.
        if file.is_dir() or not os.access(file.parent, os.W_OK):
            raise ConfigError(f"{file}: cannot be written", "give a file in an existing folder")
    from codesearch.cli.progress import stage_progress
    from codesearch.evaluation.judge import BenchOptions
    from codesearch.evaluation.qrels import write_predictions
    from codesearch.evaluation.render import result_text
    from codesearch.evaluation.result import write_json
    from codesearch.evaluation.suites import run_suite, score_file
    from codesearch.evaluation.systems import DEFAULT

    with stage_progress(suite) as on_progress:
        options = BenchOptions(
            home=invocation.engine(home).home,
            data=invocation.path(given) if given else None,
            annotations=invocation.path(annotations) if annotations else None,
            model=invocation.path(model) if model else None,
            device=device,
            without=tuple(without or ()),
            on_progress=on_progress,
        )
        result = score_file(suite, invocation.path(score), options) if score else run_suite(suite, options)
    yield Output(result_text(result))
    if "json" in files:
        write_json(files["json"], result, shlex.join(["codesearch", *sys.argv[1:]]))
    if "predictions" in files:
        write_predictions(files["predictions"], result.runs[DEFAULT], result.queries, result.names)
