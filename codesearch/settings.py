"""Settings from files and the environment.

    .codesearch.toml                       settings of a project: in the folder, or the nearest one above
    ~/.config/codesearch/config.toml       settings of a user; below $XDG_CONFIG_HOME if that is set

The order of precedence is: option of a command, environment variable, project's file, user's file, default. Settings
that affect the content of an index have no environment variable, because all processes that update an index must use
the same values.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

from codesearch.config import BACKENDS, COLORS, CONTENT, DEVICES, MODES, PROJECT_FILE, IndexOptions
from codesearch.errors import ConfigError
from codesearch.treefiles import read_regular

USER_FILE = "config.toml"
_MAX_BYTES = 100_000
_TRUE, _FALSE = frozenset({"1", "true", "yes", "on"}), frozenset({"0", "false", "no", "off"})
_TYPES = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a string",
    tuple: "a list of strings",
}


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting.

    Attributes:
        default: the value if nothing sets it; its type is the type of the setting.
        meaning: one line that says what the setting does.
        in_index: whether it affects the content of an index.
        in_project: whether a project's file may set it. A cloned project must not choose programs or the model, or
            make codesearch read files outside of it.
        choices: the only values; empty for any.
        low: the lowest number.
        high: the highest number.
    """

    default: Any
    meaning: str
    in_index: bool = False
    in_project: bool = True
    choices: tuple[str, ...] = ()
    low: float = -inf
    high: float = inf

    @property
    def kind(self) -> type:
        """The type of the setting: bool, int, float, str or tuple (of strings)."""
        return type(self.default)

    def checked(self, value: Any, name: str) -> Any:  # noqa: ANN401 - the type is that of the setting.
        """Return a value of the right type; raise ConfigError with `name` if it is not allowed."""
        if self.choices and value not in self.choices:
            raise ConfigError(f"{name} must be one of {', '.join(self.choices)}, not {value!r}")
        if self.kind in (int, float) and not self.low <= value <= self.high:
            limit = f"at least {self.low}" if self.high == inf else f"from {self.low} to {self.high}"
            raise ConfigError(f"{name} must be {limit}, not {value}")
        return value


SETTINGS = {
    "exclude": Setting((), "patterns of files to skip, in the syntax of .gitignore", in_index=True),
    "languages": Setting((), "programming languages to index; empty for all", in_index=True),
    "content": Setting(
        "code", "what to index: code, docs, config or all", in_index=True, choices=tuple(CONTENT)
    ),
    "hidden": Setting(False, "index names that begin with a dot", in_index=True),
    "ignore_files": Setting(True, "respect .gitignore and .codesearchignore", in_index=True),
    "follow_links": Setting(False, "follow symbolic links", in_index=True, in_project=False),
    "max_file_mb": Setting(8, "skip larger files", in_index=True, low=1),
    "hits": Setting(5, "hits of a search", low=1),
    "mode": Setting("hybrid", "hybrid, lexical or semantic", choices=MODES),
    "min_confidence": Setting(0.0, "show no hits below this confidence, 0 to 1", low=0, high=1),
    "all_code": Setting(False, "rank tests, generated and vendored code like other code"),
    "color": Setting("auto", "auto, always or never", choices=COLORS),
    "pager": Setting(
        "auto",
        "what shows long output on a terminal: a command, auto ($PAGER or less) or never",
        in_project=False,
    ),
    "refresh": Setting(True, "index what changed before a search, if that is quick"),
    "auto_index": Setting(True, "index a project at its first search"),
    "device": Setting("auto", "where the model runs: auto, cpu or cuda", choices=DEVICES),
    "model": Setting("", "folder of a model bundle; empty for the shipped one", in_project=False),
    "backend": Setting(
        "local", "where the documents are: local or milvus", in_project=False, choices=BACKENDS
    ),
    "uri": Setting("http://localhost:19530", "address of the Milvus server", in_project=False),
    "prefix": Setting("codesearch", "begins the names of the collections in Milvus", in_project=False),
}


