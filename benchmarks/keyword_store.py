"""BM25F postings against SQLite's FTS5 on one index's own texts: time a query, disk (ADR 003).

FTS5 gets the same terms in the same fields, with the same field weights. Also how long the store's rows take to
write through `sqlite3` and through `sqlite-utils`, where that is installed.
"""

from __future__ import annotations

import argparse
import sqlite3
import tempfile
import time
from pathlib import Path

from benchmarks.record import median_ms, record
from codesearch.analysis.terms import FIELDS, document_terms, query_terms
from codesearch.config import RankConfig
from codesearch.home import default_home
from codesearch.index.catalogue import choose_indexes
from codesearch.index.reader import IndexReader
from codesearch.parsing.extract import extract
from codesearch.parsing.languages import language_named
from codesearch.search.lexical import LexicalScorer
from codesearch.segments.postings import POSTINGS

QUERIES = (
    "convert int to string",
    "read file line by line",
    "sort a list of strings",
    "escape html",
    "parse json response",
    "priority queue",
    "encrypt aes ctr mode",
    "get current date",
)


def main() -> None:
    """Measure the index of one root."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path)
    parser.add_argument("--home", type=Path, default=Path(default_home()))
    arguments = parser.parse_args()
    (entry,) = choose_indexes(arguments.home, roots=[arguments.root], everything=False, here=Path())
    index = IndexReader.open(entry.folder)
    with tempfile.TemporaryDirectory() as folder:
        record("keyword_store", {**_queries(index, Path(folder)), **_writes(index, Path(folder))})


def _queries(index: IndexReader, folder: Path) -> dict[str, float]:
    path = folder / "fts.sqlite"
    connection = sqlite3.connect(path)
    connection.execute(
        f"CREATE VIRTUAL TABLE terms USING fts5({', '.join(FIELDS)}, content='', tokenize='ascii')"
    )
    connection.executemany(
        f"INSERT INTO terms (rowid, {', '.join(FIELDS)}) VALUES ({','.join('?' * (len(FIELDS) + 1))})",
        _rows(index),
    )
    connection.commit()
    scorer = LexicalScorer(index.postings, RankConfig())
    weights = ", ".join(str(weight) for weight in RankConfig().field_weights)
    statement = f"SELECT rowid FROM terms WHERE terms MATCH ? ORDER BY bm25(terms, {weights}) LIMIT 1000"
    fts, own = [], []
    for query in QUERIES:
        terms = query_terms(query)
        match = " OR ".join(f'"{term}"' for term in terms)
        fts.append(median_ms(lambda match=match: connection.execute(statement, (match,)).fetchall(), 5))
        own.append(median_ms(lambda terms=terms: scorer.scores(terms), 5))
    postings = index.generation / POSTINGS
    return {
        "documents": index.manifest.documents,
        "postings_ms": sorted(own)[len(own) // 2],
        "fts5_ms": sorted(fts)[len(fts) // 2],
        "postings_mb": round(sum(file.stat().st_size for file in postings.iterdir()) / 1e6, 1),
        "fts5_mb": round(path.stat().st_size / 1e6, 1),
    }


def _rows(index: IndexReader) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []
    for file in index.files:
        spec = language_named(file.language)
        if spec is None or not file.doc_count:
            continue
        for document in extract((index.root / file.path).read_bytes(), file.path, spec).documents:
            fields = (" ".join(counts.elements()) for counts in document_terms(document))
            rows.append((len(rows), *fields))
    return rows


def _writes(index: IndexReader, folder: Path) -> dict[str, float]:
    rows = index.store.document_rows(0, index.manifest.documents)
    connection = sqlite3.connect(folder / "plain.sqlite")
    connection.execute("CREATE TABLE documents (a, b, c, d, e, f, g, h, i, j)")
    started = time.perf_counter()
    connection.executemany("INSERT INTO documents VALUES (?,?,?,?,?,?,?,?,?,?)", rows)
    connection.commit()
    found = {"sqlite3_insert_s": round(time.perf_counter() - started, 2)}
    try:
        import sqlite_utils
    except ModuleNotFoundError:
        return found
    database = sqlite_utils.Database(folder / "utils.sqlite")
    started = time.perf_counter()
    database["documents"].insert_all(dict(zip("abcdefghij", row, strict=True)) for row in rows)
    found["sqlite_utils_insert_s"] = round(time.perf_counter() - started, 2)
    return found


if __name__ == "__main__":
    main()
