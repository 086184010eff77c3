"""`codesearch watch`: keep the indexes of folders up to date while their files change."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from codesearch.cli.amounts import amount
from codesearch.cli.index import earlier_format, missing_parsers
from codesearch.cli.invocation import Output, invocation_of
from codesearch.cli.options import DeviceOption, HomeOption, ModelOption
from codesearch.cli.output import exit_on_terminate
from codesearch.cli.progress import build_progress
from codesearch.visible import visible

if TYPE_CHECKING:
    from codesearch.watch.watcher import Report


def watch(
    context: typer.Context,
    folders: Annotated[
        list[Path] | None,
        typer.Argument(help="Folders to watch; default: the current one.", show_default=False),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only warnings.")] = False,
    model: ModelOption = None,
    device: DeviceOption = "auto",
    home: HomeOption = None,
) -> Iterator[Output]:
    """Update indexes while files change.

    It first indexes what is not up to date. It runs until Ctrl-C or SIGTERM.
    """
    from codesearch.watch.watcher import Watcher

    exit_on_terminate()
    invocation = invocation_of(context)
    engine = invocation.engine(home, model=model, device=device)
    roots = [invocation.path(folder) for folder in folders or [Path()]]
    for root in roots:
        with build_progress(root.name) as on_progress:
            report = engine.index(root, on_progress=on_progress)
        if report.built and not quiet:
            documents, files = amount(report.documents, "document"), amount(report.files, "file")
            root_name = visible(str(report.root.resolve()))
            yield Output(f"{root_name}: {documents} from {files} in {report.seconds:.1f} s\n")
        yield Output(err="".join([*earlier_format(report), *missing_parsers(report)]))
    Watcher(engine, lambda report: print_report(report, quiet=quiet), roots=roots).run()


def print_report(report: Report, *, quiet: bool) -> None:
    """Print a line about a watched root; warnings go to stderr and are always printed."""
    root, reason = visible(str(report.root)), visible(report.reason)
    if report.state == "polling":
        every = f"checking it every {report.seconds:.0f} s"
        print(f"note: {root}: cannot watch it, {every}: {reason}", file=sys.stderr, flush=True)
    elif report.state == "failed":
        print(f"warning: {root}: {reason}", file=sys.stderr, flush=True)
    elif not quiet:
        print(f"{root}: {_news(report)}", flush=True)


def _news(report: Report) -> str:
    if report.state == "watching":
        return f"watching {amount(report.folders, 'folder')}, {amount(report.documents, 'document')}"
    if report.state == "updated":
        indexed, removed = amount(report.changes.to_parse, "file"), f"{report.changes.removed:,} removed"
        return (
            f"{indexed} indexed, {removed}, {amount(report.documents, 'document')} ({report.seconds:.2f} s)"
        )
    return {
        "gone": "the folder is gone; waiting for it to come back",
        "back": "the folder is back",
        "forgotten": "its index was removed; no longer watching",
    }[report.state]
