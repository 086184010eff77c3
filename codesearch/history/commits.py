"""`git log` -> commits; ids of commits -> what is shown of them: message, files and changed definitions.

Messages, names, paths and contents are text that anyone may have written, so a process with limits of time and memory
parses the files before and after a commit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from codesearch.build.parse import extract_each
from codesearch.config import ParseConfig
from codesearch.errors import ConfigError
from codesearch.git import LOG, Blob, Repository
from codesearch.languages import language_of_path
from codesearch.parsing.decoding import decoded
from codesearch.parsing.flags import file_flags
from codesearch.search.lookup import innermost
from codesearch.search.snippets import best_lines
from codesearch.structure.text import Row, counted, without_folders
from codesearch.types import NESTED, TEST, TEXT_KINDS, Coverage, Document
from codesearch.visible import visible

_FORMAT = "--format=%x00%H%x00%ct%x00%an <%ae>%x00%s%x00%b%x00"
_FIELDS = 5
_RAW_CHANGES = ("--raw", "--no-abbrev", "--no-renames", "--ignore-submodules=all")
_HUNKS = ("--patch", "--unified=0", "--inter-hunk-context=0", "--full-index", "--irreversible-delete")
"""Files that a commit deleted have no hunks."""
_LARGE = ("-c", "core.bigFileThreshold=1m")
"""Git shows no hunks of larger files."""
_HUNKS_S, _DIFF_S = 5.0, 20.0
"""What git may take for the hunks of the commits of an answer, and for the diff of one."""
_MAX_MESSAGE = 20_000
_MAX_DIFF_LINES = 10_000
_MAX_CHANGES = _MAX_HUNKS = 1_000
_CHANGE = re.compile(
    rb""":(?P<old_mode>\d+)[ ](?P<new_mode>\d+)[ ]
    (?P<old>[0-9a-f]+)[ ](?P<new>[0-9a-f]+)[ ]   # ids of the content
    [A-Z]\d*\t(?P<path>.*)\n                     # after the kind of the change""",
    re.DOTALL | re.VERBOSE,
)
_READ = (b":", b"index ", b"@@ ")
"""How the lines after a header begin that are read. Lines of the contents begin with other characters."""
_PATCH = re.compile(rb"index ([0-9a-f]+)\.\.([0-9a-f]+)\b")
_HUNK = re.compile(
    rb"""@@[ ]-(\d+)(?:,(\d+))?   # first line and number of lines before
    [ ]\+(\d+)(?:,(\d+))?[ ]@@   # and after
    .*\n                         # the line of the definition around""",
    re.DOTALL | re.VERBOSE,
)
_TRAILER = re.compile(
    r"(?:[A-Z][\w-]*-[Bb]y|C[Cc]|Change-Id|git-svn-id|Link|Message-I[Dd]):? .*\n?", re.MULTILINE
)
_FILE = b"100"
"""How the modes of files begin that are no links and no submodules."""
_LAST_SECOND = 253_402_300_799
"""Of the year 9999, the last one that a date can have."""
_MAX_FILES = 20
"""Of one commit; a commit with more changes is described by its paths."""
_MAX_BYTES = 400_000
_SHORT = 10
_SHOWN_LINES = _SHOWN_FILES = 3
_SHOWN_NAMES = 5


Span = tuple[int, int]
"""The first line and the number of lines; if that is 0, the place is after the line."""


@dataclass(slots=True)
class Change:
    """A file that a commit changed; `old` and `new` are the ids of its content, "" if it is not there.

    `hunks` has the lines of each hunk before and after the commit.
    """

    path: str
    old: str
    new: str
    hunks: list[tuple[Span, Span]] = field(default_factory=list)


@dataclass(slots=True)
class Commit:
    """A commit: `time` in seconds since 1970, and the first paragraph of its message as one line in `subject`.

    `changes` are at most 1,000, without links, submodules, and paths with control characters or quotes. `is_complete`
    says that hunks and definitions were read, so that they need not be read again.
    """

    id: str
    time: int
    author: str
    subject: str
    body: str
    changes: list[Change] = field(default_factory=list)
    is_complete: bool = False


