"""Downloads from a local server that drops connections, truncates files and sends wrong content."""

import csv
import hashlib
import threading
import time
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from codesearch.evaluation.data import read_jsonl
from training.evaluation.download import (
    CONTENT_BYTES,
    PATH_BYTES,
    DownloadConfig,
    Wanted,
    download,
    fetch,
    fetch_all,
    read_digests,
)
from training.files import TrainingError

QUICK = DownloadConfig(first_pause_s=0.001, timeout_s=120, connections=3)
SHA = "b" * 40
PACK = Path(__file__).parents[5] / "shared" / "data" / "csn99" / "sources.jsonl.zst"


def path_digest(path: str) -> bytes:
    return hashlib.sha256(path.encode()).digest()[:PATH_BYTES]


def known_digest(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()[:CONTENT_BYTES]


class Server:
    """Serve `files` by path. Each request of a path first uses up one of its `faults`."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.faults: dict[str, list[str]] = {}
        self.asked: Counter[str] = Counter()
        self.at_once = self.most_at_once = 0
        self.lock = threading.Lock()
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self.http.server_port}"

    def _handler(server: "Server") -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                with server.lock:
                    server.at_once += 1
                    server.most_at_once = max(server.most_at_once, server.at_once)
                time.sleep(0.01)  # More requests would come meanwhile.
                with server.lock:
                    server.at_once -= 1
                server.answer(self)  # The client may ask again before this returns.

            def log_message(self, *arguments: object) -> None:
                pass

        return Handler

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        path = unquote(request.path)
        self.asked[path] += 1
        fault = self.faults[path].pop(0) if self.faults.get(path) else ""
        if fault == "drop":
            request.connection.close()
            return
        if fault.isdigit() or path not in self.files:
            request.send_error(int(fault or 404))
            return
        content = b"<html>sign in</html>" if fault == "lie" else self.files[path]
        request.send_response(200)
        request.send_header("Content-Length", str(len(content)))
        request.end_headers()
        request.wfile.write(content[: len(content) // 2] if fault == "truncate" else content)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    server = Server()
    thread = threading.Thread(target=server.http.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.http.shutdown()
    server.http.server_close()
    thread.join()


def wanted(server: Server, name: str, folder: Path) -> Wanted:
    expected = server.files.get(f"/{name}")
    return Wanted(
        f"{server.url}/{name}", folder / name, lambda got: "" if got == expected else "another file"
    )


@pytest.mark.parametrize("fault", ["drop", "truncate", "lie", "500", "429"])
def test_a_temporary_fault_is_retried(server, tmp_path, fault):
    server.files["/a"], server.faults["/a"] = b"content of a", [fault, fault]
    assert fetch(wanted(server, "a", tmp_path), QUICK)
    assert (tmp_path / "a").read_bytes() == b"content of a"
    assert server.asked["/a"] == 3


@pytest.mark.parametrize(
    ("fault", "reason"),
    [("truncate", "6 more expected"), ("lie", "another file"), ("503", "HTTP 503"), ("drop", "/a: ")],
)
def test_a_permanent_fault_is_an_error_and_leaves_no_file(server, tmp_path, fault, reason):
    server.files["/a"], server.faults["/a"] = b"content of a", [fault] * 9
    with pytest.raises(TrainingError) as error:
        fetch(wanted(server, "a", tmp_path), QUICK)
    assert reason in str(error.value)
    assert str(error.value).endswith("(4 attempts)")
    assert list(tmp_path.iterdir()) == []
    assert server.asked["/a"] == QUICK.attempts


def test_many_files_are_downloaded_a_few_at_a_time_and_missing_ones_are_named(server, tmp_path):
    server.files = {f"/{number:02}": str(number).encode() * 999 for number in range(30)}
    server.faults = {f"/{number:02}": ["drop"] for number in range(0, 30, 7)}
    names = [*(f"{number:02}" for number in range(30)), "gone"]
    files = {name: wanted(server, name, tmp_path) for name in names}
    assert fetch_all(files, QUICK) == ["gone"]
    assert {path.name for path in tmp_path.iterdir()} == {name for name in names if name != "gone"}
    assert server.most_at_once <= QUICK.connections


class Challenge:
    """The addresses of the challenge on the local server: three annotated files, one of them missing."""

    def __init__(self, server: Server, folder: Path) -> None:
        self.server, self.folder = server, folder / "data"
        self.table = folder / "digests.bin"
        self.sources = {
            f"o/n/{SHA}/a b.py": b"def f():\r\n    pass\r\n",
            f"o/n/{SHA}/lib/c.go": b"package c\n",
        }
        self.table.write_bytes(b"".join(path_digest(p) + known_digest(c) for p, c in self.sources.items()))
        self.urls = [
            f"https://github.com/o/n/blob/{SHA}/{path}#L1-L2" for path in ("a b.py", "lib/c.go", "lost.go")
        ]
        rows = [["Language", "Query", "GitHubUrl", "Relevance", "Notes"]]
        rows += [["Go", "q", url, "3", ""] for url in self.urls]
        server.files["/r/annotationStore.csv"] = "\r\n".join(",".join(row) for row in rows).encode()
        server.files["/r/queries.csv"] = b"query\nq\r\n"
        server.files.update({f"/{path}": content for path, content in self.sources.items()})

    def download(self, **config: Any) -> Path:
        quick = DownloadConfig(
            resources=f"{self.server.url}/r",
            files=self.server.url,
            queries_sha256=hashlib.sha256(b"query\nq").hexdigest(),
            digests=self.table,
            first_pause_s=0.001,
            timeout_s=120,
            **config,
        )
        download(self.folder, quick)
        return self.folder


@pytest.fixture
def challenge(server: Server, tmp_path: Path) -> Challenge:
    return Challenge(server, tmp_path)


def test_the_data_folder_has_every_byte_and_a_list_of_missing_files(challenge):
    folder = challenge.download()
    for path, content in challenge.sources.items():
        assert (folder / "sources" / path).read_bytes() == content
    assert (folder / "missing.txt").read_text() == f"o/n/{SHA}/lost.go\n"
    with open(folder / "annotations.csv", newline="") as file:
        assert [row["GitHubUrl"] for row in csv.DictReader(file)] == challenge.urls


def test_a_failed_download_resumes(challenge):
    challenge.server.faults[f"/o/n/{SHA}/lib/c.go"] = ["drop"] * 2
    with pytest.raises(TrainingError, match="lib/c.go"):
        challenge.download(attempts=2)
    assert not (challenge.folder / "missing.txt").exists()
    challenge.download()
    asked = challenge.server.asked
    assert asked["/r/queries.csv"] == asked["/r/annotationStore.csv"] == asked[f"/o/n/{SHA}/a b.py"] == 1
    assert asked[f"/o/n/{SHA}/lib/c.go"] == 3


def test_a_finished_download_asks_only_for_files_that_were_missing(challenge):
    challenge.download()
    before = challenge.server.asked.copy()
    challenge.download()
    assert challenge.server.asked - before == {f"/o/n/{SHA}/lost.go": 1}


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("/r/queries.csv", b"query\nanother\n", "not the 99 queries"),
        ("/r/annotationStore.csv", b"<html>\n<body></body>\n", "not judgements"),
        ("/r/annotationStore.csv", b"Language,Query,GitHubUrl,Relevance,Notes\n", "no judgements in it"),
        (f"/o/n/{SHA}/a b.py", b"def f(): pass\n", "not the content that is known"),
    ],
)
def test_unexpected_content_is_refused(challenge, name, content, reason):
    challenge.server.files[name] = content
    with pytest.raises(TrainingError, match=reason):
        challenge.download(attempts=2)


def test_judgements_with_a_path_outside_of_the_folder_are_refused(challenge):
    row = f"Go,q,https://github.com/o/n/blob/{SHA}/../../../../x#L1-L2,1,"
    challenge.server.files["/r/annotationStore.csv"] += f"\r\n{row}".encode()
    with pytest.raises(TrainingError, match="leads out of the folder"):
        challenge.download()


def test_the_shipped_table_has_the_digests_of_all_files():
    table = read_digests(DownloadConfig().digests)
    assert len(table) == 2_649
    assert {len(key) for key in table} == {8}
    assert {len(value) for value in table.values()} == {16}


@pytest.mark.skipif(not PACK.exists(), reason="the sources of the benchmark are not here")
def test_the_shipped_table_has_the_digests_of_the_pack():
    table = read_digests(DownloadConfig().digests)
    replaced = 0
    for _, row in read_jsonl(PACK):
        digest = table.get(path_digest(f"{row['repo']}/{row['sha']}/{row['path']}"))
        if "\ufffd" in row["text"]:
            replaced += 1
            assert digest is None
        else:
            assert digest == known_digest(row["text"].encode())
    assert replaced == 6


@pytest.mark.skipif(not PACK.exists(), reason="the queries of the benchmark are not here")
def test_the_digest_of_the_queries_is_independent_of_line_ends():
    content = (PACK.parent / "queries.csv").read_bytes()
    plain = b"\n".join(content.splitlines())
    assert hashlib.sha256(plain).hexdigest() == DownloadConfig().queries_sha256
