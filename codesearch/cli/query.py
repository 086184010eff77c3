"""`codesearch query`: rank indexed documents for a question, keywords or a name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

from codesearch.cli.invocation import Output, Server, invocation_of
from codesearch.cli.options import (
    DEFAULT_URI,
    AllCodeOption,
    AllOption,
    AutoIndexOption,
    BackendOption,
    ChangedOption,
    ColorOption,
    CompactOption,
    ContextOption,
    DeviceOption,
    ExplainOption,
    FilesOption,
    FullOption,
    HomeOption,
    IndexFilesOption,
    JsonLinesOption,
    JsonOption,
    KindsOption,
    LanguagesOption,
    ModelOption,
    NoServiceOption,
    PathsOption,
    PrefixOption,
    RefreshOption,
    RootsOption,
    TopKOption,
    UriOption,
    VimgrepOption,
)
from codesearch.cli.searching import (
    chosen_format,
    first_index,
    make_request,
    make_scope,
    mistyped_places,
    shown,
    split_places,
)


def query(
    context: typer.Context,
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="TEXT... [PATH]...",
            help="What to look for, and the files or folders to look in.",
            show_default=False,
        ),
    ],
    top_k: TopKOption = 5,
    lang: LanguagesOption = None,
    path: PathsOption = None,
    kind: KindsOption = None,
    root: RootsOption = None,
    changed: ChangedOption = None,
    index: IndexFilesOption = None,
    all_code: AllCodeOption = False,
    everything: AllOption = False,
    mode: Annotated[str, typer.Option("--mode", help="hybrid, lexical or semantic.")] = "hybrid",
    min_confidence: Annotated[
        float,
        typer.Option("--min-confidence", help="Show no hits if the confidence is below this, 0 to 1."),
    ] = 0.0,
    as_json: JsonOption = False,
    as_jsonl: JsonLinesOption = False,
    vimgrep: VimgrepOption = False,
    compact: CompactOption = False,
    files: FilesOption = False,
    full: FullOption = False,
    color: ColorOption = "auto",
    lines: ContextOption = 0,
    explain: ExplainOption = False,
    model: ModelOption = None,
    device: DeviceOption = "auto",
    backend: BackendOption = "local",
    uri: UriOption = DEFAULT_URI,
    prefix: PrefixOption = "codesearch",
    home: HomeOption = None,
    auto_index: AutoIndexOption = True,
    refresh: RefreshOption = True,
    no_service: NoServiceOption = False,  # `entry` has read it before.
) -> Iterator[Output]:
    """Search with a question, keywords, a name or code."""
    from codesearch.cli.hits import View

    invocation = invocation_of(context)
    view = View(full=full, explain=explain, color=color)
    form = chosen_format(json=as_json, jsonl=as_jsonl, vimgrep=vimgrep, compact=compact, files=files)
    text, places = split_places(words, invocation)
    yield from mistyped_places(words, invocation)
    request = make_request(
        text,
        invocation,
        top_k=top_k,
        lang=lang,
        kind=kind,
        path=path,
        all_code=all_code,
        context=lines,
        mode=mode,
        min_confidence=min_confidence,
        changed=changed,
        refresh=refresh,
    )
    engine = invocation.searching_engine(Server(backend, uri, prefix), home, model=model, device=device)
    scope = make_scope(invocation, root, index, everything=everything, places=places)
    yield from first_index(engine, scope, invocation, auto_index=auto_index)
    answer = engine.search(request, scope)
    yield from shown(
        answer,
        request,
        invocation,
        form=form,
        view=view,
        places=places,
    )
