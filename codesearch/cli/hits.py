"""The parts of a hit and of an answer as people read them, with and without colours."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from codesearch.cli.amounts import amount
from codesearch.cli.invocation import Terminal
from codesearch.config import COLORS
from codesearch.engine.answer import Answer
from codesearch.errors import ConfigError
from codesearch.search.snippets import best_lines
from codesearch.types import Hit
from codesearch.visible import visible

MAX_LINE = 200
"""Characters of a line that are shown if stdout is no terminal."""
_SNIPPET_LINES = 3
_WITH_CONTEXT = 6
_GUTTER = 8
_NAMES = {
    "name_first": "exact name ranks first",
    "file_diversity": "hits of the same file above",
    "direction": "direction of the conversion",
    "single_word": "name begins with the word",
}


@dataclass(frozen=True, slots=True)
class View:
    """The parts of an answer that people see.

    Attributes:
        full: whole bodies instead of a few lines.
        explain: what each part added to the score.
        color: "auto" for colours on a terminal, "always" or "never".

    Raises:
        ConfigError: `color` is something else.
    """

    full: bool = False
    explain: bool = False
    color: str = "auto"

    def __post_init__(self) -> None:
        if self.color not in COLORS:
            raise ConfigError(f"color {self.color!r}: choose one of {', '.join(COLORS)}")

    def is_coloured(self, terminal: Terminal) -> bool:
        """Say whether to print colours and links."""
        if self.color == "auto":
            return terminal.is_terminal or bool(terminal.variables.get("FORCE_COLOR"))
        return self.color == "always"


def details(hit: Hit) -> str:
    """Describe a hit: its kind, its length, how many copies it has, and whether its lines may have moved."""
    lines = hit.end_line - hit.start_line + 1
    length = f", {amount(lines, 'line')}" if lines > 1 else ""
    copies = f"  +{hit.copy_count:,} cop{'y' if hit.copy_count == 1 else 'ies'}" if hit.copy_count else ""
    moved = "  [changed since it was indexed]" if hit.stale else ""
    return f"{hit.kind}{length}{copies}{moved}"


def explanation(hit: Hit) -> Iterator[str]:
    """Yield a row for each part of the score, and the sum."""
    detail = {
        "vectors": f"cosine {hit.signals.get('cosine', 0):.3f} x length prior {hit.signals.get('length_prior', 0):.3f}",
        "keywords": f"BM25F {hit.signals.get('bm25_normalised', 0):.3f} of the highest possible",
    }
    for name, value in hit.parts.items():
        if value:
            yield f"{value:+8.3f}  {_NAMES.get(name, name)}" + (f": {detail[name]}" if name in detail else "")
    yield f"{hit.score:+8.3f}  score"


def footer(answer: Answer) -> str:
    """Give the number of hits and of documents, the time and the confidence."""
    found = amount(len(answer.hits), "hit") if answer.hits else "no hits"
    sure = (
        f", confidence {percent(answer.confidence)}" if answer.hits and answer.confidence is not None else ""
    )
    return f"{found} from {amount(answer.documents, 'document')} in {answer.seconds * 1000:.0f} ms{sure}"


def percent(confidence: float) -> str:
    """Write a probability; write 0% and 100% only if they are exact.

    >>> percent(0.834), percent(0.999), percent(1.0), percent(0.001)
    ('83%', '99%', '100%', '1%')
    """
    rounded = round(100 * confidence)
    return f"{min(max(rounded, 1), 99) if 0 < confidence < 1 else rounded}%"


def shown_path(hit: Hit, terminal: Terminal) -> str:
    """Return a path that an editor opens from here: relative below the working directory, else absolute."""
    path = Path(hit.root, hit.path)
    shown = os.path.relpath(path, terminal.here) if path.is_relative_to(terminal.here) else str(path)
    return visible(shown)


def snippet(hit: Hit, answer: Answer, terminal: Terminal, *, full: bool) -> list[tuple[int, str]]:
    """Return (line number, line) of each line of a hit to show; a line that is cut ends with three dots.

    These are the lines that matter most for the query. Without code, they are the signature and the first lines of the
    documentation. With context, they are the first lines and those around the hit.
    """
    width = max(terminal.width - _GUTTER - 3, 20) if terminal.is_terminal else MAX_LINE
    if not hit.code:
        known = [hit.signature, *hit.docstring.split("\n")[: _SNIPPET_LINES - 1]]
        return [(hit.start_line, _cut(visible(line), width)) for line in known if line.strip()]
    code = hit.code.split("\n")
    context = max(len(hit.before), len(hit.after))
    if full:
        chosen = list(range(len(code)))
    elif context:
        chosen = list(range(min(len(code), _WITH_CONTEXT)))
    else:
        query = "" if answer.mode == "similar" else answer.query
        chosen = best_lines(hit.code, query, _SNIPPET_LINES)
    after = hit.after if len(chosen) == len(code) else ()
    lines = [*hit.before, *(code[position] for position in chosen), *after]
    numbers = [
        *range(hit.start_line - len(hit.before), hit.start_line),
        *(hit.start_line + position for position in chosen),
        *range(hit.start_line + len(code), hit.start_line + len(code) + len(after)),
    ]
    text = textwrap.dedent("\n".join(line.rstrip() for line in lines).expandtabs(4))
    return [
        (number, _cut(visible(line), width)) for number, line in zip(numbers, text.split("\n"), strict=False)
    ]


def _cut(line: str, width: int) -> str:
    return line if len(line) <= width else f"{line[: width - 3]}..."
