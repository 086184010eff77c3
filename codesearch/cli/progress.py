"""Progress of a build: a bar with rate and time left on a terminal, otherwise nothing; and the notes at its end."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from codesearch.cli.numbers import counted
from codesearch.visible import visible

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import ProgressColumn

    from codesearch.build.build import Progress, ProgressCallback
    from codesearch.engine.reports import IndexReport

_STAGES = {"parse": "reading", "write": "writing", "commit": "syncing"}


@contextmanager
def build_progress(name: str, unit: str = "documents") -> Iterator[ProgressCallback]:
    """Show a bar on stderr while a build runs, if stderr is a terminal; commits have no size, so only their number."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.progress import DownloadColumn, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    sizes = (DownloadColumn(), TransferSpeedColumn()) if unit == "documents" else ()
    documents = TextColumn(f"{{task.fields[documents]:,}} {unit}")
    with _bar(*sizes, TimeRemainingColumn(), documents) as bar:
        name = visible(name)
        task = bar.add_task(name, total=None, documents=0)

        def on_progress(progress: Progress) -> None:
            bar.update(
                task,
                description=f"{name}: {_STAGES[progress.stage]}",
                completed=progress.done_bytes,
                total=progress.total_bytes or None,
                documents=progress.documents,
            )

        yield on_progress


@contextmanager
def stage_progress(name: str) -> Iterator[Callable[[str, int, int], None]]:
    """Show the stage and progress of a long command on stderr, if stderr is a terminal."""
    if not sys.stderr.isatty():
        yield lambda stage, done, total: None
        return
    from rich.progress import TaskProgressColumn, TimeRemainingColumn

    with _bar(TaskProgressColumn(), TimeRemainingColumn()) as bar:
        task, current = bar.add_task(visible(name), total=None), ""

        def on_progress(stage: str, done: int, total: int) -> None:
            nonlocal current
            if stage != current:
                bar.reset(task)
                current = stage
            bar.update(task, description=f"{visible(name)}: {stage}", completed=done, total=total or None)

        yield on_progress


def _bar(*columns: ProgressColumn) -> Bar:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    description = TextColumn("{task.description}", markup=False)
    return Progress(description, BarColumn(), *columns, console=Console(stderr=True), transient=True)


def build_notes(report: IndexReport) -> str:
    """Say if the index of an earlier version was made again, and which files have no parser."""
    notes = []
    if report.was_earlier_format:
        root = visible(str(report.root))
        notes.append(f"note: an earlier version of codesearch made the index of {root}; it was made again\n")
    if missing := sorted(report.manifest.missing_grammars.items()):
        from codesearch.installation import how_to_add
        from codesearch.parsing.languages import distributions

        files = ", ".join(counted(count, f"{language} file") for language, count in missing)
        cure = how_to_add(*distributions(language for language, _ in missing))
        notes.append(f"warning: {files} cut into blocks: no parser installed: {cure}\n")
    return "".join(notes)
