"""A root folder -> its source files in a fixed order, and what was skipped and why."""

from __future__ import annotations

import math
import os
import re
import time
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from codesearch.config import PROJECT_FILE, ParseConfig, WalkConfig
from codesearch.errors import ConfigError
from codesearch.files import ABSENT, Stamp, stamp, stamp_of
from codesearch.git import work_tree
from codesearch.languages import (
    is_binary,
    is_installed,
    language_name,
    language_of_path,
    language_of_shebang,
    record_of,
)
from codesearch.languages.records import Language
from codesearch.parsing.decoding import SNIFF_BYTES
from codesearch.parsing.flags import holders, is_of_others, licence_in
from codesearch.parsing.gitrules import GitRules, git_rules
from codesearch.parsing.ignore import (
    MOST_WEIGHT,
    BadPatternError,
    PatternsHere,
    RuleReader,
    Rules,
    is_ignored,
    read_patterns,
    rules_above,
)
from codesearch.treefiles import IGNORE_FILES, is_linked_work_tree, read_head, rule_files_above
from codesearch.visible import visible

NEVER, BINARY, TOO_LARGE = "never", "binary", "too large"
OTHER_LANGUAGE, OTHER_CONTENT, UNREADABLE = "other language", "other content", "unreadable"
HIDDEN, IGNORED, LINK, ALWAYS, RULES = "hidden", "ignored", "link", "always", "rules"
WORK_TREE = "work tree"
"""Reasons for skipping files and folders.

`ALWAYS` marks folders that only a rule of the user includes, `RULES` ignore files that are not applied, `WORK_TREE`
linked work trees in a checkout.
"""
_MAX_EXTENSION = 12
_MOST_WARNINGS = 1_000
_VERSION_CONTROL = frozenset({".git", ".hg", ".svn", ".jj", "CVS"})
_GENERATED = frozenset({"__pycache__", "node_modules"})
_SHEBANG_BYTES = 200
_MINIFIED_FROM_BYTES = 10_000
_MOST_DATA_BYTES, _DATA_LINE, _CODE_SHARE, _LEAST_LINES = 300_000, 1_000, 0.01, 3
"""A source up to so many bytes may have longer lines than this with so few marks of code, and so many other lines."""
_LONG_LINE, _SHORT_NAME = 300, 2
_MOST_SPACE, _LEAST_LONG, _LEAST_SHORT = 0.1, 0.3, 0.3
"""Shares of a minified file: bytes that are white space, bytes in long lines, names that are short."""
_NAME = re.compile(rb"[A-Za-z_$][\w$]*")
_NAMES_BYTES = 100_000
_TRANSLATION = re.compile(rb"(?:\xef\xbb\xbf)?\s*<(?:\?xml|!DOCTYPE)\b")  # Qt names it `.ts`, as TypeScript
_MOST_NAMED = 3  # Ignore files that a warning names


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to parse; `path` is relative to the root, with forward slashes."""

    path: str
    language: str
    stamp: Stamp

    @property
    def size(self) -> int:
        """Bytes when the walk saw it."""
        return self.stamp[0]


class OutOfTimeError(Exception):
    """A walk takes longer than its caller allows."""


_counters = partial(defaultdict[str, Counter[str]], Counter)


@dataclass(slots=True)
class WalkSummary:
    """What a walk skipped."""

    skipped: defaultdict[str, Counter[str]] = field(default_factory=_counters)  # reason -> extension
    folders: defaultdict[str, Counter[str]] = field(default_factory=_counters)  # not entered: reason -> name
    warnings: list[str] = field(default_factory=list)  # one line each, about what the user can correct
    vendored: list[str] = field(default_factory=list)  # folders that are copies of other projects
    missing_grammars: dict[str, int] = field(default_factory=dict)  # language -> files
    # Folders and ignore files: path below the root, or absolute above it.
    watched: dict[str, Stamp] = field(default_factory=dict)
    rule_files: list[str] = field(default_factory=list)  # Those of the watched files that have ignore rules.
    # Files left out although their names do not tell why.
    passed: dict[str, Stamp] = field(default_factory=dict)
    until: float = math.inf  # the walk must end then, by `time.monotonic`; else it raises OutOfTimeError
    _unnamed: int = 0

    def check_time(self) -> None:
        """Raise OutOfTimeError if the walk has no time left."""
        if time.monotonic() > self.until:
            raise OutOfTimeError

    def warn(self, line: str) -> None:
        """Add a warning as one line; count those that are too many."""
        if len(self.warnings) < _MOST_WARNINGS:
            self.warnings.append(visible(line))
        else:
            self._unnamed += 1
            self.warnings[_MOST_WARNINGS:] = [f"{self._unnamed:,} more, of which only the number is kept"]

    def warn_if_ignored(self) -> None:
        """Warn about the rules that left out everything."""
        ignored = sum(self.skipped[IGNORED].values())
        ignored += sum(sum(self.folders[reason].values()) for reason in (IGNORED, ALWAYS))
        if ignored:
            files = [path for path in self.rule_files if self.watched[path] != ABSENT]
            rules = f"the rules of {', '.join(files[:_MOST_NAMED])}" if files else "--exclude or usual names"
            cure = "give --no-ignore to index it, or other patterns to --exclude"
            self.warn(f"{rules} leave out everything that could be indexed: {cure}")

    def watch(self, path: str, place: str) -> None:
        """Note the stamp of a path that a later walk depends on: `path` is the key, `place` is read."""
        self.watched[path] = stamp_of(place)


def walk(root: Path, config: WalkConfig, summary: WalkSummary) -> Iterator[SourceFile]:
    """Yield the source files under `root` in the order of their paths.

    Nested `.gitignore` and `.codesearchignore` apply as git applies them: the deepest file with a matching pattern
    decides, and nothing inside an ignored folder is read. Inside a git work tree, the rules of the folders above `root`
    apply too.
    """
    tree = _Walk(root, config, summary)
    for pattern in config.exclude:
        if reason := tree.why_without_effect(pattern):
            summary.warn(f"--exclude {pattern!r} has no effect: {reason}")
    is_empty = True
    for file in tree.files():
        is_empty = False
        yield file
    if is_empty:
        summary.warn_if_ignored()


def known_file(path: str, stamp: Stamp, config: WalkConfig) -> SourceFile | None:
    """Return a file of an earlier walk as a new walk would find it; None if only a walk can tell."""
    spec = language_of_path(path, config.content)
    if spec is None or not 0 <= stamp[0] <= config.max_file_bytes:
        return None
    return SourceFile(path, spec.name, stamp)


def why_left_out(root: Path, path: Path, config: WalkConfig) -> str:
    """Return the reason why a walk does not come to a path below its root because of a name; "" if it comes there."""
    one = _Walk(root, config, WalkSummary())
    folder, (rules, ignores_case) = "", one.first_rules()
    for name in path.relative_to(root).parts:
        place = os.path.join(one.root, folder)
        names = {name for name in (".git", *IGNORE_FILES) if os.path.lexists(os.path.join(place, name))}
        if one.is_other_checkout(folder, names, ignores_case):
            return WORK_TREE
        rules, ignores_case = one.with_own_rules(folder, rules, names, ignores_case)
        here = _in_force(rules, folder)
        whole = f"{folder}{name}"
        if os.path.isdir(os.path.join(one.root, whole)):
            reason = one.why_not_entered(name, here)
        else:
            is_hidden = name.startswith(".") and not config.hidden
            reason = HIDDEN if is_hidden else IGNORED if is_ignored(here, name, is_folder=False) else ""
        if reason:
            return reason
        folder = f"{whole}/"
    is_folder = os.path.lexists(os.path.join(one.root, folder, ".git"))
    return WORK_TREE if is_folder and one.is_other_checkout(folder, {".git"}, ignores_case) else ""


def _in_force(rules: Sequence[Rules], folder: str) -> list[PatternsHere]:
    return [one.inside(folder) for one in reversed(rules) if not one.patterns.is_empty]


class _Walk:
    """One walk: what it may enter, what it has seen, and what it has skipped."""

    def __init__(self, root: Path, config: WalkConfig, summary: WalkSummary) -> None:
        self.root, self.config, self.summary = str(root), config, summary
        self.reader = RuleReader()
        self.languages = frozenset(map(language_name, config.languages))
        try:
            os.scandir(self.root).close()
            self.seen = {_identity(root.stat())}
        except OSError as error:
            raise ConfigError(f"{self.root}: {error.strerror}", "give a folder that can be read") from None

    def first_rules(self) -> tuple[list[Rules], bool | None]:
        """Return the rules that apply to the root, and watch their files; and what `files` keeps of the repository."""
        root = Path(self.root).resolve()
        above = rule_files_above(root) if self.config.ignore_files else []
        for path, _ in above:
            self.summary.watch(path, path)
        self.summary.watch(PROJECT_FILE, os.path.join(self.root, PROJECT_FILE))
        ignores_case = None
        if top := work_tree(root):
            git = self.git_rules(top)
            ignores_case = None if git.is_bare else git.ignores_case
            below = "".join(f"{part}/" for part in root.relative_to(top).parts)
            above = [*((path, below) for path in git.files), *above] if self.config.ignore_files else []
        self.summary.rule_files += [path for path, _ in above]
        try:
            exclude = read_patterns(self.config.exclude, strict=True, ignores_case=bool(ignores_case))
        except BadPatternError as error:
            raise ConfigError(f"exclude: {error}", "correct it in --exclude or in a settings file") from None
        if exclude.weight > MOST_WEIGHT:
            count = f"{len(exclude.wildcards):,} patterns with wildcards are too many"
            raise ConfigError(f"exclude: {count}", "give fewer in --exclude or in a settings file")
        rules = rules_above(above, self.reader, self.summary.warn, ignores_case=bool(ignores_case))
        return [*rules, Rules(exclude)], ignores_case

    def git_rules(self, top: str) -> GitRules:
        """Return the rules of a work tree that are outside of its folders, and watch all that they depend on."""
        git = git_rules(top)
        for path in (*git.files, *git.configs):
            self.summary.watch(path, path)
        return git

    def is_other_checkout(self, folder: str, names: Collection[str], ignores_case: bool | None) -> bool:
        """Say whether a folder is a linked work tree inside of a checkout."""
        is_inner = folder and ignores_case is not None and ".git" in names
        return bool(is_inner) and is_linked_work_tree(os.path.join(self.root, folder))

    def files(self) -> Iterator[SourceFile]:
        """Yield the files of each folder, then those of the folders below it that are entered.

        With the rules of a folder goes whether the repository around it ignores case; None if there is no checkout.
        """
        stack = [("", *self.first_rules())]
        while stack:
            folder, rules, ignores_case = stack.pop()
            place = os.path.join(self.root, folder)
            self.summary.watch(folder, place)
            try:
                with os.scandir(place) as scan:
                    listing = sorted(scan, key=lambda entry: entry.name)
            except OSError as error:
                self.summary.warn(f"{folder or '.'}: {error.strerror}: folder left out")
                self.summary.folders[UNREADABLE][folder] += 1
                continue
            names = {entry.name for entry in listing}
            if self.is_other_checkout(folder, names, ignores_case):
                self.summary.folders[WORK_TREE][os.path.basename(folder[:-1])] += 1
                del self.summary.watched[folder]  # Its files may change; what it is depends on `.git` alone.
                self.summary.watch(f"{folder}.git", os.path.join(place, ".git"))
                continue
            self.note_vendored(folder, names)
            rules, ignores_case = self.with_own_rules(folder, rules, names, ignores_case)
            here = _in_force(rules, folder)
            below = []
            for entry in listing:
                self.summary.check_time()
                path = f"{folder}{entry.name}"
                if self.is_folder(entry):
                    if self.enters(entry, here):
                        below.append((f"{path}/", rules, ignores_case))
                elif isinstance(found := self.source_file(entry, path, here), SourceFile):
                    yield found
                elif found:
                    self.summary.skipped[found][extension_of(entry.name)] += 1
            stack.extend(reversed(below))

    def note_vendored(self, folder: str, names: Collection[str]) -> None:
        licence = licence_in(names)
        place = os.path.join(self.root, folder, licence) if licence else ""
        if licence:
            self.summary.watch(f"{folder}{licence}", place)
        if not folder:
            self.holders = holders(place)
        elif not folder.startswith(tuple(self.summary.vendored)):
            if is_of_others(folder, place, self.holders, names):
                self.summary.vendored.append(folder)

    def why_without_effect(self, pattern: str) -> str:
        text = pattern.removeprefix("!").rstrip("/")
        *above, _ = names = text.removeprefix("/").split("/")
        if {".", ".."} & set(names) or text.startswith(f"{self.root}/"):
            return "patterns are relative to the root of the index, such as '/build/'"
        if pattern.startswith("!"):
            if not self.config.hidden and any(name.startswith(".") for name in names):
                return "names that begin with a dot need --hidden"
            for depth in range(1, len(above) + 1):
                folder = Path(self.root, *above[:depth])
                if folder.is_dir() and (why := why_left_out(Path(self.root), folder, self.config)):
                    shown = "/".join(above[:depth])
                    return f"the folder around it is {why} (add --exclude '!/{shown}/')"
        return ""

    def is_folder(self, entry: os.DirEntry[str]) -> bool:
        try:
            return entry.is_dir(follow_symlinks=self.config.follow_links)
        except OSError:  # A link to itself; `source_file` meets the same error and reports it.
            return False

    def enters(self, entry: os.DirEntry[str], here: Sequence[PatternsHere]) -> bool:
        if entry.name in _VERSION_CONTROL:
            return False
        if reason := self.why_not_entered(entry.name, here):
            self.summary.folders[reason][entry.name] += 1
            return False
        if self.config.follow_links:
            try:
                identity = _identity(os.stat(entry.path))  # That of the entry is zero on Windows.
            except OSError as error:  # Its path is too long, or it is gone.
                self.summary.warn(f"{entry.name}: {error.strerror}: folder left out")
                self.summary.folders[UNREADABLE][entry.name] += 1
                return False
            if identity in self.seen:
                return False
            self.seen.add(identity)
        return True

    def why_not_entered(self, name: str, here: Sequence[PatternsHere]) -> str:
        ignored = is_ignored(here, name, is_folder=True)
        is_generated = self.config.ignore_files and name in _GENERATED and ignored is not False
        is_hidden = name.startswith(".") and not self.config.hidden
        return HIDDEN if is_hidden else ALWAYS if is_generated else IGNORED if ignored else ""

    def source_file(
        self, entry: os.DirEntry[str], path: str, here: Sequence[PatternsHere]
    ) -> SourceFile | str:
        """Return what an entry is: a file to parse, or the reason to skip it ("" after a warning)."""
        name = entry.name
        if name.startswith(".") and not self.config.hidden:
            return HIDDEN
        spec = language_of_path(name, self.config.content)
        try:
            # Skip a link to a file unless links are followed: its target has its own path.
            if not entry.is_file(follow_symlinks=self.config.follow_links):
                if self.config.follow_links:
                    self.summary.passed[path] = stamp_of(entry.path)
                return LINK if entry.is_symlink() else ""
            if spec is None and "." in name:
                return _why_not_read(name)
            seen = stamp(os.stat(entry.path))  # On Windows, the entry knows no inode.
            if spec is None:
                self.summary.passed[path] = seen
                if seen[4] & 0o111:
                    spec = language_of_shebang(read_head(entry.path, _SHEBANG_BYTES).partition(b"\n")[0])
        except OSError as error:
            self.summary.passed[path] = stamp_of(entry.path)
            self.summary.warn(f"{path}: {error.strerror}: left out")
            return UNREADABLE
        if spec is None:
            return _why_not_read(name)
        if spec.content == "code" and self.languages and spec.name not in self.languages:
            return OTHER_LANGUAGE
        return IGNORED if is_ignored(here, name, is_folder=False) else self.accept(path, spec, seen)

    def accept(self, path: str, spec: Language, seen: Stamp) -> SourceFile | str:
        if spec.grammar and not is_installed(spec):
            missing = self.summary.missing_grammars
            missing[spec.name] = missing.get(spec.name, 0) + 1
        try:
            path.encode("utf-8")
        except UnicodeEncodeError:
            self.summary.warn(f"{path!a}: file name is not UTF-8: left out")
            return UNREADABLE
        limit = self.config.max_file_bytes
        if seen[0] > limit:
            self.summary.passed[path] = seen
            self.summary.warn(
                f"{path}: {seen[0] / 1e6:.0f} MB, over the limit of {limit / 1e6:.0f} MB: "
                "left out (raise --max-file-mb to read it)"
            )
            return TOO_LARGE
        self.summary.passed.pop(path, None)
        return SourceFile(path, spec.name, seen)

    def with_own_rules(
        self, folder: str, rules: list[Rules], names: Collection[str], ignores_case: bool | None
    ) -> tuple[list[Rules], bool | None]:
        own: list[Rules] = []
        place = os.path.join(self.root, folder)
        files = [(f"{folder}{name}", os.path.join(place, name)) for name in IGNORE_FILES if name in names]
        if folder and ".git" in names:
            git = self.git_rules(place)
            # The first file is for all repositories, so a repository in a work tree has it already.
            nested = git.files if ignores_case is None else git.files[-1:]
            files = [*((path, path) for path in nested), *files]
            ignores_case = None if git.is_bare else git.ignores_case
        for key, path in files if self.config.ignore_files else ():
            self.summary.check_time()
            self.summary.watch(key, path)
            self.summary.rule_files.append(key)
            try:
                in_force = [*rules, *own]
                own.append(self.reader.read(path, in_force, below=folder, ignores_case=bool(ignores_case)))
            except (FileNotFoundError, NotADirectoryError):
                continue
            except OSError as error:
                self.summary.skipped[RULES][os.path.basename(path)] += 1
                self.summary.warn(f"{key}: {error.strerror}: its rules are not applied")
        # The last one is --exclude. It decides in every folder.
        return [*rules[:-1], *own, rules[-1]], ignores_case


def extension_of(path: str) -> str:
    """Return the extension of a file in lower case; "" without one.

    >>> extension_of("src/App.JS"), extension_of("v1.2/Makefile"), extension_of(".bashrc")
    ('.js', '', '')
    """
    stem, _, ending = path.rpartition("/")[2].rpartition(".")
    is_extension = stem and len(ending) <= _MAX_EXTENSION and ending.isprintable() and " " not in ending
    return f".{ending.lower()}" if is_extension and ending else ""


def _why_not_read(name: str) -> str:
    if is_binary(name):
        return BINARY
    return OTHER_CONTENT if language_of_path(name, "all") else NEVER


def refuse_content(source: bytes, language: str, config: ParseConfig) -> str | None:
    """Return the reason to skip a file because of its content; None if there is none."""
    if b"\x00" in source[:SNIFF_BYTES]:
        return BINARY
    if language == "typescript" and _TRANSLATION.match(source):
        return "data"
    return "minified" if _is_minified(_without_data(source), language, config) else None


def _without_data(source: bytes) -> bytes:
    """Return a short source without long lines that are hardly code, such as an image, if it has other lines."""
    if not _MINIFIED_FROM_BYTES <= len(source) <= _MOST_DATA_BYTES:
        return source
    lines = source.split(b"\n")
    others = [
        line
        for line in lines
        if len(line) <= _DATA_LINE or len(line.translate(None, b";()=:")) < (1 - _CODE_SHARE) * len(line)
    ]
    return b"\n".join(others) if sum(map(bool, map(bytes.strip, others))) >= _LEAST_LINES else source


def _is_minified(source: bytes, language: str, config: ParseConfig) -> bool:
    size = len(source)
    return size >= _MINIFIED_FROM_BYTES and (
        size / (source.count(b"\n") + 1) > config.max_mean_line_bytes
        or (record_of(language).is_script and _is_minified_script(source))
    )


def _is_minified_script(source: bytes) -> bool:
    """Say whether a script has little white space, long lines and short names; data has long names or none."""
    size = len(source)
    if size - len(source.translate(None, b" \t\r\n")) > _MOST_SPACE * size:
        return False
    if sum(len(line) for line in source.split(b"\n") if len(line) > _LONG_LINE) < _LEAST_LONG * size:
        return False
    names = _NAME.findall(source[:_NAMES_BYTES])
    return sum(len(name) <= _SHORT_NAME for name in names) >= _LEAST_SHORT * len(names)


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino
