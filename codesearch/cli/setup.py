"""`codesearch mcp --setup`: what codesearch writes into files of agents, and how it takes it out again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from codesearch.agents import clients
from codesearch.agents.clients import CLIENTS, Client, Part
from codesearch.cli.invocation import Invocation, Output
from codesearch.errors import ConfigError, nearest_or
from codesearch.visible import visible


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
