"""What clients of MCP are told: instructions for their agents, and an entry that is merged into their configuration."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codesearch.errors import ConfigError
from codesearch.files import atomic_writer

NAME = "codesearch"
INSTRUCTIONS = """\
codesearch finds code by meaning, offline.
Use search_code first when you do not know the file or the exact name: "where is X done", "code that does Y". Give a
question, keywords or a name; special characters are plain text. One call replaces several rounds of grep and reading.
Use grep instead for every occurrence of a literal string, for regular expressions, and for files that are not indexed.
- search_code: find definitions. Filter by path, language or kind.
- read_definition: read one whole function or class, by path:line of a hit or by name (Stack.push).
- find_similar: find code like the definition at path:line, such as duplicates or other implementations.
- index_status: what is indexed and how old it is. Ask when a search finds nothing.
Not indexed: ignored files (.gitignore), binary and very large files, dependencies such as node_modules, languages
without a parser. Documentation and configuration are indexed only if the user
ran `codesearch index --content all`.
Hits are ranked guesses: if a note says that probably nothing does this, try other words once, then grep.
"""

AGENTS_MD = """\
## Code search

The MCP server `codesearch` searches this project by meaning. To find where something is done, call `search_code`
before grep. Then call `read_definition` with the `path:line` of a hit instead of reading the whole file. Use
`find_similar` for duplicates. Use grep for every occurrence of an exact string and for files that are not indexed;
`index_status` lists what is indexed. Without MCP, run `codesearch query "question" --compact`.
"""


@dataclass(frozen=True, slots=True)
class Client:
    """A client and where its configuration is.

    Attributes:
        title: as its makers write it.
        file: path below the user's home.
        keys: the tables around the entry.
        shape: "bare" (command, args), "stdio" (with a type), "local" (one list) or "transport" (nested).
    """

    title: str
    file: str
    keys: tuple[str, ...] = ("mcpServers",)
    shape: str = "bare"

    @property
    def is_toml(self) -> bool:
        """Say whether the file is TOML; the others are JSON."""
        return self.file.endswith(".toml")


CLIENTS = {
    "antigravity": Client("Antigravity", ".gemini/config/mcp_config.json"),
    "claude": Client("Claude Code", ".claude.json", shape="stdio"),
    "cline": Client("Cline", ".cline/data/settings/cline_mcp_settings.json", shape="transport"),
    "codex": Client("Codex", ".codex/config.toml", ("mcp_servers",)),
    "commandcode": Client("Command Code", ".commandcode/mcp.json"),
    "copilot": Client("GitHub Copilot", ".copilot/mcp-config.json"),
    "cursor": Client("Cursor", ".cursor/mcp.json", shape="stdio"),
    "gemini": Client("Gemini CLI", ".gemini/settings.json"),
    "grok": Client("Grok Build", ".grok/config.toml", ("mcp_servers",)),
    "kilo": Client("Kilo Code", ".config/kilo/kilo.json", ("mcp",), "local"),
    "kiro": Client("Kiro", ".kiro/settings/mcp.json"),
    "opencode": Client("OpenCode", ".config/opencode/opencode.json", ("mcp",), "local"),
    "pi": Client("Pi", ".pi/agent/mcp.json"),
    "qwen": Client("Qwen Code", ".qwen/settings.json"),
    "reasonix": Client("Reasonix", ".reasonix/config.json"),
    "vscode": Client("VS Code", ".config/Code/User/mcp.json", ("servers",), "stdio"),
    "windsurf": Client("Windsurf", ".codeium/windsurf/mcp_config.json"),
    "zcode": Client("ZCode", ".zcode/cli/config.json", ("mcp", "servers"), "stdio"),
    "zed": Client("Zed", ".config/zed/settings.json", ("context_servers",)),
}


def client_named(name: str) -> Client:
    """Return a client.

    Raises:
        ConfigError: the name is unknown.
    """
    if name not in CLIENTS:
        raise ConfigError(f"client {name!r}: choose one of {', '.join(CLIENTS)}")
    return CLIENTS[name]


def entry_of(client: Client) -> dict[str, Any]:
    """Return the entry that starts this installation."""
    found = shutil.which(NAME)
    command, *arguments = [found, "mcp"] if found else [sys.executable, "-m", NAME, "mcp"]
    bare = {"command": command, "args": arguments}
    if client.shape == "local":
        return {"type": "local", "command": [command, *arguments], "enabled": True}
    if client.shape == "transport":
        return {"transport": {"type": "stdio", **bare}}
    return {"type": "stdio", **bare} if client.shape == "stdio" else bare


def configuration(client: Client) -> str:
    """Return the configuration of a client that has no other servers, as its file would contain it."""
    return _toml(client) if client.is_toml else _json(_merged({}, client))


def config_file(client: Client, user_home: Path) -> Path:
    """Return the file to merge into: the one with comments (`.jsonc`) if the client has that, links resolved."""
    path = user_home / client.file
    commented = path.with_suffix(".jsonc")
    return (commented if client.shape == "local" and commented.exists() else path).resolve()


def write_configuration(client: Client, path: Path) -> Path | None:
    """Merge the entry into a file and keep everything else; return the backup of the last file, if there was one.

    Raises:
        ConfigError: the file is not valid, has another entry of this name, or cannot be read or written.
    """
    try:
        old = path.read_bytes() if path.exists() else None
        new = _merged_text("" if old is None else old.decode("utf-8"), client, path)
        if old is not None and new == old.decode("utf-8"):
            return None
        path.parent.mkdir(parents=True, exist_ok=True)
        backup = None if old is None else _backup(path)
        with atomic_writer(path, sync=True) as file:
            if backup is not None:
                os.chmod(file.name, backup.stat().st_mode & 0o777)
            file.write(new.encode("utf-8"))
        return backup
    except UnicodeDecodeError:
        raise ConfigError(f"{path} is not UTF-8: nothing was written") from None
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}: nothing was written") from None


def _merged_text(old: str, client: Client, path: Path) -> str:
    try:
        config: Any = tomllib.loads(old) if client.is_toml else json.loads(old) if old.strip() else {}
    except (ValueError, RecursionError) as error:
        kind = "TOML" if client.is_toml else "JSON without comments"
        raise ConfigError(
            f"{path} is not {kind} ({' '.join(str(error).split())}): nothing was written; "
            "add the entry by hand"
        ) from None
    known = _entry_in(config, client, path)
    if known == entry_of(client):
        return old
    if not client.is_toml:
        return _json(_merged(config, client))
    if known is not None:
        raise ConfigError(f"{path} has another entry {NAME}: nothing was written; remove that entry first")
    new = old + ("\n" if old and not old.endswith("\n") else "") + ("\n" if old else "") + _toml(client)
    try:
        tomllib.loads(new)
    except tomllib.TOMLDecodeError:
        raise ConfigError(f"{path} has an inline table {client.keys[0]}: add the entry by hand") from None
    return new


def _entry_in(config: Any, client: Client, path: Path) -> Any:  # noqa: ANN401 - JSON.
    """Return the entry that a configuration has, or None."""
    for key in ("", *client.keys):
        config = config.get(key) if key else config
        if config is None:
            return None
        if not isinstance(config, dict):
            raise ConfigError(f"{path} has no table where one belongs ({key or 'top'}): nothing was written")
    return config.get(NAME)


def _merged(config: Mapping[str, Any], client: Client) -> dict[str, Any]:
    """Return a configuration with the entry; the order of everything else stays."""

    def put(table: Mapping[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
        if not keys:
            return {**table, NAME: entry_of(client)}
        return {**table, keys[0]: put(table.get(keys[0]) or {}, keys[1:])}

    return put(config, client.keys)


def _json(config: Mapping[str, Any]) -> str:
    return json.dumps(config, indent=2, ensure_ascii=False) + "\n"


def _toml(client: Client) -> str:
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in entry_of(client).items()]
    return "\n".join([f"[{'.'.join((*client.keys, NAME))}]", *lines]) + "\n"


def _backup(path: Path) -> Path:
    """Copy a file to the first free name `FILE.1.bak`, `FILE.2.bak` and so on."""
    number = 1
    while (backup := path.with_name(f"{path.name}.{number}.bak")).exists():
        number += 1
    shutil.copy2(path, backup)
    return backup
