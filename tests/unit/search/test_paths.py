"""Globs and places select paths of an index, relative to any folder."""

import ntpath
from pathlib import Path, PureWindowsPath
from types import SimpleNamespace

import pytest

from codesearch.search import filters
from codesearch.search.filters import path_filter
from codesearch.search.request import Filters

ROOT = Path("/work/shop")
FILES = ("app/main.py", "app/tests/test_main.py", "lib/app/util.go", "tests/test_all.py", "setup.py")


def passing(*patterns: str, here: str | None = None, within: tuple[str, ...] = ()) -> list[str]:
    passes = path_filter(Filters(paths=patterns, here=here, within=within), ROOT)
    return [path for path in FILES if passes(path)]


@pytest.mark.parametrize(
    ("pattern", "here", "expected"),
    [
        ("app/*.py", "/work/shop", ["app/main.py", "app/tests/test_main.py"]),
        ("app/*", "/work/shop/lib", ["app/main.py", "app/tests/test_main.py", "lib/app/util.go"]),
        ("./app/*", "/work/shop/lib", ["lib/app/util.go"]),
        ("../app/*.py", "/work/shop/lib", ["app/main.py", "app/tests/test_main.py"]),
        ("tests/*", "/work/shop/app", ["app/tests/test_main.py", "tests/test_all.py"]),
        (".", "/work/shop/lib", ["lib/app/util.go"]),
        ("..", "/work/shop/lib/app", ["lib/app/util.go"]),
        ("shop/tests/", "/work", ["tests/test_all.py"]),
        ("tests/", "/elsewhere", ["tests/test_all.py"]),
        ("tests/", "/work/shop/app", ["app/tests/test_main.py", "tests/test_all.py"]),
        ("tests", "/elsewhere", ["app/tests/test_main.py", "tests/test_all.py"]),
        ("*/tests/*", "/work", ["app/tests/test_main.py", "tests/test_all.py"]),
        ("*.go", "/elsewhere", ["lib/app/util.go"]),
        ("**/*.go", "/elsewhere", ["lib/app/util.go"]),
        ("*/[lu]*.??", "/elsewhere", ["lib/app/util.go"]),
        ("APP", "/elsewhere", []),
        ("util*", "/elsewhere", ["lib/app/util.go"]),
        ("app/*", "/elsewhere", ["app/main.py", "app/tests/test_main.py"]),
        ("./app/*", "/elsewhere", []),
    ],
)
def test_a_glob_is_relative_to_the_working_directory_or_to_the_root(pattern, here, expected):
    assert passing(pattern, here=here) == expected


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("/work/shop/tests/*", ["tests/test_all.py"]),
        ("/work/shop/tests", ["tests/test_all.py"]),
        ("/work/*/test_*.py", ["app/tests/test_main.py", "tests/test_all.py"]),
        ("/work/shop/app/../setup.py", ["setup.py"]),
        ("/work/shop/", list(FILES)),
        ("/work/other/*", []),
        ("/tests/*", ["tests/test_all.py"]),
    ],
)
def test_a_glob_can_be_absolute_or_begin_at_the_root(pattern, expected):
    assert passing(pattern) == expected
    assert passing(pattern, here="/elsewhere") == expected


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        (("!tests/",), ["app/main.py", "lib/app/util.go", "setup.py"]),
        (("!tests/", "!*.go"), ["app/main.py", "setup.py"]),
        (("*.py", "!tests/"), ["app/main.py", "setup.py"]),
        (("!tests/", "app/*"), ["app/main.py"]),
        (("!./tests/",), ["app/main.py", "lib/app/util.go", "tests/test_all.py", "setup.py"]),
        (("!/work/shop/app",), ["lib/app/util.go", "tests/test_all.py", "setup.py"]),
        (("!*",), []),
    ],
)
def test_a_negated_glob_excludes(patterns, expected):
    assert passing(*patterns, here="/work/shop/app") == expected


@pytest.mark.parametrize(
    ("within", "expected"),
    [
        (("/work/shop/tests",), ["tests/test_all.py"]),
        (("/work/shop/app/main.py", "/work/shop/lib"), ["app/main.py", "lib/app/util.go"]),
        (("/work/shop/app/ma",), []),
        (("/work",), list(FILES)),
        (("/",), list(FILES)),
        (("/work/other",), []),
    ],
)
def test_places_are_files_or_folders(within, expected):
    assert passing(within=within) == expected


def test_a_path_must_match_places_and_globs():
    assert passing("*.py", "!test_*", within=("/work/shop/app", "/work/shop/lib")) == ["app/main.py"]


def test_special_characters_in_folder_names_are_literal():
    passes = path_filter(Filters(paths=("./*.py",), here="/w/[id]/*a"), Path("/w"))
    assert [path for path in ("[id]/*a/x.py", "i/a/x.py", "[id]/ba/x.py") if passes(path)] == ["[id]/*a/x.py"]
    passes = path_filter(Filters(within=("/w/[id]",)), Path("/w"))
    assert passes("[id]/x.py") and not passes("i/x.py")


def test_links_in_absolute_globs_and_places_are_followed(tmp_path):
    (tmp_path / "real" / "src").mkdir(parents=True)
    (tmp_path / "link").symlink_to("real")
    root = (tmp_path / "real").resolve()
    for wanted in (Filters(paths=(f"{tmp_path}/link/src/*",)), Filters(within=(tmp_path / "link" / "src",))):
        passes = path_filter(wanted, root)
        assert passes("src/a.py") and not passes("a.py")


def test_a_root_may_be_the_root_of_the_file_system():
    passes = path_filter(Filters(paths=("/work/*.py",), within=("/work",)), Path("/"))
    assert passes("work/a.py") and not passes("a.py")


@pytest.mark.parametrize(
    ("pattern", "here", "expected"),
    [
        ("app\\*.py", None, ["app/main.py", "app/tests/test_main.py"]),
        ("C:\\work\\shop\\tests", None, ["tests/test_all.py"]),
        ("c:/work/shop/tests", None, []),
        (".\\app\\", "C:\\work\\shop\\lib", ["lib/app/util.go"]),
        ("..\\app\\*.py", "C:\\work\\shop\\lib", ["app/main.py", "app/tests/test_main.py"]),
        ("!app/", "C:\\work", ["lib/app/util.go", "tests/test_all.py", "setup.py"]),
    ],
)
def test_globs_may_have_backslashes_on_windows(monkeypatch, pattern, here, expected):
    monkeypatch.setattr(filters, "os", SimpleNamespace(path=ntpath, sep="\\"))
    passes = path_filter(Filters(paths=(pattern,), here=here), PureWindowsPath("C:\\work\\shop"))
    assert [path for path in FILES if passes(path)] == expected


def test_places_have_backslashes_on_windows(monkeypatch):
    monkeypatch.setattr(filters, "os", SimpleNamespace(path=ntpath, sep="\\"))
    wanted = Filters(within=("C:\\work\\shop\\app\\main.py", "C:\\work\\shop\\lib"))
    passes = path_filter(wanted, PureWindowsPath("C:\\work\\shop"))
    assert [path for path in FILES if passes(path)] == ["app/main.py", "lib/app/util.go"]
