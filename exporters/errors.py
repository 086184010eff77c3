"""The errors of an export."""

from __future__ import annotations

from codesearch.errors import CodeSearchError


class ExportError(CodeSearchError):
    """A run that cannot be exported, or a bundle that is damaged."""


class ParityError(ExportError):
    """An exported model that does not compute what the trained one does.

    Attributes:
        max_abs_diff: the largest difference seen between embeddings of the same text.
    """

    def __init__(self, what: str, max_abs_diff: float) -> None:
        super().__init__(f"{what}: largest difference {max_abs_diff:.2e}: export the run again")
        self.max_abs_diff = max_abs_diff
