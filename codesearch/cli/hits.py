"""The parts of a hit and of an answer as people read them, with and without colours."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterator
from pathlib import Path

from codesearch.cli.amounts import amount
from codesearch.cli.invocation import Terminal
from codesearch.engine.answer import Answer
from codesearch.types import Hit

SNIPPET_LINES = 6
MAX_LINE = 200


def title(hit: Hit) -> str:
    """Name a hit: kind and qualified name, how many copies it has, and whether its place may have moved."""
    name = hit.qualified_name or "(anonymous)"
    copies = f"  +{hit.copy_count:,} cop{'y' if hit.copy_count == 1 else 'ies'}" if hit.copy_count else ""
    moved = "  [changed since it was indexed]" if hit.stale else ""
    return f"{hit.kind} {name}{copies}{moved}"


def explanation(hit: Hit) -> str:
    """List what each signal gave."""
    return "  ".join(f"{name} {value:.3f}" for name, value in hit.signals.items())


def footer(answer: Answer) -> str:
    """Say how many answers there are, out of what, how fast, and by which model where."""
    found = amount(len(answer.hits), "answer") if answer.hits else "no answers"
    model = f", {answer.model} on {answer.device}" if answer.model else ""
    return f"{found} from {amount(answer.documents, 'document')} in {answer.seconds * 1000:.0f} ms{model}"


def shown_path(hit: Hit, terminal: Terminal) -> str:
    """Return a path that an editor opens from here: relative below the working directory, else absolute."""
    path = Path(hit.root, hit.path)
    return os.path.relpath(path, terminal.here) if path.is_relative_to(terminal.here) else str(path)


def snippet(hit: Hit) -> Iterator[tuple[int, str]]:
    """Yield (line number, line) of the first lines of a hit, and as many around them as it has context."""
    context = max(len(hit.before), len(hit.after))
    code = hit.code.split("\n") if hit.code else []
    lines = [*hit.before, *[*code, *hit.after][: SNIPPET_LINES + context]]
    text = "\n".join(line.rstrip()[:MAX_LINE] for line in lines).expandtabs(4)
    first = hit.start_line - len(hit.before)
    yield from enumerate(textwrap.dedent(text).split("\n") if lines else [], start=first)
