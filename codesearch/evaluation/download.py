"""The public addresses of the CodeSearchNet challenge -> the data folder of the suite `csn99`.

    queries.csv, annotations.csv      github/CodeSearchNet at one commit
    sources/owner/name/commit/path    each annotated file at its own commit
    missing.txt                       paths that their servers no longer have
    complete.json                     written last: sha256 of the first two, counts

Downloads are checked against known contents: `queries.csv` except for its line ends, and 2,649 of the annotated files
with `suites/csn99_digests.bin`, which `benchmarks/csn99_digests.py` made from a copy. The official judgements have no
known checksum. Their URL pins the commit, and later runs compare them with the checksum of the first download. A file
that is in no table is not checked.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import quote

from codesearch.errors import DownloadError
from codesearch.evaluation.fetch import Check, FetchConfig, Wanted, fetch, fetch_all
from codesearch.evaluation.qrels import read_annotations, url_path

COMMIT = "106e827405c968597da938f6b373d30183918869"
QUERIES, ANNOTATIONS, SOURCES, COMPLETE = "queries.csv", "annotations.csv", "sources", "complete.json"
DIGESTS = Path(__file__).parent / "suites" / "csn99_digests.bin"
PATH_BYTES, CONTENT_BYTES = 8, 16
"""A record of the table: first bytes of the sha256 of a path and of that file's content."""


@dataclass(frozen=True, slots=True)
class Addresses:
    """The addresses of the data, and the sha256 of the queries with plain line ends."""

    resources: str = f"https://raw.githubusercontent.com/github/CodeSearchNet/{COMMIT}/resources"
    files: str = "https://raw.githubusercontent.com"
    queries_sha256: str = "964baf7610e0d4dcca6c816d832e8ab4d1dc3d223359a363fe2811e486e95f21"


def download(
    folder: Path,
    on_progress: Callable[[str, int, int], None],
    *,
    addresses: Addresses | None = None,
    digests: Path = DIGESTS,
    config: FetchConfig | None = None,
) -> Path:
    """Make the data folder or complete it; a complete folder is only checked.

    Raises:
        DownloadError: a download failed; the next call continues with the rest.
    """
    addresses, config = addresses or Addresses(), config or FetchConfig()
    if (folder / COMPLETE).exists():
        _check_complete(folder)
        return folder
    queries = Wanted(f"{addresses.resources}/queries.csv", folder / QUERIES, _queries_check(addresses))
    judgements = Wanted(
        f"{addresses.resources}/annotationStore.csv", folder / ANNOTATIONS, _annotations_fault
    )
    for wanted in (queries, judgements):
        if not fetch(wanted, config):
            raise DownloadError(f"{wanted.url} is gone: give --data a copy")
    paths = sorted(
        {url_path(url) for grades in read_annotations(judgements.target).values() for url in grades}
    )
    known = read_digests(digests)
    files = {path: _wanted_file(path, folder, addresses, known) for path in paths}
    missing = fetch_all(files, config, lambda done, total: on_progress("download", done, total))
    (folder / "missing.txt").write_text("".join(f"{path}\n" for path in missing), "utf-8")
    counts = {"files": len(paths) - len(missing), "missing": len(missing)}
    state = {**counts, **{name: _sha256(folder / name) for name in (QUERIES, ANNOTATIONS)}}
    (folder / COMPLETE).write_text(json.dumps(state, indent=1) + "\n", "utf-8")
    return folder


def read_digests(path: Path) -> dict[bytes, bytes]:
    """Read the table of known contents: first bytes of the path's sha256 -> first bytes of the content's."""
    table, size = path.read_bytes(), PATH_BYTES + CONTENT_BYTES
    records = (table[start : start + size] for start in range(0, len(table), size))
    return {record[:PATH_BYTES]: record[PATH_BYTES:] for record in records}


def path_digest(path: str) -> bytes:
    """Return the table's key for a path."""
    return hashlib.sha256(path.encode()).digest()[:PATH_BYTES]


def known_digest(content: bytes) -> bytes:
    """Return the table's digest for a content."""
    return hashlib.sha256(content).digest()[:CONTENT_BYTES]


def _wanted_file(path: str, folder: Path, addresses: Addresses, known: dict[bytes, bytes]) -> Wanted:
    if ".." in PurePosixPath(path).parts:
        raise DownloadError(f"annotated path {path!r} leads out of the folder: refused")
    expected = known.get(path_digest(path))

    def check(content: bytes) -> str:
        return "not the content that is known" if expected and known_digest(content) != expected else ""

    return Wanted(f"{addresses.files}/{quote(path)}", folder / SOURCES / path, check)


def _queries_check(addresses: Addresses) -> Check:
    def check(content: bytes) -> str:
        plain = b"\n".join(content.splitlines())
        return "" if hashlib.sha256(plain).hexdigest() == addresses.queries_sha256 else "not the 99 queries"

    return check


def _annotations_fault(content: bytes) -> str:
    """Check that a file has the columns and a complete last row; a cut file or another file does not."""
    try:
        rows = list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline="")))
        for row in rows:
            url_path(row["GitHubUrl"])
            float(row["Relevance"])
    except (ValueError, KeyError, TypeError, csv.Error) as error:
        return f"not judgements ({error})"
    return "" if rows else "no judgements in it"


def _check_complete(folder: Path) -> None:
    state = json.loads((folder / COMPLETE).read_text("utf-8"))
    for name in (QUERIES, ANNOTATIONS):
        if _sha256(folder / name) != state[name]:
            raise DownloadError(
                f"{folder / name} changed since it was downloaded: delete {folder} and run again"
            )


def _sha256(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
