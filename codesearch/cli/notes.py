"""What commands say about a run: numbers with their nouns, what an index leaves out, bars of progress, and notes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from codesearch.structure.text import counted
from codesearch.visible import visible

if TYPE_CHECKING:
    from codesearch.build.build import Progress, ProgressCallback
    from codesearch.engine.answer import Freshness
    from codesearch.engine.reports import IndexReport
    from codesearch.types import Coverage

_STAGES = {"parse": "reading", "write": "writing", "commit": "syncing"}


def size_of(count: int) -> str:
    """Return a number of bytes with its unit."""
    return f"{-(-count // 1000)} kB" if count < 1_000_000 else f"{count / 1e6:,.1f} MB"


@contextmanager
def build_progress(name: str, unit: str = "document") -> Iterator[ProgressCallback]:
    """Show a bar on stderr while a build runs, if stderr is a terminal."""
    with stage_progress(name) as show:

        def on_progress(progress: Progress) -> None:
            stage = f"{_STAGES[progress.stage]}, {counted(progress.documents, unit)}"
            show(stage, progress.done_bytes, progress.total_bytes)

        yield on_progress


@contextmanager
def stage_progress(name: str) -> Iterator[Callable[[str, int, int], None]]:
    """Show the stage and progress of a long command on stderr, if stderr is a terminal."""
    if not sys.stderr.isatty():
        yield lambda stage, done, total: None
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import Progress as Bar

    with Bar(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(escape(visible(name)), total=None)

        def show(stage: str, done: int, total: int) -> None:
            if done < bar.tasks[0].completed:  # Another stage begins.
                bar.reset(task)
            bar.update(
                task, description=escape(f"{visible(name)}: {stage}"), completed=done, total=total or None
            )

        yield show


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


def notes_of(
    freshness: Iterable[Freshness], coverage: Coverage | None = None, *, is_few: bool = False
) -> str:
    """Say which indexes are older than their folders, and what an answer did not see if that matters."""
    notes = [*(index.note for index in freshness), coverage.note(is_few=is_few) if coverage else ""]
    return "".join(f"note: {note}\n" for note in notes if note)
