"""`codesearch status`, `remove`, `config` and `doctor`: what is indexed, with which settings, and whether it works."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import codesearch
from codesearch.cli.invocation import Output, invocation_of
from codesearch.cli.notes import counted, counts, not_indexed_lines, size_of
from codesearch.cli.options import Home, Json, argument
from codesearch.config import PROJECT_FILE
from codesearch.engine.scope import covering_index
from codesearch.errors import CodeSearchError, ConfigError
from codesearch.options import Opt
from codesearch.settings import SETTINGS, Device, ModelSettings, ServerSettings, user_file
from codesearch.store.catalogue import is_revision
from codesearch.store.manifest import not_defaults
from codesearch.visible import visible

if TYPE_CHECKING:
    from codesearch.engine.engine import Engine
    from codesearch.engine.reports import Check, IndexStatus

_WIDEST = 30
"""Of the columns of `config`; a longer value does not push those of the others apart."""
_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000
_NETWORK_EVENTS = (
    "socket.connect",
    "socket.getaddrinfo",
    "socket.gethostbyname",
    "socket.sendto",
    "urllib.Request",
)


def status(
    context: typer.Context,
    roots: Annotated[
        list[Path] | None, argument("Indexed folders, or names of imported indexes.", "[ROOT]...")
    ] = None,
    *,
    warnings: Annotated[bool, Opt("List the warnings of the last run.")] = False,
    changes: Annotated[bool, Opt("Walk each folder and count what an update would do.")] = False,
    server: ServerSettings,
    json: Json = False,
    home: Home = None,
) -> Iterator[Output]:
    """Show what is indexed."""
    invocation = invocation_of(context)
    if backend := invocation.milvus(server):
        named = [str(invocation.path(root).resolve()) for root in roots or []]
        remote = [one for one in backend.root_statuses() if not named or one.root in named]
        if json:
            text = invocation.terminal.json_text(list(map(asdict, remote)), indent=2)
            yield Output(text, code=0 if remote else 1)
        else:
            for top in remote:
                yield Output(
                    f"{visible(top.root)}\n"
                    f"  documents  {top.documents:,} from {counted(top.files, 'file')}: {counts(top.languages)}\n"
                    f"  indexed    {_age(top.created)}, by shard {top.shard}\n"
                )
            if not remote:
                yield Output(err=f"nothing is indexed in {server.uri}\n", code=1)
        return
    from codesearch.service.server import service_at

    engine = invocation.engine(home)
    found = engine.status(*(_root(engine, invocation.path(root)) for root in roots or []), changes=changes)
    around = covering_index(engine.home, invocation.terminal.here)
    current = around.folder if around else None
    service = service_at(engine.home)
    if json:
        fields = [_fields(one, service, current) for one in found]
        yield Output(invocation.terminal.json_text(fields, indent=2), code=0 if found else 1)
        return
    if not found:
        yield Output(
            err=f"nothing is indexed in {visible(str(engine.home))}: run `codesearch index FOLDER` first\n",
            code=1,
        )
        return
    for one in found:
        yield Output(
            "".join(f"{visible(line)}\n" for line in _lines(one, current, engine.home, warnings=warnings))
        )
    if service:
        yield Output(f"process {service} answers queries (`codesearch serve`)\n")


def _root(engine: Engine, path: Path) -> Path:
    """Return the indexed folder around a folder, else the path: it may be the name of an imported index."""
    entry = covering_index(engine.home, path) if path.is_dir() else None
    return Path(entry.manifest.root) if entry and entry.manifest else path


def _fields(found: IndexStatus, service: int | None, current: Path | None) -> dict[str, Any]:
    if found.error:
        return {"folder": str(found.folder), "error": found.error}
    manifest = found.manifest
    names = ("root", "documents", "files", "languages", "not_indexed", "folders_not_entered", "warnings")
    fields = {"folder": str(found.folder)} | {name: getattr(found, name) for name in names}
    for name in ("bytes", "created", "seconds", "model", "settings"):
        fields[name] = getattr(manifest, name)
    if found.changes:
        fields["changes"] = asdict(found.changes)
    if found.unchecked:
        fields["unchecked"] = found.unchecked
    sources = {"has_sources": manifest.has_sources, "has_code": manifest.has_code}
    return fields | sources | {"service": service, "current": found.folder == current}


def _lines(found: IndexStatus, current: Path | None, home: Path, *, warnings: bool) -> Iterator[str]:
    if found.error:
        yield f"{found.folder}"
        yield f"  unusable   {found.error}"
        return
    manifest = found.manifest
    where = "" if Path(found.root).is_dir() else "  (this folder is gone)"
    if not manifest.has_sources:
        where = f"  (imported {'with' if manifest.has_code else 'without'} code)"
    elif is_revision(home, found.root):
        where = "  (a git revision)"
    yield found.root + where + ("  (you are here)" if found.folder == current else "")
    languages = f": {counts(found.languages)}" if found.languages else ""
    yield f"  documents  {found.documents:,} from {counted(found.files, 'file')}{languages}"
    yield f"  indexed    {_age(manifest.created)}, in {manifest.seconds:.1f} s, {size_of(manifest.bytes)}"
    yield f"  model      {manifest.model['name']} ({manifest.model['id']})"
    if options := _options(manifest.settings):
        yield f"  options    {options}"
    if found.changes:
        changed, removed = found.changes.to_parse, found.changes.removed
        yield f"  changes    {counted(changed, 'file')} new or changed, {removed:,} removed"
    if found.unchecked:
        yield f"  changes    not known: {found.unchecked}"
    yield from not_indexed_lines(found.not_indexed, found.folders_not_entered)
    if found.warnings:
        yield f"  warnings   {len(found.warnings)}"
        yield from (f"    {line}" for line in (found.warnings if warnings else []))


def _options(settings: dict[str, Any]) -> str:
    """List the settings that are not the defaults.

    >>> _options({"exclude": ["*.go", "gen/"], "hidden": True, "max_file_bytes": 20_000_000})
    'exclude *.go gen/, hidden yes, max_file_mb 20'
    """
    chosen = not_defaults(settings)
    if max_bytes := chosen.pop("max_file_bytes", None):
        chosen["max_file_mb"] = f"{max_bytes / 1e6:g}"
    words = {
        name: ("no", "yes")[value] if isinstance(value, bool) else value for name, value in chosen.items()
    }
    return ", ".join(
        f"{name} {' '.join(value) if isinstance(value, list) else value}" for name, value in words.items()
    )


def _age(created: str) -> str:
    seconds = int((datetime.now(UTC) - datetime.fromisoformat(created)).total_seconds())
    for unit, length in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if count := seconds // length:
            return f"{counted(count, unit)} ago"
    return "just now"


def remove(
    context: typer.Context,
    folders: Annotated[list[Path] | None, argument("Folders whose indexes to delete.")] = None,
    *,
    all: Annotated[bool, Opt("Delete all indexes.")] = False,
    cache: Annotated[bool, Opt("Also delete unpacked portable files.")] = False,
    home: Home = None,
) -> Iterator[Output]:
    """Delete indexes. The folders themselves do not change."""
    if not folders and not all and not cache:
        raise ConfigError("nothing to remove", "name an indexed folder, or give --all or --cache")
    invocation = invocation_of(context)
    engine = invocation.engine(home)
    engine.remove(*map(invocation.path, folders or []))
    for folder in folders or []:
        yield Output(f"{visible(str(folder))}: index removed\n")
    for root in engine.remove_all() if all else []:
        yield Output(f"{visible(str(root))}: index removed\n")
    if cache:
        engine.clear_cache()
        yield Output("cache removed\n")


def config(
    context: typer.Context,
    explain: Annotated[bool, Opt("Say what each setting means.")] = False,
    json: Json = False,
) -> Iterator[Output]:
    """Show the settings in this folder and where they come from."""
    invocation = invocation_of(context)
    found = invocation.settings()
    if json:
        fields = {name: {"value": value.value, "source": value.source} for name, value in found.items()}
        yield Output(invocation.terminal.json_text(fields, indent=2))
        return
    rows = [(name, dumps(value.value), value.source) for name, value in found.items()]
    widths = [min(max(len(row[column]) for row in rows), _WIDEST) for column in (0, 1)]
    for name, text, source in rows:
        line = f"{name:<{widths[0]}}  {text:<{widths[1]}}  {source}"
        yield Output(f"{visible(line)}\n" + (f"    {SETTINGS[name].opt.help}\n" if explain else ""))
    path = user_file(invocation.terminal.variables, invocation.user_home)
    yield Output(f"\nset them in {visible(str(path))} or in {PROJECT_FILE} of a project\n")


def doctor(
    context: typer.Context,
    offline: Annotated[bool, Opt("Index and query a small tree without network access.")] = False,
    device: Device = ModelSettings.device,
    home: Home = None,
) -> Iterator[Output]:
    """Check the installation, the model and every index."""
    checks = (
        _offline_checks(device) if offline else invocation_of(context).engine(home, device=device).verify()
    )
    code = 0
    for check in checks:
        code = 2 if check.state == "FAIL" else code
        yield Output(f"{check.state:4}  {check.name:12} {visible(check.detail)}\n", code=code)


def _offline_checks(device: str) -> Iterator[Check]:
    """Index and query a tree of this package's own sources without a network."""
    import ctypes
    import tempfile

    from codesearch.engine.reports import Check

    libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None
    # An unprivileged process needs a new user namespace too. Only a single-threaded process may enter one.
    if libc and any(libc.unshare(flags) == 0 for flags in (_CLONE_NEWNET, _CLONE_NEWUSER | _CLONE_NEWNET)):
        yield Check("network", "ok", "this process runs in a namespace without network interfaces")
    else:
        yield Check("network", "none", "no network namespaces here: only recording attempts to connect")
    attempts: list[str] = []

    def on_event(event: str, arguments: tuple[object, ...]) -> None:
        # The address of a Unix socket is a path; worker processes use them.
        is_local = event in ("socket.connect", "socket.sendto") and isinstance(arguments[-1], str | bytes)
        if event in _NETWORK_EVENTS and not is_local:
            attempts.append(event)
            raise ConnectionRefusedError(f"{event} refused: offline check")

    sys.addaudithook(on_event)
    # Windows does not delete files that are still mapped.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        try:
            best = _index_and_query(Path(folder), device)
        except CodeSearchError as error:
            yield Check("offline", "FAIL", str(error))
            return
    if attempts:
        yield Check("offline", "FAIL", f"codesearch tried to use the network: {', '.join(attempts)}")
    else:
        yield Check("offline", "ok", f"indexed and queried without a network; best answer {best}")


def _index_and_query(folder: Path, device: str) -> str:
    import shutil

    from codesearch.engine.engine import Engine
    from codesearch.engine.scope import Scope

    root = folder / "tree"
    shutil.copytree(Path(codesearch.__file__).parent / "parsing", root)
    engine = Engine(folder / "home", device=device)
    engine.index(root)
    hits = engine.search("split an identifier into subtokens", Scope()).hits
    engine.close()
    if not hits:
        raise CodeSearchError("the query found nothing", "install or export the model again")
    return f"{hits[0].path}:{hits[0].start_line} {hits[0].qualified_name}"
