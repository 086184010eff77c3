"""Write a segment, and delete the segments that the manifest does not name.

First builds, updates and merges write segments in the same way. A segment is never changed afterwards.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from codesearch.config import VectorConfig
from codesearch.errors import IndexNotFoundError, IndexStoreError, IndexWriteError
from codesearch.files import PART, make_folder, stamp_of
from codesearch.store.arrays import NO_PASSAGES, PASSAGES, ROW, ROWS, save_array
from codesearch.store.database import DocumentRow, FileRecord, StoreWriter, storage_error
from codesearch.store.manifest import MANIFEST, SEGMENTS, manifest_at
from codesearch.store.postings import PostingsBlock, PostingsWriter
from codesearch.store.reader import SegmentReader
from codesearch.store.vectors import PASSAGE_VECTORS, VectorWriter
from codesearch.store.words import WordsWriter
from codesearch.types import KINDS

_PART_S = 3600.0
"""A file that is this old and was not finished belongs to a process that was killed."""


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
    """Delete segments that the manifest does not name, and folders of older formats.

    If the manifest cannot be read, delete only the segments of this writer, which have numbers from `first` on.
    """
    try:
        manifest = manifest_at(index_folder, stamp_of(str(index_folder / MANIFEST)))
        named = {Path(segment.folder).name for segment in manifest.segments}
    except IndexNotFoundError:
        named = set()
    except IndexStoreError:
        named = {path.name for path in _segments(index_folder) if int(path.name) < first}
    else:
        for path in index_folder.glob("generation-*"):
            shutil.rmtree(path, ignore_errors=True)
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
        numbers = [(row.copy_key, row.shape_key, file_id, KINDS.index(row.kind), row.flags) for row in rows]
        self._rows += np.array(numbers, ROW).tobytes()
        self._store.add_file(record, rows, members)
