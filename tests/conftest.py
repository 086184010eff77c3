"""A tiny repository in six languages, and an encoder that needs no model."""

import asyncio
import gc
import inspect
import re
import string
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
import pytest

from codesearch.build import build as build_module
from codesearch.build import parse
from codesearch.build import plan as plan_module
from codesearch.build import stamps as stamps_module
from codesearch.build.build import run
from codesearch.build.plan import plan_update
from codesearch.build.stamps import Stamps, doubtful, read_stamps, write_stamps
from codesearch.config import IndexConfig, RankConfig
from codesearch.engine.engine import Engine
from codesearch.parsing.identifiers import subtokens
from codesearch.search.ranking import Candidate
from codesearch.search.request import Filters, SearchRequest
from codesearch.search.searcher import Searcher
from codesearch.store.catalogue import index_folder
from codesearch.store.manifest import FORMAT_VERSION, MANIFEST, last_manifest
from codesearch.store.segments import IndexReader, SegmentReader
from codesearch.store.snapshot import Snapshot
from codesearch.text.tokenizer import CONTINUATION, PAD, UNKNOWN, SubtokenTokenizer
from tests.command import Command
from tests.forks import save_time

# No deadline, because a busy machine is slow. `make test` tries the same few examples in every run, and
# `make test-thorough` many others.
hypothesis.settings.register_profile("default", deadline=None, derandomize=True, max_examples=30)
hypothesis.settings.register_profile("thorough", deadline=None, max_examples=1_000)
hypothesis.settings.load_profile("default")

collect_ignore = [] if find_spec("torch") else ["unit/training", "unit/exporters", "parity"]
"""Without the extra `train`, the tests of training are left out."""

TINY_REPO = {
    "python/convert.py": '''"""Conversions."""


def int_to_string(number: int) -> str:
    """Convert an integer to its decimal string."""
    return str(number)


def string_to_int(text: str) -> int:
    """Parse a decimal string into an integer."""
    return int(text)


class Stack:
    """A last in, first out container."""

    def push(self, item):
        """Put an item on top."""
        self.items.append(item)

    def pop(self):
        """Take the top item off."""
        return self.items.pop()
''',
    "go/reader.go": """package reader

// ReadLines reads a whole file into a slice of lines.
func ReadLines(path string) ([]string, error) {
\treturn nil, nil
}

// Close releases the file.
func (r *Reader) Close() error {
\treturn nil
}
""",
    "java/Sorter.java": """package sort;

/** Sorts lists. */
public class Sorter {
    /** Sorts a list of strings in place. */
    public void sortStrings(List<String> list) {
        list.sort(null);
    }
}
""",
    "javascript/http.js": """/**
 * Send an HTTP GET request and parse the JSON answer.
 */
function getJson(url) {
  return fetch(url).then((response) => response.json());
}
""",
    "php/Crypto.php": """<?php
/** Encrypt a text with AES in counter mode. */
function encryptAes(string $text, string $key): string {
    return openssl_encrypt($text, 'aes-256-ctr', $key);
}
""",
    "ruby/queue.rb": """# A queue ordered by priority.
class PriorityQueue
  # Add an element with its priority.
  def push(element, priority)
    @heap << [priority, element]
  end
end
""",
}


class HashEncoder:
    """Sum random token vectors: equal texts have equal unit vectors, and shared words make texts similar."""

    name, dim, device, max_document_tokens, is_costly = "hash", 32, "cpu", 200, False

    def __init__(self, tokenizer_path: Path, model_id: str = "hash") -> None:
        self.tokenizer_path = tokenizer_path
        self.model_id = model_id
        self.tokenizer = SubtokenTokenizer.load(tokenizer_path)
        self.table = np.random.default_rng(0).standard_normal((1000, self.dim)).astype(np.float32)
        self.embedded: list[bytes] = []

    def encode_queries(self, queries: Sequence[str]) -> np.ndarray:
        return self._encode([self.tokenizer.encode(query, 30) for query in queries])

    def encode_documents(self, documents: Sequence[np.ndarray]) -> np.ndarray:
        self.embedded += [ids.tobytes() for ids in documents]
        return self._encode(documents)

    encode_passages = encode_documents

    def _encode(self, documents: Sequence[np.ndarray]) -> np.ndarray:
        sums = np.array([self.table[ids % 1000].sum(axis=0) for ids in documents], np.float32).reshape(
            -1, self.dim
        )
        return sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)


def pytest_collection_finish() -> None:
    """Let no later collection of garbage visit the thousands of collected tests."""
    gc.freeze()


