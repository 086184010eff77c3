"""Segments: write one, open those of an index, and delete those that the manifest does not name.

First builds, updates and merges write segments in the same way. A segment is never changed afterwards.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from codesearch.config import VectorConfig
from codesearch.errors import IndexCorruptError, IndexNotFoundError, IndexStoreError, IndexWriteError
from codesearch.files import PART, Stamp, make_folder, stamp_of
from codesearch.memo import Memo
from codesearch.store.arrays import (
    NO_PASSAGES,
    PASSAGES,
    ROW,
    ROWS,
    SOURCES,
    SourceReader,
    load_array,
    save_array,
)
from codesearch.store.database import DocumentRow, FileRecord, StoreReader, StoreWriter, storage_error
from codesearch.store.digest import check_intact
from codesearch.store.manifest import MANIFEST, SEGMENTS, Manifest, SegmentEntry, manifest_at, read_manifest
from codesearch.store.postings import (
    PostingsBlock,
    PostingsReader,
    PostingsWriter,
    WordsReader,
    WordsWriter,
    words_of,
)
from codesearch.store.vectors import PASSAGE_VECTORS, VectorReader, VectorWriter
from codesearch.types import KINDS, OF_FILE

_PART_S = 3600.0
"""A file that is this old and was not finished belongs to a process that was killed."""
_REMEMBERED = 1 << 14
"""Number of names whose counts an open segment remembers."""


class SegmentReader:
    """Files and documents of a segment, numbered from 0. Some of them may be dead."""

    def __init__(
        self, index_folder: Path, manifest: Manifest, entry: SegmentEntry, store: StoreReader | None = None
    ) -> None:
        """Open all files now, because a merge may delete the folder later; the database may be open already."""
        folder, root, dim = index_folder / entry.folder, manifest.root, int(manifest.model["dim"])
        self.folder, self.root, self.has_sources = folder, root, manifest.has_sources
        self.walk = manifest.walk_config()  # Which files of the root may be read.
        self.dead_files: Collection[int] = entry.dead_files  # Their documents are not searched.
        self.rows = load_array(folder / ROWS, root)  # Numbers of each document: `ROW` [N].
        self.postings = PostingsReader(folder, root)
        self.words = WordsReader(folder, root)
        self.vectors = VectorReader(folder, entry.documents, dim, root=root, files=entry.files)
        self.passages = load_array(folder / PASSAGES, root)  # See `codesearch.store.arrays`: uint32 [P, 11].
        self.passage_vectors = VectorReader(
            folder, len(self.passages), dim, root=root, name=PASSAGE_VECTORS, files=entry.files
        )
        # Name, and other words -> number of live files that have them all, and of those that define the name.
        self.name_counts = Memo(self._count_name, _REMEMBERED)
        self.unchanged: dict[str, Stamp] = {}  # Stamps of source files that had the recorded digest.
        # The source files, if the index was imported with code.
        self.sources = SourceReader(folder, root) if SOURCES in entry.files else None
        self.store = store or StoreReader(folder, root)

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def files(self) -> list[FileRecord]:
        """All files; a file_id is a position in this list."""
        files = self.store.files()
        self.store.seen_files.update(enumerate(files))  # `files_of` need not read them again.
        return files

    @cached_property
    def contents(self) -> dict[int, tuple[bool, int]]:
        """Whether each file with documents is a test, generated, vendored or built, and their number."""
        file_ids = self.rows["file_id"]
        firsts = np.flatnonzero(np.diff(file_ids, prepend=np.uint32(0xFFFFFFFF)))
        counts = np.diff(firsts, append=len(self))
        is_minor = self.rows["flags"][firsts] & OF_FILE > 0
        pairs = zip(is_minor.tolist(), counts.tolist(), strict=True)
        return dict(zip(file_ids[firsts].tolist(), pairs, strict=True))

    @cached_property
    def dead(self) -> NDArray[np.int64]:
        """Numbers of the dead documents, ascending: int64."""
        if not self.dead_files:
            return np.empty(0, np.int64)
        return np.flatnonzero(np.isin(self.rows["file_id"], list(self.dead_files)))

    @cached_property
    def passage_documents(self) -> NDArray[np.int64]:
        """The document of each passage, ascending: int64 [P]."""
        return self.passages[:, 0].astype(np.int64)

    def passages_of(self, record: FileRecord) -> slice:
        """Return which passages are in the documents of a file."""
        bounds = record.first_doc, record.first_doc + record.doc_count
        return slice(*self.passage_documents.searchsorted(bounds).tolist())

    def files_with(self, words: Collection[bytes]) -> set[int]:
        """Return the file_ids of live files that have all of some words (see `codesearch.store.postings`)."""
        found = [set(self.words.files_with(word).tolist()) for word in words]
        return set.intersection(*found).difference(self.dead_files) if found else set()

    def _count_name(self, counted: tuple[str, str]) -> tuple[int, int]:
        using = self.files_with(words_of(" ".join(counted).encode()))
        return len(using), len(using & self.store.files_defining(counted[0]))

    def close(self) -> None:
        """Close the database."""
        self.store.close()


class IndexReader:
    """One open commit. It stays readable after later commits."""

    def __init__(
        self, index_folder: Path, manifest: Manifest, stores: dict[int, StoreReader] | None = None
    ) -> None:
        """Open the segments; this takes over open databases out of `stores`, by number of segment."""
        self.folder, self.manifest, self.root = index_folder, manifest, Path(manifest.root)
        self.segments: list[SegmentReader] = []  # In the order of the manifest.
        stores = {} if stores is None else stores
        try:
            for entry in manifest.segments:
                self.segments.append(SegmentReader(index_folder, manifest, entry, stores.get(entry.number)))
                stores.pop(entry.number, None)
        except BaseException:
            self.close()
            raise

    @classmethod
    def open(cls, index_folder: Path, manifest: Manifest | None = None) -> IndexReader:
        """Open the current commit; a manifest that was just read need not be read again."""
        try:
            return cls._checked(index_folder, manifest or read_manifest(index_folder))
        except IndexCorruptError:
            # Try again with the current manifest, because a writer may have committed and deleted the old files.
            return cls._checked(index_folder, read_manifest(index_folder))

    @classmethod
    def _checked(cls, index_folder: Path, manifest: Manifest) -> IndexReader:
        check_intact(index_folder, manifest)
        return cls(index_folder, manifest)

    def is_whole(self) -> bool:
        """Say whether every file is still the one that was opened or an intact copy; a writer may replace them."""
        try:
            check_intact(self.folder, self.manifest)
        except IndexCorruptError:
            return False
        return True

    def close(self) -> None:
        """Close the databases."""
        for segment in self.segments:
            segment.close()


@contextmanager
def writing(index_folder: Path) -> Iterator[None]:
    """Run a block that writes segments; afterwards delete what no manifest names or a process did not finish."""
    first = last_number(index_folder) + 1
    kept = "; the last good index is untouched" if (index_folder / MANIFEST).exists() else ""
    try:
        yield
    except Exception as error:
        known = error if isinstance(error, IndexWriteError) else storage_error(error, index_folder)
        if known:
            raise IndexWriteError(f"{known}{kept}") from error
        raise
    finally:
        _drop_unnamed(index_folder, first)
        for part in index_folder.glob(f"*{PART}"):
            with suppress(OSError):  # Another process deleted it.
                if part.stat().st_mtime < time.time() - _PART_S:
                    part.unlink()


def last_number(index_folder: Path) -> int:
    """Return the highest number of all segment folders, including leftover ones, so that no folder is reused."""
    return max((int(path.name) for path in _segments(index_folder)), default=0)


def _drop_unnamed(index_folder: Path, first: int) -> None:
    """Delete segments that the manifest does not name.

    If the manifest cannot be read, delete only the segments of this writer, which have numbers from `first` on.
    """
    try:
        manifest = manifest_at(index_folder, stamp_of(str(index_folder / MANIFEST)))
        named = {Path(segment.folder).name for segment in manifest.segments}
    except IndexNotFoundError:
        named = set()
    except IndexStoreError:
        named = {path.name for path in _segments(index_folder) if int(path.name) < first}
    for path in _segments(index_folder):
        if path.name not in named:
            shutil.rmtree(path, ignore_errors=True)


def _segments(index_folder: Path) -> list[Path]:
    return [path for path in (index_folder / SEGMENTS).glob("*") if path.name.isdigit()]


class SegmentWriter:
    """Writes files in the order of their paths; doc_ids and file_ids count up from 0."""

    def __init__(self, folder: Path, dim: int) -> None:
        """Make the folder and open the writers of its parts."""
        make_folder(folder.parent)
        folder.mkdir(0o700)
        self.folder = folder  # The segment's folder.
        self._rows = bytearray()
        self._passages = [NO_PASSAGES]
        self._new_ids: dict[int, NDArray[np.int64]] = {}
        self._new_files: dict[int, NDArray[np.int64]] = {}
        self._merged: dict[int, SegmentReader] = {}
        with ExitStack() as opened:  # If a writer cannot be opened, the ones before it are closed.
            self._store = opened.enter_context(closing(StoreWriter(folder)))
            self.vectors = opened.enter_context(closing(VectorWriter(folder, dim)))
            self.passage_vectors = opened.enter_context(closing(VectorWriter(folder, dim, PASSAGE_VECTORS)))
            self._postings = opened.enter_context(closing(PostingsWriter(folder)))
            self._words = opened.enter_context(closing(WordsWriter(folder)))
            self._opened = opened.pop_all()

    @property
    def documents(self) -> int:
        """Count the documents so far."""
        return self._store.document_count

    @property
    def source_files(self) -> int:
        """Count the files so far."""
        return self._store.file_count

    def add_parsed(
        self,
        record: FileRecord,
        rows: Sequence[DocumentRow],
        block: PostingsBlock,
        words: NDArray[np.uint32],
        passages: NDArray[np.uint32],
        members: Sequence[DocumentRow] = (),
    ) -> None:
        """Add a file with its words, its documents, their terms and passages, and the members."""
        first = self.documents
        self._words.add(words, self.source_files)
        self._add_passages(passages, first)
        self._add(record, rows, members)
        self._postings.add(block, first)

    def add_kept(self, record: FileRecord, file_id: int, number: int, segment: SegmentReader) -> None:
        """Copy a file with its documents from another segment, which has the given number."""
        first = self.documents
        new_files = self._new_files.setdefault(number, np.full(len(segment.files), -1, dtype=np.int64))
        new_files[file_id] = self.source_files
        self._add_passages(segment.passages[segment.passages_of(record)], first - record.first_doc)
        rows = segment.store.document_rows(record)
        self._add(record, rows, segment.store.members(file_id))
        self._merged[number] = segment
        new_ids = self._new_ids.setdefault(number, np.full(len(segment), -1, dtype=np.int64))
        new_ids[record.first_doc : record.first_doc + record.doc_count] = np.arange(first, self.documents)

    def finish(self, config: VectorConfig) -> None:
        """Write the rest of the segment; all vectors must have been added before."""
        with self._opened:
            self._store.finish()
            self.vectors.finish(config)
            self.passage_vectors.finish(config)
            save_array(self.folder / PASSAGES, np.concatenate(self._passages))
            save_array(self.folder / ROWS, np.frombuffer(self._rows, ROW))
            for number, segment in self._merged.items():
                self._postings.keep(segment.postings, self._new_ids[number])
                self._words.keep(segment.words, self._new_files[number])
            self._postings.write()
            self._words.write()

    def close(self) -> None:
        """Close the files, whether they are finished or not."""
        self._opened.close()

    def _add_passages(self, passages: NDArray[np.uint32], moved: int) -> None:
        """Add passages of documents whose numbers are lower by `moved`, which may be negative."""
        moved_passages = passages.copy()
        moved_passages[:, 0] = passages[:, 0].astype(np.int64) + moved
        self._passages.append(moved_passages)

    def _add(self, record: FileRecord, rows: Sequence[DocumentRow], members: Sequence[DocumentRow]) -> None:
        file_id = self._store.file_count
        numbers = np.empty(len(rows), ROW)
        made = {"file_id": file_id, "kind": [KINDS.index(row.kind) for row in rows]}
        for name in ROW.names or ():
            numbers[name] = made[name] if name in made else [getattr(row, name) for row in rows]
        self._rows += numbers.tobytes()
        self._store.add_file(record, rows, members)
