"""Questions about packages, with the first results of the product."""

from __future__ import annotations

import pytest

from codesearch.engine.engine import Engine
from codesearch.errors import CodeSearchError
from tests.conftest import write_tree
from training.pools import DOCUMENTATION, read_groups
from training.tuning.command import WRITTEN
from training.tuning.pools import WrittenQuestion, read_written, write_group

TREE = {
    "00/lib/trees.py": "def wipe(path):\n    for entry in listdir(path):\n        unlink(entry)\n\n\n"
    "def count_files(path):\n    return len(listdir(path))\n",
    "00/lib/cache.py": "class Cache:\n"
    '    """Keeps values in memory until they are old."""\n\n'
    "    def load(self, key):\n"
    '        """Return the value of a key."""\n'
    "        return self.values[key]\n",
    "01/other.py": "def wipe_screen(path):\n    unlink(path)\n",
}
URL = "pkg:pypi/trees@1"


@pytest.fixture
def group(tmp_path):
    write_tree(tmp_path / "000" / "tree", TREE)
    Engine(tmp_path / "000" / "home").index(tmp_path / "000" / "tree")
    return tmp_path / "000"


def question(text: str, path: str, line: int) -> WrittenQuestion:
    return WrittenQuestion("keywords", "undocumented", "python", URL, path, line, "wipe", text)


def test_a_question_gets_candidates_of_its_own_package_with_the_answer_marked(group):
    asked = {URL: [question("unlink all files of a folder", "lib/trees.py", 1)]}
    write_group(group, [URL, "pkg:pypi/other@1"], asked)
    ((pools, candidates),) = read_groups(group.parent)
    pool = next(pool for pool in pools if pool.style == "keywords")
    assert pool.found
    assert candidates[pool.candidates[pool.answer]].name == "wipe"
    assert all(candidates[number].path != "other.py" for number in pool.candidates)
    assert len(pool.signals["cosine"]) == len(pool.candidates)


def test_first_sentences_of_documentation_are_questions_about_code_without_it(group):
    write_group(group, [URL], {})
    ((pools, candidates),) = read_groups(group.parent)
    asked = {pool.question: candidates[pool.candidates[pool.answer]] for pool in pools}
    assert {pool.style for pool in pools} == {DOCUMENTATION}
    assert {answer.kind for answer in asked.values()} == {"class", "method"}
    answer = asked["Return the value of a key."]
    assert answer.docstring == "Return the value of a key."
    assert answer.context == "Keeps values in memory until they are old."


def test_a_question_about_a_line_without_a_function_is_dropped(group):
    write_group(group, [URL], {URL: [question("nothing", "lib/trees.py", 2)]})
    ((pools, _),) = read_groups(group.parent)
    assert all(pool.question != "nothing" for pool in pools)


def test_an_invalid_line_is_an_error(tmp_path):
    path = tmp_path / "questions.tsv"
    path.write_text("keywords\tundocumented\tpython\n")
    with pytest.raises(CodeSearchError, match=r"questions\.tsv:1"):
        read_written(path)


def test_the_shipped_questions_can_be_read():
    questions = read_written(WRITTEN / "questions.tsv")
    assert len(questions) > 7_000
    assert len({(asked.package, asked.path, asked.line) for asked in questions}) == len(questions)
