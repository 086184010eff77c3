"""What a text names -> the documents of it; a line -> the innermost definition; documents of each kind.

Every surface resolves names and paths here, so that a query, `read` and `usages` agree about them.
"""

from __future__ import annotations

import os
import posixpath
import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import accumulate, islice, pairwise, zip_longest
from operator import attrgetter
from pathlib import Path, PurePosixPath
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from codesearch.config import RankConfig
from codesearch.languages import language_of_path
from codesearch.parsing.identifiers import split_identifier
from codesearch.search.forms import Asked, spellings, split_name
from codesearch.search.lexical import LexicalScorer
from codesearch.store.database import DocumentRow, FileRecord
from codesearch.store.segments import IndexReader, SegmentReader
from codesearch.store.snapshot import Snapshot
from codesearch.text.terms import terms_of
from codesearch.types import FOLDER_FILES, KINDS, OTHER_SPELLING, Definition

SPELLED_OUT = 0.2
"""The likeness if the words of a text make a name, or if what is around the name differs."""
_start_line = attrgetter("start_line")
_MODULE = KINDS.index("module")
_MOST_AT_PATH = 200
_MOST_MEMBERS = 10
T = TypeVar("T")
_MOST_ALIKE, _ALIKE, _MISSPELT, _MOST_NEAR = 20, 0.7, 0.9, 3
"""Names that are compared with one that nothing has, how alike they must be, and how many are proposed."""
_OF_NAMES = RankConfig(field_weights=(1.0, 0.0, 0.0, 0.0, 0.0))
_Named = Mapping[int, tuple[str, str]]
"""doc_id -> name and qualified name."""


def paths_in(index: IndexReader, path: str, base: Path | str | None = None) -> list[str]:
    """Return what a path relative to `base`, or to the root if that is None, may be below the root of an index.

    An index without sources knows its files as "name/path", after the folders of any machine, or "path".
    """
    root = index.manifest.root
    if not index.manifest.has_sources:
        typed = f"/{posixpath.normpath(path.replace(os.sep, '/')).strip('/')}/".replace("/./", "/")
        starts = (match.end() for match in re.finditer(f"/{re.escape(root)}(?=/)", typed))
        return list(dict.fromkeys(typed[start:].strip("/") for start in (*starts, 0)))
    whole = os.path.normpath(os.path.join(base or root, os.path.expanduser(path)))
    return [
        spelling.removeprefix(root).replace(os.sep, "/").strip("/")
        for spelling in dict.fromkeys((whole, os.path.realpath(whole)))
        if f"{spelling}{os.sep}".startswith(os.path.join(root, ""))
    ]


def count_kinds(index: IndexReader) -> dict[str, int]:
    """Count the live documents of each kind."""
    counts = np.zeros(len(KINDS), dtype=np.int64)
    for segment in index.segments:
        live = np.delete(segment.rows["kind"], segment.dead)
        counts += np.bincount(live, minlength=len(KINDS))
    return {kind: int(count) for kind, count in zip(KINDS, counts, strict=True) if count}


def live_file(index: IndexReader, path: str) -> tuple[SegmentReader, FileRecord] | None:
    """Return the segment and the record of a live file; None if the index has no such file."""
    for segment in index.segments:
        for file_id, file in segment.store.numbered_files([path]):
            if file_id not in segment.dead_files:
                return segment, file
    return None


def live_paths(index: IndexReader | Snapshot, folder: str = "") -> Iterator[tuple[str, SegmentReader, int]]:
    """Yield (path, segment, file_id) of each live file in a folder and its folders."""
    for segment in index.segments:
        for path, file_id in segment.store.paths_below(folder):
            if file_id not in segment.dead_files:
                yield path, segment, file_id


def innermost(definitions: Sequence[DocumentRow | Definition], line: int) -> int | None:
    """Return the position of the innermost definition around a line; they are in the order of the source."""
    begun = bisect_right(definitions, line, key=_start_line)
    return next((at for at in reversed(range(begun)) if definitions[at].last_line >= line), None)


