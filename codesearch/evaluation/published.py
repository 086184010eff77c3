"""Figures that others published. Their pools were others, so they stand beside ours and are not compared."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Published:
    """The average over languages that a paper gives for a system."""

    system: str
    metric: str
    average: float


PUBLISHED = {
    "csn99": (
        Published("ElasticSearch", "ndcg_all", 0.205),
        Published("NBoW", "ndcg_all", 0.164),
        Published("1D-CNN", "ndcg_all", 0.108),
        Published("biRNN", "ndcg_all", 0.041),
        Published("SelfAtt", "ndcg_all", 0.113),
        Published("ElasticSearch", "ndcg_within", 0.337),
        Published("NBoW", "ndcg_within", 0.247),
        Published("1D-CNN", "ndcg_within", 0.252),
        Published("biRNN", "ndcg_within", 0.126),
        Published("SelfAtt", "ndcg_within", 0.211),
    ),
}
"""Suite -> rows. *Source*: Husain et al. 2019, over all 6.4 million functions of their corpus."""


def published_rows(suite: str, metric: str) -> list[Published]:
    """List what was published for a suite and metric."""
    return [row for row in PUBLISHED.get(suite, ()) if row.metric == metric]
