"""What a user types for a place -> the files, folders, lines and definitions of indexes that it names.

`codesearch.search.forms` has the forms of a place. A path is relative to the working directory or to the root of an
index, or absolute. A whole path comes before the end of a path, and a path before a name, except where only a
definition can be meant.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import cast

from codesearch.errors import ConfigError, IndexNotFoundError, index_command
from codesearch.languages import language_of_path
from codesearch.search.filters import allowed_documents, path_filter
from codesearch.search.forms import MOST_PLACE, Asked, did_you_mean, parse_asked, split_name
from codesearch.search.lookup import (
    documents_inside,
    documents_named,
    innermost,
    live_file,
    live_paths,
    members_named,
    most_alike,
    near_names,
    paths_in,
)
from codesearch.search.request import Filters, Place
from codesearch.store.database import DocumentRow, FileRecord
from codesearch.store.segments import IndexReader, SegmentReader
from codesearch.store.snapshot import Snapshot, inner_folders
from codesearch.store.source import Ref, SourceFiles
from codesearch.types import FUNCTIONS, MEMBER_KINDS, OF_FILE, PROTOTYPE, TEXT_KINDS, Definition

_NOT_UTF_8 = re.compile("[\ud800-\udfff]")
_LISTED = 5  # Places that an error lists
_SHOWN = 100
_NEAR = 3
_READ_YOURSELF = "read the file itself, or index everything with `codesearch index --content all`"


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in an index: a folder, a file, lines of it or a definition; the root has the path ""."""

    index: IndexReader
    path: str
    segment: SegmentReader | None = None
    file: FileRecord | None = None
    row: DocumentRow | None = None
    lines: tuple[int, int] | None = None

    @property
    def root(self) -> str:
        """The indexed folder, or the name of an index without one."""
        return self.index.manifest.root

    @property
    def first_line(self) -> int:
        """The first line of the definition or of the lines, else 1."""
        return self.row.start_line if self.row else self.lines[0] if self.lines else 1

    @property
    def place(self) -> Place:
        """The first line, in its file."""
        return Place(Path(self.root, self.path), self.first_line)

    @property
    def definition(self) -> Definition | None:
        """The definition, if the place is one."""
        return self.row.of(self.file) if self.file and self.row else None

    def rows_and_members(self) -> list[DocumentRow]:
        """Return the definitions of the file and what has no document of its own, in the order of the source."""
        if self.segment is None or self.file is None or not self.file.doc_count:
            return []
        file_id = int(self.segment.rows["file_id"][self.file.first_doc])
        rows = [*self.rows(), *self.segment.store.members(file_id)]
        return sorted(rows, key=lambda row: row.start_byte)

    def rows(self) -> list[DocumentRow]:
        """Return the definitions of the file, in the order of the source."""
        if self.segment is None or self.file is None:
            return []
        return self.segment.store.document_rows(self.file)


def find_spots(
    indexes: Sequence[IndexReader],
    text: str,
    here: Path | str | None = None,
    within: Sequence[Path | str] = (),
    *,
    code: bool = False,
    only_definitions: bool = False,
    members: bool = False,
) -> list[Spot]:
    """Return every place that a text names, at least one.

    With `code`, definitions come before folders. With `only_definitions` they come before files too, and lines stand
    for the definition around the first one; with `members`, for a field or constant that stands there.
    """
    text = text.strip()
    if not text or len(text) > MOST_PLACE:
        raise ConfigError(
            f"a place has 1 to {MOST_PLACE:,} characters", "give PATH, PATH:LINE, PATH::NAME or NAME"
        )
    if _NOT_UTF_8.search(text):
        raise IndexNotFoundError(f"{text[:_SHOWN]!r} is not in UTF-8, so it is in no index")
    place = parse_asked(text)
    if not place.names and not place.first:
        names = tuple(filter(None, split_name(text))) or (text,)
        place = replace(place, names=names)  # Such as the title of a section.
    allowed = allowed_paths(indexes, within)
    resolver = _Resolver(indexes, allowed, text, place, here)
    spots = resolver.definitions(members=members) if only_definitions else resolver.places(code=code)
    if kept := [spot for spot in spots if allowed[spot.root](spot.path)]:
        return resolver.functions(kept) if place.inside else kept
    raise IndexNotFoundError(f"{text[:_SHOWN]!r} is outside of {', '.join(map(str, within))}")


def allowed_paths(
    indexes: Sequence[IndexReader], within: Sequence[Path | str]
) -> dict[str, Callable[[str], bool]]:
    """Return for each root what says whether a path is in one of some folders."""
    return {index.manifest.root: path_filter(Filters(within=within), index.root) for index in indexes}


