"""The update benchmark changes its copy only, and each figure is of a real update."""

from __future__ import annotations

from pathlib import Path

from benchmarks.update import measure


def test_a_small_tree_is_measured_and_its_source_left_alone(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "dates.py").write_text("def parse_date(text):\n    return text.split('-')\n")
    before = (source / "dates.py").read_text()

    found = measure(source, tmp_path / "work", updates=1)

    assert (source / "dates.py").read_text() == before
    changed = (tmp_path / "work" / "tree" / "dates.py").read_text()
    assert [kind for kind in ("index", "query", "refresh") if f"appended_for_{kind}_0" in changed] == [
        "index",
        "query",
        "refresh",
    ]
    assert found["written_mb"]["median"] > 0
    assert found["refresh_s"]["median"] > found["refresh_unchanged_s"]["median"]
