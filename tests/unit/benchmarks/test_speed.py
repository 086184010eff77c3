"""Rows and tables of the comparison with other tools."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks.peers import PEERS, Paths, System, run
from benchmarks.service import service_rows
from benchmarks.speed import row


def scripted(tmp_path: Path, index: str, query: str) -> tuple[System, Paths]:
    """Return a system whose commands are Python code."""
    system = System(
        "scripted",
        ("some-package",),
        lambda paths: [sys.executable, "-c", index],
        lambda paths, words: [sys.executable, "-c", query, words],
        lambda paths: [sys.executable, "-c", "import json, sys; print([1.0 for _ in json.load(sys.stdin)])"],
    )
    environment = tmp_path / "environment"
    environment.mkdir()
    (environment / "installed").write_text("some-package")
    return system, Paths(tmp_path, tmp_path / "store", environment)


def test_a_row_has_every_figure(tmp_path):
    system, paths = scripted(tmp_path, "open('made', 'wb').write(bytes(100_000))", "open('made')")
    found = row(system, paths)
    assert (found["disk_mb"], found["warm_query"]) == (0.1, {"p50_ms": 1.0, "p95_ms": 1.0})
    assert set(found["index"]) == {"wall_s", "cpu_s", "cores_busy", "peak_mb"}
    assert 0 < found["cold_query"]["wall_s"] < 20


@pytest.mark.parametrize(
    ("index", "query"),
    [("raise SystemExit('no model')", ""), ("", "raise SystemExit('no model')")],
    ids=["index", "query"],
)
def test_a_system_that_fails_has_a_row_with_the_reason(tmp_path, index, query):
    found = row(*scripted(tmp_path, index, query))
    assert found["failed"] == "failed: no model"


def test_a_system_that_cannot_be_installed_has_a_row_with_the_reason(tmp_path, monkeypatch):
    system, paths = scripted(tmp_path, "", "")
    (paths.environment / "installed").unlink()
    runs = []

    def pip_fails(command, **options):
        runs.append(command)
        return subprocess.CompletedProcess(command, int("pip" in command), "", "x\nERROR: none found\n")

    monkeypatch.setattr("benchmarks.peers.subprocess.run", pip_fails)
    assert row(system, paths) == {"failed": "not installed: ERROR: none found"}
    assert runs[0][-2:] == ["venv", paths.environment]
    assert runs[1][-1] == "some-package"


def test_a_peer_does_not_see_this_checkout(tmp_path, monkeypatch):
    system, paths = scripted(tmp_path, "", "")
    monkeypatch.setenv("PYTHONPATH", "/checkout")
    paths.store.mkdir()
    told = "import os; print(os.environ['PYTHONPATH'], os.environ['HF_HUB_OFFLINE'])"
    assert run(system, paths, [sys.executable, "-c", told]).output == " 1\n"


def test_every_peer_is_pinned():
    assert [package for peer in PEERS for package in peer.packages if "==" not in package] == []


def test_a_wider_model_gives_the_same_cosines(tmp_path):
    safetensors = pytest.importorskip("safetensors.numpy")
    from benchmarks.warm.semble_widen import main

    narrow = np.random.default_rng(0).integers(-127, 127, (5, 8)).astype(np.int8)
    tensors = {"embeddings": narrow, "weights": np.ones(5, np.float32)}
    (tmp_path / "model").mkdir()
    safetensors.save_file(tensors, tmp_path / "model" / "model.safetensors")
    (tmp_path / "model" / "config.json").write_text("{}")
    main(str(tmp_path / "model"), str(tmp_path / "wide"), "4")
    found = safetensors.load_file(tmp_path / "wide" / "model.safetensors")
    assert found["embeddings"].shape == (5, 32)
    assert sorted(path.name for path in (tmp_path / "wide").iterdir()) == ["config.json", "model.safetensors"]
    np.testing.assert_allclose(cosines(found["embeddings"]), cosines(narrow), atol=1e-6)
    np.testing.assert_array_equal(found["weights"], tensors["weights"])


def cosines(rows):
    unit = rows / np.linalg.norm(rows.astype(np.float64), axis=1, keepdims=True)
    return unit @ unit.T


def test_queries_are_timed_with_and_without_a_service(indexed, home, monkeypatch):
    monkeypatch.setattr("benchmarks.service._CLIENTS", 1)
    found = service_rows(Paths(indexed, home, home))
    assert set(found) == {"service_query", "query_without", "python_alone"}
    assert min(found[name]["p50_ms"] for name in ("service_query", "query_without")) > 0
    assert found["service_query"]["service_mb"] > 10
