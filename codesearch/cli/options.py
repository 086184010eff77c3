"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from codesearch.errors import ConfigError
from codesearch.types import KINDS

HomeOption = Annotated[
    Path | None,
    typer.Option(
        "--home",
        help="Folder of all indexes; default: $CODESEARCH_HOME, or codesearch in your data folder.",
        show_default=False,
    ),
]
ModelOption = Annotated[
    Path | None,
    typer.Option("--model", help="Folder of a model bundle; default: the one in use, else the shipped one."),
]
DeviceOption = Annotated[str, typer.Option("--device", help="Where the model runs: auto, cpu or cuda.")]
DEFAULT_URI = "http://localhost:19530"
BackendOption = Annotated[str, typer.Option("--backend", help="Where the documents are: local or milvus.")]
UriOption = Annotated[str, typer.Option("--uri", help="Address of the Milvus server.")]
PrefixOption = Annotated[str, typer.Option("--prefix", help="Begins the names of the collections in Milvus.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
JsonLinesOption = Annotated[bool, typer.Option("--jsonl", help="Print one JSON object for each hit.")]
VimgrepOption = Annotated[bool, typer.Option("--vimgrep", help="Print path:line:column:signature.")]
CompactOption = Annotated[bool, typer.Option("--compact", help="Print one line for each hit.")]
FilesOption = Annotated[bool, typer.Option("--files", "-l", help="Print only the paths of files with hits.")]
ColorOption = Annotated[str, typer.Option("--color", help="Colours and links: auto, always or never.")]
FullOption = Annotated[bool, typer.Option("--full", help="Show whole bodies.")]
ContextOption = Annotated[
    int, typer.Option("--context", "-C", help="Lines of the file to show around each hit.")
]
ExplainOption = Annotated[bool, typer.Option("--explain", help="Show what each part added to the score.")]
TopKOption = Annotated[int, typer.Option("-k", "-n", "--top-k", "--limit", help="Hits to show.")]
LanguagesOption = Annotated[list[str] | None, typer.Option("--lang", help="Only this language; repeatable.")]
PathsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--path", help="Only paths that match this glob; with ! before it, only the others; repeatable."
    ),
]
KindsOption = Annotated[
    list[str] | None,
    typer.Option("--kind", help=f"Only this kind, repeatable: {', '.join(KINDS)}."),
]
RootsOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--root", help="Search this indexed folder, or the imported index with this name; repeatable."
    ),
]
ChangedOption = Annotated[
    str | None,
    typer.Option(
        "--changed",
        metavar="[REV]",
        help="Only files that differ from a git revision, by default HEAD; REV... is the merge base with HEAD.",
        show_default=False,
    ),
]
IndexFilesOption = Annotated[
    list[Path] | None,
    typer.Option("--index", metavar="FILE", help="Search this portable file; repeatable."),
]
AllOption = Annotated[bool, typer.Option("--all", help="Search all indexed folders.")]
AllCodeOption = Annotated[
    bool,
    typer.Option("--all-code", help="Rank tests, generated and vendored code and stubs like other code."),
]
RefreshOption = Annotated[
    bool, typer.Option("--refresh/--no-refresh", help="First index changed files, if that is quick.")
]
NoServiceOption = Annotated[
    bool, typer.Option("--no-service", help="Answer in this process, even if `codesearch serve` runs.")
]

AutoIndexOption = Annotated[
    bool,
    typer.Option(
        "--auto-index/--no-index", help="First index the project that you are in, if nothing covers it."
    ),
]


def with_revision(arguments: Sequence[str]) -> list[str]:
    """Give `--changed` the value HEAD where no revision follows it; typer has no options with an optional value.

    >>> with_revision(["a query", "--changed", "-n", "3"])
    ['a query', '--changed=HEAD', '-n', '3']
    """
    end = arguments.index("--") if "--" in arguments else len(arguments)
    following = [*arguments, "-"][1:]
    return [
        "--changed=HEAD" if word == "--changed" and place < end and after.startswith("-") else word
        for place, (word, after) in enumerate(zip(arguments, following, strict=True))
    ]


def positive(name: str, value: int) -> int:
    """Return `value`, or raise ConfigError when it is not above zero."""
    if value < 1:
        raise ConfigError(f"{name} must be at least 1, not {value}")
    return value
