"""Vectors of a larger encoder: made in batches, kept by text, by one process at a time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from codesearch.index import upgrade_worker
from codesearch.index.cache import VectorCache
from codesearch.index.home import index_folder
from codesearch.index.lock import file_lock
from codesearch.index.reader import IndexReader
from codesearch.index.upgrade import UpgradeProgress, progress, upgrade
from tests.conftest import HashEncoder, build, write_tree


@pytest.fixture
def larger(tokenizer_path: Path) -> HashEncoder:
    return HashEncoder(tokenizer_path, model_id="larger")


@pytest.fixture
def cache(home: Path, larger: HashEncoder):
    opened = VectorCache(home, larger.model_id, larger.dim)
    yield opened
    opened.close()


def test_every_document_gets_a_vector_once(built_index, cache, larger):
    total = built_index.manifest.documents
    assert progress(built_index, cache) == UpgradeProgress(0, total)
    assert upgrade(built_index, cache, larger) == UpgradeProgress(total, total)
    assert progress(built_index, cache).percent == 100
    assert len(larger.embedded) == len(set(built_index.store.text_digests()))
    upgrade(built_index, cache, larger)
    assert len(larger.embedded) == len(set(built_index.store.text_digests()))


def test_a_stop_keeps_all_whole_batches_and_the_rest_follows(built_index, cache, larger, monkeypatch):
    monkeypatch.setattr("codesearch.index.upgrade._BATCH", 3)
    answers = iter([True, True, False])
    total = built_index.manifest.documents
    assert upgrade(built_index, cache, larger, goes_on=lambda: next(answers)) == UpgradeProgress(6, total)
    assert progress(built_index, cache) == UpgradeProgress(6, total)
    seen: list[int] = []
    upgrade(built_index, cache, larger, on_progress=lambda state: seen.append(state.done))
    assert seen[0] == min(total, 9) and seen[-1] == total
    assert len(larger.embedded) == len(set(larger.embedded)) == total


def test_texts_that_matter_to_nobody_are_left_out(built_index, cache, larger):
    wanted = {*built_index.store.text_digests()[2:4]}
    assert upgrade(built_index, cache, larger, only=wanted).done == 2
    assert cache.known(built_index.store.text_digests()) == wanted


def test_a_file_that_changed_since_waits_for_the_next_update(tiny_repo, home, encoder, cache, larger):
    build(tiny_repo, home, encoder)
    folder = index_folder(home, tiny_repo)
    index = IndexReader.open(folder)
    convert = tiny_repo / "python/convert.py"
    changed = convert.read_text() + "\n\ndef added():\n    return 1\n"
    convert.write_text(changed)
    assert upgrade(index, cache, larger) == UpgradeProgress(
        index.manifest.documents - 5, index.manifest.documents
    )
    index.close()
    build(tiny_repo, home, encoder)
    index = IndexReader.open(folder)
    assert upgrade(index, cache, larger).percent == 100
    index.close()


def test_a_text_known_from_another_root_is_not_embedded_again(tmp_path, home, index_tree, cache, larger):
    source = {"a.py": "def read_lines(path):\n    return open(path).readlines()\n"}
    first = index_tree(write_tree(tmp_path / "first", source))
    second = index_tree(write_tree(tmp_path / "second", source))
    upgrade(first, cache, larger)
    assert progress(second, cache) == UpgradeProgress(1, 1)


def test_a_generation_is_complete_until_the_next_one(built_index):
    folder, manifest = built_index.folder, built_index.manifest
    upgrade_worker.ask(folder)
    assert upgrade_worker.is_asked(folder) and not upgrade_worker.is_complete(folder, manifest)
    upgrade_worker.set_complete(folder, manifest.generation)
    upgrade_worker.ask(folder)  # Asking again does not forget what is done.
    assert upgrade_worker.is_complete(folder, manifest)
    assert upgrade_worker.pending(folder.parent.parent) == []
    upgrade_worker.set_complete(folder, manifest.generation - 1)
    assert upgrade_worker.pending(folder.parent.parent) == [folder]
    upgrade_worker.set_complete(folder, manifest.generation)
    upgrade_worker.set_incomplete(folder.parent.parent)
    assert upgrade_worker.pending(folder.parent.parent) == [folder]
    upgrade_worker.stop(folder)
    upgrade_worker.set_complete(folder, manifest.generation)
    assert upgrade_worker.pending(folder.parent.parent) == []
    assert not upgrade_worker.is_asked(folder)


def test_another_larger_model_starts_anew(built_index, tmp_path, monkeypatch):
    upgrade_worker.ask(built_index.folder)
    upgrade_worker.set_complete(built_index.folder, built_index.manifest.generation)
    (tmp_path / "manifest.json").write_text("another")
    monkeypatch.setattr(upgrade_worker, "LARGER", tmp_path)
    assert not upgrade_worker.is_complete(built_index.folder, built_index.manifest)


def test_one_process_at_a_time_makes_vectors(home, monkeypatch):
    monkeypatch.setattr(upgrade_worker.os, "nice", lambda _: 0)
    monkeypatch.setattr(upgrade_worker, "_POLL_S", 0.0)
    worked: list[Path] = []
    monkeypatch.setattr(upgrade_worker, "pending", lambda _: worked)
    assert upgrade_worker.worker_at(home) is None
    with file_lock(home / "cache" / "upgrade.lock") as owner:
        assert owner is None
        assert upgrade_worker.worker_at(home) == os.getpid()
        worked.append(home)  # Would fail, having no manifest, if it were looked at.
        assert upgrade_worker.main(home, "cpu") == 0


def test_a_process_in_the_background_uses_the_device_that_was_asked_for(home, built_index, monkeypatch):
    started, worked = [], []

    def popen(command, **_):
        started.append(command)
        return SimpleNamespace(pid=7)

    monkeypatch.setattr(upgrade_worker.subprocess, "Popen", popen)
    assert upgrade_worker.start(home, "cuda") == 7
    assert started[0][-2:] == [str(home.resolve()), "cuda"]

    def work(at, folder, *, device):
        worked.append(device)
        upgrade_worker.stop(folder)

    monkeypatch.setattr(upgrade_worker, "work", work)
    monkeypatch.setattr(upgrade_worker.os, "nice", lambda _: 0)
    upgrade_worker.ask(built_index.folder)
    assert upgrade_worker.main(home, "cuda") == 0
    assert worked == ["cuda"]


KILLED = """
import sys, time
from pathlib import Path
from codesearch.index.cache import VectorCache
from codesearch.index.home import index_folder
from codesearch.index.lock import file_lock
from codesearch.index.reader import IndexReader
from codesearch.index import upgrade as module
from tests.conftest import HashEncoder

class Slow(HashEncoder):
    def encode_documents(self, documents):
        if self.embedded:
            print("first batch is written", flush=True)
            time.sleep(60)
        return super().encode_documents(documents)

home, folder, tokenizer = map(Path, sys.argv[1:])
module._BATCH = 4
encoder = Slow(tokenizer, model_id="larger")
with file_lock(home / "cache" / "upgrade.lock"):
    module.upgrade(IndexReader.open(folder), VectorCache(home, "larger", encoder.dim), encoder)
"""


def test_a_kill_loses_one_batch_and_frees_the_lock(built_index, home, cache, larger, tokenizer_path):
    arguments = [str(home), str(built_index.folder), str(tokenizer_path)]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, *arguments], stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "first batch is written\n"
        assert upgrade_worker.worker_at(home) == process.pid
        os.kill(process.pid, signal.SIGKILL)
    for _ in range(100):
        if upgrade_worker.worker_at(home) is None:
            break
        time.sleep(0.05)
    assert upgrade_worker.worker_at(home) is None
    assert progress(built_index, cache).done == 4
    assert upgrade(built_index, cache, larger).percent == 100
    assert len(larger.embedded) == built_index.manifest.documents - 4
