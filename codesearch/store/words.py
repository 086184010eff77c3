"""Words of files <-> the files that have a word. `usages` reads only those, and they say how much a name is used.

    words.npy   uint64 [W] ascending: checksum of a word * 2^32 + file_id, once for each word of a file

A word is a run of ASCII letters, digits and underscores; a name with other letters has the parts between them. Some
file may seem to have a word that shares its checksum (CRC-32) with another one.
"""

from __future__ import annotations

import string
from pathlib import Path
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from codesearch.store.arrays import create_array, load_array
from codesearch.store.sorting import RunSorter

WORDS = "words.npy"
LETTERS = string.ascii_letters + string.digits + "_"
_SPACED = bytes(byte if chr(byte) in LETTERS else ord(" ") for byte in range(256))
_HALF = np.uint64(32)


def words_of(text: bytes) -> set[bytes]:
    """Return the distinct words of a text.

    >>> sorted(words_of("self.übergabe(in_file)".encode()))
    [b'bergabe', b'in_file', b'self']
    """
    return set(text.translate(_SPACED).split())


def checksums_of(text: bytes) -> NDArray[np.uint32]:
    """Return the checksums of the distinct words of a text: uint32 [W]."""
    return np.fromiter(map(crc32, words_of(text)), np.uint32)


class WordsWriter:
    """Collects the words of files in any order."""

    def __init__(self, segment: Path) -> None:
        self._path = segment / WORDS
        self._words = RunSorter(segment)

    def add(self, checksums: NDArray[np.uint32], file_id: int) -> None:
        """Add the words of a file."""
        self._words.add(checksums.astype(np.uint64) << _HALF | np.uint64(file_id))

    def keep(self, reader: WordsReader, new_ids: NDArray[np.int64]) -> None:
        """Copy the words of another segment; `new_ids` [F_old] has the new id of each file, or -1 to drop it."""
        file_ids = new_ids[reader.words.astype(np.uint32)]
        kept = file_ids >= 0
        self._words.add(reader.words[kept] >> _HALF << _HALF | file_ids[kept].astype(np.uint64))

    def write(self) -> None:
        """Write all words."""
        with create_array(self._path, np.uint64, (len(self._words),)) as file:
            for words in self._words.ascending():
                file.write(words.data)
        self.close()

    def close(self) -> None:
        """Delete the scratch file."""
        self._words.close()


class WordsReader:
    """Finds files by bisection."""

    def __init__(self, segment: Path, root: str) -> None:
        self.words: NDArray[np.uint64] = load_array(segment / WORDS, root)

    def files_with(self, word: bytes) -> NDArray[np.uint32]:
        """Return the file_ids of the files with a word, ascending."""
        first = crc32(word) << 32
        bounds = self.words.searchsorted(np.array([first, first + (1 << 32) - 1], np.uint64), "left")
        return self.words[slice(*bounds.tolist())].astype(np.uint32)
