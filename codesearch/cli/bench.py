"""`codesearch bench`: judge this installation by queries whose answers are known."""

from __future__ import annotations

import os
import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from codesearch.cli.options import DeviceOption, HomeOption, ModelOption, resolve_home
from codesearch.errors import ConfigError

if TYPE_CHECKING:
    from codesearch.evaluation.options import BenchOptions
    from codesearch.evaluation.result import SuiteResult

DATA_VARIABLE = "CODESEARCH_BENCH_DATA"
_DATA, _WRITE, _INSTEAD = "Data", "What to write", "In place of a run"


def bench(
    suite: Annotated[
        str, typer.Option("--suite", help="What to run; `--suite help` lists them.", rich_help_panel=_DATA)
    ] = "csn99",
    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            help=f"Folder of the suite's data; else ${DATA_VARIABLE}, else what was downloaded.",
            rich_help_panel=_DATA,
            show_default=False,
        ),
    ] = None,
    annotations: Annotated[
        Path | None,
        typer.Option(
            "--annotations", help="Judge by this file, in the official format.", rich_help_panel=_DATA
        ),
    ] = None,
    without: Annotated[
        list[str] | None,
        typer.Option(
            "--without", help="Turn a signal of the ranking off; repeatable.", rich_help_panel=_DATA
        ),
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="All figures, and each query's.", rich_help_panel=_WRITE)
    ] = None,
    report: Annotated[
        Path | None, typer.Option("--report", help="A page for a browser.", rich_help_panel=_WRITE)
    ] = None,
    predictions: Annotated[
        Path | None,
        typer.Option(
            "--predictions",
            help="What the default system found, in the official format.",
            rich_help_panel=_WRITE,
        ),
    ] = None,
    score: Annotated[
        Path | None,
        typer.Option(
            "--score", help="Judge these results, in the official format.", rich_help_panel=_INSTEAD
        ),
    ] = None,
    compare: Annotated[
        tuple[Path, Path] | None,
        typer.Option(
            "--compare", help="Compare two files of --json, query by query.", rich_help_panel=_INSTEAD
        ),
    ] = None,
    model: ModelOption = None,
    device: DeviceOption = "auto",
    home: HomeOption = None,
) -> int:
    """Judge this installation by queries whose answers are known.

    Indexes a suite's sources in a home of its own, and scores what the product and its parts find.
    """
    if suite == "help":
        return _list_suites()
    if compare:
        if score:
            raise ConfigError("--compare and --score exclude each other: give one")
        return _compare(*compare)
    if score and predictions:
        raise ConfigError("--score has no results of its own for --predictions: give one")
    _check_writable(json_file, report, predictions)
    from codesearch.cli import bench_render
    from codesearch.evaluation.options import BenchOptions

    given = data or (Path(os.environ[DATA_VARIABLE]) if os.environ.get(DATA_VARIABLE) else None)
    options = BenchOptions(
        home=resolve_home(home),
        data=given.expanduser() if given else None,
        annotations=annotations,
        model=model,
        device=device,
        without=tuple(without or ()),
    )
    result = _result(suite, score, options)
    bench_render.print_result(result)
    _write(result, json_file=json_file, report=report, predictions=predictions)
    return 0


def _list_suites() -> int:
    from codesearch.evaluation.suites import SUITES

    for name, what in SUITES.items():
        print(f"{name:10} {what}")
    return 0


def _compare(first: Path, second: Path) -> int:
    from codesearch.cli import bench_render
    from codesearch.evaluation.compare import compare

    bench_render.print_comparison(first, second, compare(first, second))
    return 0


def _check_writable(*files: Path | None) -> None:
    """Find out before the run, not after it."""
    for file in files:
        if file and (file.is_dir() or not os.access(file.absolute().parent, os.W_OK)):
            raise ConfigError(f"{file}: cannot be written: give a file in a folder that is there")


def _result(suite: str, score: Path | None, options: BenchOptions) -> SuiteResult:
    from codesearch.cli.progress import stage_progress
    from codesearch.evaluation.suites import run_suite, score_file

    with stage_progress(suite) as on_progress:
        watched = replace(options, on_progress=on_progress)
        return score_file(suite, score, watched) if score else run_suite(suite, watched)


def _write(
    result: SuiteResult, *, json_file: Path | None, report: Path | None, predictions: Path | None
) -> None:
    from codesearch.evaluation.environment import describe_environment
    from codesearch.evaluation.report import html_report
    from codesearch.evaluation.result import to_json, write_json
    from codesearch.evaluation.suites import write_results

    if json_file:
        command = shlex.join(["codesearch", *sys.argv[1:]])
        write_json(json_file, {**to_json(result), "command": command, **describe_environment()})
    if report:
        report.write_text(html_report(result), "utf-8")
    if predictions:
        write_results(predictions, result)
