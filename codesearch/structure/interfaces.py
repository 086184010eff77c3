"""An interface of Go -> the types with its methods, which do not name it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from itertools import islice

from codesearch.store.snapshot import Snapshot
from codesearch.store.source import Ref
from codesearch.structure.places import place_in_order
from codesearch.types import TYPE_KINDS

_METHOD = re.compile(r"(?:^|;)\s*(\w+)(?=\()", re.MULTILINE)
_EMBEDDED = re.compile(r"^[ \t]*(?:(\w+)\.)?(\w+)[ \t]*(?://.*)?$", re.MULTILINE)
_BRACES = re.compile(r"\b(?:interface|struct)\s*\{[^{}]*\}")
_MOST_METHODS = 20  # Of an interface, that a type must have


def implementing(snapshot: Snapshot, interfaces: Sequence[Ref]) -> list[Ref]:
    """Return the types of Go that have each method of an interface, because they do not name it."""

    def named(name: str) -> list[Ref]:
        refs = snapshot.refs([doc_id for doc_id, exact, _ in snapshot.named(name) if exact == name])
        return [ref for ref in refs if ref.file.language == "go"]

    types: list[Ref] = []
    for interface in interfaces:
        methods = _methods(interface, named, set()) if interface.file.language == "go" else {}
        owners = [
            {
                (ref.root, os.path.dirname(ref.path), ref.owner)
                for ref in named(method)
                if _counts(f"({ref.row.signature.partition(f' {method}(')[2]}") == counts
            }
            for method, counts in islice(methods.items(), _MOST_METHODS)
        ]
        for root, folder, owner in set.intersection(*owners) if owners else ():
            types += [
                ref
                for ref in named(owner)
                if (ref.root, os.path.dirname(ref.path)) == (root, folder)
                and ref.row.kind in TYPE_KINDS
                and ref.doc_id != interface.doc_id
            ]
    return sorted(types, key=place_in_order)


def _methods(interface: Ref, named: Callable[[str], list[Ref]], seen: set[int]) -> dict[str, tuple[int, int]]:
    """Return the methods of an interface and of those in it, with the numbers of their parameters and results."""
    seen.add(interface.doc_id)
    row = interface.row
    excerpt = interface.code(row.last_line - row.end_line) if row.kind == "interface" else None
    body = "\n".join((excerpt.code, *excerpt.after)).partition("{")[2] if excerpt else ""
    methods = {match[1]: _counts(body[match.end() :]) for match in _METHOD.finditer(body)}
    own = os.path.dirname(interface.path)
    for package, name in _EMBEDDED.findall(body):
        for ref in named(name):
            folder = os.path.dirname(ref.path)
            is_meant = os.path.basename(folder) == package if package else folder == own
            if is_meant and ref.root == interface.root and ref.doc_id not in seen:
                methods |= _methods(ref, named, seen)
    return methods


def _counts(signature: str) -> tuple[int, int]:
    """Return the numbers of parameters and results in a signature of Go that a text begins with.

    >>> _counts("(a, b int) (int, error) {"), _counts("(f func(int, int) any) error"), _counts("() {")
    ((2, 2), (1, 1), (0, 0))
    """
    lists, depth = [""], 0
    for sign in _BRACES.sub("T", signature):
        if not depth and sign in "\n{}/;":
            break
        depth -= sign in ")]"
        if not depth and sign in "()":
            lists.append("")
        elif depth < 2 and sign not in "[]":
            lists[-1] += sign
        depth += sign in "(["
    counts = [sum(not part.isspace() for part in filter(None, part_list.split(","))) for part_list in lists]
    return counts[1], sum(counts[2:])
