"""Time stamps show whether a file or folder changed since the last walk. Doubtful ones count as changed."""

import os
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from codesearch.build.stamps import (
    FILE,
    Comparison,
    Stamps,
    compare,
    dependencies,
    doubtful,
    read_stamps,
    trusted,
    write_stamps,
)
from codesearch.files import ABSENT, stamp_of
from codesearch.settings import user_file
from codesearch.store.catalogue import index_folder
from codesearch.store.manifest import read_manifest
from tests.conftest import HashEncoder, build, write_tree

STAMPS = Stamps(
    files={
        "a.py": (3, 1_600_000_000_123_456_789, 5, 2**63 - 1, 33188),
        "b/\udce9\n.py": (0, 0, 0, 0, -33189),
    },
    passed={"b/deploy": (7, 1, 2, 3, 33188)},
    watched={"": (0, 2**62, 1, 1, 16877), "b/": (0, 5, 1, 1, 16877), "/etc/ignore": ABSENT},
    taken_ns=9,
)


def test_stamps_with_any_file_names_are_read_as_they_were_written(tmp_path):
    write_stamps(tmp_path, STAMPS, 7)
    assert read_stamps(tmp_path) == read_stamps(tmp_path, 7) == STAMPS
    assert read_stamps(tmp_path).taken_ns == 9
    assert list(read_stamps(tmp_path).files) == list(STAMPS.files)
    assert read_stamps(tmp_path, 8) == Stamps()


def test_stamps_of_an_older_version_are_not_read(tmp_path):
    write_stamps(tmp_path, STAMPS, 7)
    content = zlib.decompress((tmp_path / FILE).read_bytes())
    assert b'"version": 4' in content
    (tmp_path / FILE).write_bytes(zlib.compress(content.replace(b'"version": 4', b'"version": 3')))
    assert read_stamps(tmp_path) == Stamps()


