"""What the commands that answer share: what is searched, by what, and how answers are printed."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from codesearch.cli.options import resolve_home
from codesearch.config import RankConfig
from codesearch.errors import ConfigError

if TYPE_CHECKING:
    from codesearch.cli.render import Answer
    from codesearch.encoding.encoder import OnnxEncoder
    from codesearch.engine.opened import Opened
    from codesearch.index.reader import IndexReader
    from codesearch.search.filters import Filters
    from codesearch.search.searcher import Found, Searcher

    Find = Callable[[Searcher, Filters], Found]


@dataclass(frozen=True, slots=True)
class Output:
    """How answers are printed; without a format, for people."""

    as_json: bool = False
    as_jsonl: bool = False
    vimgrep: bool = False
    context: int = 0
    explain: bool = False

    def check(self) -> None:
        """Raise ConfigError where the options contradict each other."""
        if self.as_json + self.as_jsonl + self.vimgrep > 1:
            raise ConfigError("--json, --jsonl and --vimgrep exclude each other: give one")
        if self.context < 0:
            raise ConfigError(f"--context must not be negative, as {self.context} is")


@dataclass(frozen=True, slots=True)
class Scope:
    """What is searched, by which model, as the options of a command name it; None where they say nothing."""

    languages: list[str] | None
    kinds: list[str] | None
    paths: list[str] | None
    roots: list[Path] | None
    everything: bool
    all_code: bool
    home: Path | None
    model: Path | None
    device: str


def find_answer(query: str, mode: str, scope: Scope, find: Find) -> Answer:
    """Open what is searched, let `find` search it, and time that alone; mode "lexical" needs no model."""
    from codesearch.cli.render import Answer
    from codesearch.search.filters import Filters
    from codesearch.search.searcher import Searcher

    filters = Filters(tuple(scope.languages or ()), tuple(scope.kinds or ()), tuple(scope.paths or ()))
    indexes = open_indexes(scope.home, scope.roots, scope.everything)
    encoder = None if mode == "lexical" else load_encoder(indexes, scope.model, scope.device)
    config = RankConfig().all_code() if scope.all_code else RankConfig()
    searcher = Searcher(indexes, encoder, config)
    started = time.perf_counter()
    found = find(searcher, filters)
    return Answer(
        query=query,
        mode=mode,
        model=encoder.name if encoder else "",
        device=encoder.device if encoder else "",
        documents=sum(index.manifest.documents for index in indexes),
        seconds=time.perf_counter() - started,
        hits=found.hits,
        confidence=found.confidence,
        is_doubtful=found.is_doubtful,
    )


@cache
def opened() -> Opened:
    """Return what this process has open."""
    from codesearch.engine.opened import Opened

    return Opened()


def open_indexes(home: Path | None, roots: list[Path] | None, everything: bool) -> list[IndexReader]:
    """Open what is searched: the roots named, else the one that holds the working directory, else all."""
    from codesearch.index.catalogue import choose_indexes

    folders = [folder.expanduser() for folder in roots or []]
    entries = choose_indexes(resolve_home(home), roots=folders, everything=everything, here=Path.cwd())
    return [opened().index(entry.folder) for entry in entries]


def load_encoder(indexes: list[IndexReader], model: Path | None, device: str) -> OnnxEncoder:
    """Open the model that the indexes were made with, unless another is named."""
    return opened().encoder(model or indexes[0].manifest.model_folder, device)


def print_answer(answer: Answer, output: Output) -> int:
    """Print an answer; return the exit code, 1 where nothing was found."""
    from codesearch.cli import render

    if answer.is_doubtful and not output.as_json:
        print("note: nothing here seems to do this; what comes nearest:", file=sys.stderr)
    if output.as_json:
        render.print_json(answer)
    elif output.as_jsonl:
        render.print_jsonl(answer)
    elif output.vimgrep:
        render.print_vimgrep(answer)
    elif sys.stdout.isatty():
        from codesearch.cli.terminal import print_terminal

        print_terminal(answer, context=output.context, explain=output.explain)
    else:
        render.print_plain(answer, context=output.context, explain=output.explain)
    return 0 if answer.hits else 1
