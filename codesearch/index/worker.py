"""A worker process. It reads tasks from its standard input and writes results to its standard output.

    python -P -m codesearch.index.worker

Every message is a pickle. The first message is a function and its arguments; the function returns the handler of tasks.
Every other message is a task. The reply to each message is `(True, result)` or `(False, exception)`. The module
`workers` contains the parent's side.
"""

from __future__ import annotations

import gc
import os
import pickle
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, BinaryIO

from codesearch.index.limits import leave_no_core


def main() -> None:
    """Answer tasks until the parent closes the pipe; the pipe also closes when the parent dies."""
    tasks = sys.stdin.buffer
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    with suppress(EOFError, BrokenPipeError):
        start, arguments = pickle.load(tasks)
        answer(tasks, replies, partial(start, *arguments))


def answer(tasks: BinaryIO, replies: BinaryIO, start: Callable[[], Callable[[Any], Any]]) -> None:
    """Open the handler of tasks, reply when it is open, then answer tasks.

    Raises:
        EOFError: the parent closed the pipe of tasks.
        BrokenPipeError: the parent closed the pipe of replies.
    """
    os.dup2(2, 1)  # Output of libraries must not mix with the replies.
    gc.set_threshold(100_000)  # Results are large and have no cycles.
    leave_no_core()
    handle: Callable[[Any], Any] | None = None
    message: Any = None
    while True:
        try:
            if handle is None:
                handle, result = start(), None
            else:
                result = handle(message)
            reply = pickle.dumps((True, result), pickle.HIGHEST_PROTOCOL)
        except (MemoryError, RecursionError):  # What was asked takes too much; to the parent this is a crash.
            os._exit(1)
        except Exception as error:  # The parent raises it again.
            reply = pickle.dumps((False, _portable(error)))
        replies.write(reply)
        replies.flush()
        message = pickle.load(tasks)


def _portable(error: Exception) -> Exception:
    """Return an exception that can be pickled, with the traceback of this process as a note."""
    error.add_note("".join(traceback.format_exception(error)))
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # Unpickling fails if the constructor takes other arguments than the message.
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


if __name__ == "__main__":
    main()
