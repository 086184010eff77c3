"""A document -> the text that is embedded -> token ids, both in training and in search.

Identifiers are split into subtokens, and rare subtokens into byte-pair pieces.

The file is a `tokenizer.json` of the `tokenizers` library. Its model is a BPE with `##` before pieces that continue a
subtoken. Training and search use the same file.

A file with the marks `[CLS]` and `[SEP]` belongs to a pretrained sentence encoder. Such a tokenizer gets the whole
text, and the ids of the two marks enclose the result.
"""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from codesearch.memo import Memo
from codesearch.parsing.identifiers import chunks, subtokens
from codesearch.text.bundle import damaged
from codesearch.types import Document

if TYPE_CHECKING:
    from tokenizers import Tokenizer

TokenIds = NDArray[np.uint32]
PAD, UNKNOWN = "[PAD]", "[UNK]"
START, END = "[CLS]", "[SEP]"
PAD_ID = 0
CONTINUATION = "##"
_WHOLE_WORDS = re.compile(r'"ignore_merges":\s*true')
_NUMBER = re.compile(r"\s*\d+")
_ID_BYTES = 4
_FEW = 16  # Number of words that are looked up in the text of a vocabulary before all of it is parsed
_MAX_DOCSTRING_CHARS = 600
_PLACE_PARTS = 2
_REMEMBERED = 200_000  # Number of distinct words whose ids are cached
_MAX_CHARS = 64
"""Maximum length of a token with the white space before it. A text is cut to this many characters per token."""


def document_text(document: Document) -> str:
    """Return the text of a document, as `join_fields` makes it."""
    return f"{document_head(document)}\n{document.code}"


def document_head(document: Document) -> str:
    """Return the text of a document without its code."""
    return _head(document.qualified_name, document.docstring, document.path, document.context)


def passage_head(document: Document) -> str:
    """Return what the text of a passage has before its lines: the place and the name of its document."""
    return _head(document.qualified_name, "", document.path, "")


def join_fields(qualified_name: str, docstring: str, code: str, *, path: str = "", context: str = "") -> str:
    """Join place, qualified name, context, docstring and code; code comes last, because the end may be cut.

    >>> join_fields("Session.close", "End it.", "", path="src/net/session.py").splitlines()
    ['net session Session.close', 'End it.']
    """
    return f"{_head(qualified_name, docstring, path, context)}\n{code}"


def _head(qualified_name: str, docstring: str, path: str, context: str) -> str:
    # Short code without documentation often names its topic only in its last folder and the stem of its file.
    place = path.rsplit(".", 1)[0].split("/")[-_PLACE_PARTS:]
    name = " ".join(filter(None, (*place, qualified_name)))
    if context:
        name = f"{name}\n{context}"
    return f"{name}\n{docstring[:_MAX_DOCSTRING_CHARS]}"


