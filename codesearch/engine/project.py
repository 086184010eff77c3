"""A folder -> the project around it, which the first search there may index. Quick to import."""

from __future__ import annotations

import os
from itertools import takewhile
from pathlib import Path

MAX_FILES, MAX_BYTES = 50_000, 500_000_000
"""A project with more source files, or more bytes in them, is indexed only when the user asks."""
_PROJECT_FILES = frozenset(
    {
        "CMakeLists.txt",
        "Cargo.toml",
        "Gemfile",
        "Makefile",
        "Package.swift",
        "build.gradle",
        "build.gradle.kts",
        "build.sbt",
        "composer.json",
        "go.mod",
        "meson.build",
        "package.json",
        "pom.xml",
        "pyproject.toml",
        "setup.py",
    }
)
_PROJECT_SUFFIXES = (".sln", ".csproj", ".gemspec", ".rockspec")


def find_project(here: Path) -> Path | None:
    """Return the nearest git work tree around a folder, else the nearest folder with a project file, else None.

    The user's home, the folders above it and the root of the file system are never projects.
    """
    folder = here.resolve()
    user_home = Path(os.path.expanduser("~")).resolve()
    excluded = {user_home, *user_home.parents, Path(folder.anchor)}
    folders = list(takewhile(lambda path: path not in excluded, (folder, *folder.parents)))
    work_tree = next((path for path in folders if os.path.exists(path / ".git")), None)
    return work_tree or next((path for path in folders if _has_project_file(path)), None)


def too_large(project: Path) -> str | None:
    """Return why a project is too large to be indexed unless the user asks, or None; counting stops at the limit."""
    from codesearch.config import WalkConfig
    from codesearch.parsing.walker import WalkReport, walk

    size = 0
    for count, file in enumerate(walk(project, WalkConfig(), WalkReport()), start=1):
        size += file.size
        if count > MAX_FILES:
            return f"has more than {MAX_FILES:,} source files"
        if size > MAX_BYTES:
            return f"has more than {MAX_BYTES // 1_000_000:,} MB of source files"
    return None


def _has_project_file(folder: Path) -> bool:
    try:
        names = os.listdir(folder)
    except OSError:
        return False
    return any(name in _PROJECT_FILES or name.endswith(_PROJECT_SUFFIXES) for name in names)
