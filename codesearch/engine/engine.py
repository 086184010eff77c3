"""The engine: index folders, search them, and manage the indexes of one home.

Every surface (command line, service, benchmarks, Python programs) calls this object and adds no search logic. A call
imports only what it needs: to find that an index is up to date, it loads neither numpy nor a model.
"""

from __future__ import annotations

import math
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from codesearch.config import IndexOptions, RankConfig, VectorConfig, check_device
from codesearch.duplicates.records import Limits
from codesearch.engine.answer import Answer, DuplicatesAnswer, Freshness, UsagesAnswer
from codesearch.engine.local import REFRESH_S, LocalBackend, SearchBackend
from codesearch.engine.pool import Pool
from codesearch.engine.scope import (
    Scope,
    choose_indexes,
    find_indexes,
    missing_projects,
    outdated_roots,
    too_large,
)
from codesearch.errors import (
    CodeSearchError,
    ConfigError,
    IndexNotFoundError,
    IndexStoreError,
    index_command,
)
from codesearch.files import expanded
from codesearch.home import COMMITS, default_home, make_private, mark_used
from codesearch.search.forms import parse_asked
from codesearch.search.request import Filters, Place, RequestFields, SearchRequest
from codesearch.store.catalogue import (
    IndexEntry,
    find_folder,
    index_folder,
    indexed_roots,
    list_indexes,
    read_entry,
    remove_index,
)

if TYPE_CHECKING:
    from codesearch.build.build import Progress
    from codesearch.engine.reports import Check, ExportReport, ImportReport, IndexReport, IndexStatus
    from codesearch.engine.revisions import Revision
    from codesearch.engine.update import Dependencies
    from codesearch.history.hits import HistoryAnswer
    from codesearch.history.search import CommitFilters
    from codesearch.portable.targets import ExportCounts
    from codesearch.search.searcher import Found, Searcher
    from codesearch.store.reader import IndexReader
    from codesearch.structure.places import Spot
    from codesearch.structure.text import Outline
    from codesearch.structure.whole import FileView, Reading
    from codesearch.text.onnx import OnnxEncoder
    from codesearch.types import Document

OnProgress = Callable[["Progress"], None]
OnStage = Callable[[str, int, int], None]
"""Called with a stage, and how many bytes or documents of how many are done in it."""


