"""The commands that add packages to this installation. They depend on the tool that made it.

uv tool    `uv-receipt.toml` in the environment lists the requested packages. `uv tool install` replaces this list, so
           the command names all of them.
pipx       The environment contains `pipx_metadata.json`.
uvx        The environment is in uv's cache and must not be changed. The next `uvx` command names the package too.
other      The command runs the interpreter's pip, or `uv pip` if pip is missing, as in environments made by uv.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

NAME = "codesearch-local"
_UV_RECEIPT, _PIPX_METADATA = "uv-receipt.toml", "pipx_metadata.json"
_UVX_FOLDER = "archive-v"
_EXTRAS = {"onnxruntime": "cpu", "onnxruntime-gpu": "gpu"}
"""Package -> the extra that may have installed it. To remove the package, drop the extra from the command."""


def how_to_add(*packages: str, without: Sequence[str] = ()) -> str:
    """Return a phrase with the commands that add packages to this environment, such as "run `...`"."""
    import shlex
    import subprocess

    quoted = subprocess.list2cmdline if os.name == "nt" else shlex.join
    commands = _commands([*map(_bounded, packages)], without)
    return "run " + ", then ".join(f"`{quoted(command)}`" for command in commands)


def _bounded(package: str) -> str:
    """Return a package with the versions that one of our extras asks for."""
    from importlib.metadata import PackageNotFoundError, requires

    with suppress(PackageNotFoundError):
        for required in requires(NAME) or ():
            requirement = required.partition(";")[0].strip()
            if _name_of(requirement) == package:
                return requirement
    return package


def _name_of(requirement: str) -> str:
    return re.split(r"[^\w.-]", requirement, maxsplit=1)[0]


def _commands(packages: Sequence[str], without: Sequence[str]) -> list[list[str]]:
    prefix = Path(sys.prefix)
    if (prefix / _UV_RECEIPT).exists():
        return [_uv_tool(prefix / _UV_RECEIPT, packages, without)]
    if prefix.parent.name.startswith(_UVX_FOLDER):
        return [["uvx", *_options("--with", packages), "--from", NAME, "codesearch"]]
    if (prefix / _PIPX_METADATA).exists():
        add = ["pipx", "inject", prefix.name]
        remove = ["pipx", "runpip", prefix.name, "uninstall"]
    else:
        add, remove = _pip("install"), _pip("uninstall")
    return [[*remove, *without], [*add, *packages]] if without else [[*add, *packages]]


def _pip(action: str) -> list[str]:
    if find_spec("pip") is None:
        return ["uv", "pip", action, "--python", sys.executable]
    import sysconfig

    # The system's package manager may own this environment.
    marker = Path(sysconfig.get_path("stdlib"), "EXTERNALLY-MANAGED")
    is_managed = marker.exists() and sys.prefix == sys.base_prefix
    return [sys.executable, "-m", "pip", action, *(["--break-system-packages"] if is_managed else [])]


def _uv_tool(receipt: Path, packages: Sequence[str], without: Collection[str]) -> list[str]:
    """Return the command that installs the tool with the packages requested before and the new ones."""
    import tomllib

    given = tomllib.loads(receipt.read_text("utf-8"))["tool"]["requirements"]
    tool = next((package for package in given if package["name"] == NAME), {"name": NAME})
    dropped = {_EXTRAS.get(package) for package in without}
    extras = [extra for extra in tool.get("extras", ()) if extra not in dropped]
    kept = [package for package in given if package["name"] not in (NAME, *without, *map(_name_of, packages))]
    withs = [*(_requirement(package, package.get("extras", ())) for package in kept), *packages]
    return ["uv", "tool", "install", *_options("--with", withs), _requirement(tool, extras)]


def _requirement(package: Mapping[str, Any], extras: Sequence[str]) -> str:
    name = package["name"] + (f"[{','.join(extras)}]" if extras else "")
    place = next((package[key] for key in ("path", "directory", "editable", "url") if key in package), "")
    if "git" in package:
        place = f"git+{package['git']}"
    return f"{name} @ {place}" if place else name + package.get("specifier", "")


def _options(option: str, values: Sequence[str]) -> list[str]:
    return [word for value in values for word in (option, value)]
