"""A definition -> what other files call it: the names that exports and imports give it, followed through barrels.

A barrel is a file that exports what it imports, such as `index.ts` or `__init__.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from codesearch.languages import record_of
from codesearch.parsing.identifiers import module_name
from codesearch.store.source import Ref
from codesearch.structure.imports import DEFAULT, module_of
from codesearch.structure.meaning import SourceFile
from codesearch.types import FOLDER_FILES

_MOST_DEFINITIONS, _MOST_EXPORTS = 10, 30
# How JavaScript exports a name, {0}. The forms begin with the same word, so that a search is fast.
_EXPORTED = r"""export(?<!\wexport)(?:
    \s+default\s+(?:(?:async|abstract)\s+)*(?:(?:function|class)\b[\s*]*)?{0}(?![\w$])    # export default {0}
    | s(?<=\bmodule\.exports)\s*=\s*{0}(?![\w$.(])                    # module.exports = {0}
    | \s*\{{[^}}]*?(?<![\w$]){0}\s+as\s+(?P<as>[\w$]+)               # export {{ {0} as other }}
    | s\.(?P<member>[\w$]+)\s*=\s*{0}(?![\w$.(])                      # exports.other = {0}
    | s\s*=\s*\{{[^}}]*?(?<![\w$.])(?P<key>[\w$]+)\s*:\s*{0}\s*[,}}]  # exports = {{ other: {0} }}
)"""


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
    count, local = len(exports), list[tuple[SourceFile, str, Ref]]()
    for name, path, ref in islice(exports, _MOST_EXPORTS):  # It grows.
        stem = module_name(path)  # What an import calls the file.
        is_default = name == DEFAULT
        files = [*files_with(stem if is_default else name, False), *files_with(stem, not is_default)]
        new: list[Export] = []
        for file in dict.fromkeys(file for file in files if file.root == ref.root):
            bindings = [(name, False)] if file.path == path else [*_bound(file, name, path)]
            names = [bound for bound, is_exported in bindings if not is_exported]
            new += [Export(bound, file.path, ref) for bound, is_exported in bindings if is_exported]
            new += [Export(other, file.path, ref) for bound in names for other in _exported_as(file, bound)]
            if is_default and file.path != path:
                local += [(file, bound, ref) for bound in names]
        exports += [export for export in dict.fromkeys(new) if export not in exports]
    return exports[count:], local


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
