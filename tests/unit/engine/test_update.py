"""One changed file costs one read of the manifest, one opening of each database and one check of each segment."""

import hashlib
import json
import math
import shutil
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from codesearch import Engine, Scope
from codesearch.build import stamps
from codesearch.engine import indexer
from codesearch.store import digest, manifest, segments
from codesearch.store.database import StoreReader
from codesearch.watch.watcher import Watcher
from tests.command import TIMEOUT
from tests.conftest import write_tree
from tests.unit.watch.test_watcher import Notifier

CHANGED = {"python/new.py": "def brand_new():\n    return 2\n"}


@pytest.fixture
def changed(tiny_repo: Path, home: Path, tiny_bundle: Path) -> Path:
    """Return a folder with an index of two segments, and a file that changed since."""
    with closing(Engine(home, model=tiny_bundle, device="cpu")) as engine:
        engine.index(tiny_repo)
        write_tree(tiny_repo, {"python/new.py": "def new():\n    return 1\n"})
        engine.index(tiny_repo)
    write_tree(tiny_repo, CHANGED)
    return tiny_repo


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch, changed: Path) -> Counter[str]:
    """Count calls of a process that has read nothing yet, by function and segment."""
    counts: Counter[str] = Counter()

    def count(owner: object, name: str, label: str, segment_of=lambda *_: "") -> None:
        real = getattr(owner, name)

        def counted(*arguments, **options):
            counts[f"{label} {segment_of(*arguments)}".strip()] += 1
            return real(*arguments, **options)

        monkeypatch.setattr(owner, name, counted)

    monkeypatch.setattr(manifest, "_latest", {})
    for module in (manifest, segments):
        count(module, "read_manifest", "manifest")
    count(stamps, "index_options", "settings")
    count(StoreReader, "__init__", "database", lambda _, segment, *__: int(segment.name))
    count(digest, "check_sizes", "sizes", lambda _, segment, *__: segment.number)
    return counts


@pytest.fixture
def engine(home: Path, tiny_bundle: Path):
    with closing(Engine(home, device="cpu")) as engine:
        yield engine


BEFORE = {"database 1": 1, "database 2": 1, "manifest": 1, "settings": 1}
"""What it takes to find that a file of the second segment changed."""
UPDATE = {**BEFORE, "sizes 1": 1, "sizes 2": 1, "sizes 3": 1}


def test_a_query_after_one_changed_file_does_everything_once(engine, changed, calls):
    answer = engine.session(Scope((changed,))).search("brand_new")
    assert [hit.name for hit in answer.hits][0] == "brand_new"
    assert [found.state for found in answer.freshness] == ["updated"]
    assert calls == {**UPDATE, "database 3": 1}


def test_a_status_after_one_changed_file_does_everything_once(engine, changed, calls):
    (status,) = engine.status(changed, changes=True)
    assert (status.changes.to_parse, status.changes.removed) == (1, 0)
    assert calls == BEFORE


def test_a_watcher_updates_one_changed_file_in_one_pass(engine, changed, calls):
    reports = []
    watcher = Watcher(engine, reports.append, roots=[changed], notifier=Notifier)
    (root,) = watcher.wait_for_due(math.inf)
    watcher.check(root)
    assert [report.state for report in reports] == ["updated", "watching"]
    assert calls == UPDATE


def test_an_index_run_after_one_changed_file_does_everything_once(engine, changed, calls):
    assert engine.index(changed).parsed == 1
    assert calls == UPDATE


def test_an_open_index_is_followed_by_the_next_commit(engine, changed, calls):
    engine.search("new", Scope((changed,)), refresh=False)
    assert engine.refresh(changed).state == "updated"
    calls.clear()
    answer = engine.search("brand_new", Scope((changed,)), refresh=False)
    assert [hit.name for hit in answer.hits][0] == "brand_new"
    assert calls == {"sizes 1": 1, "sizes 3": 1}, "the update has opened what the query needs"


def test_an_index_of_a_model_that_was_exchanged_is_behind(tiny_repo, home, tiny_bundle, tmp_path):
    bundle = shutil.copytree(tiny_bundle, tmp_path / "bundle")
    with closing(Engine(home, model=bundle, device="cpu")) as engine:
        engine.index(tiny_repo)
        tokenizer = bundle / "tokenizer.json"
        tokenizer.write_bytes(tokenizer.read_bytes() + b"\n")
        about = json.loads((bundle / "manifest.json").read_text())
        about["files"]["tokenizer.json"]["sha256"] = hashlib.sha256(tokenizer.read_bytes()).hexdigest()
        (bundle / "manifest.json").write_text(json.dumps(about))
        write_tree(tiny_repo, CHANGED)
        assert engine.refresh(tiny_repo, budget_s=60).state == "behind", "vectors of two models do not mix"
        assert engine.index(tiny_repo).parsed == 7


def test_several_writers_of_one_index_wait_for_each_other(tmp_path, home, tiny_bundle, monkeypatch):
    for patience in ("_PATIENCE_S", "_SHORT_PATIENCE_S"):  # A busy machine is slow.
        monkeypatch.setattr(indexer, patience, TIMEOUT)
    root = write_tree(tmp_path / "src", {f"f{number}.py": f"def f{number}(): pass\n" for number in range(5)})
    engines = [Engine(home, model=tiny_bundle) for _ in range(5)]

    def write(number: int) -> int:
        for content in range(3):
            (root / f"f{number}.py").write_text(f"def f{number}_{content}(): pass\n")
            engines[number].index(root)
        return number

    with ThreadPoolExecutor(5) as pool:
        assert sorted(pool.map(write, range(5))) == list(range(5))
    names = {hit.name for hit in engines[0].session(Scope((root,))).named("f", top_k=50)}
    assert names == {f"f{number}_2" for number in range(5)}
