"""The error of training and of exporters."""

from __future__ import annotations

from codesearch.errors import CodeSearchError


class TrainingError(CodeSearchError):
    """A corpus, run, bundle or download that cannot be used; the message says what, where and the cure."""
