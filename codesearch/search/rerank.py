"""A second look at the head of a ranking, with what only the stored documents tell."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from codesearch.config import RankConfig
from codesearch.index.reader import IndexReader
from codesearch.parsing.identifiers import subtokens
from codesearch.search.direction import agreement, parse_conversion
from codesearch.search.fusion import Pool
from codesearch.search.hydrate import stored_documents

_PART_ENDS = re.compile(r"[-_/]")
_TEST_WORDS = frozenset({"test", "tests", "testing", "spec", "specs"})


def rerank(query: str, pool: Pool, indexes: Sequence[IndexReader], config: RankConfig) -> None:
    """Adjust the scores of the head of a ranking.

    Where the query asks for a conversion, what goes that way is raised a little and what goes the other way is
    lowered. Tests are lowered unless the query asks for them: they use the words of what they test.
    """
    head = pool.order()[: config.rerank_count]
    places = zip(pool.indexes[head].tolist(), pool.doc_ids[head].tolist(), strict=True)
    stored = stored_documents(indexes, list(places))
    if conversion := parse_conversion(query):
        ways = []
        for _, (_, name, _, signature, docstring, *_) in stored:
            ways.append(agreement(conversion, name, signature, docstring))
        pool.add_signal(
            "direction", head, ways, reward=config.direction_reward, penalty=config.direction_penalty
        )
    if config.test_penalty and _TEST_WORDS.isdisjoint(subtokens(query)):
        tests = [-float(is_test(file.path)) for file, _ in stored]
        pool.add_signal("test", head, tests, penalty=config.test_penalty)


@lru_cache(maxsize=65_536)
def is_test(path: str) -> bool:
    """Tell from its path whether a file holds tests.

    >>> is_test("lib/test/test_gzip.py"), is_test("src/contest/latest.py")
    (True, False)
    """
    *folders, name = path.split("/")
    stem, _, extensions = name.partition(".")
    return _is_test_folder("/".join(folders)) or not _TEST_WORDS.isdisjoint(
        (*subtokens(stem), *extensions.split("."))
    )


@lru_cache(maxsize=4096)
def _is_test_folder(folder: str) -> bool:
    return not _TEST_WORDS.isdisjoint(_PART_ENDS.split(folder.lower()))
