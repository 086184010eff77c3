"""Turn answers of the engine into records of the API."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import codesearch
from codesearch.engine.answer import Answer, FoundAnswer, Freshness, answer_fields, usages_fields
from codesearch.engine.engine import Engine
from codesearch.engine.scope import Scope
from codesearch.engine.session import AS_INDEXED
from codesearch.errors import ConfigError, IndexStoreError
from codesearch.languages import language_of_path
from codesearch.search.lookup import count_kinds
from codesearch.search.snippets import SNIPPET_LINES, WITH_CODE, Marker, fitted, marker, snippet_lines
from codesearch.settings import user_groups
from codesearch.store.catalogue import is_revision
from codesearch.structure.lines import Lines
from codesearch.structure.text import after_name, short_name
from codesearch.structure.whole import FileView, nested
from codesearch.web.tokens import file_lines, plain_lines, token_lines

MOST, _MOST_PLAIN = 2_000, 50_000
"""Lines with colours and definitions of a file in one answer, and lines without colours. More would be slow."""
_OUTLINED = ("kind", "name", "qualified_name", "signature", "start_line", "end_line", "last_line")


def answer_json(answer: Answer, screen: int = 0) -> dict[str, Any]:
    """Return what `codesearch query --json` prints, with labels of all definitions and the best lines of each hit.

    If the definitions fill a screen, a fifth of its rows has code.
    """
    mark = marker(answer.query, answer.mode)
    fields = answer_fields(answer)
    fields["freshness"] = _with_notes(answer.freshness)
    chosen = [snippet_lines(hit, answer.query, answer.mode, SNIPPET_LINES) for hit in answer.hits]
    counts = fitted([len(best) for best in chosen], max(screen // 4, WITH_CODE)) if screen else None
    for at, (hit, entry, best) in enumerate(zip(answer.hits, fields["hits"], chosen, strict=True)):
        positions = sorted(best[: counts[at]] if counts else best)
        entry["snippet"] = token_lines(hit.code, hit.language, hit.start_line, positions, mark)
        for definition, of in zip((hit, *hit.others), (entry, *entry["others"]), strict=True):
            of["label"] = [short_name(definition) or hit.path, after_name(definition)]
    return fields


def lines_json(answer: FoundAnswer[Lines], mark: Marker) -> dict[str, Any]:
    """Return lines with a text as records, with their tokens and labels of the definitions around them."""
    fields = usages_fields(answer)
    fields["freshness"] = _with_notes(answer.freshness)
    for usage, entry in zip(answer.found.lines, fields["lines"], strict=True):
        spec = language_of_path(usage.path, "all")
        (line,) = token_lines(usage.text, spec.name if spec else "", usage.line, [0], mark)
        entry["tokens"] = line.tokens
        if usage.inside:
            entry["label"] = short_name(usage.inside) or usage.path
    return fields


def _with_notes(freshness: Sequence[Freshness]) -> list[dict[str, Any]]:
    return [{**asdict(state), "note": state.note} for state in freshness]


def show_file(view: FileView, first: int, last: int, mark: Marker) -> dict[str, Any]:
    """Return lines of a file from `first` to `last`, and the definitions there.

    If `last` is 0, these are as many as are allowed; if there are many, their only token has the class "plain".
    """
    lines = view.source.removeprefix("\ufeff").replace("\r\n", "\n").removesuffix("\n").split("\n")
    is_plain = not last and len(lines) > MOST
    last = min(last or len(lines), first + (_MOST_PLAIN if is_plain else MOST) - 1, len(lines))
    shown = range(first - 1, last)
    ends = (at for at, definition in enumerate(view.definitions) if definition.last_line >= first)
    start = min(next(ends, 0), max(len(view.definitions) - MOST, 0))
    starts = {definition.start_line - 1 for definition in view.definitions}
    depths = {definition: len(around) for around, definition in nested(view.definitions)}
    return {
        "root": view.root,
        "path": view.path,
        "language": view.language,
        "stale": view.stale,
        "line_count": len(lines),
        "lines": list(
            plain_lines(lines, shown) if is_plain else file_lines(lines, view.language, starts, shown, mark)
        ),
        "definition_count": len(view.definitions),
        "definitions": [
            {**{name: getattr(definition, name) for name in _OUTLINED}, "depth": depths.get(definition, 0)}
            for definition in view.definitions[start : start + MOST]
        ],
    }


def show_status(engine: Engine) -> dict[str, Any]:
    """Return what is indexed, with numbers of documents, and the groups of the settings."""
    groups: dict[str, tuple[Path, ...]] = {}
    with suppress(ConfigError):  # A search says what is wrong with the settings.
        groups = user_groups()
    roots, unfinished = [], {}
    for index in engine.status():
        if index.unfinished:
            unfinished[index.root] = index.unfinished
        if index.error or not index.manifest.commit or is_revision(engine.local_home(), index.root):
            continue
        # A search says which index cannot be read.
        session = engine.session(Scope((index.root,)), AS_INDEXED)
        with suppress(IndexStoreError), session.indexes() as (reader,):
            counts = {name: getattr(index, name) for name in ("root", "documents", "files", "languages")}
            roots.append({**counts, "kinds": count_kinds(reader)})
    paths = {name: list(map(str, folders)) for name, folders in groups.items()}
    return {"version": codesearch.__version__, "roots": roots, "unfinished": unfinished, "groups": paths}
