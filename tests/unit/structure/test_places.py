"""Texts of users -> files, folders, lines and definitions."""

import pytest

from codesearch.engine.engine import Engine
from codesearch.engine.scope import Scope
from codesearch.errors import ConfigError, IndexNotFoundError
from tests.conftest import TINY_REPO, write_tree

SHOP = "class Shop {\n    Shop() {\n    }\n}\n"


@pytest.fixture
def engine(tmp_path, tiny_bundle):
    write_tree(
        tmp_path / "src",
        {
            **TINY_REPO,
            "lib/python/convert.py": "def other():\n    return 1\n",
            "java/Shop.java": SHOP,
            "lib/Shop/a.py": "a = 1\n",
            "lib/Stack/other.py": "def pop():\n    return 1\n",
            "a/test_push.py": "def push():\n    return 1\n",
            "README.md": "# Other\n",
            "b/shop.py": "print(1)\nprint(2)\nprint(3)\n\ndef shop():\n    return 1\n",
            "b/crate.py": "class Crate:\n    width: int = 1\n",
            "b/door.py": "SHOP = str(1)\n",
            "c/ring.h": "int turn(int a);\n/* Says it. */\nint say(int a);\n",
            "c/ring.c": "int turn(int a)\n{\n\treturn a;\n}\n",
        },
    )
    engine = Engine(tmp_path / "home", model=tiny_bundle)
    engine.index(tmp_path / "src")
    yield engine
    engine.close()


@pytest.fixture
def places(engine, tmp_path):
    """Return what a text names, as "path:first-last name"."""

    def places(text, here="src", within=()):
        scope = Scope((tmp_path / "src",), here=tmp_path / here, within=within)
        return [
            f"{found.path}:{found.first_line}-{found.last_line}"
            + (f" {found.definition.qualified_name}" if found.definition else "")
            for found in engine.session(scope).read(text).places
        ]

    return places


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("python/convert.py:17", ["python/convert.py:17-19 Stack.push"]),
        ("c/ring.h::turn", ["c/ring.c:1-4 turn"]),
        ("turn", ["c/ring.c:1-4 turn"]),
        ("say", ["c/ring.h:3-3 say"]),
        ("python/convert.py:17:5:", ["python/convert.py:17-19 Stack.push"]),
        ("python/convert.py:14", ["python/convert.py:14-23 Stack"]),
        ("python/convert.py:19", ["python/convert.py:17-19 Stack.push"]),
        ("python/convert.py:20", ["python/convert.py:14-23 Stack"]),
        ("python/convert.py:2", ["python/convert.py:1-12"]),
        ("python/convert.py:4-6", ["python/convert.py:4-6"]),
        ("python/convert.py:4-4", ["python/convert.py:1-14"]),
        ("ru…/queue.rb:4", ["ruby/queue.rb:4-6 PriorityQueue.push"]),
        ("a/…/ruby/queue.rb", ["ruby/queue.rb:1-7"]),
        ("queue.rb:4", ["ruby/queue.rb:4-6 PriorityQueue.push"]),
        ("convert.py::Stack.pop", ["python/convert.py:21-23 Stack.pop"]),
        ("http.js", ["javascript/http.js:1-6"]),
        ("convert.py", ["lib/python/convert.py:1-2", "python/convert.py:1-23"]),
        ("Shop", ["java/Shop.java:1-4 Shop"]),
        ("shop", ["b/shop.py:5-6 shop"]),
        ("SHOP", ["b/door.py:1-1 SHOP"]),
        ("crate.py::width", ["b/crate.py:2-2 Crate.width"]),
        ("Shop.java::Shop", ["java/Shop.java:1-4 Shop"]),
        ("Shop.Shop", ["java/Shop.java:2-3 Shop.Shop"]),
        ("python/convert.py", ["python/convert.py:1-23"]),
    ],
)
def test_a_place_is_a_path_a_line_lines_or_a_name(places, text, expected):
    assert places(text) == expected


def test_a_path_is_relative_to_the_working_directory_first(places, tmp_path):
    assert places("python/convert.py", here="src/lib") == ["lib/python/convert.py:1-2"]
    (tmp_path / "link").symlink_to("src")
    for folder in ("src", "link"):
        path = tmp_path / folder / "python/convert.py:4"
        assert places(str(path)) == ["python/convert.py:4-6 int_to_string"]


def test_a_folder_with_this_path_is_the_only_place(engine, tmp_path):
    assert engine.session(Scope((tmp_path / "src",))).outline("python").place_count == 1


def test_a_line_of_a_file_that_was_indexed_again_is_in_the_definition_that_is_there_now(
    engine, places, tmp_path
):
    path = tmp_path / "src/python/convert.py"
    path.write_text("\n" + path.read_text())
    engine.index(tmp_path / "src")
    assert places("python/convert.py:20") == ["python/convert.py:18-20 Stack.push"]


def test_places_outside_of_a_scope_are_not_found(places, tmp_path):
    within = (tmp_path / "src/ruby",)
    assert places("push", within=within) == ["ruby/queue.rb:4-6 PriorityQueue.push"]
    for text in ("Stack.pop", "python/convert.py:17", str(tmp_path / "src/python/convert.py")):
        with pytest.raises(IndexNotFoundError, match="outside of"):
            places(text, within=within)
    with pytest.raises(IndexNotFoundError, match="no file, folder or definition is called 'README.md'"):
        places("README.md", within=within)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nothing", "no file, folder or definition is called 'nothing': search with a query"),
        ("Stac.push", "called 'Stac.push': did you mean Stack.push, push or PriorityQueue.push"),
        ("gone.py:3", r"gone\.py is not in the index: give the path of a file in it \(not seen: 1 file that"),
        ("convert.py::width", r"convert\.py has no definition 'width': did you mean width\?"),
        ("convert.py::nothing", r"convert\.py has no definition 'nothing': see its outline"),
        ("http.js:70", r"javascript/http\.js has 6 lines: line 70 is behind its end"),
        ("python", "python is a folder: see its outline"),
        ("README.md", "README.md is not indexed: read the file itself, or index everything with [^(]*$"),
        ("README.md:3", "README.md is not indexed: read the file itself"),
        ("../secret.py:1", r"secret\.py is not in the index"),
        ("/etc/passwd", "no file, folder or definition is called '/etc/passwd'"),
        ("/lib/python", "no file, folder or definition is called '/lib/python'"),
    ],
)
def test_a_place_that_does_not_exist_is_one_line(places, text, message):
    with pytest.raises(IndexNotFoundError, match=message):
        places(text)


def test_lines_that_end_before_they_begin_are_an_error(places):
    with pytest.raises(ConfigError, match="lines 40-20 end before they begin: give 20-40"):
        places("convert.py:40-20")


@pytest.mark.parametrize("text", ["", "  ", "x" * 5_000])
def test_a_place_has_a_length(places, text):
    with pytest.raises(ConfigError, match="a place has 1 to 4,096 characters"):
        places(text)


def test_files_that_are_gone_or_not_indexed_are_not_read(places, tmp_path):
    (tmp_path / "src/http.txt").write_text("secret")
    with pytest.raises(IndexNotFoundError):
        places("http.txt")
    (tmp_path / "src/javascript/http.js").unlink()
    with pytest.raises(IndexNotFoundError):
        places("javascript/http.js:4")
