"""Numbers of an index from elsewhere are refused before a reader uses them."""

import numpy as np
import pytest

from codesearch.store.untrusted import UntrustedError, _check_passages

RIGHT = [(0, 1, 12), (0, 13, 13), (2, 5, 9)]


def check(passages: list[tuple[int, int, int]]) -> None:
    """Check passages of an index with three documents."""
    _check_passages(np.array([[*passage, *range(100, 108)] for passage in passages], np.uint32), 3)


@pytest.mark.parametrize(
    "passages",
    [
        [(3, 1, 12)],  # There is no such document.
        [(0, 0, 12)],  # Lines begin with 1.
        [(0, 13, 12)],  # It ends before it begins.
        RIGHT[::-1],  # They are in the order of the documents.
    ],
)
def test_a_passage_belongs_to_a_document_and_has_lines(passages):
    check(RIGHT)
    with pytest.raises(UntrustedError, match="passages.npy is not valid"):
        check(passages)
