"""The collections in Milvus, and every call to the server.

    PREFIX_documents    one row per document (see `rows`)
    PREFIX_terms        one row per term and shard: how many documents have the term
    PREFIX_roots        one row per indexed folder, and one per shard with its statistics

A shard is the part of the roots that one worker indexes. Each worker writes only the statistics of its own shard, so
two workers never write one row. The sums over all shards are the statistics of the collection.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar

from codesearch.errors import BackendError, MissingExtraError
from codesearch.milvus.rows import MAX_PATH, MAX_TEXT, STORED
from codesearch.store.manifest import FORMAT_VERSION

T = TypeVar("T")
INDEXES = {
    "hnsw": ("HNSW", {"M": 16, "efConstruction": 200}),
    "ivf_sq8": ("IVF_SQ8", {"nlist": 1024}),
}
"""Name of an index for vectors -> its type in Milvus and its parameters."""
_SEARCH_PARAMS: Mapping[str, Callable[[int], dict[str, int]]] = {
    "hnsw": lambda count: {"ef": max(400, count)},
    "ivf_sq8": lambda count: {"nprobe": 64},
}
_WRITTEN_AT_ONCE = 500
_READ_AT_ONCE = 10_000
_ID = 64
ROOT, SHARD = "root:", "shard:"
"""What the keys in the collection of roots begin with."""
_MADE = "collections"
"""Key of the row of the collection of roots that says what the collections were made with."""
UNUSED = [0.0, 0.0]
"""The vector of rows that need none."""


@dataclass(frozen=True, slots=True)
class Connection:
    """Where the collections are.

    Attributes:
        uri: address of the server, such as "http://localhost:19530".
        token: "user:password" or an API key; "" for none.
        prefix: begins the names of the collections, so that a server can hold several.
        index: index for vectors of a new collection, one of `INDEXES`.
        timeout_s: seconds that a call may take.
    """

    uri: str
    token: str = ""
    prefix: str = "codesearch"
    index: str = "hnsw"
    timeout_s: float = 30.0


class MilvusStore:
    """Reads and writes the collections. Each method raises `BackendError` with one line if the server fails."""

    def __init__(self, connection: Connection) -> None:
        """Connect."""
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
        self.documents, self.terms, self.roots = (
            f"{connection.prefix}_{name}" for name in ("documents", "terms", "roots")
        )
        self._client = self._call(
            lambda: pymilvus.MilvusClient(
                uri=connection.uri, token=connection.token, timeout=connection.timeout_s
            )
        )

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def prepare(self, model: Mapping[str, Any]) -> None:
        """Create the collections if they do not exist, else check that they fit the model and this version."""
        if self._made_with() is not None:
            self.check_model(self.check()["model"], model["id"], model["name"])
            return
        about = {key: model[key] for key in ("id", "name", "dim")}
        made = {"format": FORMAT_VERSION, "model": about, "index": self.connection.index}
        kind, params = INDEXES[self.connection.index]
        vector = {"index_type": kind, "metric_type": "COSINE", "params": params}
        words = {"index_type": "SPARSE_INVERTED_INDEX", "metric_type": "BM25"}
        by_value = dict.fromkeys(("root", "name_key", "language", "kind"), _BY_VALUE)
        fields = (*_DOCUMENT_FIELDS, ("vector", "FLOAT_VECTOR", {"dim": int(model["dim"])}))
        self._create(self.documents, fields, {"vector": vector, "sparse": words, **by_value})
        self._create(self.terms, _TERM_FIELDS, {**_UNUSED_INDEX, "term": _BY_VALUE, "shard": _BY_VALUE})
        self._create(self.roots, _ROOT_FIELDS, {**_UNUSED_INDEX, "shard": _BY_VALUE})
        self.write(self.roots, [about_row(_MADE, "", made)])

    def check(self) -> dict[str, Any]:
        """Return what the collections were made with: format, model, index."""
        made = self._made_with()
        if made is None:
            raise BackendError(
                f"{self.connection.uri} has no collections {self.connection.prefix}_*",
                "run `codesearch index --backend milvus` first",
            )
        if made["format"] != FORMAT_VERSION:
            raise BackendError(
                f"collections {self.connection.prefix}_* have format {made['format']}, expected {FORMAT_VERSION}",
                "index again with another --prefix",
            )
        return made

    def check_model(self, made: Mapping[str, Any], model_id: str, name: str) -> None:
        """Raise BackendError if `made`, the model of the collections, is another one."""
        if made["id"] != model_id:
            raise BackendError(
                f"collections {self.connection.prefix}_* were made with model {made['name']} ({made['id']}), not "
                f"with {name} ({model_id})",
                "give that --model, or another --prefix",
            )

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

        def create() -> None:
            try:
                self._client.create_collection(
                    name,
                    schema=schema,
                    index_params=prepared,
                    consistency_level="Strong",
                    timeout=self.connection.timeout_s,
                )
            except self._milvus.MilvusException:
                # Another worker may have created it at the same time.
                if not self._client.has_collection(name, timeout=self.connection.timeout_s):
                    raise

        self._call(create)

    def write(self, collection: str, rows: Iterable[dict[str, Any]]) -> int:
        """Insert rows, or replace those with the same key; return how many."""
        count = 0
        for batch in _batches(rows):
            self._request("upsert", collection, batch)
            count += len(batch)
        return count

    def delete(self, collection: str, keys: Iterable[str]) -> int:
        """Delete rows by their keys; return how many were named."""
        count = 0
        for batch in _batches(keys):
            self._request("delete", collection, ids=batch)
            count += len(batch)
        return count

    def read(self, collection: str, condition: str, fields: Sequence[str]) -> Iterator[dict[str, Any]]:
        """Yield some fields of all rows that match a condition."""
        iterator = self._request(
            "query_iterator",
            collection,
            filter=condition,
            output_fields=list(fields),
            batch_size=_READ_AT_ONCE,
        )
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

    def nearest(self, vector: Sequence[float], count: int, condition: str, index: str) -> list[str]:
        """Return the ids of the documents whose vectors are nearest to a query's, as the index finds them."""
        params = {"metric_type": "COSINE", "params": _SEARCH_PARAMS[index](count)}
        return self._search("vector", list(vector), count, condition, params)

    def best_by_words(self, text: str, count: int, condition: str) -> list[str]:
        """Return the ids of the documents with the best BM25 scores of the server."""
        return self._search("sparse", text, count, condition, {"metric_type": "BM25"})

    def _search(
        self, field: str, data: object, count: int, condition: str, params: Mapping[str, Any]
    ) -> list[str]:
        (hits,) = self._request(
            "search",
            self.documents,
            data=[data],
            anns_field=field,
            limit=count,
            filter=condition,
            search_params=dict(params),
        )
        return [hit["id"] for hit in hits]

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
            raise BackendError(
                f"Milvus at {uri} failed ({reason})", "check that it runs and that --uri is right"
            ) from None

    def _load(self) -> None:
        """Make the server serve the collections; one that was restarted may not do so."""
        for name in (self.documents, self.terms, self.roots):
            self._client.load_collection(name, timeout=self.connection.timeout_s)