def read_commits(
    lines: Callable[..., Iterator[bytes]], *arguments: str, given: Iterable[bytes] = ()
) -> Iterator[Commit]:
    """Yield the commits that `git log` lists, in its order."""
    reader: _Reader | None = None
    header = b""
    for line in lines(*_LARGE, *LOG, _FORMAT, *arguments, given=given):
        if not header and not line.startswith(b"\0"):
            if reader and line.startswith(_READ):
                reader.add(line)
            continue
        header += line if len(header) < _MAX_MESSAGE else b""
        if line.endswith(b"\0\n"):  # Git ends a message at a null character, so there is none in it.
            if reader:
                yield reader.commit
            reader, header = _Reader(_commit(header)), b""
    if reader:
        yield reader.commit


@dataclass(slots=True)
class _Reader:
    """Reads the changes of a commit."""

    commit: Commit
    _by_ids: dict[tuple[str, str], list[Change]] = field(default_factory=dict)
    _change: Change | None = None

    def add(self, line: bytes) -> None:
        """Read a line after the header that begins with one of `_READ`."""
        if line.startswith(b":"):
            if len(self.commit.changes) < _MAX_CHANGES and (change := _change(line)):
                self.commit.changes.append(change)
                self._by_ids.setdefault((change.old, change.new), []).append(change)
        elif match := _PATCH.match(line):
            same = self._by_ids.get((_blob(match[1]), _blob(match[2])))
            self._change = same.pop(0) if same else None  # Patches have the order of the changes.
        elif self._change and (match := _HUNK.fullmatch(line)):
            if len(self._change.hunks) < _MAX_HUNKS:
                old, old_count, new, new_count = map(int, match.groups(b"1"))
                self._change.hunks.append(((old, old_count), (new, new_count)))


def commit_ids(repository: Repository, *arguments: str) -> list[str]:
    """Return the ids of the commits that `git log` lists, in its order."""
    lines = repository.lines(*LOG, "--format=%x00 %H", *arguments)
    return [line.split()[1].decode() for line in lines if line.startswith(b"\0")]


def read_diff(repository: Repository, revision: str, paths: Sequence[Path | str]) -> list[str]:
    """Return the lines of a commit: date, id, author, message, numbers of lines by file, and the diff of some paths.

    The diff of a merge is that against its first parent. After 10,000 lines, a line says that more were left out.
    """
    commit = repository.commit(revision)
    arguments = (*_LARGE, *LOG, "--no-walk", "--format=%cs  %h  %an%n%B", "--diff-merges=first-parent")
    lines = repository.lines(
        *arguments, "--numstat", "--patch", str(commit), "--", *map(str, paths), timeout_s=_DIFF_S
    )
    shown = [line.decode("utf-8", "replace").rstrip("\r\n") for line in islice(lines, _MAX_DIFF_LINES)]
    if not shown:
        raise ConfigError(
            f"{revision} changed nothing in {', '.join(map(str, paths))}", "choose a commit that did"
        )
    return [*shown, "… more lines"] if next(lines, None) is not None else shown


def without_trailers(body: str) -> str:
    r"""Return the body of a message without lines such as Signed-off-by.

    >>> without_trailers("It leaked.\n\nSigned-off-by: A <a@b.c>\nChange-Id: 3\n")
    'It leaked.'
    """
    return _TRAILER.sub("", body).strip()


def read_changes(repository: Repository, ids: Iterable[str], *, hunks: bool = True) -> Iterator[Commit]:
    """Yield commits with their changes, and with their hunks if wanted, in the order of their ids.

    In a partial clone, there are no hunks from the first commit on whose contents it lacks, and there are none after
    five seconds: a pattern in the configuration or a pipe in place of a file could keep git busy for ever.
    """
    arguments = ("--no-walk=unsorted", "--stdin", *_RAW_CHANGES)
    given, count = [commit.encode() for commit in ids], 0
    if not given:  # Git would list HEAD.
        return
    if hunks:
        in_time = partial(repository.lines, timeout_s=_HUNKS_S)
        with suppress(ConfigError):  # If hunks are not all that is wrong, the next call fails too.
            for commit in read_commits(in_time, *arguments, *_HUNKS, given=given):
                commit.is_complete = True
                yield commit
                count += 1
    if count < len(given):
        yield from read_commits(repository.lines, *arguments, given=given[count:])


def _commit(header: bytes) -> Commit:
    fields = header.decode("utf-8", "replace").strip("\0\n").split("\0")
    identifier, time, author, subject, body = (fields + [""] * _FIELDS)[:_FIELDS]
    return Commit(identifier, int(time) if time.isdigit() else 0, author, subject, body.strip())