class _Resolver:
    """Finds what a text names in some indexes."""

    def __init__(
        self,
        indexes: Sequence[IndexReader],
        allowed: Mapping[str, Callable[[str], bool]],
        text: str,
        place: Asked,
        here: Path | str | None,
    ) -> None:
        self._allowed, self._text, self._place, self._here = allowed, text[:_SHOWN], place, here
        self._indexes = {index.manifest.root: index for index in indexes}
        self._snapshot = Snapshot(indexes)

    def places(self, *, code: bool) -> list[Spot]:
        """Return the files, folders, lines and definitions."""
        files = self._files()
        if self._place.first or (self._place.inside and files):
            return self._in_files(files)
        if spots := files or (self._named() if code else []) or self._folders() or self._named():
            return spots
        raise self._missing(f"no file, folder or definition is called {self._text!r}", "search with a query")

    def definitions(self, *, members: bool) -> list[Spot]:
        """Return the definitions."""
        if self._place.first or self._place.inside or not (spots := self._named()):
            spots = self.places(code=True)
        if members and self._place.first:
            spots = [_member_at(spot, self._place.first) for spot in spots]
        inner = (_at_line(spot, spot.lines[0]) if spot.lines else spot for spot in spots)
        if definitions := [spot for spot in inner if spot.row]:
            return definitions
        if self._place.first:
            raise IndexNotFoundError(f"{self._text} is in no definition", "give a line inside one")
        raise ConfigError(f"{self._text} is no function or class", "give FILE:LINE or a name")

    def _in_files(self, files: Sequence[Spot]) -> list[Spot]:
        place, path = self._place, self._place.path[:_SHOWN]
        first, last = place.first, place.last
        if last and last < first:
            raise ConfigError(f"lines {first}-{last} end before they begin", f"give {last}-{first}")
        if not files:
            raise self._missing(f"{path} is not in the index", "give the path of a file in it")
        if first:
            return [replace(file, lines=(first, last)) if last else _at_line(file, first) for file in files]
        if spots := [spot for file in files for spot in self._spots(self._inside(file), place.inside)]:
            return spots
        places = {(spot.root, spot.path) for spot in files}
        if spots := [spot for spot in self._members(place.inside) if (spot.root, spot.path) in places]:
            return spots
        name = self._text.partition("::")[2]
        near = did_you_mean(near_names(self._snapshot, place.inside[-1]))
        raise IndexNotFoundError(f"{path} has no definition {name!r}", near or "see its outline")

    def _inside(self, spot: Spot) -> dict[int, float]:
        assert spot.file is not None
        base = next(base for base, segment in self._snapshot.based_segments() if segment is spot.segment)
        first = base + spot.file.first_doc
        return documents_inside(self._snapshot, range(first, first + spot.file.doc_count), self._place)

    def _named(self) -> list[Spot]:
        names = self._place.names
        spots = self._spots(documents_named(self._snapshot, self._place), names)
        if any(spot.row and spot.row.name == names[-1] for spot in spots):
            return spots
        members = self._members(names)
        exact = [spot for spot in members if spot.row and spot.row.name == names[-1]]
        return exact or spots or members

    def _members(self, names: Sequence[str]) -> list[Spot]:
        return self._of_refs(members_among(self._snapshot, names))

    def functions(self, spots: Sequence[Spot]) -> list[Spot]:
        """Return places with the functions that prototypes among them declare in place of these."""
        names = {spot.row.name for spot in spots if spot.row and spot.row.kind == PROTOTYPE}
        named = [ref for name in names for ref in exactly_named(self._snapshot, name)]
        bodies = {
            spot: self._of_refs(bodies_of(ref, named)) for ref in named for spot in self._of_refs([ref])
        }
        return list(dict.fromkeys(of for spot in spots for of in bodies.get(spot) or [spot]))

    def _spots(self, likeness: Mapping[int, float], names: Sequence[str]) -> list[Spot]:
        return self._of_refs(definitions_among(self._snapshot, most_alike(likeness), names))

    def _of_refs(self, refs: Sequence[Ref]) -> list[Spot]:
        return [
            Spot(self._indexes[ref.root], ref.path, cast(SourceFiles, ref.source).segment, ref.file, ref.row)
            for ref in refs
        ]

    def _files(self) -> list[Spot]:
        """Return the files with this path; if there are none, those whose path ends in it."""
        place = self._place
        files = [
            Spot(index, path, *indexed)
            for index in self._indexes.values()
            for path in paths_in(index, place.path, self._here)
            if (indexed := live_file(index, path))
        ]
        if not files and not os.path.isabs(place.path) and place.ending:
            files = [
                Spot(self._indexes[segment.root], file.path, segment, file)
                for segment, file, _ in self._snapshot.files_at(place.ending)
            ]
        return _ordered(files)

    def _folders(self) -> list[Spot]:
        """Return the folders with this path; if there are none, those whose path ends in it."""
        spots: list[Spot] = []
        path, end = self._place.path, f"/{self._place.ending.rstrip('/')}"
        indexes = self._indexes.values() if not self._place.inside else ()
        for index in indexes:
            here = (below for base in (self._here, None) for below in paths_in(index, path, base))
            spots += [Spot(index, below) for below in here if _has_folder(index, below)][:1]
        if not spots and not os.path.isabs(path):
            ending = ((index, folder) for index in indexes for folder in _folders_of(index))
            spots = [Spot(index, folder) for index, folder in ending if f"/{folder}".endswith(end)]
        return _ordered(spots)

    def _missing(self, problem: str, cure: str) -> IndexNotFoundError:
        """Return an error; its cure differs if the path is a file that is not indexed."""
        place = self._place
        for root, index in self._indexes.items():
            for path in paths_in(index, place.path, self._here) if index.manifest.has_sources else ():
                if self._allowed[root](path) and os.path.isfile(index.root / path):
                    return IndexNotFoundError("not indexed", _cure(index, path), about=path[:_SHOWN])
        path = place.path.rstrip("/")
        is_path = "/" in path or language_of_path(path) or not place.names
        near = near_names(self._snapshot, path) if is_path else self._near(place.names)
        return IndexNotFoundError(problem, did_you_mean(near) or cure)

    def _near(self, names: Sequence[str]) -> list[str]:
        """Return names like the last one; if others stand before it, the most alike qualified names."""
        near = near_names(self._snapshot, names[-1])
        if len(names) == 1:
            return near
        whole = {ref.row.qualified_name for name in near for ref in exactly_named(self._snapshot, name)}

        def likeness(name: str) -> tuple[bool, float, str]:
            parts = split_name(name)
            share = SequenceMatcher(None, ".".join(names), ".".join(parts)).ratio()
            return parts[-1] != names[-1], -share, name

        return sorted(whole, key=likeness)[:_NEAR] or near


