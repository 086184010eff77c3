"""Options that several commands share, and what they resolve to."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from codesearch.config import default_home

HomeOption = Annotated[
    Path | None,
    typer.Option(
        "--home",
        help="Folder of all indexes [default: $CODESEARCH_HOME, or codesearch in $XDG_DATA_HOME].",
        show_default=False,
    ),
]
ModelOption = Annotated[
    Path | None,
    typer.Option("--model", help="Folder of a model bundle [default: the one in use, else the shipped one]."),
]
DeviceOption = Annotated[str, typer.Option("--device", help="Where the model runs: auto, cpu or cuda.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


def resolve_home(home: Path | None) -> Path:
    """Return the home that an option names, or the default."""
    return home.expanduser() if home else default_home()