def _change(line: bytes) -> Change | None:
    """Return the change of a regular file; None for others, and for paths that git quotes."""
    match = _CHANGE.fullmatch(line)
    if match is None or match["path"].startswith(b'"'):
        return None
    modes = [mode for mode in (match["old_mode"], match["new_mode"]) if mode.strip(b"0")]
    if not all(mode.startswith(_FILE) for mode in modes):
        return None
    return Change(match["path"].decode("utf-8", "surrogateescape"), _blob(match["old"]), _blob(match["new"]))


def _blob(object_id: bytes) -> str:
    """Return an id; "" for the id of no object, which is all zeros."""
    return object_id.decode() if object_id.strip(b"0") else ""


@dataclass(frozen=True, slots=True)
class ChangedDefinition:
    """A definition that a commit changed; its line is the one after the commit, or before it if it was removed."""

    path: str
    name: str
    kind: str
    line: int
    removed: bool = False


@dataclass(frozen=True, slots=True)
class CommitHit:
    """A commit of an answer: its date is in UTC, and it has a score if there is a question."""

    rank: int
    id: str
    date: str
    author: str
    subject: str
    body: str
    paths: tuple[str, ...]
    definitions: tuple[ChangedDefinition, ...]
    score: float | None = None


@dataclass(frozen=True, slots=True)
class HistoryAnswer:
    """Commits for a question or a place, which is at `path` below the `top` of the work tree.

    `definition` is the name of the definition at the place, "" for a file, a folder or lines. `commits` were searched,
    of which `added` were indexed for this answer. A `shallow` clone lacks older ones.
    """

    question: str
    place: str
    definition: str
    path: str
    top: str
    hits: tuple[CommitHit, ...]
    commits: int
    added: int
    shallow: bool
    coverage: Coverage


def read_hits(repository: Repository, ids: Iterable[str]) -> Iterator[tuple[CommitHit, bool]]:
    """Yield what is shown of commits, without ranks, and whether it is complete."""
    commits = list(read_changes(repository, ids))
    definitions = changed_definitions(repository, commits)
    for commit in commits:
        hit = CommitHit(
            rank=0,
            id=commit.id,
            date=datetime.fromtimestamp(min(commit.time, _LAST_SECOND), UTC).date().isoformat(),
            author=commit.author,
            subject=commit.subject,
            body=commit.body,
            paths=tuple(change.path for change in commit.changes),
            definitions=definitions[commit.id],
        )
        yield hit, commit.is_complete


def changed_definitions(
    repository: Repository, commits: Sequence[Commit]
) -> dict[str, tuple[ChangedDefinition, ...]]:
    """Return the definitions that each commit changed, by its id, those of tests last.

    What is inside of a function belongs to it. Files that a commit added or deleted have no definitions here, and
    neither have large files and those that git lacks.
    """
    changes = {commit.id: _parsed_changes(commit) for commit in commits}
    every = chain.from_iterable(changes.values())
    parsed = _parsed(repository, {blob: change.path for change in every for blob in (change.old, change.new)})
    definitions: dict[str, tuple[ChangedDefinition, ...]] = {}
    for commit in commits:
        of_commit = list[ChangedDefinition]()
        for change in changes[commit.id]:
            if change.old in parsed and change.new in parsed:
                old, new = parsed[change.old], parsed[change.new]
                if old and new:
                    of_commit += _changed(change, old, new)
                else:
                    commit.is_complete = False
        definitions[commit.id] = tuple(of_commit)
    return definitions


def _parsed_changes(commit: Commit) -> list[Change]:
    """Return the changes of source files that were there before and after, if there are not too many."""
    changes = [
        change
        for change in commit.changes
        if change.old and change.new and change.hunks and language_of_path(change.path)
    ]
    changes.sort(key=lambda change: file_flags(change.path, b"") & TEST)
    return changes if len(changes) <= _MAX_FILES else []


class _Parsed(NamedTuple):
    """The definitions of a file, in source order, and its lines."""

    documents: Sequence[Document]
    lines: Sequence[bytes]


def _parsed(repository: Repository, paths: Mapping[str, str]) -> dict[str, _Parsed | None]:
    """Parse the contents of files, given as ids with the path of each; None for what the parser cannot cope with."""
    sizes = repository.sizes(list(paths)) if paths else {}
    blobs = [Blob(paths[blob], blob, size, False) for blob, size in sizes.items() if size <= _MAX_BYTES]
    sources = [
        (blob.object_id, (decoded(content, blob.path), blob.path, spec))
        for blob, content in repository.contents(blobs)
        if (spec := language_of_path(blob.path))
    ]
    extracted = extract_each((given for _, given in sources), ParseConfig())
    return {
        blob: _Parsed(
            [one for one in extraction.documents if one.kind not in TEXT_KINDS and not one.flags & NESTED],
            source.split(b"\n"),
        )
        if extraction
        else None
        for (blob, (source, *_)), extraction in zip(sources, extracted, strict=True)
    }


