"""The errors of training."""

from __future__ import annotations

from codesearch.errors import CodeSearchError


class TrainingError(CodeSearchError):
    """A corpus or run that cannot be used; the message says what, where and the cure."""


class DownloadError(CodeSearchError):
    """A file that could not be downloaded, or not correctly."""
