"""A revision of a git repository -> a folder with its files, which is indexed and searched like any other.

<home>/revisions/<digest>/<project>@<commit>/     the files of one commit below a project, read from git's objects

The files are as git stores them: no filter runs, nothing is checked out, and the work tree stays as it is. Links and
submodules are left out. A folder that was not used for 30 days is deleted with its index.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from codesearch.config import IndexOptions, WalkConfig
from codesearch.engine.scope import Scope, covering_index, find_project
from codesearch.errors import ConfigError
from codesearch.files import REVISIONS, expanded, make_folder, private, scratch_folder
from codesearch.git import MISSING, Blob, Repository, work_tree
from codesearch.languages import language_of_path
from codesearch.store.catalogue import index_folder, read_entry, remove_unused
from codesearch.store.database import storage_errors

if TYPE_CHECKING:
    from codesearch.build.build import ProgressCallback
    from codesearch.engine.answer import IndexSummary
    from codesearch.engine.indexer import Indexer


@dataclass(frozen=True, slots=True)
class Revision:
    """A state of a project."""

    name: str  # The revision as it was given, such as a tag.
    commit: str
    project: Path
    below: str  # The path of the project below the top of its repository, with slashes; "" for the top.
    folder: Path  # Where its files are, or will be.

    @property
    def shown(self) -> str:
        """What stands before the path of a file below the project, as in git: REV: and the folder."""
        return f"{self.name}:{self.below}/" if self.below else f"{self.name}:"

    def scope(self, scope: Scope) -> Scope:
        """Return the scope of the revision that has the same places as one of the project."""
        return replace(
            scope,
            roots=(self.folder,),
            here=None if scope.here is None else self.moved(scope.here),
            within=[self.moved(place) for place in scope.within],
            at="",
        )

    def moved(self, place: Path | str) -> Path | str:
        """Return a place of the project in the folder of the revision; any other place stays."""
        whole = Path(place).resolve()
        is_inside = whole.is_relative_to(self.project)
        return self.folder / whole.relative_to(self.project) if is_inside else place


def find_revision(home: Path, scope: Scope) -> Revision:
    """Return the revision that a scope names; its files need not be there."""
    project = _project(home, scope)
    top = work_tree(project)
    if top is None:
        raise ConfigError(f"{project} is in no git work tree", "--at searches a git revision")
    commit = Repository(top, "--at").commit(scope.at)
    if commit is None:
        raise ConfigError(f"{top} has no commits", "leave --at out")
    below = project.relative_to(top).as_posix().removeprefix(".")
    name = hashlib.sha256(os.fsencode(project)).hexdigest()[:8]
    folder = home.resolve() / REVISIONS / name / f"{project.name}@{commit[:12]}"
    return Revision(scope.at, commit, project, below, folder)


def _project(home: Path, scope: Scope) -> Path:
    """Return the indexed folder of a scope, else the project around it."""
    places = scope.roots or scope.within or ([] if scope.here is None else [scope.here])
    if scope.everything or scope.group or scope.folders or len(places) != 1:
        raise ConfigError("--at searches one folder", "give one --root, or change to the folder")
    place = expanded(places[0]).resolve()
    if scope.roots and not place.is_dir():  # It may be the name of an imported index.
        raise ConfigError(f"{places[0]} is not a folder", "--at searches a git revision of one")
    entry = covering_index(home, place)
    if entry and entry.manifest:
        return Path(entry.manifest.root)
    folder = place if place.is_dir() else place.parent
    return place if scope.roots else find_project(folder) or folder


def is_indexed(home: Path, revision: Revision) -> bool:
    """Say whether a revision is indexed."""
    entry = read_entry(index_folder(home, revision.folder))
    return bool(entry and entry.manifest and entry.manifest.complete and revision.folder.is_dir())


def index_revision(
    engine: Indexer, revision: Revision, on_progress: ProgressCallback = lambda _: None
) -> IndexSummary:
    """Index the files of a revision with the settings of its project; git's objects are read, nothing else."""
    if not revision.folder.is_dir():
        _write_files(engine.local_home(), revision)
    entry = read_entry(index_folder(engine.local_home(), revision.project))
    options = IndexOptions.of(entry.manifest.options) if entry and entry.manifest else None
    return replace(engine.index(revision.folder, options, on_progress=on_progress), root=revision.project)


def _write_files(home: Path, revision: Revision) -> None:
    remove_unused(home)
    top = revision.project if not revision.below else revision.project.parents[revision.below.count("/")]
    repository = Repository(str(top), "--at")
    most = WalkConfig().max_file_bytes
    blobs = [
        blob
        for blob in repository.blobs(revision.commit, revision.below)
        if blob.size <= most and _is_safe(blob.path)
        if blob.size != MISSING or language_of_path(blob.path)  # Such as a font, which is never indexed.
    ]
    with storage_errors(home), scratch_folder(home) as scratch:
        _write(repository, blobs, scratch)
        make_folder(revision.folder.parent)
        with suppress(FileExistsError):  # Another process was faster.
            scratch.rename(revision.folder)


def _write(repository: Repository, blobs: Sequence[Blob], target: Path) -> None:
    made = {""}
    for blob, content in repository.contents(blobs):
        folder = blob.path.rpartition("/")[0]
        if folder not in made:
            make_folder(target / folder)
            made.add(folder)
        # A name can stand twice on a file system that ignores case; the first file stays.
        with suppress(FileExistsError), open(target / blob.path, "xb", opener=private) as file:
            file.write(content)
            if blob.is_executable:  # It may be a script, which has no suffix.
                os.chmod(file.fileno(), 0o700)


def _is_safe(path: str) -> bool:
    """Say whether a path of a commit, which anyone may have written, stays below the folder it is written to."""
    parts = path.split("/")
    is_plain = os.name != "nt" or not {"\\", ":"} & set(path)
    return is_plain and not any(part in ("", ".", "..") or part.lower() == ".git" for part in parts)
