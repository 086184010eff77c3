"""Addresses -> files, over a network that may fail, stall, cut a file short or return wrong content.

A download gets its final name only when it is complete and checked. So a run that was stopped continues with the
missing files.
"""

from __future__ import annotations

import http.client
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from codesearch.errors import DownloadError
from codesearch.files import write_atomically

Check = Callable[[bytes], str]
"""Content -> what is wrong with it, or "" if nothing is."""
_GONE = (404, 410, 451)


@dataclass(frozen=True, slots=True)
class FetchConfig:
    """Limits of downloads.

    Attributes:
        connections: downloads at the same time.
        attempts: largest number of attempts for a file.
        first_pause_s: pause after the first failure; each further one is twice as long.
        timeout_s: longest time without data on a connection.
        max_bytes: larger files are refused.
    """

    connections: int = 8
    attempts: int = 4
    first_pause_s: float = 0.5
    timeout_s: float = 20.0
    max_bytes: int = 64_000_000


@dataclass(frozen=True, slots=True)
class Wanted:
    """A file to download: its address, its path, and a check of its content."""

    url: str
    target: Path
    check: Check


def fetch(wanted: Wanted, config: FetchConfig) -> bool:
    """Download a file; return whether its server has it.

    Raises:
        DownloadError: all attempts failed.
    """
    if wanted.target.exists():
        return True
    pause_s = config.first_pause_s
    for attempt in range(1, config.attempts + 1):
        try:
            content = _read(wanted.url, config)
            if fault := wanted.check(content):
                raise DownloadError(f"{wanted.url}: {fault}")
            _keep(wanted.target, content)
            return True
        except urllib.error.HTTPError as error:
            error.close()
            if error.code in _GONE:
                return False
            failure = f"{wanted.url}: HTTP {error.code} {error.reason}"
        except (OSError, http.client.HTTPException) as error:
            failure = f"{wanted.url}: {getattr(error, 'reason', None) or error or type(error).__name__}"
        except DownloadError as error:
            failure = str(error)
        if attempt < config.attempts:
            time.sleep(pause_s)
            pause_s *= 2
    raise DownloadError(f"{failure} ({config.attempts} attempts)")


def fetch_all(
    wanted: Mapping[str, Wanted], config: FetchConfig, on_progress: Callable[[int, int], None]
) -> list[str]:
    """Download many files, several at the same time; return the names of those that their servers do not have.

    Raises:
        DownloadError: a download failed; complete files are kept.
    """
    gone: list[str] = []
    waiting = iter(wanted.items())
    running: dict[Future[bool], str] = {}
    with ThreadPoolExecutor(config.connections, thread_name_prefix="fetch") as pool:
        try:
            for done in range(1, len(wanted) + 1):
                for name, one in islice(waiting, 2 * config.connections - len(running)):
                    running[pool.submit(fetch, one, config)] = name
                finished = next(as_completed(running))
                name = running.pop(finished)
                if not finished.result():
                    gone.append(name)
                on_progress(done, len(wanted))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return sorted(gone)


def _read(url: str, config: FetchConfig) -> bytes:
    request = urllib.request.Request(
        url, headers={"User-Agent": "codesearch-bench", "Accept-Encoding": "identity"}
    )
    with urllib.request.urlopen(request, timeout=config.timeout_s) as answer:
        content: bytes = answer.read(config.max_bytes + 1)
        # read() reports a body that is cut short only if the whole body is read, so check the length here.
        promised = answer.headers.get("Content-Length")
    if len(content) > config.max_bytes:
        raise DownloadError(f"{url}: over {config.max_bytes:,} bytes")
    if promised is not None and len(content) != int(promised):
        raise DownloadError(f"{url}: {len(content):,} of {promised} bytes came")
    return content


def _keep(target: Path, content: bytes) -> None:
    """Write a file, and make its folder if that is missing."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(target, content)
    except OSError as error:
        raise DownloadError(f"{target}: cannot be written ({error.strerror})") from None