def nearest(definitions: Sequence[DocumentRow | Definition], line: int) -> int | None:
    """Return the position of the innermost definition around a line, else of the next one, else of the first one."""
    if not definitions or (inner := innermost(definitions, line)) is not None:
        return inner if definitions else None
    coming = bisect_right(definitions, line, key=_start_line)
    # Of those that begin at the same line, the last one is the innermost.
    return innermost(definitions, definitions[coming].start_line) if coming < len(definitions) else 0


def documents_named(
    documents: Snapshot, asked: Asked, allowed: NDArray[np.bool_] | None = None
) -> dict[int, float]:
    """Return the documents that a text names, each with the likeness of its name.

    Names around them and kinds in the text decide between documents with the same name.
    """
    if not asked.names:
        return {}
    named = with_names(documents, spellings(asked.names[-1]), allowed)
    return _likeness(documents, named, asked.names, asked.kinds)


def documents_inside(documents: Snapshot, doc_ids: Sequence[int], asked: Asked) -> dict[int, float]:
    """Return those of the documents of a file that the names behind PATH:: name, each with its likeness."""
    if not asked.inside:
        return {}
    wanted = {spelling.lower() for spelling in spellings(asked.inside[-1])}
    named = {
        ref.doc_id: (ref.row.name, ref.row.qualified_name)
        for ref in documents.refs(doc_ids)
        if ref.row.name.lower() in wanted
    }
    return _likeness(documents, named, asked.inside)


def most_alike(likeness: Mapping[int, float]) -> list[int]:
    """Return the documents whose names are most like a text; none if it does not name them."""
    best = max((OTHER_SPELLING, *likeness.values()))
    return [doc_id for doc_id, value in likeness.items() if value == best]


def members_named(
    documents: Snapshot, names: Sequence[str]
) -> list[tuple[SegmentReader, FileRecord, DocumentRow]]:
    """Return (segment, file, member) of the members without a document that names mean; those in this case first."""
    if not names:
        return []
    *qualifiers, name = names
    each = (member for spelling in spellings(name) for member in documents.members_named(spelling))
    every = list(dict.fromkeys(each))
    named = [member for member in every if member[2].name == name] or every
    return _within(named, qualifiers, lambda member: _around(member[1].path, member[2].qualified_name))


def types_of_members(
    documents: Snapshot, asked: Asked, allowed: NDArray[np.bool_] | None
) -> dict[int, float]:
    """Return the documents around the members that a text names, if these are few, each with a likeness.

    One word, such as `zip`, is also a question.
    """
    if not asked.names or len(asked.names) == 1 == len(split_identifier(asked.names[0])):
        return {}
    bases = {id(segment): base for base, segment in documents.based_segments()}
    doc_ids = list[int]()
    for segment, file, row in members_named(documents, asked.names):
        first = bases[id(segment)] + file.first_doc
        if allowed is None or allowed[first : first + file.doc_count].any():
            if len(doc_ids) == _MOST_MEMBERS:
                return {}
            at = innermost(segment.store.document_rows(file), row.start_line)
            doc_ids.append(-1 if at is None else first + at)
    return {
        doc_id: OTHER_SPELLING for doc_id in doc_ids if doc_id >= 0 and (allowed is None or allowed[doc_id])
    }


def documents_misspelt(
    documents: Snapshot, asked: Asked, allowed: NDArray[np.bool_] | None
) -> dict[int, float]:
    """Return the documents whose names differ by few letters from an identifier of several words, with a likeness."""
    if len(asked.names) != 1 or len(split_identifier(asked.names[0])) < 2:
        return {}
    name = asked.names[0].lower()
    near = [
        exact
        for exact in near_names(documents, asked.names[0], allowed=allowed)
        if SequenceMatcher(None, name, exact.lower()).ratio() >= _MISSPELT
    ]
    return dict.fromkeys(with_names(documents, near, allowed), SPELLED_OUT)


