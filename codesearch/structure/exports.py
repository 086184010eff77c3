"""A definition -> what other files call it: the names that exports and imports give it, followed through barrels.

A barrel is a file that exports what it imports, such as `index.ts` or `__init__.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from codesearch.languages import record_of
from codesearch.store.source import Ref
from codesearch.structure.imports import DEFAULT, module_of
from codesearch.structure.meaning import SourceFile
from codesearch.types import FOLDER_FILES

_MOST_DEFINITIONS, _MOST_EXPORTS = 10, 30
# How JavaScript exports a name: as the default (two forms), or under another name (three forms).
_EXPORTED = r"""
    \bexport\s+default\s+(?:(?:async|abstract)\s+)*(?:(?:function|class)\b[\s*]*)?{0}(?![\w$])
    | \bmodule\.exports\s*=\s*{0}(?![\w$.(])
    | \bexport\s*\{{[^}}]*?(?<![\w$]){0}\s+as\s+(?P<as>[\w$]+)
    | \bexports\.(?P<member>[\w$]+)\s*=\s*{0}(?![\w$.(])
    | \bexports\s*=\s*\{{[^}}]*?(?<![\w$.])(?P<key>[\w$]+)\s*:\s*{0}\s*[,}}]
"""


class Export(NamedTuple):
    """A name that a file exports a definition by."""

    name: str
    path: str
    ref: Ref


def exports_of(
    refs: Sequence[Ref], files_with: Callable[[str, bool], Sequence[SourceFile]]
) -> tuple[list[Export], list[tuple[SourceFile, str, Ref]]]:
    """Return how files export definitions, and the names that files give to default exports that they import.

    `files_with` returns the files that have a text, or only those among them that are barrels by name.
    """
    able = [ref for ref in refs if record_of(ref.file.language).has_exports and not ref.owner]
    exports = [Export(ref.row.name, ref.path, ref) for ref in able[:_MOST_DEFINITIONS]]
    local: list[tuple[SourceFile, str, Ref]] = []
    for at in range(_MOST_EXPORTS):
        if at == len(exports):
            break
        name, path, ref = exports[at]
        new: list[Export] = []
        stem = _stem(path)
        files = (
            files_with(stem, False)
            if name == DEFAULT
            else [*files_with(name, False), *files_with(stem, True)]
        )
        for file in dict.fromkeys(files):
            if file.root != ref.root:
                continue
            names = [name] if file.path == path else []
            for bound, is_exported in _bound(file, name, path) if file.path != path else ():
                if is_exported:
                    new.append(Export(bound, file.path, ref))
                else:
                    names.append(bound)
                    if name == DEFAULT:
                        local.append((file, bound, ref))
            new += [Export(other, file.path, ref) for of in names for other in _exported_as(file, of)]
        exports += [one for one in dict.fromkeys(new) if one not in exports]
    return exports[len(able) :], local


def _bound(file: SourceFile, name: str, path: str) -> Iterator[tuple[str, bool]]:
    """Yield what a file calls a name that it imports from a path, and whether it exports it."""
    for statement in file.imports:
        bound = [local for of, local in statement.bindings if of in (name, "*")]
        if bound and statement.leads_to(module_of(path), name):
            for local in bound:
                yield name if local == "*" else local, statement.is_export


def _exported_as(file: SourceFile, name: str) -> Iterator[str]:
    """Yield the other names that a file exports a name by."""
    if "export" in file.source and record_of(file.language).is_script and name != DEFAULT:
        pattern = re.compile(_EXPORTED.format(re.escape(name)), re.VERBOSE)
        for match in pattern.finditer(file.source):
            yield match["as"] or match["member"] or match["key"] or DEFAULT


def is_barrel(path: str) -> bool:
    """Say whether a file has the name of one that exports what is in its folder."""
    return path.rpartition("/")[2].partition(".")[0] in FOLDER_FILES


def _stem(path: str) -> str:
    """Return what an import calls a file: its name without a suffix, or its folder."""
    *folders, name = path.split("/")
    stem = name.partition(".")[0]
    return folders[-1] if stem in FOLDER_FILES and folders else stem
