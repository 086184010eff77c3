"""What codesearch writes into files of agents and users: `codesearch mcp --setup`, and `codesearch uninstall`."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from difflib import unified_diff
from functools import partial
from pathlib import Path

import typer

from codesearch.agents import clients, edits
from codesearch.agents.clients import CLIENTS, Client
from codesearch.cli.invocation import Invocation, Output, invocation_of
from codesearch.cli.numbers import size_of
from codesearch.engine.engine import Engine
from codesearch.engine.scope import find_project
from codesearch.errors import ConfigError, nearest_or
from codesearch.home import FOLDERS
from codesearch.settings import user_file
from codesearch.visible import visible


def set_up(
    name: str,
    invocation: Invocation,
    options: Sequence[str],
    project: Path | None,
    *,
    write: bool,
    instructions: bool,
) -> Iterator[Output]:
    """Show or write the configuration of a client and, if asked, its instructions in a project.

    The configuration has the options with which the client starts the server.
    """
    client = _client(name)
    path = clients.config_file(client, invocation.user_home)
    if instructions:
        if not client.instructions:
            raise ConfigError(
                f"no instruction file of {client.title} is known",
                "`codesearch mcp --instructions` prints them",
            )
        if project is None:
            raise ConfigError("no project here", f"give the folder of {client.instructions} with --root")
    file = clients.instruction_file(client, project) if instructions else None
    old = edits.read_text(file) if file else None
    new = edits.with_paragraph(old or "", clients.AGENTS_MD, file) if file else ""
    if write:
        yield _written(path, "the entry codesearch", clients.write_configuration(client, path, options))
        if file:
            yield _written(file, "the instructions", edits.write_text(file, new) if new != old else None)
        return
    where = visible(f"{client.title} reads this from {path}")
    yield Output(clients.configuration(client, clients.entry_of(client, options)), f"{where}\n")
    if file:
        known = f"{visible(str(file))} has the instructions\n"
        yield Output(_diff(file, old or "", new), "" if new != old else known)
    elif client.instructions:
        yield Output(
            err=f"add --instructions to see what would change in the {client.instructions} of this project\n"
        )


def take_back(name: str, invocation: Invocation, project: Path | None) -> Iterator[Output]:
    """Take the entry out of the configuration of a client, and the instructions out of its file in a project."""
    client = _client(name)
    path = clients.config_file(client, invocation.user_home)
    file = clients.instruction_file(client, project)
    found = [*_entry(client, path), *(_paragraph(file) if file else ())]
    found += [*_backups(path), *(_backups(file) if file else ())]
    for one in found:
        yield one.deleted()
    if not found:
        also = f" and {file} no instructions" if file else ""
        yield Output(f"{visible(f'{path} has no entry codesearch{also}')}\n")


def uninstall(context: typer.Context, delete: bool, home: Path | None) -> Iterator[Output]:
    """List what codesearch has written, or delete it."""
    from codesearch.service.server import service_at

    invocation = invocation_of(context)
    engine = invocation.engine(home)
    if delete and (owner := service_at(engine.home)):
        raise ConfigError(f"process {owner} answers queries", "run `codesearch serve --stop` first")
    found = [
        *_in_home(engine),
        *_of_clients(invocation.user_home, find_project(invocation.terminal.here)),
        *_completions(invocation.user_home),
        *_settings(user_file(invocation.terminal.variables, invocation.user_home)),
    ]
    for one in found:
        yield one.deleted() if delete and one.delete else one.listed()
    if delete and not engine.home.is_symlink():
        with suppress(OSError):  # It has files that were kept, or was never made.
            engine.home.rmdir()
    if not any(one.delete for one in found):
        yield Output("codesearch has no files to delete here\n")
    elif not delete:
        yield Output("nothing was deleted: `codesearch uninstall --delete` deletes all but what is kept\n")


@dataclass(frozen=True, slots=True)
class _Written:
    """A file or folder that codesearch wrote, or its part of a file.

    Attributes:
        path: where it is.
        size_bytes: of the part.
        what: what it is.
        delete: deletes it; None if it is kept.
    """

    path: Path
    size_bytes: int
    what: str
    delete: Callable[[], object] | None

    def listed(self) -> Output:
        kept = "" if self.delete else "kept: "
        return Output(
            f"{size_of(self.size_bytes):>10}  {visible(str(self.path))}  ({kept}{visible(self.what)})\n"
        )

    def deleted(self) -> Output:
        try:
            if self.delete:
                self.delete()
        except OSError as error:
            raise ConfigError(f"{self.path}: {error.strerror}", "delete it yourself") from None
        return Output(f"deleted {self.what}: {visible(str(self.path))}\n")


def _in_home(engine: Engine) -> Iterator[_Written]:
    """Find the folders of a home; keep all if it has other files too, because then a name proves nothing."""
    names = sorted(os.listdir(engine.home)) if engine.home.is_dir() else []
    others = [name for name in names if name not in FOLDERS]
    # Indexes are first: if another process is writing one, nothing is deleted.
    for name in sorted(FOLDERS.intersection(names), key=lambda name: (name != "indexes", name)):
        path = engine.home / name
        if path.is_symlink() or not path.is_dir():
            yield _Written(path, path.lstat().st_size, "not a folder that codesearch made", None)
        elif others:
            yield _Written(path, _size(path), f"{others[0]} in this folder is not codesearch's", None)
        else:
            yield _Written(path, _size(path), name, partial(_delete_folder, engine, path))


def _delete_folder(engine: Engine, path: Path) -> None:
    if path.name == "indexes":
        engine.remove_all()  # It waits for no lock: an index that is being written is an error.
    shutil.rmtree(path)


def _size(folder: Path) -> int:
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):  # Another process may be writing an index.
                total += os.lstat(os.path.join(parent, name)).st_size
    return total


def _of_clients(user_home: Path, project: Path | None) -> Iterator[_Written]:
    """Find entries and instructions, and the backups that were made before they were written."""
    files: dict[Path, None] = {}
    for client in CLIENTS.values():
        path = clients.config_file(client, user_home)
        files[path] = None
        yield from _unless_damaged(path, _entry(client, path))
    instructions: dict[Path, None] = {}
    for client in CLIENTS.values():
        with suppress(ConfigError):  # A link leads out of the project, where nothing was written.
            if file := clients.instruction_file(client, project):
                instructions[file] = None
    for file in instructions:
        yield from _unless_damaged(file, _paragraph(file))
    for path in (*files, *instructions):
        yield from _backups(path)


def _unless_damaged(path: Path, found: Iterator[_Written]) -> Iterator[_Written]:
    """Yield what is found; keep a file that names codesearch but cannot be edited."""
    try:
        yield from found
    except ConfigError as error:
        with suppress(ConfigError):
            text = edits.read_text(path) or ""
            if clients.NAME in text:
                yield _Written(path, len(text.encode()), str(error).removeprefix(f"{path} "), None)


def _entry(client: Client, path: Path) -> Iterator[_Written]:
    def without(old: str) -> str:
        backups = (edits.read_text(one) or "" for one in edits.backups(path))
        return clients.without_entry(client, old, path, backups)

    yield from _part(path, without, f"entry of {client.title}")


def _paragraph(path: Path) -> Iterator[_Written]:
    yield from _part(path, lambda old: edits.without_paragraph(old, path), "instructions")


def _backups(path: Path) -> Iterator[_Written]:
    for backup in edits.backups(path):
        yield _Written(backup, backup.stat().st_size, "backup", backup.unlink)


def _part(path: Path, without: Callable[[str], str], what: str) -> Iterator[_Written]:
    """Find the part of a file that codesearch wrote; a file with nothing else is deleted."""
    old = edits.read_text(path) or ""
    new = without(old)
    if new != old:
        write = partial(edits.write_text, path, new, with_backup=False) if new else path.unlink
        yield _Written(path, len(old.encode()) - len(new.encode()), what, write)


def _completions(user_home: Path) -> Iterator[_Written]:
    """Find what `--install-completion` wrote; what else it sets in the files of a shell serves other programs too."""
    script, rc = user_home / ".bash_completions/codesearch.sh", user_home / ".bashrc"
    yield from _unless_damaged(
        rc, _part(rc, lambda old: old.replace(f"\nsource '{script}'\n", ""), "completion")
    )
    for path in (
        script,
        user_home / ".zfunc/_codesearch",
        user_home / ".config/fish/completions/codesearch.fish",
    ):
        if path.is_file():
            yield _Written(path, path.stat().st_size, "completion", path.unlink)


def _settings(path: Path) -> Iterator[_Written]:
    if path.is_file():
        yield _Written(path, path.stat().st_size, "your settings, which codesearch never writes", None)


def _client(name: str) -> Client:
    if (client := CLIENTS.get(name)) is None:
        cure = nearest_or(name, CLIENTS, f"choose one of {', '.join(CLIENTS)}")
        raise ConfigError(f"client {name!r}", cure)
    return client


def _written(path: Path, what: str, backup: Path | None) -> Output:
    kept = f"; the file as it was is in {backup.name}" if backup else ""
    return Output(f"{visible(f'{path} has {what}{kept}')}\n")


def _diff(path: Path, old: str, new: str) -> str:
    lines = unified_diff(old.splitlines(keepends=True), new.splitlines(keepends=True), str(path), str(path))
    return "".join(
        f"{visible(line.removesuffix(end))}\n" + ("" if end else "\\ No newline at end of file\n")
        for line in lines
        for end in ["\n" if line.endswith("\n") else ""]
    )
