"""Read a git repository: offline, without hooks, locks, filters and any command from its configuration."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from codesearch.errors import ConfigError
from codesearch.processes import run_git, start_git

_TIMEOUT_S = 5
_STREAM_TIMEOUT_S = 600
_QUIET = ("-c", "core.quotePath=false", "-c", "log.showRoot=false", "-c", "log.mailmap=false")
_SAFE = ("--no-show-signature", "--no-ext-diff", "--no-textconv", "--no-color", "--no-notes", "--no-decorate")
LOG = (*_QUIET, "log", *_SAFE, "--encoding=UTF-8")
"""`git log` that runs no command of a repository, whatever its configuration says. First commits have no changes."""
_KEPT_VARIABLES = {"GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_SYSTEM"}
_BUSY = "try again if the disk is slow; else a pipe, a link or a pattern of the repository keeps git busy"
MISSING = -1
"""The size of a file whose content a partial clone lacks; reading it is an error."""
_BATCH_BYTES = 32_000_000
"""About this many bytes of files are in memory at the same time."""


@dataclass(frozen=True, slots=True)
class Blob:
    """A regular file of a commit."""

    path: str  # Below the folder that was listed, with slashes.
    object_id: str
    size: int
    is_executable: bool


@dataclass(slots=True)
class Repository:
    """A work tree of a git repository."""

    top: str
    option: str  # The option or the command of codesearch that needs git, for errors.
    variables: dict[str, str] = field(default_factory=dict)  # More environment variables for git.

    def git(self, *arguments: str, codes: Sequence[int] = (0,), stdin: bytes = b"") -> bytes:
        """Run git in the work tree and return its output."""
        environment = _environment(self.top, self.variables)
        try:
            done = run_git(arguments, self.top, environment, timeout_s=_TIMEOUT_S, stdin=stdin)
        except FileNotFoundError as error:
            raise self._not_installed(error) from None
        except TimeoutError as error:
            raise ConfigError(f"{error} in {self.top}", _BUSY) from None
        if done.returncode not in codes:
            lines = os.fsdecode(done.stderr).strip().splitlines() or [f"git ended with {done.returncode}"]
            # Git refuses a repository of another user; the last line is the command that allows it.
            command = lines[-1].strip() if "safe.directory" in lines[-1] else ""
            cure = f"if you trust it, run `{command}`" if command else ""
            raise ConfigError(f"git failed in {self.top}: {lines[0].removeprefix('fatal: ')}", cure)
        return done.stdout

    def lines(
        self, *arguments: str, given: Iterable[bytes] = (), timeout_s: float = _STREAM_TIMEOUT_S
    ) -> Iterator[bytes]:
        """Yield the lines that git prints while it runs; it reads all `given` lines first."""
        try:
            process = start_git(arguments, self.top, _environment(self.top, self.variables))
        except FileNotFoundError as error:
            raise self._not_installed(error) from None
        assert process.stdin is not None and process.stdout is not None  # They are pipes.
        late = threading.Event()

        def stop() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(timeout_s, stop)
        timer.start()
        try:
            with suppress(BrokenPipeError):  # It has failed, and its exit code says so.
                process.stdin.write(b"".join(line + b"\n" for line in given))
                process.stdin.close()
            yield from process.stdout
        except GeneratorExit:  # The caller has seen enough.
            process.kill()
            raise
        finally:
            timer.cancel()
            with suppress(BrokenPipeError):
                process.stdin.close()
            process.stdout.close()
            process.wait()
        if late.is_set():
            raise ConfigError(f"git took more than {timeout_s:.0f} s in {self.top}", _BUSY)
        if process.returncode:
            cure = f"see `git -C {self.top} fsck`"
            raise ConfigError(f"git failed in {self.top} ({process.returncode})", cure)

    def _not_installed(self, error: FileNotFoundError) -> ConfigError:
        return ConfigError(f"{error}, and {self.option} needs it", "install git")

    def commit(self, revision: str) -> str | None:
        """Return the id of the commit that a revision names; None for HEAD of a repository without commits."""
        if found := self.known_commit(revision):
            return found
        self.git("rev-parse", "--git-dir")  # Says what is wrong if the repository cannot be read at all.
        if revision == "HEAD":
            return None
        hint = "give a branch, tag or commit"
        if self.option == "--changed":
            hint += "; words of the query stand before --changed or after --changed=REV"
        raise ConfigError(f"no revision {revision!r} in {self.top}", hint)

    def known_commit(self, revision: str) -> str:
        """Return the id of the commit that a revision names; "" if it names none."""
        verify = ("rev-parse", "--verify", "--quiet", "--end-of-options")
        return self.git(*verify, f"{revision}^{{commit}}", codes=(0, 1, 128)).decode().strip()

    def blobs(self, commit: str, below: str) -> list[Blob]:
        """Return the regular files of a commit below a folder, "" for the top; links and submodules are left out."""
        if below and not self.git("ls-tree", "-z", "--full-tree", commit, below):
            raise ConfigError(f"{os.path.join(self.top, below)} does not exist in {commit[:12]}")
        listed = self.git("ls-tree", "-r", "-l", "-z", "--full-tree", f"{commit}:{below}")
        found = []
        for entry in listed.split(b"\0"):
            about, _, path = entry.partition(b"\t")
            mode, _, object_id, size = about.decode().split() if entry else ("",) * 4
            if mode.startswith("100"):
                known = int(size) if size.isdigit() else MISSING  # It says BAD.
                found.append(Blob(os.fsdecode(path), object_id, known, mode == "100755"))
        return found

    def contents(self, blobs: Iterable[Blob]) -> Iterator[tuple[Blob, bytes]]:
        """Yield each file with its content, as it is in the repository."""
        for batch in _batches(blobs):
            names = "".join(f"{blob.object_id}\n" for blob in batch).encode()
            answer, at = self.git("cat-file", "--batch", stdin=names), 0
            for blob in batch:
                end = answer.index(b"\n", at)
                if not answer[at:end].endswith(f" blob {blob.size}".encode()):
                    cure = f"fetch all objects, for example with `git -C {self.top} fetch --refetch`"
                    raise ConfigError(f"{self.top} lacks the content of {blob.path}", cure)
                at = end + 1 + blob.size + 1
                yield blob, answer[end + 1 : at - 1]

    def sizes(self, object_ids: Sequence[str]) -> dict[str, int]:
        """Return the sizes of those objects that the repository has."""
        names = "".join(f"{object_id}\n" for object_id in object_ids).encode()
        answers = self.git("cat-file", "--batch-check", stdin=names).decode().splitlines()
        found = zip(object_ids, map(str.split, answers), strict=True)
        return {object_id: int(answer[2]) for object_id, answer in found if answer[-1].isdigit()}


def work_tree(folder: Path) -> str | None:
    """Return the top of the git work tree around a folder; None if there is none."""
    return next((str(path) for path in (folder, *folder.parents) if is_top(str(path))), None)


def is_top(folder: str) -> bool:
    """Say whether a folder is the top of a work tree."""
    return os.path.lexists(os.path.join(folder, ".git"))


def _batches(blobs: Iterable[Blob]) -> Iterator[list[Blob]]:
    batch: list[Blob] = []
    size = 0
    for blob in blobs:
        if batch and size + blob.size > _BATCH_BYTES:
            yield batch
            batch, size = [], 0
        batch.append(blob)
        size += blob.size
    if batch:
        yield batch


def _environment(top: str, more: Mapping[str, str]) -> dict[str, str]:
    """Return variables for git: none that names another repository, no locks, no network and no questions."""
    names = {name for name in os.environ if not name.startswith("GIT_")} | _KEPT_VARIABLES
    kept = {name: os.environ[name] for name in names.intersection(os.environ)}
    own = {
        "GIT_ALLOW_PROTOCOL": "none",
        # A damaged `.git` is an error; git must not use the repository above instead.
        "GIT_CEILING_DIRECTORIES": os.path.dirname(top),
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
    }
    return {**kept, **own, **more}
