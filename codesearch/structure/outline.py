"""A folder, a file or a class -> a tree of what is in it, cut to a number of lines.

If not everything fits, folders come before files, files before definitions, and the most used definitions first. Tests,
generated and vendored files come after others of their folder, and what is in a folder of them comes last. How
often a definition is used is estimated: by the number of definitions in the index that have all words of its name. What
does not fit is counted.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import chain
from operator import itemgetter
from sys import maxsize
from typing import NamedTuple

from codesearch.config import RankConfig
from codesearch.parsing.docstrings import first_sentence
from codesearch.search.lexical import LexicalScorer
from codesearch.search.lookup import live_paths
from codesearch.store.database import DocumentRow, FileRecord
from codesearch.store.segments import IndexReader, SegmentReader
from codesearch.store.snapshot import Snapshot
from codesearch.structure.places import Spot, find_file
from codesearch.structure.text import Entry, Outline, counted, outline_lines
from codesearch.structure.whole import by_depth, nested, read_whole
from codesearch.text.terms import terms_of
from codesearch.types import FIELD, FOLDER_FILES, FUNCTIONS, HEADER_KINDS, OF_FILE, PROTOTYPE, TEXT_KINDS, Hit

MAX_LINES = 40
"""Lines of an outline, unless the user says otherwise: about one screen."""
_OF_FOLDER = 8
"""The largest files in each folder that may be shown are read to name the main definitions."""
_MAX_LABEL = 100
_TYPES = 4
_TIERS = ("folder", "file", "definition")
_LEAST_LINES = 4  # No outline is shorter, if there are several
_FOLDER_STEMS = ("doc", "lib", "main", "package-info")


class _File(NamedTuple):
    """A file of a folder, as a tuple, because an index may have 50,000; only of some is the record read."""

    path: str
    is_minor: bool
    documents: int
    segment: SegmentReader
    file_id: int

    @property
    def record(self) -> FileRecord:
        """The file, as the index has it."""
        return self.segment.store.files_of({self.file_id})[self.file_id]

    def by_size(self) -> tuple[bool, int]:
        """Return a key that sorts larger files first, and minor ones last."""
        return self.is_minor, -self.documents


@dataclass(slots=True, eq=False)
class Node:
    """A candidate for a line. Folders have tier 0, files 1 and definitions 2; lower tiers and heavier nodes come first.

    Files of tests, generated or vendored code are minor, and folders with nothing else. The files of a folder are
    children only if they may be shown, and the `largest` ones below a folder name its main definitions.
    """

    entry: Entry
    tier: int
    weight: float = 0.0
    is_minor: bool = False
    row: DocumentRow | None = None
    children: list[Node] = field(default_factory=list)
    files: list[_File] = field(default_factory=list)
    largest: list[_File] = field(default_factory=list)

    def all(self) -> Iterator[Node]:
        """Yield the node and all below it, each before what is in it."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting += reversed(node.children)


