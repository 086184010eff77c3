"""The lines of `metrics.jsonl` -> `curve.png`."""

from __future__ import annotations

from pathlib import Path

from codesearch.errors import MissingExtraError
from training.checkpoint import read_metrics

CURVE = "curve.png"


def plot_curve(run: Path) -> None:
    """Draw the curve of the epochs so far."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        raise MissingExtraError("matplotlib") from None
    records = read_metrics(run)
    epochs = [record["epoch"] + 1 for record in records]
    figure = Figure(figsize=(7, 4), layout="constrained")
    FigureCanvasAgg(figure)
    losses = figure.add_subplot()
    losses.plot(epochs, [record["loss"] for record in records], "o-", color="tab:red")
    losses.set(xlabel="epoch", title=run.name)
    losses.set_ylabel("training loss", color="tab:red")
    losses.xaxis.get_major_locator().set_params(integer=True)
    ranks = losses.twinx()
    for language in records[0]["valid_mrr"]:
        values = [record["valid_mrr"][language] for record in records]
        strong = {"lw": 2.5, "color": "tab:blue"} if language == "average" else {"lw": 0.8, "alpha": 0.6}
        ranks.plot(epochs, values, label=language, **strong)
    ranks.set_ylabel("validation MRR", color="tab:blue")
    ranks.legend(fontsize="small")
    figure.savefig(run / CURVE, dpi=120)
