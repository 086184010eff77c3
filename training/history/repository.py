"""Git repositories below a folder, read without running anything of theirs.

Git starts through `codesearch.processes`. It reads no configuration of the user, runs no hook, filter, textconv or
pager, replaces no object, and fetches nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from subprocess import Popen
from types import TracebackType

from codesearch.processes import start_git
from training.errors import TrainingError

_ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
}
_DEPTH = 3
_MAX_BLOB_BYTES = 150_000


@dataclass(frozen=True, slots=True, order=True)
class Repository:
    """A git repository.

    Attributes:
        name: `owner/name`.
        folder: its git directory.
    """

    name: str
    folder: Path

    @property
    def file_name(self) -> str:
        """Return the name as a part of file names."""
        return self.name.replace("/", "+")

    def lines(self, *arguments: str, given: Iterable[bytes] = ()) -> Iterator[bytes]:
        """Yield the lines that git prints; it reads all `given` lines first.

        Raises:
            TrainingError: git fails.
        """
        process = start_git(self._arguments(arguments), str(self.folder), _environment())
        assert process.stdin is not None and process.stdout is not None  # They are pipes.
        with process:
            process.stdin.write(b"".join(line + b"\n" for line in given))
            process.stdin.close()
            yield from process.stdout
        if process.returncode:
            raise TrainingError(f"{self.folder}: git ended with {process.returncode}")

    def has_any(self, commits: Sequence[str]) -> bool:
        """Say whether the repository has one of these commits."""
        with Objects(self, "--batch-check") as objects:
            return any(objects.has(commit) for commit in commits)

    def _arguments(self, arguments: Sequence[str]) -> list[str]:
        return [f"--git-dir={self.folder.absolute()}", "-c", "core.quotePath=false", *arguments]


class Objects:
    """The objects of a repository by name, from one process."""

    def __init__(self, repository: Repository, mode: str = "--batch") -> None:
        arguments = repository._arguments(("cat-file", mode))
        self._process: Popen[bytes] = start_git(arguments, str(repository.folder), _environment())

    def __enter__(self) -> Objects:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()

    def read(self, name: str) -> bytes:
        """Return the content of an object; nothing if it is missing or too large."""
        header = self._ask(name)
        if len(header) != 3:
            return b""
        assert self._process.stdout is not None  # It is a pipe.
        content = self._process.stdout.read(int(header[2]) + 1)[:-1]
        return content if len(content) <= _MAX_BLOB_BYTES else b""

    def has(self, name: str) -> bool:
        """Say whether an object exists."""
        return len(self._ask(name)) == 3

    def _ask(self, name: str) -> list[bytes]:
        assert self._process.stdin is not None and self._process.stdout is not None  # They are pipes.
        self._process.stdin.write(name.encode() + b"\n")
        self._process.stdin.flush()
        header = self._process.stdout.readline()
        return header.split() if not header.endswith((b" missing\n", b" ambiguous\n")) else []


def find_repositories(folder: Path) -> list[Repository]:
    """Return the repositories at most three folders below one, bare or not, in the order of their names.

    The name is the path below the folder. A last part `repo`, `.git` or a suffix `.git` is left out, and "+" means "/".
    """
    found = []
    for top, folders, _ in os.walk(folder):
        path = Path(top)
        git = next((place for place in (path, path / ".git") if _is_git(place)), None)
        if git is not None:
            found.append(Repository(_name(path.relative_to(folder)) or path.resolve().name, git))
        if git is not None or len(path.relative_to(folder).parts) >= _DEPTH:
            folders.clear()
    return sorted(found)


def _is_git(path: Path) -> bool:
    return (path / "HEAD").is_file() and (path / "objects").is_dir() and (path / "refs").is_dir()


def _name(path: Path) -> str:
    parts = path.parts[:-1] if path.name == "repo" else path.parts
    return "/".join(parts).removesuffix(".git").replace("+", "/")


def _environment() -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {**inherited, **_ENVIRONMENT}
