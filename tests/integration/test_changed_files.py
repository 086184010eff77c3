"""`--changed`: only files that differ from a git revision have hits."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from codesearch.cli.options import with_revision
from codesearch.engine.engine import Engine
from codesearch.engine.scope import Scope
from codesearch.errors import ConfigError
from codesearch.search.changes import changed_lines
from codesearch.search.request import Filters, SearchRequest
from codesearch.store.snapshot import Snapshot
from tests.command import Command
from tests.conftest import index_by_engine, write_tree
from tests.git import FILES, git, repository
from tests.integration.test_serve_command import serving

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def found(home: Path, root: Path, bundle: Path, revision: str = "HEAD", **scope: object) -> list[str]:
    """Index a folder; return the paths of all documents in changed files."""
    index_by_engine(root, home, bundle)
    engine = Engine(home, model=bundle, device="cpu")
    request = SearchRequest("push item", 50, "lexical", changed=revision)
    answer = engine.search(request, Scope(roots=(root,), **scope))
    engine.close()
    return sorted(hit.path for hit in answer.hits)


def test_staged_unstaged_and_untracked_files_are_changed_and_ignored_ones_are_not(
    tmp_path, home, tiny_bundle
):
    root = repository(tmp_path / "r", {**FILES, ".gitignore": "i.py\n"})
    write_tree(root, {"a.py": "def push_a(item): pass\n", "b.py": "def push_b(item): pass\n"})
    write_tree(root, {"new.py": "def push_new(item): pass\n", "i.py": "def push_i(item): pass\n"})
    git(root, "add", "b.py")
    assert found(home, root, tiny_bundle) == ["a.py", "b.py", "new.py"]


def test_a_revision_is_compared_with_the_files_and_with_dots_its_merge_base(tmp_path, home, tiny_bundle):
    root = repository(tmp_path / "r")
    git(root, "checkout", "-q", "-b", "topic")
    write_tree(root, {"a.py": "def push_a(item): pass\n"})
    git(root, "commit", "-qam", "topic")
    git(root, "checkout", "-q", "main")
    write_tree(root, {"b.py": "def push_b(item): pass\n"})
    git(root, "commit", "-qam", "main")
    git(root, "checkout", "-q", "topic")
    assert found(home, root, tiny_bundle, "main") == ["a.py", "b.py"]
    assert found(home, root, tiny_bundle, "main...") == ["a.py"]


def test_a_renamed_file_is_changed_under_its_new_name(tmp_path, home, tiny_bundle):
    root = repository(tmp_path / "r")
    git(root, "mv", "a.py", "z.py")
    assert found(home, root, tiny_bundle) == ["z.py"]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not allow such names")
def test_names_may_have_line_breaks_quotes_and_the_magic_of_git(tmp_path, home, tiny_bundle):
    root = repository(tmp_path / "r")
    names = [":(top)x.py", 'new\nline ".py']
    for number, name in enumerate(names):
        write_tree(root, {name: f"def push_odd_{number}(item): pass\n"})
    git(root, "add", ".")
    assert found(home, root, tiny_bundle) == names


def test_a_root_may_be_below_or_above_the_top_of_a_work_tree(tmp_path, home, tiny_bundle):
    root = repository(tmp_path / "all/r", {**FILES, "sub/d.py": "def push_d(item):\n    return item\n"})
    write_tree(root, {"sub/d.py": "def push_d(item): pass\n", "a.py": "def push_a(item): pass\n"})
    assert found(home, root / "sub", tiny_bundle) == ["d.py"]
    assert found(home, tmp_path / "all", tiny_bundle) == ["r/a.py", "r/sub/d.py"]


def test_a_linked_work_tree_has_its_own_changes(tmp_path, home, tiny_bundle):
    root = repository(tmp_path / "r")
    git(root, "worktree", "add", "-q", tmp_path / "linked")
    write_tree(tmp_path, {"r/a.py": "def push_a(item): pass\n", "linked/b.py": "def push_b(item): pass\n"})
    assert found(home, tmp_path / "linked", tiny_bundle) == ["b.py"]


def test_a_submodule_is_compared_with_the_commit_that_the_revision_records(tmp_path, home, tiny_bundle):
    library = repository(tmp_path / "library", {"l.py": FILES["a.py"], "m.py": FILES["b.py"]})
    root = repository(tmp_path / "r")
    git(root, "submodule", "add", "-q", library, "sub")
    assert found(home, root, tiny_bundle) == ["sub/l.py", "sub/m.py"]
    git(root, "commit", "-qam", "submodule")
    assert found(home, root, tiny_bundle) == []
    write_tree(root / "sub", {"l.py": "def push_l(item): pass\n"})
    git(root / "sub", "commit", "-qam", "in the submodule")
    assert found(home, root, tiny_bundle) == ["sub/l.py"]
    write_tree(root / "sub", {"m.py": "def push_m(item): pass\n"})
    assert found(home, root, tiny_bundle) == ["sub/l.py", "sub/m.py"]


def test_before_the_first_commit_all_files_are_changed(tmp_path, home, tiny_bundle):
    root = write_tree(tmp_path / "r", FILES)
    git(root, "init", "-q")
    git(root, "add", "a.py")
    assert found(home, root, tiny_bundle) == ["a.py", "b.py", "c.py"]


def test_the_filter_applies_before_the_ranking(tmp_path, home, tiny_bundle):
    many = {f"many/{n}.py": f"def push_item_{n}(item):\n    return push_item\n" for n in range(300)}
    root = repository(tmp_path / "r", {**many, "weak.py": "def other(item):\n    return 1\n"})
    write_tree(root, {"weak.py": "def other(item):\n    return 2\n"})
    assert found(home, root, tiny_bundle) == ["weak.py"]


@pytest.mark.skipif(os.name == "nt", reason="the commands are of a POSIX shell")
def test_no_command_of_the_repository_runs(tmp_path, home, tiny_bundle, monkeypatch):
    root = repository(tmp_path / "r", {**FILES, ".gitattributes": "*.py filter=x diff=x\n"})
    trap = f"touch {tmp_path / 'ran'}; cat"
    for key in (
        "core.fsmonitor diff.external diff.x.command diff.x.textconv filter.x.clean filter.x.process"
    ).split():
        git(root, "config", key, trap)
    write_tree(root, {".git/hooks/post-index-change": f"#!/bin/sh\n{trap}\n"})
    (root / ".git/hooks/post-index-change").chmod(0o755)
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", f"touch {tmp_path / 'ran'}")
    write_tree(root, {"a.py": "def push_b(item):\n    return item\n"})
    assert found(home, root, tiny_bundle) == ["a.py"]
    assert not (tmp_path / "ran").exists()


def test_variables_of_a_hook_do_not_name_another_repository(tmp_path, home, tiny_bundle, monkeypatch):
    root, other = repository(tmp_path / "r"), repository(tmp_path / "other")
    write_tree(root, {"a.py": "def push_a(item): pass\n"})
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / ".git/index"))
    assert found(home, root, tiny_bundle) == ["a.py"]


def test_a_folder_outside_of_work_trees_and_a_missing_git_are_errors(
    tmp_path, home, tiny_bundle, monkeypatch
):
    root = write_tree(tmp_path / "r", FILES)
    with pytest.raises(ConfigError, match="r is in no git work tree"):
        found(home, root, tiny_bundle)
    root = repository(tmp_path / "git")
    monkeypatch.setenv("PATH", ".")
    with pytest.raises(ConfigError, match="git is not installed"):
        found(home, root, tiny_bundle)


@pytest.mark.parametrize("revision", ["nope", "-x", "--output=x", "a..b", "main:a.py"])
def test_a_revision_that_is_not_a_commit_is_a_one_line_error(tmp_path, home, tiny_bundle, revision):
    root = repository(tmp_path / "r")
    with pytest.raises(ConfigError, match=f"^no revision {revision!r} in [^\n]+$"):
        found(home, root, tiny_bundle, revision)
    assert sorted(os.listdir(root)) == [".git", "a.py", "b.py", "c.py"]


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        (["push", "--changed"], ["push", "--changed=HEAD"]),
        (["--changed", "-n", "3", "push"], ["--changed=HEAD", "-n", "3", "push"]),
        (["--changed", "main", "push"], ["--changed", "main", "push"]),
        (["--changed=main", "push"], ["--changed=main", "push"]),
        (["--changed", "--", "push"], ["--changed=HEAD", "--", "push"]),
        ([], []),
        (["--", "--changed"], ["--", "--changed"]),
    ],
)
def test_changed_without_a_revision_means_head(typed, read):
    assert with_revision(typed) == read


def test_the_command_says_that_nothing_changed_and_then_what_did(tmp_path, home, tiny_bundle):
    root = repository(tmp_path / "r")
    index_by_engine(root, home, tiny_bundle)
    ask = Command(root, home)
    options = ("--vimgrep", "--mode", "lexical")
    done = ask("query", "push", *options, "--changed")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"no changed files against HEAD in {root}\n"
    write_tree(root, {"b.py": "def push_b(item): pass\n"})
    for words in (("push", "--changed"), ("--changed", "main", "push"), ("push", "--changed=HEAD")):
        done = ask("query", *words, *options)
        assert (done.returncode, done.stdout) == (0, "b.py:1:1:def push_b(item)\n"), done.stderr
    done = ask("similar", "a.py:1", "--changed", "--vimgrep")
    assert done.stdout == "b.py:1:1:def push_b(item)\n"
    done = ask("query", "push", *options, "--changed", "--lang", "go")
    assert (done.returncode, done.stderr) == (1, f"no document matches --lang go --changed=HEAD in {root}\n")


def test_a_service_compares_with_a_revision_at_each_query(tmp_path, home, tiny_bundle):
    root = repository(tmp_path / "r")
    index_by_engine(root, home, tiny_bundle)
    ask = Command(root, home)
    asked = ("query", "push", "--changed", "--vimgrep", "--mode", "lexical")
    with serving(ask, "--no-watch"):
        assert (ask(*asked).returncode, ask(*asked).stdout) == (1, "")
        write_tree(root, {"b.py": "def push_b(item): pass\n"})
        assert ask(*asked).stdout == "b.py:1:1:def push_b(item)\n"
        git(root, "commit", "-q", "-a", "-m", "second")
        assert ask(*asked).returncode == 1
        assert ask(*asked, "--changed=HEAD~1").stdout == "b.py:1:1:def push_b(item)\n"


CHANGED = "def push_a(item):\n    return [item]\n"


@pytest.mark.parametrize("attribute", ["-diff", "binary", "diff=odd"])
def test_a_file_that_git_is_told_to_be_binary_is_changed_as_a_whole(tmp_path, home, tiny_bundle, attribute):
    root = repository(tmp_path / "r", {**FILES, ".gitattributes": f"*.py {attribute}\n"})
    git(root, "config", "diff.odd.binary", "true")
    write_tree(root, {"a.py": CHANGED})
    assert found(home, root, tiny_bundle) == ["a.py"]
    with (
        (engine := Engine(home, model=tiny_bundle, device="cpu")).session(Scope((root,))).indexes() as indexes
    ):
        lines, failed = changed_lines(Snapshot(indexes), Filters(), "HEAD")
    engine.close()
    assert (list(map(os.path.basename, lines)), [*lines.values()], failed) == (["a.py"], [None], {})


@pytest.mark.parametrize("mark", ["--assume-unchanged", "--skip-worktree"])
def test_a_file_that_git_is_told_not_to_look_at_is_compared(tmp_path, home, tiny_bundle, mark):
    root = repository(tmp_path / "r")
    git(root, "update-index", mark, "a.py", "b.py")
    write_tree(root, {"a.py": CHANGED})
    assert found(home, root, tiny_bundle) == ["a.py"]


def test_the_files_of_the_repository_are_compared_wherever_its_settings_say_they_are(
    tmp_path, home, tiny_bundle
):
    root = repository(tmp_path / "r")
    shutil.copytree(root, tmp_path / "other")
    git(root, "config", "core.worktree", tmp_path / "other")
    write_tree(root, {"a.py": CHANGED})
    assert found(home, root, tiny_bundle) == ["a.py"]


def test_a_work_tree_that_git_cannot_read_is_noted_and_the_others_are_compared(tmp_path, home, tiny_bundle):
    root = repository(tmp_path / "r")
    write_tree(root, {"a.py": CHANGED, "third/.git": "garbage", "third/s.py": "def push_s(item): pass\n"})
    index_by_engine(root, home, tiny_bundle)
    engine = Engine(home, model=tiny_bundle, device="cpu")
    answer = engine.search(SearchRequest("push item", 50, "lexical", changed="HEAD"), Scope((root,)))
    engine.close()
    assert "a.py" in {hit.path for hit in answer.hits}
    notes = [one.note for one in answer.freshness if one.error]
    assert notes == [
        f"{root}/third is left out: git failed in {root}/third: invalid gitfile format: {root}/third/.git"
    ]
    assert answer.coverage.reasons["unreadable index"] == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
@pytest.mark.parametrize("name", [".gitignore", ".gitattributes", ".git/info/exclude", ".git/shallow"])
def test_git_does_not_wait_for_what_a_repository_names(tmp_path, home, tiny_bundle, monkeypatch, name):
    root = repository(tmp_path / "r")
    write_tree(root, {"a.py": CHANGED})
    (root / name).unlink(missing_ok=True)
    os.mkfifo(root / name)
    monkeypatch.setattr("codesearch.git._TIMEOUT_S", 0.5)
    with pytest.raises(ConfigError, match="git took more than 0 s in .*: try again if the disk is slow"):
        found(home, root, tiny_bundle)


def test_no_pattern_of_a_repository_is_searched_for(tmp_path, home, tiny_bundle, monkeypatch):
    lines = "".join(f"def push_{number}(item):\n    return " + "a" * 200 + "\n" for number in range(200))
    root = repository(tmp_path / "r", {"a.py": lines, ".gitattributes": "*.py diff=slow\n"})
    git(root, "config", "diff.slow.xfuncname", "((((((((a{200}){200}){200}){200}){200}){200})))")
    write_tree(root, {"a.py": lines.replace("return", "yield")})
    assert set(found(home, root, tiny_bundle)) == {"a.py"}
    engine = Engine(home, model=tiny_bundle, device="cpu")
    with engine.session(Scope((root,))).indexes() as indexes:
        (changed,) = changed_lines(Snapshot(indexes), Filters(), "HEAD")[0].values()
    engine.close()
    assert len(changed) == 200
