"""`python -m training download`: the public addresses of the CodeSearchNet challenge -> the data of suite `csn99`.

    queries.csv, annotations.csv      github/CodeSearchNet at one commit
    sources/owner/name/commit/path    each annotated file at its own commit
    missing.txt                       written last: paths that their servers no longer have

The network may fail, stall, cut a file short or return wrong content. A download gets its final name only when it is
complete and checked, so a run that was stopped continues with the missing files.

Downloads are checked against known contents: `queries.csv` except for its line ends, and 2,649 of the annotated files
with `csn99_digests.bin`. The official judgements have no known checksum, but their URL pins the commit. A file that is
in no table is not checked.
"""

from __future__ import annotations

import csv
import hashlib
import http.client
import io
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import quote

from tqdm import tqdm

from codesearch.evaluation.data import read_annotations, url_path
from codesearch.evaluation.suites import ANNOTATIONS, QUERIES, SOURCES
from codesearch.files import write_atomically
from training.files import TrainingError

PATH_BYTES, CONTENT_BYTES = 8, 16
"""A record of the table: first bytes of the sha256 of a path and of that file's content."""
_COMMIT = "106e827405c968597da938f6b373d30183918869"
_GONE = (404, 410, 451)


@dataclass(frozen=True, slots=True)
class DownloadConfig:
    """Addresses, known contents and limits; each pause after a failure is twice as long as the one before."""

    resources: str = f"https://raw.githubusercontent.com/github/CodeSearchNet/{_COMMIT}/resources"
    files: str = "https://raw.githubusercontent.com"
    queries_sha256: str = "964baf7610e0d4dcca6c816d832e8ab4d1dc3d223359a363fe2811e486e95f21"
    digests: Path = Path(__file__).with_name("csn99_digests.bin")
    connections: int = 8
    attempts: int = 4
    first_pause_s: float = 0.5
    timeout_s: float = 20.0


@dataclass(frozen=True, slots=True)
class Wanted:
    """A file to download: its address, its path, and what is wrong with a content ("" if nothing is)."""

    url: str
    target: Path
    fault: Callable[[bytes], str]


def download(folder: Path, config: DownloadConfig = DownloadConfig()) -> None:
    """Make the data folder or complete it."""
    for name, file, fault in (
        ("queries.csv", QUERIES, lambda content: _queries_fault(content, config.queries_sha256)),
        ("annotationStore.csv", ANNOTATIONS, _annotations_fault),
    ):
        if not fetch(Wanted(f"{config.resources}/{name}", folder / file, fault), config):
            raise TrainingError(f"{config.resources}/{name} is gone: put a copy in {folder}")
    judgements = read_annotations(folder / ANNOTATIONS)
    paths = sorted({url_path(url) for grades in judgements.values() for url in grades})
    known = read_digests(config.digests)
    files = {path: _annotated_file(path, folder, known, config) for path in paths}
    missing = fetch_all(files, config)
    (folder / "missing.txt").write_text("".join(f"{path}\n" for path in missing), "utf-8")


def read_digests(path: Path) -> dict[bytes, bytes]:
    """Read the table of known contents: first bytes of the path's sha256 -> first bytes of the content's."""
    table, size = path.read_bytes(), PATH_BYTES + CONTENT_BYTES
    records = (table[start : start + size] for start in range(0, len(table), size))
    return {record[:PATH_BYTES]: record[PATH_BYTES:] for record in records}


def _annotated_file(path: str, folder: Path, known: dict[bytes, bytes], config: DownloadConfig) -> Wanted:
    if ".." in PurePosixPath(path).parts:
        raise TrainingError(f"annotated path {path!r} leads out of the folder: refused")
    expected = known.get(hashlib.sha256(path.encode()).digest()[:PATH_BYTES])

    def fault(content: bytes) -> str:
        differs = expected and hashlib.sha256(content).digest()[:CONTENT_BYTES] != expected
        return "not the content that is known" if differs else ""

    return Wanted(f"{config.files}/{quote(path)}", folder / SOURCES / path, fault)


def _queries_fault(content: bytes, expected: str) -> str:
    plain = b"\n".join(content.splitlines())
    return "" if hashlib.sha256(plain).hexdigest() == expected else "not the 99 queries"


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


def fetch_all(wanted: dict[str, Wanted], config: DownloadConfig) -> list[str]:
    """Download many files, several at the same time; return the names of those that their servers do not have."""
    gone = []
    with ThreadPoolExecutor(config.connections, thread_name_prefix="fetch") as pool:
        running = {pool.submit(fetch, file, config): name for name, file in wanted.items()}
        try:
            for finished in tqdm(as_completed(running), total=len(wanted), unit="file", disable=None):
                if not finished.result():
                    gone.append(running[finished])
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return sorted(gone)


def fetch(wanted: Wanted, config: DownloadConfig) -> bool:
    """Download a file; return whether its server has it."""
    if wanted.target.exists():
        return True
    for attempt in range(config.attempts):
        if attempt:
            time.sleep(config.first_pause_s * 2 ** (attempt - 1))
        try:
            content = _read(wanted.url, config)
            if fault := wanted.fault(content):
                raise TrainingError(f"{wanted.url}: {fault}")
            wanted.target.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(wanted.target, content)
            return True
        except urllib.error.HTTPError as error:
            error.close()
            if error.code in _GONE:
                return False
            failure = f"{wanted.url}: HTTP {error.code} {error.reason}"
        except (OSError, http.client.HTTPException) as error:
            failure = f"{wanted.url}: {getattr(error, 'reason', None) or error or type(error).__name__}"
        except TrainingError as error:
            failure = str(error)
    raise TrainingError(f"{failure} ({config.attempts} attempts)")


def _read(url: str, config: DownloadConfig) -> bytes:
    headers = {"User-Agent": "codesearch-bench", "Accept-Encoding": "identity"}
    request = urllib.request.Request(url, headers=headers)
    with urllib.request.urlopen(request, timeout=config.timeout_s) as answer:
        content: bytes = answer.read()  # A body that is cut short is an error.
    return content
