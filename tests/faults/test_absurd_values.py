"""Absurd values of every option, argument and variable: the usual answer or one line, in bounded time."""

import random
import sys
from itertools import product
from pathlib import Path

import pytest

from codesearch.cli.main import COMMANDS, function_of
from codesearch.options import ENVIRONMENT, Option, options_of
from codesearch.settings import SETTINGS
from tests.command import Command
from tests.conftest import write_tree

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a fork, and names of POSIX")

# Each of these ends by itself, also with values that are right.
LINES = {
    "index": ["index", "."],
    "query": ["query", "giraffe"],
    "similar": ["similar", "g.py:1"],
    "outline": ["outline"],
    "read": ["read", "g.py"],
    "usages": ["usages", "find_the_giraffe"],
    "duplicates": ["duplicates"],
    "history": ["history", "giraffe"],
    "watch": ["watch", "missing"],
    "serve": ["serve", "--stop"],
    "mcp": ["mcp", "--instructions"],
    "lsp": ["lsp"],
    "status": ["status"],
    "config": ["config"],
    "export": ["export", "out.codesearch"],
    "import": ["import", "in.codesearch"],
    "remove": ["remove", "missing"],
    "doctor": ["doctor"],
    "bench": ["bench", "--suite", "missing"],
}
NUMBERS = (
    "nan",
    "inf",
    "-inf",
    "1e400",
    "-1",
    "0",
    "9" * 20,
    "-" + "9" * 20,
    "²",
    "0x10",
    "1_0",
    "9" * 5_000,
)
TEXTS = (
    "",
    " ",
    "~nosuchuser",
    "~nosuchuser/x",
    "\udcff",
    "a\nb\x1b[2J",
    "[z-a]",
    "!",
    "*" * 4_000,
    "**/" * 2_000,
    "x" * 100_000,
    "/dev/null",
    "/" * 5_000,
    "{}[]()\\'\"",
    "g.py:" + "9" * 30,
    "g.py:0-0",
    "::",
    "-1",
)


def flag(option: Option) -> str:
    names = "/".join(option.flags).split("/")
    return next(name for name in names if name.startswith("--"))


def cases() -> list[tuple[str, list[str], dict[str, str]]]:
    """Return (command, further arguments, variables) of all cases, in an order that is always the same."""
    found: list[tuple[str, list[str], dict[str, str]]] = []
    for command in COMMANDS:
        for option in options_of(function_of(command)).values():
            values = (
                () if option.kind is bool else NUMBERS if option.kind in (int, float) else TEXTS + NUMBERS
            )
            found += [(command, [f"{flag(option)}={value}"], {}) for value in values]
        # To index "/" is no error, but takes long.
        texts = [value for value in TEXTS if command != "index" or set(value) != {"/"}]
        found += [(command, ["--", value], {}) for value in texts]
        found += [(command, [value], {}) for value in texts]
    variables = [option.variable for option in SETTINGS.values() if ENVIRONMENT in option.opt.set_by]
    values = [value for value in TEXTS + NUMBERS if "\0" not in value]
    found += [("query", [], {name: value}) for name, value in product([*variables, "COLUMNS"], values)]
    random.Random(0).shuffle(found)
    return found


def test_each_command_has_a_line():
    assert set(LINES) == set(COMMANDS), "add a line that ends by itself to LINES"


@pytest.fixture
def command(tmp_path: Path, home: Path) -> Command:
    made = Command(write_tree(tmp_path / "tree", {"g.py": "def find_the_giraffe():\n    return 1\n"}), home)
    assert made("index", ".").returncode == 0
    assert made("export", "in.codesearch").returncode == 0
    return made


def check(command: Command, name: str, further: list[str], variables: dict[str, str]) -> None:
    """Run one case: a known exit code, no traceback, an error of one line, and an index that still answers."""
    asked = Command(command.folder, command.home, variables)
    done = asked(*LINES[name], *further)
    case = f"{LINES[name]} {further} {variables}"[:300]
    assert done.returncode in (0, 1, 2), (case, done.stderr)
    assert "Traceback" not in done.stdout + done.stderr, (case, done.stderr)
    errors = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert len(errors) == (done.returncode == 2), (case, done.stderr)
    assert not errors or done.stderr.endswith(f"{errors[0]}\n"), (case, done.stderr)
    if name in ("index", "import"):
        again = command("query", "giraffe", "--compact")
        assert (again.returncode, "Traceback" in again.stderr) in ((0, False), (1, False)), (
            case,
            again.stderr,
        )


def test_an_absurd_value_of_each_command_is_one_line(command):
    for case in {name: (name, *more) for name, *more in cases()}.values():
        check(command, *case)


def test_words_and_places_that_are_not_utf8_are_one_line(command):
    for name in ("query", "similar", "outline", "read", "usages"):
        check(command, name, ["--", "x\udcff"], {})


@pytest.mark.thorough
def test_every_absurd_value_is_one_line(command):
    for case in cases():
        check(command, *case)
