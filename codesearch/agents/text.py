"""Answers -> text that an agent reads cheaply; no result is longer than its limit in bytes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from codesearch.engine.answer import Answer
from codesearch.engine.reports import IndexStatus
from codesearch.search.snippets import snippet_lines
from codesearch.types import Definition, Hit
from codesearch.visible import visible

MAX_RESULT_BYTES = 8_000
"""A list of hits is never longer."""
MAX_DEFINITION_BYTES = 16_000
"""A definition is never longer."""
_MAX_LINE = 200
_NOTE_BYTES = 300


def hits_text(answer: Answer, project: Path, lines: int) -> str:
    """Return the hits, each with a line `path:first-last kind name` and up to `lines` lines of its code.

    Other definitions of the same file follow as `also first-last kind name`.
    """
    if not answer.hits:
        return "no hits" if answer.filters_match else "no hits: nothing passes the filters"
    blocks = [_hit_text(hit, answer, project, lines) for hit in answer.hits]
    if answer.low_confidence:
        blocks.insert(0, "note: probably nothing here does this; the nearest hits:\n")
    behind = [found.root for found in answer.freshness if found.state == "behind"]
    if behind:
        blocks.insert(0, "note: many files changed; run `codesearch index` to see them all\n")
    shown = _fitting(blocks, MAX_RESULT_BYTES - _NOTE_BYTES)
    left = len(blocks) - len(shown)
    note = f"{left} more left out: ask with fewer snippet_lines or a narrower path\n" if left else ""
    return "".join(shown) + note


def _hit_text(hit: Hit, answer: Answer, project: Path, lines: int) -> str:
    head = _head(hit, project)
    if not lines:
        return head + (f"  {_cut(hit.signature)}\n" if hit.signature else "") + _others(hit)
    code = hit.code.split("\n")
    chosen = snippet_lines(hit, answer.query, answer.mode, lines)
    snippet = "".join(f"  {hit.start_line + position}: {_cut(code[position])}\n" for position in chosen)
    return head + snippet + _others(hit)


def _others(hit: Hit) -> str:
    """Return a line for each other definition of the file of a hit."""
    return "".join(
        f"  also {other.start_line}-{other.end_line} {other.kind} {_cut(other.qualified_name)}\n"
        for other in hit.others
    )


def _head(found: Hit | Definition, project: Path) -> str:
    path = visible(relative(found.root, found.path, project))
    stale = " (changed since it was indexed)" if found.stale else ""
    name = _cut(found.qualified_name or found.name)
    return f"{path}:{found.start_line}-{found.end_line} {found.kind} {name}{stale}\n"


def definition_text(found: Definition, project: Path) -> str:
    """Return a definition with line numbers; the end of a long one is replaced by a note that says how to get it."""
    path = visible(relative(found.root, found.path, project))
    lines = [
        f"{number}: {_cut(line)}\n" for number, line in enumerate(found.code.split("\n"), found.start_line)
    ]
    shown = _fitting([_head(found, project), *lines], MAX_DEFINITION_BYTES - _NOTE_BYTES)
    left = len(lines) + 1 - len(shown)
    first = found.start_line + len(shown) - 1
    note = (
        f"{left} lines left out: read lines {first}-{found.end_line} of {path[:_MAX_LINE]}\n" if left else ""
    )
    return "".join(shown) + note


def places_text(places: Sequence[str]) -> str:
    """Return places of one name, one on a line."""
    shown = _fitting([f"{visible(place)}\n" for place in places], MAX_RESULT_BYTES - _NOTE_BYTES)
    left = len(places) - len(shown)
    note = f"{left} more left out: give a longer qualified name\n" if left else ""
    return f"{len(places)} definitions have this name: call again with one of these\n" + "".join(shown) + note


def status_text(status: IndexStatus, project: Path) -> str:
    """Return what is indexed and what is not."""
    if status.error:
        return f"the index cannot be read: {status.error}"
    languages = sorted(status.languages.items(), key=lambda item: (-item[1], item[0]))
    skipped = [
        f"not indexed, {reason}: {sum(counts.values())} files ({', '.join(sorted(counts)[:8])})\n"
        for reason, counts in sorted(status.not_indexed.items())
    ]
    changes = status.changes
    behind = f"{changes.to_parse} files to index, {changes.removed} removed" if changes else "unknown"
    text = (
        f"project {project}\n"
        f"{status.documents} definitions in {status.files} files, indexed {status.manifest.created}\n"
        f"languages: {', '.join(f'{name} {count}' for name, count in languages)}\n"
        f"changes since: {behind}\n" + "".join(skipped)
    )
    return "".join(_fitting([text], MAX_RESULT_BYTES)) or f"{text[:2000]}…\n"


def relative(root: str, path: str, project: Path) -> str:
    """Return the path of a hit relative to the project, with forward slashes."""
    return Path(os.path.relpath(os.path.join(root, path), project)).as_posix()


def _fitting(blocks: Sequence[str], limit: int) -> list[str]:
    """Return as many of the first blocks as fit into `limit` bytes of UTF-8."""
    size, shown = 0, []
    for block in blocks:
        size += len(block.encode())
        if size > limit:
            break
        shown.append(block)
    return shown


def _cut(line: str) -> str:
    """Return the first characters of a line; control characters and invisible ones, except tabs, become escapes."""
    cut = line if len(line) <= _MAX_LINE else f"{line[:_MAX_LINE]}…"
    return "\t".join(map(visible, cut.split("\t")))
