"""`codesearch bench`: judge this installation by queries whose answers are known."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from codesearch.cli.options import DeviceOption, HomeOption, ModelOption, resolve_home

DATA_VARIABLE = "CODESEARCH_BENCH_DATA"


def bench(
    suite: Annotated[str, typer.Option("--suite", help="What to run.")] = "csn99",
    data: Annotated[
        Path | None, typer.Option("--data", help=f"Folder of the suite's data [default: ${DATA_VARIABLE}].")
    ] = None,
    annotations: Annotated[
        Path | None, typer.Option("--annotations", help="Judge by this file in the official format.")
    ] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write all figures to this file.")] = None,
    model: ModelOption = None,
    device: DeviceOption = "auto",
    home: HomeOption = None,
) -> int:
    """Judge this installation by queries whose answers are known."""
    from codesearch.cli import bench_render
    from codesearch.cli.progress import stage_progress
    from codesearch.evaluation.options import BenchOptions
    from codesearch.evaluation.result import to_json, write_json
    from codesearch.evaluation.suites import load_suite

    run = load_suite(suite)
    given = data or (Path(os.environ[DATA_VARIABLE]) if os.environ.get(DATA_VARIABLE) else None)
    with stage_progress(suite) as on_progress:
        result = run(
            BenchOptions(
                home=resolve_home(home),
                data=given.expanduser() if given else None,
                annotations=annotations,
                model=model,
                device=device,
                on_progress=on_progress,
            )
        )
    bench_render.print_result(result)
    if json_file:
        write_json(json_file, to_json(result))
    return 0
