"""An index -> groups of functions that do the same.

Functions of the same shape come from the numbers that the index stores. For functions that do the same in other
words, the stored vectors propose the nearest functions of the same language, and the code of both is compared.
"""

from __future__ import annotations

import math
import os
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from codesearch.duplicates import MEANING, RENAMED, SAME, TEXT, Function, Group, Match
from codesearch.errors import ConfigError
from codesearch.parsing.flags import is_beside
from codesearch.search.changes import changed_lines
from codesearch.search.filters import slashes
from codesearch.search.request import Filters, Limits
from codesearch.store.snapshot import Snapshot
from codesearch.store.sorting import best_positions
from codesearch.store.source import Ref
from codesearch.types import BUILT, GENERATED, KINDS, NESTED, STUB, TEST, VENDORED

DocIds = NDArray[np.int64]
_FUNCTIONS = [KINDS.index("function"), KINDS.index("method")]
_OTHER_CODE = GENERATED | TEST | VENDORED | BUILT
_NEAREST = 10  # Candidates for each function
_LEAST_COSINE = 0.5
_BLOCK = 512  # Functions whose cosines with all others are in memory at a time
_CALL = re.compile(r"(\w+)\s*\(")
_COSINE, _CALLS, _BIAS = 5.9, 8.3, -6.9
"""A logistic regression over the pairs of `benchmarks/duplicates` with even numbers. Words, operators and sizes added
nothing on the pairs with odd numbers."""
IGNORE = "codesearch: ignore-duplicate"
"""A comment with this text in a function, or in the line above it, keeps it out."""


def find_duplicates(
    snapshot: Snapshot,
    limits: Limits,
    allowed: NDArray[np.bool_] | None = None,
    changed: Collection[int] | None = None,
) -> tuple[list[Group], int, dict[str, int]]:
    """Return groups of functions that do the same, and how many were compared, and left out for each reason.

    Only the documents in `allowed` are compared, a bool [size] of the snapshot, and only `changed` ones are looked for;
    None stands for all.
    """
    doc_ids, left_out = _functions(snapshot, limits, allowed)
    search = _Search(snapshot, doc_ids, limits.min_score)
    groups = search.all_groups() if changed is None else search.groups_of(changed)
    return groups, len(doc_ids), left_out


def changed_documents(
    snapshot: Snapshot, filters: Filters, revision: str
) -> tuple[list[int], dict[str, ConfigError]]:
    """Return the documents with lines that differ from a revision, and an error for each root without an answer."""
    changed, failed = changed_lines(snapshot, filters, revision)
    doc_ids = []
    for base, segment in snapshot.based_segments():
        for file_id, file in enumerate(segment.files):
            path = slashes(os.path.join(segment.root, file.path))
            if path in changed and file_id not in segment.dead_files:
                lines = changed[path]
                doc_ids += [
                    base + file.first_doc + number
                    for number, row in enumerate(segment.store.document_rows(file))
                    if lines is None
                    or any(row.start_line <= last and first <= row.end_line for first, last in lines)
                ]
    return doc_ids, failed


def _functions(
    snapshot: Snapshot, limits: Limits, allowed: NDArray[np.bool_] | None
) -> tuple[DocIds, dict[str, int]]:
    chosen = np.ones(snapshot.size, dtype=bool) if allowed is None else allowed.copy()
    if snapshot.dead is not None:
        chosen &= ~snapshot.dead
    doc_ids = np.flatnonzero(chosen)
    rows = snapshot.rows(doc_ids)
    is_whole = np.isin(rows["kind"], _FUNCTIONS) & ((rows["flags"] & STUB) == 0)
    functions: DocIds = doc_ids[is_whole]
    is_other = np.zeros(len(functions), dtype=bool)
    if not limits.all_code:
        is_other = (rows["flags"][is_whole] & _OTHER_CODE) > 0
        is_other |= np.fromiter(map(is_beside, snapshot.paths_of(functions)), bool, len(functions))
    is_short = snapshot.line_counts(functions) < limits.min_lines
    left_out = {"other code": int(is_other.sum()), "short": int((is_short & ~is_other).sum())}
    functions = functions[~is_other & ~is_short]
    return functions[np.argsort(snapshot.places(functions))], left_out


