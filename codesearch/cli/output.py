"""Write output, and handle output that cannot be written and interrupts. Imports next to nothing."""

from __future__ import annotations

import errno
import os
import signal
import sys

INTERRUPTED = "interrupted"
CONTINUES = "interrupted: what is indexed stays, and the next run does the rest"
_SHOW_CURSOR = "\x1b[?25h"  # A progress bar hides it.


def exit_on_interrupt(message: str = INTERRUPTED) -> None:
    """End the process and its workers immediately on signals: an exception could block in locks of other threads."""

    def end(number: int, _: object) -> None:
        signal.signal(number, signal.SIG_IGN)  # A second one must not interrupt this.
        _exit(128 + number, message)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)


def exit_while_waiting(*numbers: int) -> None:
    """Let a thread end the process on signals: Python runs handlers in the main thread, which waits."""
    import threading

    if not hasattr(os, "set_blocking"):  # On Windows, Python 3.11 cannot make a pipe that does not block.
        return
    caught, wakes = os.pipe()
    os.set_blocking(wakes, False)
    signal.set_wakeup_fd(wakes)
    for number in numbers:
        signal.signal(number, lambda *_: None)

    def end() -> None:
        is_interrupt = os.read(caught, 1)[0] == signal.SIGINT
        _exit(*(130, INTERRUPTED) if is_interrupt else (0, ""))

    threading.Thread(target=end, daemon=True).start()


def leave(code: int) -> None:
    """End the process without its modules being taken apart, which takes a tenth of a short command."""
    _kill_workers()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code)


def _kill_workers() -> None:
    if workers := sys.modules.get("codesearch.build.workers"):
        workers.kill_all()


def _exit(code: int, message: str) -> None:
    _kill_workers()
    if message:
        os.write(2, f"{_SHOW_CURSOR if os.isatty(2) else ''}{message}\n".encode())
    os._exit(code)


def write_output(text: str) -> None:
    """Write to stdout; use a pager if stdout is a terminal with fewer lines than the text."""
    try:
        height = os.get_terminal_size(sys.stdout.fileno()).lines
    except OSError:  # Stdout is no terminal.
        height = 0
    if height and sys.stdout.isatty() and text.count("\n") >= height and (pager := _pager()):
        from codesearch.processes import show_in_pager

        show_in_pager(pager, text.encode(sys.stdout.encoding, "backslashreplace"))
        return
    sys.stdout.write(text)
    sys.stdout.flush()


def _pager() -> list[str]:
    """Return the command of $PAGER, else of `less`; nothing if there is no such program or the variable is empty."""
    import shlex

    from codesearch.processes import find_program

    try:
        command = shlex.split(os.environ.get("PAGER", "less"))
    except ValueError:  # A quote is not closed.
        return []
    program = find_program(command[0]) if command else None
    return [program, *command[1:]] if program else []


def failed_output(error: OSError) -> int:
    """Print which output could not be written, unless the reader closed the pipe; return the exit code."""
    # Python would fail at exit to write the rest of the buffer, and print an error.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    # Windows reports a closed pipe as EINVAL.
    if isinstance(error, BrokenPipeError) or (os.name == "nt" and error.errno == errno.EINVAL):
        return 0
    from codesearch.visible import visible

    print(f"error: {visible(str(error.filename or 'output'))}: {error.strerror}", file=sys.stderr)
    return 2
