"""Settings from files and the environment.

    .codesearch.toml                       settings of a project: in the folder, or the nearest one above
    ~/.config/codesearch/config.toml       settings of a user; below $XDG_CONFIG_HOME if that is set

The order of precedence is: option of a command, environment variable, project's file, user's file, default. Settings
that affect the content of an index have no environment variable, because all processes that update an index must use
the same values. A project cannot set all of them, and of files it can only read less than the user's settings allow.
Only the user's file has groups: [groups], with lists of folders by name.
"""

# Without the import of `annotations`, which would leave their text to be compiled at each start.
import os
import time
from collections.abc import Mapping
from functools import partial
from operator import and_, or_
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeGuard

from codesearch.config import CONTENT, DEVICES, MAX_FILE_MB, MODES, PROJECT_FILE, IndexOptions, WalkConfig
from codesearch.errors import ConfigError, nearest_or
from codesearch.files import ABSENT, RACY_NS, Stamp, expanded, stamp_of
from codesearch.options import COMMAND, ENVIRONMENT, PROJECT, USER, Opt, Option, Record, options_of
from codesearch.treefiles import read_regular

USER_FILE = "config.toml"
_MAX_BYTES = 100_000
_WORDS = dict.fromkeys(("1", "true", "yes", "on"), True) | dict.fromkeys(("0", "false", "no", "off"), False)
_TYPES = {bool: "true or false", int: "a whole number", float: "a number", str: "a string", Path: "a string"}
_set = partial(Opt, set_by=frozenset({COMMAND, USER, ENVIRONMENT, PROJECT}))
# A cloned project must not choose servers or the model, or make codesearch read files outside of it.
_set_by_user = partial(Opt, set_by=frozenset({COMMAND, USER, ENVIRONMENT}))
# All processes that update an index must use the same values, so the environment sets none of them.
_kept = partial(Opt, set_by=frozenset({COMMAND, USER, PROJECT}))
_WALK = WalkConfig()
HIT_FLAGS = "-n -k --top-k --limit"
HITS = 5
"""Hits of a query, and commits, if no number is given."""
MOST_HITS = 1_000_000


def _added(patterns: tuple[str, ...], yours: tuple[str, ...]) -> tuple[str, ...]:
    """Return all patterns that exclude; the last one that matches decides, so those of the user come last."""
    return (*(pattern for pattern in patterns if not pattern.startswith("!")), *yours)


def _common(languages: tuple[str, ...], yours: tuple[str, ...]) -> tuple[str, ...]:
    """Return the languages that both name; no name stands for all languages."""
    return tuple(name for name in languages if name in yours) or yours if yours else languages


Color = Annotated[str, _set("Colours and links: auto, always or never.", choices=("auto", "always", "never"))]


class SearchSettings(Record):
    """Settings of `query` and `similar`."""

    hits: Annotated[
        int | None,
        _set("Hits to show; default: 5, on a terminal those that fit.", HIT_FLAGS, low=1, high=MOST_HITS),
    ] = None
    all_code: Annotated[bool, _set("Do not rank tests, stubs, generated and vendored code lower.")] = False
    color: Color = "auto"


class RefreshSettings(Record):
    """Settings of commands that answer from an index that may be old."""

    refresh: Annotated[bool, _set("Index changed files first, if that is quick.")] = True


class QuerySettings(Record):
    """Settings of `query`."""

    mode: Annotated[
        str, _set("Match words (lexical), meaning (semantic) or both (hybrid).", choices=MODES)
    ] = "hybrid"
    min_confidence: Annotated[
        float, _set("Show no hits if the confidence is below this, 0 to 1.", low=0, high=1)
    ] = 0.0
    flat: Annotated[bool, _set("List definitions, not files.")] = False


class UserSettings(Record):
    """What has no option of a command. A repository must not choose which other folders are searched."""

    groups: Annotated[
        dict[str, tuple[str, ...]],
        Opt("Folders that are searched together, by the name of the group.", set_by=frozenset({USER})),
    ] = {}


class WalkSettings(Record):
    """Settings that change the content of an index. On the command line, None keeps the value of the last run."""

    exclude: Annotated[
        tuple[str, ...], _kept("Skip paths that match this .gitignore pattern.", narrow=_added)
    ] = _WALK.exclude
    languages: Annotated[tuple[str, ...], _kept("Index only this language.", "--lang", narrow=_common)] = (
        _WALK.languages
    )
    content: Annotated[str, _kept("What to index: code, docs, config or all.", choices=tuple(CONTENT))] = (
        _WALK.content
    )
    hidden: Annotated[bool, _kept("Index names that begin with a dot.", narrow=and_)] = _WALK.hidden
    ignore_files: Annotated[
        bool, _kept("Respect .gitignore and .codesearchignore.", "--ignore/--no-ignore", narrow=or_)
    ] = _WALK.ignore_files
    max_file_mb: Annotated[int, _kept("Skip larger files.", low=1, high=MAX_FILE_MB, narrow=min)] = (
        _WALK.max_file_bytes // 1_000_000
    )
    follow_links: Annotated[
        bool, Opt("Follow symbolic links.", "--follow/--no-follow", set_by=frozenset({COMMAND, USER}))
    ] = _WALK.follow_links


