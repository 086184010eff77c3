"""`codesearch adapt`: let an index learn from its own documentation, if that helps."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from codesearch.cli.options import DeviceOption, HomeOption, resolve_home
from codesearch.errors import IndexNotFoundError
from codesearch.index.home import index_folder


def adapt(
    folder: Annotated[Path, typer.Argument(help="An indexed folder.", show_default=False)],
    undo: Annotated[bool, typer.Option("--undo", help="Forget what was learned.")] = False,
    device: DeviceOption = "auto",
    home: HomeOption = None,
) -> int:
    """Adjust queries to one folder by its own documentation; kept only if that finds more of what was held out."""
    index = index_folder(resolve_home(home), folder.expanduser())
    if not index.is_dir():
        raise IndexNotFoundError(f"{folder} is not indexed: run `codesearch index {folder}` first")
    return _undo(folder, index) if undo else _adapt(folder, index, device)


def _undo(folder: Path, index: Path) -> int:
    from codesearch.index.adaptation import remove_adaptation

    was_there = remove_adaptation(index)
    print(f"{folder}: {'adaptation removed' if was_there else 'has no adaptation'}")
    return 0


def _adapt(folder: Path, index: Path, device: str) -> int:
    """Learn, and say what it was worth; exit code 1 where it is not kept."""
    from codesearch.encoding.encoder import OnnxEncoder
    from codesearch.index.adaptation import remove_adaptation, save_adaptation
    from codesearch.index.lock import writer_lock
    from codesearch.index.reader import IndexReader
    from codesearch.search import adapt as learning

    started = time.monotonic()
    with writer_lock(index, str(folder)):
        reader = IndexReader.open(index)
        learned = learning.adapt(reader, OnnxEncoder.load(reader.manifest.model_folder, device))
        reader.close()
        found = learned.adaptation
        if learned.is_kept:
            save_adaptation(index, found)
        else:
            remove_adaptation(index)
    verdict = "kept" if learned.is_kept else f"not kept: less than {learning.MIN_GAIN} or than chance gives"
    print(
        f"{folder}: learned from {found.pairs:,} documented functions in {time.monotonic() - started:.1f} s"
    )
    print(
        f"  held-out MRR  {found.mrr_before:.3f} before, {found.mrr_after:.3f} after "
        f"({learned.gain:+.3f}, 95% within {learned.margin:.3f}): {verdict}"
    )
    return 0 if learned.is_kept else 1
