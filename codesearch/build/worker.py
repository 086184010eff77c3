"""A worker process. It reads tasks from its standard input and writes results to its standard output.

    python -P -m codesearch.build.worker

Every message is a pickle. `(True, (function, arguments))` opens the handler of the tasks that follow: the function
returns it. `(False, task)` is a task. The reply to each message is `(True, result)` or `(False, exception)`. The module
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
from typing import Any

import codesearch.parsing.extract  # noqa: F401 - the first task has not come yet, and will need it.
from codesearch.build.file_parser import tokenizer_at
from codesearch.build.parse import leave_no_core
from codesearch.text.bundle import SHIPPED, TOKENIZER


def main() -> None:
    """Answer tasks until the parent closes the pipe; the pipe also closes when the parent dies."""
    tasks = sys.stdin.buffer
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(2, 1)  # Output of libraries must not mix with the replies.
    gc.set_threshold(100_000)  # Results are large and have no cycles.
    leave_no_core()
    with suppress(Exception):  # A damaged tokenizer is reported when a task needs it.
        tokenizer_at(SHIPPED / TOKENIZER)  # Most tasks need it, and the first one has not come yet.
    handle: Callable[[Any], Any]
    with suppress(EOFError, BrokenPipeError):
        while True:
            is_start, message = pickle.load(tasks)
            try:
                if is_start:
                    start, arguments = message
                    handle, result = start(*arguments), None
                else:
                    result = handle(message)
                reply = pickle.dumps((True, result), pickle.HIGHEST_PROTOCOL)
            except (MemoryError, RecursionError):  # The task takes too much. To the parent this is a crash.
                os._exit(1)
            except Exception as error:  # The parent raises it again.
                reply = pickle.dumps((False, _portable(error)))
            replies.write(reply)
            replies.flush()


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
