"""Which segments an update rewrites into its new one.

Small segments are merged: the smallest one joins while it is at most `_GROWTH` times what is gathered. So the number
of segments grows with the logarithm of the documents, and a document is rewritten as often. A segment in which many
documents are dead is rewritten too.
"""

from __future__ import annotations

from collections.abc import Sequence

from codesearch.index.manifest import SegmentEntry

MAX_DOCUMENTS = 8_000_000
"""No merge makes a larger segment; a posting can number twice as many documents."""
_GROWTH = 3
_DEAD_SHARE = 0.3


def can_merge(entries: Sequence[SegmentEntry]) -> bool:
    """Say whether merging all segments would change anything."""
    return (
        any(entry.dead_files for entry in entries) or len(segments_to_merge(entries, 0, merge_all=True)) > 1
    )


def segments_to_merge(
    entries: Sequence[SegmentEntry], new_documents: int, *, merge_all: bool = False
) -> list[SegmentEntry]:
    """Choose the segments to rewrite together with about `new_documents` new ones; with `merge_all` all that fit."""
    chosen: list[SegmentEntry] = []
    gathered = new_documents
    by_size = sorted(entries, key=lambda entry: (entry.live_documents, entry.number))
    for entry in sorted(by_size, key=_is_mostly_dead, reverse=True):  # Those first, whatever their size.
        fits = gathered + entry.live_documents <= MAX_DOCUMENTS
        grows = entry.live_documents <= _GROWTH * gathered
        if not fits or not (merge_all or _is_mostly_dead(entry) or grows):
            continue
        chosen.append(entry)
        gathered += entry.live_documents
    return sorted(chosen, key=lambda entry: entry.number)


def _is_mostly_dead(entry: SegmentEntry) -> bool:
    return entry.live_documents <= (1 - _DEAD_SHARE) * entry.documents
