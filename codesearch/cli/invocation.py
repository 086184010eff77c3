"""One run of a command line: facts about the process that started it, its output, and its progress.

A command is a generator of `Output`. It takes the environment and the working directory only from its invocation, so
the service can run commands of many processes at the same time.
"""

from __future__ import annotations

import json
import math
import os
import re
import sys
from collections.abc import Callable, Coroutine, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from codesearch.engine.scope import Scope
from codesearch.errors import NO_MEMORY, CodeSearchError, ConfigError, IndexNotFoundError, lacks_memory
from codesearch.search.forms import parse_asked
from codesearch.search.request import Filters
from codesearch.settings import (
    IndexingSettings,
    ModelSettings,
    ServerSettings,
    Value,
    group_folders,
    settings_in_force,
)
from codesearch.structure.text import MAX_LINE, counted
from codesearch.visible import visible, visible_json

if TYPE_CHECKING:
    from codesearch.build.build import Progress, ProgressCallback
    from codesearch.cli.options import AnswerOptions, FilterOptions
    from codesearch.engine.answer import Freshness, IndexSummary
    from codesearch.engine.engine import Engine
    from codesearch.engine.indexer import SearchBackend
    from codesearch.engine.pool import Pool
    from codesearch.engine.remote import MilvusBackend
    from codesearch.engine.revisions import Revision
    from codesearch.engine.session import Session
    from codesearch.types import Coverage

_WIDTH = 80
_COLUMNS = re.compile("[1-9][0-9]{0,4}")
TOKEN = "CODESEARCH_MILVUS_TOKEN"
"""Environment variable with user:password or the key of a Milvus server."""
_SETTLED_S, _SETTLED = 3.0, 0.1
"""Before this time and this share, no time that is left is shown."""
_STAGES = {"parse": "reading", "write": "writing", "commit": "syncing"}


class Output(NamedTuple):
    """Text for stdout and stderr, the exit code so far, and a conversation that follows, over stdio or two streams."""

    out: str = ""
    err: str = ""
    code: int = 0
    converse: Callable[..., Coroutine[Any, Any, None]] | None = None


@dataclass(frozen=True, slots=True)
class Terminal:
    """Where output is shown."""

    here: Path  # The working directory; paths below it are shown relative to it.
    is_terminal: bool = False
    width: int = _WIDTH
    height: int = 0  # 0 if stdout is no terminal.
    encoding: str = "utf-8"
    variables: Mapping[str, str] = field(default_factory=dict)  # Of the environment.
    shown: Mapping[str, str] = field(default_factory=dict)  # Indexed folder -> what is shown in its place.

    @property
    def max_line(self) -> int:
        """Characters of a line that are shown."""
        return self.width if self.is_terminal else MAX_LINE

    def json_text(self, value: object, indent: int | None = 2) -> str:
        """Return JSON, also of records, with escapes for what is not safe to print or what stdout cannot encode."""
        is_limited = self.encoding.lower() not in ("utf-8", "utf8")
        text = json.dumps(value, indent=indent, ensure_ascii=is_limited, default=asdict)
        return f"{visible_json(text)}\n"


