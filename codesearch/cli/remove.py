"""`codesearch remove`: forget indexed folders. Source files are never touched."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer

from codesearch.cli.options import HomeOption, resolve_home
from codesearch.errors import ConfigError, IndexNotFoundError
from codesearch.index.catalogue import index_folder, list_indexes, remove_index


def remove(
    folders: Annotated[
        list[Path] | None, typer.Argument(help="Indexed folders to forget.", show_default=False)
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Forget every indexed folder.")] = False,
    cache: Annotated[
        bool, typer.Option("--cache", help="Also delete the cache of vectors and data of `bench`.")
    ] = False,
    home: HomeOption = None,
) -> int:
    """Delete the index of folders; the folders themselves stay as they are."""
    base = resolve_home(home)
    if not folders and not everything and not cache:
        raise ConfigError("nothing to remove: name an indexed folder, or give --all or --cache")
    chosen = [(str(folder), index_folder(base, folder.expanduser())) for folder in folders or []]
    if everything:
        chosen = [
            (entry.manifest.root if entry.manifest else str(entry.folder), entry.folder)
            for entry in list_indexes(base)
        ]
    for root, folder in chosen:
        if not folder.is_dir():
            raise IndexNotFoundError(f"{root} is not indexed: see `codesearch status`")
    for root, folder in chosen:
        remove_index(folder, root)
        print(f"{root}: index removed")
    if cache:
        shutil.rmtree(base / "cache", ignore_errors=True)
        print("cache removed")
    return 0
