"""Evaluation sets -> what must not be trained on: upstream repositories, and functions by key.

The folder given holds `csn_urls/exclude_repos_test_valid.txt` (a repository a line),
`csn99/sources.jsonl.zst` (whole files) and `cosqa/codebase.python.jsonl.zst` (a function a row). A warning
names a part that is absent.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from multiprocessing.pool import Pool
from pathlib import Path

from codesearch.parsing.extract import extract
from codesearch.parsing.languages import language_named
from training.corpus.dedupe import code_key, docstring_key, row_keys
from training.corpus.filters import split_docstring
from training.corpus.rows import Row, read_jsonl_zst

_REPOSITORIES = "csn_urls/exclude_repos_test_valid.txt"
_FILES = "csn99/sources.jsonl.zst"
_FUNCTIONS = "cosqa/codebase.python.jsonl.zst"
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Forbidden:
    """What the evaluation sets hold.

    Attributes:
        repositories: lower-case `owner/name`.
        keys: keys of functions, see `dedupe`.
    """

    repositories: frozenset[str] = frozenset()
    keys: frozenset[bytes] = field(default=frozenset(), repr=False)


def read_forbidden(folder: Path | None, pool: Pool) -> Forbidden:
    """Gather what the evaluation sets under `folder` hold; nothing when it is None."""
    if folder is None:
        _log.warning("no evaluation sets given: nothing is decontaminated")
        return Forbidden()
    repositories: frozenset[str] = frozenset()
    if _present(folder / _REPOSITORIES):
        lines = (folder / _REPOSITORIES).read_text("utf-8").split()
        repositories = frozenset(line.lower() for line in lines)
    keys: set[bytes] = set()
    for found in pool.imap_unordered(_keys_of_source, _sources(folder), chunksize=50):
        keys.update(found)
    _log.info("evaluation sets: %d repositories, %d function keys", len(repositories), len(keys))
    return Forbidden(repositories, frozenset(keys))


def without_forbidden(rows: Iterable[Row], forbidden: Forbidden, dropped: Counter[str]) -> Iterator[Row]:
    """Yield the rows that no evaluation set holds; count the others."""
    for row in rows:
        if row.repo.lower() in forbidden.repositories:
            dropped["repository of an evaluation set"] += 1
        elif forbidden.keys.isdisjoint(row_keys(row)):
            yield row
        else:
            dropped["function of an evaluation set"] += 1


def _present(path: Path) -> bool:
    if not path.exists():
        _log.warning("%s is absent: not decontaminated against it", path)
        return False
    return True


def _sources(folder: Path) -> Iterator[tuple[str, str]]:
    if _present(folder / _FILES):
        for row in read_jsonl_zst(folder / _FILES):
            yield row["language"], row["text"]
    if _present(folder / _FUNCTIONS):
        for row in read_jsonl_zst(folder / _FUNCTIONS):
            yield row["language"], row["code"]


def _keys_of_source(source: tuple[str, str]) -> list[bytes]:
    language, text = source
    spec = language_named(language)
    if spec is None:
        return []
    keys = []
    for document in extract(text.encode(), "", spec).documents:
        if document.kind == "class":
            continue
        keys.append(code_key(language, document.code))
        told = docstring_key(language, document.name, split_docstring(document.docstring)[0])
        keys += [told] if told else []
    return keys
