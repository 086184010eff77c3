"""The update benchmark changes only its copy of the tree and measures real updates."""

from benchmarks import update
from benchmarks.update import measure, table


def test_a_small_tree_is_measured_and_its_source_is_not_changed(tmp_path, monkeypatch):
    monkeypatch.setattr(update, "_ROUNDS", 2)
    source = tmp_path / "source"
    source.mkdir()
    (source / "dates.py").write_text("def parse_date(text):\n    return text.split('-')\n")
    for number in range(8):
        (source / f"more_{number}.py").write_text(f"def more_{number}():\n    return {number}\n")
    before = (source / "dates.py").read_text()

    found = measure(source, tmp_path / "work", updates=1)

    assert (source / "dates.py").read_text() == before
    changed = (tmp_path / "work" / "tree" / "dates.py").read_text()
    assert [
        kind for kind in ("index", "query", "refresh") if f"appended_for_{kind}_0" in changed
    ] == "index query refresh".split()
    assert found["written_mb"]["median"] > 0
    assert min(found[name]["median"] for name in ("refresh_s", "refresh_unchanged_s")) > 0
    one, several = map(int, found["query_ms"])
    assert one == 1 < several <= 9
    written = table([{**found, "refresh_s": {"median": 0.123}}])
    assert written.startswith(
        "|  | 9 documents, 9 paths |\n|---|---|\n| `codesearch index`, one changed file | "
    )
    assert "\n| `Engine.refresh`, one changed file | 0.12 s |\n" in written
