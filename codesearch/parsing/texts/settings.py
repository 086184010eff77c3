"""Sections of configuration files: tables, top-level keys, build stages and targets."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from codesearch.parsing.texts.headings import Cut

_TABLE = re.compile(r"([ \t]*)\[\[?\s*([^\s,\[\]][^,\[\]]*)\]\]?\s*(?:[#;].*)?$")
_PATTERNS = {
    "dockerfile": re.compile(r"([ \t]*)FROM\s+(?:--\S+\s+)*(\S+)(?:\s+AS\s+(\S+))?", re.IGNORECASE),
    "ini": _TABLE,
    "json": re.compile(r"""([ \t]+)"([^"]+)"\s*:"""),
    "makefile": re.compile(r"()([\w$%/(][^:=#]*)::?(?![=:])"),
    "toml": _TABLE,
    "yaml": re.compile(r"""([ \t]*)["']?([^\s#"'\-{\[][^:#"']*)["']?:(?:\s|$)"""),
}
"""Language -> where a section begins; the first group is its indentation, the last one that matched its title."""


def setting_cuts(lines: Sequence[str], language: str) -> Iterator[Cut]:
    """Find the sections of a configuration file: lines that match and are indented like the first of them."""
    if (pattern := _PATTERNS.get(language)) is None:
        return
    first_indentation = None
    for row, line in enumerate(lines):
        if match := pattern.match(line):
            indentation, *titles = match.groups()
            first_indentation = indentation if first_indentation is None else first_indentation
            if indentation == first_indentation:
                yield Cut(row, row, next(filter(None, reversed(titles))).replace('"', "").strip())
