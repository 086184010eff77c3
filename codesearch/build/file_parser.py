"""One source file -> everything that an index stores of it. This runs in worker processes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from struct import pack
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from codesearch.config import IndexConfig, ParseConfig
from codesearch.languages import language_named, language_of_source
from codesearch.languages.records import Language
from codesearch.parsing.decoding import NOTEBOOK, decoded
from codesearch.parsing.identifiers import spaced_lines
from codesearch.parsing.walker import UNREADABLE, SourceFile, refuse_content
from codesearch.store.arrays import NO_PASSAGES
from codesearch.store.database import NO_CODE, DocumentRow, FileRecord, document_row
from codesearch.store.digest import content_digest
from codesearch.store.manifest import ONLY_BLOCKS, PARTLY_BLOCKS
from codesearch.store.postings import PostingsBlock, checksums_of, make_block
from codesearch.text.terms import FIELDS, document_chunks, signature
from codesearch.text.tokenizer import SubtokenTokenizer, document_head, passage_head
from codesearch.treefiles import read_below
from codesearch.types import VENDORED, Document
from codesearch.visible import visible

if TYPE_CHECKING:
    from codesearch.parsing.extract import Extraction

_BODY = FIELDS.index("body")
TOO_COSTLY = "the {} parser crashed or takes too much time or memory: indexed as blocks"


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """The result of parsing one file."""

    record: FileRecord  # The file; `skipped` says why there are no documents, or only blocks.
    rows: list[DocumentRow]  # Documents in the form of the store.
    block: PostingsBlock  # Terms of the documents.
    tokens: list[bytes]  # The token ids of each document as bytes, which are faster to send than arrays.
    # Checksums of the words of the whole file: uint32 [W].
    words: NDArray[np.uint32] = field(default_factory=lambda: np.empty(0, np.uint32))
    # Document, first line, last line and signature of each passage: uint32 [P, 11].
    passages: NDArray[np.uint32] = field(default_factory=lambda: NO_PASSAGES)
    passage_tokens: Sequence[bytes] = ()  # The token ids of each passage.
    members: Sequence[DocumentRow] = ()  # What is only found by its name, in the form of the store.


@lru_cache(maxsize=1)
def tokenizer_at(path: Path) -> SubtokenTokenizer:
    """Load a tokenizer, or return the last one."""
    return SubtokenTokenizer.load(path)


@dataclass(frozen=True, slots=True)
class FileParser:
    """Parses files of one root for one model. It is sent to every worker process."""

    root: Path
    config: IndexConfig
    tokenizer: Path  # The model's `tokenizer.json`; each process reads it once.
    max_tokens: int
    vendored: tuple[str, ...] = ()  # Folders that are copies of other projects.

    def parse(self, file: SourceFile, *, is_plain: bool = False) -> ParsedFile | None:
        """Parse one file, or cut it into blocks without its parser; return None if it no longer exists."""
        # Only workers need a parser, and importing it takes a tenth of an update of one file.
        from codesearch.parsing.extract import extract_as
        from codesearch.parsing.sections import refuse_text

        try:
            content, _ = read_below(self.root, file.path, self.config.walk)
        except FileNotFoundError:
            return None
        except OSError as error:
            warning = f"{file.path}: {error.strerror}: left out"
            return skipped_file(file, UNREADABLE, warning=warning)
        digest, source = content_digest(content), decoded(content, file.path)
        spec = language_named(file.language)
        if spec is None:
            raise ValueError(f"unknown language {file.language}")
        spec = language_of_source(spec, file.path, source)
        is_empty = not source and file.path.lower().endswith(NOTEBOOK)
        reason = "notebook" if is_empty else refuse_content(source, spec.name, self.config.parse)
        reason = reason or refuse_text(source, file.path, spec)
        if reason:
            return skipped_file(file, reason, digest=digest)
        read, skipped = (_extract_blocks, ONLY_BLOCKS) if is_plain else (extract_as, "")
        extraction = read(source, file.path, spec, self.config.parse)
        if extraction.is_partial:
            skipped = PARTLY_BLOCKS
        elif not extraction.documents and source.strip():
            skipped = NO_CODE
        warnings = "\n".join(map(visible, extraction.warnings))
        record = FileRecord(
            file.path, spec.name, len(content), digest, 0, 0, skipped, warnings, extraction.summary
        )
        return self._parsed(record, source, extraction)

    def _parsed(self, record: FileRecord, source: bytes, extraction: Extraction) -> ParsedFile:
        """Return what an index stores of a file and of the documents and members in it."""
        documents = extraction.documents
        if record.path.startswith(self.vendored):
            documents = [replace(document, flags=document.flags | VENDORED) for document in documents]
        fields = list(map(document_chunks, documents))
        tokenizer = tokenizer_at(self.tokenizer)
        tokens = [
            tokenizer.encode_split(document_head(document), document.code, chunks[_BODY], self.max_tokens)
            for document, chunks in zip(documents, fields, strict=True)
        ]
        tag = tokenizer.encode_document("", 0, record.language).tobytes()
        passages, passage_tokens = self._passages(documents, source, extraction.depths)
        return ParsedFile(
            record=record,
            rows=list(map(document_row, documents)),
            block=make_block(fields),
            words=checksums_of(source),
            tokens=[tag + ids for ids in tokens],
            passages=np.frombuffer(b"".join(passages), "<u4").reshape(-1, NO_PASSAGES.shape[1]),
            passage_tokens=[tag + ids for ids in passage_tokens],
            members=list(map(document_row, extraction.members)) if documents else (),
        )

    def _passages(
        self, documents: Sequence[Document], source: bytes, depths: Mapping[int, int]
    ) -> tuple[list[bytes], list[bytes]]:
        """Return document, lines and signature of each passage of a file, and its token ids."""
        from codesearch.parsing.passages import lines_around, passages_of

        encode = tokenizer_at(self.tokenizer).encode_split
        text = source.decode("utf-8", "replace")
        lines = text.split("\n")
        cut = passages_of(documents, lines, depths, self.config.parse)
        spaced = spaced_lines(text) if any(cut) else []
        passages, tokens = list[bytes](), list[bytes]()
        for number, (document, spans) in enumerate(zip(documents, cut, strict=True)):
            head = passage_head(document) if spans else ""
            for first, last in spans:
                own = b" ".join(spaced[first - 1 : last]).split()
                passages.append(pack("<3I", number, first, last) + signature(own))
                above, below = lines_around(document, (first, last))
                code = "\n".join(lines[above.start : below.stop])
                chunks = [*b" ".join(spaced[above]).split(), *own, *b" ".join(spaced[below]).split()]
                tokens.append(encode(head, code, chunks, self.max_tokens))
        return passages, tokens


def _extract_blocks(source: bytes, path: str, spec: Language, config: ParseConfig) -> Extraction:
    from codesearch.parsing.blocks import block_documents
    from codesearch.parsing.extract import Extraction

    documents = list(block_documents(source, path, spec, config))
    return Extraction(documents, [f"{path}: {TOO_COSTLY.format(spec.name)}"])


def skipped_file(file: SourceFile, reason: str, *, digest: bytes = b"", warning: str = "") -> ParsedFile:
    """Return the result for a file without documents, with the reason."""
    record = FileRecord(
        file.path, file.language, file.size, digest, skipped=reason, warnings=visible(warning)
    )
    return ParsedFile(record, [], make_block([]), [])
