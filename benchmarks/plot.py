"""Figures -> a picture of several panels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def panels(titles: Sequence[str], width: float, height: float) -> tuple[Any, Any]:
    """Return a figure of this size, in inches, and the axes of a panel for each title."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), dpi=90)
    axes = figure.subplots(1, len(titles))
    for axis, title in zip(axes, titles, strict=True):
        axis.set_title(title, fontsize=10)
    return figure, axes
