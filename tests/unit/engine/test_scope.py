"""Which index a search covers."""

from pathlib import Path

import pytest

from codesearch.engine.scope import Scope, choose_indexes
from codesearch.errors import IndexCorruptError, IndexFormatError, IndexNotFoundError
from codesearch.store.catalogue import index_folder
from tests.conftest import break_format, build, write_tree


def chosen(home: Path, here: Path | None, *roots: Path, everything: bool = False) -> list[str]:
    scope = Scope(roots, here, everything)
    return [entry.manifest.root for entry in choose_indexes(home, scope)]


def test_the_root_that_contains_the_working_directory_is_searched(home, nested_roots):
    assert chosen(home, nested_roots["two"]) == [str(nested_roots["two"])]
    (nested_roots["two"] / "deep" / "er").mkdir(parents=True)
    assert chosen(home, nested_roots["two"] / "deep" / "er") == [str(nested_roots["two"])]


def test_a_folder_that_the_walk_leaves_out_is_covered_unless_it_is_a_project(home, nested_roots):
    hidden = nested_roots["two"] / ".notes" / "deep"
    hidden.mkdir(parents=True)
    assert chosen(home, hidden) == [str(nested_roots["two"])]
    (hidden.parent / "pyproject.toml").touch()
    with pytest.raises(IndexNotFoundError):
        chosen(home, hidden)


def test_of_nested_roots_the_innermost_is_searched(home, nested_roots):
    assert chosen(home, nested_roots["inner"]) == [str(nested_roots["inner"])]
    assert chosen(home, nested_roots["one"]) == [str(nested_roots["one"])]


def test_a_root_does_not_contain_a_folder_whose_name_has_the_same_prefix(home, nested_roots, tmp_path):
    (tmp_path / "two_more").mkdir()
    with pytest.raises(IndexNotFoundError):
        chosen(home, tmp_path / "two_more")


def in_order(home: Path, roots: dict[str, Path]) -> list[str]:
    """List roots in the order of their folders in the home."""
    return [str(root) for root in sorted(roots.values(), key=lambda root: index_folder(home, root))]


def test_all_roots_are_searched_on_request_or_without_a_folder(home, nested_roots, tmp_path):
    expected = in_order(home, nested_roots)
    assert chosen(home, None) == expected
    for here in (tmp_path, nested_roots["two"]):
        assert chosen(home, here, everything=True) == expected


def test_a_folder_that_no_index_covers_is_an_error_that_lists_what_is_indexed(home, nested_roots, tmp_path):
    with pytest.raises(IndexNotFoundError) as caught:
        chosen(home, tmp_path)
    assert str(caught.value) == (
        f"no index covers {tmp_path}: run `codesearch index .` there, or search other folders with --all or "
        f"--root DIR (indexed: {', '.join(in_order(home, nested_roots))})"
    )


def test_at_most_five_roots_are_listed(home, encoder, tmp_path):
    for number in range(7):
        build(write_tree(tmp_path / f"r{number}", {"a.py": "def f():\n    pass\n"}), home, encoder)
    with pytest.raises(IndexNotFoundError) as caught:
        chosen(home, tmp_path)
    five = ", ".join(str(tmp_path / f"r{number}") for number in range(5))
    assert str(caught.value).endswith(f"(indexed: {five} and 2 more)")


def test_an_index_that_cannot_be_read_is_not_listed(home, nested_roots, tmp_path):
    for root in nested_roots.values():
        break_format(index_folder(home, root))
    with pytest.raises(IndexNotFoundError) as caught:
        chosen(home, tmp_path)
    assert str(caught.value).endswith(" with --all or --root DIR")


def test_a_root_that_is_named_twice_is_searched_once(home, nested_roots):
    one = nested_roots["one"]
    assert chosen(home, None, one, one / "inner" / "..") == [str(one)]


def test_named_roots_are_searched_in_the_order_given(home, nested_roots):
    assert chosen(home, nested_roots["one"], nested_roots["two"], nested_roots["inner"]) == [
        str(nested_roots["two"]),
        str(nested_roots["inner"]),
    ]


def test_a_named_root_that_is_not_indexed_is_an_error_with_its_cure(home, nested_roots, tmp_path):
    with pytest.raises(IndexNotFoundError) as caught:
        chosen(home, tmp_path, nested_roots["one"], tmp_path / "three")
    three = tmp_path / "three"
    missing = f"{three} is no folder and no imported index: see `codesearch status`"
    assert str(caught.value) == missing
    (tmp_path / "a b").mkdir()
    with pytest.raises(IndexNotFoundError, match=r"/a b is not indexed: run `codesearch index '.*/a b'`$"):
        chosen(home, tmp_path, tmp_path / "a b")


def test_an_empty_home_is_an_error_with_its_cure(home, tmp_path):
    with pytest.raises(
        IndexNotFoundError, match=f"nothing is indexed in {home}: run `codesearch index FOLDER`"
    ):
        chosen(home, tmp_path)


def test_an_unreadable_index_is_an_error_only_if_it_is_searched(home, nested_roots, tmp_path):
    break_format(index_folder(home, nested_roots["one"]))
    assert chosen(home, nested_roots["two"]) == [str(nested_roots["two"])]
    for here, named in ((None, []), (nested_roots["one"], []), (tmp_path, [nested_roots["one"]])):
        with pytest.raises(IndexFormatError):
            chosen(home, here, *named)


def test_an_unreadable_innermost_index_is_an_error_and_the_outer_one_is_not_searched(home, nested_roots):
    manifest = index_folder(home, nested_roots["inner"]) / "manifest.json"
    manifest.write_text("damaged")
    with pytest.raises(IndexCorruptError):
        chosen(home, nested_roots["inner"])
    assert chosen(home, nested_roots["one"]) == [str(nested_roots["one"])]


def within(home: Path, *places: Path, **options) -> list[str]:
    entries = choose_indexes(home, Scope(within=places, **options))
    return [entry.manifest.root for entry in entries]


def test_places_select_the_innermost_indexes_that_cover_them_each_once(home, nested_roots, tmp_path):
    one, inner, two = (nested_roots[name] for name in ("one", "inner", "two"))
    assert within(home, inner / "a.py", here=two) == [str(inner)]
    assert within(home, two, one / "a.py", two / "a.py") == [str(two), str(one)]


def test_named_roots_and_all_have_precedence_over_places(home, nested_roots):
    one, inner = nested_roots["one"], nested_roots["inner"]
    assert within(home, inner, roots=(one,)) == [str(one)]
    assert len(within(home, inner, everything=True)) == 3


def test_a_place_that_no_index_covers_is_an_error(home, nested_roots, tmp_path):
    with pytest.raises(IndexNotFoundError, match=f"no index covers {tmp_path}: "):
        within(home, nested_roots["one"], tmp_path)
    (tmp_path / "loose").mkdir()
    (tmp_path / "loose" / "a.py").touch()
    with pytest.raises(IndexNotFoundError, match=f"no index covers {tmp_path / 'loose'}: "):
        within(home, tmp_path / "loose" / "a.py")
