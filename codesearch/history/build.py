"""The commits before HEAD -> an index of their messages, kept up to date by adding only the new ones.

<home>/commits/<name>-<hash>/     an index like any other (see `codesearch.store.manifest`), one for a repository and
                                  all its work trees
    state                         HEAD when the index was complete, and a digest of what makes the clone shallow

Each commit is a file of this index whose path is `TIME/ID`; the time counts backwards, so that newer commits come first
among equals. It has one document:

    name        the first line of the message
    docstring   the rest of it, without trailers such as Signed-off-by
    code        the lines of the definitions around its hunks, as git finds them
    context     the paths of the files that it changed

A merge has a document only if its message says more than what was merged. The message is not stored: git has it. The
author and the paths are stored, because filters need them.

An update adds what HEAD can reach and the last one could not, and drops what only the last one could. So the index of
a branch that was rebased is that of a fresh clone.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from codesearch.build.build import build_index
from codesearch.build.file_parser import ParsedFile, tokenizer_at
from codesearch.build.plan import Plan, known_files
from codesearch.config import IndexConfig
from codesearch.errors import ConfigError, IndexStoreError
from codesearch.files import COMMITS, make_folder, write_atomically
from codesearch.git import Repository
from codesearch.history.commits import Commit, read_changes, without_trailers
from codesearch.parsing.walker import SourceFile
from codesearch.store.catalogue import unique_name, writer_lock
from codesearch.store.database import FileRecord, document_row
from codesearch.store.manifest import Manifest, last_manifest
from codesearch.store.postings import make_block
from codesearch.text.onnx import Encoder
from codesearch.text.terms import document_chunks
from codesearch.text.tokenizer import document_text
from codesearch.types import Document

if TYPE_CHECKING:
    from codesearch.build.build import ProgressCallback

_STATE = "state"
_VERSION = 1
"""Changes with the text of documents; an index of another version is made again."""
_MOST = 200_000
"""Only so many of the newest commits are indexed."""
_PATIENCE_S = 60.0
_BYTES = 1_000
"""Of a commit in a progress bar, which counts bytes."""
_MAX_PATHS = 200
_LAST_SECOND = 10**12 - 1
_MERGE = re.compile(r"Merge[sd]? ")


@dataclass(frozen=True, slots=True)
class History:
    """A repository with its index of commits in `folder`; `common` has the objects of all its work trees.

    `shallow` is the digest of the commits whose parents are missing; "" if none are.
    """

    repository: Repository
    folder: Path
    common: Path
    head: str
    shallow: str

    @property
    def state(self) -> str:
        """What is written when the index is complete."""
        return f"{self.head} {self.shallow}"


def find_history(top: str, home: Path) -> History:
    """Return the history of HEAD in a work tree or a bare repository."""
    repository = Repository(top, "history")
    common = Path(top, os.fsdecode(repository.git("rev-parse", "--git-common-dir")).rstrip("\n")).resolve()
    head = repository.commit("HEAD")
    if head is None:
        raise ConfigError(f"{top} has no commits", "`codesearch history` searches commits")
    shallow = ""
    with suppress(FileNotFoundError):
        shallow = hashlib.sha256((common / "shallow").read_bytes()).hexdigest()
    name = common.parent.name if common.name == ".git" else common.name
    return History(repository, home / COMMITS / unique_name(name, common), common, head, shallow)


def update_history(
    history: History,
    encoder: Encoder,
    on_progress: ProgressCallback = lambda _: None,
    *,
    cut: Mapping[str, str] | None = None,
) -> int:
    """Bring the index of a history up to date; return how many commits with a message are new in it.

    `cut` maps ids of commits to texts that are left out.
    """
    config = IndexConfig()
    digest = config.digest(encoder.model_id, f"commits {_VERSION}")
    last = last_manifest(history.folder)
    if last and last.complete and last.config_digest == digest and _last_state(history) == history.state:
        return 0
    try:
        make_folder(history.folder)
    except OSError as error:
        raise IndexStoreError(f"{history.folder}: {error.strerror}", "give another --home") from None
    with writer_lock(history.folder, str(history.common), wait_s=_PATIENCE_S):
        last = last_manifest(history.folder)
        previous = last if last and last.config_digest == digest else None
        added, gone = _compared(history, previous)
        known = known_files(history.folder, previous, [*added, *gone]) if previous else {}
        to_parse = [SourceFile(path, "commit", (_BYTES, 0, 0, 0, 0)) for path in added if path not in known]
        dead = [live for path, live in known.items() if path in gone]
        count = 0
        if to_parse or dead or not (previous and previous.complete):
            plan = Plan(
                root=history.common,
                index_folder=history.folder,
                config=config,
                last=last,
                previous=previous,
                config_digest=digest,
                to_parse=to_parse,
                dead=dead,
                removed=len(dead),
            )
            # If this run is stopped, the next one compares all commits.
            (history.folder / _STATE).unlink(missing_ok=True)
            parse = partial(_parsed, history, encoder, cut or {})
            count = build_index(plan, encoder, on_progress, parse=parse).manifest.documents
            count -= previous.documents - sum(live.record.doc_count for live in dead) if previous else 0
        with suppress(OSError):  # Without the file, the next run compares all commits.
            write_atomically(history.folder / _STATE, history.state.encode(), for_owner=True)
        return count


def _last_state(history: History) -> str:
    with suppress(OSError):
        return (history.folder / _STATE).read_bytes().decode("ascii", "replace")
    return ""


def _compared(history: History, previous: Manifest | None) -> tuple[list[str], set[str]]:
    """Return the paths of commits to add, newest first, and of those to drop."""
    before, _, shallow = _last_state(history).partition(" ") if previous else ("", "", "")
    if before and shallow == history.shallow and history.repository.known_commit(before):
        added = _listed(history.repository, history.head, before)
        return added, set(_listed(history.repository, before, history.head))
    added = _listed(history.repository, history.head)
    return added, set(known_files(history.folder, previous)).difference(added) if previous else set()


def _listed(repository: Repository, commit: str, without: str = "") -> list[str]:
    """Return the paths of the commits that one can reach and another cannot, newest first."""
    commits = (commit, f"^{without}") if without else (commit,)
    listed = repository.lines("rev-list", "--timestamp", f"--max-count={_MOST}", *commits, "--")
    return sorted(path_of(*line.decode().split()) for line in listed)


def path_of(time: str | int, commit: str) -> str:
    """Return the path of a commit in the index, which sorts newer ones first.

    >>> path_of(1_700_000_000, "c0ffee")
    '998299999999/c0ffee'
    """
    return f"{_LAST_SECOND - min(max(int(time), 0), _LAST_SECOND):012}/{commit}"


def time_of(path: str) -> int:
    """Return when the commit with a path in the index was made, in seconds since 1970."""
    return _LAST_SECOND - int(path.partition("/")[0])


def id_of(path: str) -> str:
    """Return the id of the commit with a path in the index."""
    return path.partition("/")[2]


def _parsed(
    history: History, encoder: Encoder, cut: Mapping[str, str], files: Sequence[SourceFile]
) -> Generator[tuple[SourceFile, ParsedFile | None], None, None]:
    """Yield each commit with its document, in order."""
    commits = read_changes(history.repository, (id_of(file.path) for file in files))
    for file, commit in zip(files, commits, strict=True):
        yield file, _document(file, commit, encoder, cut.get(commit.id, "\0"))


def _document(file: SourceFile, commit: Commit, encoder: Encoder, without: str) -> ParsedFile:
    record = FileRecord(file.path, file.language, file.size, digest=b"")
    body = without_trailers(commit.body.replace(without, ""))
    if not (commit.subject or body) or (_MERGE.match(commit.subject) and not body):
        return ParsedFile(record, [], make_block([]), [])
    paths = [change.path for change in commit.changes]
    document = Document(
        path="",
        language=file.language,
        kind="section",
        name="",
        qualified_name=commit.subject,
        signature="",
        docstring=body,
        start_line=1,
        end_line=1,
        last_line=1,
        code="\n".join(commit.contexts),
        start_byte=0,
        end_byte=0,
        copy_key=int(commit.id[:15], 16),
        context="\n".join(paths[:_MAX_PATHS]),
    )
    tokens = tokenizer_at(encoder.tokenizer_path).encode_document(
        document_text(document), encoder.max_document_tokens, file.language
    )
    row = document_row(document)._replace(signature=commit.author, docstring="")
    summary = "\n".join(paths).encode("utf-8", "replace").decode()
    return ParsedFile(
        replace(record, summary=summary),
        [row],
        make_block([document_chunks(document)]),
        [tokens.tobytes()],
    )
