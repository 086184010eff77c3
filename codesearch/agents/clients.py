"""What MCP clients get: an entry in their configuration, instructions, a skill and a hook; and edits of these files."""

from __future__ import annotations

import json
import os
import re
import shlex
import sysconfig
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from functools import partial
from pathlib import Path
from typing import Any

from codesearch.errors import ConfigError
from codesearch.files import atomic_writer
from codesearch.processes import find_program, python_command
from codesearch.treefiles import read_regular
from codesearch.visible import encodable, visible

NAME = "codesearch"
BEGIN, END = "<!-- codesearch: begin -->", "<!-- codesearch: end -->"
"""The lines around a paragraph in an instruction file."""
_MAX_BYTES = 100_000_000
_FOLDER = Path(__file__).parent
INSTRUCTIONS, AGENTS_MD, SKILL_HEAD = (
    (_FOLDER / name).read_text("utf-8") for name in ("instructions.md", "paragraph.md", "skill.md")
)
"""What the server says of its tools, the paragraph for instruction files, and the head of a skill with it."""
_HOOK, _SEARCHING = "PostToolUse", "Grep|Bash"
"""When the hook runs, and after which tools."""
_GREP = re.compile(r"(?:^|&&|\|\||[;(\n])\s*(?:git\s+grep|[efr]?grep|rg|ag|ack)\s")
"""A search at the beginning of a command; behind a pipe, it searches output."""
_SILENT = re.compile(r"\s-[A-Za-z]*q|--quiet|--silent|(?<![12&])>")
"""Options and redirections without which grep would print what it finds."""
_FOUND_NOTHING = """\
grep found nothing. codesearch finds code by meaning: call the tool `search` of the MCP server `codesearch`, or run
`codesearch query "question"`."""


@dataclass(frozen=True, slots=True)
class Client:
    """A client and where its configuration is; "" for what its makers do not document."""

    title: str  # As its makers write it.
    file: str  # Path below the user's home; TOML by its name, else JSON.
    keys: Sequence[str] = ("mcpServers",)  # The tables around the entry.
    shape: str = "bare"  # Command and args; "stdio": with a type, "local": one list, "transport": nested.
    instructions: str = ""  # File below a project with instructions for agents.
    skills: str = ""  # Folder below the user's home with skills.
    hooks: str = ""  # JSON file below the user's home with hooks that run after a tool.

    @property
    def is_toml(self) -> bool:
        """Whether the configuration is TOML."""
        return self.file.endswith(".toml")


_LISTED = tomllib.loads((_FOLDER / "clients.toml").read_text("utf-8"))
CLIENTS = {name: Client(**fields) for name, fields in _LISTED.items()}


@dataclass(frozen=True, slots=True)
class Part:
    """What codesearch adds to a file: functions from its text to that with the addition, and to that without it."""

    path: Path
    what: str
    add: Callable[[str], str]
    take: Callable[[str], str]


def parts_of(
    client: Client, user_home: Path, project: Path | None, options: Sequence[str] = ()
) -> Iterator[Part]:
    """Yield the parts for a client: the entry with options of the server, and what it has of the others.

    The instructions in the project are last, because their file may lead out of it, which is an error.
    """
    path = config_file(client, user_home)
    yield Part(
        path,
        "the entry codesearch",
        lambda old: configuration(client, options, old, path),
        lambda old: without_entry(client, old, path),
    )
    if client.skills:
        skill = (user_home / client.skills / NAME / "SKILL.md").resolve()
        yield Part(
            skill,
            "the skill",
            lambda old: with_paragraph(old or SKILL_HEAD, AGENTS_MD, skill),
            lambda old: without_paragraph(old, skill).removeprefix(SKILL_HEAD),
        )
    if client.hooks:
        hooks = (user_home / client.hooks).resolve()
        yield Part(hooks, "the hook", partial(_with_hook, hooks), partial(_without_hook, hooks))
    if file := instruction_file(client, project):
        yield Part(
            file,
            "the instructions",
            lambda old: with_paragraph(old, AGENTS_MD, file),
            lambda old: without_paragraph(old, file),
        )


def entry_of(client: Client, options: Sequence[str] = ()) -> dict[str, Any]:
    """Return the entry that starts the server of this installation with some options."""
    command, *arguments = _command("mcp", *options)
    bare = {"command": command, "args": arguments}
    if client.shape == "local":
        return {"type": "local", "command": [command, *arguments], "enabled": True}
    if client.shape == "transport":
        return {"transport": {"type": "stdio", **bare}}
    return {"type": "stdio", **bare} if client.shape == "stdio" else bare


def _command(*words: str) -> list[str]:
    installed = os.path.join(sysconfig.get_path("scripts"), NAME)
    found = find_program(NAME) or find_program(installed)
    return [found, *words] if found else python_command(NAME, *words)


