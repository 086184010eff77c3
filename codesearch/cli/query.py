"""`codesearch query`: rank what is indexed against a question, keywords or a name."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from codesearch.cli.options import DeviceOption, HomeOption, JsonOption, ModelOption, resolve_home
from codesearch.config import RankConfig, positive
from codesearch.errors import ConfigError

if TYPE_CHECKING:
    from codesearch.cli.render import Answer
    from codesearch.encoding.encoder import OnnxEncoder
    from codesearch.index.reader import IndexReader


def query(
    words: Annotated[list[str], typer.Argument(help="What to look for.", show_default=False)],
    top_k: Annotated[int, typer.Option("-k", "--top-k", help="Answers to show.")] = 10,
    lang: Annotated[list[str] | None, typer.Option("--lang", help="Only this language; repeatable.")] = None,
    path: Annotated[
        list[str] | None, typer.Option("--path", help="Only paths that match this glob; repeatable.")
    ] = None,
    kind: Annotated[
        list[str] | None, typer.Option("--kind", help="Only function, method or class; repeatable.")
    ] = None,
    root: Annotated[
        list[Path] | None, typer.Option("--root", help="Search this indexed folder; repeatable.")
    ] = None,
    all_code: Annotated[bool, typer.Option("--all-code", help="Rank tests like other code.")] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="Search all indexed folders, wherever you are.")
    ] = False,
    mode: Annotated[str, typer.Option("--mode", help="hybrid, lexical or semantic.")] = "hybrid",
    as_json: JsonOption = False,
    as_jsonl: Annotated[bool, typer.Option("--jsonl", help="Print one JSON object an answer.")] = False,
    vimgrep: Annotated[bool, typer.Option("--vimgrep", help="Print path:line:column:signature.")] = False,
    context: Annotated[
        int, typer.Option("--context", "-C", help="Lines of the file to show around each answer.")
    ] = 0,
    explain: Annotated[bool, typer.Option("--explain", help="Show what each signal gave.")] = False,
    model: ModelOption = None,
    device: DeviceOption = "auto",
    home: HomeOption = None,
) -> int:
    """Search in plain words, keywords or an exact name."""
    if as_json + as_jsonl + vimgrep > 1:
        raise ConfigError("--json, --jsonl and --vimgrep exclude each other: give one")
    if context < 0:
        raise ConfigError(f"--context must not be negative, as {context} is")
    from codesearch.cli import render
    from codesearch.index.home import choose_indexes
    from codesearch.index.reader import IndexReader
    from codesearch.search.filters import Filters
    from codesearch.search.searcher import Searcher

    filters = Filters(tuple(lang or ()), tuple(kind or ()), tuple(path or ()))
    roots = [folder.expanduser() for folder in root or []]
    entries = choose_indexes(resolve_home(home), roots=roots, everything=everything, here=Path.cwd())
    indexes = [IndexReader.open(entry.folder) for entry in entries]
    encoder = None if mode == "lexical" else _load_encoder(indexes, model, device)
    text = " ".join(words)
    searcher = Searcher(indexes, encoder, RankConfig(test_penalty=0.0) if all_code else RankConfig())
    started = time.perf_counter()
    hits = searcher.search(text, positive("--top-k", top_k), filters, mode)
    answer: Answer = render.Answer(
        query=text,
        mode=mode,
        model=encoder.name if encoder else "",
        device=encoder.device if encoder else "",
        documents=sum(index.manifest.documents for index in indexes),
        seconds=time.perf_counter() - started,
        hits=hits,
    )
    if as_json:
        render.print_json(answer)
    elif as_jsonl:
        render.print_jsonl(answer)
    elif vimgrep:
        render.print_vimgrep(answer)
    elif sys.stdout.isatty():
        from codesearch.cli.terminal import print_terminal

        print_terminal(answer, context=context, explain=explain)
    else:
        render.print_plain(answer, context=context, explain=explain)
    return 0 if hits else 1


def _load_encoder(indexes: list[IndexReader], model: Path | None, device: str) -> OnnxEncoder:
    """Open the model that the indexes were made with, unless another is named."""
    from codesearch.encoding.encoder import OnnxEncoder

    return OnnxEncoder.load(model or indexes[0].manifest.model_folder, device)
