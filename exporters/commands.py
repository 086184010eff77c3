"""A trained run -> a bundle, checked against the run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Literal

from tyro.conf import arg

from training.command import CORPUS
from training.files import writing

_ROWS = 300


def bundle(
    *,
    run: Annotated[Path, arg(help="Folder of a trained run.")],
    out: Annotated[Path, arg(help="Bundle folder to write.")],
    dtype: Annotated[Literal["int8", "fp16", "fp32"], arg(help="Type of the weights.")] = "int8",
    name: Annotated[str, arg(help="In the manifest; by default architecture-dim-v1.")] = "",
) -> None:
    """Export a trained and evaluated run."""
    from exporters.bundle import write_bundle

    with writing(out):
        manifest = write_bundle(run, out, dtype, name)
    size = sum(described["bytes"] for described in manifest["files"].values())
    means = ", ".join(f"{name} {values['average']:.3f}" for name, values in manifest["metrics"].items())
    print(f"{out}: {manifest['name']}, {size / 1e6:.1f} MB, {means}")


def check(
    *,
    bundle: Annotated[Path, arg(help="Bundle folder.")],
    run: Annotated[Path | None, arg(help="Run that it was made from.")] = None,
    corpus: Annotated[Path, arg(help="Corpus to take test texts from.")] = CORPUS,
) -> None:
    """Compare a bundle with its manifest, and with its run."""
    from exporters.bundle import check_bundle

    manifest = check_bundle(bundle)
    print(f"{bundle}: {manifest['name']} is whole")
    if run:
        from exporters.parity import check_parity
        from training.samples import texts_of_row
        from training.sources import first_test_rows

        texts = [text for row in first_test_rows(corpus, _ROWS) for text in texts_of_row(row)]

        for file, parity in check_parity(run, bundle, manifest["dtype"], texts).items():
            print(
                f"{file}: differs from the run by at most {parity.max_abs_diff:.2g}, cosine at least "
                f"{parity.min_cosine:.4f}"
            )


def commands(arguments: Sequence[str]) -> dict[str, Callable[..., None]]:
    """Return the functions of the commands by name."""
    return {"bundle": bundle, "check": check}
