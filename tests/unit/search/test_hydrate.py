"""Candidates become hits with the current code of the files."""

import os
from functools import partial

import pytest

from codesearch.search.hits import hydrate
from codesearch.search.ranking import Candidate
from codesearch.store.snapshot import Snapshot
from codesearch.types import Hit

POP = 10
"""doc_id of `Stack.pop` in the tiny repository."""


def hit(index, doc_id: int = POP) -> Hit:
    (found,) = hydrate(Snapshot([index]), [Candidate(doc_id, 0.5, {"cosine": 0.25})])
    return found


def test_a_hit_has_the_fields_of_the_index_and_the_code_of_the_file(built_index, tiny_repo):
    assert hit(built_index) == Hit(
        rank=1,
        score=0.5,
        root=str(tiny_repo),
        path="python/convert.py",
        language="python",
        kind="method",
        name="pop",
        qualified_name="Stack.pop",
        signature="def pop(self)",
        docstring="Take the top item off.",
        start_line=21,
        end_line=23,
        last_line=23,
        code='    def pop(self):\n        """Take the top item off."""\n        return self.items.pop()',
        signals={"cosine": 0.25},
        stale=False,
    )


def test_hits_keep_the_order_of_the_ranking_across_indexes(built_index):
    ranked = [Candidate(*place, {}) for place in ((16, 0.9), (0, 0.8), (3, 0.7), (13, 0.6))]
    hits = hydrate(Snapshot([built_index, built_index]), ranked)
    assert [(found.rank, found.name, found.score) for found in hits] == [
        (1, "sortStrings", 0.9),
        (2, "ReadLines", 0.8),
        (3, "sortStrings", 0.7),
        (4, "ReadLines", 0.6),
    ]


def test_a_touched_file_is_not_stale(built_index, tiny_repo):
    os.utime(tiny_repo / "python/convert.py")
    assert not hit(built_index).stale


def test_a_file_that_was_found_unchanged_is_read_again_if_it_changes_with_its_size_and_time(
    built_index, tiny_repo, monkeypatch
):
    monkeypatch.setattr("codesearch.store.source.RACY_NS", -(10**18))  # Its digest is remembered at once.
    path = tiny_repo / "python/convert.py"
    assert not hit(built_index).stale
    assert any(segment.unchanged for segment in built_index.segments)
    before = path.stat()
    path.write_text(path.read_text().replace("top item", "top thin"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size
    assert hit(built_index).stale


def test_the_digest_of_a_file_that_may_change_without_a_new_stamp_is_not_remembered(built_index, monkeypatch):
    monkeypatch.setattr("codesearch.store.source.RACY_NS", 10**18)
    assert not hit(built_index).stale
    assert not any(segment.unchanged for segment in built_index.segments)


def test_a_hit_in_a_changed_file_has_the_current_lines_and_is_stale(built_index, tiny_repo):
    path = tiny_repo / "python/convert.py"
    path.write_text("# moved\n" + path.read_text())
    found = hit(built_index)
    assert found.stale
    assert found.start_line == 21
    assert found.code.split("\n")[1] == "    def pop(self):"


@pytest.mark.parametrize("touched", [False, True])
def test_code_is_whole_lines_of_the_file(tmp_path, index_tree, touched):
    path = tmp_path / "src" / "a.js"
    path.parent.mkdir()
    source = b"// \xc3\xa9\r\nclass A { f() { return 1 } }; function g() {\r\n}\nlet x = 1; function h() {\n}"
    path.write_bytes(source)
    os.utime(path, (1_000_000_000, 1_000_000_000))
    index = index_tree(path.parent)
    if touched:
        os.utime(path)
    second, *_ = lines = source.decode().split("\n")[1:]
    codes = [(found.name, found.code, found.stale) for found in map(partial(hit, index), range(4))]
    assert codes == [
        ("A", second, False),
        ("f", second, False),
        ("g", "\n".join(lines[:2]), False),
        ("h", "\n".join(lines[2:]), False),
    ]


def test_a_hit_in_a_shortened_file_has_the_remaining_lines(built_index, tiny_repo):
    (tiny_repo / "python/convert.py").write_text("x\n" * 21 + "y")
    assert (hit(built_index).code, hit(built_index).stale) == ("x\ny", True)
    (tiny_repo / "python/convert.py").write_text("x\n")
    assert (hit(built_index).code, hit(built_index).stale) == ("", True)


def test_documents_of_a_deleted_file_or_one_replaced_by_a_folder_are_not_hits(built_index, tiny_repo):
    (tiny_repo / "python/convert.py").unlink()
    snapshot = Snapshot([built_index])
    ranked = [Candidate(doc_id, 1.0, {}) for doc_id in range(built_index.manifest.documents)]
    found = hydrate(snapshot, ranked)
    assert [hit.rank for hit in found] == list(range(1, 9))
    assert "python/convert.py" not in {hit.path for hit in found}
    (tiny_repo / "python/convert.py").mkdir()
    assert hydrate(snapshot, ranked) == found


def test_bytes_that_are_not_utf8_are_read_as_latin_1(tmp_path, index_tree):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_bytes(b"def f():\n    return '\xff'\n")
    assert hit(index_tree(tmp_path / "src"), 0).code == "def f():\n    return 'ÿ'"


def test_an_empty_ranking_gives_no_hits(built_index):
    assert hydrate(Snapshot([built_index]), []) == hydrate(Snapshot([]), []) == []
