"""`codesearch status`, `remove`, `config`, `doctor` and `bench`: what is indexed, how, and whether it works well."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from codesearch.cli.invocation import Invocation, Output, notes_of, size_of, stage_progress
from codesearch.cli.options import Home, Json, argument
from codesearch.config import PROJECT_FILE
from codesearch.engine.answer import WIDTH, counts, not_indexed
from codesearch.engine.scope import Scope, covering_index
from codesearch.errors import ConfigError
from codesearch.options import Opt
from codesearch.settings import Device, ModelSettings, ServerSettings, user_file
from codesearch.store.catalogue import is_revision
from codesearch.store.manifest import not_defaults
from codesearch.structure.text import counted
from codesearch.visible import visible

if TYPE_CHECKING:
    from codesearch.engine.answer import IndexStatus
    from codesearch.engine.engine import Engine
    from codesearch.milvus.push import RootStatus

DATA_VARIABLE = "CODESEARCH_BENCH_DATA"
_LEGEND = """ndcg: how well hits are ordered; `all` counts what nobody judged as wrong, `within` leaves it out
recall: share of the right answers among the first hits; screen: share on a terminal of 80 x 24
Row `default` is the product; `bm25` is its keywords alone, `dense` its vectors, `fused` both. 1.0 is best."""
_WIDEST = 30
"""Of the columns of `config`; a longer value does not push those of the others apart."""


def status(
    invocation: Invocation,
    roots: Annotated[list[Path] | None, argument("Folders, or imported indexes.", "[ROOT]...")] = None,
    *,
    warnings: Annotated[bool, Opt("List the warnings of the last run.")] = False,
    changes: Annotated[bool, Opt("Count what an update would do.")] = False,
    server: ServerSettings,
    json: Json = False,
    home: Home = None,
) -> Iterator[Output]:
    """Show what is indexed."""
    fields: Sequence[object]
    parts: Iterable[Iterator[str]]
    if backend := invocation.milvus(server):
        named = [str(invocation.path(root).resolve()) for root in roots or []]
        remote = [one for one in backend.root_statuses() if not named or one.root in named]
        fields, parts, empty, service = remote, map(_remote_lines, remote), server.uri, None
    else:
        from codesearch.service.server import service_at

        engine = invocation.engine(home)
        chosen = (_root(engine, invocation.path(root)) for root in roots or [])
        local = engine.status(*chosen, changes=changes)
        around = covering_index(engine.local_home(), invocation.terminal.here)
        current, service = around.folder if around else None, service_at(engine.local_home())
        fields = [_fields(one, service, current) for one in local]
        parts = (_lines(one, current, engine.local_home(), warnings=warnings) for one in local)
        empty = f"{engine.local_home()}: run `codesearch index FOLDER` first"
    if json:
        yield Output(invocation.terminal.json_text(fields), code=0 if fields else 1)
        return
    if not fields:
        yield Output(err=f"nothing is indexed in {visible(empty)}\n", code=1)
        return
    for part in parts:
        yield Output("".join(f"{visible(line)}\n" for line in part))
    if service:
        yield Output(f"process {service} answers queries (`codesearch serve`)\n")


def _root(engine: Engine, path: Path) -> Path:
    """Return the indexed folder around a folder, else the path: it may be the name of an imported index."""
    entry = covering_index(engine.local_home(), path) if path.is_dir() else None
    return Path(entry.manifest.root) if entry and entry.manifest else path


def _fields(status: IndexStatus, service: int | None, current: Path | None) -> dict[str, Any]:
    folder = str(status.folder)
    if status.error:
        return {"folder": folder, "error": status.error}
    building = asdict(status.building) if status.building else None
    if not status.manifest.commit:
        return {"folder": folder, "root": status.root, "complete": False, "building": building}
    own = ("root", "documents", "files", "languages", "not_indexed", "folders_not_entered", "warnings")
    fields = {"folder": folder, **{name: getattr(status, name) for name in own}}
    for name in ("bytes", "created", "seconds", "model", "settings", "has_sources", "has_code"):
        fields[name] = getattr(status.manifest, name)
    fields |= {"complete": status.manifest.complete, "left": status.manifest.left}
    checked = {"changes": status.changes, "unchecked": status.unchecked, "building": building}
    fields |= {name: value for name, value in checked.items() if value}
    return fields | {"service": service, "current": status.folder == current}


def _remote_lines(status: RootStatus) -> Iterator[str]:
    yield status.root
    yield _documents(status)
    yield f"  indexed    {_age(status.created)}, by shard {status.shard}"


def _documents(status: IndexStatus | RootStatus) -> str:
    begun = f"  documents  {status.documents:,} from {counted(status.files, 'file')}"
    return f"{begun}: {counts(status.languages, WIDTH - len(begun) - 2)}" if status.languages else begun


def _lines(status: IndexStatus, current: Path | None, home: Path, *, warnings: bool) -> Iterator[str]:
    if status.error:
        yield f"{status.folder}"
        yield f"  unusable   {status.error}"
        return
    manifest = status.manifest
    where = "" if Path(status.root).is_dir() else "  (this folder is gone)"
    if manifest.commit and not manifest.has_sources:
        where = f"  (imported {'with' if manifest.has_code else 'without'} code)"
    elif is_revision(home, status.root):
        where = "  (a git revision)"
    yield status.root + where + ("  (you are here)" if status.folder == current else "")
    if status.unfinished:
        yield f"  unfinished {status.unfinished}"
    if not manifest.commit:
        return
    yield _documents(status)
    yield f"  indexed    {_age(manifest.created)}, in {manifest.seconds:.1f} s, {size_of(manifest.bytes)}"
    yield f"  model      {manifest.model['name']} ({manifest.model['id']})"
    if options := _options(manifest.settings):
        yield f"  options    {options}"
    if status.changes:
        changed, removed = status.changes.to_parse, status.changes.removed
        yield f"  changes    {counted(changed, 'file')} new or changed, {removed:,} removed"
    if status.unchecked:
        yield f"  changes    not known: {status.unchecked}"
    yield from not_indexed(status.not_indexed, status.folders_not_entered)
    if status.warnings:
        yield f"  warnings   {len(status.warnings)}"
        yield from (f"    {line}" for line in (status.warnings if warnings else []))


def _options(settings: dict[str, Any]) -> str:
    """List the settings that are not the defaults.

    >>> _options({"exclude": ["*.go", "gen/"], "hidden": True, "max_file_bytes": 20_000_000})
    'exclude *.go gen/, hidden yes, max_file_mb 20'
    """
    chosen = not_defaults(settings)
    if max_bytes := chosen.pop("max_file_bytes", None):
        chosen["max_file_mb"] = f"{max_bytes / 1e6:g}"
    shown = {True: "yes", False: "no"}
    return ", ".join(
        f"{name} {' '.join(value) if isinstance(value, list) else shown.get(value, value)}"
        for name, value in chosen.items()
    )


def _age(created: str) -> str:
    seconds = int((datetime.now(UTC) - datetime.fromisoformat(created)).total_seconds())
    for unit, length in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if count := seconds // length:
            return f"{counted(count, unit)} ago"
    return "just now"


def remove(
    invocation: Invocation,
    folders: Annotated[list[Path] | None, argument("Folders whose indexes to delete.", "[FOLDER]...")] = None,
    *,
    all: Annotated[bool, Opt("Delete all indexes, with the files of git revisions.")] = False,
    home: Home = None,
) -> Iterator[Output]:
    """Delete indexes. The folders themselves do not change."""
    if not folders and not all:
        raise ConfigError("nothing to remove", "name an indexed folder, or give --all")
    engine = invocation.engine(home)
    engine.remove(*map(invocation.path, folders or []))
    for folder in folders or []:
        yield Output(f"{visible(str(folder))}: index removed\n")
    if all:
        for root in engine.remove_all():
            yield Output(f"{visible(str(root))}: index removed\n")


def config(invocation: Invocation, json: Json = False) -> Iterator[Output]:
    """Show the settings in this folder and where they come from."""
    found = invocation.settings()
    if json:
        fields = {name: {"value": value.value, "source": value.source} for name, value in found.items()}
        yield Output(invocation.terminal.json_text(fields))
        return
    rows = [(name, dumps(value.value), value.source) for name, value in found.items()]
    widths = [min(max(len(row[column]) for row in rows), _WIDEST) for column in (0, 1)]
    for name, text, source in rows:
        line = f"{name:<{widths[0]}}  {text:<{widths[1]}}  {source}"
        yield Output(f"{visible(line)}\n")
    path = user_file(invocation.terminal.variables, invocation.user_home)
    yield Output(f"\nset them in {visible(str(path))} or in {PROJECT_FILE} of a project\n")


def doctor(invocation: Invocation, device: Device = "auto", home: Home = None) -> Iterator[Output]:
    """Check the installation, the model and every index."""
    code = 0
    for check in invocation.engine(home, ModelSettings(device=device)).verify():
        code = 2 if check.state == "FAIL" else code
        yield Output(f"{check.state:4}  {check.name:12} {visible(check.detail)}\n", code=code)


def bench(
    invocation: Invocation,
    suite: Annotated[str | None, Opt("`help` lists them; default: csn99 with --data, else smoke.")] = None,
    data: Annotated[Path | None, Opt(f"Folder of the suite's data; default: ${DATA_VARIABLE}.")] = None,
    questions: Annotated[
        Path | None, Opt("Ask your own questions in this folder: a file of JSON lines.")
    ] = None,
    json_file: Annotated[Path | None, Opt("Write all scores to this file.", "--json")] = None,
    *,
    models: ModelSettings,
    home: Home = None,
) -> Iterator[Output]:
    """Measure search quality with questions whose answers are known.

    It indexes a suite's sources in a separate home, and scores the results of the product and of its parts.
    """
    from codesearch.evaluation.judge import BenchOptions
    from codesearch.evaluation.result import result_text, write_json
    from codesearch.evaluation.suites import SUITES, run_suite

    if suite == "help":
        width = max(map(len, SUITES))
        yield Output("".join(f"{name:{width}}  {what}\n" for name, (what, _) in SUITES.items()))
        return
    if questions and (suite or data):
        cure = "give it only --json, --model and --device"
        raise ConfigError("--questions asks the index of this folder", cure)
    to_json = json_file and invocation.path(json_file)
    if to_json and (to_json.is_dir() or not os.access(to_json.parent, os.W_OK)):  # The run may be long.
        raise ConfigError(f"{to_json}: cannot be written", "give a file in an existing folder")
    engine = invocation.engine(home, models)
    if questions:
        from codesearch.evaluation.questions import questions_text, read_own_questions, score_questions

        asked = read_own_questions(invocation.path(questions))
        session = yield from invocation.session(engine, Scope(here=invocation.terminal.here))
        with stage_progress("questions") as on_progress:
            result = score_questions(session, asked, on_progress)
        text = questions_text(invocation.path(questions), result)
        yield Output(text, notes_of(session.freshness))
    else:
        named = data or invocation.terminal.variables.get(DATA_VARIABLE)
        name = suite or ("csn99" if named else "smoke")
        with stage_progress(name) as on_progress:
            options = BenchOptions(
                home=engine.local_home(),
                data=invocation.path(Path(named)) if named else None,
                model=models.model and invocation.path(models.model),
                device=models.device,
                on_progress=on_progress,
            )
            result = run_suite(name, options)
        yield Output(f"{result_text(result)}\n{name}: {SUITES[name][0]}\n{_LEGEND}\n")
    if to_json:
        write_json(to_json, result, shlex.join(["codesearch", *invocation.arguments]))