class _Search:
    """Finds matches among some functions; all positions are those in `doc_ids`, which are in the order of paths."""

    def __init__(self, snapshot: Snapshot, doc_ids: DocIds, min_score: float) -> None:
        self._snapshot, self._doc_ids, self._min_score = snapshot, doc_ids, min_score
        self._read: dict[int, _Read | None] = {}
        self._same_shape: list[list[int]] = []
        """For each position all positions of its shape, itself included; a list that they share."""
        by_shape: dict[int, list[int]] = defaultdict(list)
        for position, shape in enumerate(snapshot.rows(doc_ids)["shape_key"].tolist()):
            of_shape = by_shape[shape] if shape else []
            of_shape.append(position)
            self._same_shape.append(of_shape)

    def groups_of(self, changed: Collection[int]) -> list[Group]:
        """Return a group for each changed function with a match; two changed functions match only once."""
        positions = np.flatnonzero(np.isin(self._doc_ids, np.fromiter(changed, np.int64))).tolist()
        near = self._scored(self._near(positions))
        groups: list[Group] = []
        shown: set[int] = set()
        for position in positions:
            others = dict.fromkeys(self._same_shape[position], 1.0) | near[position]
            if group := self._group(position, others, shown):
                groups.append(group)
            shown.add(position)
        return groups

    def all_groups(self) -> list[Group]:
        """Return groups of which no two share a function, those with most lines to save first.

        The function with most matches takes all of them, then the function with most of those that are left, and so on.
        Of several, it is the one whose text most others have.
        """
        near = self._scored(self._near(range(len(self._doc_ids))))
        others = {
            position: dict.fromkeys(same, 1.0) | near[position]
            for position, same in enumerate(self._same_shape)
            if len(same) > 1 or near[position]
        }
        groups: list[Group] = []
        taken: set[int] = set()
        self._load(others)
        text_of = {position: read.text for position in others if (read := self._read[position])}
        equal = Counter(text_of.values())

        def rank(position: int) -> tuple[int, int, int]:
            return -len(others[position]), -equal[text_of.get(position, "")], position

        for position in sorted(others, key=rank):
            if position not in taken:
                if group := self._group(position, others[position], taken):
                    groups.append(group)
                taken.update(others[position], [position])
        return sorted(_without_inner(groups), key=lambda group: -group.extra_lines)

    def _near(self, positions: Sequence[int]) -> Iterator[tuple[int, int, float]]:
        """Yield (position, other position, cosine) for the nearest functions of the same language.

        Functions inside of functions are left out: they are similar to what is around them.
        """
        is_inner = (self._snapshot.rows(self._doc_ids)["flags"] & NESTED) > 0
        languages = self._snapshot.languages(self._doc_ids)
        for language in sorted({languages[position] for position in positions}):
            members = np.flatnonzero((np.array(languages) == language) & ~is_inner)
            vectors = self._snapshot.vectors(self._doc_ids[members])
            asked = np.flatnonzero(np.isin(members, positions))
            for start in range(0, len(asked), _BLOCK):
                rows = asked[start : start + _BLOCK]
                cosines = vectors[rows] @ vectors.T
                cosines[np.arange(len(rows)), rows] = 0
                for row, own in zip(rows.tolist(), cosines, strict=True):
                    near = np.flatnonzero(own >= _LEAST_COSINE)
                    for column in near[best_positions(own[near], _NEAREST)].tolist():
                        yield int(members[row]), int(members[column]), float(own[column])

    def _scored(self, pairs: Iterable[tuple[int, int, float]]) -> dict[int, dict[int, float]]:
        """Return position -> other position -> score, in both directions, for pairs of different shapes."""
        cosines = {
            (min(position, other), max(position, other)): cosine
            for position, other, cosine in pairs
            if self._same_shape[position] is not self._same_shape[other]
        }
        self._load(chain.from_iterable(cosines))
        scored: dict[int, dict[int, float]] = defaultdict(dict)
        for (position, other), cosine in cosines.items():
            first, second = self._read[position], self._read[other]
            if first and second and not first.function.overlaps(second.function):
                score = _probability(cosine, first.calls, second.calls)
                if score >= self._min_score:
                    scored[position][other] = scored[other][position] = score
        return scored

    def _load(self, positions: Iterable[int]) -> None:
        """Read the code of functions; one that is gone, or that a comment keeps out, is None."""
        missing = sorted(position for position in set(positions) if position not in self._read)
        for position, ref in zip(missing, self._snapshot.refs(self._doc_ids[missing].tolist()), strict=True):
            excerpt = ref.code(context=1)
            is_kept = excerpt and not any(IGNORE in text for text in (*excerpt.before, excerpt.code))
            self._read[position] = _Read(ref, excerpt.code) if excerpt and is_kept else None

    def _group(self, position: int, scores: Mapping[int, float], without: Set[int]) -> Group | None:
        self._load([position, *scores])
        if (leader := self._read[position]) is None:
            return None
        matches = []
        for other, score in scores.items():
            if other != position and other not in without and (read := self._read[other]):
                is_same_shape = self._same_shape[other] is self._same_shape[position]
                same = MEANING if not is_same_shape else TEXT if read.text == leader.text else RENAMED
                matches.append(Match(read.function, same, round(score, 3)))
        if not matches:
            return None
        matches.sort(key=lambda match: (SAME.index(match.same), -match.score, match.function))
        return Group(leader.function, tuple(matches))


class _Read:
    """A function whose code was read."""

    def __init__(self, ref: Ref, code: str) -> None:
        row, language = ref.row, ref.file.language
        self.function = Function(
            ref.root, ref.path, language, row.qualified_name, row.start_line, row.end_line
        )
        self.text = "".join(code.split())
        self.calls = frozenset(_CALL.findall(code))
        """The names before an opening bracket: what it calls, and its own name."""


def _probability(cosine: float, calls: Set[str], other_calls: Set[str]) -> float:
    """Return the estimated probability that two functions do the same."""
    shared = len(calls & other_calls) / max(1, len(calls | other_calls))
    return 1 / (1 + math.exp(-(_COSINE * cosine + _CALLS * shared + _BIAS)))


def _without_inner(groups: Sequence[Group]) -> Iterator[Group]:
    """Yield the groups without those whose functions are all inside of functions of one other group."""
    by_file: dict[tuple[str, str], list[tuple[Function, int]]] = defaultdict(list)
    for number, group in enumerate(groups):
        for function in group.functions:
            by_file[function.root, function.path].append((function, number))
    for number, group in enumerate(groups):
        around = (
            {
                other
                for outer, other in by_file[inner.root, inner.path]
                if other != number
                and outer.start_line <= inner.start_line
                and inner.end_line <= outer.end_line
            }
            for inner in group.functions
        )
        if not set.intersection(*around):
            yield group
