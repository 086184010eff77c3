"""What the engine returns for a query."""

from __future__ import annotations

from dataclasses import dataclass

from codesearch.types import Hit


@dataclass(frozen=True, slots=True)
class Answer:
    """Hits, best first, and how they were found.

    Attributes:
        query: as asked; FILE:LINE where code was given.
        mode: of the request, or "similar".
        model: name of the model; "" where none was needed.
        device: where it ran, "cpu" or "cuda".
        documents: how many were searched.
        seconds: to search, without opening indexes and models.
        confidence: probability that one of the hits answers the query, 0 to 1; None where it is not calibrated.
        low_confidence: the confidence is so low that the user should know.
        roots: the indexed folders that were searched.
        filters_match: False if there are no hits because no document passes the filters.
    """

    query: str
    mode: str
    model: str
    device: str
    documents: int
    seconds: float
    hits: list[Hit]
    confidence: float | None = None
    low_confidence: bool = False
    roots: tuple[str, ...] = ()
    filters_match: bool = True
