"""Tests of text.py, with the tools they need."""

import contextlib
import os
import tempfile

from text import dedent_lines, indent_lines, levenshtein_distance, slugify


def make_tree(files):
    """Write files by path and text into a new temporary folder and return it."""
    root = tempfile.mkdtemp()
    for path, text in files.items():
        target = os.path.join(root, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "w", encoding="utf-8") as stream:
            stream.write(text)
    return root


@contextlib.contextmanager
def environment(**variables):
    """Set environment variables for the length of a with block."""
    before = dict(os.environ)
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def assert_raises(error, function, *args):
    try:
        function(*args)
    except error:
        return
    raise AssertionError(f"{function.__name__} raised no {error.__name__}")


def test_levenshtein_distance_of_known_words():
    assert levenshtein_distance("kitten", "sitting") == 3
    assert levenshtein_distance("", "abc") == 3
    assert levenshtein_distance("same", "same") == 0
    assert levenshtein_distance("ab", "ba") == 2


def test_slugify_drops_accents_and_punctuation():
    assert slugify("Crème brûlée!") == "creme-brulee"
    assert slugify("  spaced   out ") == "spaced-out"
    assert slugify("---") == ""
    assert len(slugify("word " * 50)) <= 60


def test_dedent_undoes_indent():
    block = "first\n  second\n\nthird"
    moved = indent_lines(block, "        ")
    assert moved != block
    assert dedent_lines(moved) == block