def near_names(
    documents: Snapshot, name: str, most: int = _MOST_NEAR, allowed: NDArray[np.bool_] | None = None
) -> list[str]:
    """Return up to `most` names of live and allowed definitions that are like a text, the nearest first.

    First come names that begin with the text or differ by few letters, then those that it is another part of, then
    those that begin with the same letter or share words. For a path, they are paths with as many parts.
    """
    wanted, terms = name.lower(), terms_of(name)
    typed: dict[str, float] = {}
    if "/" in name or language_of_path(name):
        first = -len(name.strip("/").split("/"))
        paths = {path for path, *_ in live_paths(documents)}
        paths |= set(map(posixpath.dirname, paths))
        names = {"/".join(path.split("/")[first:]) for path in paths}
    else:
        names = set[str]()
        for base, segment in documents.based_segments():
            names |= segment.store.names_like(name, _files_with(segment, base, allowed))
        scores, _, _ = LexicalScorer(documents, _OF_NAMES).scores(sorted(terms))
        if allowed is not None:
            scores = np.where(allowed, scores, 0)
        doc_ids = documents.best(np.flatnonzero(scores), scores[scores > 0], _MOST_ALIKE)
        names.update(ref.row.name for ref in documents.refs(doc_ids.tolist()))
        # A name with spaces is that of a test, or a line; the one of a destructor is that of its class.
        names = {exact for exact in names if {" ", "~"} & {*exact} <= {*name}}
        typed = {exact: share for exact in names if (share := typed_share(name, exact))}
        names.difference_update(typed)
    pairs = set(pairwise(wanted))
    shared = {
        exact: len(pairs.intersection(pairwise(exact.lower()))) / (len(wanted) + len(exact))
        for exact in names
    }
    likeness = {
        exact: 1.0 if terms_of(exact) == terms else SequenceMatcher(None, _stem(name), _stem(exact)).ratio()
        for exact in sorted(shared, key=lambda exact: (-shared[exact], exact))[:_MOST_ALIKE]
    }
    near = sorted(likeness, key=lambda exact: (-likeness[exact], -shared[exact], exact))
    near = [exact for exact in near if likeness[exact] >= _ALIKE]
    parts = sorted(typed, key=lambda exact: (-typed[exact], not exact.startswith(name), exact))
    best = [exact for exact in parts if typed[exact] >= 1]
    best += [exact for exact in near if likeness[exact] >= _MISSPELT]
    return list(dict.fromkeys([*best, *parts, *near]))[:most]


def _files_with(
    segment: SegmentReader, base: int, allowed: NDArray[np.bool_] | None
) -> Collection[int] | None:
    """Return the live files of a segment with allowed documents; None if all files are such."""
    if allowed is None and not segment.dead_files:
        return None
    if allowed is None:
        return set(range(len(segment.files))).difference(segment.dead_files)
    here = allowed[base : base + len(segment)]
    return set(segment.rows["file_id"][here].tolist()).difference(segment.dead_files)


def typed_share(text: str, name: str) -> float:
    """Return how much of a name was typed, more if it is the beginning; 0 if the text is no part of the name.

    The letters may be beginnings of several words of the name. Case and underscores do not matter much.

    >>> typed_share("set_act", "set_action"), typed_share("pushIt", "push_item")
    (2.7, 1.75)
    >>> typed_share("get_cer", "getServerCertificate"), typed_share("asdfqwer", "as_default_query_writer")
    (0.3, 0.0)
    """
    letters, rest = "".join(split_identifier(text)), iter(name.lower())
    if not letters or not all(letter in rest for letter in letters):
        return 0.0
    words = split_identifier(name)
    whole = "".join(words)
    share = len(text) / len(name)
    if name.lower().startswith(text.lower()):
        return 2 + share
    if whole.startswith(letters):
        return 1 + len(letters) / len(whole)
    starts = list(accumulate(map(len, words), initial=0))[:-1]
    ends = {at + 1 for at in starts if whole.startswith(letters[0], at)}
    for letter in letters[1:]:
        first = min(ends, default=len(whole))
        ends = {
            at + 1 for at in {*ends, *(at for at in starts if at >= first)} if whole.startswith(letter, at)
        }
    return len(letters) / len(whole) * (1.0 if whole[0] == letters[0] else 0.5) if ends else 0.0


def _stem(path: str) -> str:
    """Return the last part of a path in lower case, without its ending; a name has only this part."""
    return posixpath.splitext(posixpath.basename(path.rstrip("/")))[0].lower()