@dataclass(frozen=True, slots=True)
class Invocation:
    """Facts about the process that started a command line."""

    terminal: Terminal
    home: Path  # Unless an option names one.
    user_home: Path
    arguments: Sequence[str] = ()
    stdin: str | None = None  # The text on it, if the command line asks for it.
    pool: Pool | None = None  # What is open in the service; None if the process runs the command itself.

    @classmethod
    def of(cls, facts: Mapping[str, Any], pool: Pool | None = None) -> Invocation:
        """Read what `codesearch.service.client.facts` collected."""
        here, variables = Path(facts["folder"]), dict(facts["variables"])
        (is_terminal, encoding), _ = facts["streams"]
        columns = variables.get("COLUMNS", "")
        width = int(columns) if _COLUMNS.fullmatch(columns) else int(facts["columns"]) or _WIDTH
        height = int(facts["lines"]) if is_terminal else 0
        terminal = Terminal(here, bool(is_terminal), width, height, str(encoding or "utf-8"), variables)
        homes = here / facts["home"], Path(facts["user_home"])
        return cls(terminal, *homes, facts["arguments"], facts["stdin"], pool)

    def settings(self) -> dict[str, Value]:
        """Return the settings in force in the working directory of the process."""
        return settings_in_force(self.terminal.here, self.terminal.variables, self.user_home)

    def path(self, path: Path) -> Path:
        """Return the path that the process means; if the command runs in that process, return it as it was typed."""
        first, *rest = path.parts or ("",)
        if first == "~":
            return self.user_home.joinpath(*rest)
        return path if self.pool is None else self.terminal.here / path

    def engine(
        self,
        home: Path | None = None,
        models: ModelSettings | None = None,
        backend: SearchBackend | None = None,
    ) -> Engine:
        """Return an engine for the home and the model that options name."""
        from codesearch.engine.engine import Engine

        home, models = self.path(home) if home else self.home, models or ModelSettings()
        model = models.model and self.path(models.model)
        return Engine(home, model=model, device=models.device, pool=self.pool, backend=backend)

    def scope(self, options: AnswerOptions, paths: Sequence[str] = ()) -> Scope:
        """Return where to search, as options and existing files or folders say it."""
        roots, group = tuple(map(self.path, options.root)), options.group
        if group and (roots or options.all):
            raise ConfigError("--group excludes --root and --all", "give only one of them")
        within = tuple(self.path(Path(path)) for path in paths)
        for path, whole in zip(paths, within, strict=True):
            if not options.at and not os.path.exists(whole):
                raise ConfigError(f"{path} does not exist", "give files or folders")
        # The service has its own environment, so the name is looked up here.
        folders = group_folders(group, self.terminal.variables, self.user_home) if group else ()
        return Scope(roots, self.terminal.here, options.all, within, options.at, folders=folders)

    def filters(self, options: FilterOptions) -> Filters:
        """Return which documents may be hits."""
        return Filters(options.lang, paths=options.path, here=self.terminal.here)

    def place(self, text: str) -> str:
        """Return a place with the whole path of its file if that exists; the service has another working directory."""
        asked = parse_asked(text)
        whole = os.path.abspath(self.terminal.here / self.path(Path(asked.path)))
        is_inside = asked.path and (asked.first or asked.inside) and os.path.exists(whole)
        return f"{whole}{text.strip().removeprefix(asked.path)}" if is_inside else text

    def session(
        self, engine: Engine, scope: Scope, options: IndexingSettings | None = None, *, complete: bool = False
    ) -> Generator[Output, None, Session]:
        """Open a session, and say in one line each what was indexed for it; `complete` allows long updates too."""
        from codesearch.engine.indexer import REFRESH_S
        from codesearch.engine.session import Policy

        done: list[Output] = []

        def indexing(wanted: Path | Revision, index: Callable[..., IndexSummary]) -> None:
            name = str(wanted) if isinstance(wanted, Path) else f"{wanted.name} of {wanted.project}"
            with build_progress(os.path.basename(name)) as on_progress:
                summary = index(on_progress=on_progress)
            line = f"indexed {visible(name)}: {counted(summary.documents, 'document')} in {summary.seconds:.1f} s\n"
            why_empty = [
                f"warning: {visible(warning)}\n" for warning in summary.warnings[:1] if not summary.documents
            ]
            done.append(Output(err="".join([line, build_notes(summary), *why_empty])))

        may_index = options is None or options.auto_index
        budget_s = math.inf if complete else REFRESH_S
        may_compare = getattr(options, "refresh", True)
        policy = Policy(may_index and not self.pool, budget_s if may_compare else None, indexing)
        try:
            session = engine.session(scope, policy)
        finally:
            yield from done
        if self.pool and may_index and session.missing:
            raise IndexNotFoundError("a folder of the group is not indexed", "its client indexes it")
        return session

    def showing(self, revision: Revision | None) -> Terminal:
        """Return the terminal that shows the files of a revision as git names them."""
        shown = {} if revision is None else {str(revision.folder): revision.shown}
        return replace(self.terminal, shown=shown)

    def milvus(self, server: ServerSettings) -> MilvusBackend | None:
        """Return the documents of the server that options name; None if they name the indexes of this machine."""
        if server.backend == "local":
            return None
        from codesearch.engine.remote import MilvusBackend
        from codesearch.milvus.store import Connection

        token = self.terminal.variables.get(TOKEN, "")
        return MilvusBackend(Connection(server.uri, token, server.prefix))


