"""A worker process: reads tasks from its standard input and writes results to its standard output.

    python -P -m codesearch.index.worker

Every message is a pickle. The first one is a function and its arguments: the function returns the handler of tasks.
Each further one is a task. The reply to each message is `(True, result)` or `(False, exception)`. `workers` has the
other end.
"""

from __future__ import annotations

import gc
import os
import pickle
import sys
import traceback
from collections.abc import Callable
from typing import Any


def main() -> None:
    """Answer tasks until the parent closes its end, which it also does when it dies."""
    tasks = sys.stdin.buffer
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # What a library prints must not mix with the replies.
    gc.set_threshold(100_000)  # Results are large and have no cycles.
    handle: Callable[[Any], Any] | None = None
    try:
        while True:
            message = pickle.load(tasks)
            try:
                if handle is None:
                    start, arguments = message
                    handle, result = start(*arguments), None
                else:
                    result = handle(message)
                reply = pickle.dumps((True, result), pickle.HIGHEST_PROTOCOL)
            except Exception as error:  # The parent raises it again.
                reply = pickle.dumps((False, _portable(error)))
            replies.write(reply)
            replies.flush()
    except (EOFError, BrokenPipeError):
        return


def _portable(error: Exception) -> Exception:
    """Return an exception that survives pickling, with the traceback of this process as a note."""
    error.add_note("".join(traceback.format_exception(error)))
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # Its constructor takes other arguments than its message.
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


if __name__ == "__main__":
    main()
