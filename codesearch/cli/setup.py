"""What codesearch writes into files of agents and users: `codesearch mcp --setup`, and `codesearch uninstall`."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Annotated

from codesearch.agents import clients
from codesearch.agents.clients import CLIENTS, Client, Part
from codesearch.cli.invocation import Invocation, Output, size_of
from codesearch.cli.options import Home
from codesearch.engine.engine import Engine
from codesearch.engine.scope import find_project
from codesearch.errors import ConfigError, nearest_or
from codesearch.files import FOLDERS
from codesearch.options import Opt
from codesearch.settings import user_file
from codesearch.visible import visible

Written = tuple[Path, str, Callable[[], object] | None]
"""A file or folder that codesearch wrote, what it is, and what deletes it; None if it is kept."""


def set_up(
    name: str,
    invocation: Invocation,
    options: list[str],
    project: Path | None,
    *,
    write: bool,
    instructions: bool,
) -> Iterator[Output]:
    """Show or write the configuration of a client with options of the server and, if asked, what its agents read."""
    client = _client(name)
    if instructions and not client.instructions:
        cure = "`codesearch mcp --instructions` prints them"
        raise ConfigError(f"no instruction file of {client.title} is known", cure)
    if instructions and project is None:
        raise ConfigError("no project here", f"give the folder of {client.instructions} with --root")
    folder = project if instructions else None
    entry, *others = clients.parts_of(client, invocation.user_home, folder, options)
    parts = [entry, *others] if instructions else [entry]
    texts = [(part, clients.read_text(part.path)) for part in (parts if write else parts[1:])]
    edits = [(part, old, part.add(old or "")) for part, old in texts]
    if write:
        yield from (_write(part, old, new) for part, old, new in edits)
        return
    where = visible(f"{client.title} reads this from {entry.path}")
    yield Output(entry.add(""), f"{where}\n")
    for part, old, new in edits:
        known = "" if new != old else f"{visible(str(part.path))} has {part.what}\n"
        yield Output(clients.diff(part.path, old or "", new), known)
    if client.instructions and not instructions:
        also = "".join((", a skill" if client.skills else "", ", a hook" if client.hooks else ""))
        changes = f"changes of the {client.instructions} of this project{also}"
        yield Output(err=f"add --instructions to see {changes}\n")


def take_back(name: str, invocation: Invocation, project: Path | None) -> Iterator[Output]:
    """Take everything out of the files of a client and of its file in a project."""
    client = _client(name)
    parts = list(clients.parts_of(client, invocation.user_home, project))
    texts = [(part, clients.read_text(part.path) or "") for part in parts]
    edits = [(part, text, part.take(text)) for part, text in texts]
    removed = [output for edit in edits for output in _take_out(*edit)]
    yield from removed
    if not removed:
        paths = ", ".join(str(part.path) for part in parts)
        yield Output(f"{visible(f'nothing of codesearch is in {paths}')}\n")


def uninstall(
    invocation: Invocation,
    delete: Annotated[bool, Opt("Delete what is listed, except what is kept.")] = False,
    home: Home = None,
) -> Iterator[Output]:
    """List what codesearch has written, or delete it."""
    from codesearch.service.server import service_at

    engine, user_home = invocation.engine(home), invocation.user_home
    if delete and (owner := service_at(engine.home)):
        raise ConfigError(f"process {owner} answers queries", "run `codesearch serve --stop` first")
    written = [*_in_home(engine), *_completions(user_home)]
    settings = user_file(invocation.terminal.variables, user_home)
    if settings.is_file():
        written.append((settings, "your settings, which codesearch never writes", None))
    for path, what, remove in written:
        if not delete or remove is None:
            kept = "" if remove else "kept: "
            yield Output(f"{size_of(_size(path)):>10}  {visible(str(path))}  ({kept}{visible(what)})\n")
            continue
        try:
            remove()
        except OSError as error:
            raise ConfigError(f"{path}: {error.strerror}", "delete it yourself") from None
        yield Output(f"deleted {what}: {visible(str(path))}\n")
    if delete and not engine.home.is_symlink():
        with suppress(OSError):  # It has files that were kept, or was never made.
            engine.home.rmdir()
    yield from _of_clients(user_home, find_project(invocation.terminal.here))
    if not any(remove for _, _, remove in written):
        yield Output("codesearch has no files to delete here\n")
    elif not delete:
        yield Output("nothing was deleted: `codesearch uninstall --delete` deletes all but what is kept\n")


def _in_home(engine: Engine) -> Iterator[Written]:
    """Find the folders of a home; keep all if it has other files too, because then a name proves nothing."""
    names = sorted(os.listdir(engine.home)) if engine.home.is_dir() else []
    others = [name for name in names if name not in FOLDERS]
    # Indexes are first: if another process is writing one, nothing is deleted.
    for name in sorted(FOLDERS.intersection(names), key=lambda name: (name != "indexes", name)):
        path = engine.home / name
        if path.is_symlink() or not path.is_dir():
            yield path, "not a folder that codesearch made", None
        elif others:
            yield path, f"{others[0]} in this folder is not codesearch's", None
        else:
            yield path, name, partial(_delete_folder, engine, path)


def _delete_folder(engine: Engine, path: Path) -> None:
    if path.name == "indexes":
        engine.remove_all()  # It waits for no lock: an index that is being written is an error.
    with suppress(FileNotFoundError):  # The caches went with the indexes.
        shutil.rmtree(path)


def _size(path: Path) -> int:
    total = 0 if path.is_dir() and not path.is_symlink() else path.lstat().st_size
    for parent, _, names in os.walk(path) if not total else ():
        for name in names:
            with suppress(FileNotFoundError):  # Another process may be writing an index.
                total += os.lstat(os.path.join(parent, name)).st_size
    return total


def _completions(user_home: Path) -> Iterator[Written]:
    """Find what `--install-completion` wrote; what else it sets in the files of a shell serves other programs too."""
    script, rc = user_home / ".bash_completions/codesearch.sh", user_home / ".bashrc"
    line = f"\nsource '{script}'\n"
    with suppress(ConfigError):
        if line in (text := clients.read_text(rc) or ""):
            yield rc, "completion", partial(clients.write_text, rc, text.replace(line, ""))
    scripts = script, user_home / ".zfunc/_codesearch", user_home / ".config/fish/completions/codesearch.fish"
    yield from ((path, "completion", path.unlink) for path in scripts if path.is_file())


def _of_clients(user_home: Path, project: Path | None) -> Iterator[Output]:
    """Name the files of clients that have a part of codesearch, each with the command that takes it out."""
    commands: dict[Path, str] = {}
    for name, client in CLIENTS.items():
        with suppress(ConfigError):  # Unreadable, or a link out of the project: nothing was written.
            for part in clients.parts_of(client, user_home, project):
                if part.is_in(clients.read_text(part.path) or ""):
                    commands.setdefault(part.path, name)
    for path, name in commands.items():
        yield Output(f"`codesearch mcp --setup {name} --remove` takes its text out of {visible(str(path))}\n")


def _client(name: str) -> Client:
    if client := CLIENTS.get(name):
        return client
    cure = nearest_or(name, CLIENTS, f"choose one of {', '.join(CLIENTS)}")
    raise ConfigError(f"client {name!r}", cure)


def _write(part: Part, old: str | None, new: str) -> Output:
    kept = ""
    if new != old:
        clients.write_text(part.path, new, backup=old)
        backup = clients.backup_of(part.path).name
        kept = f"; the file as it was is in {backup}" if old is not None else ""
    return Output(f"{visible(f'{part.path} has {part.what}{kept}')}\n")


def _take_out(part: Part, old: str, new: str) -> Iterator[Output]:
    """Write the text of a file without what codesearch added, and show the difference; delete a file without text."""
    path = part.path
    if new != old:
        if new:
            clients.write_text(path, new)
        else:
            path.unlink()
        yield Output(f"{clients.diff(path, old, new)}deleted {part.what}: {visible(str(path))}\n")
    if (backup := clients.backup_of(path)).is_file():
        backup.unlink()
        yield Output(f"deleted backup: {visible(str(backup))}\n")
    if path.parent.name == clients.NAME:  # The folder of a skill.
        with suppress(OSError):  # It has other files, or was never made.
            path.parent.rmdir()