def write_tokenizer(path: Path) -> None:
    """Write a tokenizer of whole words and single letters. Trained ones differ between processes."""
    from tokenizers import Tokenizer, models

    letters = string.ascii_lowercase + string.digits
    words = {word for text in TINY_REPO.values() for word in subtokens(text)} - set(letters)
    tokens = [PAD, UNKNOWN, *letters, *(CONTINUATION + letter for letter in letters), *sorted(words)]
    vocabulary = {token: number for number, token in enumerate(tokens)}
    options = {"unk_token": UNKNOWN, "continuing_subword_prefix": CONTINUATION, "fuse_unk": True}
    tokenizer = Tokenizer(models.BPE(vocabulary, [], ignore_merges=True, **options))
    SubtokenTokenizer(lambda: tokenizer).save(path)


def break_format(index: Path, number: int = 99) -> None:
    """Change the format number of the index in a folder."""
    manifest = index / MANIFEST
    text = re.sub(r' "checksum": "\w+",\n', "", manifest.read_text())
    manifest.write_text(text.replace(f'"format": {FORMAT_VERSION}', f'"format": {number}'))


LONG_FUNCTION = "def drain(queue):\n" + "".join(
    f"    if queue.size > {number}:\n        queue.drop({number})\n" for number in range(20)
)
"""The source of a function that is long enough to have passages: 41 lines, a statement in every second one."""


