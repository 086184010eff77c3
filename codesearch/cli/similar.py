"""`codesearch similar`: from a function in a file to the functions like it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from codesearch.cli.answering import Output, Scope, find_answer, print_answer
from codesearch.cli.options import (
    AllCodeOption,
    AllOption,
    ContextOption,
    DeviceOption,
    ExplainOption,
    HomeOption,
    JsonLinesOption,
    JsonOption,
    KindsOption,
    LanguagesOption,
    ModelOption,
    NoServiceOption,
    PathsOption,
    RootsOption,
    TopKOption,
    VimgrepOption,
    positive,
)
from codesearch.errors import ConfigError

_PLACE = re.compile(r"(?P<file>.+?):(?P<line>[0-9]+)(?::[0-9]*)?:?")


def similar(
    place: Annotated[
        str, typer.Argument(metavar="FILE:LINE", help="A line of the function.", show_default=False)
    ],
    top_k: TopKOption = 10,
    lang: LanguagesOption = None,
    path: PathsOption = None,
    kind: KindsOption = None,
    root: RootsOption = None,
    all_code: AllCodeOption = False,
    everything: AllOption = False,
    as_json: JsonOption = False,
    as_jsonl: JsonLinesOption = False,
    vimgrep: VimgrepOption = False,
    context: ContextOption = 0,
    explain: ExplainOption = False,
    model: ModelOption = None,
    device: DeviceOption = "auto",
    home: HomeOption = None,
    no_service: NoServiceOption = False,  # Read by `entry`, before this.
) -> int:
    """Find code that does what the function at a line does, indexed or not."""
    output = Output(as_json, as_jsonl, vimgrep, context, explain)
    output.check()
    from codesearch.search.similar import document_at, search_similar

    scope = Scope(lang, kind, path, root, everything, all_code, home, model, device)
    count = positive("--top-k", top_k)
    document = document_at(*_parse_place(place))
    answer = find_answer(
        place, "similar", scope, lambda searcher, filters: search_similar(searcher, document, count, filters)
    )
    return print_answer(answer, output)


def _parse_place(place: str) -> tuple[Path, int]:
    """Read FILE:LINE, also with the column that editors and `--vimgrep` put behind it."""
    match = _PLACE.fullmatch(place)
    if not match:
        raise ConfigError(f"{place!r} is not FILE:LINE: give a line of a function, as in src/app.py:12")
    return Path(match["file"]).expanduser(), int(match["line"])
