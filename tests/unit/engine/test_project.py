"""The project that contains a folder, and projects that are too large to index automatically."""

from pathlib import Path

import pytest

from codesearch import Engine, IndexNotFoundError, Scope
from codesearch.engine import scope
from codesearch.engine.scope import find_indexes, find_project, to_index, too_large
from tests.conftest import index_by_engine, write_tree


@pytest.fixture(autouse=True)
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make the temporary folder of the test the home folder of the user."""
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def git(folder: Path) -> Path:
    (folder / ".git").mkdir(parents=True)
    return folder


@pytest.mark.parametrize(
    "name",
    ["pyproject.toml", "package.json", "go.mod", "Cargo.toml", "Makefile", "Gemfile", "Shop.sln", "a.csproj"],
)
def test_a_project_file_makes_its_folder_a_project(tmp_path, name):
    root = write_tree(tmp_path / "shop", {name: "", "src/deep/a.py": ""})
    for here in (root, root / "src", root / "src" / "deep"):
        assert find_project(here) == root


def test_a_git_work_tree_is_preferred_to_a_nearer_project_file(tmp_path):
    root = git(tmp_path / "mono")
    write_tree(root, {"packages/web/package.json": ""})
    assert find_project(root / "packages" / "web") == root


def test_the_nearest_of_nested_work_trees_or_project_files_is_used(tmp_path):
    inner = git(git(tmp_path / "outer") / "inner")
    assert find_project(inner) == inner
    write_tree(tmp_path / "maven", {"pom.xml": "", "core/pom.xml": ""})
    assert find_project(tmp_path / "maven" / "core") == tmp_path / "maven" / "core"


def test_a_linked_work_tree_with_a_git_file_is_a_project(tmp_path):
    linked = write_tree(tmp_path / "linked", {".git": "gitdir: elsewhere\n"})
    assert find_project(linked) == linked


def test_the_users_home_and_folders_above_it_are_not_projects(user, monkeypatch):
    git(user)
    write_tree(user, {"package.json": "", "notes/a.py": "", "shop/go.mod": ""})
    assert find_project(user) is None
    assert find_project(user / "notes") is None
    assert find_project(user / "shop") == user / "shop", "the work tree of the home hides the project"
    monkeypatch.setenv("HOME", str(user / "notes"))
    assert find_project(user) is None
    assert find_project(Path("/")) is None


def test_a_folder_without_a_project_file_is_in_no_project(tmp_path):
    write_tree(tmp_path / "loose", {"a.py": ""})
    assert find_project(tmp_path / "loose") is None


def test_a_project_is_too_large_by_files_or_by_bytes(tmp_path, monkeypatch):
    root = write_tree(
        tmp_path / "shop", {"a.py": "x = 1\n" * 100, "b.py": "", "c.py": "", "notes.txt": "x" * 9999}
    )
    assert too_large(root) is None
    monkeypatch.setattr(scope, "MAX_FILES", 2)
    assert too_large(root) == "has more than 2 source files"
    monkeypatch.setattr(scope, "MAX_FILES", 3)
    assert too_large(root) is None
    monkeypatch.setattr(scope, "MAX_BYTES", 500)
    assert too_large(root) == "has more than 0 MB of source files"


def missing(home: Path, scope: Scope) -> list[Path]:
    """Return what the first search in a scope indexes."""
    try:
        entries = find_indexes(home, scope)
    except IndexNotFoundError:
        return []
    return list(dict.fromkeys(root for entry in entries if (root := to_index(scope, entry))))


def test_the_first_search_in_a_project_indexes_it(home, tmp_path, tiny_bundle):
    engine = Engine(home, model=tiny_bundle)
    root = git(tmp_path / "shop")
    here = write_tree(root / "src", {"a.py": "def f():\n    pass\n"})
    assert missing(home, Scope(here=here)) == [root]
    for other in (Scope(), Scope(here=here, everything=True), Scope((root,), here), Scope(here=tmp_path)):
        assert missing(home, other) == []
    assert [hit.name for hit in engine.session(Scope(here=here)).search("f").hits] == ["f"]
    assert missing(home, Scope(here=here)) == []
    assert [hit.name for hit in engine.search("f", Scope(here=here)).hits] == ["f"]
    engine.close()


def test_the_projects_of_given_places_are_listed(home, tmp_path):
    one, two = git(tmp_path / "one"), git(tmp_path / "two")
    write_tree(two, {"src/a.py": ""})
    scope = Scope(here=one, within=(two / "src" / "a.py", two / "src"))
    assert missing(home, scope) == [two]


def test_inside_an_indexed_folder_no_project_is_missing(home, tmp_path, tiny_bundle):
    write_tree(tmp_path / "all", {"shop/go.mod": "", "a.py": "def f():\n    pass\n"})
    index_by_engine(tmp_path / "all", home, tiny_bundle)
    assert missing(home, Scope(here=tmp_path / "all" / "shop")) == []


def test_a_project_that_is_too_large_is_refused_with_the_command(home, tmp_path, monkeypatch):
    root = write_tree(git(tmp_path / "shop"), {"a.py": "", "b.py": ""})
    monkeypatch.setattr(scope, "MAX_FILES", 1)
    with pytest.raises(IndexNotFoundError) as caught:
        Engine(home).index_project(root)
    assert str(caught.value) == (
        f"{root} is not indexed and has more than 1 source files: run `codesearch index {root}`"
    )
    assert not home.exists()