_Fields = Sequence[tuple[str, str, dict[str, Any]]]
_DOCUMENT_FIELDS: _Fields = (
    ("id", "VARCHAR", {"is_primary": True, "max_length": _ID}),
    ("digest", "VARCHAR", {"max_length": _ID}),
    ("root", "VARCHAR", {"max_length": MAX_PATH}),
    ("path", "VARCHAR", {"max_length": MAX_PATH}),
    ("language", "VARCHAR", {"max_length": 64}),
    ("place", "INT64", {}),
    ("kind", "INT64", {}),
    ("name_key", "VARCHAR", {"max_length": MAX_PATH}),
    *(
        (name, "VARCHAR", {"max_length": MAX_TEXT}) if kind is str else (name, "INT64", {})
        for name, kind in STORED.items()
    ),
    ("terms", "VARCHAR", {"max_length": MAX_TEXT}),
    ("code", "VARCHAR", {"max_length": MAX_TEXT}),
    (
        "text",
        "VARCHAR",
        {"max_length": MAX_TEXT, "enable_analyzer": True, "analyzer_params": {"tokenizer": "standard"}},
    ),
    ("sparse", "SPARSE_FLOAT_VECTOR", {}),
)
# Milvus wants a vector in each collection.
_UNUSED_FIELD = ("unused", "FLOAT_VECTOR", {"dim": 2})
_UNUSED_INDEX = {"unused": {"index_type": "FLAT", "metric_type": "L2"}}
_BY_VALUE = {"index_type": "INVERTED"}
_TERM_FIELDS: _Fields = (
    ("id", "VARCHAR", {"is_primary": True, "max_length": 256}),
    ("term", "VARCHAR", {"max_length": 200}),
    ("shard", "VARCHAR", {"max_length": _ID}),
    ("documents", "INT64", {}),
    _UNUSED_FIELD,
)
_ROOT_FIELDS: _Fields = (
    ("id", "VARCHAR", {"is_primary": True, "max_length": MAX_PATH + 8}),
    ("shard", "VARCHAR", {"max_length": _ID}),
    ("about", "VARCHAR", {"max_length": MAX_TEXT}),
    _UNUSED_FIELD,
)


def about_row(key: str, shard: str, about: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of the collection of roots."""
    return {"id": key, "shard": shard, "about": json.dumps(about), "unused": UNUSED}


def _batches(values: Iterable[T]) -> Iterator[list[T]]:
    source = iter(values)
    while batch := list(islice(source, _WRITTEN_AT_ONCE)):
        yield batch


def quoted(value: str) -> str:
    r"""Return a string as Milvus writes it in a condition.

    >>> quoted('a"b\\c')
    '"a\\"b\\\\c"'
    """
    return json.dumps(value, ensure_ascii=False)
