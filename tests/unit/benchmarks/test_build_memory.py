"""Versions take turns, and each has an index to make and a changed file to find."""

from __future__ import annotations

from types import SimpleNamespace

from benchmarks import build_memory
from benchmarks.process import Usage


def test_versions_take_turns_from_nothing_and_after_a_change(tmp_path, monkeypatch):
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "a.py").write_text("def a():\n    pass\n")
    seen = []

    def index(tree, home, code):
        seen.append((code.name, (home / "indexes").exists(), (tree / "a.py").read_text().count("def ")))
        (home / "indexes").mkdir(parents=True, exist_ok=True)
        return Usage(len(seen), 1.0, 2.0, 3.0, 0, "")

    monkeypatch.setattr(build_memory, "index", index)
    monkeypatch.setattr(build_memory, "read_manifest", lambda _: SimpleNamespace(documents=7))
    versions = {"before": tmp_path / "old", "after": tmp_path / "new"}
    row = build_memory.row(tmp_path / "source", versions, tmp_path / "work", 2)
    assert seen == [
        ("old", False, 1),
        ("old", False, 1), ("old", True, 2), ("new", False, 2), ("new", True, 3),
        ("old", False, 3), ("old", True, 4), ("new", False, 4), ("new", True, 5),
    ]  # fmt: skip
    assert (row["documents"], row["rounds"]) == (7, 2)
    assert row["before, from nothing"] == {"wall_s": 4.0, "cpu_s": 1.0, "own_peak_mb": 3.0, "peak_mb": 2.0}
    assert row["after, one file changed"]["wall_s"] == 7.0
    assert (tmp_path / "source" / "a.py").read_text().count("def ") == 1
