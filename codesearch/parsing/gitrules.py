"""What git's configuration says about ignored files. The files are read, no git runs, and no value is executed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass

from codesearch.parsing.ignore import read_patterns
from codesearch.treefiles import git_folders, is_network_path, read_regular

_MAX_BYTES, _MOST_INCLUDES = 1_000_000, 10
_SECTION = re.compile(r'\s*\[\s*([\w.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]')
# Text in quotes; an escaped character; a comment; other text.
_VALUE = re.compile(r'"((?:[^"\\]|\\.)*+)"|\\(.)|[#;].*|([^"\\#;]+)')


@dataclass(frozen=True, slots=True)
class GitRules:
    """The ignore rules of a work tree that are outside of its folders."""

    files: tuple[str, ...]  # ignore files, the strongest last; they need not exist
    configs: tuple[str, ...]  # files that name them
    ignores_case: bool
    is_bare: bool  # `.git` leads to a repository without files of its own


def git_rules(top: str) -> GitRules:
    """Read the rules of a work tree as git does; of conditional includes, those of a folder count."""
    own_folder, common = git_folders(top)
    user, local = _user_configs(), os.path.join(common, "config")
    included: list[str] = []
    values = {key: value for path in user for key, value in _values(path, included, own_folder)}
    own = dict(_values(local, None))
    if is_network_path(own.get("core.excludesfile", "")):
        del own["core.excludesfile"]
    values |= own
    ignore = values.get("core.excludesfile", os.path.join(_xdg(), "ignore"))
    files = [os.path.join(top, os.path.expanduser(ignore))] if ignore else []
    return GitRules(
        (*files, os.path.join(common, "info", "exclude")),
        (*user, *included, local),
        _is_true(values.get("core.ignorecase")),
        _is_true(values.get("core.bare")),
    )


def _xdg() -> str:
    return os.path.join(os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config"), "git")


def _user_configs() -> list[str]:
    """Return the configuration files of the system and the user, the strongest last."""
    is_without_system = _is_true(os.environ.get("GIT_CONFIG_NOSYSTEM"))
    system = [] if is_without_system else [os.environ.get("GIT_CONFIG_SYSTEM", "/etc/gitconfig")]
    if own := os.environ.get("GIT_CONFIG_GLOBAL"):
        return [*system, own]
    return [*system, os.path.join(_xdg(), "config"), os.path.expanduser("~/.gitconfig")]


def _values(path: str, included: list[str] | None, folder: str = "") -> Iterator[tuple[str, str]]:
    """Yield the names in lower case and the values of a file; follow includes if there is a list for them."""
    try:
        content, _ = read_regular(path, _MAX_BYTES)
    except (OSError, ValueError):
        return
    section = ""
    for line in os.fsdecode(content).replace("\\\r\n", "").replace("\\\n", "").splitlines():
        if match := _SECTION.match(line):
            section, line = match[1].lower() + (f".{match[2]}" if match[2] else ""), line[match.end() :]
        name, equals, value = line.partition("=")
        key = f"{section}.{name.strip().lower()}"
        text = "".join(map("".join, _VALUE.findall(value.strip()))).strip() if equals else "true"
        is_include = key == "include.path" or (key.endswith(".path") and _applies(section, folder, path))
        if is_include and included is not None and len(included) < _MOST_INCLUDES:
            included.append(os.path.join(os.path.dirname(path), os.path.expanduser(text)))
            yield from _values(included[-1], included, folder)
        yield key, text


def _applies(section: str, folder: str, path: str) -> bool:
    """Say whether a section such as `includeIf "gitdir:~/work/"` of a file holds for the `.git` folder."""
    kind, _, pattern = section.partition(":")
    if kind not in ("includeif.gitdir", "includeif.gitdir/i"):
        return False
    pattern = os.path.expanduser(pattern)
    if pattern.startswith("./"):
        pattern = os.path.dirname(path) + pattern[1:]
    elif not os.path.isabs(pattern):
        pattern = f"**/{pattern}"
    pattern += "**" * pattern.endswith("/")
    patterns = read_patterns([pattern], strict=False, ignores_case=kind.endswith("/i"))
    places = (place.split("/")[1:] for place in (folder, os.path.realpath(folder)))
    return any(patterns.inside(above).verdict(name, is_folder=True) for *above, name in places)


def _is_true(value: str | None) -> bool:
    return (value or "").lower() in ("true", "yes", "on", "1")
