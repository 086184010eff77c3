"""What MCP clients get: instructions for their agents, and an entry that is merged into their configuration."""

from __future__ import annotations

import json
import os
import shutil
import sysconfig
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from codesearch.errors import ConfigError
from codesearch.files import atomic_writer
from codesearch.processes import find_program, python_command

NAME = "codesearch"
INSTRUCTIONS = """\
codesearch finds code by meaning, offline.
Use search first when you do not know the file or the exact name: "where is X done", "code that does Y". Give a
question, keywords, a name (class Stack), a path or an error message; special characters are plain text. One call
replaces several rounds of grep and reading.
- search: the best files and the definitions in them. If the function is not among them, ask with flat=true and a
  higher limit.
- outline: what is in a folder, file or class; with a question, the code that answers it and what is around it.
- read: a whole definition, a file or lines of it. Members of long classes are folded: read these one by one.
- usages: the lines that use a name, each with the definition around it; what calls a function, what a change affects.
- similar: code like a definition.
- history: commits; when and why a definition changed.
- status: what is indexed and how old it is. Ask when a search finds nothing.
Use grep for regular expressions and for files that are not indexed.
Not indexed: ignored files (.gitignore), binary and very large files, dependencies such as node_modules. Documentation,
configuration and other text are indexed only if the user ran `codesearch index --content all`.
Hits are ranked guesses: if the confidence is low, try other words once, then grep.
"""

AGENTS_MD = """\
## Code search

The MCP server `codesearch` searches this project by meaning. To find where something is done, call `search` before
grep. Then call `read` with the `path:line` of a hit instead of reading the whole file. Call `outline` to see what is in
a folder, a file or a class, `usages` before you change a definition, and `similar` for duplicates. Use grep for regular
expressions and for files that are not indexed; `status` lists what is indexed. Without MCP, run
`codesearch query "question" --compact`.
"""


@dataclass(frozen=True, slots=True)
class Client:
    """A client and where its configuration is.

    Attributes:
        title: as its makers write it.
        file: path below the user's home; TOML by its name, else JSON.
        keys: the tables around the entry.
        shape: "bare" (command, args), "stdio" (with a type), "local" (one list) or "transport" (nested).
    """

    title: str
    file: str
    keys: tuple[str, ...] = ("mcpServers",)
    shape: str = "bare"


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


def entry_of(client: Client, groups: Iterable[str] = ()) -> dict[str, Any]:
    """Return the entry that starts this installation and lets agents search some groups."""
    installed = os.path.join(sysconfig.get_path("scripts"), NAME)
    found = find_program(NAME) or find_program(installed)
    words = ["mcp", *(word for group in groups for word in ("--group", group))]
    command, *arguments = [found, *words] if found else python_command(NAME, *words)
    bare = {"command": command, "args": arguments}
    if client.shape == "local":
        return {"type": "local", "command": [command, *arguments], "enabled": True}
    if client.shape == "transport":
        return {"transport": {"type": "stdio", **bare}}
    return {"type": "stdio", **bare} if client.shape == "stdio" else bare


def config_file(client: Client, user_home: Path) -> Path:
    """Return the file to merge into: the one with comments (`.jsonc`) if the client has that, links resolved."""
    path = user_home / client.file
    commented = path.with_suffix(".jsonc")
    return (commented if client.shape == "local" and commented.exists() else path).resolve()


def write_configuration(client: Client, path: Path, groups: Iterable[str] = ()) -> Path | None:
    """Merge the entry into a file and keep everything else; return the backup of the last file, if there was one.

    Raises:
        ConfigError: the file is not valid, has another entry of this name, or cannot be read or written.
    """
    try:
        old = path.read_bytes().decode("utf-8") if path.exists() else None
        new = configuration(client, groups, old or "", path)
        if new == old:
            return None
        path.parent.mkdir(parents=True, exist_ok=True)
        backup = None
        if old is not None:
            names = (path.with_name(f"{path.name}.{number}.bak") for number in count(1))
            backup = next(name for name in names if not name.exists())
            shutil.copy2(path, backup)
        with atomic_writer(path, sync=True) as file:
            if backup is not None:
                os.chmod(file.name, backup.stat().st_mode & 0o777)
            file.write(new.encode("utf-8"))
        return backup
    except UnicodeDecodeError:
        raise ConfigError(f"{path} is not UTF-8: nothing was written") from None
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}: nothing was written") from None


def configuration(client: Client, groups: Iterable[str] = (), old: str = "", path: Path = Path()) -> str:
    """Return the text of a configuration with the entry; the order of everything else stays.

    Args:
        client: that reads the configuration.
        groups: that agents may search.
        old: the text without the entry.
        path: names the file in errors.

    Raises:
        ConfigError: the text is not valid, or has another entry of this name.
    """
    is_toml = client.file.endswith(".toml")
    try:
        config: Any = tomllib.loads(old) if is_toml else json.loads(old) if old.strip() else {}
    except (ValueError, RecursionError) as error:
        kind = "TOML" if is_toml else "JSON without comments"
        raise ConfigError(
            f"{path} is not {kind} ({' '.join(str(error).split())}): nothing was written; "
            "add the entry by hand"
        ) from None
    table = {"top": config}
    for key in ("top", *client.keys):
        if table.get(key) is None:
            table[key] = {}
        if not isinstance(table[key], dict):
            raise ConfigError(f"{path} has no table where one belongs ({key}): nothing was written")
        table = table[key]
    known, entry = table.get(NAME), entry_of(client, groups)
    if known == entry:
        return old
    if not is_toml:
        table[NAME] = entry
        return json.dumps(config, indent=2, ensure_ascii=False) + "\n"
    if known is not None:
        raise ConfigError(f"{path} has another entry {NAME}: nothing was written; remove that entry first")
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in entry.items()]
    new = old + ("\n" if old and not old.endswith("\n") else "") + ("\n" if old else "")
    new += f"[{'.'.join((*client.keys, NAME))}]\n" + "".join(lines)
    try:
        tomllib.loads(new)
    except tomllib.TOMLDecodeError:
        raise ConfigError(f"{path} has an inline table {client.keys[0]}: add the entry by hand") from None
    return new
