"""`codesearch query`: rank what is indexed against a question, keywords or a name."""

from __future__ import annotations

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


def query(
    words: Annotated[list[str], typer.Argument(help="What to look for.", show_default=False)],
    top_k: TopKOption = 10,
    lang: LanguagesOption = None,
    path: PathsOption = None,
    kind: KindsOption = None,
    root: RootsOption = None,
    all_code: AllCodeOption = False,
    everything: AllOption = False,
    mode: Annotated[str, typer.Option("--mode", help="hybrid, lexical or semantic.")] = "hybrid",
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
    """Search in plain words, keywords or an exact name."""
    output = Output(as_json, as_jsonl, vimgrep, context, explain)
    output.check()
    scope = Scope(lang, kind, path, root, everything, all_code, home, model, device)
    text = " ".join(words)
    count = positive("--top-k", top_k)
    answer = find_answer(
        text, mode, scope, lambda searcher, filters: searcher.answer(text, count, filters, mode)
    )
    return print_answer(answer, output)
