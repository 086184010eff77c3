"""Texts of files as they are in the editor, saved or not."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pygls.uris import to_fs_path
from pygls.workspace import Workspace

from codesearch.config import WalkConfig
from codesearch.errors import ConfigError
from codesearch.parsing.decoding import decoded
from codesearch.treefiles import read_regular


def open_texts(workspace: Workspace) -> dict[Path, str]:
    """Return the texts of the files that are open."""
    paths = ((to_fs_path(uri), document) for uri, document in workspace.text_documents.items())
    return {Path(path): document.source for path, document in paths if path}


def text_of(path: Path, texts: Mapping[Path, str]) -> str:
    """Return the text of a file as it is in the editor, else as it is saved."""
    if path in texts:
        return decoded(texts[path].encode("utf-8", "replace"), path.name).decode("utf-8", "replace")
    try:
        content, _ = read_regular(path, WalkConfig().max_file_bytes)
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None
    return decoded(content, path.name).decode("utf-8", "replace")
