"""A ranking -> candidates of which no two are copies -> files, if they are asked for.

All copies of a document are one candidate, with the score and signals of the best one. A copy whose name or path is the
query is shown first. Otherwise the copy comes from ordinary source files: build output, vendored code, tests and
generated code are shown only if there is no other copy. Then comes the copy whose path has most words of the query, and
then the one that ranks first.

A question such as "how are sessions stored" asks for a file. The right file often has several definitions that match a
little, and its name says what it is about. So the score of a file is

    best + file_support_weight * sum of .8^i * score of its i-th other definition, i = 1 .. 5
         + file_name_weight * share of the words of its name that are in the query

Its other definitions that are shown are those with the highest

    score + .2 * score of the file

Two words also match if one begins with the other and both have at least four letters ("session" and "sessions").

If the query asks for a conversion and the best definition clearly converts that way, only the best definition of a file
counts: a file full of other conversions is not the answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from codesearch.config import FILE_SHARE, RankConfig
from codesearch.parsing.identifiers import subtokens
from codesearch.search.heuristics import named_tiers, put_first
from codesearch.search.ranking import Candidate, Ranking
from codesearch.store.snapshot import DocIds
from codesearch.store.sorting import best_positions, equal_before
from codesearch.text.terms import terms_of
from codesearch.types import FOLDER_FILES, OF_FILE

_DECAY, _MOST_SUPPORT = 0.8, 5
_OF_DEFINITIONS = ("data", "file_diversity")
"""Penalties that are not part of a file's score: they choose between definitions."""
_MIN_SHARE = 0.35
"""The lowest share of the best score that is shown."""
_PER_FILE = 3
"""Definitions that are shown for each file on average."""
_PREFIX = 4
"""The fewest letters of a word that is the beginning of another."""


def group_copies(query: str, ranking: Ranking, count: int, left_out: Collection[int] = ()) -> list[Candidate]:
    """Return the first `count` candidates, best first; no two of them are copies of each other."""
    order = ranking.order()
    if left_out:
        order = order[~np.isin(ranking.doc_ids[order], list(left_out))]
    keys = ranking.rows["copy_key"][order]
    firsts = np.flatnonzero(equal_before(keys) == 0)[:count]
    return [
        _with_copies(query, ranking, best, order[keys == key])
        for best, key in zip(ranking.candidates(order[firsts]), keys[firsts], strict=True)
    ]


def _with_copies(query: str, ranking: Ranking, best: Candidate, positions: NDArray[np.intp]) -> Candidate:
    """Return a candidate with its copies; the positions are those of all, the best one first."""
    if len(positions) == 1:
        return best
    flags = ranking.rows["flags"][positions] & OF_FILE
    name, path = (-ranking.signals[signal][positions] for signal in ("name", "path"))
    asked, paths = set(subtokens(query)), ranking.documents.paths_of(ranking.doc_ids[positions])
    words = np.array([-len(asked.intersection(subtokens(at))) for at in paths])
    shown, *others = ranking.doc_ids[positions[np.lexsort((words, flags, name, path))]].tolist()
    return replace(best, doc_id=shown, copies=tuple(others))


def rank_files(query: str, ranking: Ranking, config: RankConfig, count: int) -> Ranking:
    """Return the best definition of each file with the score of the file.

    Files that cannot be among the first `count` are left out.
    """
    if ranking.converts_as_asked():
        config = replace(config, file_support_weight=0.0, file_name_weight=0.0)
    order = ranking.order()
    files = ranking.rows["file_id"][order]
    above = equal_before(files)
    firsts = order[above == 0]
    scores = ranking.scores - sum(ranking.parts[name] for name in _OF_DEFINITIONS if name in ranking.parts)
    support = _support(files, above, scores[order])
    without_name = scores[firsts] + config.file_support_weight * support
    if len(firsts) > count:
        edge = without_name[best_positions(without_name, count)].min() - config.file_name_weight
        tiers = named_tiers(ranking)[firsts]  # All of an exact text are in the same one.
        able = np.flatnonzero((without_name >= edge) | (tiers > tiers.min()))
        firsts, support = firsts[able], support[able]
    best = Ranking(
        ranking.documents,
        doc_ids=ranking.doc_ids[firsts],
        rows=ranking.rows[firsts],
        signals={name: values[firsts] for name, values in ranking.signals.items()},
        parts={name: values[firsts] for name, values in ranking.parts.items() if name not in _OF_DEFINITIONS},
        scores=scores[firsts],
    )
    everywhere, named = np.arange(len(firsts)), _shares(query, ranking.documents.paths_of(best.doc_ids))
    best.add_signal("file_support", everywhere, support, reward=config.file_support_weight)
    best.add_signal("file_name", everywhere, named, reward=config.file_name_weight)
    if config.name_weight:
        put_first(best)
    return best