def outputs(command: Iterator[Output]) -> Iterator[Output]:
    """Yield the outputs of a command; an error becomes the last one, with exit code 2."""
    try:
        yield from command
        return
    except CodeSearchError as error:
        reason = str(error)
    except (MemoryError, RuntimeError, OSError) as error:
        if not lacks_memory(error):
            raise
        reason = NO_MEMORY
    except ImportError as error:  # Also if the system has no memory for a library.
        reason = f"a package cannot be loaded ({error}): run `codesearch doctor`, or install codesearch again"
    yield Output(err=f"error: {visible(reason)}\n", code=2)


def size_of(count: int) -> str:
    """Return a number of bytes with its unit."""
    return f"{-(-count // 1000)} kB" if count < 1_000_000 else f"{count / 1e6:,.1f} MB"


@contextmanager
def build_progress(name: str, unit: str = "document") -> Iterator[ProgressCallback]:
    """Show a bar on stderr while a build runs, if stderr is a terminal."""
    with stage_progress(name) as show:

        def on_progress(progress: Progress) -> None:
            stage = f"{_STAGES[progress.stage]}, {counted(progress.documents, unit)}"
            show(stage, progress.done_bytes, progress.total_bytes)

        yield on_progress


@contextmanager
def stage_progress(name: str) -> Iterator[Callable[[str, int, int], None]]:
    """Show the stage and progress of a long command on stderr, if stderr is a terminal."""
    if not sys.stderr.isatty():
        yield lambda stage, done, total: None
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[left]}"),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(escape(visible(name)), total=None, left="")

        def show(stage: str, done: int, total: int) -> None:
            if done < bar.tasks[0].completed:  # Another stage begins.
                bar.reset(task)
            seconds = seconds_left(bar.tasks[0].elapsed or 0.0, done, total)
            left = f"{seconds:.0f} s left" if seconds else ""
            text = escape(f"{visible(name)}: {stage}")
            bar.update(task, description=text, completed=done, total=total or None, left=left)

        yield show


def seconds_left(elapsed: float, done: int, total: int) -> float | None:
    """Return how long the rest takes at the mean speed so far, which files of one kind or pauses change little.

    >>> seconds_left(10.0, 20, 100), seconds_left(1.0, 50, 100), seconds_left(10.0, 5, 100)
    (40.0, None, None)
    """
    is_settled = elapsed >= _SETTLED_S and done > total * _SETTLED
    return elapsed * (total - done) / done if is_settled else None


def build_notes(summary: IndexSummary) -> str:
    """Say if the index of an earlier version was made again, and which files have no parser."""
    notes = []
    if summary.was_earlier_format:
        root = visible(str(summary.root))
        notes.append(f"note: an earlier version of codesearch made the index of {root}; it was made again\n")
    if missing := sorted(summary.manifest.missing_grammars.items()):
        from codesearch.installation import how_to_add
        from codesearch.languages import distributions

        files = ", ".join(counted(count, f"{language} file") for language, count in missing)
        cure = how_to_add(*distributions(language for language, _ in missing))
        notes.append(f"warning: {files} cut into blocks: no parser installed: {cure}\n")
    return "".join(notes)


def notes_of(
    freshness: Iterable[Freshness], coverage: Coverage | None = None, *, is_few: bool = False
) -> str:
    """Say which indexes are older than their folders, and what an answer did not see if that matters."""
    notes = [*(index.note for index in freshness), coverage.note(is_few=is_few) if coverage else ""]
    return "".join(f"note: {note}\n" for note in notes if note)
