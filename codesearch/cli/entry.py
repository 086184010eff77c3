"""The command `codesearch`: ask the service of the home if one runs, else run the command line in this process.

Imports are most of the cost of a query, so this module imports nothing slow before it has asked the service.
"""

from __future__ import annotations

import gc
import os
import sys

from codesearch.cli.output import CONTINUES, exit_on_interrupt, failed_output, leave, write_output
from codesearch.service.client import ask, distrusted, named_home, socket_path

ASKED = ("query", "similar", "mcp")
"""The commands that a service answers."""
_OF_SESSIONS = ("--root", "--group", "--home", "--auto-index", "--no-index")
"""The options of `mcp` that do not write or print something in place of a session."""
_UNHARMED = ("index", "watch", "history", "lsp", "query", "similar")
"""Commands that may end at any moment, because they leave no files behind."""
_GC_THRESHOLD = 100_000
"""Objects between two runs of the garbage collector. With Python's default, 700, it takes 10% of a short command."""
_HERE = {"--no-service", "--help", "-h"}
MAX_STDIN_BYTES = 64_000
"""A query from stdin may not be longer."""


def run() -> None:
    """Run the command line and exit."""
    gc.set_threshold(_GC_THRESHOLD)
    # A locale with another encoding cannot name every file.
    if os.name == "posix" and sys.getfilesystemencoding() != "utf-8":
        from codesearch.processes import become_python

        become_python("codesearch", sys.argv[1:])
    for name in ("stdout", "stderr"):  # They are None if they were closed from outside.
        stream = getattr(sys, name) or open(os.devnull, "w", encoding="utf-8")
        stream.reconfigure(errors="backslashreplace")  # The encoding may lack characters of paths and code.
        setattr(sys, name, stream)
    try:
        os.getcwd()
    except OSError as error:  # It was deleted; every command needs it.
        reason = f"the working directory cannot be used ({error.strerror}): change to another one"
        print(f"error: {reason}", file=sys.stderr)
        sys.exit(2)
    arguments, wanted = sys.argv[1:], sys.argv[1:2]
    if os.environ.get("_CODESEARCH_COMPLETE"):
        from codesearch.cli.complete import complete

        wanted = complete()[1:2]
    if arguments[:1] == ["search"]:  # Users of other tools type this.
        arguments[0] = wanted[0] = "query"
    if arguments and arguments[0] in _UNHARMED:
        exit_on_interrupt(*[CONTINUES] * (arguments[0] == "index"))
    stdin = _query_on_stdin(arguments)
    code = _by_service(arguments, stdin)
    if code is None:
        if arguments[:1] in (["query"], ["outline"], ["read"]):
            # They have no large products, and to start numpy's threads takes a twentieth of its time.
            os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        from codesearch.cli import main

        commands = wanted if wanted and wanted[0] in main.COMMANDS else main.COMMANDS
        code = main.run(arguments, commands, stdin)
    if arguments and arguments[0] in _UNHARMED:
        leave(code)
    sys.exit(code)


def _query_on_stdin(arguments: list[str]) -> str | None:
    """Return the text on stdin if `-` stands for the query, with one byte over the limit; None for a terminal."""
    if arguments[:1] != ["query"] or "-" not in arguments or sys.stdin is None or sys.stdin.isatty():
        return None
    before = arguments[: arguments.index("-")]
    pairs = zip(before, before[1:], strict=False)
    is_query = all(word.startswith("-") or last.startswith("-") for last, word in pairs)
    return sys.stdin.buffer.read(MAX_STDIN_BYTES + 1).decode("utf-8", "replace") if is_query else None


def _by_service(arguments: list[str], stdin: str | None) -> int | None:
    """Print the answer of a service and return its exit code; return None if there is no answer."""
    if not arguments or arguments[0] not in ASKED or not _HERE.isdisjoint(arguments):
        return None
    options = (word.partition("=")[0] for word in arguments[1:] if word.startswith("-"))
    if arguments[0] == "mcp" and not set(options).issubset(_OF_SESSIONS):
        return None
    home = named_home(arguments)
    if os.environ.get("CODESEARCH_NO_SERVICE") or not os.path.exists(socket_path(home)):
        return None
    if reason := distrusted(home):
        from codesearch.visible import visible

        print(f"note: the service of {visible(home)} is not asked: {visible(reason)}", file=sys.stderr)
        return None
    if arguments[0] == "mcp":
        from codesearch.service.relay import relay

        return relay(home, arguments)
    try:
        if (answer := ask(home, arguments, stdin)) is None:
            return None
        code, stdout, stderr = answer
        write_output(stdout)
        sys.stderr.write(stderr)
        return code
    except OSError as error:
        return failed_output(error)
