"""The engine: index folders, search them, and manage the indexes of one home.

Every surface (command line, service, benchmarks, Python programs) calls this object and adds no search logic. A call
imports only what it needs: to find that an index is up to date, it loads neither numpy nor a model.
"""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from codesearch.config import IndexOptions, RankConfig, VectorConfig, check_device
from codesearch.engine.answer import Answer, Changes, Definition, Freshness
from codesearch.engine.scope import Scope, choose_indexes, outdated_roots, uncovered_folders
from codesearch.errors import ConfigError, IndexNotFoundError, IndexWriteError
from codesearch.home import default_home
from codesearch.index.catalogue import IndexEntry, find_folder, list_indexes, remove_index
from codesearch.search.request import Place, SearchRequest

if TYPE_CHECKING:
    from codesearch.encoding.onnx import OnnxEncoder
    from codesearch.engine.dependencies import Dependencies
    from codesearch.engine.opened import Opened
    from codesearch.engine.reports import Check, ExportReport, ImportReport, IndexReport, IndexStatus
    from codesearch.index.build import Progress
    from codesearch.search.searcher import Found, Searcher

_REFRESH_S = 0.5
"""A query first updates an index if the update is estimated to take less than this."""


class Engine:
    """Indexes folders and searches them. Safe to use from several threads.

    Indexes and models stay open between calls. The next call sees a change of an index, also one by another process.
    """

    def __init__(
        self,
        home: Path | str | None = None,
        *,
        model: Path | str | None = None,
        device: str = "auto",
        ranking: RankConfig | None = None,
        vectors: VectorConfig | None = None,
        opened: Opened | None = None,
    ) -> None:
        """Set home, model and settings; this opens nothing yet.

        Args:
            home: folder of all indexes; `$CODESEARCH_HOME` or the user's data folder when None.
            model: folder of a model bundle; when None, the model of each index, and for new indexes the shipped one.
            device: where the model runs: "auto", "cpu" or "cuda".
            ranking: weights of the ranking.
            vectors: when an HNSW graph is built.
            opened: open indexes and models, to share them between engines.

        Raises:
            ConfigError: the device is unknown.
        """
        # A service changes its working directory, so a relative home would be another one then.
        self.home = Path(home or default_home()).expanduser().absolute()
        check_device(device)
        self.device = device
        self._model = Path(model).expanduser() if model else None
        self._ranking = ranking or RankConfig()
        self._vectors = vectors or VectorConfig()
        self._lock = threading.Lock()
        self._shared = opened

    def index(
        self,
        root: Path | str,
        options: IndexOptions | None = None,
        *,
        rebuild: bool = False,
        optimize: bool = False,
        on_progress: Callable[[Progress], None] = lambda _: None,
    ) -> IndexReport:
        """Index a folder, or bring its index up to date: only new and changed files are parsed.

        Args:
            root: the folder.
            options: walk settings to change; the others stay as in the last run.
            rebuild: forget the last index and its settings.
            optimize: merge all segments into one; from 500,000 documents on it gets an HNSW graph.
            on_progress: called with the progress of a build.

        Raises:
            ConfigError: `root` is not a folder.
            IndexLockedError: another process is writing this index.
            IndexStoreError: the index cannot be written; the last one is untouched.
        """
        from codesearch.engine.update import update_index

        return update_index(
            Path(root).expanduser(),
            self.home,
            options or IndexOptions(),
            model=self._model,
            vectors=self._vectors,
            open_encoder=lambda bundle: self._opened.encoder(bundle, self.device),
            rebuild=rebuild,
            optimize=optimize,
            on_progress=on_progress,
        )

    def missing_projects(self, scope: Scope) -> list[Path]:
        """Return the projects to index before a search of a scope can answer; empty if an index covers it.

        A project is a git work tree or a folder with a project file, such as `pyproject.toml` or `go.mod`.
        """
        from codesearch.engine.project import find_project

        found = (find_project(folder) for folder in uncovered_folders(self.home, scope))
        return list(dict.fromkeys(project for project in found if project))

    def outdated_roots(self, scope: Scope) -> list[Path]:
        """Return the indexed folders of a scope whose indexes an earlier version made: `index` makes them again.

        Raises:
            IndexNotFoundError: nothing is indexed, or no index has what the scope names.
        """
        return outdated_roots(self.home, scope)

    def index_project(
        self, project: Path | str, *, on_progress: Callable[[Progress], None] = lambda _: None
    ) -> IndexReport:
        """Index a project that the user did not name, if it is not too large.

        Raises:
            IndexNotFoundError: it is too large.
            IndexLockedError: another process is writing this index.
            IndexStoreError: the index cannot be written.
        """
        from codesearch.engine.project import too_large

        if reason := too_large(Path(project)):
            raise IndexNotFoundError(
                f"{project} is not indexed and {reason}: run `codesearch index {project}`"
            )
        return self.index(project, on_progress=on_progress)

    def refresh(self, root: Path | str, *, budget_s: float = _REFRESH_S) -> Freshness:
        """Bring an index up to date if that is estimated to take at most `budget_s` seconds.

        Raises:
            IndexNotFoundError: `root` is not indexed.
            IndexStoreError: its index cannot be read or written.
        """
        return self._refresh(self._entry(root), budget_s)

    def dependencies(self, root: Path | str) -> Dependencies | None:
        """Return the folders and files whose changes can change an index; None if that is not known now.

        Raises:
            IndexNotFoundError: `root` is not indexed.
            IndexStoreError: its index cannot be read.
        """
        from codesearch.engine.dependencies import dependencies

        return dependencies(self.home, Path(root).expanduser())

    def indexed_roots(self) -> dict[str, int]:
        """Return the roots of all indexes that can be read, each with a number that every commit changes."""
        from codesearch.index.catalogue import indexed_roots

        return indexed_roots(self.home)

    def search(self, request: SearchRequest | str, scope: Scope | None = None) -> Answer:
        """Rank documents for a query and return the best, best first.

        Args:
            request: what to search for; a plain string is a query with the default settings.
            scope: where; all indexes of the home when None.

        Raises:
            ConfigError: the query has no words, the indexes were made with different models, or git cannot say what
                changed.
            PortableFileError: a portable file of the scope cannot be used.
            IndexNotFoundError: nothing is indexed, or no index has what the scope names.
            IndexStoreError: an index cannot be read.
        """
        wanted = _limited(SearchRequest(request) if isinstance(request, str) else request, scope)
        return self._answer(wanted, scope, lambda searcher, limited: searcher.answer(limited))

    def similar(
        self, place: Place | str, request: SearchRequest | None = None, scope: Scope | None = None
    ) -> Answer:
        """Return the documents most similar to the function or class at a line of a file, which need not be indexed.

        Args:
            place: the line; a string is FILE:LINE.
            request: how many hits, and which; its query and mode are ignored.
            scope: where to search; all indexes of the home when None.

        Raises:
            ConfigError: there is no function at that line, or the file is of no known language.
            IndexNotFoundError: nothing is indexed, or no index has what the scope names.
            IndexStoreError: an index cannot be read.
        """
        from codesearch.search.similar import document_at, search_similar

        place = Place.parse(place) if isinstance(place, str) else place
        wanted = _limited(replace(request or SearchRequest(), mode="hybrid"), scope)
        document = document_at(place.path, place.line)
        answer = self._answer(
            wanted, scope, lambda searcher, limited: search_similar(searcher, document, limited)
        )
        return replace(answer, query=f"{place.path}:{place.line}", mode="similar")

    def document(self, root: Path | str, path: str, line: int) -> Definition:
        """Return the innermost definition at a line of an indexed file. No other file is read.

        Args:
            root: the indexed folder.
            path: the file, relative to `root` as the index has it.
            line: 1-based.

        Raises:
            IndexNotFoundError: `root` or the file is not indexed, the file is gone or leads out of `root`, or no
                definition covers the line.
            IndexStoreError: the index cannot be read.
        """
        from codesearch.engine.definition import find_definition

        with self._opened.indexes([self._entry(root).folder]) as (index,):
            return find_definition(index, path, line)

    def places_named(self, root: Path | str, name: str) -> list[tuple[str, int, str]]:
        """List (path, line, qualified name) of the definitions with a name or the end of a qualified name.

        Raises:
            IndexNotFoundError: `root` is not indexed.
            IndexStoreError: its index cannot be read.
        """
        from codesearch.engine.definition import find_named

        with self._opened.indexes([self._entry(root).folder]) as (index,):
            return [(path, row.start_line, row.qualified_name) for path, row in find_named(index, name)]

    def kinds(self, root: Path | str) -> dict[str, int]:
        """Count the documents of each kind in an index.

        Raises:
            IndexNotFoundError: `root` is not indexed.
            IndexStoreError: its index cannot be read.
        """
        from codesearch.engine.definition import count_kinds

        with self._opened.indexes([self._entry(root).folder]) as (index,):
            return count_kinds(index)

    @contextmanager
    def open(
        self,
        scope: Scope | None = None,
        *,
        with_model: bool = True,
        ranking: RankConfig | None = None,
    ) -> Iterator[Searcher]:
        """Lend a searcher over a scope, for callers that ask many queries; its indexes and model stay open meanwhile.

        Args:
            scope: what to search; all indexes of the home when None.
            with_model: False to search by keywords only.
            ranking: weights; those of the engine when None.

        Raises:
            IndexNotFoundError: nothing is indexed, or no index has what the scope names.
            IndexStoreError: an index cannot be read.
        """
        from codesearch.search.searcher import Searcher

        entries = choose_indexes(self.home, scope or Scope())
        with self._opened.indexes([entry.folder for entry in entries]) as indexes:
            encoder = self.encoder(indexes[0].manifest.model_folder) if with_model else None
            yield Searcher(indexes, encoder, ranking or self._ranking)

    def encoder(self, bundle: Path | None = None) -> OnnxEncoder:
        """Return the encoder of this engine's model, else of `bundle`, else of the shipped model.

        Raises:
            ModelBundleError: the bundle is damaged.
            ConfigError: CUDA was asked for and is not there.
        """
        from codesearch.encoding.bundle import SHIPPED

        return self._opened.encoder(self._model or bundle or SHIPPED, self.device)

    def status(self, *, changes: bool = False) -> list[IndexStatus]:
        """Return all indexes of the home.

        Args:
            changes: walk each folder and count what an update would do.
        """
        return [self._status(entry, changes=changes) for entry in list_indexes(self.home)]

    def remove(self, *roots: Path | str) -> None:
        """Delete the indexes of folders; the folders themselves do not change.

        Raises:
            IndexNotFoundError: one is not indexed; then nothing is removed.
            IndexLockedError: an index is being written.
        """
        folders = {root: find_folder(self.home, Path(root).expanduser()) for root in roots}
        for root, folder in folders.items():
            if not folder.is_dir():
                raise IndexNotFoundError(f"{root} is not indexed: see `codesearch status`")
        for root, folder in folders.items():
            remove_index(folder, str(root))

    def remove_all(self) -> list[str]:
        """Delete all indexes; return their roots."""
        removed = []
        for entry in list_indexes(self.home):
            removed.append(entry.manifest.root if entry.manifest else str(entry.folder))
            remove_index(entry.folder, removed[-1])
        return removed

    def clear_cache(self) -> None:
        """Delete the cache of vectors, and the data of `codesearch bench`."""
        shutil.rmtree(self.home / "cache", ignore_errors=True)

    def export_sqlite(
        self,
        file: Path | str,
        *roots: Path | str,
        force: bool = False,
        on_progress: Callable[[str, int, int], None] = lambda stage, done, total: None,
    ) -> ExportReport:
        """Write files and documents of indexed folders to one SQLite file, with full-text search.

        Args:
            file: to write; an earlier export is replaced.
            roots: indexed folders; all when there are none.
            force: replace the file also if it is not an export.
            on_progress: called with a stage, and how many documents of how many are done in it.

        Raises:
            ExportError: the file cannot be written, or must not be replaced.
            MissingExtraError: sqlite-utils is not installed.
            IndexNotFoundError: nothing is indexed, or one of the roots is not.
            IndexStoreError: an index cannot be read.
        """
        from codesearch.engine.reports import ExportReport
        from codesearch.export.sqlite import check_sqlite_utils, check_target, write_sqlite

        started = time.monotonic()
        path = Path(file).expanduser()
        check_sqlite_utils()
        check_target(path, force=force)
        entries = choose_indexes(self.home, Scope(tuple(Path(root).expanduser() for root in roots)))
        with self._opened.indexes([entry.folder for entry in entries]) as opened:
            indexes = sorted(opened, key=lambda index: index.manifest.root)
            counts = write_sqlite(indexes, path, on_progress)
        return ExportReport(
            file=path,
            roots=tuple(index.manifest.root for index in indexes),
            documents=counts.documents,
            files=counts.files,
            changed=counts.changed,
            missing=counts.missing,
            bytes=path.stat().st_size,
            seconds=time.monotonic() - started,
        )

    def export(
        self,
        file: Path | str,
        root: Path | str | None = None,
        *,
        with_code: bool = False,
        force: bool = False,
        on_progress: Callable[[str, int, int], None] = lambda stage, done, total: None,
    ) -> ExportReport:
        """Write an index to one portable file, which `import_index` and `Scope(files=...)` read on any machine.

        Args:
            file: to write; an earlier portable file is replaced.
            root: the indexed folder, or the name of an imported index; the only index of the home when None.
            with_code: whether the file contains the source files.
            force: replace the file also if it is not a portable file.
            on_progress: called with a stage, and how many bytes of how many are done in it.

        Raises:
            ExportError: the file cannot be written, or must not be replaced.
            ConfigError: no root is given and there are several indexes.
            IndexNotFoundError: nothing is indexed, or the root is not.
            IndexLockedError: another process is writing the index.
            IndexStoreError: the index cannot be read.
        """
        from codesearch.engine.imported import export_portable
        from codesearch.engine.reports import ExportReport

        started = time.monotonic()
        path = Path(file).expanduser()
        entries = choose_indexes(self.home, Scope(() if root is None else (Path(root).expanduser(),)))
        if len(entries) > 1:
            raise ConfigError(f"{len(entries)} folders are indexed: give --root with the one to export")
        manifest, counts = export_portable(
            entries[0], path, self.home, with_code=with_code, force=force, on_progress=on_progress
        )
        return ExportReport(
            file=path,
            roots=(manifest.root,),
            documents=manifest.documents,
            files=manifest.source_files,
            changed=counts.changed,
            missing=counts.missing,
            bytes=path.stat().st_size,
            seconds=time.monotonic() - started,
        )

    def import_index(
        self,
        file: Path | str,
        root: Path | str | None = None,
        *,
        name: str | None = None,
        max_bytes: int | None = None,
        on_progress: Callable[[str, int, int], None] = lambda stage, done, total: None,
    ) -> ImportReport:
        """Add the index in a portable file to the home; an earlier index of the same folder or name is replaced.

        Args:
            file: written by `export`.
            root: the folder with the sources; None if they are not on this machine.
            name: of the index if there is no root; the name in the file when None.
            max_bytes: how many bytes the file may unpack to; 8 GB when None.
            on_progress: called with a stage, and how many bytes of how many are done in it.

        Raises:
            PortableFileError: the file is damaged, unsafe, too large or of another version.
            ConfigError: the root is no folder, the name is not valid, or the file needs another model.
            IndexLockedError: another process is writing the index.
            IndexStoreError: the home cannot be written.
        """
        from codesearch.engine.imported import import_portable
        from codesearch.engine.reports import ImportReport
        from codesearch.export.unpack import MAX_BYTES

        started = time.monotonic()
        manifest = import_portable(
            Path(file).expanduser(),
            self.home,
            root=None if root is None else Path(root).expanduser(),
            name=name,
            model=self._model,
            max_bytes=MAX_BYTES if max_bytes is None else max_bytes,
            on_progress=on_progress,
        )
        return ImportReport(
            root=manifest.root,
            has_sources=manifest.has_sources,
            has_code=manifest.has_code,
            documents=manifest.documents,
            files=manifest.source_files,
            created=manifest.created,
            seconds=time.monotonic() - started,
        )

    def verify(self) -> list[Check]:
        """Check the installation, the model and every byte of every index."""
        from codesearch.engine.verify import checks

        return list(checks(self.home, self._model, self.device))

    def tidy(self) -> None:
        """Close indexes that are no longer current or that were not used for a long time."""
        if self._shared:
            self._shared.tidy()

    def close(self) -> None:
        """Close every index and model; the next call opens them again."""
        if self._shared:
            self._shared.close()

    @property
    def _opened(self) -> Opened:
        with self._lock:
            if self._shared is None:
                from codesearch.engine.opened import Opened

                self._shared = Opened()
            return self._shared

    def _answer(
        self,
        request: SearchRequest,
        scope: Scope | None,
        find: Callable[[Searcher, SearchRequest], Found],
    ) -> Answer:
        freshness = self._refreshed(scope or Scope()) if request.refresh else []
        ranking = self._ranking.all_code() if request.all_code else self._ranking
        with_model = request.mode != "lexical"
        with self.open(scope, with_model=with_model, ranking=ranking) as searcher:
            started = time.perf_counter()
            request = _limited_to_changes(request, searcher)
            found = find(searcher, request)
            return Answer(
                query=request.query,
                mode=request.mode,
                model=searcher.encoder.name if searcher.encoder else "",
                device=searcher.encoder.device if searcher.encoder else "",
                documents=searcher.document_count,
                seconds=time.perf_counter() - started,
                hits=found.hits,
                confidence=found.confidence,
                low_confidence=found.low_confidence,
                freshness=tuple(freshness),
                roots=searcher.roots,
                filters_match=bool(found.hits) or searcher.any_passes(request.filters),
                changed_files=None if request.filters.files is None else len(request.filters.files),
            )

    def _entry(self, root: Path | str) -> IndexEntry:
        (entry,) = choose_indexes(self.home, Scope(roots=(Path(root).expanduser(),)))
        return entry

    def _refreshed(self, scope: Scope) -> list[Freshness]:
        return [self._refreshed_if_possible(entry) for entry in choose_indexes(self.home, scope)]

    def _refreshed_if_possible(self, entry: IndexEntry) -> Freshness:
        """Refresh an index; if it cannot be written, because the home is full or read-only, say what it lacks."""
        try:
            return self._refresh(entry, _REFRESH_S)
        except IndexWriteError:
            from codesearch.engine.update import not_refreshed

            if entry.manifest is None:
                raise
            return not_refreshed(entry, entry.manifest.root, self._vectors)

    def _refresh(self, entry: IndexEntry, budget_s: float) -> Freshness:
        from codesearch.index.stamps import compare

        manifest = entry.manifest
        if manifest and not manifest.has_sources:
            return Freshness(
                manifest.root, "with code" if manifest.has_code else "without code", Changes(0, 0)
            )
        if manifest and self._shared and self._shared.is_unchanged(manifest):
            return Freshness(manifest.root, "current", Changes(0, 0))
        seen = compare(manifest.root, entry.folder, manifest.commit) if manifest else None
        if manifest and seen and seen.is_current:
            return Freshness(manifest.root, "current", Changes(0, 0))
        from codesearch.engine.update import refresh_index

        def open_encoder(bundle: Path) -> OnnxEncoder:
            return self._opened.encoder(bundle, self.device)

        return refresh_index(entry, self.home, self._vectors, open_encoder, budget_s, seen)

    def _status(self, entry: IndexEntry, *, changes: bool) -> IndexStatus:
        from codesearch.engine.reports import IndexStatus

        manifest = entry.manifest
        if manifest is None:
            return IndexStatus(entry.folder, str(entry.error))
        found = None
        if changes and manifest.has_sources:
            from codesearch.engine.update import count_changes

            found = count_changes(entry, self._vectors)
        return IndexStatus(
            folder=entry.folder,
            root=manifest.root,
            documents=manifest.documents,
            files=manifest.source_files,
            languages=manifest.languages,
            not_indexed=manifest.not_indexed,
            folders_not_entered=manifest.walked.folders,
            warnings=manifest.warnings,
            bytes=manifest.bytes,
            created=manifest.created,
            seconds=manifest.seconds,
            model=manifest.model,
            settings=manifest.settings,
            changes=found,
            has_sources=manifest.has_sources,
            has_code=manifest.has_code,
        )


def _limited(request: SearchRequest, scope: Scope | None) -> SearchRequest:
    """Limit a request to the files and folders of its scope."""
    if scope is None or not scope.within:
        return request
    return replace(request, filters=replace(request.filters, within=scope.within))


def _limited_to_changes(request: SearchRequest, searcher: Searcher) -> SearchRequest:
    """Limit a request to the files that differ from its revision."""
    if request.changed is None:
        return request
    from codesearch.engine.changes import changed_files

    files = changed_files(searcher.snapshot, request.filters, request.changed)
    return replace(request, filters=replace(request.filters, files=files))