Model = Annotated[
    Path | None, _set_by_user("Folder of a model bundle; default: the one in use, else the shipped one.")
]
Device = Annotated[str, _set("Where the model runs: auto, cpu or cuda.", choices=DEVICES)]


class ModelSettings(Record):
    """Settings of commands that use the model."""

    model: Model = None
    device: Device = "auto"


class ServerSettings(Record):
    """Settings of commands whose documents may be on a server."""

    backend: Annotated[
        str, _set_by_user("Where the documents are: local or milvus.", choices=("local", "milvus"))
    ] = "local"
    uri: Annotated[str, _set_by_user("Address of the Milvus server.")] = "http://localhost:19530"
    prefix: Annotated[str, _set_by_user("First part of the names of the collections in Milvus.")] = (
        "codesearch"
    )


class IndexingSettings(Record):
    """Settings of commands that may index a project before the first answer."""

    auto_index: Annotated[
        bool, _set("Index the project around you first, if it has no index.", "--auto-index/--no-index")
    ] = True


_RECORDS: list[Any] = Record.__subclasses__()
SETTINGS = {
    name: option
    for record in _RECORDS
    if record.__module__ == __name__
    for name, option in options_of(record).items()
}
_DEFAULTS = {name: "" if option.default is None else option.default for name, option in SETTINGS.items()}
_files: dict[tuple[Path, str], tuple[Stamp, Mapping[str, Any]]] = {}
"""File and origin -> its stamp, and the settings in it."""


class Value(NamedTuple):
    """A value and its source: "default", the path of a file, or an environment variable with a dollar sign."""

    value: Any
    source: str


def settings_in_force(here: Path, environment: Mapping[str, str], user_home: Path) -> dict[str, Value]:
    """Return the value of every setting for a process whose working directory is `here`."""
    found = {name: Value(default, "default") for name, default in _DEFAULTS.items()}
    mine = user_file(environment, user_home)
    found |= {name: Value(value, str(mine)) for name, value in _read(mine, USER).items()}
    files = (folder / PROJECT_FILE for folder in (here, *here.parents))
    if project := next((path for path in files if path.is_file()), None):
        yours = {name: value for name, (value, _) in found.items()}
        for name, value in _narrowed(_read(project, PROJECT), yours).items():
            if SETTINGS[name].opt.narrow is None or value != yours[name]:
                found[name] = Value(value, str(project))
    for name, setting in SETTINGS.items():
        if ENVIRONMENT in setting.opt.set_by and (text := environment.get(setting.variable)):
            variable = f"${setting.variable}"
            found[name] = Value(_parsed(text, setting, variable), variable)
    return found


def index_options(root: Path) -> IndexOptions:
    """Return the walk settings in the user's file and in the project file in `root`, ignoring parent folders."""
    return IndexOptions.of(_walk_settings(root))


def imported_options(root: Path, options: Mapping[str, Any]) -> IndexOptions:
    """Return the options of a portable file that an index of `root` keeps: those that narrow the user's settings."""
    theirs = IndexOptions.of(options).given
    if "max_file_bytes" in theirs:
        theirs["max_file_mb"] = theirs.pop("max_file_bytes") / 1_000_000
    usual = _DEFAULTS | _walk_settings(root)
    may_set = {name: theirs[name] for name in theirs if PROJECT in SETTINGS[name].opt.set_by}
    narrowed = _narrowed(may_set, usual)
    return IndexOptions.of({name: value for name, value in narrowed.items() if value != usual[name]})


def _walk_settings(root: Path) -> dict[str, Any]:
    files = ((user_file(os.environ, expanded("~")), USER), (root / PROJECT_FILE, PROJECT))
    yours, project = (
        {name: value for name, value in _read(path, origin).items() if SETTINGS[name].in_index}
        for path, origin in files
    )
    return yours | _narrowed(project, _DEFAULTS | yours)


