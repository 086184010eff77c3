"""The walker ignores the same files as git."""

import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codesearch.config import WalkConfig
from codesearch.parsing.walker import WalkSummary, walk
from tests.conftest import write_tree

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")

FILES = (
    "a.py b.py !a.py [a].py src/a.py src/b.go src/lib/a.py src/lib/deep/b.py lib/a.py lib/src/b.py".split()
)
PATTERNS = r"""
a.py|/a.py|*.py|!a.py|!*.py|/*|!/src|!/src/|src/|/src/|src|lib/|!lib/|src/lib|/src/lib/|src/*|!src/lib|**/lib
**/b.py|src/**|src/**/b.py|!src/**|*|?.py|[ab].py|[!a].py|# a.py|\#||   |a.py |\!a.py|*/lib|lib/*/b.py|!*/
""".strip().replace("\n", "|")
SETS = "[ab] [!a] [^s] [!x-z] [b-a] [s-ac] [a-] [--b] [a&&b] []a] [!]l] [[:alpha:]] [![:digit:]] [[:none:]] [\\]b]"
PIECES = ["", *f"a a.py b src lib deep * * ? / / **/ /** ** {SETS} \\a \\* !".split(" ")]
# Git reads `a**/b` unlike its documentation: it compares the plain beginning alone and then sees `**/b`.
UNLIKE = re.compile(r"[^/!]\*\*")
JOINED = st.lists(st.sampled_from(PIECES), max_size=6).map("".join).filter(lambda p: not UNLIKE.search(p))
RULES = st.lists(st.sampled_from(PATTERNS.split("|")) | JOINED, max_size=5).map("\n".join)
PLACES = (".gitignore", "src/.gitignore", "lib/.gitignore", "src/lib/.gitignore", ".git/info/exclude")


NAMES = [
    f"{first}{second}" for first in ("a", "b", "src", "x1", "[a]") for second in ("", "lib", "-b", ".py")
]
MANY_FILES = [
    f"{folder}{name}.py" for folder in ("", "a/", "x1lib/", "a/b-b/", "src/a/lib/") for name in NAMES
]


def many_lines(random: Random, count: int) -> str:
    """Return patterns, most of them without wildcards, many of which match one of `MANY_FILES`."""

    def name() -> str:
        return random.choice(["", "", "*", random.choice(PIECES[:-1]).replace("/", "")]) + random.choice(
            NAMES
        )

    def line() -> str:
        path = "/".join(name() for _ in range(random.choice((1, 1, 2, 3))))
        return "".join(
            map(random.choice, (["", "", "!"], ["", "/", "**/"], [path], ["", ".py", "/", "/*", "/**"]))
        )

    return "\n".join(pattern for pattern in (line() for _ in range(count)) if not UNLIKE.search(pattern))


@given(st.fixed_dictionaries({}, optional=dict.fromkeys(PLACES, RULES)))
def test_the_walker_lists_what_git_lists(rules):
    compare(FILES, rules)


@given(st.integers(0, 2**32), st.sampled_from((20, 100, 250)))
def test_the_walker_lists_what_git_lists_with_many_patterns(seed, count):
    random, places = Random(seed), (".gitignore", "a/.gitignore", "a/b-b/.gitignore")
    compare(MANY_FILES, {place: many_lines(random, count) for place in places})


def compare(files: Sequence[str], rules: Mapping[str, str]) -> None:
    """Compare the walker with git in a tree of these files and ignore files."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write_tree(root, {**dict.fromkeys(files, "x = 1\n"), ".git/HEAD": "ref: refs/heads/main\n"})
        write_tree(root, {".git/objects/.keep": "", ".git/refs/.keep": "", **rules})
        command = "git -c core.excludesFile=/dev/null ls-files -z --others --exclude-standard".split()
        listed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout
        expected = {path for path in listed.split("\0") if path.endswith((".py", ".go"))}
        assert {file.path for file in walk(root, WalkConfig(), WalkSummary())} == expected
