"""Files that are there whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """Give a place to write to, and put what is there in a file's stead: a kill leaves the old one or the new one."""
    scratch = path.with_suffix(".tmp")
    yield scratch
    os.replace(scratch, path)
