"""A file or lines of it at HEAD -> the commits that changed them, newest first."""

from __future__ import annotations

from codesearch.git import LOG, Repository

_FORMAT = "--format=%x00 %H"


def commits_of_lines(repository: Repository, head: str, path: str, first: int, last: int) -> list[str]:
    """Return the ids of the commits that changed some lines, followed through the history of the file.

    Raises:
        ConfigError: git fails.
    """
    return _ids(repository, f"-L{first},{last}:{path}", "--no-patch", head)


def commits_of_path(repository: Repository, head: str, path: str) -> list[str]:
    """Return the ids of the commits that changed a file or a folder.

    Raises:
        ConfigError: git fails.
    """
    return _ids(repository, head, "--", path)


def _ids(repository: Repository, *arguments: str) -> list[str]:
    lines = repository.lines(*LOG, _FORMAT, *arguments)
    return [line.split()[1].decode() for line in lines if line.startswith(b"\0")]
