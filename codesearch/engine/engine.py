"""The engine: index folders, search them, and manage the indexes of one home.

Every surface (command line, service, benchmarks, Python programs) calls this object and adds no search logic. A call
imports only what it needs: to find that an index is up to date, it loads neither numpy nor a model.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Self, Unpack

from codesearch.build.stamps import Dependencies, dependencies
from codesearch.engine.answer import Answer, Freshness
from codesearch.engine.indexer import REFRESH_S, Indexer
from codesearch.engine.scope import Scope, choose_indexes, find_indexes
from codesearch.engine.session import Policy, Session
from codesearch.errors import CodeSearchError, ConfigError, IndexNotFoundError
from codesearch.files import FOLDERS, expanded
from codesearch.search.request import SearchFields, SearchRequest
from codesearch.store.catalogue import (
    IndexEntry,
    find_folder,
    indexed_roots,
    list_building,
    list_indexes,
    read_entry,
    remove_commits,
    remove_indexes,
    remove_revisions,
)

if TYPE_CHECKING:
    from codesearch.engine.answer import Check, IndexStatus
    from codesearch.portable.pack import ExportSummary, OnStage


class Engine(Indexer):
    """Indexes folders and searches them. Safe to use from several threads.

    Indexes and models stay open between calls. The next call sees a change of an index, also one by another process.

    An engine with another backend searches what the backend has. Every call that needs the indexes of a home then
    raises `ConfigError`.

    Every call that searches or names a root raises `IndexNotFoundError` if nothing is indexed there, `IndexStoreError`
    if an index cannot be read or written, and `IndexLockedError` if another process is writing it. The methods list
    only their other errors.
    """

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def session(self, scope: Scope | None = None, policy: Policy | None = None) -> Session:
        """Return a session over a scope, which answers several questions without looking for changes again.

        Args:
            scope: where to look; the innermost index that covers the working directory when None.
            policy: what may be done first. By default, what no index covers is indexed.

        Raises:
            ConfigError: the scope has no such group or git revision.
        """
        return Session(self, scope or Scope(here=Path.cwd()), policy or Policy())

    def refresh(self, root: Path | str, *, budget_s: float = REFRESH_S) -> Freshness:
        """Bring an index up to date if that is estimated to take at most `budget_s` seconds."""
        (entry,) = choose_indexes(self.local_home(), Scope((root,)))
        return self.refresh_entry(entry, budget_s)

    def dependencies(self, root: Path | str) -> Dependencies | None:
        """Return the folders and files whose changes can change an index; None if that is not known now."""
        (entry,) = choose_indexes(self.local_home(), Scope((root,)))
        return dependencies(entry.folder, entry.committed(), self.local_home())

    def indexed_roots(self) -> dict[str, int]:
        """Return the roots of all indexes that can be read, each with a number that every commit changes."""
        return indexed_roots(self.local_home())

    def search(
        self,
        request: SearchRequest | str,
        scope: Scope | None = None,
        *,
        refresh: bool = True,
        **fields: Unpack[SearchFields],
    ) -> Answer:
        """Rank documents for a query and return the best, best first; see `Session.search`.

        It answers from the indexes that there are; with `refresh`, they are first brought up to date if that is quick.
        """
        policy = Policy(may_index=False, budget_s=REFRESH_S if refresh else None)
        return self.session(scope, policy).search(request, **fields)

    def status(self, *roots: Path | str, changes: bool = False) -> list[IndexStatus]:
        """Return the indexes of some folders.

        Args:
            roots: indexed folders; all when there are none.
            changes: compare each folder with its index and count what an update would do.
        """
        from codesearch.engine.answer import IndexStatus

        home = self.local_home()
        begun = list_building(home)
        named = {find_folder(home, expanded(root)): root for root in roots}
        others = tuple(root for folder, root in named.items() if folder not in begun)
        found = find_indexes(home, Scope(others)) if others else [] if roots else list_indexes(home)
        statuses = {entry.folder: self._status(entry, changes=changes) for entry in found}
        for folder in begun.keys() & named.keys() if roots else begun:
            entry = read_entry(folder)
            known = self._status(entry, changes=False) if entry else IndexStatus(folder=folder)
            statuses[folder] = replace(known, building=begun[folder])
        return list(statuses.values())

    def remove(self, *roots: Path | str) -> None:
        """Delete the indexes of folders; the folders do not change. If one is not indexed, none is removed."""
        folders = {root: find_folder(self.local_home(), expanded(root)) for root in roots}
        for root, folder in folders.items():
            if not folder.is_dir():
                raise IndexNotFoundError(f"{root} is not indexed", "see `codesearch status`")
        remove_indexes({folder: str(root) for root, folder in folders.items()})

    def remove_all(self) -> list[str]:
        """Delete all indexes, with the files of git revisions and the index of commits; return the roots."""
        home = self.local_home()
        entries = list_indexes(home)
        remove_revisions(home)  # Before their indexes, which mark them.
        left = [entry for entry in entries if entry.folder.exists()]
        remove_indexes({entry.folder: entry.root for entry in left})
        remove_commits(home)
        for folder in (*FOLDERS, ""):
            with suppress(OSError):  # It is not empty, or was never made.
                (home / folder).rmdir()
        return [entry.root for entry in entries]

    def export(
        self,
        file: Path | str,
        root: Path | str | None = None,
        *,
        with_code: bool = False,
        sqlite: bool = False,
        on_progress: OnStage = lambda stage, done, total: None,
    ) -> ExportSummary:
        """Write an index to one portable file, which `import_index` reads on any machine.

        Args:
            file: to write; an earlier export of the same format is replaced.
            root: the indexed folder, or the name of an imported index; the only index of the home when None.
            with_code: whether the portable file contains the source files.
            sqlite: write a SQLite file for other programs instead, with code and full-text search.
            on_progress: called with a stage, and how many bytes or documents of how many are done in it.

        Raises:
            ExportError: the file cannot be written, or must not be replaced.
            ConfigError: no root is given and there are several indexes.
            MissingExtraError: a SQLite file needs sqlite-utils.
        """
        entries = choose_indexes(self.local_home(), Scope(() if root is None else (root,)))
        if len(entries) > 1:
            raise ConfigError(f"{len(entries)} folders are indexed", "give --root with the one to export")
        of_file = entries[0], expanded(file), self.local_home()
        if sqlite:
            from codesearch.portable.sqlite import export_sqlite

            return export_sqlite(*of_file, on_progress=on_progress)
        from codesearch.portable.pack import export_portable

        return export_portable(*of_file, with_code=with_code, on_progress=on_progress)

    def import_index(
        self,
        file: Path | str,
        root: Path | str | None = None,
        *,
        name: str | None = None,
        on_progress: OnStage = lambda stage, done, total: None,
    ) -> IndexStatus:
        """Add the index in a portable file to the home; an earlier index of the same folder or name is replaced.

        Args:
            file: written by `export`.
            root: the folder with the sources; None if they are not on this machine.
            name: of the index if there is no root; the name in the file when None.
            on_progress: called with a stage, and how many bytes of how many are done in it.

        Raises:
            PortableFileError: the file is damaged, unsafe, too large or of another version.
            ConfigError: the root is no folder, the name is not valid, or the file needs another model.
        """
        from codesearch.engine.answer import IndexStatus
        from codesearch.portable.unpack import import_portable

        manifest = import_portable(
            expanded(file),
            self.local_home(),
            root=None if root is None else expanded(root),
            name=name,
            model=self.model,
            on_progress=on_progress,
        )
        return IndexStatus(folder=find_folder(self.local_home(), Path(manifest.root)), manifest=manifest)

    def verify(self) -> list[Check]:
        """Check the installation, the model and every byte of every index."""
        from codesearch.engine.verify import checks

        return list(checks(self.local_home(), self.model, self.device))

    def tidy(self) -> None:
        """Close indexes that are no longer current or that were not used for a long time."""
        self.pool.tidy()

    def close(self) -> None:
        """Close every index, model and connection; the next call opens them again."""
        if self.backend:
            self.backend.close()
        self.pool.close()

    def _status(self, entry: IndexEntry, *, changes: bool) -> IndexStatus:
        from codesearch.engine.answer import IndexStatus

        manifest = entry.manifest
        if manifest is None:
            return IndexStatus(folder=entry.folder, error=str(entry.error))
        status = IndexStatus(folder=entry.folder, manifest=manifest)
        if not changes or not manifest.has_sources:
            return status
        try:
            return replace(status, changes=self.refresh_entry(entry, None).changes)
        except CodeSearchError as error:
            return replace(status, unchecked=str(error))
