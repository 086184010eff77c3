"""The collections in Milvus, and every call to the server.

    PREFIX_documents    one row per document
    PREFIX_passages     one row per passage of a long document
    PREFIX_terms        one row per term and shard: how many documents have the term
    PREFIX_roots        one row per indexed folder, and one per shard with its statistics

In the row of a document, `terms` holds the exact counts that BM25F needs, one line for each field: its length, then its
terms, each with its frequency if that is not 1. `text` repeats each term by its frequency and the weight of its field;
the server ranks it with BM25.

    2 shutil rmtree
    5 path ignor:2 error onerror

A shard is the part of the roots that one worker indexes. Each worker writes only the statistics of its own shard, so
two workers never write one row. The sums over all shards are the statistics of the collection.
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, TypeVar, get_type_hints

import numpy as np
from numpy.typing import NDArray

from codesearch.errors import BackendError, MissingExtraError
from codesearch.store.database import DocumentRow
from codesearch.store.manifest import FORMAT_VERSION
from codesearch.store.snapshot import average_lengths

T = TypeVar("T")
MAX_TEXT = 65_535
"""Bytes that Milvus stores in one field."""
MAX_PATH = 4_096
_LOCAL = {"kind", "start_byte", "end_byte", "shape_key"}
STORED = {name: kind for name, kind in get_type_hints(DocumentRow).items() if name not in _LOCAL}
"""Fields of a stored document that a row has as they are -> their types. `kind` is a number in a row."""
_HNSW = {"index_type": "HNSW", "metric_type": "COSINE", "params": {"M": 16, "efConstruction": 200}}
_LEAST_EF = 400
_WRITTEN_AT_ONCE = 500
_READ_AT_ONCE = 10_000
_ID = 64
LINES = ("first", "last")
"""Fields with the lines of a passage."""
ROOT, SHARD = "root:", "shard:"
"""What the keys in the collection of roots begin with."""
_MADE = "collections"
"""Key of the row of the collection of roots that says what the collections were made with."""
UNUSED = [0.0, 0.0]
"""The vector of rows that need none."""


@dataclass(frozen=True, slots=True)
class Connection:
    """Where the collections are."""

    uri: str
    token: str = ""  # "user:password" or an API key.
    prefix: str = "codesearch"  # Begins the names of the collections, so that a server can hold several.
    timeout_s: float = 30.0  # Of each call.


class MilvusStore:
    """Reads and writes the collections. Each method raises `BackendError` with one line if the server fails."""

    def __init__(self, connection: Connection) -> None:
        try:
            import grpc
            import pymilvus
        except ImportError:
            raise MissingExtraError("pymilvus") from None
        # pymilvus logs tracebacks of errors that it raises.
        logging.getLogger("pymilvus").setLevel(logging.CRITICAL)
        self._milvus = pymilvus
        self._failures = (pymilvus.MilvusException, grpc.RpcError, grpc.FutureTimeoutError, OSError)
        self.connection = connection
        self._model: dict[str, Any] | None = None
        self.documents, self.passages, self.terms, self.roots = (
            f"{connection.prefix}_{name}" for name in ("documents", "passages", "terms", "roots")
        )

    @cached_property
    def _client(self) -> Any:  # noqa: ANN401 - no types.
        at = self.connection
        return self._milvus.MilvusClient(uri=at.uri, token=at.token, timeout=at.timeout_s)

    def close(self) -> None:
        """Close the connection; the next call opens it again."""
        if client := self.__dict__.pop("_client", None):
            client.close()

    def prepare(self, model: Mapping[str, Any]) -> None:
        """Create the collections if they do not exist, else check that they fit the model and this version."""
        if self._made_with() is not None:
            self.check_model(model["id"], model["name"])
            return
        about = {key: model[key] for key in ("id", "name", "dim")}
        made = {"format": FORMAT_VERSION, "model": about}
        words = {"index_type": "SPARSE_INVERTED_INDEX", "metric_type": "BM25"}
        by_value = dict.fromkeys(("root", "name_key", "language", "kind"), _BY_VALUE)
        vector = ("vector", "FLOAT_VECTOR", {"dim": int(model["dim"])})
        self._create(
            self.documents, (*_DOCUMENT_FIELDS, vector), {"vector": _HNSW, "sparse": words, **by_value}
        )
        by_value = dict.fromkeys(("document", "root", "language", "kind"), _BY_VALUE)
        self._create(self.passages, (*_PASSAGE_FIELDS, vector), {"vector": _HNSW, **by_value})
        self._create(self.terms, _TERM_FIELDS, {**_UNUSED_INDEX, "term": _BY_VALUE, "shard": _BY_VALUE})
        self._create(self.roots, _ROOT_FIELDS, {**_UNUSED_INDEX, "shard": _BY_VALUE})
        self.write(self.roots, [about_row(_MADE, "", made)])

    def check(self) -> dict[str, Any]:
        """Return the model that the collections were made with; raise BackendError if they cannot be used."""
        if self._model is None:
            names, made = f"collections {self.connection.prefix}_*", self._made_with()
            if made is None:
                cure = "run `codesearch index --backend milvus` first"
                raise BackendError(f"{self.connection.uri} has no {names}", cure)
            if made["format"] != FORMAT_VERSION:
                problem = f"{names} have format {made['format']}, expected {FORMAT_VERSION}"
                raise BackendError(problem, "index again with another --prefix")
            self._model = dict(made["model"])
        return self._model

    def check_model(self, model_id: str, name: str) -> None:
        """Raise BackendError if the collections were made with another model."""
        made = self.check()
        if made["id"] != model_id:
            theirs, ours = f"{made['name']} ({made['id']})", f"{name} ({model_id})"
            problem = f"collections {self.connection.prefix}_* were made with model {theirs}, not with {ours}"
            raise BackendError(problem, "give that --model, or another --prefix")

    def _made_with(self) -> dict[str, Any] | None:
        """Return what the collections were made with; None if they are absent or not complete."""
        if not self._request("has_collection", self.roots):
            return None
        rows = self.get(self.roots, [_MADE], ("about",))
        made: dict[str, Any] | None = json.loads(rows[0]["about"]) if rows else None
        return made

    def _create(self, name: str, fields: _Fields, indexes: Mapping[str, Mapping[str, Any]]) -> None:
        """Create a collection with the fields and their indexes; the server ranks a field `text` with BM25."""
        milvus = self._milvus
        schema = milvus.MilvusClient.create_schema(auto_id=False)
        for field, kind, options in fields:
            schema.add_field(field, getattr(milvus.DataType, kind), **options)
            if field == "text":
                bm25 = milvus.FunctionType.BM25
                schema.add_function(milvus.Function("bm25", bm25, ["text"], ["sparse"]))
        prepared = milvus.MilvusClient.prepare_index_params()
        for field, index in indexes.items():
            prepared.add_index(field, **index)
        try:
            self._request("create_collection", name, schema=schema, consistency_level="Strong")
            # Without `sync=False`, the client sleeps for half a second after each index, also of no rows.
            self._request("create_index", name, index_params=prepared, sync=False)
            self._request("load_collection", name)
        except BackendError:
            # Another worker may have created it at the same time.
            if not self._request("has_collection", name):
                raise

    def write(self, collection: str, rows: Iterable[dict[str, Any]]) -> int:
        """Insert rows, or replace those with the same key; return how many."""
        return self._in_batches("upsert", collection, "data", rows)

    def delete(self, collection: str, keys: Iterable[str]) -> int:
        """Delete rows by their keys; return how many were named."""
        return self._in_batches("delete", collection, "ids", keys)

    def _in_batches(self, method: str, collection: str, name: str, values: Iterable[object]) -> int:
        source, count = iter(values), 0
        while batch := list(islice(source, _WRITTEN_AT_ONCE)):
            self._request(method, collection, **{name: batch})
            count += len(batch)
        return count

    def read(self, collection: str, condition: str, fields: Sequence[str]) -> Iterator[dict[str, Any]]:
        """Yield some fields of all rows that match a condition."""
        asked = {"filter": condition, "output_fields": list(fields), "batch_size": _READ_AT_ONCE}
        iterator = self._request("query_iterator", collection, **asked)
        try:
            while rows := self._call(iterator.next):
                yield from rows
        finally:
            iterator.close()

    def count(self, collection: str, condition: str) -> int:
        """Count the rows that match a condition."""
        rows = self._request("query", collection, filter=condition, output_fields=["count(*)"])
        return int(rows[0]["count(*)"])

    def get(self, collection: str, keys: Sequence[str], fields: Sequence[str]) -> list[dict[str, Any]]:
        """Return some fields of the rows with these keys."""
        if not keys:
            return []
        return list(self._request("get", collection, ids=list(keys), output_fields=list(fields)))

    def totals(self) -> tuple[int, NDArray[np.float64]]:
        """Return the number of documents and the mean length of each field."""
        rows = self.read(self.roots, f'id like "{SHARD}%"', ("about",))
        shards = [json.loads(row["about"]) for row in rows]
        if not shards:
            cure = "wait until the first shard is indexed"
            raise BackendError(f"collection {self.documents} has no statistics yet", cure)
        sums, counts = ([shard[name] for shard in shards] for name in ("field_sums", "field_counts"))
        return sum(shard["documents"] for shard in shards), average_lengths(sums, counts)

    def frequencies(self, terms: Sequence[str]) -> Counter[str]:
        """Return how many documents of the collection have each term."""
        counts: Counter[str] = Counter()
        if terms:
            for row in self.read(self.terms, f"term in {quoted(list(terms))}", ("term", "documents")):
                counts[row["term"]] += row["documents"]
        return counts

    def search(self, field: str, data: object, count: int, condition: str) -> list[str]:
        """Return the ids of the best documents: in `vector` for a vector, in `sparse` for a text, by BM25."""
        return self._search(self.documents, "id", field, data, count, condition)

    def search_passages(self, vector: Sequence[float], count: int, condition: str) -> list[str]:
        """Return the ids of the documents of the passages that are most similar to a vector."""
        return self._search(self.passages, "document", "vector", vector, count, condition)

    def _search(
        self, collection: str, output: str, field: str, data: object, count: int, condition: str
    ) -> list[str]:
        by_vector = {"metric_type": "COSINE", "params": {"ef": max(_LEAST_EF, count)}}
        (hits,) = self._request(
            "search",
            collection,
            data=[data],
            anns_field=field,
            limit=count,
            filter=condition,
            search_params=by_vector if field == "vector" else {"metric_type": "BM25"},
            output_fields=[output],
        )
        return [hit["entity"][output] for hit in hits]

    def _request(self, method: str, *arguments: object, **options: object) -> Any:  # noqa: ANN401 - no types.
        """Call a method of the client, which may take `Connection.timeout_s`."""
        timeout = self.connection.timeout_s
        return self._call(lambda: getattr(self._client, method)(*arguments, timeout=timeout, **options))

    def _call(self, work: Callable[[], T]) -> T:
        try:
            try:
                return work()
            except self._milvus.MilvusException as error:
                if "load" not in str(error):
                    raise
                self._load()
                return work()
        except self._failures as error:
            uri = self.connection.uri
            reason = " ".join(str(getattr(error, "message", "") or error).split())[:300]
            cure = "check that it runs and that --uri is right"
            raise BackendError(f"Milvus at {uri} failed ({reason})", cure) from None

    def _load(self) -> None:
        """Make the server serve the collections; one that was restarted may not do so."""
        for name in (self.documents, self.passages, self.terms, self.roots):
            self._client.load_collection(name, timeout=self.connection.timeout_s)


_Fields = Sequence[tuple[str, str, dict[str, Any]]]


def _text(name: str, max_length: int = MAX_TEXT, **options: object) -> tuple[str, str, dict[str, Any]]:
    return name, "VARCHAR", {"max_length": max_length, **options}


_ANALYZED: dict[str, Any] = {"enable_analyzer": True, "analyzer_params": {"tokenizer": "standard"}}
_ALL_FIELDS: _Fields = (
    _text("id", 2 * _ID, is_primary=True),
    _text("digest", _ID),
    _text("root", MAX_PATH),
    _text("path", MAX_PATH),
    _text("language", 64),
    ("kind", "INT64", {}),
)
"""Fields of a document and of a passage; filters read the last four."""
_PASSAGE_FIELDS: _Fields = (
    *_ALL_FIELDS,
    _text("document", _ID),
    *((name, "INT64", {}) for name in LINES),
    _text("signature", 64),
)
_DOCUMENT_FIELDS: _Fields = (
    *_ALL_FIELDS,
    ("place", "INT64", {}),
    _text("name_key", MAX_PATH),
    *(_text(name) if kind is str else (name, "INT64", {}) for name, kind in STORED.items()),
    _text("terms"),
    _text("code"),
    _text("text", **_ANALYZED),
    ("sparse", "SPARSE_FLOAT_VECTOR", {}),
)
# Milvus wants a vector in each collection.
_UNUSED_FIELD = ("unused", "FLOAT_VECTOR", {"dim": 2})
_UNUSED_INDEX = {"unused": {"index_type": "FLAT", "metric_type": "L2"}}
_BY_VALUE = {"index_type": "INVERTED"}
_TERM_FIELDS: _Fields = (
    _text("id", 256, is_primary=True),
    _text("term", 200),
    _text("shard", _ID),
    ("documents", "INT64", {}),
    _UNUSED_FIELD,
)
_ROOT_FIELDS: _Fields = (
    _text("id", MAX_PATH + 8, is_primary=True),
    _text("shard", _ID),
    _text("about"),
    _UNUSED_FIELD,
)


def about_row(key: str, shard: str, about: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of the collection of roots."""
    return {"id": key, "shard": shard, "about": json.dumps(about), "unused": UNUSED}


def quoted(value: str | list[str]) -> str:
    r"""Return a string, or a list of strings, as Milvus writes it in a condition.

    >>> quoted('a"b\\c')
    '"a\\"b\\\\c"'
    """
    return json.dumps(value, ensure_ascii=False)
