"""Unusual locales, outputs and inputs: the usual answer or a one-line error."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryFile

import pytest

from codesearch.cli.invocation import outputs
from tests.command import TIMEOUT, Command
from tests.conftest import write_tree

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs the devices and locales of POSIX")


@pytest.fixture
def command(tmp_path: Path, home: Path) -> Command:
    return Command(write_tree(tmp_path / "tree", {"a.py": "def alpha(one):\n    return one\n"}), home)


def test_names_beyond_ascii_are_printed_in_an_ascii_locale(command, home):
    write_tree(command.folder, {"ünï/ç.py": "def gamma(two):\n    return two\n"})
    ascii_only = Command(command.folder, home, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"})
    assert ascii_only("index", ".").returncode == 0
    assert command("query", "gamma", "--files", "-n", "1").stdout == "ünï/ç.py\n"
    assert ascii_only("query", "gamma", "--files", "-n", "1").stdout == "ünï/ç.py\n"
    assert ascii_only("index", "ünï").returncode == 0


def test_json_is_valid_if_the_output_lacks_a_character(command, home):
    write_tree(command.folder, {"ç.py": "def alpha(two):\n    return two\n"})
    command.succeeds("index", ".")
    ascii_only = Command(command.folder, home, {"PYTHONIOENCODING": "ascii"})
    for arguments in ("query alpha", "outline ç.py", "usages alpha", "duplicates --min-lines 1"):
        found = json.loads(ascii_only(*arguments.split(), "--json").stdout)
        assert "ç.py" in json.dumps(found, ensure_ascii=False)


@pytest.mark.parametrize(
    "arguments", [["--help"], ["query", "--help"], ["--version"], ["query", "alpha"], ["status"]]
)
def test_a_full_device_is_a_one_line_error(command, arguments):
    command.succeeds("index", ".")
    with open(os.devnull) as empty, open("/dev/full", "w") as full, TemporaryFile() as err:
        assert command.with_streams(empty.fileno(), full.fileno(), err.fileno(), *arguments) == 2
        err.seek(0)
        assert err.read() == b"error: output: No space left on device\n"


def test_an_ignore_file_with_a_byte_order_mark_works(command):
    write_tree(command.folder, {"b.py": "def beta():\n    return 2\n"})
    (command.folder / ".gitignore").write_bytes(b"\xef\xbb\xbfb.py\n")
    command.succeeds("index", ".")
    assert command("query", "beta", "--files").stdout != "b.py\n"


def test_a_long_query_without_words_is_not_echoed_whole(command):
    command.succeeds("index", ".")
    done = command("query", "(% " * 40_000)
    assert done.returncode == 2 and len(done.stderr) < 200


@pytest.mark.parametrize("arguments", [["query", "alpha"], ["index", "."], ["status"]])
def test_a_deleted_working_directory_is_one_line(command, tmp_path, arguments):
    gone = tmp_path / "gone"
    gone.mkdir()
    script = f'import os, sys; os.rmdir("{gone}"); from codesearch.cli.entry import run; run()'
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        cwd=gone,
        env=command.environment,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (
        2,
        "",
        "error: the working directory cannot be used (No such file or directory): change to another one\n",
    )


@pytest.mark.parametrize(
    ("failure", "message"),
    [
        (
            MemoryError(),
            "error: there is not enough memory: end other programs, or raise the limit of `ulimit -v`",
        ),
        (RuntimeError("can't start new thread"), "error: there is not enough memory"),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), "error: there is not enough memory"),
        (ImportError("no space"), "error: a package cannot be loaded (no space): run `codesearch doctor`"),
    ],
)
def test_a_lack_of_memory_is_one_line(failure, message):
    def command():
        raise failure
        yield

    (output,) = outputs(command())
    assert (output.code, output.err.count("\n")) == (2, 1)
    assert output.err.startswith(message)
