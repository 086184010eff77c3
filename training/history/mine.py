"""One repository -> a file of questions, each with a function that the commit changed, as it was before the commit.

A row has these fields:

    repo, commit, path, func_name, language   the function in the tree before the commit
    query, body                               the first line of the message, cleaned, and its first paragraph or ""
    docstring, context, code                  the document of the function, as an index has it
    functions, weight                         functions of the commit; the part of its changed lines in this one
    information, overlap                      idf of the query's words; the part of them that the document has
    negatives                                 documents of unchanged functions: of the same file, then of neighbours
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from codesearch.history.log import Change, Commit
from codesearch.text.terms import query_terms
from codesearch.types import Document
from training.corpus.rows import MAX_REST_CHARS, new_rows
from training.corpus.split import stable_hash
from training.history.functions import Function, changed_lines, product_language, touched
from training.history.log import read_changes, read_log
from training.history.repository import Objects, Repository
from training.history.subjects import clean_subject, first_paragraph_of, reason_of_author, reason_of_subject
from training.history.trees import Trees
from training.history.words import Words

_MAX_FUNCTIONS = 5
_MIN_INFORMATION = 12.0
_MIN_SHARE = 0.1
_MIN_TERMS = 3
_MAX_FILES = 8
_TREES = 3
"""Changed files are read of this many times as many commits as are taken, because many change no code."""
_MAX_OF_FUNCTION = 4
_NEAREST, _RANDOM, _NEIGHBOURS = 3, 1, 1
_MAX_CHARS, _MAX_NEGATIVE_CHARS = 4_000, 1_500


@dataclass(frozen=True, slots=True)
class Mined:
    """The result of one repository.

    Attributes:
        head: its newest commit.
        commits: without merges.
        dropped: how many commits or functions each filter dropped.
    """

    repository: str
    head: str
    commits: int
    pairs: int
    dropped: dict[str, int]


@dataclass
class _Miner:
    repository: Repository
    words: Words
    most: int
    dropped: Counter[str] = field(default_factory=Counter)
    commits: int = 0
    head: str = ""

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield the rows, in the order of the log."""
        asked = self._taken(list(self._asked()), _TREES * self.most)
        changed = [
            (commit, changes)
            for commit, changes in read_changes(self.repository, asked)
            if self._keeps(self._reason_of_paths(changes))
        ]
        taken = {commit.id for commit in self._taken([commit for commit, _ in changed], self.most)}
        pairs: Counter[tuple[str, str]] = Counter()
        with Objects(self.repository) as objects:
            trees = Trees(objects)
            for commit, changes in changed:
                for row in self._rows_of(commit, changes, trees) if commit.id in taken else ():
                    key = row["path"], row["func_name"]
                    pairs[key] += 1
                    if self._keeps("function with enough questions" if pairs[key] > _MAX_OF_FUNCTION else ""):
                        yield row

    def _asked(self) -> Iterator[Commit]:
        """Yield the commits whose messages are questions."""
        seen: set[str] = set()
        for commit in read_log(self.repository):
            self.commits += 1
            self.head = self.head or commit.id
            query = clean_subject(commit.subject)
            reason = (
                reason_of_author(commit)
                or reason_of_subject(commit.subject, query)
                or self._reason_of_words(query, seen)
            )
            if self._keeps(reason):
                yield commit

    def _taken(self, commits: list[Commit], most: int) -> list[Commit]:
        """Return at most so many commits, drawn by hash, in their order."""
        taken = set(sorted((commit.id for commit in commits), key=stable_hash)[:most])
        self.dropped["over the repository's share"] += len(commits) - len(taken)
        return [commit for commit in commits if commit.id in taken]

    def _keeps(self, reason: str) -> bool:
        """Count the reason why something is dropped; say whether there is none."""
        if reason:
            self.dropped[reason] += 1
        return not reason

    def _reason_of_words(self, query: str, seen: set[str]) -> str:
        terms = query_terms(query)
        if len(terms) < _MIN_TERMS or self.words.information(terms) < _MIN_INFORMATION:
            return "vague"
        is_new = (key := " ".join(terms)) not in seen
        seen.add(key)
        return "" if is_new else "message of another commit"

    @staticmethod
    def _reason_of_paths(changes: Sequence[Change]) -> str:
        code = [change for change in changes if product_language(change.path)]
        if len(code) > _MAX_FILES:
            return f"more than {_MAX_FILES} files"
        return "" if any(change.old and change.new for change in code) else "no code changed"

    def _rows_of(self, commit: Commit, changes: Sequence[Change], trees: Trees) -> Iterator[dict[str, Any]]:
        """Yield a row for each function that a commit changed."""
        found = _touched(changes, trees)
        if isinstance(found, str):
            self.dropped[found] += 1
            return
        total, functions = found
        query = clean_subject(commit.subject)
        terms = query_terms(query)
        for change, function, lines in functions:
            share = lines / total
            if not self._keeps("small part of a commit" if share < _MIN_SHARE else ""):
                continue
            changed = [other for _, other, _ in functions]
            yield {
                "repo": self.repository.name,
                "commit": commit.id,
                "path": change.path,
                "func_name": function.document.qualified_name,
                "language": function.document.language,
                "query": query,
                "body": first_paragraph_of(commit.body),
                **_texts(function.document, _MAX_CHARS),
                "functions": len(functions),
                "weight": round(share, 3),
                "information": round(self.words.information(terms), 1),
                "overlap": round(len(function.terms.intersection(terms)) / len(terms), 3),
                "negatives": [
                    {"path": it.path, "func_name": it.qualified_name, **_texts(it, _MAX_NEGATIVE_CHARS)}
                    for it in _negatives(commit.id, change, terms, changed, trees)
                ],
            }