def _with_hook(path: Path, old: str) -> str:
    hook = {"type": "command", "command": shlex.join(_command("mcp", "--hook"))}
    group = {"matcher": _SEARCHING, "hooks": [hook]}
    if group in _hook_groups(path, old)[1]:
        return old
    config, groups = _hook_groups(path, _without_hook(path, old))
    groups.append(group)
    return _json(config)


def _without_hook(path: Path, old: str) -> str:
    """Return the text of a file of hooks without that of codesearch, and without what is then empty."""
    config, groups = _hook_groups(path, old)
    kept = []
    for group in groups:
        hooks = _hooks_of(group)
        others = [hook for hook in hooks if not _is_ours(hook)]
        if others or not hooks:
            kept.append(group if others == hooks else {**group, "hooks": others})
    if kept == groups:
        return old
    groups[:] = kept
    config = config if groups else _without(config, ("hooks", _HOOK))
    return _json(config) if config else ""


def _hook_groups(path: Path, text: str) -> tuple[dict[str, Any], list[Any]]:
    """Return a file of hooks, and the list in it of those that run after a tool."""
    config, table = _parsed(Client("", "", ("hooks",)), text, path)
    groups = table.setdefault(_HOOK, [])
    if not isinstance(groups, list):
        raise ConfigError(f"{path} has no list where one belongs ({_HOOK})", "nothing was written")
    return config, groups


def _hooks_of(group: object) -> list[Any]:
    hooks = group.get("hooks") if isinstance(group, dict) else None
    return hooks if isinstance(hooks, list) else []


def _is_ours(hook: object) -> bool:
    command = str(hook.get("command")) if isinstance(hook, dict) else ""
    return NAME in command and command.endswith("mcp --hook")


def hook_answer(text: str) -> str:
    """Return the JSON that a hook prints after a tool: a suggestion if grep found nothing, also in a shell."""
    try:
        event = json.loads(text)
        response, command = event["tool_response"], event.get("tool_input", {}).get("command")
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return ""
    if isinstance(command, str):
        says_it = isinstance(response, dict) and response.get("stdout") == ""
        is_empty = says_it and bool(_GREP.search(command)) and not _SILENT.search(command)
    elif isinstance(response, dict):
        counts = [response[name] for name in ("numFiles", "numLines", "numMatches") if name in response]
        is_empty = bool(counts) and not any(counts)
    else:
        is_empty = isinstance(response, str) and response.startswith(("No files found", "No matches found"))
    told = {"hookEventName": _HOOK, "additionalContext": _FOUND_NOTHING}
    return _json({"hookSpecificOutput": told}) if is_empty else ""


def config_file(client: Client, user_home: Path) -> Path:
    """Return the file to merge into: the one with comments (`.jsonc`) if the client has that, links resolved."""
    path = user_home / client.file
    commented = path.with_suffix(".jsonc")
    return (commented if client.shape == "local" and commented.exists() else path).resolve()


def instruction_file(client: Client, project: Path | None) -> Path | None:
    """Return the file in a project with instructions for a client, links resolved, or None if there is none."""
    if project is None or not client.instructions:
        return None
    path = Path(os.path.realpath(project / client.instructions))  # It may be a link to itself.
    if not path.is_relative_to(project.resolve()):
        raise ConfigError(f"{project / client.instructions} leads out of the project", "edit it by hand")
    return path


def configuration(client: Client, options: Sequence[str] = (), old: str = "", path: Path = Path()) -> str:
    """Return the text of a configuration with the entry; the order of everything else stays."""
    entry = entry_of(client, options)
    config, table = _parsed(client, old, path)
    known = table.get(NAME)
    if known == entry:
        return old
    if not client.is_toml and (known is None or _starts_codesearch(known)):
        table[NAME] = entry
        return _json(config)
    if known is not None:
        cure = "nothing was written; remove that entry first (`--remove`)"
        raise ConfigError(f"{path} has another entry {NAME}", cure)
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in entry.items()]
    new = old + ("\n" if old and not old.endswith("\n") else "") + ("\n" if old else "")
    new += f"[{'.'.join((*client.keys, NAME))}]\n" + "".join(lines)
    try:
        tomllib.loads(new)
    except tomllib.TOMLDecodeError:
        raise ConfigError(f"{path} has an inline table {client.keys[0]}", "add the entry by hand") from None
    return new


