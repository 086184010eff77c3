"""The same search on a Milvus server: a real process, Milvus Lite."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path

import pytest

from codesearch.config import RankConfig
from codesearch.engine.answer import Answer
from codesearch.engine.engine import Engine
from codesearch.engine.remote import MilvusBackend, shard_of
from codesearch.engine.scope import Scope
from codesearch.engine.session import AS_INDEXED, Session
from codesearch.errors import BackendError, ConfigError
from codesearch.milvus.push import PushSummary
from codesearch.milvus.store import Connection, MilvusStore
from codesearch.search.request import Filters, SearchRequest
from codesearch.types import Hit
from tests.command import TIMEOUT, Command, free_port, listens, until
from tests.conftest import TINY_REPO, write_tree

pytest.importorskip("milvus_lite", reason="the extra milvus and milvus-lite are not installed")
pytest.importorskip("pymilvus", reason="the extra milvus is not installed")

QUERIES = (
    "convert int to string",
    "read all lines of a file",
    "sort a list of strings",
    "push",
    "take the top item",
)


class Server:
    """A Milvus Lite server that can be killed and started again."""

    def __init__(self, folder: Path) -> None:
        self.port, self._folder = free_port(), folder
        self.process = self._start()

    @property
    def uri(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def kill_and_restart(self) -> None:
        self.process.kill()
        self.process.wait()
        self.process = self._start()

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()

    def _start(self) -> subprocess.Popen[bytes]:
        options = ["--data-dir", str(self._folder), "--host", "127.0.0.1", "--port", str(self.port)]
        process = subprocess.Popen(
            [sys.executable, "-m", "milvus_lite", "server", *options],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        until(lambda: listens(self.port), unless=process.poll)
        return process


class Remote:
    """The collections of a server, an engine that searches them, and the local engine that fills them."""

    def __init__(self, connection: Connection, home: Path | None = None, model: Path | None = None) -> None:
        self.backend = MilvusBackend(connection)
        self.engine = Engine(model=model, backend=self.backend)
        self.local = Engine(home, model=model)

    def push(self, roots: Sequence[Path], shard: str = "1/1") -> list[PushSummary]:
        return self.backend.push(self.local, roots, shard)

    def search(self, request: SearchRequest | str) -> Answer:
        return self.engine.search(request, Scope())

    def close(self) -> None:
        self.engine.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = Server(tmp_path_factory.mktemp("milvus"))
    yield running
    running.stop()


@pytest.fixture
def prefix(request: pytest.FixtureRequest) -> str:
    return f"p{abs(hash(request.node.name))}"


@pytest.fixture
def remote(server: Server, prefix: str, home: Path, tiny_bundle: Path) -> Iterator[Remote]:
    engine = Remote(Connection(server.uri, prefix=prefix), home, model=tiny_bundle)
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def filled(server, tmp_path_factory, tiny_bundle) -> Iterator[tuple[Remote, Path]]:
    """Yield an engine whose collections hold one tree, and the tree, for tests that change nothing."""
    folder = tmp_path_factory.mktemp("filled")
    engine = Remote(Connection(server.uri, prefix="filled"), folder / "home", model=tiny_bundle)
    tree = write_tree(folder / "tree", TINY_REPO)
    engine.push([tree])
    yield engine, tree
    engine.close()


def shown(hits: list[Hit]) -> list[tuple[str, int, str, str]]:
    return [(hit.path, hit.start_line, hit.qualified_name, hit.code) for hit in hits]


def rows_in(remote: Remote) -> dict[str, str]:
    """Return the digests of all documents on the server."""
    store = remote.backend.store
    return {row["id"]: row["digest"] for row in store.read(store.documents, 'id != ""', ("id", "digest"))}


def has_rows(remote: Remote) -> bool:
    try:
        return bool(rows_in(remote))
    except BackendError:
        return False


@pytest.mark.parametrize(
    "filters",
    [
        Filters(),
        Filters(languages=("python", "go")),
        Filters(kinds=("method",)),
        Filters(paths=("python/*",)),
        Filters(paths=("*.java",)),
    ],
    ids=["all", "language", "kind", "prefix", "glob"],
)
def test_hits_and_scores_are_those_of_the_embedded_index(filled, tiny_bundle, filters):
    remote, tree = filled
    remote.local.ranking = RankConfig(uses_weight=0)  # The server has no counts of names.
    for query in QUERIES:
        request = SearchRequest(query, filters=filters)
        expected = remote.local.search(request, Scope(roots=(tree,)), refresh=False)
        found = remote.search(request)
        assert shown(found.hits) == shown(expected.hits), query
        assert [hit.score for hit in found.hits] == pytest.approx(
            [hit.score for hit in expected.hits], abs=1e-5
        )
        assert found.documents == expected.documents
        assert found.confidence == pytest.approx(expected.confidence, abs=1e-4)


def test_a_line_inside_a_long_function_is_found_and_shown_as_by_the_embedded_index(remote, tmp_path):
    steps = [f"    step_{at} = prepare(order, {at})\n    check(step_{at}, order)\n" for at in range(20)]
    steps[15] = "    if coupon.is_expired():\n        refuse_discount(order)\n"
    tree = write_tree(
        tmp_path / "tree",
        {"shop.py": f"def checkout(order, coupon):\n{''.join(steps)}", "a.py": "def a():\n    pass\n\n"},
    )
    remote.push([tree])
    remote.local.ranking = RankConfig(uses_weight=0)
    request = SearchRequest("an expired coupon gives no discount")
    (expected, *_), (found, *_) = (
        remote.local.search(request, Scope(roots=(tree,)), refresh=False).hits,
        remote.search(request).hits,
    )
    assert found.name == "checkout" and found.passages[0].start_line <= 32 <= found.passages[0].end_line
    assert [(one.start_line, one.end_line) for one in found.passages] == [
        (one.start_line, one.end_line) for one in expected.passages
    ]
    assert found.score == pytest.approx(expected.score, abs=1e-5)
    (tree / "shop.py").write_text("def checkout(order):\n    return order\n")
    remote.push([tree])
    store = remote.backend.store
    assert not list(store.read(store.passages, 'id != ""', ("id",)))


def test_similar_code_is_found_on_the_server(filled, tiny_bundle):
    remote, tree = filled
    place = f"{tree}/python/convert.py:5"
    expected = remote.local.session(Scope(roots=(tree,))).similar(place)
    assert shown(remote.engine.session(Scope()).similar(place).hits) == shown(expected.hits)


def test_the_folders_of_a_group_are_roots_on_the_server(filled):
    remote, tree = filled
    assert remote.engine.search("push", Scope(folders=(tree,))).roots == (str(tree),)
    assert remote.engine.search("push", Scope(folders=(tree,))).hits
    assert not remote.engine.search("push", Scope(folders=(tree.parent / "other",))).hits


def test_a_search_of_changed_files_is_refused(filled):
    with pytest.raises(ConfigError, match="--changed needs the work tree"):
        filled[0].search(SearchRequest("push", changed="HEAD"))


CALLS: dict[str, Callable[[Engine, Path], object]] = {
    "index": lambda engine, tree: engine.index(tree),
    "index_project": lambda engine, tree: engine.index_project(tree),
    "refresh": lambda engine, tree: engine.refresh(tree),
    "refresh_entry": lambda engine, tree: engine.refresh(tree),
    "dependencies": lambda engine, tree: engine.dependencies(tree),
    "indexed_roots": lambda engine, tree: engine.indexed_roots(),
    "status": lambda engine, tree: engine.status(),
    "remove": lambda engine, tree: engine.remove(tree),
    "remove_all": lambda engine, tree: engine.remove_all(),
    "export": lambda engine, tree: engine.export(tree.parent / "x.codesearch", tree),
    "import_index": lambda engine, tree: engine.import_index(tree.parent / "x.codesearch"),
    "verify": lambda engine, tree: engine.verify(),
    "local_home": lambda engine, tree: engine.local_home(),
}
"""Public names of `Engine` that need the indexes of a home."""
ANSWERED = {"search", "session", "encoder", "is_local", "tidy", "close"}
"""Public names that an engine of a server answers."""
QUESTIONS: dict[str, Callable[[Session], object]] = {
    "indexes": lambda session: session.indexes().__enter__(),
    "spots": lambda session: session.spots("push").__enter__(),
    "navigation": lambda session: session.navigation({}).__enter__(),
    "find": lambda session: session.find("push"),
    "read": lambda session: session.read("push"),
    "outline": lambda session: session.outline(),
    "lines": lambda session: session.lines("push"),
    "usages": lambda session: session.usages("push"),
    "duplicates": lambda session: session.duplicates(),
    "history": lambda session: session.history("push"),
    "diff": lambda session: session.diff("HEAD"),
    "files": lambda session: session.files(Filters()),
    "named": lambda session: session.named("push"),
    "symbols": lambda session: session.symbols("push"),
}
"""Public methods of `Session` that need the indexes of a home; `search`, `similar` and `open` do not."""


@pytest.fixture
def full_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tiny_bundle: Path) -> Path:
    """Make an index in the default home, which an engine of a server must not answer from."""
    tree = write_tree(tmp_path / "tree", TINY_REPO)
    monkeypatch.setenv("CODESEARCH_HOME", str(tmp_path / "home"))
    Engine(model=tiny_bundle).index(tree)
    return tree


def test_calls_that_need_the_local_indexes_are_refused(full_home):
    engine = Engine(backend=MilvusBackend(Connection("http://localhost:1")))
    for call in CALLS.values():
        with pytest.raises(ConfigError, match="needs the indexes of this machine: leave --backend out"):
            call(engine, full_home)
    for ask in QUESTIONS.values():
        with pytest.raises(ConfigError, match="needs the indexes of this machine: leave --backend out"):
            ask(engine.session(Scope(here=full_home)))
    assert [status.root for status in Engine().status()] == [str(full_home)]


def test_every_public_call_is_answered_by_the_server_or_refused(filled, full_home):
    public = {name for name in dir(Engine) if not name.startswith("_")}
    assert public == CALLS.keys() | ANSWERED
    public = {name for name in dir(Session) if not name.startswith("_")}
    assert public == QUESTIONS.keys() | {"search", "similar", "open"}
    remote, tree = filled
    engine, here = remote.engine, Scope(here=full_home)
    with engine.session(Scope(), AS_INDEXED).open() as searcher:
        assert searcher.searched.roots == (remote.backend.store.connection.uri,)
    answers = (engine.search("push", here), engine.session(here).similar(f"{full_home}/python/convert.py:5"))
    assert all({hit.root for hit in answer.hits} == {str(tree)} for answer in answers)
    assert engine.session(Scope(here=tree.parent)).search("push").hits
    engine.tidy()
    engine.close()
    assert engine.encoder().dim and engine.search("push", Scope()).hits


def test_changed_and_deleted_files_leave_nothing_behind(remote, tiny_repo):
    remote.push([tiny_repo])
    (tiny_repo / "go/reader.go").unlink()
    write_tree(tiny_repo, {"python/convert.py": "def only_this(one):\n    return one\n"})
    (report,) = remote.push([tiny_repo])
    assert report.written >= 1 and report.deleted >= 4
    found = {
        (hit.path, hit.name) for hit in remote.search(SearchRequest("read lines convert", top_k=50)).hits
    }
    assert not {path for path, _ in found} & {"go/reader.go"}
    assert {name for path, name in found if path == "python/convert.py"} <= {"only_this", "convert"}
    before = rows_in(remote)
    assert remote.push([tiny_repo])[0].written == 0
    assert rows_in(remote) == before


def test_a_root_that_is_no_longer_listed_is_deleted(remote, tmp_path):
    first, second = (write_tree(tmp_path / name, TINY_REPO) for name in ("first", "second"))
    remote.push([first, second])
    remote.push([second])
    assert [status.root for status in remote.backend.root_statuses()] == [str(second)]
    assert {hit.root for hit in remote.search(SearchRequest("push", top_k=50)).hits} == {str(second)}


def many_roots(folder: Path, amount: int) -> list[Path]:
    roots = []
    for number, root in enumerate(root_paths(folder, amount)):
        files = {
            f"part{part}.py": "".join(
                f"def task_{number}_{part}_{place}(item):\n    '''Run task {place}.'''\n    return item + {place}\n\n"
                for place in range(12)
            )
            for part in range(3)
        }
        roots.append(write_tree(root, files))
    return roots


def root_paths(folder: Path, number: int) -> list[Path]:
    return [folder / f"repository{position}" for position in range(number)]


def test_workers_that_are_killed_and_restarted_write_the_rows_of_one_worker(server, tmp_path, tiny_bundle):
    folders = (tmp_path / f"all{attempt}" for attempt in count())
    # The shard of a root is a hash of its path: take a folder in which both shards have two roots.
    folder = next(
        here
        for here in folders
        if sorted(shard_of(str(path), 2) for path in root_paths(here, 4)) == [1, 1, 2, 2]
    )
    roots = many_roots(folder, 4)
    listed = tmp_path / "list"
    listed.write_text("".join(f"{root}\n" for root in roots))

    def start(number: int) -> subprocess.Popen[bytes]:
        options = ["--backend", "milvus", "--uri", server.uri, "--prefix", "workers", "--model", tiny_bundle]
        worker = Command(tmp_path, tmp_path / f"home{number}")
        return worker.start("index", "--shard", f"{number}/2", listed, *options, stdout=subprocess.PIPE)

    first, second = start(1), start(2)
    probe = Remote(Connection(server.uri, prefix="workers"), model=tiny_bundle)
    until(lambda: second.poll() is not None or has_rows(probe))
    second.kill()
    second.communicate()
    assert first.wait(TIMEOUT) == 0
    first.communicate()
    again = start(2)
    assert again.wait(TIMEOUT) == 0
    again.communicate()

    alone = Remote(Connection(server.uri, prefix="alone"), tmp_path / "home", model=tiny_bundle)
    alone.push(roots)
    assert rows_in(probe) == rows_in(alone)
    for query in ("run task 7", "task_3_1_5", "item"):
        expected, found = (engine.search(SearchRequest(query, top_k=30)) for engine in (alone, probe))
        assert [(hit.path, hit.name, hit.score) for hit in found.hits] == [
            (hit.path, hit.name, hit.score) for hit in expected.hits
        ]
        assert found.documents == expected.documents == 4 * 3 * 12
    assert {status.shard for status in probe.backend.root_statuses()} == {"1/2", "2/2"}


def test_nothing_that_was_acknowledged_is_lost_when_the_server_is_killed(server, remote, tiny_repo):
    remote.push([tiny_repo])
    before = rows_in(remote)
    expected = shown(remote.search("convert int to string").hits)
    remote.close()
    server.kill_and_restart()
    assert rows_in(remote) == before
    assert shown(remote.search("convert int to string").hits) == expected


def test_another_number_of_shards_is_refused(filled):
    remote, tree = filled
    with pytest.raises(BackendError, match="filled with --shard I/1: give --shard I/1"):
        remote.push([tree], "2/3")


def test_another_model_is_refused(server, filled):
    remote, tree = filled
    other = Remote(Connection(server.uri, prefix="filled"), remote.local.home)
    with pytest.raises(BackendError, match="were made with model .* not with .*: give that --model"):
        other.search("push")
    with pytest.raises(BackendError, match="give that --model, or another --prefix"):
        other.push([tree])
    assert other.search(SearchRequest("push", mode="lexical")).hits


def test_another_format_is_refused(server, prefix, remote, tiny_repo):
    remote.push([tiny_repo])
    store = MilvusStore(Connection(server.uri, prefix=prefix))
    (row,) = store.get(store.roots, ["collections"], ("id", "shard", "about"))
    about = {**json.loads(row["about"]), "format": 99}
    store.write(store.roots, [{**row, "about": json.dumps(about), "unused": [0.0, 0.0]}])
    with pytest.raises(BackendError, match="have format 99, expected"):
        Remote(Connection(server.uri, prefix=prefix), remote.local.home).search(
            SearchRequest("push", mode="lexical")
        )


def test_a_server_without_collections_is_a_one_line_error(server, prefix):
    with pytest.raises(BackendError, match=f"has no collections {prefix}_"):
        Remote(Connection(server.uri, prefix=prefix)).search(SearchRequest("push", mode="lexical"))


@contextmanager
def silent_proxy() -> Iterator[str]:
    """A server that accepts connections and never answers."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        held: list[socket.socket] = []

        def accept() -> None:
            while True:
                try:
                    held.append(listener.accept()[0])
                except OSError:
                    return

        threading.Thread(target=accept, daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        for connection in held:
            connection.close()


def test_a_server_that_does_not_answer_is_a_one_line_error_after_the_timeout():
    with silent_proxy() as uri:
        started = time.monotonic()
        with pytest.raises(BackendError, match="check that it runs and that --uri is right"):
            Remote(Connection(uri, timeout_s=1.0)).search(SearchRequest("push", mode="lexical"))
        assert time.monotonic() - started < 30  # The timeout without a setting.


def test_the_command_line_indexes_lists_and_searches(server, prefix, tiny_repo, home, tiny_bundle):
    run = Command(tiny_repo, home)
    where = ["--backend", "milvus", "--uri", server.uri, "--prefix", prefix]
    absent = run("query", "push", *where, "--model", tiny_bundle)
    assert absent.returncode == 2 and absent.stderr.count("\n") == 1 and "codesearch index" in absent.stderr
    indexed = run("index", tiny_repo, *where, "--model", tiny_bundle)
    assert indexed.returncode == 0 and "documents on the server" in indexed.stdout, indexed.stderr
    listed = run("status", *where)
    assert str(tiny_repo) in listed.stdout and "shard 1/1" in listed.stdout
    found = run("query", "convert int to string", *where, "--model", tiny_bundle, "--jsonl")
    assert json.loads(found.stdout.splitlines()[0])["name"] == "int_to_string"
    environment = Command(
        tiny_repo,
        home,
        {"CODESEARCH_BACKEND": "milvus", "CODESEARCH_URI": server.uri, "CODESEARCH_PREFIX": prefix},
    )
    assert "int_to_string" in environment("query", "convert int to string", "--model", tiny_bundle).stdout


@pytest.mark.parametrize("shard", ["0/2", "3/2", "a/b", "2", "1/0"])
def test_a_wrong_shard_is_refused(remote, shard):
    with pytest.raises(ConfigError, match="give I/N"):
        remote.push([], shard)


def test_a_list_is_split_over_shards_and_each_folder_is_in_one(tmp_path, tiny_bundle):
    roots = many_roots(tmp_path / "all", 4)
    listed = tmp_path / "list"
    listed.write_text("# what we own\n" + "".join(f"{root}\n" for root in roots))
    indexed: list[str] = []
    for number in (1, 2, 3):
        out = Command(tmp_path, tmp_path / "home")(
            "index", "--shard", f"{number}/3", listed, "--model", tiny_bundle
        )
        assert out.returncode == 0, out.stderr
        indexed += [line.partition(":")[0] for line in out.stdout.splitlines() if line.startswith(os.sep)]
    assert sorted(indexed) == sorted(map(str, roots))


def test_an_interrupted_worker_ends_without_a_traceback(server, tmp_path, tiny_bundle):
    roots = many_roots(tmp_path / "all", 2)
    run = Command(tmp_path, tmp_path / "home")
    options = ["--backend", "milvus", "--uri", server.uri, "--prefix", "signals", "--model", tiny_bundle]
    worker = run.start("index", *roots, *options, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    probe = Remote(Connection(server.uri, prefix="signals"), model=tiny_bundle)
    until(lambda: worker.poll() is not None or has_rows(probe))
    probe.close()
    worker.send_signal(signal.SIGINT)
    _, err = worker.communicate(timeout=TIMEOUT)
    assert b"Traceback" not in err
