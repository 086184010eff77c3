"""`codesearch index`: bring the index of each folder up to date."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from codesearch.cli.amounts import amount, counts, not_indexed_lines
from codesearch.cli.invocation import Invocation, Output, Server, invocation_of
from codesearch.cli.options import (
    DEFAULT_URI,
    BackendOption,
    DeviceOption,
    HomeOption,
    ModelOption,
    PrefixOption,
    UriOption,
    positive,
)
from codesearch.cli.progress import build_progress
from codesearch.config import IndexOptions, WalkConfig
from codesearch.errors import ConfigError
from codesearch.visible import visible

if TYPE_CHECKING:
    from codesearch.engine.engine import Engine
    from codesearch.engine.remote import MilvusBackend
    from codesearch.engine.reports import IndexReport

_SHOWN_WARNINGS = 10
_DEFAULTS = WalkConfig()


def index(
    context: typer.Context,
    folders: Annotated[
        list[Path] | None,
        typer.Argument(help="Folders to index; default: the current one.", show_default=False),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option(
            "--exclude", help="Skip paths that match this .gitignore pattern; repeatable; '' for no patterns."
        ),
    ] = None,
    lang: Annotated[
        list[str] | None,
        typer.Option("--lang", help="Index only this language; repeatable; '' for all languages."),
    ] = None,
    hidden: Annotated[
        bool | None,
        typer.Option("--hidden/--no-hidden", help="Enter names that begin with a dot; default: no."),
    ] = None,
    ignore: Annotated[
        bool | None,
        typer.Option("--ignore/--no-ignore", help="Respect .gitignore and .codesearchignore; default: yes."),
    ] = None,
    follow: Annotated[
        bool | None, typer.Option("--follow/--no-follow", help="Follow symbolic links; default: no.")
    ] = None,
    max_file_mb: Annotated[
        int | None,
        typer.Option(
            "--max-file-mb",
            help=f"Skip larger files; default: {_DEFAULTS.max_file_bytes // 1_000_000}.",
        ),
    ] = None,
    content: Annotated[
        str | None,
        typer.Option(
            "--content",
            help=f"What to index besides code: docs, config or all; default: {_DEFAULTS.content} alone.",
        ),
    ] = None,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Make a new index, with only the options given now.")
    ] = False,
    optimize: Annotated[
        bool,
        typer.Option("--optimize", help="Merge all segments into one: faster queries over a large index."),
    ] = False,
    shard: Annotated[
        str | None,
        typer.Option(
            "--shard", help="I/N: the argument is a file that lists folders; index part I of N of them."
        ),
    ] = None,
    model: ModelOption = None,
    device: DeviceOption = "auto",
    backend: BackendOption = "local",
    uri: UriOption = DEFAULT_URI,
    prefix: PrefixOption = "codesearch",
    vector_index: Annotated[
        str, typer.Option("--vector-index", help="Index for vectors of a new collection: hnsw or ivf_sq8.")
    ] = "hnsw",
    home: HomeOption = None,
) -> Iterator[Output]:
    """Index folders, or update their indexes.

    Only new and changed files are parsed. Options that are not given keep the values of the last run.
    """
    invocation = invocation_of(context)
    options = IndexOptions(
        exclude=_listed(exclude),
        languages=_listed(lang),
        hidden=hidden,
        ignore_files=ignore,
        follow_links=follow,
        max_file_bytes=positive("--max-file-mb", max_file_mb) * 1_000_000
        if max_file_mb is not None
        else None,
        content=content,
    )
    server = Server(backend, uri, prefix, vector_index)
    roots = _of_shard(shard, folders, invocation) if shard else folders or [Path()]
    if not roots:
        yield Output(err=f"note: no folder of the list belongs to shard {shard}\n")
    if server.is_remote:
        yield from _pushed(
            invocation.milvus(server),
            invocation.engine(home, model=model, device=device),
            [invocation.path(root) for root in roots],
            shard or "1/1",
            options,
            rebuild,
        )
        return
    engine = invocation.engine(home, model=model, device=device)
    for folder in roots:
        with build_progress(folder.name) as on_progress:
            report = engine.index(
                invocation.path(folder), options, rebuild=rebuild, optimize=optimize, on_progress=on_progress
            )
        yield _built(folder, report, merged=optimize) if report.built else _current(folder, report)


def _of_shard(shard: str, folders: list[Path] | None, invocation: Invocation) -> list[Path]:
    """Return the folders of one shard of a list.

    Raises:
        ConfigError: the shard is wrong, or the argument is not one file with folders.
    """
    from codesearch.engine.remote import parse_shard, shard_of

    number, count = parse_shard(shard)
    if not folders or len(folders) != 1:
        raise ConfigError("--shard: give one argument, a file that lists the folders to index")
    try:
        lines = invocation.path(folders[0]).read_text("utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise ConfigError(f"{folders[0]}: {error}: give a file that lists the folders to index") from None
    named = [Path(line.strip()) for line in lines if line.strip() and not line.startswith("#")]
    roots = {str(invocation.path(root).resolve()): root for root in named}
    return [root for path, root in roots.items() if shard_of(path, count) == number]


def _pushed(
    backend: MilvusBackend,
    engine: Engine,
    roots: list[Path],
    shard: str,
    options: IndexOptions,
    rebuild: bool,
) -> Iterator[Output]:
    """Index folders and write them to a server."""
    with build_progress(f"shard {shard}") as on_progress:
        reports = backend.push(engine, roots, shard, options, rebuild=rebuild, on_progress=on_progress)
    for report in reports:
        yield Output(
            f"{report.root}: {amount(report.documents, 'document')} on the server, {report.written:,} written, "
            f"{report.deleted:,} deleted in {report.seconds:.1f} s\n"
        )


def _listed(values: list[str] | None) -> tuple[str, ...] | None:
    """Return the values of a repeatable option, or None if it is not given; an empty value clears it."""
    return tuple(filter(None, values)) if values else None


def _current(folder: Path, report: IndexReport) -> Output:
    return Output(f"{visible(str(folder))}: nothing to do, {_up_to_date(report)}\n")


def _up_to_date(report: IndexReport) -> str:
    are = "is" if report.documents == 1 else "are"
    return f"{amount(report.documents, 'document')} {are} up to date ({report.seconds:.2f} s)"


def _built(folder: Path, report: IndexReport, *, merged: bool) -> Output:
    if not report.parsed and not report.removed and report.kept:
        done = "merged" if merged else "nothing to parse"
        return Output(f"{visible(str(folder))}: {done}, {_up_to_date(report)}\n")
    documents, files = amount(report.documents, "document"), amount(report.files, "file")
    out = [f"{folder}: {documents} from {files} in {report.seconds:.1f} s"]
    if report.languages:
        out.append(f"  languages  {counts(report.languages)}")
    out.append(
        f"  files      {report.parsed:,} parsed, {report.kept:,} unchanged, {report.removed:,} removed"
    )
    out.append(
        f"  encoder    {report.model} on {report.device}: {amount(report.embedded, 'text')} embedded, "
        f"{report.cached:,} reused"
    )
    out.extend(not_indexed_lines(report.not_indexed, report.folders_not_entered))
    return Output("".join(f"{visible(line)}\n" for line in out), "".join(_warnings(folder, report)))


def _warnings(folder: Path, report: IndexReport) -> Iterator[str]:
    if not report.documents:
        yield f"warning: {visible(str(folder))}: no functions or classes found in any supported language\n"
    for line in report.warnings[:_SHOWN_WARNINGS]:
        yield f"warning: {visible(line)}\n"
    if (more := len(report.warnings) - _SHOWN_WARNINGS) > 0:
        yield f"warning: {more} more, see `codesearch status --warnings`\n"
    yield from earlier_format(report)
    yield from missing_parsers(report)


def earlier_format(report: IndexReport) -> Iterator[str]:
    """Yield a line if the index of an earlier version was made again."""
    if report.was_earlier_format:
        root = visible(str(report.root))
        yield f"note: an earlier version of codesearch made the index of {root}; it was made again\n"


def missing_parsers(report: IndexReport) -> Iterator[str]:
    """Yield a line if no installed parser can read the files of some languages."""
    missing = sorted(report.manifest.missing_grammars.items())
    if missing:
        from codesearch.installation import how_to_add
        from codesearch.parsing.languages import distributions

        files = ", ".join(amount(count, f"{language} file") for language, count in missing)
        cure = how_to_add(*distributions(language for language, _ in missing))
        yield f"warning: skipped {files}: no parser installed: {cure}\n"