def _cure(index: IndexReader, path: str) -> str:
    """Say how to index a file that a walk leaves out."""
    from codesearch.parsing.walker import HIDDEN, WORK_TREE, why_left_out

    root, walk = index.root, index.manifest.walk_config()
    way = [root / path, *(root / path).parents]
    for part in reversed(way[: way.index(root)]):
        if reason := why_left_out(root, part, walk):
            if reason == WORK_TREE:
                return f"{part} is another work tree: search there"
            name = f"!/{part.relative_to(root).as_posix()}{'/' * part.is_dir()}"
            kept = [word for pattern in walk.exclude for word in ("--exclude", pattern)]
            options = ["--hidden"] if reason == HIDDEN else [*kept, "--exclude", name]
            return f"it is {'hidden' if reason == HIDDEN else 'ignored'}: run {index_command(root, *options)}"
    return _READ_YOURSELF


def definitions_among(snapshot: Snapshot, doc_ids: Collection[int], names: Sequence[str]) -> list[Ref]:
    """Return the definitions that some documents with a name are; those of tests and generated files come last."""
    inner = inner_folders(snapshot.roots)
    refs = [ref for ref in snapshot.refs(list(doc_ids)) if not ref.path.startswith(inner[ref.root])]
    return distinct(refs, names)


def distinct(refs: Sequence[Ref], names: Sequence[str]) -> list[Ref]:
    """Return those that a name means.

    The case of the name decides if some definitions have it. Sections, settings and modules only count if there is
    nothing else. `Stack` is the class and not its constructor of the same name, which is `Stack.Stack`.
    """
    *qualifiers, name = names
    refs = [ref for ref in refs if ref.row.name == name] or refs
    refs = [ref for ref in refs if ref.row.kind not in TEXT_KINDS] or refs
    own = [ref for ref in refs if ref.owner == ref.row.name and ref.row.kind == "method"]
    constructors = [ref for ref in own if ref.file.language != "go"]
    if constructors and qualifiers[-1:] == [name]:
        refs = constructors
    else:
        types = {(ref.root, ref.path) for ref in refs if ref.row.kind != "method"}
        refs = [ref for ref in refs if ref not in constructors or (ref.root, ref.path) not in types]
    return sorted(refs, key=place_in_order)


def members_among(snapshot: Snapshot, names: Sequence[str]) -> list[Ref]:
    """Return the members without a document that names mean, as in `definitions_among`; they have no doc_id."""
    inner = inner_folders(snapshot.roots)
    refs = [
        Ref(-1 - number, SourceFiles(segment), file, row)
        for number, (segment, file, row) in enumerate(members_named(snapshot, names))
    ]
    kept = [ref for ref in refs if not ref.path.startswith(inner[ref.root])]
    return sorted(kept, key=place_in_order)


