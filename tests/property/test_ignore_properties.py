"""The walker ignores the same files as git."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codesearch.config import WalkConfig
from codesearch.parsing.walker import WalkReport, walk
from tests.conftest import write_tree

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")

FILES = (
    "a.py b.py !a.py [a].py src/a.py src/b.go src/lib/a.py src/lib/deep/b.py lib/a.py lib/src/b.py".split()
)
PATTERNS = r"""
a.py|/a.py|*.py|!a.py|!*.py|/*|!/src|!/src/|src/|/src/|src|lib/|!lib/|src/lib|/src/lib/|src/*|!src/lib|**/lib
**/b.py|src/**|src/**/b.py|!src/**|*|?.py|[ab].py|[!a].py|# a.py|\#||   |a.py |\!a.py|*/lib|lib/*/b.py|!*/
""".strip().replace("\n", "|")
PIECES = "a a.py b src lib deep * * ? / / **/ /** ** [ab] [!a] [^s] [!x-z] \\a !".split(" ")
# Git reads `a**/b` unlike its documentation: it compares the plain beginning alone and then sees `**/b`.
JOINED = (
    st.lists(st.sampled_from(PIECES), max_size=6)
    .map("".join)
    .filter(lambda p: not re.search(r"[^/!]\*\*", p))
)
RULES = st.lists(st.sampled_from(PATTERNS.split("|")) | JOINED, max_size=5).map("\n".join)
PLACES = (".gitignore", "src/.gitignore", "lib/.gitignore", "src/lib/.gitignore", ".git/info/exclude")


@given(st.fixed_dictionaries({}, optional=dict.fromkeys(PLACES, RULES)))
def test_the_walker_lists_what_git_lists(rules):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write_tree(root, {**dict.fromkeys(FILES, "x = 1\n"), ".git/HEAD": "ref: refs/heads/main\n"})
        write_tree(root, {".git/objects/.keep": "", ".git/refs/.keep": "", **rules})
        command = "git -c core.excludesFile=/dev/null ls-files -z --others --exclude-standard".split()
        listed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout
        expected = {path for path in listed.split("\0") if path.endswith((".py", ".go"))}
        assert {file.path for file in walk(root, WalkConfig(), WalkReport())} == expected
