"""`codesearch similar`: which function is meant, what is similar to it, and invalid places."""

import json

import pytest

from tests.command import Command
from tests.conftest import TINY_REPO, index_by_engine, write_tree

COPY = '''def int_as_string(number: int) -> str:
    """Convert an integer to its decimal string."""
    return str(number)


class Outer:
    def text(self, number: int) -> str:
        """Convert an integer to its decimal string."""

        def inner(item):
            return self.items.append(item)

        return inner(str(number))
'''

SIBLINGS = '''def run_all(jobs):
    """Run all jobs."""
    return [run(job) for job in jobs]


def run(job):
    """Run a job."""
    return job()
'''


@pytest.fixture(scope="module")
def ask(tmp_path_factory, tiny_bundle) -> Command:
    """Return the command in a folder with an indexed tree and a file outside of it, which the tests only read."""
    folder = tmp_path_factory.mktemp("similar")
    tree = write_tree(folder / "tiny", {**TINY_REPO, "python/copy.py": COPY})
    (tree / "python/siblings.py").write_text(SIBLINGS)
    index_by_engine(tree, folder / "home", tiny_bundle)
    (folder / "elsewhere.py").write_text(COPY)
    return Command(folder, folder / "home")


def found(ask: Command, *arguments: object) -> list[str]:
    done = ask("similar", "--all", *arguments, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    return [hit["qualified_name"] for hit in json.loads(done.stdout)["hits"]]


def test_the_copy_is_first_and_the_function_itself_is_not_a_hit(ask):
    names = found(ask, "tiny/python/convert.py:5", "-k", 3)
    assert names[0] == "int_as_string"
    assert "int_to_string" not in names and len(names) == 3


def test_a_file_that_is_not_indexed_can_be_given_with_line_and_column(ask):
    assert set(found(ask, "elsewhere.py:1:7", "-k", 2)) == {"int_as_string", "int_to_string"}


def test_the_innermost_function_is_compared_and_enclosing_definitions_are_not_hits(ask):
    names = found(ask, "tiny/python/copy.py:11", "-k", 20)
    assert names[0] == "Stack.push"
    assert {"Outer", "Outer.text", "Outer.text.inner"}.isdisjoint(names)
    assert "int_as_string" in names


def test_a_sibling_whose_name_is_a_prefix_is_not_an_enclosing_definition(ask):
    assert "run" in found(ask, "tiny/python/siblings.py:2", "-k", 20)


def test_files_and_folders_after_the_place_limit_the_hits(ask):
    done = ask("similar", "tiny/python/convert.py:5", "tiny/go", "tiny/php", "--jsonl")
    assert (done.returncode, done.stderr) == (0, "")
    assert {json.loads(line)["path"].split("/")[0] for line in done.stdout.splitlines()} == {"go", "php"}
    said = "error: tiny/absent does not exist: give files or folders\n"
    assert ask.fails("similar", "tiny/python/convert.py:5", "tiny/absent") == said


@pytest.mark.parametrize("place", ["convert.py:5", "python/convert.py::int_to_string", "int_to_string"])
def test_a_place_can_be_the_end_of_a_path_or_a_name(ask, place):
    names = found(ask, place, "-k", 3)
    assert names[0] == "int_as_string" and "int_to_string" not in names


def test_plain_output_names_places(ask):
    done = ask("similar", "--all", "tiny/python/convert.py:5", "-k", 1)
    lines = done.stdout.splitlines()
    assert lines[0].endswith("tiny/python/copy.py:1  int_as_string  function, 3 lines")
    assert lines[-1].startswith("1 hit from ")


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("elsewhere.py", "no file, folder or definition is called 'elsewhere.py'"),
        ("convert.py", "convert.py is no function or class: give FILE:LINE or a name"),
        ("none.py:3", "none.py is not in the index: give the path of a file in it"),
        ("elsewhere.py:4", "elsewhere.py:4: no function or class there: give a line inside one"),
        ("elsewhere.py:999", "elsewhere.py:999: no function or class there"),
        ("notes.txt:1", "notes.txt is not in the index: give the path of a file in it"),
    ],
)
def test_an_invalid_place_is_a_one_line_error_with_status_2(ask, place, message):
    assert ask.fails("similar", "--all", place).startswith(f"error: {message}")


@pytest.mark.parametrize("output_format", [[], ["--json"], ["--vimgrep"], ["-l"]])
def test_a_name_of_several_definitions_is_an_error_that_lists_them(ask, output_format):
    places = "python/convert.py:17 (Stack.push), ruby/queue.rb:4 (PriorityQueue.push)"
    said = f"error: push names 2 places: give one of them: {places}\n"
    assert ask.fails("similar", "--all", "push", *output_format) == said