def test_stamps_with_a_changed_bit_are_not_read(tmp_path):
    write_stamps(tmp_path, STAMPS, 7)
    content = (tmp_path / FILE).read_bytes()
    for bit in range(16, 8 * len(content)):  # The two bytes of zlib's header do not change the content.
        changed = bytearray(content)
        changed[bit // 8] ^= 1 << bit % 8
        (tmp_path / FILE).write_bytes(changed)
        assert read_stamps(tmp_path) in (Stamps(), STAMPS), bit


def test_a_stamp_is_trusted_two_seconds_later_or_if_it_was_seen_two_seconds_ago():
    started_ns = 1_700_000_000_000_000_000
    old_ns = started_ns - 2_000_000_000
    stamps = {
        "old": (1, old_ns, old_ns, 1, 33188),
        "written": (1, old_ns + 1, old_ns, 1, 33188),
        "replaced": (1, 5, old_ns + 1, 1, 33188),
        "future": (1, started_ns + 10**15, old_ns, 1, 33188),
    }
    first = trusted(stamps, started_ns, {}, 0)
    assert [path for path in stamps if first[path] == stamps[path]] == ["old"]
    assert first["future"] == doubtful(stamps["future"])
    assert trusted(stamps, started_ns, first, old_ns + 1) == first
    assert trusted(stamps, started_ns, first, old_ns) == stamps
    later = {path: (2, *stamp[1:]) for path, stamp in stamps.items()}
    assert trusted(later, started_ns, first, old_ns)["future"] == doubtful(later["future"])


@pytest.mark.parametrize("content", [b"", b"{}\n", b"[]\n", b"3", b"\xff\n", b'{"commit": 7, "files": 1}\n'])
def test_an_invalid_file_has_no_stamps(tmp_path, content):
    assert read_stamps(tmp_path) == Stamps()
    for stored in (content, zlib.compress(content)):
        (tmp_path / FILE).write_bytes(stored)
        assert read_stamps(tmp_path) == Stamps()


@pytest.fixture
def ask(tiny_repo: Path, home: Path, encoder: HashEncoder, settled: None) -> Callable[[], Comparison]:
    """Return what compares the tiny repository with its index, whose stamps are trusted."""
    write_tree(tiny_repo, {"deploy": "#!/usr/bin/env python3\n", "go/run": "", "big.py": "#" * 10_000_000})
    (tiny_repo / "go/run").chmod(0o755)
    (tiny_repo / "gone.py").symlink_to(tiny_repo / "nowhere")
    build(tiny_repo, home, encoder)
    folder = index_folder(home, tiny_repo)
    return lambda: compare(folder, read_manifest(folder))


def test_an_unchanged_tree_is_current_and_every_file_and_folder_has_its_stamp(tiny_repo, ask):
    found = ask()
    assert found.is_current
    kept = tiny_repo / "big.py", tiny_repo / "gone.py"
    files = {
        path.relative_to(tiny_repo).as_posix(): stamp_of(str(path))
        for path in tiny_repo.rglob("*.*")
        if path not in kept
    }
    assert found.stamps.files == files
    assert found.stamps.passed.keys() == {"deploy", "go/run", "big.py"}
    folders = {os.path.normpath(tiny_repo / path) for path in found.stamps.watched}
    assert {str(tiny_repo), *(str(path) for path in tiny_repo.iterdir() if path.is_dir())} <= folders


def edit(root: Path) -> None:
    path = root / "go/reader.go"
    path.write_text(path.read_text().replace("whole", "WHOLE"))


def edit_and_restore_the_time(root: Path) -> None:
    seen = (root / "go/reader.go").stat()
    edit(root)
    os.utime(root / "go/reader.go", ns=(seen.st_atime_ns, seen.st_mtime_ns))


def add(root: Path) -> None:
    (root / "go/new.go").write_text("package reader\n")


def remove(root: Path) -> None:
    (root / "go/reader.go").unlink()


def rename(root: Path) -> None:
    (root / "go/reader.go").rename(root / "go/writer.go")


def add_folder(root: Path) -> None:
    (root / "new").mkdir()


def ignore(root: Path) -> None:
    (root / "go/.gitignore").write_text("*.go\n")


def touch(root: Path) -> None:
    os.utime(root / "go/reader.go")


def replace_by_folder(root: Path) -> None:
    (root / "go/reader.go").unlink()
    (root / "go/reader.go").mkdir()


def exchange(root: Path) -> None:
    seen = (root / "go/reader.go").stat()
    (root / "go/other.tmp").write_bytes(b"x" * seen.st_size)
    os.replace(root / "go/other.tmp", root / "go/reader.go")
    os.utime(root / "go/reader.go", ns=(seen.st_atime_ns, seen.st_mtime_ns))


def make_executable(root: Path) -> None:
    (root / "deploy").chmod(0o755)


def add_a_shebang(root: Path) -> None:
    (root / "go/run").write_text("#!/bin/sh\n")


def make_smaller(root: Path) -> None:
    (root / "big.py").write_text("")


def lock(root: Path) -> None:
    (root / "go").chmod(0o700)


def start_a_repository_above(root: Path) -> None:
    (root.parent / ".git").mkdir()


def set_a_setting(root: Path) -> None:
    (root / ".codesearch.toml").write_text('content = "all"\n')


CHANGES = (
    edit,
    edit_and_restore_the_time,
    add,
    remove,
    rename,
    add_folder,
    ignore,
    touch,
    replace_by_folder,
    exchange,
    make_executable,
    add_a_shebang,
    make_smaller,
    lock,
    start_a_repository_above,
    set_a_setting,
)


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_change_is_noticed(tiny_repo, ask, change):
    change(tiny_repo)
    assert not ask().is_current


def test_the_users_settings_are_part_of_the_comparison(ask, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    write_tree(tmp_path / "settings/codesearch", {"config.toml": 'mode = "lexical"\n'})
    assert ask().is_current
    write_tree(tmp_path / "settings/codesearch", {"config.toml": 'exclude = ["*.go"]\n'})
    assert not ask().is_current


@pytest.mark.parametrize("place", ["", "go", ".."])
def test_a_change_to_an_ignore_file_is_noticed(tiny_repo, home, encoder, place, ask):
    (tiny_repo.parent / ".git").mkdir()
    rules = tiny_repo / place / ".gitignore"
    rules.write_text("*.tmp\n")
    build(tiny_repo, home, encoder)
    assert ask().is_current
    rules.write_text("*.py\n*.go")  # Written in place: the folder keeps its stamp.
    assert not ask().is_current


def test_recent_files_and_folders_always_count_as_changed(tiny_repo, home, encoder):
    manifest = build(tiny_repo, home, encoder).manifest
    found = compare(index_folder(home, tiny_repo), manifest)
    assert found.changed is None
    assert {stamp[4] < 0 for stamp in found.stamps.files.values()} == {True}


def test_without_stamps_a_tree_is_not_current(ask, tiny_repo, home):
    (index_folder(home, tiny_repo) / FILE).unlink()
    assert not ask().is_current


def test_an_index_depends_on_its_folders_and_on_files_elsewhere(tiny_repo, home, encoder):
    write_tree(tiny_repo, {"go/.gitignore": "x\n"})
    manifest = build(tiny_repo, home, encoder).manifest
    found = dependencies(index_folder(home, tiny_repo), manifest, home)
    assert {f"{tiny_repo}/", f"{tiny_repo}/go/"} < found.folders
    assert str(user_file(os.environ, Path.home())) in found.files
    assert not any(file.startswith(f"{tiny_repo}/") for file in found.files)
    assert {str(tiny_repo), str(tiny_repo.parent)} < found.above
