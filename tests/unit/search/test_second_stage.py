"""A cross-encoder reorders the first candidates and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from codesearch.config import RankConfig
from codesearch.index.catalogue import index_folder
from codesearch.index.reader import IndexReader
from codesearch.search.searcher import Searcher
from tests.conftest import HashEncoder, build, search, write_tree

NAMES = ("fast", "slowly", "twice", "never", "later", "again")
TREE = {
    f"{how}.py": f'def sort_{how}(items):\n    """Sort items {how}."""\n    return sorted(items, key={how})\n'
    for how in NAMES
}
QUERY = "sort items"


class Prefers:
    """Score a text 8 if it contains a word, else -3, and record the texts."""

    def __init__(self, word: str) -> None:
        self.word = word
        self.texts: list[str] = []

    def scores(self, query: str, texts: Sequence[str]) -> np.ndarray:
        self.texts = list(texts)
        return np.array([8.0 if self.word in text.split() else -3.0 for text in texts], np.float32)


@pytest.fixture
def index(tmp_path: Path, home: Path, encoder: HashEncoder) -> IndexReader:
    root = write_tree(tmp_path / "tree", TREE)
    build(root, home, encoder)
    return IndexReader.open(index_folder(home, root))


def found(index: IndexReader, query: str, stage: Prefers | None, config: RankConfig | None = None):
    return search(Searcher([index], None, config, stage), query, 20, mode="lexical")


def test_the_candidate_with_the_highest_logit_becomes_the_first(index):
    last = found(index, QUERY, None)[-1].name
    hits = found(index, QUERY, Prefers(last.partition("_")[2]))
    assert hits[0].name == last
    assert hits[0].signals["cross_encoder"] == pytest.approx(1.0)
    assert hits[0].parts["cross_encoder"] == pytest.approx(0.4)
    assert [hit.signals["cross_encoder"] for hit in hits[1:]] == [0.0] * 5


def test_only_the_first_candidates_are_read_and_they_stay_above_the_others(index):
    plain = [hit.name for hit in found(index, QUERY, None)]
    stage = Prefers(plain[2].partition("_")[2])
    hits = found(index, QUERY, stage, RankConfig(second_stage_count=3))
    assert len(stage.texts) == 3
    assert [hit.name for hit in hits] == [plain[2], plain[0], plain[1], *plain[3:]]


def test_it_reads_name_documentation_file_and_code(index):
    stage = Prefers("x")
    found(index, "never", stage)
    assert stage.texts == ["sort never ; Sort items never. ; never ; items sorted key"]


def test_a_name_and_pasted_code_keep_their_order(index):
    for query in ("sort_twice", "def sort_fast(items):\n    return sorted(items, key=fast)\n"):
        stage = Prefers("never")
        assert [hit.name for hit in found(index, query, stage)] == [
            hit.name for hit in found(index, query, None)
        ]
        assert stage.texts == []


def test_parts_add_up_to_the_score(index):
    for hit in found(index, QUERY, Prefers("later")):
        assert sum(hit.parts.values()) == pytest.approx(hit.score, abs=1e-6)