def documents_at(documents: Snapshot, asked: Asked, allowed: NDArray[np.bool_] | None) -> dict[int, float]:
    """Return the documents of the files whose path a query is, each with a value that is 1 for the first one.

    The first documents of all files come first, then the second ones. If the query has a line or a name, the innermost
    document around it, or with it, is the first of its file.
    """
    if not asked.file:
        return {}
    files = []
    for doc_ids in documents.at_path(asked.file):
        passing = [doc_id for doc_id in doc_ids if allowed is None or allowed[doc_id]]
        first = most_alike(documents_inside(documents, passing, asked))
        if asked.first:
            at = nearest([ref.row for ref in documents.refs(passing)], asked.first)
            first = [] if at is None else [passing[at]]
        files.append(list(dict.fromkeys([*first, *passing])))
    in_turn = (doc_id for turn in zip_longest(*files) for doc_id in turn if doc_id is not None)
    return {
        doc_id: 1 - rank / (2 * _MOST_AT_PATH) for rank, doc_id in enumerate(islice(in_turn, _MOST_AT_PATH))
    }


def _likeness(
    documents: Snapshot, named: _Named, names: Sequence[str], kinds: Sequence[Collection[str]] = ()
) -> dict[int, float]:
    *qualifiers, name = names
    likeness = {
        doc_id: 1.0 if name in (exact, exact.lower()) else OTHER_SPELLING
        for doc_id, (exact, _) in named.items()
    }

    def around(doc_id: int) -> list[str]:
        at = np.array([doc_id], np.int64)
        (path,), (kind,) = documents.paths_of(at), documents.rows(at)["kind"]
        return _around(path, named[doc_id][1], is_module=kind == _MODULE)

    if not (within := _within(list(named), qualifiers, around)):  # "app" in "app.route" may be a variable.
        return {doc_id: SPELLED_OUT for doc_id, value in likeness.items() if value == 1.0}
    chosen = _of_kind(documents, within, kinds)
    if chosen is None:  # "class loader" does not name a function `loader`, but "def Parser" names a class.
        chosen = [doc_id for doc_id in within if not name.islower() and likeness[doc_id] == 1.0]
    return {doc_id: likeness[doc_id] for doc_id in chosen}


def with_names(documents: Snapshot, names: Sequence[str], allowed: NDArray[np.bool_] | None) -> _Named:
    """Return the allowed documents with one of some names, ignoring case."""
    return {
        doc_id: (exact, qualified)
        for name in names
        for doc_id, exact, qualified in documents.named(name)
        if allowed is None or allowed[doc_id]
    }


def _of_kind(
    documents: Snapshot, doc_ids: Sequence[int], kinds: Sequence[Collection[str]]
) -> Sequence[int] | None:
    """Return the documents with the first kinds that any has; None if no document has one of these kinds."""
    having = [KINDS[kind] for kind in documents.rows(np.array(doc_ids, np.int64))["kind"].tolist()]
    each = ([at for at, kind in zip(doc_ids, having, strict=True) if kind in wanted] for wanted in kinds)
    return next(filter(None, each), None) if kinds else doc_ids


def _within(named: list[T], qualifiers: Sequence[str], around: Callable[[T], list[str]]) -> list[T]:
    """Return the definitions that the qualifiers are around; `around` returns the names around a definition.

    The qualifiers must be the innermost names around a definition: classes, then file and folders. If they are not for
    any document, names may be missing between and after them: `lang3.StringUtils` is in `lang3/StringUtils.java`. If
    that finds nothing, the outermost qualifier does not count: it may be the name of the whole project.
    """
    if not qualifiers:
        return named
    with_names = [(definition, around(definition)) for definition in named]
    for first in range(len(qualifiers)):
        wanted = [qualifier.lower() for qualifier in qualifiers[first:]]
        innermost_are = [one for one, names in with_names if names[-len(wanted) :] == wanted]
        if chosen := innermost_are or [one for one, names in with_names if _has_in_order(names, wanted)]:
            return chosen
    return []


def _has_in_order(names: Sequence[str], wanted: Sequence[str]) -> bool:
    left = iter(names)
    return all(name in left for name in wanted)


def _around(file: str, qualified: str, *, is_module: bool = False) -> list[str]:
    """List the names around a definition in lower case, outermost first."""
    path = PurePosixPath(file)
    module = path.parent if path.stem in FOLDER_FILES else path.with_suffix("")
    if is_module:
        module = module.parent
    return [name.lower() for name in (*module.parts, *split_name(qualified)[:-1])]
