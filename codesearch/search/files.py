"""A ranking of definitions -> a ranking of files, each shown by its best definitions.

A question such as "how are sessions stored" asks for a place. The right file often has several definitions that match a
little, and its name says what it is about. So the score of a file is

    best + file_support_weight * sum of .8^i * score of its i-th other definition, i = 1 .. 5
         + file_name_weight * share of the words of its name that are in the query

Two words also match if one begins with the other and both have at least four letters ("session" and "sessions").

If the query asks for a conversion and the best definition clearly converts that way, only the best definition of a file
counts: a file full of other conversions is not the answer.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from codesearch.config import RankConfig
from codesearch.search.fusion import Ranked, Ranking
from codesearch.search.heuristics import named_tiers, put_first
from codesearch.search.hydrate import places_with_copies
from codesearch.store.topk import best_positions, equal_before
from codesearch.text.terms import terms_of
from codesearch.types import FOLDER_FILES, MAX_OTHERS

_DECAY, _MOST_SUPPORT = 0.8, 5
_OF_DEFINITIONS = ("data", "file_diversity")
"""Penalties that are not part of a file's score: they choose between definitions."""
_MIN_SHARE = 0.5
"""Other definitions of a file are shown if their score is at least this share of the best one's."""
_PREFIX = 4
"""The fewest letters of a word that is the beginning of another."""


def rank_files(query: str, ranking: Ranking, config: RankConfig, count: int) -> Ranking:
    """Return the best definition of each file with the score of the file.

    Files that cannot be among the first `count` are left out.
    """
    if ranking.converts_as_asked():
        config = replace(config, file_support_weight=0.0, file_name_weight=0.0)
    order = ranking.order()
    files = ranking.files()[order]
    above = equal_before(files)
    firsts = order[above == 0]
    scores = ranking.scores - sum(ranking.parts[name] for name in _OF_DEFINITIONS if name in ranking.parts)
    support = _support(files, above, scores[order])
    without_name = scores[firsts] + config.file_support_weight * support
    if len(firsts) > count:
        edge = without_name[best_positions(without_name, count)].min() - config.file_name_weight
        able = np.flatnonzero((without_name >= edge) | (named_tiers(ranking)[firsts] > 0))
        firsts, support = firsts[able], support[able]
    best = Ranking(
        snapshot=ranking.snapshot,
        doc_ids=ranking.doc_ids[firsts],
        signals={name: values[firsts] for name, values in ranking.signals.items()},
        parts={name: values[firsts] for name, values in ranking.parts.items() if name not in _OF_DEFINITIONS},
        scores=scores[firsts],
    )
    everywhere, words = np.arange(len(firsts)), terms_of(query)
    named = [_share(words, path) for path in ranking.snapshot.paths_of(best.doc_ids)]
    best.add_signal("file_support", everywhere, support, reward=config.file_support_weight)
    best.add_signal("file_name", everywhere, named, reward=config.file_name_weight)
    if config.name_weight:
        put_first(best)
    return best


def _support(
    files: NDArray[np.int64], above: NDArray[np.int64], scores: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Return the support of each file, in the order of its first definition: float32 [number of files]."""
    distinct = files[above == 0]
    by_number = np.argsort(distinct)
    counts = np.flatnonzero((above > 0) & (above <= _MOST_SUPPORT))
    rows = by_number[np.searchsorted(distinct, files[counts], sorter=by_number)]
    weighted = _DECAY ** above[counts] * np.maximum(scores[counts], 0)
    return np.bincount(rows, weighted, len(distinct)).astype(np.float32)


def places_of_files(query: str, ranking: Ranking, config: RankConfig, count: int) -> list[Ranked]:
    """Return the places of the first `count` files, each with up to `MAX_OTHERS` other definitions of the file.

    The arguments are those of `rank_files`. If files are copies of each other, the places may be fewer.
    """
    order = ranking.order()
    doc_ids, scores = ranking.doc_ids[order], ranking.scores[order]
    numbers = ranking.files()[order]
    places = []
    for place in places_with_copies(rank_files(query, ranking, config, count), count):
        (shown,) = np.flatnonzero(doc_ids == place.doc_id)
        others = (numbers == numbers[shown]) & (scores >= _MIN_SHARE * scores[shown])
        others[shown] = False
        chosen = order[others][:MAX_OTHERS].tolist()
        places.append(replace(place, others=tuple(map(ranking.place, chosen))))
    return places


def _share(words: Collection[str], path: str) -> float:
    """Return the share of the words in the name of a file, or of its folder, that are in a query."""
    named = _words_of(path)
    found = [word for word in named if any(_matches(word, asked) for asked in words)]
    return len(found) / len(named) if named else 0.0


@lru_cache(maxsize=4096)
def _words_of(path: str) -> frozenset[str]:
    folder, _, name = path.rpartition("/")
    stem = name.partition(".")[0] or name
    return frozenset(terms_of(folder.rpartition("/")[2] if stem in FOLDER_FILES and folder else stem))


def _matches(word: str, asked: str) -> bool:
    short, long = sorted((word, asked), key=len)
    return word == asked or len(short) >= _PREFIX and long.startswith(short)
