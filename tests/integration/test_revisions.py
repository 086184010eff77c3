"""`--at REV`: the files of a git revision are searched without a checkout."""

import os
import shutil
import time
from pathlib import Path

import pytest

from codesearch import Engine, Scope
from codesearch.engine.revisions import _is_safe, find_revision, is_indexed
from codesearch.errors import ConfigError, IndexNotFoundError
from tests.command import Command
from tests.conftest import write_tree
from tests.git import git, repository

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
OLD = {f"src/{name}.py": f"def {name}_pigeon(item):\n    return old\n" for name in ("open", "close", "feed")}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository whose tag `old` has three functions; one of them is another one now."""
    root = repository(
        tmp_path / "project", {**OLD, "run": "#!/usr/bin/env python3\ndef run_pigeon(): pass\n"}
    )
    (root / "run").chmod(0o755)
    (root / "link.py").symlink_to("src/open.py")
    git(root, "add", ".")
    git(root, "commit", "-qm", "a script and a link")
    git(root, "tag", "old")
    write_tree(root, {"src/open.py": "def wash_pigeon(item):\n    return new\n"})
    git(root, "commit", "-qam", "wash")
    return root


@pytest.fixture
def command(root: Path, home: Path) -> Command:
    return Command(root, home)


def index_at(engine: Engine, root: Path, at: str = "old", **scope: object) -> None:
    engine.session(Scope(**{"roots": (root,), **scope}, at=at))


def names(engine: Engine, scope: Scope) -> set[str]:
    return {hit.name for hit in engine.search("pigeon", scope).hits}


def test_a_query_finds_the_code_of_a_tag_and_shows_paths_as_git_does(command, root):
    command.succeeds("index", ".")
    first = command("query", "open pigeon", "--at", "old", "-n", "1", "--auto-index")
    assert first.stderr.startswith(f"indexed old of {root}: 4 documents in ")
    assert first.stdout.startswith("old:src/open.py:1  open_pigeon  function, 2 lines\n")
    second = command("query", "open pigeon", "--at", "old", "--compact", "-n", "1")
    assert (second.stdout, second.stderr) == ("old:src/open.py:1  open_pigeon  function, 2 lines\n", "")
    assert command("query", "wash pigeon", "--compact", "-n", "1").stdout.startswith(
        "src/open.py:1  wash_pigeon"
    )
    assert "  (a git revision)\n" in command("status").stdout
    whole = command("query", "open pigeon", "--at", "old", "--full", "-n", "1").stdout
    assert "return old" in whole


def test_a_revision_is_never_compared_with_its_index(engine, root, monkeypatch):
    index_at(engine, root)
    monkeypatch.setattr("codesearch.build.stamps.compare", None)
    answer = engine.search("pigeon", Scope((root,), at="old"))
    assert [one.state for one in answer.freshness] == ["current"]


def test_every_command_of_places_reads_a_revision(command):
    assert command("index", "--at", "old").stderr.startswith(f"indexed old of {command.folder}: ")
    assert command("index", "--at", "old").stdout == ".: old is indexed already\n"
    assert command("read", "--at", "old", "src/open.py:1").stdout.startswith(
        "old:src/open.py:1-2  open_pigeon"
    )
    assert "open_pigeon" in command("outline", "--at", "old", "src").stdout
    assert "old:src/open.py:1  open_pigeon" in command("usages", "--at", "old", "open_pigeon").stdout
    assert "old:src/close.py:1" in command("similar", "--at", "old", "open_pigeon", "--compact").stdout


def test_paths_after_a_query_and_a_subfolder_narrow_a_revision(command, root):
    command.succeeds("index", ".")
    command.succeeds("index", ".", "--at", "old")
    inside = Command(root / "src", command.home)
    hit = "old:src/feed.py:1  feed_pigeon  function, 2 lines\n"
    assert inside("query", "pigeon", "feed.py", "--at", "old", "--compact").stdout == hit


def test_an_indexed_subfolder_of_a_repository_has_revisions(engine, root, home):
    engine.index(root / "src")
    index_at(engine, root / "src")
    assert names(engine, Scope((root / "src",), at="old")) == {"open_pigeon", "close_pigeon", "feed_pigeon"}
    shown = Command(root / "src", home)("query", "feed", "--at", "old", "--files", "-n", "1").stdout
    assert shown == "old:src/feed.py\n"


def test_scripts_are_indexed_and_links_are_left_out(engine, root):
    index_at(engine, root)
    assert names(engine, Scope((root,), at="old")) == {
        "open_pigeon",
        "close_pigeon",
        "feed_pigeon",
        "run_pigeon",
    }
    folder = find_revision(engine.home, Scope((root,), at="old")).folder
    assert sorted(os.listdir(folder)) == ["run", "src"]
    assert {path.stat().st_mode & 0o077 for path in (folder, *folder.rglob("*"))} == {0}


def test_the_settings_of_the_project_hold_for_its_revisions(engine, root):
    from codesearch import IndexOptions

    engine.index(root, IndexOptions(exclude=("src/feed.py",)))
    index_at(engine, root)
    assert "feed_pigeon" not in names(engine, Scope((root,), at="old"))


def test_revisions_are_no_part_of_all_indexes_and_are_not_watched(engine, root):
    engine.index(root)
    index_at(engine, root)
    assert "open_pigeon" not in names(engine, Scope(everything=True))
    assert list(engine.indexed_roots()) == [str(root)]


def test_a_revision_that_is_not_indexed_is_an_error_with_the_cure(engine, root):
    with pytest.raises(
        IndexNotFoundError, match=f"old of {root} is not indexed: run `codesearch index --at old"
    ):
        engine.search("pigeon", Scope((root,), at="old"))


def test_a_revision_that_was_not_used_for_a_month_is_deleted(engine, root):
    index_at(engine, root)
    folder = find_revision(engine.home, Scope((root,), at="old")).folder
    long_ago = time.time() - 31 * 86_400
    os.utime(folder, (long_ago, long_ago))
    assert len(names(engine, Scope((root,), at="old"))) == 4  # It is used now.
    index_at(engine, root, "HEAD")
    assert folder.is_dir()
    os.utime(folder, (long_ago, long_ago))
    index_at(engine, root, "old~1")
    assert not folder.exists()
    assert [status.root for status in engine.status() if status.root == str(folder)] == []


def test_bad_input_is_one_clear_line(command, root, tmp_path):
    plain = Command(write_tree(tmp_path / "plain", OLD), command.home)
    empty = Command(write_tree(tmp_path / "empty", OLD), command.home)
    git(tmp_path / "empty", "init", "-q")
    for done, said in (
        (
            plain("query", "x", "--at", "old"),
            f"error: {tmp_path}/plain is in no git work tree: --at searches a",
        ),
        (empty("query", "x", "--at", "HEAD"), f"error: {tmp_path}/empty has no commits: leave --at out"),
        (
            command("query", "x", "--at", "nope"),
            f"error: no revision 'nope' in {root}: give a branch, tag or com",
        ),
        (
            command("query", "x", "--at", "--output=x"),
            f"error: no revision '--output=x' in {root}: give a branch",
        ),
        (
            command("query", "x", "--at", "old", "--all"),
            "error: --at searches one folder: give one --root, or",
        ),
        (
            command("query", "x", "--at", "old", "--root", "imported"),
            "error: imported is not a folder: --at searches a git revision of one",
        ),
    ):
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert done.stderr.startswith(said)


def test_a_folder_that_a_revision_does_not_have_is_an_error(engine, root):
    write_tree(root, {"later/new.py": "def new_pigeon(): pass\n"})
    engine.index(root / "later")
    with pytest.raises(ConfigError, match=f"{root}/later does not exist in [0-9a-f]{{12}}$"):
        index_at(engine, root / "later")


def test_a_missing_object_of_a_file_that_is_never_indexed_does_not_matter(engine, root):
    write_tree(root, {"pigeon.ttf": "a font"})
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "font")
    found = git(root, "rev-parse", "HEAD:pigeon.ttf")
    (root / ".git/objects" / found[:2] / found[2:]).unlink()
    revision = find_revision(engine.home, Scope((root,), at="HEAD"))
    index_at(engine, root, "HEAD")
    assert is_indexed(engine.home, revision) and not (revision.folder / "pigeon.ttf").exists()


def test_a_missing_object_is_an_error_with_the_cure(engine, root):
    found = git(root, "rev-parse", "old:src/open.py")
    (root / ".git/objects" / found[:2] / found[2:]).unlink()
    with pytest.raises(ConfigError, match=r"lacks the content of src/open.py: fetch all objects"):
        index_at(engine, root)
    assert not is_indexed(engine.home, find_revision(engine.home, Scope((root,), at="old")))


def test_a_repository_with_sha256_is_searched(engine, tmp_path):
    root = write_tree(tmp_path / "sha256", OLD)
    git(root, "init", "-q", "--object-format=sha256")
    git(root, "add", ".")
    git(root, "commit", "-qm", "first")
    index_at(engine, root, "HEAD")
    assert names(engine, Scope((root,), at="HEAD")) == {"open_pigeon", "close_pigeon", "feed_pigeon"}


@pytest.mark.skipif(not hasattr(os, "chown") or os.geteuid() != 0, reason="needs root")
def test_a_repository_of_another_user_is_an_error_of_git(engine, root):
    for path in (root, root / ".git"):
        os.chown(path, 12_345, 12_345)
    with pytest.raises(ConfigError, match="git failed in .*dubious ownership"):
        find_revision(engine.home, Scope((root,), at="old"))


@pytest.mark.skipif(os.name == "nt", reason="the commands are of a POSIX shell")
def test_no_command_of_the_repository_runs(engine, root, tmp_path):
    trap = f"touch {tmp_path / 'ran'}; cat"
    write_tree(root, {".gitattributes": "*.py filter=x\n"})
    git(root, "add", ".gitattributes")
    git(root, "commit", "-qm", "attributes")
    for key in (
        "filter.x.smudge",
        "filter.x.clean",
        "core.fsmonitor",
        "core.sshCommand",
        "uploadpack.packObjectsHook",
    ):
        git(root, "config", key, trap)
    index_at(engine, root, "HEAD")
    assert "wash_pigeon" in names(engine, Scope((root,), at="HEAD"))
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "path", ["../a.py", "a/../../b.py", ".git/config", "a/.GIT/hooks/x", "", "a//b", "./a"]
)
def test_a_path_that_leaves_its_folder_is_not_written(path):
    assert not _is_safe(path)
    assert _is_safe("src/a.py")


def test_a_hostile_tree_writes_nothing_outside(engine, root, tmp_path):
    blob = git(root, "hash-object", "-w", "src/open.py")
    entry = b"100644 ..\0" + bytes.fromhex(blob) + b"100644 good.py\0" + bytes.fromhex(blob)
    made = git(root, "hash-object", "-t", "tree", "-w", "--literally", "--stdin", stdin=entry)
    commit = git(root, "commit-tree", "-m", "x", made)
    index_at(engine, root, commit)
    folder = find_revision(engine.home, Scope((root,), at=commit)).folder
    assert os.listdir(folder) == ["good.py"]
