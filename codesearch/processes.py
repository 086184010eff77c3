"""How many cores and how much memory there are, and the only place where programs start: Python, git and a pager.

The working directory may be a repository that the user does not trust. So Python starts with `-P` and without relative
entries of PYTHONPATH; an empty entry means the working directory. Programs are looked up only in absolute folders of
PATH. Windows would look in the working directory first.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import codesearch

if TYPE_CHECKING:
    from subprocess import CompletedProcess, Popen

LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
"""Files with the memory of a container, in the two versions of control groups."""
_LEAST_BYTES, _MOST_BYTES = 300_000_000, 4_000_000_000
_MOST_GIT_BYTES = 2_000_000_000
_SAFE_GIT = ("--no-pager", "-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}")
"""Options with which git runs no command that a repository names."""


def python_command(module: str, *arguments: str, utf8: bool | None = None) -> list[str]:
    """Return the command that runs a module of this installation."""
    mode = () if utf8 is None else ("-X", f"utf8={utf8:d}")
    return [sys.executable, "-P", *mode, "-m", module, *arguments]


def become_python(module: str, arguments: Sequence[str]) -> NoReturn:
    """Replace this process by one that runs a module in UTF-8 mode."""
    os.execve(sys.executable, python_command(module, *arguments, utf8=True), _python_environment())


def start_python(module: str, *arguments: str) -> Popen[bytes]:
    """Start a module in a separate process group, with pipes to its stdin and stdout.

    File names have the same encoding as in this process.
    """
    import subprocess

    return subprocess.Popen(
        python_command(module, *arguments, utf8=bool(sys.flags.utf8_mode)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=_python_environment(),
        process_group=0,
        creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),  # The process group on Windows.
    )


def _python_environment() -> dict[str, str]:
    """Return variables with which a new process can import this package, and nothing from its working directory."""
    import sysconfig

    package = str(Path(codesearch.__file__).parents[1])
    inherited = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    is_installed = package in (sysconfig.get_path("purelib"), sysconfig.get_path("platlib"))
    entries = [*([] if is_installed else [package]), *filter(os.path.isabs, inherited)]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(entries)}


def find_program(name: str) -> str | None:
    """Return the absolute path of a program, or None; a relative folder of PATH or of the name is not looked at."""
    named, name = os.path.split(name)
    folders = filter(os.path.isabs, [named] if named else os.get_exec_path())
    suffixes = ("", ".exe") if os.name == "nt" else ("",)
    places = (os.path.join(folder, name + suffix) for folder in folders for suffix in suffixes)
    return next((path for path in places if os.path.isfile(path) and os.access(path, os.X_OK)), None)


def run_git(
    arguments: Sequence[str],
    folder: str,
    environment: Mapping[str, str],
    *,
    timeout_s: float,
    stdin: bytes = b"",
) -> CompletedProcess[bytes]:
    """Run git in a folder, without commands of a repository's configuration, and return its output."""
    import subprocess

    with start_git(arguments, folder, environment, with_errors=True) as process:
        try:
            out, err = process.communicate(stdin, timeout_s)
        except subprocess.TimeoutExpired:
            raise TimeoutError(f"git took more than {timeout_s:.0f} s") from None
        finally:
            process.kill()
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def start_git(
    arguments: Sequence[str], folder: str, environment: Mapping[str, str], *, with_errors: bool = False
) -> Popen[bytes]:
    """Start git in a folder as `run_git` does, with pipes to its stdin and stdout, and to its errors if wanted.

    Its memory is limited, because a file of a repository may be a link to one without an end.
    """
    import subprocess

    program = find_program("git")
    if program is None:
        raise FileNotFoundError("git is not installed")
    process = subprocess.Popen(
        [program, *_SAFE_GIT, *arguments],
        cwd=folder,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE if with_errors else subprocess.DEVNULL,
    )
    with suppress(ImportError, AttributeError, OSError, ValueError):  # Not on every system, or it has ended.
        import resource

        resource.prlimit(process.pid, resource.RLIMIT_DATA, (_MOST_GIT_BYTES, _MOST_GIT_BYTES))
    return process


def show_in_pager(command: Sequence[str], text: bytes) -> None:
    """Let a pager show a text; the first word of its command is an absolute path."""
    import subprocess

    # The options are git's: keep colours, leave the text on the screen, and exit if it fits on one screen.
    process = subprocess.Popen(command, stdin=subprocess.PIPE, env={"LESS": "FRX", **os.environ})
    try:
        process.communicate(text)
    except BrokenPipeError:  # The reader has seen enough.
        process.wait()


def available_cores() -> int:
    """Count the cores that this process may run on, at least 1; a container often allows only some of them."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def memory_budget_bytes() -> int:
    """Return how much memory a worker may have: a quarter of the machine's or the container's, from 300 MB to 4 GB."""
    found = [4 * _MOST_BYTES]  # The system may not say it.
    with suppress(AttributeError, ValueError, OSError):  # Windows has no `sysconf`.
        found.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    for path in LIMITS:
        with suppress(OSError, ValueError):  # ValueError: "max".
            found.append(int(Path(path).read_text()))
    return min(max(min(found) // 4, _LEAST_BYTES), _MOST_BYTES)