def _touched(
    changes: Sequence[Change], trees: Trees
) -> str | tuple[float, list[tuple[Change, Function, float]]]:
    """Return the changed lines of code and the functions with some of them, or why the commit is left out."""
    total = 0.0
    functions: list[tuple[Change, Function, float]] = []
    for change in changes:
        spec = product_language(change.path)
        if spec is None:
            continue
        old, new = trees.read(change.old), trees.read(change.new)
        spans = changed_lines(old, new) if old and new else [(0, 0, float((old or new).count(b"\n")))]
        if spans is None:
            return "rewritten file"
        total += sum(lines for _, _, lines in spans)
        if spans and old and new:
            parsed = trees.functions(change.old, change.path, spec)
            functions += [(change, function, lines) for function, lines in touched(parsed, spans)]
    if len(functions) > _MAX_FUNCTIONS:
        return f"more than {_MAX_FUNCTIONS} functions"
    return (total, functions) if functions else "no function changed"


def _negatives(
    commit: str, change: Change, terms: Sequence[str], changed: Sequence[Function], trees: Trees
) -> Iterator[Document]:
    """Yield unchanged functions: some of the file by words of the query, one by chance, and one of each neighbour."""
    spec = product_language(change.path)
    assert spec is not None  # Only functions of code were found.
    places = {id(function) for function in changed}
    own = [it for it in trees.functions(change.old, change.path, spec) if id(it) not in places]
    own.sort(key=lambda it: (-len(it.terms.intersection(terms)), stable_hash(it.document.qualified_name)))
    nearest, others = own[:_NEAREST], own[_NEAREST:]
    others.sort(key=lambda it: stable_hash(f"{commit}{it.document.qualified_name}"))
    yield from (it.document for it in [*nearest, *others[:_RANDOM]])
    names = {function.document.path for function in changed}
    for functions in trees.neighbours(commit, change.path, _NEIGHBOURS):
        if functions and functions[0].document.path not in names:
            yield max(
                functions,
                key=lambda it: (
                    len(it.terms.intersection(terms)),
                    stable_hash(f"{commit}{it.document.qualified_name}"),
                ),
            ).document


def _texts(document: Document, most: int) -> dict[str, str]:
    return {
        "docstring": document.docstring[:MAX_REST_CHARS],
        "context": document.context,
        "code": document.code[:most],
    }


def mine(repository: Repository, words: Words, folder: Path, most: int) -> Mined:
    """Write the rows of a repository to `NAME.jsonl.zst` in a folder; return the counts.

    At most `most` commits, drawn by hash, are compared with the tree before them.
    """
    miner = _Miner(repository, words, most)
    rows = folder / f"{repository.file_name}.jsonl.zst"
    part = rows.with_suffix(".part")
    pairs = 0
    with new_rows(part) as stream:
        for row in miner.rows():
            stream.write(json.dumps(row, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
            pairs += 1
    part.replace(rows)
    return Mined(repository.name, miner.head, miner.commits, pairs, dict(miner.dropped.most_common()))
