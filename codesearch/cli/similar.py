"""`codesearch similar`: find functions that are similar to one in a file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
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
from codesearch.cli.searching import chosen_format, first_index, make_request, make_scope, shown


def similar(
    context: typer.Context,
    place: Annotated[
        str, typer.Argument(metavar="FILE:LINE", help="A line of the function.", show_default=False)
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
    """Find code like the function at a line."""
    from codesearch.cli.hits import View
    from codesearch.search.request import Place

    invocation = invocation_of(context)
    view = View(full=full, explain=explain, color=color)
    form = chosen_format(json=as_json, jsonl=as_jsonl, vimgrep=vimgrep, compact=compact, files=files)
    request = make_request(
        place,
        invocation,
        top_k=top_k,
        lang=lang,
        kind=kind,
        path=path,
        all_code=all_code,
        context=lines,
        changed=changed,
        refresh=refresh,
    )
    named = Place.parse(place)
    engine = invocation.searching_engine(Server(backend, uri, prefix), home, model=model, device=device)
    scope = make_scope(invocation, root, index, everything=everything)
    yield from first_index(engine, scope, invocation, auto_index=auto_index)
    answer = engine.similar(replace(named, path=invocation.path(named.path)), request, scope)
    answer = replace(answer, query=place)
    yield from shown(answer, request, invocation, form=form, view=view)
