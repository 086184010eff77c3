"""Whole definitions and files; members of long ones are folded."""

import pytest

from codesearch.engine.engine import Engine
from codesearch.engine.scope import Scope
from codesearch.structure.text import numbered_lines
from tests.conftest import TINY_REPO, write_tree

LONG = '''import os


class Cache:
    """Keeps values."""

    size = 10

    def get(
        self,
        key: str,
    ) -> str:
        """Return a value."""
        value = self.find(key)
        return value

    @property
    def count(self):
        return len(self)

    class Entry:
        def touch(self):
            pass

    limit = 3


def load(path):
    return os.open(path)
'''

WRAPPED = """module Shop
  class Book
    # Sells it.
    def sell(price)
      @price = price
    end

    def give
      sell(0)
    end
  end
end
"""


@pytest.fixture
def read(tmp_path, tiny_bundle):
    """Return the lines of a place as text."""
    root = write_tree(tmp_path / "src", {**TINY_REPO, "cache.py": LONG, "shop.rb": WRAPPED})
    engine = Engine(tmp_path / "home", model=tiny_bundle)
    engine.index(root)

    def read(place, most_lines=None, most_chars=None):
        session = engine.session(Scope((root,)))
        (found,) = session.read(place, most_lines=most_lines, most_chars=most_chars).places
        return "\n".join(numbered_lines(found.lines, found.first_line, found.last_line, "{} "))

    yield read
    engine.close()


def test_a_short_class_is_whole(read):
    lines = enumerate(LONG.split("\n"), 1)
    assert read("Cache") == "\n".join(
        f"{number} {line}".rstrip() for number, line in lines if 4 <= number <= 25
    )


def test_a_long_class_has_its_fields_and_the_signatures_of_its_members(read):
    assert (
        read("Cache", 12)
        == '''4 class Cache:
5     """Keeps values."""
6
7     size = 10
8
9     def get(
10         self,
11         key: str,
12     ) -> str:
  … lines 13-16
17     @property
18     def count(self):
  … lines 19-20
21     class Entry:
  … lines 22-24
25     limit = 3'''
    )


def test_a_long_file_is_folded_and_a_function_is_not(read):
    assert (
        read("cache.py", 8)
        == """  … lines 1-3
4 class Cache:
5     \"\"\"Keeps values.\"\"\"
6
7     size = 10
8
9     def get(
10         self,
  … lines 11-27
28 def load(path):
  … line 29"""
    )
    assert read("cache.py::load", 1) == "28 def load(path):\n29     return os.open(path)"


def test_a_namespace_and_the_only_class_in_it_are_not_folded_but_their_members_are(read):
    assert (
        read("shop.rb", 4)
        == """1 module Shop
2   class Book
3     # Sells it.
4     def sell(price)
  … lines 5-7
8     def give
  … lines 9-10
11   end
12 end"""
    )


def test_members_of_classes_are_shown_if_they_fit(read):
    assert "9     def get(" in read("cache.py", 24) and "… lines 13-16" in read("cache.py", 24)
    assert read("cache.py", 12).count("\n") == 15 and "… lines 13-16" in read("cache.py", 12)


def test_a_limit_of_characters_holds_in_place_of_lines(read):
    assert "…" not in read("cache.py", most_chars=1_000)
    assert "size = 10" in read("cache.py", most_chars=200) and "limit" not in read("cache.py", most_chars=200)


def test_several_places_share_the_lines_and_are_folded(tmp_path, tiny_bundle):
    second = LONG.replace("size = 10", "size = 20")
    root = write_tree(tmp_path / "src", {"a.py": f"\ufeff{LONG}", "b.py": second})
    engine = Engine(tmp_path / "home", model=tiny_bundle)
    engine.index(root)
    session = engine.session(Scope((root,)))
    whole = session.read("Cache").places
    assert [reading.folded for reading in whole] == [0, 0]
    folded = session.read("Cache", most_lines=32).places
    texts = ["\n".join(text for _, text in reading.lines) for reading in folded]
    assert "size = 10" in texts[0] and "size = 20" in texts[1]
    assert all("limit = 3" in text and "return value" not in text for text in texts)
    assert session.read("a.py:1-2").places[0].lines == ((1, "import os"), (2, ""))
    engine.close()
