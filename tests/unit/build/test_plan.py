"""The plan of an update: new, changed, touched and deleted files."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from codesearch.build import plan as plan_module
from codesearch.build import stamps as stamps_module
from codesearch.build.plan import LiveFile, Plan, content_digest, plan_update
from codesearch.build.stamps import FILE as STAMPS
from codesearch.build.stamps import compare, write_stamps
from codesearch.config import IndexConfig, ParseConfig, WalkConfig
from codesearch.files import stamp_of
from codesearch.store.catalogue import index_folder
from codesearch.store.manifest import last_manifest
from codesearch.store.segments import IndexReader
from tests.conftest import HashEncoder, break_format, build, only, write_tree

CONVERT = "python/convert.py"
OLD_NS = 1_600_000_000_000_000_000


@pytest.fixture
def planned(tiny_repo: Path, home: Path, encoder: HashEncoder, settled: None):
    """Plan an update of the tiny repository, indexed with stamps that can be trusted."""
    build(tiny_repo, home, encoder)

    def plan(config: IndexConfig | None = None, model_id: str = encoder.model_id, **options: Any) -> Plan:
        folder = index_folder(home, tiny_repo)
        last = last_manifest(folder)
        return plan_update(tiny_repo, folder, config or IndexConfig(), model_id, last=last, **options)

    return plan


def to_parse(plan: Plan) -> list[str]:
    return [file.path for file in plan.to_parse]


def all_paths(root: Path) -> list[str]:
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*.*"))


def test_a_file_has_the_language_of_its_source(tmp_path, home, encoder, settled):
    files = {
        "a.h": "class A {\npublic:\n  int b() const { return 1; }\n};\n",
        "b.h": "int b(void);\nstruct c { int d; };\n",
    }
    root = write_tree(tmp_path / "tree", files)
    build(root, home, encoder)
    last = last_manifest(index_folder(home, root))
    assert last.languages == {"c": 2, "cpp": 2}
    assert plan_update(
        root, index_folder(home, root), IndexConfig(), encoder.model_id, last=last
    ).nothing_to_do


def test_without_an_index_every_file_is_parsed(tiny_repo, home):
    plan = plan_update(tiny_repo, index_folder(home, tiny_repo), IndexConfig(), "model", last=None)
    assert (plan.previous, plan.kept, plan.dead, plan.removed) == (None, 0, [], 0)
    assert to_parse(plan) == all_paths(tiny_repo)
    assert not plan.nothing_to_do


@pytest.fixture
def digested(monkeypatch) -> list[bytes]:
    """Return the list of sources that plans read."""
    read = []

    def digest(source: bytes, real=content_digest) -> bytes:
        read.append(source)
        return real(source)

    monkeypatch.setattr(plan_module, "content_digest", digest)
    return read


def test_an_unchanged_tree_gives_nothing_to_do_and_reads_no_file(planned, tiny_repo, digested):
    plan = planned()
    assert plan.nothing_to_do
    assert plan.kept == len(all_paths(tiny_repo))
    assert digested == []


def test_a_dead_file_is_listed_with_its_segment_and_record(planned, tiny_repo, home):
    (tiny_repo / CONVERT).unlink()
    plan = planned()
    segment = only(IndexReader.open(index_folder(home, tiny_repo)))
    live = {record.path: LiveFile(1, file_id, record) for file_id, record in enumerate(segment.files)}
    segment.close()
    assert plan.dead == [live.pop(CONVERT)]
    assert plan.kept == len(live)


def test_a_touched_file_is_recognised_by_its_content(planned, tiny_repo, home, encoder, digested):
    os.utime(tiny_repo / CONVERT, ns=(OLD_NS + 1, OLD_NS + 1))
    plan = planned()
    assert plan.nothing_to_do
    assert digested == [(tiny_repo / CONVERT).read_bytes()]
    build(tiny_repo, home, encoder)
    del digested[:]
    assert planned().nothing_to_do
    assert digested == [], "the next update read it again"


def test_stamps_of_another_commit_are_not_used(planned, tiny_repo, home, encoder):
    path, folder = tiny_repo / CONVERT, index_folder(home, tiny_repo)
    old = path.read_text()
    stamps = (folder / STAMPS).read_bytes()
    path.write_text(old.replace("decimal", "DECIMAL"))
    build(tiny_repo, home, encoder)
    (folder / STAMPS).write_bytes(stamps)  # The writer was killed right after its commit.
    path.write_text(old)
    os.utime(path, ns=(OLD_NS, OLD_NS))
    assert to_parse(planned()) == [CONVERT]


def test_an_index_that_is_not_complete_is_compared_with_the_whole_tree(planned, tiny_repo, home, encoder):
    folder = index_folder(home, tiny_repo)
    last = replace(last_manifest(folder), complete=False)
    plan = plan_update(tiny_repo, folder, IndexConfig(), encoder.model_id, last=last)
    assert (to_parse(plan), plan.nothing_to_do) == ([], False)
    empty = replace(last, segments=[])
    plan = plan_update(tiny_repo, folder, IndexConfig(), encoder.model_id, last=empty)
    assert to_parse(plan) == all_paths(tiny_repo)


def test_a_comparison_with_another_commit_is_not_used(planned, tiny_repo, home, encoder):
    folder, path = index_folder(home, tiny_repo), tiny_repo / CONVERT
    path.write_text(path.read_text().replace("decimal", "DECIMAL"))
    seen = compare(folder, last_manifest(folder))
    build(tiny_repo, home, encoder)  # Another process commits before this one has the lock.
    write_tree(tiny_repo, {"ruby/queue.rb": "def other\nend\n"})
    assert to_parse(planned(seen=seen)) == ["ruby/queue.rb"]


def test_without_stamps_all_files_are_recognised_by_their_content(planned, tiny_repo, home, digested):
    (index_folder(home, tiny_repo) / STAMPS).unlink()
    assert planned().nothing_to_do
    assert digested == [(tiny_repo / path).read_bytes() for path in all_paths(tiny_repo)]


def test_a_touched_file_that_then_changes_is_parsed(planned, tiny_repo, home, encoder):
    path = tiny_repo / CONVERT
    os.utime(path, ns=(OLD_NS + 1, OLD_NS + 1))
    build(tiny_repo, home, encoder)
    path.write_text(path.read_text().replace("decimal", "DECIMAL"))
    assert to_parse(planned()) == [CONVERT]


def test_a_file_with_a_changed_size_and_an_old_time_stamp_is_parsed(planned, tiny_repo):
    path = tiny_repo / CONVERT
    path.write_text(path.read_text() + "\n")
    os.utime(path, ns=(OLD_NS, OLD_NS))
    assert to_parse(planned()) == [CONVERT]


def test_new_and_deleted_files_are_in_the_plan(planned, tiny_repo):
    (tiny_repo / CONVERT).rename(tiny_repo / "python" / "numbers.py")
    plan = planned()
    assert (to_parse(plan), plan.removed, plan.nothing_to_do) == (["python/numbers.py"], 1, False)
    assert [live.record.path for live in plan.dead] == [CONVERT]


def test_exchanged_files_of_the_same_size_and_time_are_parsed(planned, tiny_repo, home, encoder):
    one, two = (tiny_repo / name for name in ("one.py", "two.py"))
    for path in (one, two):
        path.write_text(f"def {path.stem}(): pass\n")
        os.utime(path, ns=(OLD_NS, OLD_NS))
    build(tiny_repo, home, encoder)
    one.rename(tiny_repo / "three.py")
    two.rename(one)
    (tiny_repo / "three.py").rename(two)
    assert to_parse(planned()) == ["one.py", "two.py"]


def test_files_with_time_stamps_in_the_future_are_read_only_twice(
    tiny_repo, home, encoder, digested, monkeypatch
):
    for path in (tiny_repo, *tiny_repo.rglob("*")):
        os.utime(path, ns=(2**62, 2**62))
    build(tiny_repo, home, encoder)
    folder = index_folder(home, tiny_repo)
    last = last_manifest(folder)
    for files in (len(all_paths(tiny_repo)), 0):
        monkeypatch.setattr(stamps_module, "RACY_NS", 0)  # The last walk was long ago, too.
        del digested[:]
        plan = plan_update(tiny_repo, folder, IndexConfig(), encoder.model_id, last=last)
        assert (plan.nothing_to_do, len(digested)) == (True, files)
        write_stamps(folder, plan.stamps, last.commit)


@pytest.fixture
def not_walked(monkeypatch) -> None:
    """Fail if a plan walks the tree."""

    def refuse(*_):
        raise AssertionError("walked")

    monkeypatch.setattr(plan_module, "walk", refuse)


def test_a_change_inside_a_file_needs_no_walk(planned, tiny_repo, not_walked):
    assert planned().nothing_to_do
    path = tiny_repo / CONVERT
    path.write_text(path.read_text().replace("decimal", "DECIMAL"))
    plan = planned()
    assert (to_parse(plan), plan.removed, plan.kept) == ([CONVERT], 0, len(all_paths(tiny_repo)) - 1)
    assert [live.record.path for live in plan.dead] == [CONVERT]


def test_a_touched_file_needs_no_walk_and_gets_a_new_stamp(planned, tiny_repo, not_walked):
    os.utime(tiny_repo / CONVERT, ns=(OLD_NS + 1, OLD_NS + 1))
    plan = planned()
    assert (plan.nothing_to_do, plan.stamps_changed) == (True, True)
    assert plan.stamps.files[CONVERT] == stamp_of(str(tiny_repo / CONVERT))


def test_a_file_that_grows_over_the_limit_is_removed(planned, tiny_repo, home, encoder):
    small = IndexConfig(walk=WalkConfig(max_file_bytes=1_000))
    build(tiny_repo, home, encoder, config=small)
    text = (tiny_repo / CONVERT).read_text()
    (tiny_repo / CONVERT).write_text(text + "# long\n" * 200)
    plan = planned(small)
    assert (to_parse(plan), plan.removed, plan.walked.skipped) == ([], 1, {"too large": {".py": 1}})
    os.utime(tiny_repo / CONVERT, ns=(OLD_NS, OLD_NS))
    build(tiny_repo, home, encoder, config=small)
    (tiny_repo / CONVERT).write_text(text)
    assert to_parse(planned(small)) == [CONVERT], "a file that is small again was not noticed"


def test_a_tree_that_became_part_of_a_git_work_tree_follows_its_ignore_rules(planned, tiny_repo):
    (tiny_repo.parent / ".git").mkdir()
    (tiny_repo.parent / ".gitignore").write_text("*.go\n")
    assert planned().removed == 1


def test_a_touched_file_that_cannot_be_read_is_parsed_again(planned, tiny_repo, monkeypatch):
    os.utime(tiny_repo / CONVERT, ns=(OLD_NS + 1, OLD_NS + 1))

    def refuse(root, path, *_, **__):
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(plan_module, "read_below", refuse)
    assert to_parse(planned()) == [CONVERT]


def test_other_parser_settings_need_a_new_index(planned, tiny_repo):
    plan = planned(IndexConfig(parse=ParseConfig(max_nesting=31)))
    assert plan.previous is None
    assert to_parse(plan) == all_paths(tiny_repo)


@pytest.mark.parametrize(
    ("walk", "removed"),
    [
        (WalkConfig(hidden=True), 0),
        (WalkConfig(exclude=("*.absent",)), 0),
        (WalkConfig(exclude=("*.go",)), 1),
        (WalkConfig(languages=("py", "ruby")), 4),
    ],
)
def test_other_walk_settings_keep_indexed_files(planned, tiny_repo, home, encoder, walk, removed):
    config = IndexConfig(walk=walk)
    plan = planned(config)
    assert (plan.removed, to_parse(plan), plan.nothing_to_do) == (removed, [], False)
    build(tiny_repo, home, encoder, config=config)
    assert planned(config).nothing_to_do
    assert len(to_parse(planned(IndexConfig()))) == removed


def test_a_file_that_has_another_language_with_other_settings_is_parsed(planned, tiny_repo, home, encoder):
    write_tree(tiny_repo, {"README": "#!/usr/bin/env python3\ndef read(): pass\n"})
    (tiny_repo / "README").chmod(0o755)
    build(tiny_repo, home, encoder)
    assert to_parse(planned(IndexConfig(walk=WalkConfig(content="all")))) == ["README"]


def test_another_model_or_grammar_needs_a_new_index(planned, monkeypatch):
    assert planned().nothing_to_do
    assert planned(model_id="other").previous is None
    monkeypatch.setattr(plan_module, "grammar_version", lambda spec: f"{spec.name} 99")
    assert planned().previous is None


def test_rebuild_ignores_the_last_index(planned):
    plan = planned(rebuild=True)
    assert (plan.previous, plan.kept, plan.nothing_to_do) == (None, 0, False)


def test_an_index_of_another_format_is_not_updated(planned, tiny_repo, home):
    break_format(index_folder(home, tiny_repo))
    assert planned().previous is None
