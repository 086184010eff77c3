"""BM25F against a second, slow implementation of the formula."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from codesearch.config import RankConfig
from codesearch.search.lexical import LexicalScorer
from codesearch.store.postings import PostingsReader, PostingsWriter, field_statistics
from codesearch.store.snapshot import average_lengths
from codesearch.text.terms import FIELDS
from tests.records import counted_block

Document = list[Counter[str]]
TERMS = ["w0", "w3", "w17", "w39", "absent"]


@dataclass
class Segment:
    postings: PostingsReader


class Segments:
    """A collection of segments with dead documents."""

    def __init__(self, segments: list[Segment], dead: Sequence[int] = ()) -> None:
        self.segments = segments
        self.size = sum(len(segment.postings.field_lengths) for segment in segments)
        self.document_count = self.size - len(dead)
        self.dead = np.isin(np.arange(self.size), dead) if dead else None
        lengths = np.concatenate([segment.postings.field_lengths for segment in segments])
        sums, counts = field_statistics(np.delete(lengths, list(dead), axis=0))
        self.average_lengths = average_lengths([sums], [counts])

    def based_postings(self) -> Iterator[tuple[int, PostingsReader]]:
        base = 0
        for segment in self.segments:
            yield base, segment.postings
            base += len(segment.postings.field_lengths)


def write_segment(folder: Path, documents: list[Document]) -> Segment:
    folder.mkdir(exist_ok=True)
    writer = PostingsWriter(folder)
    writer.add(counted_block(documents), 0)
    writer.write()
    return Segment(PostingsReader(folder, "root"))


def scorer(folder: Path, documents: list[Document], config: RankConfig | None = None) -> LexicalScorer:
    return LexicalScorer(Segments([write_segment(folder, documents)]), config or RankConfig())


def slow_scores(documents: list[Document], terms: list[str], config: RankConfig) -> list[float]:
    """Score by the formula of Robertson, Zaragoza and Taylor, one document and one term at a time."""
    count = len(documents)
    average = [
        sum(document[f].total() for document in documents)
        / max(1, sum(bool(document[f]) for document in documents))
        for f in range(len(FIELDS))
    ]

    def weighted(document: Document, term: str) -> float:
        total = 0.0
        for field, counts in enumerate(document):
            if counts[term]:
                b = config.field_b[field]
                norm = 1 - b + b * counts.total() / average[field]
                total += config.field_weights[field] * counts[term] / norm
        return total

    scores = [0.0] * count
    for term in terms:
        tfs = [weighted(document, term) for document in documents]
        df = sum(tf > 0 for tf in tfs)
        idf = math.log(1 + (count - df + 0.5) / (df + 0.5))
        for doc_id, tf in enumerate(tfs):
            scores[doc_id] += idf * tf / (config.k1 + tf)
    return scores


def random_documents(count: int, seed: int) -> list[Document]:
    generator = np.random.default_rng(seed)
    words = [f"w{number}" for number in range(40)]
    chances = np.arange(1, 41) ** -1.0
    chances /= chances.sum()
    return [
        [
            Counter(generator.choice(words, size=generator.integers(0, size), p=chances).tolist())
            for size in (3, 8, 20, 90, 4)
        ]
        for _ in range(count)
    ]


@pytest.mark.parametrize(
    "config",
    [
        RankConfig(),
        RankConfig(k1=0.9, field_b=(0.0,) * 5),
        RankConfig(k1=2.0, field_b=(1.0,) * 5),
        RankConfig(field_weights=(0.0, 1.0, 0.0, 2.0, 0.0)),
    ],
    ids=["defaults", "lengths ignored", "lengths in full", "fields left out"],
)
def test_scores_equal_those_of_the_formula(tmp_path, config):
    documents = random_documents(60, 7)
    of_documents = scorer(tmp_path, documents, config)
    for terms in (TERMS, TERMS[:1], TERMS):
        scores, _, _ = of_documents.scores(terms)
        np.testing.assert_allclose(scores, slow_scores(documents, terms, config), rtol=2e-5)


@pytest.mark.parametrize("terms", [TERMS, ["w38"], ["w0"]], ids=["all", "rare", "common"])
def test_scores_over_segments_with_dead_documents_equal_those_of_the_live_ones_exactly(tmp_path, terms):
    documents = random_documents(60, 7)
    dead = [0, 3, 4, 19, 20, 35, 58, 59]
    parts = [documents[:20], [], documents[20:21], documents[21:]]
    segments = [write_segment(tmp_path / str(number), part) for number, part in enumerate(parts)]
    with_dead = LexicalScorer(Segments(segments, dead), RankConfig())
    scores, ceiling, missing = with_dead.scores(terms)
    live = [place for place in range(60) if place not in dead]
    expected, limit, expected_missing = scorer(
        tmp_path / "live", [documents[place] for place in live]
    ).scores(terms)
    assert scores[live].tolist() == expected.tolist()
    assert not scores[dead].any()
    assert not set(with_dead.with_all(terms[:1]).tolist()) & set(dead)
    assert ceiling == limit > 0 and missing == expected_missing


def test_the_ceiling_is_the_sum_of_idf_of_the_terms_that_occur(tmp_path):
    empty: Counter[str] = Counter()
    documents = [[empty, empty, empty, Counter({"sort": 255}), empty], [Counter(["list"]), *[empty] * 4]]
    scores, ceiling, missing = scorer(tmp_path, documents).scores(["sort", "list", "absent"])
    assert ceiling == pytest.approx(2 * math.log(1 + 1.5 / 1.5))
    absent = math.log(1 + 2.5 / 0.5)
    assert missing == pytest.approx(absent / (ceiling + absent))
    assert 0.98 < 2 * scores[0] / ceiling < 1.0


def test_a_document_without_the_terms_scores_zero(tmp_path):
    documents = random_documents(20, 1)
    scores, ceiling, missing = scorer(tmp_path, documents).scores(["absent", "nowhere"])
    assert (scores.tolist(), ceiling, missing) == ([0.0] * 20, 0.0, 1.0)


def test_an_index_without_documents_scores_none(tmp_path):
    scores, ceiling, _ = scorer(tmp_path, []).scores(["sort"])
    assert (scores.tolist(), ceiling) == ([], 0.0)


def test_occurrence_weights_are_computed_once_for_an_open_index(tmp_path):
    segment, config = write_segment(tmp_path, random_documents(20, 1)), RankConfig()
    corpus, postings = Segments([segment]), segment.postings
    average = corpus.average_lengths
    kept = postings.occurrence_weights(config.field_weights, config.field_b, average)
    LexicalScorer(corpus, config).scores(["w0"])
    assert postings.occurrence_weights(config.field_weights, config.field_b, average.copy()) is kept
    for other in (
        postings.occurrence_weights(config.field_weights, (0.0,) * 5, average),
        postings.occurrence_weights(config.field_weights, config.field_b, average + 1),
    ):
        assert other is not kept and (other != kept).any()


def test_documents_without_a_field_do_not_lower_its_average_length(tmp_path):
    documented = [Counter({"delete": 3, "tree": 3, **{f"w{number}": 1 for number in range(34)}})]
    empty: Counter[str] = Counter()
    documents = [
        [empty, empty, *documented, empty, empty],
        *([empty, empty, empty, Counter({"other": 40}), empty] for _ in range(30)),
    ]
    alone, _, _ = scorer(tmp_path, documents[:1]).scores(["tree"])
    among, _, _ = scorer(tmp_path / "many", documents).scores(["tree"])
    idf = [math.log(1 + (count - 0.5) / 1.5) for count in (1, 31)]
    assert among[0] / idf[1] == pytest.approx(alone[0] / idf[0])


def test_a_word_of_frequency_0_proposes_a_document_but_does_not_score(tmp_path):
    counted = [Counter({"load": 1}) for _ in FIELDS]
    outside = [Counter({"load": 1}), *(Counter[str]() for _ in FIELDS[1:-1]), Counter({"path": 0})]
    plain = [Counter({"load": 1}), *(Counter[str]() for _ in FIELDS[1:])]
    few = scorer(tmp_path / "few", [outside, counted, *[plain] * 20])
    same = scorer(tmp_path / "same", [plain, counted, *[plain] * 20])
    assert few.with_all(["load", "path"]).tolist() == [0]
    for terms in (["path"], ["load", "path"]):
        assert few.scores(terms)[0].tolist() == same.scores(terms)[0].tolist()
        assert few.scores(terms)[1:] == same.scores(terms)[1:]


def test_no_document_has_all_of_no_terms(tmp_path):
    documents = [[Counter({"load": 1}) for _ in FIELDS]]
    assert scorer(tmp_path, documents).with_all([]).tolist() == []
