"""An index -> vectors of a larger encoder, made after it is committed and kept by text digest.

    <home>/cache/<larger model id>.sqlite   text digest -> vector, the same file as `cache` makes for any model
    <home>/cache/upgrade.lock               held by the one process that makes them
    <index folder>/upgrade                  asks for them; names the last generation that has all, and the model

The digest is that of the first encoder's ids of a document: texts between which it sees no difference share one
second vector, made of the one that comes first. A vector is of use as soon as its batch is written, so a process that
dies loses one batch, and a tree that is indexed again keeps the vectors of all texts that are the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice

from codesearch.config import ParseConfig
from codesearch.encoding.encoder import Encoder
from codesearch.encoding.text import document_text
from codesearch.index.cache import VectorCache
from codesearch.index.digest import content_digest
from codesearch.index.reader import IndexReader
from codesearch.index.store import FileRecord
from codesearch.index.vectors import quantize
from codesearch.parsing.extract import extract
from codesearch.parsing.languages import language_named
from codesearch.types import Document

_BATCH = 64


@dataclass(frozen=True, slots=True)
class UpgradeProgress:
    """How many documents of an index have a vector of the larger encoder, out of how many."""

    done: int
    total: int

    @property
    def percent(self) -> int:
        """Share of the documents, rounded down, so that 100 means all."""
        return 100 * self.done // self.total if self.total else 100


def progress(index: IndexReader, cache: VectorCache) -> UpgradeProgress:
    """Count the documents whose text has a vector."""
    documents = Counter(index.store.text_digests())
    return _progress(documents, cache.known(list(documents)))


def _progress(documents: Counter[bytes], known: Iterable[bytes]) -> UpgradeProgress:
    return UpgradeProgress(sum(documents[digest] for digest in known), documents.total())


def upgrade(
    index: IndexReader,
    cache: VectorCache,
    encoder: Encoder,
    *,
    on_progress: Callable[[UpgradeProgress], None] = lambda _: None,
    goes_on: Callable[[], bool] = lambda: True,
    only: Container[bytes] | None = None,
) -> UpgradeProgress:
    """Embed what has no vector yet, batch after batch; return how far it came.

    Files that changed since they were indexed are left for the next update of the index.

    Args:
        index: what to embed the documents of.
        cache: the vectors of the larger encoder.
        encoder: the larger encoder.
        on_progress: told after each batch.
        goes_on: asked before each batch.
        only: digests of the texts that matter; all where None.
    """
    documents = Counter(index.store.text_digests())
    known = cache.known(list(documents))
    wanted = {digest for digest in documents if digest not in known and (only is None or digest in only)}
    done = _progress(documents, known)
    texts = _texts(index, wanted)
    while goes_on() and (batch := list(islice(texts, _BATCH))):
        tokens = [
            encoder.tokenizer.encode_document(text, encoder.max_document_tokens, language)
            for _, text, language in batch
        ]
        made = [digest for digest, _, _ in batch]
        cache.add(made, *quantize(encoder.encode_documents(tokens)))
        done = replace(done, done=done.done + sum(documents[digest] for digest in made))
        on_progress(done)
    return done


def _texts(index: IndexReader, wanted: set[bytes]) -> Iterator[tuple[bytes, str, str]]:
    """Yield (digest, text, language) of each text that is wanted, once."""
    waiting = set(wanted)
    for file in index.files:
        rows = index.store.document_rows(file.first_doc, file.doc_count)
        if waiting.isdisjoint(row[-1] for row in rows):
            continue
        for row, document in zip(rows, _documents(index, file), strict=False):
            digest = row[-1]
            if digest in waiting:
                waiting.remove(digest)
                yield digest, document_text(document), file.language


def _documents(index: IndexReader, file: FileRecord) -> list[Document]:
    """Parse a file once more; none where it is not what was indexed."""
    spec = language_named(file.language)
    try:
        source = (index.root / file.path).read_bytes()
    except OSError:
        return []
    if spec is None or content_digest(source) != file.digest:
        return []
    return extract(source, file.path, spec, ParseConfig()).documents