def write_tree(root: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root


def build(root, home, encoder, *, config=None, rebuild=False, merge_all=False, on_progress=lambda _: None):
    """Index a tree with an encoder, as the command does, in this process."""
    config = config or IndexConfig()
    folder = index_folder(home, root)
    folder.mkdir(parents=True, exist_ok=True)
    last = last_manifest(folder)
    with closing(plan_update(root, folder, config, encoder.model_id, last=last, rebuild=rebuild)) as plan:
        return run(plan, encoder, on_progress, merge_all=merge_all)


def index_by_engine(root: Path, home: Path, bundle: Path | None = None) -> None:
    """Index a tree with a model bundle, as the command does, in this process."""
    engine = Engine(home, model=bundle, device="cpu")
    engine.index(root)
    engine.close()


def best(searcher: Searcher, query: str, count: int, mode: str = "hybrid") -> list[Candidate]:
    """Return the best candidates for a query; copies are not grouped."""
    return searcher.ranking(searcher.analyse(query, mode)).best(count)


def search(searcher, query, top_k=10, filters=None, mode="hybrid"):
    """Return the hits of a query."""
    return searcher.answer(SearchRequest(query, top_k, mode, filters or Filters())).hits


def child_processes() -> set[int]:
    """Return the ids of the processes that this one started and that still run."""
    if not Path("/proc/self/task").exists():
        pytest.skip("no /proc here")
    lists = (path.read_text() for path in Path("/proc/self/task").glob("*/children"))
    return {int(child) for line in lists for child in line.split()}


def contents(index: IndexReader) -> dict[str, Any]:
    """Return all live content of an index as plain values. Two indexes are equal if these are."""
    files, documents, postings = {}, {}, {}
    for segment in index.segments:
        names = {}
        for file_id, file in enumerate(segment.files):
            if file_id in segment.dead_files:
                continue
            files[file.path] = (file.language, file.size, file.digest, file.doc_count, file.skipped)
            of_file = range(file.first_doc, file.first_doc + file.doc_count)
            for place, (doc_id, row) in enumerate(
                zip(of_file, segment.store.document_rows(file), strict=True)
            ):
                names[doc_id] = (file.path, place)
                documents[file.path, place] = (
                    row,
                    segment.postings.field_lengths[doc_id].tolist(),
                    segment.vectors.rows[doc_id].tolist(),
                    float(segment.vectors.scales[doc_id]),
                    int(segment.rows["kind"][doc_id]),
                    int(segment.rows["flags"][doc_id]),
                )
        for term_id, term in enumerate(segment.postings.terms()):
            for field, doc_id, frequency in zip(*segment.postings.of_term(term_id), strict=True):
                if doc_id in names:
                    postings[term, int(field), names[doc_id]] = int(frequency)
    snapshot = Snapshot([index])
    statistics = (snapshot.document_count, snapshot.average_lengths.tolist())
    return {"files": files, "documents": documents, "postings": postings, "statistics": statistics}


def only(index: IndexReader) -> SegmentReader:
    """Return the only segment of an index."""
    (segment,) = index.segments
    return segment


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite the files of expected results")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Run the tests of a file in one worker, and short files of the page in one, with one browser and one service."""
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            is_short = nodeid.startswith("tests/browser/") and "/test_searching.py" not in nodeid
            return "browser" if is_short else super()._split_scope(nodeid)

    return Scheduling(config, log) if config.getvalue("dist") == "loadfile" else None


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is a coroutine in an event loop of its own."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = inspect.signature(pyfuncitem.obj).parameters
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True


@pytest.fixture(autouse=True, scope="session")
def saving_time() -> Iterator[pytest.MonkeyPatch]:
    """Parse without worker processes and sync no files, except in tests marked `workers`."""
    with pytest.MonkeyPatch.context() as patch:
        save_time(patch.setattr)
        yield patch
    Command.forks.close()


@pytest.fixture(autouse=True)
def worker_processes(request, saving_time, monkeypatch) -> Iterator[None]:
    """Let the tests marked `workers` parse in worker processes, and run commands in interpreters of their own."""
    if "workers" not in request.keywords:
        yield
        return
    saving_time.undo()
    monkeypatch.setattr(Command, "may_fork", False)
    yield
    save_time(saving_time.setattr)


@pytest.fixture
def tiny_repo(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "tiny", TINY_REPO)


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trust all stamps, as if every tree had been written long ago."""
    monkeypatch.setattr(stamps_module, "RACY_NS", -(10**18))


def settle(root: Path, home: Path) -> None:
    """Trust the stamps of an index, as if its tree had been written long before."""
    folder = index_folder(home, root)
    found = read_stamps(folder)
    parts = (
        {path: stamp if stamp[4] >= -1 else doubtful(stamp) for path, stamp in part.items()}
        for part in (found.files, found.passed, found.watched)
    )
    write_stamps(folder, Stamps(*parts, found.taken_ns), last_manifest(folder).commit)


@pytest.fixture(scope="session")
def tokenizer_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tokenizer") / "tokenizer.json"
    write_tokenizer(path)
    return path


@pytest.fixture(scope="session")
def tiny_bundle(tmp_path_factory: pytest.TempPathFactory, tokenizer_path: Path) -> Path:
    """A complete model bundle that embeds like `HashEncoder`; tests copy it before they damage it."""
    pytest.importorskip("onnx")
    from tests.tiny_bundle import write_bundle

    return write_bundle(tmp_path_factory.mktemp("bundle") / "tiny", tokenizer_path)


@pytest.fixture
def encoder(tokenizer_path: Path) -> HashEncoder:
    return HashEncoder(tokenizer_path)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def built_index(tiny_repo: Path, home: Path, encoder: HashEncoder) -> Iterator[IndexReader]:
    build(tiny_repo, home, encoder)
    index = IndexReader.open(index_folder(home, tiny_repo))
    yield index
    index.close()


@pytest.fixture
def engine(home: Path) -> Iterator[Engine]:
    """An engine with the shipped model."""
    engine = Engine(home, device="cpu")
    yield engine
    engine.close()


@pytest.fixture
def nested_roots(tmp_path: Path, home: Path, encoder: HashEncoder) -> dict[str, Path]:
    """Three indexed folders, one of them inside another."""
    roots = {"one": tmp_path / "one", "inner": tmp_path / "one" / "inner", "two": tmp_path / "two"}
    for root in roots.values():
        write_tree(root, {"a.py": "def f():\n    pass\n"})
    for root in roots.values():
        build(root, home, encoder)
    return roots


@pytest.fixture
def index_tree(home: Path, encoder: HashEncoder) -> Iterator[Callable[..., IndexReader]]:
    """Return a function that updates the index of a tree and opens it. The fixture closes what was opened."""
    opened: list[IndexReader] = []

    def update(root: Path, **options: Any) -> IndexReader:
        build(root, home, options.pop("encoder", encoder), **options)
        opened.append(IndexReader.open(index_folder(home, root)))
        return opened[-1]

    yield update
    for index in opened:
        index.close()


@pytest.fixture
def index_of(tmp_path: Path, index_tree: Callable[..., IndexReader]) -> Callable[..., IndexReader]:
    """Return a function that writes a tree into a folder and indexes it."""
    return lambda tree, name="tree": index_tree(write_tree(tmp_path / name, tree))


@pytest.fixture
def searcher_of(tmp_path, encoder, index_tree) -> Callable[..., Searcher]:
    """Return a function that writes a tree, indexes it and returns a searcher over it."""

    def searcher(tree: dict[str, str], ranking: RankConfig | None = None, **options: Any) -> Searcher:
        return Searcher([index_tree(write_tree(tmp_path / "tree", tree), **options)], encoder, ranking)

    return searcher


@pytest.fixture
def always_merged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every update merge all segments into one."""
    monkeypatch.setattr(plan_module, "GROWTH", 1_000)


@pytest.fixture
def never_merged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make updates merge no segments. They still remove segments without live documents."""
    monkeypatch.setattr(build_module, "segments_to_merge", lambda *_, **__: [])


@pytest.fixture
def always_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use worker processes for any amount of work."""
    monkeypatch.setattr(parse, "_SERIAL_BYTES", 0)


@pytest.fixture
def command(tmp_path: Path, home: Path) -> Command:
    return Command(tmp_path, home)


@pytest.fixture
def indexed(tiny_repo: Path, home: Path, tiny_bundle: Path) -> Path:
    """The tiny repository, indexed in this process: quicker than by the command."""
    index_by_engine(tiny_repo, home, tiny_bundle)
    return tiny_repo