def exactly_named(snapshot: Snapshot, name: str) -> list[Ref]:
    """Return the definitions and the members with a name in this spelling."""
    doc_ids = [doc_id for doc_id, exact, _ in snapshot.named(name) if exact == name]
    members = [ref for ref in members_among(snapshot, (name,)) if ref.row.name == name]
    return definitions_among(snapshot, doc_ids, (name,)) + members


def bodies_of(prototype: Ref, refs: Iterable[Ref]) -> list[Ref]:
    """Return those of some definitions of its name that a prototype declares."""
    if prototype.row.kind != PROTOTYPE:
        return []
    return [ref for ref in refs if ref.row.kind in FUNCTIONS and ref.owner == prototype.owner]


def place_in_order(ref: Ref) -> tuple[bool, str, str, int]:
    """Return what definitions are sorted by: those of source code come first."""
    return ref.row.flags & OF_FILE > 0, ref.path, ref.root, ref.row.start_line


def definitions_like(
    indexes: Sequence[IndexReader], text: str, within: Sequence[Path | str], most: int
) -> list[Ref]:
    """Return definitions whose names a text is a part of, or is like: some with its name, then one of each name."""
    snapshot, allowed = Snapshot(indexes), allowed_paths(indexes, within)
    documents = allowed_documents(Filters(within=tuple(within)), snapshot)
    *qualifiers, last = parse_asked(text).names or (text.strip(),)
    exact, others = list[Ref](), list[list[Ref]]()
    owner = qualifiers[-1].lower() if qualifiers else ""
    for name in near_names(snapshot, last, most, documents):
        refs = exactly_named(snapshot, name)
        refs = [ref for ref in refs if owner in ref.qualifier.lower() and allowed[ref.root](ref.path)]
        if name.lower() == last.lower():
            exact += refs
        else:
            others.append(refs)
    in_turn = (ref for turn in zip_longest(*others) for ref in turn if ref)
    return list(islice(chain(exact[: most // 2], in_turn, exact[most // 2 :]), most))


def only_spot(text: str, spots: Sequence[Spot]) -> Spot:
    """Return the only place that a text names."""
    if len(spots) == 1:
        return spots[0]
    listed = ", ".join(
        f"{spot.path}:{spot.first_line}" + (f" ({spot.row.qualified_name})" if spot.row else "")
        for spot in spots[:_LISTED]
    )
    more = f" and {len(spots) - _LISTED} more" if len(spots) > _LISTED else ""
    raise ConfigError(f"{text} names {len(spots)} places", f"give one of them: {listed}{more}")


def find_folders(indexes: Sequence[IndexReader], folders: Sequence[Path]) -> list[Spot]:
    """Return those of some folders that the indexes have."""
    return [
        Spot(index, path)
        for folder in folders
        for index in indexes
        for path in paths_in(index, str(folder))[:1]
        if _has_folder(index, path)
    ]


def find_file(indexes: Sequence[IndexReader], path: str) -> Spot:
    """Return the file with a path relative to the root, exactly as an index has it."""
    for index in indexes:
        if indexed := live_file(index, path):
            return Spot(index, path, *indexed)
    near = did_you_mean(near_names(Snapshot(indexes), path))
    problem = f"{path[:_SHOWN]} is not in the index of {indexes[0].manifest.root}"
    raise IndexNotFoundError(problem, near or "give a path of a hit")


def _at_line(spot: Spot, line: int) -> Spot:
    """Return the innermost definition at a line, or the line if it is in none."""
    rows = spot.rows()
    at = innermost(rows, line)
    return replace(spot, lines=(line, line)) if at is None else replace(spot, row=rows[at], lines=None)


def _member_at(spot: Spot, line: int) -> Spot:
    """Return the member at a line, unless a definition begins there or inside of it; else the place itself."""
    rows = [row for row in spot.rows_and_members() if row.kind not in TEXT_KINDS and row.start_line <= line]
    rows = [row for row in rows if row.last_line >= line]
    nearest = [row for row in rows if row.start_line == max(other.start_line for other in rows)]
    if not nearest or any(row.kind not in MEMBER_KINDS for row in nearest):
        return spot
    return replace(spot, row=nearest[0], lines=None)


def _ordered(spots: Iterable[Spot]) -> list[Spot]:
    return sorted(dict.fromkeys(spots), key=lambda spot: (spot.path, spot.root))


def _has_folder(index: IndexReader, folder: str) -> bool:
    return not folder or any(live_paths(index, folder))


def _folders_of(index: IndexReader) -> set[str]:
    """Return the folders of all live files of an index, relative to the root; the root is ""."""
    folders = {""}
    for path, *_ in live_paths(index):
        folder = path.rpartition("/")[0]
        while folder not in folders:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    return folders