class SubtokenTokenizer:
    """Maps text to ids. It caches the ids of each distinct word, so most words cost one dictionary look-up."""

    def __init__(self, open_tokenizer: Callable[[], Tokenizer], words: _Vocabulary | None = None) -> None:
        """Make a tokenizer."""
        self._open_tokenizer = open_tokenizer
        self._words = words
        self._ids: Memo[bytes, bytes] = Memo(self._ids_of, _REMEMBERED)
        self._marks: tuple[int, int] | None = None
        if not self._words:
            start, end = (self._tokenizer.token_to_id(mark) for mark in (START, END))
            self._marks = None if start is None or end is None else (start, end)

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        return self._open_tokenizer()

    @classmethod
    def load(cls, path: Path) -> SubtokenTokenizer:
        """Read a `tokenizer.json`."""
        return cls(partial(_open, path), _whole_words(path))

    def save(self, path: Path) -> None:
        """Write the `tokenizer.json`."""
        path.write_text(self._tokenizer.to_str(pretty=True), "utf-8")

    @property
    def vocabulary_size(self) -> int:
        """Count the tokens, including the padding token and the unknown token."""
        return int(self._tokenizer.get_vocab_size())

    def encode(self, text: str, max_tokens: int) -> TokenIds:
        """Return the first ids of a text without padding: uint32 [T], T <= max_tokens; T is 0 if it has no tokens."""
        if self._marks is None:
            return np.frombuffer(self._first_ids(chunks(text), max_tokens), np.uint32)
        start, end = self._marks
        ids = self._tokenizer.encode(text[: max_tokens * _MAX_CHARS], add_special_tokens=False).ids
        return np.array([start, *ids[: max_tokens - 2], end] if ids else [], dtype=np.uint32)

    def encode_document(self, text: str, max_tokens: int, language: str) -> TokenIds:
        """Return the first ids of a document; the id of its language comes first if the vocabulary has one."""
        ids = self.encode(text, max_tokens)
        tag = self.language_id(language)
        return ids if tag is None else np.insert(ids, 0, tag)

    def encode_split(self, head: str, code: str, code_chunks: Sequence[bytes], max_tokens: int) -> bytes:
        """Return the first ids of a head and code, of which the chunks are known, as bytes."""
        if self._marks:
            return self.encode(f"{head}\n{code}", max_tokens).tobytes()
        return self._first_ids([*chunks(head), *code_chunks], max_tokens)

    def language_id(self, language: str) -> int | None:
        """Return the id of a language; only tokenizers of bundles with several document graphs have such ids."""
        tag = f"[{language}]"
        found: int | None = self._words.get(tag) if self._words else self._tokenizer.token_to_id(tag)
        return found

    def add_languages(self, languages: Iterable[str]) -> None:
        """Add an id for each language after all other ids."""
        self._tokenizer.add_special_tokens([f"[{language}]" for language in languages])
        self._words = None  # It does not contain the new marks.

    def _first_ids(self, chunks: Sequence[bytes], max_tokens: int) -> bytes:
        """Return the first ids of some chunks."""
        size, ids = _ID_BYTES * max_tokens, b""
        for start in range(0, len(chunks), max_tokens or 1):  # Few chunks have no ids.
            ids += b"".join(map(self._ids.__getitem__, chunks[start : start + max_tokens]))
            if len(ids) >= size:
                break
        return ids[:size]

    def _ids_of(self, chunk: bytes) -> bytes:
        """Return the ids of the subtokens of a chunk."""
        ids: list[int] = []
        for subtoken in subtokens(chunk.decode()):
            whole = self._words.get(subtoken) if self._words else None
            ids += (
                self._tokenizer.encode(subtoken, add_special_tokens=False).ids if whole is None else (whole,)
            )
        return array("I", ids).tobytes()


def padded(texts: Sequence[TokenIds]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the ids of texts as one array with padding last, and a mask with 1 for each id: int64 [B, T] each."""
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    mask = np.arange(lengths.max()) < lengths[:, None]
    ids = np.full(mask.shape, PAD_ID, np.int64)
    ids[mask] = np.concatenate(texts)
    return ids, mask.astype(np.int64)


def _open(path: Path) -> Tokenizer:
    from tokenizers import Tokenizer

    try:
        return Tokenizer.from_file(str(path))
    except Exception as error:  # The library raises a plain `Exception`.
        raise damaged(f"{path}: not a tokenizer ({error})") from None


class _Vocabulary:
    """The ids of whole words. The first few are looked up in the text of the file: parsing it takes 10 ms."""

    def __init__(self, text: str, added: Mapping[str, int]) -> None:
        self._text, self._added, self._left = text, added, _FEW
        self._ids: Mapping[str, int] = {}

    def get(self, word: str) -> int | None:
        """Return the id of a word; None if it is not in the vocabulary."""
        if self._left and word.isascii():
            self._left -= 1
            _, named, rest = self._text.partition(f'"{word}":')
            found = _NUMBER.match(rest) if named else None
            return int(found[0]) if found else self._added.get(word)
        if not self._ids:
            self._left, self._ids = 0, json.JSONDecoder().raw_decode(self._text)[0] | self._added
        return self._ids.get(word)


def _whole_words(path: Path) -> _Vocabulary | None:
    """Read the vocabulary of a BPE that keeps known words whole (`ignore_merges`); return None for any other file.

    The merges come after the vocabulary. Most of the file and of its reading time is merges, so they are not parsed.
    """
    try:
        head, _, rest = path.read_text("utf-8").partition('"vocab":')
        if not _WHOLE_WORDS.search(head):
            return None
        added = json.JSONDecoder().raw_decode(head.partition('"added_tokens":')[2].lstrip())[0]
        return _Vocabulary(rest.lstrip(), {token["content"]: token["id"] for token in added})
    except (OSError, ValueError, KeyError, TypeError):  # `_open` reads the whole file and reports the error.
        return None