def _support(files: DocIds, above: DocIds, scores: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the support of each file, in the order of its first definition: float32 [number of files]."""
    distinct = files[above == 0]
    by_number = np.argsort(distinct)
    counts = np.flatnonzero((above > 0) & (above <= _MOST_SUPPORT))
    rows = by_number[np.searchsorted(distinct, files[counts], sorter=by_number)]
    weighted = _DECAY ** above[counts] * np.maximum(scores[counts], 0)
    return np.bincount(rows, weighted, len(distinct)).astype(np.float32)


def group_by_file(
    query: str, ranking: Ranking, config: RankConfig, count: int, screen: int = 0, columns: int = 1
) -> list[Candidate]:
    """Return the best definition of the first `count` files, each with other definitions of its file.

    With `screen`, so many rows are filled, and other files follow if one of their definitions has a place. A file has
    a row for its best definition, and one for each `columns` others.
    The other arguments are those of `rank_files`. If files are copies of each other, the candidates may be fewer.
    """
    bests = group_copies(query, rank_files(query, ranking, config, max(count, screen)), max(count, screen))
    shown = np.array([best.doc_id for best in bests], dtype=np.int64)
    file_ids = ranking.rows["file_id"]
    files = file_ids[np.searchsorted(ranking.doc_ids, shown)]
    scores = dict(zip(files.tolist(), (best.score for best in bests), strict=True))
    able = np.flatnonzero(np.isin(file_ids, files))
    of_file = np.array([scores[file] for file in file_ids[able].tolist()])
    values = ranking.scores[able] + FILE_SHARE * of_file
    by_value = np.argsort(-values, kind="stable")
    matching = able[by_value[values[by_value] >= _MIN_SHARE * values.max(initial=0)]]
    order = np.concatenate([np.searchsorted(ranking.doc_ids, shown[:count]), matching])
    distinct = order[equal_before(ranking.rows["copy_key"][order]) == 0]
    chosen = distinct[_with_place(file_ids[distinct], screen or _PER_FILE * count, columns)]
    definitions = list(zip(file_ids[chosen].tolist(), ranking.candidates(chosen), strict=True))
    candidates = []
    for rank, (best, file) in enumerate(zip(bests, files.tolist(), strict=True)):
        own = [definition for at, definition in definitions if at == file]
        if rank < count or own:
            others = tuple(definition for definition in own if definition.doc_id != best.doc_id)
            candidates.append(replace(best, others=others))
    return candidates


def _with_place(files: DocIds, rows: int, columns: int) -> list[int]:
    """Return the positions of the definitions that fit into some rows, given the file of each, best first.

    >>> _with_place(np.array([7, 7, 8, 7, 7, 7, 8]), 3, 3)
    [0, 1, 2, 3, 4]
    """
    counts, placed = Counter[int](), list[int]()
    for at, file in enumerate(files.tolist()):
        needs_row = not counts[file] or (counts[file] - 1) % columns == 0
        if needs_row and not rows:
            continue
        rows -= needs_row
        counts[file] += 1
        placed.append(at)
    return placed


def _shares(query: str, paths: Iterable[str]) -> list[float]:
    """Return the share of the words in the name of each file, or of its folder, that are in a query."""
    asked = set(terms_of(query))
    begun = asked.union(word[:end] for word in asked for end in range(_PREFIX, len(word)))
    names = [_words_of(path) for path in paths]
    found = {
        word
        for word in frozenset[str]().union(*names)
        if word in begun or any(word[:end] in asked for end in range(_PREFIX, len(word)))
    }
    return [len(words & found) / len(words) if words else 0.0 for words in names]


@lru_cache(maxsize=4096)
def _words_of(path: str) -> frozenset[str]:
    folder, _, name = path.rpartition("/")
    stem = name.partition(".")[0] or name
    return frozenset(terms_of(folder.rpartition("/")[2] if stem in FOLDER_FILES and folder else stem))
