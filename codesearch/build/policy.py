"""The merge policy: which segments an update rewrites into its new segment.

Small segments are merged. The smallest segments are added one by one to the new documents. A segment is added if it is
at most `GROWTH` times as large as everything before it together. So the number of segments grows with the logarithm of
the number of documents. The number of times that a document is rewritten grows in the same way. Segments with many dead
documents are rewritten too.
"""

from __future__ import annotations

from collections.abc import Sequence

from codesearch.store.manifest import SegmentEntry

MAX_DOCUMENTS = 8_000_000
"""No merge makes a larger segment. The format of postings allows twice as many documents."""
GROWTH = 3
DEAD_SHARE = 0.3


def can_merge(entries: Sequence[SegmentEntry]) -> bool:
    """Say whether merging all segments would change anything."""
    return (
        any(entry.dead_files for entry in entries) or len(segments_to_merge(entries, 0, merge_all=True)) > 1
    )


def segments_to_merge(
    entries: Sequence[SegmentEntry], new_documents: int, *, merge_all: bool = False
) -> list[SegmentEntry]:
    """Choose the segments to merge with about `new_documents` new documents; with `merge_all`, all that fit."""
    chosen: list[SegmentEntry] = []
    gathered = new_documents
    by_size = sorted(entries, key=lambda entry: (entry.live_documents, entry.number))
    for entry in sorted(by_size, key=_is_mostly_dead, reverse=True):  # Mostly dead ones come first.
        fits = gathered + entry.live_documents <= MAX_DOCUMENTS
        grows = entry.live_documents <= GROWTH * gathered
        if not fits or not (merge_all or _is_mostly_dead(entry) or grows):
            continue
        chosen.append(entry)
        gathered += entry.live_documents
    return sorted(chosen, key=lambda entry: entry.number)


def _is_mostly_dead(entry: SegmentEntry) -> bool:
    return entry.live_documents <= (1 - DEAD_SHARE) * entry.documents
