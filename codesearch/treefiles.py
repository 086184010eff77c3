"""Read files of a tree that someone else wrote. This module imports almost nothing, so any module can use it.

A name in such a tree can be a pipe that never ends or a link to a file outside of the tree, and it can change at any
moment. So a file is opened without waiting, its type is checked after that, and only a limited number of bytes is read.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from codesearch.config import WalkConfig

_FLAGS = os.O_RDONLY
for _flag in ("O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC", "O_BINARY"):
    _FLAGS |= getattr(os, _flag, 0)
_PIECE_BYTES = 1_000_000
_CAN_WALK = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")
"""Whether the system opens a path one folder at a time."""

IGNORE_FILES = (".gitignore", ".codesearchignore")
_GIT_FILE_BYTES = 10_000


def read_regular(path: str | Path, max_bytes: int) -> tuple[bytes, os.stat_result]:
    """Read a regular file, and its status when it was opened; the path may be a link."""
    return _read(os.open(path, _FLAGS), path, max_bytes)


def read_head(path: str | Path, count: int) -> bytes:
    """Return the first bytes of a regular file; the path may be a link."""
    with _regular(os.open(path, _FLAGS), path) as file:
        return file.read(count)


def read_below(root: str | Path, path: str, walk: WalkConfig) -> tuple[bytes, os.stat_result]:
    """Read a regular file of a tree, and its status when it was opened."""
    return _read(_open_below(root, path, follow_links=walk.follow_links), path, walk.max_file_bytes)


def _read(descriptor: int, path: str | Path, max_bytes: int) -> tuple[bytes, os.stat_result]:
    with _regular(descriptor, path) as file:
        status = os.fstat(descriptor)
        content = b""
        if status.st_size <= max_bytes:  # `read` reserves all bytes that it is asked for, so ask for few.
            content = file.read(status.st_size + 1)
        if len(content) > status.st_size:  # It has grown, or its file system does not know its size.
            while len(content) <= max_bytes and (more := file.read(_PIECE_BYTES)):
                content += more
    if max(status.st_size, len(content)) > max_bytes:
        raise OSError(errno.EFBIG, f"more than {max_bytes / 1e6:g} MB", str(path))
    return content, status


def _regular(descriptor: int, path: str | Path) -> BinaryIO:
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return open(descriptor, "rb")
    os.close(descriptor)  # `open` of a folder fails and does not close it.
    raise OSError(errno.EINVAL, "not a regular file", str(path))


def _open_below(root: str | Path, path: str, *, follow_links: bool) -> int:
    if follow_links:
        return os.open(os.path.join(root, path), _FLAGS)
    if not _CAN_WALK:
        # On Windows, a process on this machine can still put a link there after the check.
        whole = os.path.join(os.path.realpath(root), *path.split("/"))
        if os.path.normcase(os.path.realpath(whole)) != os.path.normcase(whole):
            raise OSError(errno.ELOOP, "behind a symbolic link", path)
        return os.open(whole, _FLAGS)
    folder, _, name = path.rpartition("/")
    here = _open_folder(root, folder)
    try:
        return os.open(name, _FLAGS | os.O_NOFOLLOW, dir_fd=here)
    finally:
        os.close(here)


def _open_folder(root: str | Path, path: str) -> int:
    """Open a folder of a tree; no part of its path is a link."""
    here = os.open(root, _FLAGS | os.O_DIRECTORY)
    try:
        for folder in filter(None, path.split("/")):
            below = os.open(folder, _FLAGS | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=here)
            os.close(here)
            here = below
    except OSError:
        os.close(here)
        raise
    return here


def read_in_folder(root: str | Path, folder: str, names: Iterable[str], walk: WalkConfig) -> Iterator[bytes]:
    """Yield regular files of a folder ("" or "a/b/") as `read_below` reads them; b"" for one that cannot be read."""
    here = -1
    if _CAN_WALK and not walk.follow_links:
        with suppress(OSError):
            here = _open_folder(root, folder)
    try:
        for name in names:
            try:
                content = _read_at(here, name, walk.max_file_bytes) if here >= 0 else b""
                content = content or read_below(root, folder + name, walk)[0]
            except (OSError, ValueError):
                content = b""
            yield content
    finally:
        if here >= 0:
            os.close(here)


def _read_at(here: int, name: str, max_bytes: int) -> bytes:
    """Return the bytes of a regular file of an open folder in few steps; b"" for a file that changes."""
    descriptor = os.open(name, _FLAGS | os.O_NOFOLLOW, dir_fd=here)
    try:
        status = os.fstat(descriptor)
        is_usual = stat.S_ISREG(status.st_mode) and status.st_size <= max_bytes
        content = os.read(descriptor, status.st_size + 1) if is_usual else b""
    finally:
        os.close(descriptor)
    return content if len(content) == status.st_size else b""


def rule_files_above(root: Path) -> list[tuple[str, str]]:
    """List the ignore files between the top of the git work tree and `root`, which itself is not included.

    An entry has an absolute path, which need not exist, and the path from its folder to `root` with a slash at the end.
    """
    absolute = root.resolve()
    top = next((folder for folder in (absolute, *absolute.parents) if (folder / ".git").exists()), absolute)
    parts = absolute.relative_to(top).parts
    return [
        (str(top.joinpath(*parts[:depth], name)), "".join(f"{part}/" for part in parts[depth:]))
        for depth in range(len(parts))
        for name in IGNORE_FILES
    ]


def git_folders(top: str) -> tuple[str, str]:
    """Return git's own folder of a work tree, and the one that all work trees of the repository share."""
    own = os.path.join(top, ".git")
    link = _line_of(own)  # It is a file in a submodule and in a linked work tree.
    if link.startswith("gitdir:") and not is_network_path(link.removeprefix("gitdir:").strip()):
        own = os.path.normpath(os.path.join(top, link.removeprefix("gitdir:").strip()))
    common = _line_of(os.path.join(own, "commondir"))
    return own, own if is_network_path(common) else os.path.normpath(os.path.join(own, common))


def is_linked_work_tree(top: str) -> bool:
    """Say whether a work tree was made by `git worktree add`; git may have forgotten it."""
    own, common = git_folders(top)
    return os.path.basename(os.path.dirname(own)) == "worktrees" and (own != common or not os.path.isdir(own))


def is_network_path(path: str) -> bool:
    """Say whether a path names another machine; Windows sends it the password's hash."""
    return path.replace("\\", "/").startswith("//")


def _line_of(path: str) -> str:
    try:
        return os.fsdecode(read_regular(path, _GIT_FILE_BYTES)[0]).strip()
    except OSError:
        return ""
