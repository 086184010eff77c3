"""`codesearch query`: rank what is indexed against a question, keywords or a name."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from codesearch.cli.answering import Output, larger_model, load_encoder, open_indexes, print_answer
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
    PathsOption,
    RootsOption,
    TopKOption,
    VimgrepOption,
)
from codesearch.config import RankConfig, positive


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
) -> int:
    """Search in plain words, keywords or an exact name."""
    output = Output(as_json, as_jsonl, vimgrep, context, explain)
    output.check()
    from codesearch.cli.render import Answer
    from codesearch.search.filters import Filters
    from codesearch.search.searcher import Searcher

    filters = Filters(tuple(lang or ()), tuple(kind or ()), tuple(path or ()))
    indexes = open_indexes(home, root, everything)
    encoder = None if mode == "lexical" else load_encoder(indexes, model, device)
    text = " ".join(words)
    searcher = Searcher(
        indexes,
        encoder,
        RankConfig(test_penalty=0.0) if all_code else RankConfig(),
        larger=larger_model(indexes, home, device) if encoder else None,
    )
    started = time.perf_counter()
    hits = searcher.search(text, positive("--top-k", top_k), filters, mode)
    answer = Answer(
        query=text,
        mode=mode,
        model=encoder.name if encoder else "",
        device=encoder.device if encoder else "",
        documents=sum(index.manifest.documents for index in indexes),
        seconds=time.perf_counter() - started,
        hits=hits,
    )
    return print_answer(answer, output)