@dataclass(frozen=True, slots=True)
class Value:
    """A value and its source: "default", the path of a file, or an environment variable with a dollar sign."""

    value: Any
    source: str


def variable_of(name: str) -> str:
    """Return the environment variable of a setting.

    >>> variable_of("min_confidence")
    'CODESEARCH_MIN_CONFIDENCE'
    """
    return f"CODESEARCH_{name.upper()}"


def settings_in_force(here: Path, environment: Mapping[str, str], user_home: Path) -> dict[str, Value]:
    """Return the value of every setting for a process whose working directory is `here`.

    Raises:
        ConfigError: a file or variable has an unknown name or a value of a wrong type.
    """
    found = {name: Value(setting.default, "default") for name, setting in SETTINGS.items()}
    for path in (user_file(environment, user_home), project_file(here)):
        if path:
            found |= {name: Value(value, str(path)) for name, value in _read(path).items()}
    for name, setting in SETTINGS.items():
        variable = variable_of(name)
        if not setting.in_index and (text := environment.get(variable)):
            value = _parsed(text, setting.kind, f"${variable}")
            found[name] = Value(setting.checked(value, f"${variable}"), f"${variable}")
    return found


def index_options(root: Path, environment: Mapping[str, str] = os.environ) -> IndexOptions:
    """Return the walk settings in the user's file and in the project file in `root`, ignoring parent folders.

    Raises:
        ConfigError: a file has an unknown name or a value of a wrong type.
    """
    found: dict[str, Any] = {}
    for path in (user_file(environment, Path.home()), root / PROJECT_FILE):
        found |= {name: value for name, value in _read(path).items() if SETTINGS[name].in_index}
    if (megabytes := found.pop("max_file_mb", None)) is not None:
        found["max_file_bytes"] = megabytes * 1_000_000
    return IndexOptions(**found)


def user_file(environment: Mapping[str, str], user_home: Path) -> Path:
    """Return the path of the user's settings file, even if it does not exist."""
    folder = environment.get("XDG_CONFIG_HOME")
    return (Path(folder) if folder else user_home / ".config") / "codesearch" / USER_FILE


def project_file(here: Path) -> Path | None:
    """Return the project file of the nearest folder, from `here` upwards; None if there is none."""
    return next((path for folder in (here, *here.parents) if (path := folder / PROJECT_FILE).is_file()), None)


def _read(path: Path) -> dict[str, Any]:
    """Read the settings in a file; return an empty dictionary if there is no such file."""
    try:
        text, _ = read_regular(path, _MAX_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}: make it readable or remove it") from None
    import tomllib

    try:
        found = tomllib.loads(text.decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigError(f"{path}: not valid TOML ({error}): correct the line") from None
    return {name: _checked(path, name, value) for name, value in found.items()}


def _checked(path: Path, name: str, value: object) -> Any:  # noqa: ANN401 - the type is that of the setting.
    setting = SETTINGS.get(name)
    if setting is None:
        from difflib import get_close_matches

        near = get_close_matches(name, SETTINGS, 1)
        cure = f"did you mean {near[0]!r}?" if near else "see `codesearch config`"
        raise ConfigError(f"{path}: unknown setting {name!r}: {cure}")
    if path.name == PROJECT_FILE and not setting.in_project:
        how = "with an option of `codesearch index`" if setting.in_index else f"${variable_of(name)}"
        raise ConfigError(
            f"{path}: {name!r} cannot be set by a project: set it in your own config.toml or {how}"
        )
    if setting.kind is tuple and isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(value)
    if setting.kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if type(value) is not setting.kind:
        raise ConfigError(f"{path}: {name!r} must be {_TYPES[setting.kind]}, not {value!r}")
    return setting.checked(value, f"{path}: {name!r}")


def _parsed(text: str, kind: type, source: str) -> Any:  # noqa: ANN401 - the type is `kind`.
    if kind is bool:
        if text.lower() in _TRUE | _FALSE:
            return text.lower() in _TRUE
    else:
        try:
            return kind(text)
        except ValueError:
            pass
    raise ConfigError(f"{source} must be {_TYPES[kind]}, not {text!r}")
