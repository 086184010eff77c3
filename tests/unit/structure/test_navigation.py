"""Names at a position in an editor; tests/integration/test_lsp_navigation.py has what an editor asks."""

from codesearch.engine.scope import Scope
from codesearch.engine.session import AS_INDEXED
from codesearch.structure import navigation
from tests.conftest import write_tree

OVERLOAD = "@overload\ndef get(key: Literal[{}]) -> int: ...\n\n\n"


def test_a_folder_above_the_project_does_not_make_a_changed_file_one_of_tests_or_builds(engine, tmp_path):
    root = write_tree(tmp_path / "build/tests", {"a.py": "def old():\n    pass\n"})
    engine.index(root)
    path, text = root / "a.py", "def new():\n    pass\n\n\ndef call():\n    new()\n"
    with engine.session(Scope(within=[root]), AS_INDEXED).navigation({path: text}) as names_of:
        assert names_of.counts(names_of.at(path, 1, 5)) == (1, 0)


def test_a_file_with_many_overloads_is_looked_through_once(engine, tmp_path, monkeypatch):
    """With 600 overloads in it, looking for them at each occurrence took half a minute."""
    overloads = "".join(map(OVERLOAD.format, range(30)))
    root = write_tree(tmp_path / "src", {"a.py": f"{overloads}def get(key):\n    return key\n"})
    engine.index(root)
    looked, own_names = [], navigation.own_names
    monkeypatch.setattr(navigation, "own_names", lambda *of: looked.append(of) or own_names(*of))
    with engine.session(Scope(within=[root]), AS_INDEXED).navigation({}) as names_of:
        names = names_of.at(root / "a.py", 2, 5)
        looked.clear()
        assert [span.line for span in names_of.in_file(names, root / "a.py")] == [2]
    assert len(looked) == 1
