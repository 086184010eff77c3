"""What commands say about a run: numbers with their nouns, what an index leaves out, bars of progress, and notes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from codesearch.visible import visible

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import ProgressColumn

    from codesearch.build.build import Progress, ProgressCallback
    from codesearch.engine.reports import IndexReport
    from codesearch.store.manifest import Counts

_STAGES = {"parse": "reading", "write": "writing", "commit": "syncing"}
_SHOWN = 5
_FILES = {
    "other language": ("file of another language than --lang", "files of other languages than --lang"),
    "other content": ("file that --content would add", "files that --content would add"),
    "too large": ("file over the limit of --max-file-mb", "files over the limit of --max-file-mb"),
    "binary": ("binary file", "binary files"),
    "minified": ("minified file", "minified files"),
    "generated": ("generated file", "generated files"),
    "data": ("file of data", "files of data"),
    "never": ("lock file, licence or secret", "lock files, licences and secrets"),
    "unreadable": ("file that cannot be read", "files that cannot be read"),
    "crashed": ("file whose parser takes too much or crashes", "files whose parsers take too much or crash"),
    "only as blocks": (
        "file only as blocks, because its parser takes too much or crashes",
        "files only as blocks, because their parsers take too much or crash",
    ),
    "ignored": ("ignored file", "ignored files"),
    "hidden": ("hidden file", "hidden files"),
    "link": ("symbolic link", "symbolic links"),
    "rules": ("ignore file whose rules are not applied", "ignore files whose rules are not applied"),
}
_FOLDERS = {
    "ignored": ("ignored folder", "ignored folders"),
    "hidden": ("hidden folder", "hidden folders"),
    "always": ("folder that is always skipped", "folders that are always skipped"),
}
"""Reason -> singular and plural name, in the order shown."""


def counted(number: int, noun: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "file"), counted(1200, "file")
    ('1 file', '1,200 files')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def size_of(count: int) -> str:
    """Return a number of bytes with its unit.

    >>> size_of(1200), size_of(94_000_000)
    ('2 kB', '94.0 MB')
    """
    return f"{-(-count // 1000)} kB" if count < 1_000_000 else f"{count / 1e6:,.1f} MB"


def counts(numbers: Mapping[str, int]) -> str:
    """List the most frequent names with their numbers.

    >>> counts({"php": 3, "go": 1200})
    'go 1,200, php 3'
    >>> counts({".md": 1200, ".a": 1, ".b": 1, ".c": 1, ".d": 1, ".e": 1, ".f": 1})
    '.md 1,200, .a 1, .b 1, .c 1, .d 1, and 2 more'
    """
    ordered = sorted(numbers.items(), key=lambda entry: (-entry[1], entry[0]))
    count = _SHOWN if len(ordered) > _SHOWN + 1 else len(ordered)  # "and 1 more" is as long as a name.
    shown = [f"{name or 'no extension'} {number:,}" for name, number in ordered[:count]]
    more = len(ordered) - len(shown)
    return ", ".join([*shown, f"and {more} more"] if more else shown)


def not_indexed_lines(files: Counts, folders: Counts) -> Iterator[str]:
    """Yield a heading and a line for each reason; yield nothing if everything is indexed."""
    lines = [*_lines(_FILES, files), *_lines(_FOLDERS, folders)]
    if lines:
        yield "  not indexed"
        yield from (f"    {line}" for line in lines)


def _lines(names: Mapping[str, tuple[str, str]], found: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    for reason, (one, several) in names.items():
        if total := sum(found.get(reason, {}).values()):
            yield f"{total:,} {one if total == 1 else several} ({counts(found[reason])})"


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
