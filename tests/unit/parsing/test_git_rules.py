"""What git's configuration says about ignored files, and linked work trees."""

import os
import shutil
from pathlib import Path

import pytest

from codesearch.config import WalkConfig
from codesearch.parsing.gitrules import git_rules
from codesearch.parsing.walker import WalkSummary, walk, why_left_out
from codesearch.treefiles import git_folders, is_linked_work_tree
from tests.conftest import write_tree
from tests.git import git, repository

PY = "x = 1\n"
needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


@pytest.fixture(autouse=True)
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home of a user without any configuration."""
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path / "user"))
    return tmp_path / "user"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "project", {".git/config": "", ".git/HEAD": ""})


def walked(root: Path, report: WalkSummary | None = None, **options: object) -> list[str]:
    return [file.path for file in walk(root, WalkConfig(**options), report or WalkSummary())]


def test_the_ignore_file_of_the_user_is_the_weakest(root, user):
    write_tree(user, {".config/git/ignore": "*.gen.py\nscratch/\n"})
    files = dict.fromkeys(("a.py", "b.gen.py", "c.gen.py", "scratch/d.py", "sub/b.gen.py"), PY)
    write_tree(root, {**files, ".gitignore": "!b.gen.py\n", ".git/info/exclude": "/sub\n"})
    assert walked(root) == ["a.py", "b.gen.py"]
    assert walked(root / "sub") == ["b.gen.py"]  # A root that is ignored is walked.
    assert walked(root, ignore_files=False) == sorted(files, key=lambda path: ("/" in path, path))


@pytest.mark.parametrize(
    ("config", "where"),
    [
        ("[core]\n\texcludesFile = ~/mine\n", "mine"),
        ('[Core]\n\tEXCLUDESFILE = "~/my rules" ; mine\n', "my rules"),
        ("[core] excludesfile = ~/mi\\\nne # mine\n", "mine"),
        ("[include]\n\tpath = more.inc\n", "mine"),
        ('[includeIf "gitdir:project/"]\npath = more.inc\n', "mine"),
        ('[includeIf "gitdir/i:~/../PRO*/"]\npath = more.inc\n', ".config/git/ignore"),
        ('[includeIf "gitdir/i:**/PRO*/.git"]\npath = more.inc\n', "mine"),
        ('[includeIf "gitdir:~/work/"]\npath = more.inc\n', ".config/git/ignore"),
        ('[includeIf "onbranch:main"]\npath = more.inc\n', ".config/git/ignore"),
        ('[core "x"]\nexcludesfile = ~/other\n[core]\nexcludesfile = ~/mine\n', "mine"),
    ],
)
def test_the_configuration_of_the_user_names_the_ignore_file(root, user, config, where):
    write_tree(user, {".gitconfig": config, "more.inc": "[core]\nexcludesfile = ~/mine\n", where: "b.py\n"})
    write_tree(root, {"a.py": PY, "b.py": PY})
    assert walked(root) == ["a.py"]


def test_a_configuration_that_includes_itself_or_is_damaged_ends(root, user):
    write_tree(user, {".gitconfig": "[include]\npath = .gitconfig\n[core\nignorecase\n= =\n\\\n\x00"})
    write_tree(root, {"a.py": PY})
    assert walked(root) == ["a.py"]
    (root / ".git" / "config").unlink()
    os.mkfifo(root / ".git" / "config")
    assert walked(root) == ["a.py"]


def test_a_repository_cannot_name_a_file_of_another_machine(root):
    write_tree(root, {".git/config": "[core]\nexcludesfile = //host/share/rules\n"})
    assert not any(path.startswith("//") for path in git_rules(str(root)).files)


def test_the_repository_says_whether_case_matters(root, tmp_path):
    files = dict.fromkeys(("build/a.py", "src/B.GEN.py", "lib/x1.py", "lib/Keep.py"), PY)
    write_tree(root, {**files, ".gitignore": "Build/\n*.gen.PY\n[K-Z]?.py\n/LIB/*\n!keep.py\n"})
    assert len(walked(root)) == 4
    write_tree(root, {".git/config": "[core]\n\tignorecase = true\n"})
    assert walked(root) == ["lib/Keep.py"]
    assert walked(root, exclude=("KEEP.py",)) == []
    nested = write_tree(tmp_path / "clones/inner", {"Out/a.py": PY, ".gitignore": "out/\n", "b.py": PY})
    shutil.copytree(root / ".git", nested / ".git")
    write_tree(tmp_path / "clones", {"Out/c.py": PY})
    assert walked(tmp_path / "clones") == ["Out/c.py", "inner/b.py"]


@needs_git
def test_git_agrees_about_case(tmp_path):
    root = repository(tmp_path / "real", {"a.py": PY})
    git(root, "config", "core.ignorecase", "true")
    write_tree(root, {".gitignore": "/Python\n!/python/\nX[A-C].py\n[[:upper:]]9.py\n"})
    write_tree(root, dict.fromkeys(("python/a.py", "xb.py", "XD.py", "k9.py"), PY))
    kept = git(root, "ls-files", "-co", "--exclude-standard", "*.py").splitlines()
    assert sorted(walked(root)) == sorted(kept)


@needs_git
def test_a_linked_work_tree_in_a_checkout_is_not_entered(tmp_path):
    root = repository(tmp_path / "main", {"a.py": PY, "sub/b.py": PY})
    git(root, "worktree", "add", "-q", "trees/x", "-b", "x")
    report = WalkSummary()
    assert walked(root, report) == ["a.py", "sub/b.py"]
    assert report.folders == {"work tree": {"x": 1}}
    assert "trees/x/.git" in report.watched and "trees/x/" not in report.watched
    assert walked(root / "trees" / "x") == ["a.py", "sub/b.py"]
    assert len(walked(tmp_path)) == 2
    shutil.rmtree(root / ".git" / "worktrees")  # Git has forgotten it.
    assert is_linked_work_tree(str(root / "trees" / "x"))


@needs_git
def test_submodules_and_clones_are_entered_but_not_their_work_trees(tmp_path):
    other = repository(tmp_path / "other", {"o.py": PY})
    root = repository(tmp_path / "main", {"a.py": PY})
    git(root, "submodule", "--quiet", "add", "--name", "worktrees/o", other, "module")
    git(root, "clone", "-q", other, "clone")
    git(root / "module", "worktree", "add", "-q", "../linked")
    assert walked(root) == ["a.py", "clone/o.py", "module/o.py"]


@needs_git
def test_the_work_trees_of_a_bare_repository_are_entered_from_the_folder_around_them(tmp_path):
    other = repository(tmp_path / "other", {"o.py": PY})
    root = tmp_path / "project"
    git(tmp_path, "clone", "-q", "--bare", other, root / ".bare")
    (root / ".git").write_text("gitdir: ./.bare\n")
    git(root, "worktree", "add", "-q", "main")
    assert walked(root) == ["main/o.py"]


def test_the_reason_why_a_path_is_left_out(root):
    files = ("a.py", "build/b.py", ".hidden/c.py", "sub/d.gen.py", "sub/e.py", "node_modules/f.js")
    write_tree(root, {**dict.fromkeys(files, PY), ".gitignore": "build/\n", "sub/.gitignore": "*.gen.py\n"})
    reasons = [why_left_out(root, root / path, WalkConfig()) for path in files]
    assert reasons == ["", "ignored", "hidden", "ignored", "", "always"]
    assert why_left_out(root, root / ".hidden/c.py", WalkConfig(hidden=True)) == ""


def test_a_folder_called_worktrees_is_a_folder(root):
    write_tree(root, {"worktrees/a.py": "x = 1\n"})
    assert "worktrees/a.py" in walked(root)


@pytest.mark.parametrize("place", ["//server/share", "\\\\server\\share"])
def test_files_of_git_that_name_another_machine_are_not_followed(tmp_path, place):
    write_tree(tmp_path, {"linked/.git": f"gitdir: {place}\n", "whole/.git/commondir": f"{place}\n"})
    for top in ("linked", "whole"):
        own = str(tmp_path / top / ".git")
        assert git_folders(str(tmp_path / top)) == (own, own)
