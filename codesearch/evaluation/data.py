"""Files of questions and judgements, and what is read from them: JSON lines, packs of source files, and CSV files.

    annotations    Language,Query,GitHubUrl,Relevance,Notes    one judgement of one annotator per row, relevance 0 to 3
    pack           {"repo": .., "sha": .., "path": .., "text": ..}    one source file per line

A query is asked once for each language, so language and query together are its id. The suffix of JSON lines says if
they are plain, gzip or zstandard; damage is one error.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from codesearch.errors import ConfigError, MissingExtraError
from codesearch.languages import language_named

QueryId = tuple[str, str]
"""Group (usually a language) and text of a query."""
Qrels = dict[QueryId, dict[str, float]]
"""query_id -> doc_id -> grade."""
Run = dict[QueryId, list[str]]
"""query_id -> doc_ids, best first, without duplicates."""
QueryScores = dict[QueryId, dict[str, float]]
"""query_id -> metric -> score, higher is better."""
MAX_GRADE = 3.0
_URL = re.compile(r"https://github\.com/([^/]+/[^/]+)/blob/([0-9a-f]{40})/(.+)#L(\d+)-L(\d+)")
DAMAGED = (ValueError, OSError, EOFError, RecursionError, zlib.error)
"""Exceptions of `read_lines` and `json.loads` for a file that is damaged or is not JSON lines."""


def query_id(language: str, query: str) -> QueryId:
    """Make the id of a query; case and white space do not change it.

    >>> query_id("Python", " Sort  string list")
    ('python', 'sort string list')
    """
    return language.strip().lower(), " ".join(query.split()).lower()


def document_url(path: str, start_line: int, end_line: int) -> str:
    """Return the address of a document below `owner/name/commit/path`.

    >>> document_url("a/b/c0ffee/src/x.py", 3, 9)
    'https://github.com/a/b/blob/c0ffee/src/x.py#L3-L9'
    """
    owner, name, commit, rest = path.split("/", 3)
    return f"https://github.com/{owner}/{name}/blob/{commit}/{rest}#L{start_line}-L{end_line}"


def url_path(url: str) -> str:
    """Return `owner/name/commit/path` of a document's address."""
    found = _URL.fullmatch(url)
    if not found:
        raise ValueError(f"{url!r} is not https://github.com/OWNER/NAME/blob/COMMIT/PATH#Lstart-Lend")
    return "/".join(found.group(1, 2, 3))


def read_queries(path: Path) -> list[str]:
    """Read the distinct values of the column `query`, in order."""
    return list(dict.fromkeys(row["query"].strip() for _, row in csv_rows(path, "query")))


def read_annotations(path: Path, *named_by: str) -> Qrels:
    """Read judgements in the official format, where an address names a document, or other columns do.

    The grade is the mean over annotators.
    """
    grades: dict[QueryId, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    columns = named_by or ("GitHubUrl",)
    for line, row in csv_rows(path, "Language", "Query", *columns, "Relevance"):
        try:
            grade = float(row["Relevance"])
            if not named_by:
                url_path(row["GitHubUrl"])
        except ValueError as error:
            raise ConfigError(f"{path}:{line}: {error}", "correct this row") from None
        if not 0 <= grade <= MAX_GRADE:
            raise ConfigError(f"{path}:{line}: relevance {grade:g} is not within 0 and {MAX_GRADE:g}")
        query = checked_id(path, line, row["Language"], row["Query"])
        grades[query][" ".join(row[column] for column in columns)].append(grade)
    return {
        query: {document: sum(given) / len(given) for document, given in of_query.items()}
        for query, of_query in grades.items()
    }


def judged(qrels: Qrels) -> Qrels:
    """Remove the queries without a relevant document, because there is nothing to find."""
    left = {query: grades for query, grades in qrels.items() if any(grade > 0 for grade in grades.values())}
    if not left:
        raise ConfigError("no query has a document of a grade above 0", "give other judgements")
    return left


def csv_rows(path: Path, *columns: str) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield (line, row) of a CSV file that must have some columns."""
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, restval="")
            missing = [column for column in columns if column not in (reader.fieldnames or ())]
            if missing:
                raise ConfigError(f"{path}: no column {', '.join(missing)}", f"expected {', '.join(columns)}")
            for row in reader:
                yield reader.line_num, row
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}", "give a CSV file") from None
    except (csv.Error, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not a CSV file in UTF-8 ({error})") from None


def checked_id(path: Path, line: int, language: str, query: str) -> QueryId:
    """Return the id of a query; refuse a language that is not known."""
    if language_named(language.strip().lower()) is None:
        raise ConfigError(f"{path}:{line}: language {language!r} is not known", "correct this row")
    return query_id(language, query)


def read_lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of a file, decompressed by its suffix: `.gz`, `.zst`, or neither."""
    with open(path, "rb") as stream:
        if path.suffix == ".gz":
            yield from gzip.GzipFile(fileobj=stream)
        elif path.suffix == ".zst":
            try:
                import zstandard
            except ModuleNotFoundError:
                raise MissingExtraError("zstandard") from None
            unpacker = zstandard.ZstdDecompressor()
            try:
                yield from io.BufferedReader(unpacker.stream_reader(stream, read_across_frames=True))
            except zstandard.ZstdError as error:
                raise ValueError(str(error)) from None
        else:
            yield from stream


def read_jsonl(path: Path, *names: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (place, object) of each line; `place` names the line in errors, and `names` are fields of each object."""
    number = 0
    try:
        for number, line in enumerate(read_lines(path), 1):
            found = json.loads(line.decode())
            if not isinstance(found, dict):
                raise ConfigError(f"{path}:{number}: not an object", "give a file of JSON lines")
            for name in names:
                field(f"{path}:{number}", found, name)
            yield f"{path}:{number}", found
    except FileNotFoundError:
        raise ConfigError(f"{path} is not there", "check the path of the data") from None
    except DAMAGED as error:
        raise ConfigError(f"{path}:{max(number, 1)}: not JSON lines ({error})", "get it again") from None


def field(place: str, record: Mapping[str, Any], *names: str) -> str:
    """Return the text of the first of these fields that a record has."""
    for name in names:
        if record.get(name) is not None:
            value = record[name]
            return " ".join(map(str, value)) if isinstance(value, list) else str(value)
    raise ConfigError(f"{place}: no field {' or '.join(names)}", "give data of this suite")


def unpack(pack: Path, tree: Path, on_progress: Callable[[str, int, int], None]) -> None:
    """Write a pack's files to a folder, `owner/name/commit/path` each."""
    tree.mkdir(parents=True, exist_ok=True)
    number = 0
    for number, (place, row) in enumerate(read_jsonl(pack), 1):
        path = PurePosixPath(*(field(place, row, name) for name in ("repo", "sha", "path")))
        if path.is_absolute() or ".." in path.parts:
            raise ConfigError(f"{place}: path {str(path)!r} leads out of the folder: refused")
        target = tree / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(field(place, row, "text").encode())
        on_progress("unpack", number, 0)
    if not number:
        raise ConfigError(f"{pack}: no files in it", "get it again")