def outlines_of(
    spots: Sequence[Spot], max_lines: int = MAX_LINES, max_chars: int | None = None
) -> list[Outline]:
    """Return the outlines of folders, files and definitions, in at most `max_lines` lines together."""
    shown = spots[: max(1, max_lines // _LEAST_LINES)]
    chars = maxsize if max_chars is None else max_chars // len(shown)
    return [_outline_of(spot, max_lines // len(shown), chars) for spot in shown]


def _outline_of(spot: Spot, max_lines: int, max_chars: int) -> Outline:
    """Return an outline with as many nodes as fit, each with all nodes around it."""
    tree = _tree_of(spot) if spot.file else _folder_tree(spot.index, spot.path, max_lines)
    order = _ranked(tree)
    parents = _parents(tree)

    def outline(count: int) -> Outline:
        return Outline(spot.root, tuple(_entries(tree, _closure(tree, parents, order[:count]))))

    def is_too_long(count: int) -> bool:
        shown = outline(count)
        chars = sum(len(line) + 1 for line in outline_lines(shown)) if max_chars < maxsize else 0
        return len(shown.entries) > max_lines or chars > max_chars

    most = min(len(order), max_lines)  # Each node has a line.
    return outline(bisect_left(range(1, most + 1), True, key=is_too_long))


def _ranked(tree: Node) -> list[Node]:
    """Return all nodes of a tree, the first ones to show first."""
    parents = _parents(tree)

    def rank(node: Node) -> tuple[bool, int, bool, float]:
        parent = parents.get(node, node)
        return parent.is_minor and not tree.is_minor, node.tier, node.is_minor, -node.weight

    return sorted(tree.all(), key=rank)


def outline_for(hits: Sequence[Hit], spots: Sequence[Spot], max_lines: int = MAX_LINES) -> list[Outline]:
    """Return the files of some hits, best first: the hits whole, the definitions around them as signatures."""
    indexes = {spot.root: spot.index for spot in spots}
    by_root: dict[str, list[Entry]] = {}
    left = max_lines
    for hit in hits:
        if left < _LEAST_LINES:
            break
        entries = _for_hit(hit, indexes[hit.root], left)
        left -= sum(1 + len(entry.code) for entry in entries)
        by_root.setdefault(hit.root, []).extend(entries)
    for root, entries in by_root.items():
        shown = {entry.path for entry in entries}
        folders = tuple(f"{spot.path}/".lstrip("/") for spot in spots if spot.root == root and not spot.file)
        others = sum(
            file_id in segment.contents and path.startswith(folders) and path not in shown
            for path, segment, file_id in live_paths(indexes[root])
        )
        if others:
            entries.append(Entry(0, "rest", counted(others, "more file"), "", folded=others))
    return [Outline(root, tuple(entries)) for root, entries in by_root.items()]


def _for_hit(hit: Hit, index: IndexReader, left: int) -> list[Entry]:
    """Return the entries of the file of a hit, in about `left` lines."""
    spot = find_file([index], hit.path)
    tree = _tree_of(spot)
    nodes = {(node.row.start_line, node.row.name): node for node in tree.all() if node.row}
    room, whole = left // 2, 0
    for shown in (hit, *hit.others):
        if node := nodes.get((shown.start_line, shown.name)):
            code = read_whole(replace(spot, row=node.row), most=room).lines
            if len(code) <= room or not whole:
                node.entry = replace(node.entry, code=code[:room])
                node.weight = math.inf
                room, whole = room - len(code[:room]), whole + 1
    weighted = sorted(tree.all(), key=lambda node: -node.weight)
    return list(_entries(tree, _closure(tree, _parents(tree), weighted[: whole + max(left // 8, 2)])))


def _tree_of(spot: Spot) -> Node:
    """Return the definitions in a file or a definition as a tree."""
    assert spot.file
    scorer = LexicalScorer(Snapshot([spot.index]), RankConfig())
    nodes: dict[DocumentRow | None, Node] = {None: Node(_file_entry(spot.file), 1)}
    rows = spot.rows_and_members()
    defined = {row.qualified_name for row in rows if row.kind in FUNCTIONS}
    rows = [row for row in rows if row.kind != PROTOTYPE or row.qualified_name not in defined]
    for outer, row in nested(rows):
        nodes[row] = _definition_node(spot.file, row, _weight(row, len(outer) + 1, scorer))
        nodes[outer[-1] if outer else None].children.append(nodes[row])
    return nodes.get(spot.row, nodes[None])


def _weight(row: DocumentRow, depth: int, scorer: LexicalScorer) -> float:
    uses = len(scorer.with_all(sorted(terms_of(row.name))))
    hidden = 0.5 if row.name.startswith("_") or row.kind == FIELD else 1.0
    return hidden * (2.0 if row.kind in HEADER_KINDS else 1.0) * math.log1p(uses) / depth


def _folder_tree(index: IndexReader, folder: str, max_lines: int) -> Node:
    """Return what is in a folder as a tree. Only what may be shown is complete: nothing else is read."""
    by_folder: dict[str, list[_File]] = {}
    for path, segment, file_id in sorted(live_paths(index, folder), key=itemgetter(0)):
        file = _File(path, *segment.contents.get(file_id, (True, 0)), segment, file_id)
        by_folder.setdefault(path.rpartition("/")[0], []).append(file)
    tree = _folders(index, folder, by_folder)
    order = _ranked(tree)
    if len(order) < max_lines or order[max_lines - 1].is_minor:  # Other folders come before all files.
        _open_files(tree)
        order = _ranked(tree)
    shown = order[:max_lines]
    _add_summaries(shown, by_folder)
    _add_definitions(tree, shown, has_room=len(order) < max_lines)
    return tree


def _folders(index: IndexReader, folder: str, by_folder: Mapping[str, Sequence[_File]]) -> Node:
    """Return the folders below a folder as a tree; a folder with only one folder is joined with it."""
    top = Node(Entry(0, "folder", f"{folder or index.root.name or index.manifest.root}/", folder), 0)
    folders = {folder: top}

    def node_of(path: str) -> Node:
        if path not in folders:
            parent = node_of(path.rpartition("/")[0] if "/" in path else "")
            folders[path] = Node(Entry(0, "folder", f"{path.rpartition('/')[2]}/", path), 0)
            parent.children.append(folders[path])
        return folders[path]

    for path, files in by_folder.items():
        if listed := [file for file in files if file.documents]:
            node_of(path).files = listed
    _count(top)
    return top


def _count(node: Node, depth: int = 0) -> int:
    """Set the contents and weights of folders, and join chains of folders; return the number of definitions."""
    while depth and len(node.children) == 1 and not node.files:
        (child,) = node.children
        node.entry = replace(child.entry, label=node.entry.label + child.entry.label)
        node.children, node.files = child.children, child.files
    below = sum(_count(child, depth + 1) for child in node.children)
    contents = below + sum(file.documents for file in node.files)
    node.entry = replace(node.entry, contents=contents)
    node.weight = math.log1p(contents) / (1 + depth)
    node.is_minor = all(child.is_minor for child in node.children) and all(f.is_minor for f in node.files)
    files = chain(*(child.largest for child in node.children), node.files)
    node.largest = sorted(files, key=_File.by_size)[:_OF_FOLDER]
    return contents


def _open_files(tree: Node) -> None:
    """Make the files of all folders children of these."""
    for node in list(tree.all()):
        for file in node.files:
            name, weight = file.path.rpartition("/")[2], math.log1p(file.documents)
            entry = Entry(0, "file", name, file.path, contents=file.documents)
            node.children.append(Node(entry, 1, weight, file.is_minor, largest=[file]))
        node.files = []


def _add_definitions(tree: Node, shown: Sequence[Node], *, has_room: bool) -> None:
    """Give folders and files that may be shown the names of their main definitions; if there is room, also these."""
    read: dict[str, list[_File]] = {}
    for file in sorted({file for node in shown for file in node.largest}, key=itemgetter(0)):
        for place in (file.path, file.path.rpartition("/")[0]):
            read.setdefault(place, []).append(file)

    def main_rows(node: Node) -> list[tuple[float, DocumentRow]]:
        """Return the heaviest definitions in a folder or file, and name them in its entry."""
        below = [weighted for child in node.children for weighted in main_rows(child)]
        for file in read.get(node.entry.path, ()) if node.tier or node.files else ():
            below += (rows := _main_rows(file))
            if has_room and node.tier:
                node.children = [_definition_node(file.record, row, weight) for weight, row in rows]
        best = sorted(below, key=lambda weighted: -weighted[0])[:_TYPES]
        if best:
            node.entry = replace(node.entry, names=tuple(dict.fromkeys(row.name for _, row in best)))
        return best

    main_rows(tree)


def _main_rows(file: _File) -> list[tuple[float, DocumentRow]]:
    """Return the types and functions of a file that are in no other, each with a weight, in the order of the source.

    In place of a class or module that only wraps classes, as a namespace does, these are returned.
    """
    levels = by_depth(file.segment.store.document_rows(file.record, but="constant"))
    while len(levels) > 1 and len(levels[0]) == 1 and all(row.kind in HEADER_KINDS for row in levels[1]):
        del levels[0]
    weighted: list[tuple[float, DocumentRow]] = []
    for row in levels[0] if levels else ():
        is_callback = " " in row.name or row.name.isdigit()  # Bundlers number their functions.
        if not is_callback and row.kind not in TEXT_KINDS:
            size = math.log1p(row.last_line - row.start_line)
            is_type, is_public = row.kind in HEADER_KINDS, not row.name.startswith("_")
            is_plain = not row.flags & OF_FILE
            weight = size * (1.0, 3.0)[is_type] * (0.2, 1.0)[is_public] * (0.1, 1.0)[is_plain]
            weighted.append((weight, row))
    return weighted


def _parents(tree: Node) -> dict[Node, Node]:
    return {child: node for node in tree.all() for child in node.children}


def _closure(tree: Node, parents: Mapping[Node, Node], nodes: Iterable[Node]) -> set[Node]:
    """Return some nodes and all nodes around them."""
    closure = {tree}
    for node in nodes:
        while node not in closure:
            closure.add(node)
            node = parents[node]
    return closure


def _entries(node: Node, chosen: Set[Node], depth: int = 0) -> Iterator[Entry]:
    has_chosen = not chosen.isdisjoint(node.children)
    names = () if node.tier == 1 and has_chosen else node.entry.names
    label = node.entry.label if depth or node.tier != 1 else node.entry.path
    left = Counter(_TIERS[child.tier] for child in node.children if child not in chosen)
    left += Counter(file=len(node.files))
    folded = 0 if has_chosen else node.entry.contents or left.total()
    yield replace(node.entry, depth=depth, label=label, names=names, folded=folded)
    for child in node.children:
        if child in chosen:
            yield from _entries(child, chosen, depth + 1)
    if left and has_chosen:
        rest = ", ".join(counted(count, f"more {noun}") for noun, count in sorted(left.items()))
        yield Entry(depth + 1, "rest", rest, node.entry.path, folded=left.total())


def _add_summaries(nodes: Iterable[Node], by_folder: Mapping[str, Sequence[_File]]) -> None:
    """Give files their first sentences, and folders that of the file that best says what they are for."""
    for node in nodes:
        folder = node.entry.path
        best = [(0, file.path, file.record.summary) for file in node.largest if node.tier]
        for file in by_folder.get(folder, ()):
            stem = file.path.rpartition("/")[2].partition(".")[0]
            is_named = (stem in FOLDER_FILES or stem in _FOLDER_STEMS, stem.lower() == "readme")
            ranks = [*is_named, stem == folder.rpartition("/")[2]]
            if any(ranks) and (summary := file.record.summary):
                best.append((ranks.index(True), file.path, summary))
        if best:
            node.entry = replace(node.entry, summary=min(best)[2])


def _file_entry(file: FileRecord) -> Entry:
    return Entry(0, "file", file.path.rpartition("/")[2], file.path, file.summary, contents=file.doc_count)


def _definition_node(file: FileRecord, row: DocumentRow, weight: float) -> Node:
    label = row.name if row.kind in TEXT_KINDS else row.signature or row.qualified_name
    label = label if len(label) <= _MAX_LABEL else f"{label[: _MAX_LABEL - 1]}…"
    entry = Entry(0, row.kind, label, file.path, first_sentence(row.docstring), row.of(file))
    return Node(entry, 2, weight, row=row)
