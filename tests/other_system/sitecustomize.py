"""Make Python behave as on Windows, in each process that has this folder on its path.

Only differences that codesearch can notice are imitated.

- The modules in `_ABSENT` cannot be imported by codesearch. Libraries can still import them.
- There are no Unix-domain sockets, no fork and no forkserver, and some functions and signals of POSIX are missing.
- A folder cannot be opened, and a file that is open only for reading cannot be synced.
- A file that a process has open or mapped cannot be deleted or replaced.
- An event loop accepts no signal handlers, and `SIGTERM` kills a process.
"""

from __future__ import annotations

import builtins
import errno
import fcntl
import importlib
import multiprocessing.context
import os
import shutil
import signal
import socket
import sys
from pathlib import Path

_ABSENT = {"fcntl", "grp", "posix", "pwd", "resource", "termios", "tty"}
_import = builtins.__import__
_open, _fsync, _kill, _socketpair = os.open, os.fsync, os.kill, socket.socketpair
_UNIX = socket.AF_UNIX


def import_as_elsewhere(name, variables=None, *rest, **options):
    if name in _ABSENT and (variables or {}).get("__name__", "").startswith("codesearch"):
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    known = name in sys.modules
    module = _import(name, variables, *rest, **options)
    if not known and name == "codesearch.files":
        sys.modules[name].OPEN_FILES_STAY = True
    if not known and name == "asyncio":
        sys.modules["asyncio.unix_events"]._UnixSelectorEventLoop.add_signal_handler = no_signal_handler
    return module


def no_signal_handler(*_):
    raise NotImplementedError


def open_as_elsewhere(path, flags, *rest, **options):
    # `tempfile` opens a folder to make a file without a name, which is allowed here.
    if not flags & os.O_TMPFILE == os.O_TMPFILE and os.path.isdir(path):
        raise PermissionError(errno.EACCES, "Permission denied", str(path))
    return _open(path, flags, *rest, **options)


def fsync_as_elsewhere(descriptor):
    if fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
        raise OSError(errno.EBADF, "Bad file descriptor")
    _fsync(descriptor)


def refused_for_open_files(function, which):
    """Wrap a function that deletes or replaces the file of its argument number `which`."""

    def wrapped(*paths, **options):
        if os.path.lexists(paths[which]) and is_open(os.path.realpath(paths[which])):
            raise PermissionError(errno.EACCES, "Permission denied", str(paths[which]))
        return function(*paths, **options)

    return wrapped


def is_open(path: str) -> bool:
    """Return whether a process of this user has a file open or mapped."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            links = list((process / "fd").iterdir())
            if os.fsencode(path) in (process / "maps").read_bytes() or any(
                read_link(link) == path for link in links
            ):
                return True
        except OSError:  # The process belongs to another user, or it has ended.
            continue
    return False


def read_link(link: Path) -> str:
    try:
        return os.readlink(link)
    except OSError:
        return ""


builtins.__import__ = import_as_elsewhere
for _module, _names in (
    (os, "chown fchdir fchmod fork getuid killpg pread pwrite sched_getaffinity setsid"),
    (signal, "SIGHUP SIGUSR1 setitimer"),
    (socket, "AF_UNIX"),
):
    for _name in _names.split():
        delattr(_module, _name)
for _method in ("fork", "forkserver"):
    del multiprocessing.context._concrete_contexts[_method]
shutil._use_fd_functions = False
socket.socketpair = lambda *arguments: _socketpair(*(arguments or (_UNIX,)))
os.open, os.fsync = open_as_elsewhere, fsync_as_elsewhere
os.unlink = os.remove = refused_for_open_files(os.unlink, 0)
os.replace, os.rename = refused_for_open_files(os.replace, 1), refused_for_open_files(os.rename, 1)
os.kill = lambda pid, number: _kill(pid, 9 if number == signal.SIGTERM else number)
importlib.invalidate_caches()