class Engine:
    """Indexes folders and searches them. Safe to use from several threads.

    Indexes and models stay open between calls. The next call sees a change of an index, also one by another process.

    An engine with another backend searches what the backend has. Every call that needs the indexes of a home then
    raises `ConfigError`.

    Every call that searches or names a root raises `IndexNotFoundError` if nothing is indexed there, `IndexStoreError`
    if an index cannot be read or written, and `IndexLockedError` if another process is writing it. The methods list
    only their other errors.
    """

    def __init__(
        self,
        home: Path | str | None = None,
        *,
        model: Path | str | None = None,
        device: str = "auto",
        ranking: RankConfig | None = None,
        vectors: VectorConfig | None = None,
        pool: Pool | None = None,
        backend: SearchBackend | None = None,
    ) -> None:
        """Set home, model and settings; this opens nothing yet.

        Args:
            home: folder of all indexes; `$CODESEARCH_HOME` or the user's data folder when None.
            model: folder of a model bundle; when None, the model of each index, and for new indexes the shipped one.
            device: where the model runs: "auto", "cpu" or "cuda".
            ranking: weights of the ranking.
            vectors: when an HNSW graph is built.
            pool: open indexes and models, to share them between engines.
            backend: where the documents are, if they are not in the home.

        Raises:
            ConfigError: the device is unknown.
        """
        check_device(device)
        self.device = device
        self._model = expanded(model) if model else None
        self._ranking = ranking or RankConfig()
        self._pool = pool or Pool()
        # A service changes its working directory, so a relative home would be another one then.
        folder = expanded(home or default_home()).absolute()
        make_private(str(folder))
        self._backend = backend or LocalBackend(folder, self._pool, vectors or VectorConfig(), device)

    @property
    def home(self) -> Path:
        """The folder of all indexes."""
        return self._local.home

    @property
    def is_local(self) -> bool:
        """Say whether the documents are in the indexes of this machine."""
        return isinstance(self._backend, LocalBackend)

    @property
    def _local(self) -> LocalBackend:
        if isinstance(self._backend, LocalBackend):
            return self._backend
        raise ConfigError("this needs the indexes of this machine", "leave --backend out")

    def index(
        self,
        root: Path | str,
        options: IndexOptions | None = None,
        *,
        rebuild: bool = False,
        optimize: bool = False,
        on_progress: OnProgress = lambda _: None,
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
        """
        from codesearch.engine.update import update_index

        return update_index(
            expanded(root),
            self.home,
            options or IndexOptions(),
            model=self._model,
            vectors=self._local.vectors,
            open_encoder=self._local.open_encoder,
            rebuild=rebuild,
            optimize=optimize,
            on_progress=on_progress,
        )

    def missing_projects(self, scope: Scope) -> list[Path]:
        """Return what to index before a search of a scope can answer; empty if indexes cover it.

        That is each folder of a group, or the project around a place: a git work tree or a folder with a project file,
        such as `pyproject.toml` or `go.mod`.
        """
        return missing_projects(self.home, scope) if self.is_local else []

    def outdated_roots(self, scope: Scope) -> list[Path]:
        """Return the indexed folders of a scope whose indexes an earlier version made: `index` makes them again."""
        return outdated_roots(self.home, scope) if self.is_local else []

    def index_project(self, project: Path | str, *, on_progress: OnProgress = lambda _: None) -> IndexReport:
        """Index a project that the user did not name, if it is not too large; the errors are those of `index`.

        Raises:
            IndexNotFoundError: it is too large.
        """
        if reason := too_large(Path(project)):
            raise IndexNotFoundError(
                f"not indexed and {reason}", f"run {index_command(project)}", about=project
            )
        return self.index(project, on_progress=on_progress)

    def revision(self, scope: Scope) -> Revision | None:
        """Return the git revision that a scope names, whether or not it is indexed; None if it names none.

        Raises:
            ConfigError: the scope has several folders, or the repository has no such revision.
        """
        if not scope.at:
            return None
        from codesearch.engine.revisions import find_revision

        return find_revision(self.home, scope)

    def index_revision(self, revision: Revision, *, on_progress: OnProgress = lambda _: None) -> IndexReport:
        """Index the files of a git revision with the settings of its project; git's objects are read, nothing else.

        Raises:
            ConfigError: git fails, or an object is missing.
        """
        from codesearch.engine.revisions import make_revision

        make_revision(self.home, revision)
        entry = read_entry(index_folder(self.home, revision.project))
        options = IndexOptions.of(entry.manifest.options) if entry and entry.manifest else None
        return replace(self.index(revision.folder, options, on_progress=on_progress), root=revision.project)

    def is_indexed(self, revision: Revision) -> bool:
        """Say whether a git revision is indexed."""
        entry = read_entry(index_folder(self.home, revision.folder))
        return bool(entry and entry.manifest and entry.manifest.complete and revision.folder.is_dir())

    def refresh(
        self, root: Path | str, *, budget_s: float = REFRESH_S, on_progress: OnProgress = lambda _: None
    ) -> Freshness:
        """Bring an index up to date if that is estimated to take at most `budget_s` seconds."""
        return self._local.refresh(self._local.entry(root), budget_s, on_progress)

    def dependencies(self, root: Path | str) -> Dependencies | None:
        """Return the folders and files whose changes can change an index; None if that is not known now."""
        from codesearch.engine.update import dependencies

        return dependencies(self._local.entry(root), self.home)

    def indexed_roots(self) -> dict[str, int]:
        """Return the roots of all indexes that can be read, each with a number that every commit changes."""
        return indexed_roots(self.home)

    def search(
        self, request: SearchRequest | str, scope: Scope | None = None, **fields: Unpack[RequestFields]
    ) -> Answer:
        """Rank documents for a query and return the best, best first.

        Args:
            request: what to search for; a plain string is the query.
            scope: where; the innermost index that covers the working directory when None.
            fields: fields of the request to change, such as `top_k`.

        Raises:
            ConfigError: the query has no words, the indexes were made with different models, or git cannot say what
                changed.
            PortableFileError: a portable file of the scope cannot be used.
            BackendError: the server of the backend fails.
        """
        wanted = replace(SearchRequest(request) if isinstance(request, str) else request, **fields)
        return self._answer(wanted, scope, lambda searcher, limited: searcher.answer(limited))

    def similar(
        self,
        place: Place | str,
        request: SearchRequest | None = None,
        scope: Scope | None = None,
        **fields: Unpack[RequestFields],
    ) -> Answer:
        """Return the documents most similar to the function or class at a line of a file, which need not be indexed.

        Args:
            place: the line, and the text of the file if it is not saved. A string is FILE:LINE, or what `read` takes
                if it names one place. An index without its folder has its files as NAME/FILE.
            request: how many hits, and which; its query, mode and `by_file` are ignored.
            scope: where to search; the innermost index that covers the working directory when None.
            fields: fields of the request to change, such as `top_k`.

        Raises:
            ConfigError: there is no function at that line, the file is of no known language, or a string names several
                places.
            BackendError: the server of the backend fails.
        """
        from codesearch.search.similar import search_similar

        given = self._example(place, scope) if isinstance(place, str) else place
        asked = replace(request or SearchRequest(), **fields)
        wanted = replace(asked, mode="hybrid", by_file=False)
        answer = self._answer(
            wanted, scope, lambda searcher, limited: search_similar(searcher, given, limited)
        )
        return replace(answer, query=f"{given.path}:{given.line}", mode="similar")

    def definitions(self, path: Path | str, text: str | None = None) -> list[Document]:
        """Return the definitions of a file, which need not be indexed or saved, in the order of the source.

        Sections of documentation and settings of configuration files are among them.

        Args:
            path: the file; its name decides the language, or its `#!` line if the name has no dot.
            text: what to parse in place of the file.

        Raises:
            ConfigError: the file cannot be read, or its language is unknown.
            ParseError: the parser takes too much time or memory.
        """
        from codesearch.search.similar import documents_of

        return documents_of(expanded(path), text, "all")

    def find(self, place: str, scope: Scope | None = None) -> list[Place]:
        """Return the first line of each definition that a place names; arguments and errors are those of `read`."""
        with self._spots(place, scope, only_definitions=True) as spots:
            return [spot.place for spot in spots]

    def file(self, root: Path | str, path: str) -> FileView:
        """Return an indexed file with its definitions. No other file is read.

        Args:
            root: the indexed folder.
            path: the file, relative to `root` as the index has it.

        Raises:
            IndexNotFoundError: `root` or the file is not indexed, or the file is gone or leads out of `root`.
        """
        from codesearch.structure.places import find_file
        from codesearch.structure.whole import view_file

        with self.indexes(Scope((root,))) as indexes:
            return view_file(find_file(indexes, path))

    def read(
        self,
        place: str,
        scope: Scope | None = None,
        *,
        most_lines: int | None = None,
        most_chars: int | None = None,
        freshness: list[Freshness] | None = None,
    ) -> list[Reading]:
        """Return the code of a place; if it names several places, the first lines of each.

        Args:
            place: a path, PATH:LINE, PATH:FIRST-LAST, PATH::NAME, a name or the end of a qualified name.
            scope: where to look; paths may be relative to its `here`.
            most_lines: longer classes and files have the bodies of their members folded away; 120 if neither limit is
                given.
            most_chars: likewise for those with more characters.
            freshness: gets whether each index is up to date.

        Raises:
            ConfigError: the place is empty.
            IndexNotFoundError: nothing in the scope has this path or name, or the file is gone.
        """
        from codesearch.structure.whole import WHOLE_LINES, read_places

        most_lines = WHOLE_LINES if most_lines is most_chars is None else most_lines
        with self._spots(place, scope, freshness, code=True) as spots:
            return read_places(spots, most_lines, most_chars)

    def outline(
        self,
        place: str = ".",
        scope: Scope | None = None,
        *,
        max_lines: int | None = None,
        max_chars: int | None = None,
        question: str = "",
        freshness: list[Freshness] | None = None,
    ) -> list[Outline]:
        """Return the shape of a folder, a file or a class: what is in it, with lines and first sentences.

        Args:
            place: as for `read`; if it names several, each has an outline.
            scope: where to look; paths may be relative to its `here`.
            max_lines: of all outlines together; what does not fit is counted.
            max_chars: likewise; an outline for a question ignores it.
            question: if given, only the files with the best definitions for it are listed, and these are shown whole.
            freshness: gets whether each index is up to date.

        Raises:
            ConfigError: the place is empty.
            IndexNotFoundError: nothing in the scope has this path or name.
        """
        from codesearch.structure.outline import MAX_LINES, outline_for, outlines_of

        with self._spots(place, scope, freshness) as spots:
            if not question:
                return outlines_of(spots, max_lines or MAX_LINES, max_chars)
            within = tuple(Path(spot.root, spot.path) for spot in spots)
            request = SearchRequest(question, top_k=10, by_file=True, refresh=False)
            found = self.search(request, replace(scope or Scope(here=Path.cwd()), within=within))
            return outline_for(found.hits, spots, max_lines or MAX_LINES)

    def usages(
        self,
        place: str,
        scope: Scope | None = None,
        *,
        filters: Filters | None = None,
        limit: int = 20,
        refresh: bool = True,
    ) -> UsagesAnswer:
        """Return where a name is used: its definitions, and each line that has it as a whole word.

        Args:
            place: a name, the end of a qualified name, PATH:LINE or PATH::NAME.
            scope: where to look; paths may be relative to its `here`.
            filters: languages and paths.
            limit: usages to return; all are counted.
            refresh: update the indexes first if that takes less than half a second.

        Raises:
            ConfigError: the name is empty, too long or has no words.
            IndexNotFoundError: no definition is at the place, or no index of the scope has sources.
        """
        from codesearch.structure.usages import find_usages

        scope = self._scope(scope)
        freshness = self._local.refreshed(scope) if refresh else []
        filters = filters or Filters()
        filters = replace(filters, within=scope.places() or filters.within)
        with self._local.indexes(scope, freshness) as indexes:
            folders = scope.all_folders()
            found = find_usages(indexes, place, filters, limit=limit, here=scope.here, folders=folders)
            return UsagesAnswer(found, tuple(index.manifest.root for index in indexes), tuple(freshness))

    def duplicates(
        self,
        scope: Scope | None = None,
        *,
        changed: str | None = None,
        filters: Filters | None = None,
        min_lines: int = Limits.min_lines,
        min_score: float = Limits.min_score,
        all_code: bool = Limits.all_code,
        refresh: bool = True,
    ) -> DuplicatesAnswer:
        """Return groups of functions that do the same.

        Args:
            scope: where to look.
            changed: a git revision, as for a search; only functions that differ from it are looked for, everywhere in
                the scope.
            filters: which functions are compared; with `changed`, which changed functions are looked for. Paths that
                are excluded are never compared.
            min_lines: shorter functions are left out.
            min_score: the lowest estimated probability that functions of different shapes do the same.
            all_code: compare tests, generated and vendored code and build output too.
            refresh: update the indexes first, with `changed` completely, else if that takes less than half a second.

        Raises:
            ConfigError: the indexes were made with different models, or git cannot say what changed.
            IndexStoreError: with `changed`, an index cannot be updated.
        """
        from codesearch.duplicates.find import Wanted, changed_documents, find_duplicates
        from codesearch.search.filters import allowed_documents
        from codesearch.store.snapshot import Snapshot

        scope = self._scope(scope)
        # A check of changes must not pass because the index does not have them.
        budget_s = REFRESH_S if changed is None else math.inf
        freshness = self._local.refreshed(scope, budget_s) if refresh else []
        old = [one.root for one in freshness if one.state in ("behind", "locked", "unchecked")]
        if old and changed is not None:
            raise IndexStoreError(f"the index of {old[0]} may lack changes", f"run {index_command(old[0])}")
        filters = filters or Filters()
        filters = replace(filters, within=scope.within or filters.within)
        with self._local.indexes(scope, freshness) as indexes:
            started = time.perf_counter()
            snapshot = Snapshot(indexes)
            allowed, looked_for = allowed_documents(filters, snapshot), None
            if changed is not None:
                looked_for, lost = changed_documents(snapshot, filters, changed)
                if allowed is not None:
                    looked_for = [one for one in looked_for if allowed[one]]
                excluded = tuple(path for path in filters.paths if path.startswith("!"))
                allowed = allowed_documents(Filters(paths=excluded, here=filters.here), snapshot)
                freshness += [Freshness(root, "unreadable", error=str(e)) for root, e in lost.items()]
            wanted = Wanted(
                allowed=allowed,
                changed=looked_for,
                min_lines=min_lines,
                all_code=all_code,
                min_score=min_score,
            )
            groups, functions = find_duplicates(snapshot, wanted)
            return DuplicatesAnswer(
                groups=tuple(groups),
                functions=functions,
                changed=None if looked_for is None else len(looked_for),
                seconds=time.perf_counter() - started,
                roots=tuple(index.manifest.root for index in indexes),
                freshness=tuple(freshness),
            )

    def history(
        self,
        question: str = "",
        scope: Scope | None = None,
        *,
        place: str = "",
        filters: CommitFilters | None = None,
        top_k: int = 5,
        on_progress: OnProgress = lambda _: None,
    ) -> HistoryAnswer:
        """Return commits of the git repository around a folder; its index of commits is brought up to date first.

        Args:
            question: what to look for in messages, changed names and paths. Without one, the newest commits come first.
            scope: its first folder or `here`; the working directory when None. Commits must have changed something in
                its `within` or `folders`.
            place: only commits that changed this file, folder or definition, given as for `read`.
            filters: which commits may be hits.
            top_k: commits to return.
            on_progress: called with the progress of the index of commits.

        Raises:
            ConfigError: the folder is in no git work tree, git fails, the place is not in the last commit, or neither a
                question nor a place nor a filter is given.
            IndexNotFoundError: nothing in the scope has this path or name.
        """
        from codesearch.history.search import CommitFilters, answer_history, history_of
        from codesearch.structure.places import only_spot

        filters = filters or CommitFilters()
        if not (question.strip() or place or not filters.is_open):
            raise ConfigError("history of what? Give a question or a place")
        scope = scope or Scope(here=Path.cwd())
        folder = expanded(next(iter((*scope.roots, *scope.places(), scope.here or Path.cwd()))))
        spot = None
        if place:
            with self._spots(place, scope) as spots:
                spot = only_spot(place, spots)
                folder = Path(spot.root, spot.path if spot.file is None else os.path.dirname(spot.path))
        history = history_of(folder, self.home)
        within = tuple(one for one in scope.places() if str(one) != history.repository.top)
        return answer_history(
            history,
            self.home,
            self._pool.index,
            self.encoder,
            question=question.strip(),
            place=place,
            spot=spot,
            filters=replace(filters, within=within or filters.within),
            top_k=top_k,
            on_progress=on_progress,
        )

    def kinds(self, root: Path | str) -> dict[str, int]:
        """Count the documents of each kind in an index."""
        from codesearch.search.lookup import count_kinds

        with self.indexes(Scope((root,))) as (index,):
            return count_kinds(index)

    def examples(self, root: Path | str, count: int = 3) -> list[str]:
        """Return questions that an index can answer, from its documentation; the same for the same index."""
        from codesearch.search.examples import example_questions

        with self.indexes(Scope((root,))) as (index,):
            return example_questions(index, count)

    @contextmanager
    def open(
        self,
        scope: Scope | None = None,
        *,
        with_model: bool = True,
        failed: list[Freshness] | None = None,
    ) -> Iterator[Searcher]:
        """Lend a searcher over a scope, for callers that ask many queries; its documents and model stay open meanwhile.

        Args:
            scope: what to search; all indexes of the home when None.
            with_model: False to search by keywords only.
            failed: gets each index that cannot be read, if others can; when None, one of them is an error.

        Raises:
            BackendError: the server of the backend fails.
        """
        from codesearch.search.searcher import Searcher

        with self._backend.open(scope or Scope(), failed) as searched:
            encoder = self.encoder(searched.model_folder) if with_model else None
            yield Searcher(searched, encoder, self._ranking)

    def indexes(self, scope: Scope | None = None) -> AbstractContextManager[list[IndexReader]]:
        """Lend the indexes of a scope; the arguments and errors are those of `open`."""
        return self._local.indexes(scope or Scope())

    def encoder(self, bundle: Path | None = None) -> OnnxEncoder:
        """Return the encoder of this engine's model, else of `bundle`, else of the shipped model.

        Raises:
            ModelBundleError: the bundle is damaged.
            ConfigError: CUDA was asked for and is not there.
        """
        from codesearch.text.bundle import SHIPPED

        return self._pool.encoder(self._model or bundle or SHIPPED, self.device)

    def status(self, *roots: Path | str, changes: bool = False) -> list[IndexStatus]:
        """Return the indexes of some folders.

        Args:
            roots: indexed folders; all when there are none.
            changes: compare each folder with its index and count what an update would do.
        """
        entries = find_indexes(self.home, Scope(roots)) if roots else list_indexes(self.home)
        return [self._status(entry, changes=changes) for entry in entries]

    def remove(self, *roots: Path | str) -> None:
        """Delete the indexes of folders; the folders do not change. If one is not indexed, none is removed."""
        folders = {root: find_folder(self.home, expanded(root)) for root in roots}
        for root, folder in folders.items():
            if not folder.is_dir():
                raise IndexNotFoundError(f"{root} is not indexed", "see `codesearch status`")
        for root, folder in folders.items():
            remove_index(folder, str(root))

    def remove_all(self) -> list[str]:
        """Delete all indexes, also those of commits; return the roots of the others."""
        shutil.rmtree(self.home / COMMITS, ignore_errors=True)
        removed = []
        for entry in list_indexes(self.home):
            removed.append(entry.manifest.root if entry.manifest else str(entry.folder))
            remove_index(entry.folder, removed[-1])
        return removed

    def clear_cache(self) -> None:
        """Delete the unpacked portable files."""
        shutil.rmtree(self.home / "cache", ignore_errors=True)

    def export_sqlite(
        self,
        file: Path | str,
        *roots: Path | str,
        force: bool = False,
        on_progress: OnStage = lambda stage, done, total: None,
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
        """
        from codesearch.portable.sqlite import check_sqlite_target, write_sqlite

        started = time.monotonic()
        path = expanded(file)
        check_sqlite_target(path, force=force)
        with self.indexes(Scope(roots)) as opened:
            indexes = sorted(opened, key=lambda index: index.manifest.root)
            counts = write_sqlite(indexes, path, on_progress)
        return _export_report(path, [index.manifest.root for index in indexes], counts, started)

    def export(
        self,
        file: Path | str,
        root: Path | str | None = None,
        *,
        with_code: bool = False,
        force: bool = False,
        on_progress: OnStage = lambda stage, done, total: None,
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
        """
        from codesearch.engine.imported import export_portable

        started = time.monotonic()
        path = expanded(file)
        entries = choose_indexes(self.home, Scope(() if root is None else (root,)))
        if len(entries) > 1:
            raise ConfigError(f"{len(entries)} folders are indexed", "give --root with the one to export")
        exported, counts = export_portable(
            entries[0], path, self.home, with_code=with_code, force=force, on_progress=on_progress
        )
        return _export_report(path, [exported], counts, started)

    def import_index(
        self,
        file: Path | str,
        root: Path | str | None = None,
        *,
        name: str | None = None,
        max_bytes: int | None = None,
        on_progress: OnStage = lambda stage, done, total: None,
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
        """
        from codesearch.engine.imported import import_portable
        from codesearch.engine.reports import ImportReport
        from codesearch.portable.unpack import MAX_BYTES

        started = time.monotonic()
        manifest = import_portable(
            expanded(file),
            self.home,
            root=None if root is None else expanded(root),
            name=name,
            model=self._model,
            max_bytes=MAX_BYTES if max_bytes is None else max_bytes,
            on_progress=on_progress,
        )
        return ImportReport(manifest=manifest, seconds=time.monotonic() - started)

    def verify(self) -> list[Check]:
        """Check the installation, the model and every byte of every index."""
        from codesearch.engine.verify import checks

        return list(checks(self.home, self._model, self.device))

    def tidy(self) -> None:
        """Close indexes that are no longer current or that were not used for a long time."""
        self._pool.tidy()

    def close(self) -> None:
        """Close every index, model and connection; the next call opens them again."""
        self._backend.close()
        self._pool.close()

    def _scope(self, scope: Scope | None) -> Scope:
        """Return a scope of folders as they are; that of a revision leads to the folder with its files."""
        scope = scope or Scope(here=Path.cwd())
        revision = self.revision(scope)
        if revision is None:
            return scope
        if not self.is_indexed(revision):
            command = index_command(revision.project, "--at", revision.name)
            raise IndexNotFoundError(
                f"{revision.name} of {revision.project} is not indexed", f"run {command}"
            )
        mark_used(revision.folder)
        return revision.scope(scope)

    def _answer(
        self,
        request: SearchRequest,
        scope: Scope | None,
        find: Callable[[Searcher, SearchRequest], Found],
    ) -> Answer:
        scope = self._scope(scope)
        freshness = self._backend.refreshed(scope) if request.refresh else []
        with self.open(scope, with_model=request.mode != "lexical", failed=freshness) as searcher:
            started = time.perf_counter()
            filters = replace(request.filters, within=scope.places() or request.filters.within)
            if request.changed is not None:
                files, lost = searcher.searched.changed_files(filters, request.changed)
                filters = replace(filters, files=files)
                freshness += [Freshness(root, "unreadable", error=str(e)) for root, e in lost.items()]
            request = replace(request, filters=filters)
            found = find(searcher, request)
            return Answer(
                query=request.query,
                mode=request.mode,
                model=searcher.encoder.name if searcher.encoder else "",
                device=searcher.encoder.device if searcher.encoder else "",
                documents=searcher.searched.document_count,
                seconds=time.perf_counter() - started,
                hits=found.hits,
                confidence=found.confidence,
                low_confidence=found.low_confidence,
                freshness=tuple(freshness),
                roots=searcher.searched.roots,
                filters_match=bool(found.hits) or searcher.searched.any_passes(filters),
                changed_files=None if filters.files is None else len(filters.files),
                outside=found.outside,
                unread_files=found.unread_files,
                left_out=searcher.searched.left_out,
            )

    def _example(self, text: str, scope: Scope | None) -> Place:
        """Return a line of a file that exists, else the only place that a text names in the indexes of a scope."""
        from codesearch.structure.places import only_spot

        given = Place.parse(text) if parse_asked(text).first else None
        if given and (given.path.exists() or not self.is_local):
            return given
        try:
            scope = replace(scope or Scope(here=Path.cwd()), within=())
            with self._spots(text, scope, only_definitions=True) as spots:
                return only_spot(text, spots).place
        except IndexNotFoundError:
            if given is None or not given.path.is_absolute():
                raise
            return given  # It may be a path of another machine, whose index was imported.

    @contextmanager
    def _spots(
        self,
        place: str,
        scope: Scope | None,
        freshness: list[Freshness] | None = None,
        *,
        code: bool = False,
        only_definitions: bool = False,
    ) -> Iterator[list[Spot]]:
        """Lend what a place names, after a refresh of the indexes."""
        from codesearch.structure.places import find_folders, find_spots

        scope = self._scope(scope)
        freshness = [] if freshness is None else freshness
        freshness += self._local.refreshed(scope)
        with self._local.indexes(scope, freshness) as indexes:
            if place == "." and (folders := scope.all_folders()):
                yield find_folders(indexes, folders)
            else:
                yield find_spots(
                    indexes,
                    place,
                    scope.here,
                    scope.places(),
                    code=code,
                    only_definitions=only_definitions,
                )

    def _status(self, entry: IndexEntry, *, changes: bool) -> IndexStatus:
        from codesearch.engine.reports import IndexStatus

        manifest = entry.manifest
        if manifest is None:
            return IndexStatus(folder=entry.folder, error=str(entry.error))
        status = IndexStatus(folder=entry.folder, manifest=manifest)
        if not changes or not manifest.has_sources:
            return status
        from codesearch.engine.update import count_changes

        try:
            return replace(status, changes=count_changes(entry, self._local.vectors))
        except CodeSearchError as error:
            return replace(status, unchecked=str(error))


def _export_report(path: Path, roots: list[str], counts: ExportCounts, started: float) -> ExportReport:
    from codesearch.engine.reports import ExportReport

    return ExportReport(
        file=path,
        roots=tuple(roots),
        **asdict(counts),
        bytes=path.stat().st_size,
        seconds=time.monotonic() - started,
    )