def _narrowed(theirs: Mapping[str, Any], yours: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values in force for the names in `theirs`, those of a project or of a portable file."""
    return {
        name: narrow(value, yours[name]) if (narrow := SETTINGS[name].opt.narrow) else value
        for name, value in theirs.items()
    }


def user_groups(
    environment: Mapping[str, str] = os.environ, user_home: Path | None = None
) -> dict[str, tuple[Path, ...]]:
    """Return the folders of each group in the user's file."""
    home = user_home or expanded("~")
    groups = _read(user_file(environment, home), USER).get("groups", {})
    return {
        name: tuple(
            home / folder[2:] if folder[:2] in ("~", "~/") else expanded(folder) for folder in folders
        )
        for name, folders in groups.items()
    }


def group_folders(
    name: str, environment: Mapping[str, str] = os.environ, user_home: Path | None = None
) -> tuple[Path, ...]:
    """Return the folders of a group in the user's file."""
    groups = user_groups(environment, user_home)
    if name in groups:
        return groups[name]
    known = f" (known: {', '.join(groups)})" if groups else ""
    file = user_file(environment, user_home or expanded("~"))
    cure = f'write it below [groups] in {file}, as NAME = ["~/src/api", "~/src/lib"]'
    raise ConfigError(f"no group {name!r}{known}", cure)


def user_file(environment: Mapping[str, str], user_home: Path) -> Path:
    """Return the path of the user's settings file, even if it does not exist."""
    folder = environment.get("XDG_CONFIG_HOME", "")  # A relative one would be inside of a repository.
    return (Path(folder) if os.path.isabs(folder) else user_home / ".config") / "codesearch" / USER_FILE


def _read(path: Path, origin: str) -> Mapping[str, Any]:
    """Read the settings in a file of an origin, once while it does not change."""
    stamp = stamp_of(str(path))
    known, values = _files.get((path, origin), (ABSENT, {}))
    if stamp == ABSENT or stamp != known:
        values = _parsed_file(path, origin)
        # A younger stamp may not show the next change.
        is_old = max(stamp[1], stamp[2]) < time.time_ns() - RACY_NS
        _files[path, origin] = (stamp if is_old else ABSENT), values
    return values


def _parsed_file(path: Path, origin: str) -> dict[str, Any]:
    try:
        text, _ = read_regular(path, _MAX_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}", "make it readable or remove it") from None
    import tomllib

    try:
        found = tomllib.loads(text.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:  # Also a number of more digits than Python reads.
        raise ConfigError(f"{path}: not valid TOML ({error})", "correct the line") from None
    return {name: _checked(path, origin, name, value) for name, value in found.items()}


def _checked(path: Path, origin: str, name: str, value: object) -> Any:  # noqa: ANN401 - the type is that of the setting.
    if name not in SETTINGS:
        cure = nearest_or(name, SETTINGS, "see `codesearch config`")
        raise ConfigError(f"{path}: unknown setting {name!r}", cure)
    setting, source = SETTINGS[name], f"{path}: {name!r}"
    if origin not in setting.opt.set_by:
        raise ConfigError(f"{source} cannot be set by a project", "set it in your own config.toml")
    if setting.kind is dict:
        return _checked_groups(path, value)
    if setting.repeatable:
        if not _is_texts(value):
            raise ConfigError(f"{source} must be a list of strings, not {value!r}")
        value = tuple(value)
    else:
        if setting.kind is float and type(value) is int:
            value = float(value)
        if type(value) is not _as_stored(setting):
            raise ConfigError(f"{source} must be {_TYPES[setting.kind]}, not {value!r}")
        setting.checked(value, source)
    if origin == PROJECT and not setting.may_narrow(value):
        shown = list(value) if isinstance(value, tuple) else value
        problem = f"{source} cannot be {shown} in a project, which can only narrow what is read"
        raise ConfigError(problem, "set it in your own config.toml or with an option of `codesearch index`")
    return value


def _checked_groups(path: Path, groups: object) -> dict[str, tuple[str, ...]]:
    if not isinstance(groups, dict):
        raise ConfigError(f"{path}: 'groups' must be a table, not {groups!r}", "begin it with [groups]")
    for name, folders in groups.items():
        if not folders or not _is_texts(folders):
            raise ConfigError(f"{path}: group {name!r} must be a list of folders, not {folders!r}")
        for folder in folders:
            if not folder.startswith("~") and not os.path.isabs(folder):
                raise ConfigError(f"{path}: group {name!r}: {folder!r} is relative", "begin it with ~ or /")
    return {name: tuple(folders) for name, folders in groups.items()}


def _is_texts(value: object) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _as_stored(setting: Option) -> type:
    return str if setting.kind is Path else setting.kind


def _parsed(text: str, setting: Option, source: str) -> Any:  # noqa: ANN401 - the type is that of the setting.
    try:
        value = _WORDS[text.lower()] if setting.kind is bool else _as_stored(setting)(text)
    except (KeyError, ValueError):
        raise ConfigError(f"{source} must be {_TYPES[setting.kind]}, not {text!r}") from None
    return setting.checked(value, source)
