"""A session answers questions about one scope. Its indexes are found, made and compared once, at its start.

Every surface holds a session while it answers, and its policy says what the session may do first. The module imports
little, because most sessions find nothing to do.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, Unpack

from codesearch.engine.answer import (
    Answer,
    Changes,
    DuplicatesAnswer,
    FoundAnswer,
    Freshness,
    PlacesAnswer,
    State,
    coverage_of,
)
from codesearch.engine.indexer import REFRESH_S, Indexer
from codesearch.engine.scope import Scope, covering_index, find_indexes, missing_error, to_index
from codesearch.errors import (
    CodeSearchError,
    ConfigError,
    IndexNotFoundError,
    IndexStoreError,
    IndexWriteError,
    index_command,
)
from codesearch.files import expanded, mark_used
from codesearch.search.forms import parse_asked
from codesearch.search.request import READ_S, Filters, Limits, Place, SearchFields, SearchRequest
from codesearch.store.catalogue import IndexEntry, building_in

if TYPE_CHECKING:
    from codesearch.build.build import ProgressCallback
    from codesearch.engine.answer import IndexSummary
    from codesearch.engine.revisions import Revision
    from codesearch.history.hits import HistoryAnswer
    from codesearch.history.search import CommitFilters
    from codesearch.history.table import History
    from codesearch.search.searcher import Searcher
    from codesearch.store.manifest import Manifest
    from codesearch.store.segments import IndexReader
    from codesearch.structure.lines import Lines
    from codesearch.structure.navigation import Navigation
    from codesearch.structure.places import Spot
    from codesearch.structure.text import Outline
    from codesearch.structure.usages import Usages
    from codesearch.structure.whole import Reading
    from codesearch.types import Coverage, Hit

    Shown = TypeVar("Shown", Reading, Outline)
Indexing = Callable[["Path | Revision", "Callable[..., IndexSummary]"], object]
"""Called with what to index, and a function that does that; the function takes `on_progress`."""
_SYMBOLS, _NAMED, _WEAK = 30, 20, 10
"""Symbols by meaning, by name, and those of a weak meaning or in addition to names."""
_MOST_NAME_WORDS = 3
"""A text with more words is a question. Comparing it with all names would take half of the time."""


@dataclass(frozen=True, slots=True)
class Policy:
    """What a session may do before it answers."""

    # Index projects that no index covers, git revisions, and what an earlier version indexed.
    may_index: bool = True
    # Bring indexes up to date if that is estimated to take at most this; None: do not compare them.
    budget_s: float | None = REFRESH_S
    # Calls the function that indexes a folder or a revision; it may show progress or try again.
    indexing: Indexing = lambda root, index: index()
    on_progress: ProgressCallback = lambda _: None  # Called with the progress of an update.


AS_INDEXED = Policy(may_index=False, budget_s=None)
"""Answer from the indexes that there are, as they are."""


def _partial(index: IndexReader) -> Freshness:
    """Return the state of an index whose first build is not finished."""
    manifest, building = index.manifest, building_in(index.folder)
    who = (
        building.text if building else f"its first index was interrupted: run {index_command(manifest.root)}"
    )
    error = f"{manifest.percent}% of its files are indexed; {who}"
    return Freshness(manifest.root, State.PARTIAL, Changes(manifest.left, 0), error)


class Session:
    r"""Answers questions about one scope; `Engine.session` opens it, and nothing has to be closed.

    >>> from tempfile import TemporaryDirectory
    >>> from codesearch import Engine, Scope
    >>> source = "def tail(path):\n    # The last lines of a file.\n    return path\n\ntail('log')\n"
    >>> with TemporaryDirectory() as home, TemporaryDirectory() as project, Engine(home) as engine:
    ...     _ = Path(project, "storage.py").write_text(source)
    ...     _ = engine.index(project)
    ...     session = engine.session(Scope([project]))
    ...     for hit in session.search("last lines of a file", top_k=1).hits:
    ...         print(hit.path, hit.start_line, hit.name, session.usages(hit.name).found.usage_count)
    storage.py 1 tail 1

    Every question raises `IndexNotFoundError` if nothing is indexed there, and `IndexStoreError` if no index can be
    read. An index that cannot be read does not concern the others.
    """

    def __init__(self, engine: Indexer, scope: Scope, policy: Policy) -> None:
        self._engine = engine
        self.scope = scope  # Where it looks; that of a git revision leads to the folder with its files.
        self.revision: Revision | None = None  # The git revision of the scope, if it names one.
        self.entries: list[IndexEntry] = []  # The indexes; `error` says why one cannot be read.
        # Whether each index is up to date with its folder, if that was compared.
        self.freshness: list[Freshness] = []
        self.missing: list[Path] = []  # What would be indexed if the policy allowed it.
        self._error: CodeSearchError | None = None
        self._manifests: list[Manifest] = []
        if scope.at:
            self._use_revision(policy)
        if engine.is_local:
            self._find(policy)
            if policy.budget_s is not None:
                self._compare(policy.budget_s, policy.on_progress)

    def _use_revision(self, policy: Policy) -> None:
        from codesearch.engine.revisions import find_revision, index_revision, is_indexed

        home, scope = self._engine.local_home(), self.scope
        self.revision = revision = find_revision(home, scope)
        if not is_indexed(home, revision):
            if not policy.may_index:
                command = index_command(revision.project, "--at", revision.name)
                raise IndexNotFoundError(
                    f"{revision.name} of {revision.project} is not indexed", f"run {command}"
                )
            policy.indexing(revision, partial(index_revision, self._engine, revision))
        mark_used(revision.folder)
        self.scope = revision.scope(scope)

    def _find(self, policy: Policy) -> None:
        """Find the indexes of the scope; index what is missing if the policy allows it."""
        home, scope = self._engine.local_home(), self.scope
        try:
            entries = find_indexes(home, scope)
        except IndexNotFoundError as none:  # A question about commits alone needs no index.
            self._error = none
            return
        indexed: set[Path] = set()
        by_folder: dict[Path, IndexEntry] = {}
        for entry in entries:
            root = to_index(scope, entry)
            if root and policy.may_index:
                entry = self._index(entry, root, policy, indexed)
            elif root:
                self.missing.append(root)
            if entry.is_missing:
                entry = replace(entry, error=entry.error or missing_error(home, scope, entry.folder))
                if not scope.all_folders():
                    self._error = entry.error
            by_folder[entry.folder] = entry
        self.entries = list(by_folder.values())

    def _index(self, entry: IndexEntry, root: Path, policy: Policy, indexed: set[Path]) -> IndexEntry:
        """Index a root that is not in `indexed`; return its entry, or the given one if that fails."""
        index = self._engine.index_project if entry.is_missing else self._engine.index
        try:
            if root not in indexed:
                policy.indexing(root, partial(index, root))
            indexed.add(root)
            return (
                covering_index(self._engine.local_home(), entry.folder if entry.is_missing else root) or entry
            )
        except CodeSearchError as error:
            return replace(entry, error=error) if entry.is_missing else entry

    def _compare(self, budget_s: float, on_progress: ProgressCallback) -> None:
        """Bring the indexes up to date. An error of one of several does not concern the others."""
        for entry in self.entries:
            if entry.manifest is None:
                continue
            try:
                try:
                    freshness = self._engine.refresh_entry(entry, budget_s, on_progress, opens=True)
                except IndexWriteError:  # The home is full or read-only; the index stays as it is.
                    freshness = self._engine.refresh_entry(entry, None)
                self.freshness.append(freshness)
            except CodeSearchError as error:
                if len(self.entries) == 1:
                    self._error = error
                else:
                    self.freshness.append(Freshness(entry.root, State.UNCHECKED, error=error.reason))

    @contextmanager
    def indexes(self, *, strict: bool = False) -> Iterator[list[IndexReader]]:
        """Lend the open indexes. One that cannot be read is left out if others can, unless `strict` is set."""
        self._engine.local_home()
        if self._error:
            raise self._error
        with ExitStack() as lent:
            opened, lost = [], []
            for entry in self.entries:
                try:
                    if entry.error:
                        raise entry.error
                    opened.append(lent.enter_context(self._engine.pool.index(entry)))
                except CodeSearchError as error:
                    lost.append((error, Freshness(entry.root, State.UNREADABLE, error=error.reason)))
            if lost and (strict or not opened):
                raise lost[0][0]
            self.freshness += [unreadable for _, unreadable in lost if unreadable not in self.freshness]
            self._manifests = [index.manifest for index in opened]
            for index in opened:
                if not index.manifest.complete:
                    others = [other for other in self.freshness if other.root != index.manifest.root]
                    self.freshness = [*others, _partial(index)]
            yield opened

    @contextmanager
    def open(self, *, with_model: bool = True, strict: bool = True) -> Iterator[Searcher]:
        """Lend a searcher, for callers that ask many queries; its documents and model stay open meanwhile.

        Args:
            with_model: False to search by keywords only.
            strict: whether an index that cannot be read is an error.

        Raises:
            BackendError: the server of the backend fails.
        """
        from codesearch.search.searcher import Searched, Searcher

        with ExitStack() as lent:
            if self._engine.backend:
                searched = self._engine.backend.open(self.scope)
            else:
                searched = Searched(lent.enter_context(self.indexes(strict=strict)))
            encoder = self._engine.encoder(searched.model_folder) if with_model else None
            yield Searcher(searched, encoder, self._engine.ranking)

    def search(self, request: SearchRequest | str, **fields: Unpack[SearchFields]) -> Answer:
        """Rank documents for a query and return the best, best first.

        Args:
            request: what to search for; a plain string is the query.
            fields: fields of the request to change, such as `top_k`.

        Raises:
            ConfigError: the query has no words, the indexes were made with different models, or git cannot say what
                changed.
            BackendError: the server of the backend fails.
        """
        if isinstance(request, str):
            return self._answer(SearchRequest(request, **fields))
        return self._answer(replace(request, **fields) if fields else request)

    def similar(
        self, place: Place | str, request: SearchRequest | None = None, **fields: Unpack[SearchFields]
    ) -> Answer:
        """Return the documents most similar to the function or class at a line of a file, which need not be indexed.

        Args:
            place: the line, and the text of the file if it is not saved. A string is FILE:LINE, or what `read` takes
                if it names one place. An index without its folder has its files as NAME/FILE.
            request: how many hits, and which; its mode and `by_file` are ignored. Its query is that of the answer, by
                default FILE:LINE.
            fields: fields of the request to change, such as `top_k`.

        Raises:
            ConfigError: there is no function at that line, the file is of no known language, or a string names several
                places.
            BackendError: the server of the backend fails.
        """
        example = self._example(place) if isinstance(place, str) else place
        request = replace(replace(request or SearchRequest(), **fields), mode="hybrid", by_file=False)
        return self._answer(request, example)

    def find(self, place: str) -> list[Place]:
        """Return the first line of each definition that a place names; arguments and errors are those of `read`."""
        with self.spots(place, only_definitions=True) as spots:
            return [spot.place for spot in spots]

    def named(self, text: str, *, top_k: int = 20) -> list[Hit]:
        """Return definitions whose names a text is a part of, or is like, the nearest first. They have no scores.

        Args:
            text: letters of a name, such as "get_cer" or "setActi", if wanted with a name around it: "Stack.pu".
            top_k: definitions to return.
        """
        from codesearch.search.hits import hits_of
        from codesearch.structure.places import definitions_like

        with self.indexes() as indexes:
            return hits_of(definitions_like(indexes, text, self.scope.places(), top_k))

    def symbols(self, text: str, min_confidence: float = 0.0) -> list[Hit]:
        """Return definitions for a text that a user is typing: those named like it, then those with its meaning."""
        is_name = len(text.split()) <= _MOST_NAME_WORDS
        named = self.named(text, top_k=_NAMED) if is_name else []
        answer = self.search(SearchRequest(text, _SYMBOLS, min_confidence=min_confidence))
        alike = answer.hits
        if answer.low_confidence:  # Names are better, and a word of the text must be in a hit.
            alike = [hit for hit in alike if hit.signals.get("bm25_normalised") and not named]
        return [*named, *(alike[:_WEAK] if named or answer.low_confidence else alike)]

    def read(
        self, place: str, *, most_lines: int | None = None, most_chars: int | None = None
    ) -> PlacesAnswer[Reading]:
        """Return the code of a place; if it names several places, they share the lines.

        Args:
            place: a path, PATH:LINE, PATH:FIRST-LAST, PATH::NAME, a name or the end of a qualified name. Paths may be
                relative to `here` of the scope.
            most_lines: longer classes and files have the bodies of their members folded away, and longer functions at
                PATH:LINE what is far from the line; 120 if neither limit is given.
            most_chars: likewise for those with more characters.

        Raises:
            ConfigError: the place is empty.
            IndexNotFoundError: nothing in the scope has this path or name, or the file is gone.
        """
        from codesearch.structure.whole import WHOLE_LINES, read_places

        most_lines = WHOLE_LINES if most_lines is most_chars is None else most_lines
        parsed = parse_asked(place)
        line = 0 if parsed.last else parsed.first
        with self.spots(place, code=True) as spots:
            return self._of_places(read_places(spots, most_lines, most_chars, line), len(spots))

    def outline(
        self,
        place: str = ".",
        *,
        max_lines: int | None = None,
        max_chars: int | None = None,
        question: str = "",
    ) -> PlacesAnswer[Outline]:
        """Return the shape of a folder, a file or a class: what is in it, with lines and first sentences.

        Args:
            place: as for `read`; if it names several, each has an outline.
            max_lines: of all outlines together; what does not fit is counted.
            max_chars: likewise; an outline for a question ignores it.
            question: if given, only the files with the best definitions for it are listed, and these are shown whole.

        Raises:
            ConfigError: the place is empty.
            IndexNotFoundError: nothing in the scope has this path or name.
        """
        from codesearch.structure.outline import MAX_LINES, outline_for, outlines_of

        with self.spots(place) as spots:
            if not question:
                return self._of_places(outlines_of(spots, max_lines or MAX_LINES, max_chars), len(spots))
            request = SearchRequest(question, 10, by_file=True)
            answer = self._answer(request, within=[Path(spot.root, spot.path) for spot in spots])
            outlines = outline_for(answer.hits, spots, max_lines or MAX_LINES)
            return self._of_places(outlines, len(outlines))

    def _of_places(self, shown: list[Shown], count: int) -> PlacesAnswer[Shown]:
        more = {"not shown": count - len(shown), "folded": sum(place.folded for place in shown)}
        return PlacesAnswer(tuple(shown), count, *self._seen(more))

    def _seen(self, more: Mapping[str, int]) -> tuple[tuple[str, ...], tuple[Freshness, ...], Coverage]:
        """Return what was searched: the roots of the indexes, whether they are up to date, and what was not seen."""
        freshness = tuple(self.freshness)
        roots = tuple(manifest.root for manifest in self._manifests)
        return roots, freshness, coverage_of(self._manifests, freshness, more)

    def usages(
        self,
        place: str,
        *,
        filters: Filters | None = None,
        limit: int = 20,
        all_code: bool = False,
        tests: bool = False,
        with_derived: bool = True,
    ) -> FoundAnswer[Usages]:
        """Return where a name is used: its definitions, and each line that has it as a whole word.

        Args:
            place: a name, the end of a qualified name, PATH:LINE or PATH::NAME.
            filters: languages and paths.
            limit: usages to return; all are counted.
            all_code: return usages in tests, examples, migrations, generated and vendored code too, after the others,
                imports in files with other usages, and the bases of derived types.
            tests: return only the first usage in each test, and files of tests that have the name in their own.
            with_derived: look for derived types and overriding methods too, which can take most of the time.

        Raises:
            ConfigError: the name is empty, too long or has no words.
            IndexNotFoundError: no definition is at the place, or no index of the scope has sources.
        """
        from codesearch.structure.usages import find_usages

        with self.indexes() as indexes:
            found = find_usages(
                indexes,
                place,
                self._inside(filters),
                limit=limit,
                all_code=all_code,
                tests=tests,
                with_derived=with_derived,
                here=self.scope.here,
                folders=self.scope.all_folders(),
            )
            more = {"not read": found.unread_files, "not shown": found.usage_count - len(found.usages)}
            return FoundAnswer(found, *self._seen(more))

    @contextmanager
    def navigation(self, texts: Mapping[Path, str]) -> Iterator[Navigation]:
        """Lend what answers an editor about names; `texts` are those of files that are open in it."""
        from codesearch.structure.navigation import Navigation

        with self.indexes() as indexes:
            yield Navigation(indexes, texts, [expanded(place).absolute() for place in self.scope.places()])

    def lines(
        self,
        text: str,
        *,
        filters: Filters | None = None,
        limit: int = 200,
        is_pattern: bool | None = None,
        ignore_case: bool = False,
        seconds: float = READ_S,
    ) -> FoundAnswer[Lines]:
        """Return the lines with an exact text, or those that it matches as a regular expression.

        Args:
            text: the text; it has one line or several.
            filters: languages, kinds and paths.
            limit: lines to return; all are counted.
            is_pattern: whether the text is a regular expression; None: only if it stands nowhere as it is.
            ignore_case: whether upper and lower case are the same, in ASCII.
            seconds: how long files are read; those that are not read then are counted.

        Raises:
            ConfigError: the text is empty, too long or no regular expression.
            IndexNotFoundError: no index of the scope has sources.
        """
        from codesearch.structure.lines import find_lines

        with self.indexes() as indexes:
            found = find_lines(
                indexes,
                text,
                self._inside(filters),
                limit=limit,
                is_pattern=is_pattern,
                ignore_case=ignore_case,
                seconds=seconds,
            )
            return FoundAnswer(found, *self._seen({"not read": found.unread_files}))

    def files(self, filters: Filters) -> list[tuple[str, str]]:
        """Return the root and the path of each indexed file that passes filters, by path."""
        from codesearch.search.exact import proposed_files
        from codesearch.store.snapshot import Snapshot

        with self.indexes() as indexes:
            files = proposed_files(Snapshot(indexes), "", self._inside(filters))
            return sorted(
                ((segment.root, file.path) for _, segment, file in files), key=lambda pair: pair[::-1]
            )

    def duplicates(
        self,
        *,
        changed: str | None = None,
        filters: Filters | None = None,
        min_lines: int = Limits.min_lines,
        min_score: float = Limits.min_score,
        all_code: bool = Limits.all_code,
    ) -> DuplicatesAnswer:
        """Return groups of functions that do the same.

        Args:
            changed: a git revision, as for a search; only functions that differ from it are looked for, everywhere in
                the scope.
            filters: which functions are compared; with `changed`, which changed functions are looked for. Paths that
                are excluded are never compared.
            min_lines: shorter functions are left out.
            min_score: the lowest estimated probability that functions of different shapes do the same.
            all_code: compare tests, generated and vendored code and build output too.

        Raises:
            ConfigError: the indexes were made with different models, or git cannot say what changed.
            IndexStoreError: with `changed`, an index is not up to date.
        """
        from codesearch.duplicates.find import changed_documents, find_duplicates
        from codesearch.search.filters import allowed_documents
        from codesearch.store.snapshot import Snapshot

        # A check of changes must not pass because the index does not have them.
        lacking = (State.BEHIND, State.LOCKED, State.UNCHECKED)
        old = [index.root for index in self.freshness if index.state in lacking]
        if old and changed is not None:
            raise IndexStoreError(f"the index of {old[0]} may lack changes", f"run {index_command(old[0])}")
        filters = self._inside(filters)
        with self.indexes() as indexes:
            started = time.perf_counter()
            snapshot = Snapshot(indexes)
            allowed, looked_for = allowed_documents(filters, snapshot), None
            if changed is not None:
                looked_for, lost = changed_documents(snapshot, filters, changed)
                if allowed is not None:
                    looked_for = [doc_id for doc_id in looked_for if allowed[doc_id]]
                excluded = tuple(path for path in filters.paths if path.startswith("!"))
                allowed = allowed_documents(Filters(paths=excluded, here=filters.here), snapshot)
                self._lose(lost)
            limits = Limits(min_lines=min_lines, min_score=min_score, all_code=all_code)
            groups, functions, left_out = find_duplicates(snapshot, limits, allowed, looked_for)
            return DuplicatesAnswer(
                tuple(groups),
                functions,
                None if looked_for is None else len(looked_for),
                time.perf_counter() - started,
                *self._seen(left_out),
            )

    def history(
        self,
        question: str = "",
        *,
        place: str = "",
        filters: CommitFilters | None = None,
        top_k: int = 5,
        on_progress: ProgressCallback = lambda _: None,
    ) -> HistoryAnswer:
        """Return commits of the git repository around a folder; its table of commits is brought up to date first.

        The folder is the first of `roots`, `within`, `folders` and `here` in the scope, else the working directory.
        Commits must have changed something in `within` or `folders`. Without a place, nothing has to be indexed.

        Args:
            question: what to look for in messages, changed names and paths. Without one, the newest commits come first.
            place: only commits that changed this file, folder or definition, given as for `read`.
            filters: which commits may be hits.
            top_k: commits to return.
            on_progress: called with the progress of the table of commits.

        Raises:
            ConfigError: the folder is in no git work tree, git fails, the place is not in the last commit, or neither a
                question nor a place nor a filter is given.
            IndexNotFoundError: nothing in the scope has this path or name.
        """
        from codesearch.history.search import CommitFilters, answer_history

        engine, filters = self._engine, filters or CommitFilters()
        if not (question.strip() or place or not filters.is_open):
            raise ConfigError("history of what? Give a question or a place")
        history, spot, within = self._history_at(place)
        return answer_history(
            history,
            engine.local_home(),
            partial(coverage_of, (), ()),
            question=question.strip(),
            place=place,
            spot=spot,
            filters=replace(filters, within=within or filters.within),
            top_k=top_k,
            on_progress=on_progress,
        )

    def diff(self, commit: str, *, place: str = "") -> list[str]:
        """Return a commit as lines, with its diff of a place, or of the scope as in `history`.

        Raises:
            ConfigError: git has no such commit, or as for `history`.
        """
        from codesearch.history.search import path_of
        from codesearch.history.table import read_diff

        history, spot, within = self._history_at(place)
        return read_diff(history.repository, commit, [path_of(history, spot)] if spot else within)

    def _history_at(self, place: str) -> tuple[History, Spot | None, tuple[Path | str, ...]]:
        """Return the history around a place or the scope, the place, and the folders of the scope below its top."""
        from codesearch.history.search import history_of
        from codesearch.structure.places import only_spot

        scope, spot = self.scope, None
        folder = expanded(next(iter((*scope.roots, *scope.places(), scope.here or Path.cwd()))))
        if place:
            with self.spots(place) as spots:
                spot = only_spot(place, spots)
                folder = Path(spot.root, spot.path if spot.file is None else os.path.dirname(spot.path))
        history = history_of(folder, self._engine.local_home())
        return history, spot, tuple(path for path in scope.places() if str(path) != history.repository.top)

    def _answer(
        self, request: SearchRequest, example: Place | None = None, within: Sequence[Path | str] = ()
    ) -> Answer:
        """Answer a request; with an example, by the code that is like it."""
        with self.open(with_model=request.mode != "lexical", strict=False) as searcher:
            started = time.perf_counter()
            searched, filters = searcher.searched, self._inside(request.filters, within)
            if request.changed is not None:
                files, lost = searched.changed_files(filters, request.changed)
                filters = replace(filters, files=files)
                self._lose(lost)
            request = replace(request, filters=filters)
            if example is None:
                mode, query = "exact" if request.fixed else request.mode, request.query
                found = searcher.answer(request)
            else:
                from codesearch.search.similar import search_similar

                mode, query = "similar", request.query or f"{example.path}:{example.line}"
                found = search_similar(searcher, example, request)
            return Answer(
                query=query,
                mode=mode,
                model=searcher.encoder.name if searcher.encoder else "",
                device=searcher.encoder.device if searcher.encoder else "",
                documents=searched.document_count,
                seconds=time.perf_counter() - started,
                hits=found.hits,
                confidence=found.confidence.answer if found.confidence else None,
                subject=found.confidence.subject if found.confidence else None,
                low_confidence=found.low_confidence,
                unknown_words=found.unknown_words,
                freshness=tuple(self.freshness),
                roots=searched.roots,
                filters_match=bool(found.hits) or searched.any_passes(filters),
                changed_files=None if filters.files is None else len(filters.files),
                outside=tuple(found.exact.outside),
                lines=found.exact.lines,
                files=found.exact.files,
                coverage=coverage_of(searched.manifests, self.freshness, found.unseen),
            )

    def _inside(self, filters: Filters | None, within: Sequence[Path | str] = ()) -> Filters:
        """Return filters that let only the given files and folders pass, by default those of the scope."""
        filters = filters or Filters()
        return replace(filters, within=within or self.scope.places() or filters.within)

    def _lose(self, lost: dict[str, ConfigError]) -> None:
        """Note the roots that git cannot compare with a revision."""
        self.freshness += [Freshness(root, State.UNREADABLE, error=str(e)) for root, e in lost.items()]

    def _example(self, text: str) -> Place:
        """Return a line of a file that exists, else the only place that a text names in the indexes."""
        from codesearch.structure.places import only_spot

        given = Place.parse(text) if parse_asked(text).first else None
        if given and (given.path.exists() or not self._engine.is_local):
            return given
        session = self
        if self.scope.within:  # They limit the hits, not the example.
            session = Session(self._engine, replace(self.scope, within=()), Policy(may_index=False))
        try:
            with session.spots(text, only_definitions=True) as spots:
                return only_spot(text, spots).place
        except IndexNotFoundError:
            if given is None or not given.path.is_absolute():
                raise
            return given  # It may be a path of another machine, whose index was imported.

    @contextmanager
    def spots(
        self, place: str, *, code: bool = False, only_definitions: bool = False
    ) -> Iterator[list[Spot]]:
        """Lend what a place names."""
        from codesearch.structure.places import find_folders, find_spots

        scope = self.scope
        with self.indexes() as indexes:
            if place == "." and (folders := scope.all_folders()):
                yield find_folders(indexes, folders)
            else:
                find = partial(find_spots, indexes, place, scope.here, scope.places())
                try:
                    spots = find(code=code, only_definitions=only_definitions)
                except IndexNotFoundError as error:
                    unseen = self._seen({})[2].note(is_few=True)
                    if not unseen or error.about:  # The cure says why that file is not seen.
                        raise
                    raise IndexNotFoundError(error.problem, f"{error.cure} ({unseen})".strip()) from None
                yield spots
