"""How much a question says: the sum of the idf of its words, counted in the messages of all repositories."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from codesearch.text.terms import query_terms
from training.history.log import read_log
from training.history.repository import Repository
from training.history.subjects import clean_subject

_MESSAGES = 2_000
_RARE = 3


@dataclass(frozen=True, slots=True)
class Words:
    """The number of messages, and how many contain each word; rare words are left out."""

    messages: int
    counts: dict[str, int]

    def information(self, terms: Sequence[str]) -> float:
        """Return the sum of the idf of the distinct terms of a query, in nats."""
        return sum(math.log((self.messages + 1) / (self.counts.get(term, _RARE) + 1)) for term in terms)


def read_words(path: Path, repositories: Iterable[Repository]) -> Words:
    """Count the words of up to 2,000 messages of each repository, or read the counts of an earlier run."""
    if not path.exists():
        counts: Counter[str] = Counter()
        messages = 0
        for repository in repositories:
            for commit in islice(read_log(repository), _MESSAGES):
                messages += 1
                counts.update(set(query_terms(clean_subject(commit.subject))))
        kept = {word: count for word, count in sorted(counts.items()) if count > _RARE}
        path.write_text(json.dumps({"messages": messages, "counts": kept}), "utf-8")
    return Words(**json.loads(path.read_text("utf-8")))