def without_entry(client: Client, old: str, path: Path) -> str:
    """Return the text of a configuration without the entry that starts codesearch; "" if nothing else is in it.

    Objects of JSON that had only the entry go too.
    """
    config, table = _parsed(client, old, path)
    if not _starts_codesearch(table.get(NAME)):
        return old
    if client.is_toml:
        del table[NAME]
        new = without_table(old, ".".join((*client.keys, NAME)))
        if _parsed(client, new, path)[0] != config:
            raise ConfigError(f"{path}: the entry {NAME} is not as codesearch writes it", "remove it by hand")
        return new
    config = _without(config, (*client.keys, NAME))
    return _json(config) if config else ""


def _without(table: dict[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    """Return a table without what a path of keys leads to, and without tables that had only that."""
    first, *rest = keys
    inner = {first: _without(table[first], rest) if rest else None}
    return {key: value for key, value in (table | inner).items() if key != first or value}


def _json(config: object) -> str:
    return (
        encodable(json.dumps(config, indent=2, ensure_ascii=False)) + "\n"
    )  # A string may be half an emoji.


def _starts_codesearch(entry: object) -> bool:
    words = json.dumps(entry, default=str)
    return NAME in words and '"mcp"' in words


def _parsed(client: Client, text: str, path: Path) -> tuple[Any, dict[str, Any]]:
    """Return a configuration, and the table in it that the entry belongs into."""
    try:
        config: Any = tomllib.loads(text) if client.is_toml else json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        kind, reason = "TOML" if client.is_toml else "JSON without comments", " ".join(str(error).split())
        cure = "nothing was written; edit the file by hand"
        raise ConfigError(f"{path} is not {kind} ({reason})", cure) from None
    table = {"top": config}
    for key in ("top", *client.keys):
        if table.get(key) is None:
            table[key] = {}
        if not isinstance(table[key], dict):
            raise ConfigError(f"{path} has no table where one belongs ({key})", "nothing was written")
        table = table[key]
    return config, table


def read_text(path: Path) -> str | None:
    """Return the text of a file, or None if there is no file."""
    try:
        return read_regular(path, _MAX_BYTES)[0].decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise ConfigError(f"{path} is not UTF-8", "nothing was written") from None
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}", "nothing was written") from None


def write_text(path: Path, text: str, *, backup: str | None = None) -> None:
    """Replace the text of a file, whose permissions stay, and keep the text of before in `backup_of`."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        mode = path.stat().st_mode & 0o777 if path.exists() else None
        for target, content in ((backup_of(path), backup), (path, text)):
            if content is not None:
                with atomic_writer(target, sync=True) as file:
                    if mode is not None:
                        os.chmod(file.name, mode)
                    file.write(content.encode("utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}", "nothing was written") from None


def backup_of(path: Path) -> Path:
    """Return the file that keeps the text of before the last `write_text`."""
    return path.with_name(f"{path.name}.codesearch.bak")


def diff(path: Path, old: str, new: str) -> str:
    """Return the unified difference of two texts of a file, as it can be shown in a terminal."""
    lines = unified_diff(old.splitlines(keepends=True), new.splitlines(keepends=True), str(path), str(path))
    return "".join(
        f"{visible(line.removesuffix(end))}\n" + ("" if end else "\\ No newline at end of file\n")
        for line in lines
        for end in ["\n" if line.endswith("\n") else ""]
    )


def with_paragraph(text: str, paragraph: str, path: Path) -> str:
    """Return a text with a paragraph between markers, in place of the last one or at the end."""
    newline = _newline(text)
    block = f"{BEGIN}\n{paragraph}{END}".replace("\n", newline)
    if span := _marked(text, path):
        return text[: span[0]] + block + text[span[1] :]
    separator = "" if not text else newline if text.endswith(newline) else newline * 2
    return text + separator + block + newline


def without_paragraph(text: str, path: Path) -> str:
    """Return a text without the paragraph between markers and the empty line before it."""
    if span := _marked(text, path):
        newline = _newline(text)
        return text[: span[0]].removesuffix(newline) + text[span[1] :].removeprefix(newline)
    return text


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _marked(text: str, path: Path) -> tuple[int, int] | None:
    start, end = text.find(BEGIN), text.find(END)
    if start == end == -1:
        return None
    if not 0 <= start < end or text.count(BEGIN) != 1 or text.count(END) != 1:
        raise ConfigError(f"{path}: expected one {BEGIN} before one {END}", "edit the file by hand")
    return start, end + len(END)


def without_table(text: str, name: str) -> str:
    """Return a TOML text without a table, the tables in it, and the empty line before it."""
    header = re.compile(rf"\[{re.escape(name)}(\.[^\]]*)?\]")
    kept: list[str] = []
    is_inside = False
    for line in text.splitlines(keepends=True):
        if header.match(line):
            is_inside = True
            if kept and not kept[-1].strip():
                kept.pop()
        elif is_inside and (not line.strip() or line.startswith(("[", "#"))):
            is_inside = False
        if not is_inside:
            kept.append(line)
    return "".join(kept)
