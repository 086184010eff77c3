"""Every option of the command line: its name, type, help, default, limits, and who may set it.

Settings files and environment variables read this table too. A default that a configuration class has is read from it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf
from operator import and_, or_
from pathlib import Path
from typing import Any

from codesearch.config import (
    CONTENT,
    DEVICES,
    MAX_FILE_MB,
    MODES,
    VECTOR_INDEXES,
    WalkConfig,
)
from codesearch.errors import ConfigError
from codesearch.types import KINDS

COMMAND, USER, ENVIRONMENT, PROJECT, PORTABLE = "command", "user", "environment", "project", "portable"
"""Who may set an option: the command line, the user's settings file, an environment variable, the settings file of a
project, or a portable file that is imported. A server sets none. Anybody can make a project and a portable file, so
they can only narrow what is read (`Option.narrow`)."""
_ONLY_COMMAND = frozenset({COMMAND})
_SETTING = frozenset({COMMAND, USER, ENVIRONMENT, PROJECT})
# A cloned project must not choose programs, servers or the model, or make codesearch read files outside of it.
_OWN_SETTING = _SETTING - {PROJECT}
# All processes that update an index must use the same values, so the environment sets none of them.
_INDEX_SETTING = frozenset({COMMAND, USER, PROJECT, PORTABLE})

SEARCHES = ("query", "similar")
"""The commands that search."""
STRUCTURE = ("outline", "read", "usages", "duplicates")
"""The commands that show places and functions without a query."""
_SERVED = (*SEARCHES, "index", "status")
_WITH_MODEL = (*SEARCHES, "index", "watch", "bench")
_WITH_HOME = (
    *_WITH_MODEL,
    *STRUCTURE,
    "history",
    "serve",
    "mcp",
    "lsp",
    "status",
    "export",
    "import",
    "remove",
    "doctor",
    "uninstall",
)


@dataclass(frozen=True, slots=True)
class Option:
    """An option of commands.

    Attributes:
        name: of the option, the setting and the parameter.
        help: one sentence that says what it does.
        default: the value if nobody sets it; None or empty if there is none; a tuple if it can be given several times.
        names: its names on the command line, with spaces between; empty for the usual one, such as --min-confidence.
        of: the type of one value, if the default does not say it; by default str.
        on: the commands that take it.
        set_by: who may set it.
        choices: the only values; empty for any.
        low: the lowest number.
        high: the highest number.
        narrow: (value of a project or a portable file, value of the user) -> the value in force. It never reads more
            files, or larger ones, than that of the user. None if any value is harmless.
        metavar: stands for the value in the help; by default its type.
    """

    name: str
    help: str
    default: Any = None
    names: str = ""
    of: type | None = None
    on: tuple[str, ...] = ()
    set_by: frozenset[str] = _ONLY_COMMAND
    choices: tuple[str, ...] = ()
    low: float = -inf
    high: float = inf
    narrow: Callable[[Any, Any], Any] | None = None
    metavar: str | None = None

    @property
    def repeatable(self) -> bool:
        """Say whether it can be given several times."""
        return isinstance(self.default, tuple)

    @property
    def kind(self) -> type:
        """The type of one value: bool, int, float, str or Path."""
        return self.of or (str if self.default is None or self.repeatable else type(self.default))

    @property
    def is_setting(self) -> bool:
        """Say whether a settings file may set it."""
        return USER in self.set_by

    @property
    def in_index(self) -> bool:
        """Say whether it changes the content of an index, which then keeps it for later runs."""
        return {USER, COMMAND} <= self.set_by and ENVIRONMENT not in self.set_by

    @property
    def flags(self) -> tuple[str, ...]:
        """The names on the command line, in the syntax of typer."""
        usual = self.name.replace("_", "-")
        has_opposite = self.kind is bool and (self.default or self.in_index)
        return tuple(self.names.split()) or (f"--{usual}/--no-{usual}" if has_opposite else f"--{usual}",)

    @property
    def variable(self) -> str:
        """The environment variable that sets it, if `set_by` has ENVIRONMENT."""
        return f"CODESEARCH_{self.name.upper()}"

    def checked(self, value: Any, name: str) -> Any:  # noqa: ANN401 - the type is that of the option.
        """Return a value of the right type."""
        if self.choices and value not in self.choices:
            raise ConfigError(f"{name} must be one of {', '.join(self.choices)}, not {value!r}")
        if self.kind in (int, float) and not self.low <= value <= self.high:
            limit = f"at least {self.low}" if self.high == inf else f"from {self.low:,} to {self.high:,}"
            raise ConfigError(f"{name} must be {limit}, not {value}")
        return value

    def narrowed(self, value: Any, yours: Any) -> Any:  # noqa: ANN401 - the type is that of the option.
        """Return the value in force if a project or a portable file chooses one and the user another one."""
        return self.narrow(value, yours) if self.narrow else value

    def may_narrow(self, value: Any) -> bool:  # noqa: ANN401 - the type is that of the option.
        """Say whether a value narrows what is read, if the user has the widest value."""
        widest = () if self.repeatable else not value if self.kind is bool else inf
        return self.narrow is None or self.narrow(value, widest) == value


def _added(patterns: tuple[str, ...], yours: tuple[str, ...]) -> tuple[str, ...]:
    """Return all patterns that exclude; the last one that matches decides, so those of the user come last."""
    return (*(pattern for pattern in patterns if not pattern.lstrip().startswith("!")), *yours)


def _common(languages: tuple[str, ...], yours: tuple[str, ...]) -> tuple[str, ...]:
    """Return the languages that both name; no name stands for all languages."""
    return tuple(name for name in languages if name in yours) or yours if yours else languages


_declared: list[Option] = []


def _on(uses: str | tuple[str, ...], *options: Option, set_by: frozenset[str] = _ONLY_COMMAND) -> None:
    """Declare options of commands, paths and tools, and who may set them."""
    on = (uses,) if isinstance(uses, str) else uses
    _declared.extend(replace(option, on=on, set_by=set_by) for option in options)


_WALK = WalkConfig()
_HITS = Option("hits", "Hits to show.", 5, "-n -k --top-k --limit", low=1, high=1_000_000)
_LANG = Option("lang", "Only this language.", ())
_KIND = Option("kind", f"Only this kind: {', '.join(KINDS)}.", (), choices=KINDS)
_PATH = Option("path", "Only paths that match this glob; ! before it excludes.", ())
_MODE = Option("mode", "hybrid, lexical or semantic.", "hybrid", choices=MODES)

_on(
    SEARCHES,
    _HITS,
    Option("all_code", "Rank tests, generated and vendored code and stubs like other code.", False),
    Option("color", "Colours and links: auto, always or never.", "auto", choices=("auto", "always", "never")),
    set_by=_SETTING,
)
_on(
    (*SEARCHES, "usages", "duplicates"),
    Option("refresh", "First index changed files, if that is quick.", True),
    set_by=_SETTING,
)
_on(
    "query",
    _MODE,
    Option("min_confidence", "Show no hits if the confidence is below this, 0 to 1.", 0.0, low=0, high=1),
    Option("flat", "Rank definitions, not files.", False),
    set_by=_SETTING,
)
_on(
    SEARCHES,
    _LANG,
    _PATH,
    _KIND,
    Option(
        "changed",
        "Only files that differ from a git revision, by default HEAD; REV... is the merge base with HEAD.",
        metavar="[REV]",
    ),
    Option("jsonl", "Print one JSON object for each hit.", False),
    Option("vimgrep", "Print path:line:column:signature.", False),
    Option("compact", "Print one line for each hit.", False),
    Option("files", "Print only the paths of the files.", False, "--files -l"),
    Option("full", "Show whole bodies.", False),
    Option(
        "context_lines",
        "Lines of the file to show around each hit.",
        0,
        "--context -C",
        low=0,
        high=1_000_000,
    ),
    Option("explain", "Show what each part added to the score.", False),
    Option("no_service", "Answer in this process, even if `codesearch serve` runs.", False),
)
_on(
    (*SEARCHES, *STRUCTURE),
    Option("root", "Search this indexed folder, or the imported index with this name.", (), of=Path),
    Option("index", "Search this portable file.", (), of=Path, metavar="FILE"),
    Option("all", "Search all indexed folders.", False),
    Option("group", "Search the folders of this group, which your settings name.", ""),
)
_on(
    (*SEARCHES, *STRUCTURE, "index"),
    Option("at", "A git revision in place of the files as they are.", "", metavar="REV"),
)
_on(
    "history",
    replace(_HITS, help="Commits to show."),
    Option("since", 'Only commits since a date, such as 2024-05-31, or a time, such as "3 months".', ""),
    Option("author", "Only commits whose author has this in the name or address.", ""),
    replace(_PATH, help="Only commits that changed a path that matches this glob; ! before it excludes."),
    Option("root", "The folder, by default this one.", of=Path),
)
_on("query", Option("fixed", "Find this exact text.", False, "--fixed -F"))
_on(
    "outline",
    Option("max_lines", "Show at most this many lines, the most important ones.", 40, low=4, high=1_000_000),
)
_on(
    "duplicates",
    Option(
        "changed",
        "Only functions that differ from a git revision, by default HEAD; REV... is the merge base with HEAD.",
        metavar="[REV]",
    ),
    Option(
        "same",
        "What they share: text, all but names and values (renamed), or what they do (meaning).",
        "meaning",
        choices=("text", "renamed", "meaning"),
    ),
    Option("min_lines", "Leave out shorter functions.", 6, low=1, high=1_000_000),
    Option("min_score", "Lowest score of functions that share the meaning.", 0.75, low=0, high=1),
    Option("all_code", "Compare tests, generated and vendored code too.", False),
    _LANG,
    _PATH,
    Option("ignore", "Leave out paths that match this glob.", ()),
    Option("jsonl", "Print one JSON object for each pair.", False),
    Option("vimgrep", "Print path:line:column:text for each pair.", False),
)
_on("outline", Option("question", "Show what answers this question, and what is around it.", "", "--for"))
_on(
    "usages",
    replace(_HITS, help="Usages to show.", default=20),
    _LANG,
    _PATH,
    Option("vimgrep", "Print path:line:column:text.", False),
)
_on("read", Option("max_lines", "Fold the members of longer classes and files.", 120, low=4, high=1_000_000))
_on(
    (),
    Option("pager", "Program that shows long output: a command, auto ($PAGER or less) or never.", "auto"),
    set_by=_OWN_SETTING - {COMMAND},
)
# A repository must not choose which other folders are searched.
_on(
    (),
    Option("groups", "Folders that are searched together, by the name of the group.", {}),
    set_by=frozenset({USER}),
)
_on(
    "index",
    Option("exclude", "Skip paths that match this .gitignore pattern.", _WALK.exclude, narrow=_added),
    Option("languages", "Index only this language.", _WALK.languages, "--lang", narrow=_common),
    Option("content", "What to index: code, docs, config or all.", _WALK.content, choices=tuple(CONTENT)),
    Option("hidden", "Enter names that begin with a dot.", _WALK.hidden, narrow=and_),
    Option(
        "ignore_files",
        "Respect .gitignore and .codesearchignore.",
        _WALK.ignore_files,
        "--ignore/--no-ignore",
        narrow=or_,
    ),
    Option(
        "max_file_mb",
        "Skip larger files.",
        _WALK.max_file_bytes // 1_000_000,
        low=1,
        high=MAX_FILE_MB,
        narrow=min,
    ),
    set_by=_INDEX_SETTING,
)
_on(
    "index",
    Option("follow_links", "Follow symbolic links.", _WALK.follow_links, "--follow/--no-follow"),
    set_by=_INDEX_SETTING - {PROJECT, PORTABLE},
)
_on(
    "index",
    Option("rebuild", "Make a new index, with only the options given now.", False),
    Option("optimize", "Merge all segments into one: faster queries over a large index.", False),
    Option("shard", "I/N: the argument is a file that lists folders; index part I of N of them."),
    Option(
        "vector_index",
        "Index for vectors of a new collection: hnsw or ivf_sq8.",
        "hnsw",
        choices=VECTOR_INDEXES,
    ),
)
_on(
    "status",
    Option("warnings", "List the warnings of the last run.", False),
    Option("changes", "Walk each folder and count what an update would do.", False),
)
_on("config", Option("explain", "Say what each setting means.", False))
_on("watch", Option("quiet", "Print only warnings.", False, "--quiet -q"))
_on("uninstall", Option("delete", "Delete what is listed, except what is kept.", False))
_on("doctor", Option("offline", "Index and query a small tree without network access.", False))
_on(
    "mcp",
    Option("root", "The project; default: the client's folder, or the project you are in.", of=Path),
    Option("group", "Let agents search this group of your settings too.", ()),
    Option("setup", "Print the configuration of a client.", metavar="NAME"),
    Option("write", "With --setup: write what it shows, with backups.", False),
    Option(
        "instructions", "Print a paragraph for AGENTS.md; with --setup, a diff of the client's file.", False
    ),
    Option("remove", "With --setup: take entry and paragraph out again.", False),
)
_on(
    "serve",
    Option("stop", "Stop the service that runs.", False),
    Option("web", "Serve a web page and an HTTP API too.", False),
    Option("host", "Address of the web page.", "127.0.0.1"),
    Option("port", "Port of the web page.", 7177, low=1, high=65535),
    Option("token_file", "File with the token that HTTP clients must send.", of=Path),
    Option("watch", "Update indexes when files change.", True),
)
_on(
    "export",
    Option("sqlite", "Write a SQLite database (extra `export`).", of=Path, metavar="FILE"),
    Option("with_code", "Put the source files into the portable file.", False),
    Option("root", "Export this indexed folder; default: that around you, with --sqlite all.", (), of=Path),
    Option("force", "Replace FILE even if it is not an export of codesearch.", False),
)
_on(
    "import",
    Option("root", "The folder with the sources; default: they are not here.", of=Path),
    Option("name", "Name of the index without --root; default: that in FILE."),
    Option("max_gb", "Refuse a file that unpacks to more.", 8.0, low=0, high=1_000_000),
)
_on(
    "remove",
    Option("all", "Delete all indexes.", False),
    Option("cache", "Also delete unpacked portable files and the data of `bench`.", False),
)
_on(
    (*_WITH_MODEL, "import"),
    Option("model", "Folder of a model bundle; default: the one in use, else the shipped one.", "", of=Path),
    set_by=_OWN_SETTING,
)
_on(
    (*_WITH_MODEL, "doctor"),
    Option("device", "Where the model runs: auto, cpu or cuda.", "auto", choices=DEVICES),
    set_by=_SETTING,
)
_on(
    _SERVED,
    Option("backend", "Where the documents are: local or milvus.", "local", choices=("local", "milvus")),
    Option("uri", "Address of the Milvus server.", "http://localhost:19530"),
    Option("prefix", "Begins the names of the collections in Milvus.", "codesearch"),
    set_by=_OWN_SETTING,
)
_on(
    (*SEARCHES, *STRUCTURE, "history", "mcp", "lsp"),
    Option(
        "auto_index",
        "First index the project that you are in, if nothing covers it.",
        True,
        "--auto-index/--no-index",
    ),
    set_by=_SETTING,
)
_on((*SEARCHES, *STRUCTURE, "history", "status", "config"), Option("json", "Print one JSON document.", False))
_on(
    _WITH_HOME,
    Option(
        "home",
        "Folder of all indexes; default: $CODESEARCH_HOME, or codesearch in your data folder.",
        of=Path,
    ),
)
OPTIONS = tuple(_declared)


def options_of(use: str) -> dict[str, Option]:
    """Return the options of a command, by name."""
    return {option.name: option for option in OPTIONS if use in option.on}
