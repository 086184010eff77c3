"""Who makes the vectors of the larger encoder: this process, or one in the background.

`python -m codesearch.index.upgrade_worker HOME DEVICE` works through all indexes of a home that ask for it, at the
lowest priority, and ends. There is one at a time; it stops within a batch when an index no longer asks.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from codesearch.encoding.bundle import LARGER
from codesearch.errors import CodeSearchError, IndexStoreError
from codesearch.index.digest import content_digest
from codesearch.index.home import INDEXES
from codesearch.index.lock import file_lock
from codesearch.index.manifest import MANIFEST, Manifest, read_manifest

if TYPE_CHECKING:
    from codesearch.index.upgrade import UpgradeProgress

_MARK = "upgrade"
_LOCK = "upgrade.lock"
_LOG = "upgrade.log"
_POLL_S = 0.5
_TRIES = 4


def is_asked(index_folder: Path) -> bool:
    """Say whether an index is to have vectors of the larger encoder."""
    return (index_folder / _MARK).exists()


def ask(index_folder: Path) -> None:
    """Have an index upgraded, now and after each update."""
    if not is_asked(index_folder):
        (index_folder / _MARK).write_text("", "ascii")


def stop(index_folder: Path) -> None:
    """Have it upgraded no longer; what was made stays in the cache, and is not looked at."""
    (index_folder / _MARK).unlink(missing_ok=True)


def is_complete(index_folder: Path, manifest: Manifest) -> bool:
    """Say without opening the index whether its current generation was upgraded to the end, by this larger model."""
    try:
        return (index_folder / _MARK).read_text("ascii") == _all_of(manifest.generation)
    except OSError:
        return False


def set_complete(index_folder: Path, generation: int) -> None:
    """Note that a generation was upgraded to the end, unless that is no longer asked for."""
    if is_asked(index_folder):
        (index_folder / _MARK).write_text(_all_of(generation), "ascii")


def _all_of(generation: int) -> str:
    return f"{generation} {content_digest((LARGER / MANIFEST).read_bytes()).hex()}"


def set_incomplete(home: Path) -> None:
    """Have every index of a home that asks for it upgraded from the start."""
    for mark in (home / INDEXES).glob(f"*/{_MARK}"):
        mark.write_text("", "ascii")


def worker_at(home: Path) -> int | None:
    """Return the id of the process that makes vectors for a home; None where there is none."""
    (home / "cache").mkdir(parents=True, exist_ok=True)
    with file_lock(home / "cache" / _LOCK) as owner:
        return owner


def start(home: Path, device: str) -> int:
    """Start a process that works on when this one has ended, with the model on a device; return its id."""
    (home / "cache").mkdir(parents=True, exist_ok=True)
    with open(home / "cache" / _LOG, "ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "codesearch.index.upgrade_worker", str(home.resolve()), device],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=home,
            start_new_session=True,  # Closing the terminal does not end it.
        )
    return process.pid


def work(
    home: Path,
    index_folder: Path,
    bundle: Path = LARGER,
    *,
    device: str,
    on_progress: Callable[[UpgradeProgress], None] = lambda _: None,
) -> UpgradeProgress:
    """Upgrade one index; the caller holds the lock. Stops early when it is no longer asked for."""
    from codesearch.encoding.encoder import OnnxEncoder
    from codesearch.index.cache import VectorCache
    from codesearch.index.reader import IndexReader
    from codesearch.index.upgrade import upgrade

    encoder = OnnxEncoder.load(bundle, device)
    index = IndexReader.open(index_folder)
    cache = VectorCache(home, encoder.model_id, encoder.dim)
    try:
        found = upgrade(
            index, cache, encoder, on_progress=on_progress, goes_on=lambda: is_asked(index_folder)
        )
    finally:
        cache.close()
        index.close()
    set_complete(
        index_folder, index.manifest.generation
    )  # Also where files changed: that asks for another one.
    return found


def work_and_wait(
    home: Path,
    index_folder: Path,
    *,
    device: str,
    on_progress: Callable[[UpgradeProgress], None] = lambda _: None,
) -> UpgradeProgress:
    """Upgrade one index as soon as no other process makes vectors."""
    (home / "cache").mkdir(parents=True, exist_ok=True)
    while True:
        with file_lock(home / "cache" / _LOCK) as owner:
            if owner is None:
                return work(home, index_folder, device=device, on_progress=on_progress)
        time.sleep(_POLL_S)


def pending(home: Path) -> list[Path]:
    """List the index folders that ask for an upgrade and are not upgraded."""
    found = []
    for mark in sorted((home / INDEXES).glob(f"*/{_MARK}")):
        try:
            if not is_complete(mark.parent, read_manifest(mark.parent)):
                found.append(mark.parent)
        except IndexStoreError:  # Nothing to search, nothing to upgrade.
            continue
    return found


def main(home: Path, device: str) -> int:
    """Work through what is pending, and what becomes so meanwhile; each index once."""
    os.nice(19)
    tried: set[tuple[Path, int]] = set()
    for _ in range(_TRIES):  # `status` holds the lock for a moment.
        with file_lock(home / "cache" / _LOCK) as owner:
            if owner is None:
                while todo := [path for path in pending(home) if _state(path) not in tried]:
                    tried.add(_state(todo[0]))
                    work(home, todo[0], device=device)
                return 0
        time.sleep(_POLL_S)
    return 0


def _state(index_folder: Path) -> tuple[Path, int]:
    return index_folder, read_manifest(index_folder).generation


if __name__ == "__main__":
    try:
        sys.exit(main(Path(sys.argv[1]), sys.argv[2]))
    except CodeSearchError as error:
        sys.exit(f"error: {error}")
