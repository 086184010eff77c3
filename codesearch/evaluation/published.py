"""Figures that others published. They are over other pools, so they are shown but not compared."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Published:
    """The average over languages that a paper reports for a system."""

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
    "csn-mrr": (
        Published("NBoW", "mrr", 0.6167),
        Published("1D-CNN", "mrr", 0.6206),
        Published("biRNN", "mrr", 0.4262),
        Published("SelfAtt", "mrr", 0.7011),
    ),
    "advtest": (
        Published("RoBERTa", "mrr", 0.1833),
        Published("CodeBERT", "mrr", 0.2719),
    ),
    "ncs": (
        Published("NCS", "mrr", 0.189),
        Published("NCS_postrank", "mrr", 0.400),
        Published("UNIF_android", "mrr", 0.178),
        Published("UNIF_SO", "mrr", 0.465),
    ),
}
"""Suite -> rows.

*Source*: Husain et al. 2019, over all 6.4 million functions of their corpus (csn99) and its test set (csn-mrr); Lu et
al. 2021 (advtest); Li et al. 2019 (ncs).
"""


def published_rows(suite: str, metric: str) -> list[Published]:
    """List what was published for a suite and metric."""
    return [row for row in PUBLISHED.get(suite, ()) if row.metric == metric]