def _changed(change: Change, old: _Parsed, new: _Parsed) -> Iterator[ChangedDefinition]:
    names = {document.qualified_name for document in new.documents}
    changed = [(document, False) for document in _innermost_in(new, (span for _, span in change.hunks))]
    before = _innermost_in(old, (span for span, _ in change.hunks))
    changed += [(document, True) for document in before if document.qualified_name not in names]
    for document, removed in sorted(changed, key=lambda pair: pair[0].start_line):
        yield ChangedDefinition(
            change.path, document.qualified_name, document.kind, document.start_line, removed
        )


def _innermost_in(file: _Parsed, spans: Iterable[Span]) -> list[Document]:
    """Return the definitions that are innermost at a line of some spans, each once, in source order.

    Blank lines do not count. A span without lines is between two lines; both must be in the definition.
    """
    positions = set[int | None]()
    for first, count in spans:
        lines = range(first, first + count)
        positions.update(
            innermost(file.documents, line) for line in lines if b"".join(file.lines[line - 1 : line]).strip()
        )
        if not count:
            around = {innermost(file.documents, line) for line in (first, first + 1)}
            positions.update(around if len(around) == 1 else ())
    return [file.documents[position] for position in sorted(at for at in positions if at is not None)]


def history_lines(
    answer: HistoryAnswer, width: int, path_of: Callable[[str], str] = visible
) -> Iterator[str]:
    """Yield the lines of each commit: date, id, subject, author, the best lines of its message, and what it changed."""
    for hit in answer.hits:
        name = hit.author.rpartition(" <")[0] or hit.author
        about, subject, more = f"{hit.date}  ", f"  {hit.subject}", f"  ({name})"
        yield Row(width, about=about, place=hit.id[:_SHORT], name=subject, more=more)
        lines = without_trailers(hit.body).split("\n")
        # The subject takes the place of a definition's head, which is always chosen.
        chosen = best_lines("\n".join([hit.subject, *lines]), answer.question, _SHOWN_LINES + 1)
        told = [lines[at - 1].strip() for at in sorted(chosen) if at]
        more = " …" if told and len(told) < sum(map(bool, lines)) else ""
        yield from (Row(width, about="    | ", text=line) for line in told[:-1])
        yield from (Row(width, about="    | ", text=f"{line}{more}") for line in told[-1:])
        yield from _changed_files(hit, answer.path, width, path_of)
        yield ""
    place, name = answer.place, answer.definition
    changed = f" that changed {place if name in place else f'{name} ({place})'}" if place else ""
    if answer.commits:
        commits = counted(len(answer.hits), "commit") if answer.hits else "no commits"
        yield visible(f"{commits} of {answer.commits:,}{changed}")
    else:
        yield visible(f"no commits{changed}")


def _changed_files(hit: CommitHit, place: str, width: int, path_of: Callable[[str], str]) -> Iterator[str]:
    """Yield a line for each of the first changed files, those with known definitions first.

    If the place is a file, only that is shown, or one of its name if it had another folder then.
    """
    names: dict[str, list[str]] = {}
    for changed in hit.definitions:
        names.setdefault(changed.path, []).append(
            without_folders(changed.name, changed.path) + " (removed)" * changed.removed
        )
    paths = [*names, *(path for path in hit.paths if path not in names)]
    name = place.rpartition("/")[2]
    paths.sort(key=lambda path: (path != place, path.rpartition("/")[2] != name, f"{place}/" not in path))
    most = 1 if name and paths[:1] and paths[0].endswith(name) else _SHOWN_FILES
    for path in paths[:most]:
        of_file = names.get(path, [])
        more = f", {len(of_file) - _SHOWN_NAMES:,} more" if len(of_file) > _SHOWN_NAMES else ""
        shown = f": {', '.join(of_file[:_SHOWN_NAMES])}{more}" if of_file else ""
        yield Row(width, place=f"    {path_of(path)}", name=shown)
    if len(paths) > most:
        yield Row(width, more=f"    {counted(len(paths) - most, 'more file')}")
