"""Interrupts, full disks and strange files: at most a warning or a one-line error, and the last good index remains."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from codesearch.store.catalogue import index_folder, recorded, writer_lock
from tests.command import TIMEOUT, Command, until
from tests.conftest import write_tree


def bigger_tree(root: Path, files: int) -> None:
    """Write different files of some kilobytes with 20 functions each."""
    for number in range(files):
        lines = []
        for function in range(20):
            name = f"value_{number}_{function}"
            lines += [f"def {name}(first, second):", f'    """Return {name} of both."""']
            lines += [f"    {name}{line} = first * {line} + second" for line in range(8)]
        write_tree(root, {f"pkg{number % 10}/m{number}.py": "\n".join(lines) + "\n"})


@pytest.mark.parametrize("whole_group", [True, False], ids=["from a terminal", "to the process"])
def test_an_interrupt_leaves_the_last_good_index(indexed, command, home, whole_group):
    folder = index_folder(home, indexed)
    bigger_tree(indexed, 200)
    with command.start("index", "tiny", stdout=-1, stderr=-1, start_new_session=True) as process:
        until((folder / "segments/000002" / "vectors.int8").exists)
        (os.killpg if whole_group else os.kill)(process.pid, signal.SIGINT)
        stdout, stderr = process.communicate(timeout=TIMEOUT)
    assert (stdout, stderr) == (b"", b"interrupted: what is indexed stays, and the next run does the rest\n")
    assert process.returncode == 130
    done = command("query", "--all", "--no-refresh", "push", "-k", "1", "--vimgrep")
    assert (done.returncode, done.stdout) == (0, "tiny/python/convert.py:17:1:def push(self, item)\n")
    for number in range(1, 10):
        shutil.rmtree(indexed / f"pkg{number}")
    assert command("index", "tiny").returncode == 0
    assert [path.name for path in folder.glob("segments/*")] == ["000003"], "a partly written segment remains"


def test_a_second_writer_is_an_error_that_says_to_wait(indexed, command, home):
    (indexed / "new.py").write_text("def new():\n    pass\n")
    # What makes a first index tells how far it is, and is not waited for long.
    with writer_lock(folder := index_folder(home, indexed), "tiny"), recorded(folder, indexed):
        said = command.fails("index", "tiny")
    assert said == f"error: tiny is being indexed by process {os.getpid()}: wait for it, or stop it\n"


@pytest.fixture
def odd_tree(tmp_path: Path) -> Path:
    root = write_tree(
        tmp_path / "odd", {"good.py": "def good():\n    pass\n", "empty.py": "", "bad.py": "def (("}
    )
    (root / "latin.py").write_bytes(b'def caf\xe9():\n    """R\xe9sum\xe9 of it."""\n')
    (root / "data.py").write_bytes(b"x = '\x00'\n" * 100)
    (root / "bundle.js").write_bytes(b"function a(){return 1};" * 10_000)
    with open(root / "huge.js", "wb") as file:
        file.truncate(50_000_000)
    depth = 10_000
    (root / "deep.js").write_text("function f(){\n" * depth + "}\n" * depth)
    (root / "deep.py").write_text("x = " + "(\n" * depth + "1" + ")\n" * depth)
    (root / "link.py").symlink_to("link.py")
    return root


def test_strange_files_cost_a_warning_at_most(command, odd_tree, tiny_bundle, home):
    done = command("index", "odd", "--model", tiny_bundle)
    assert done.returncode == 0
    (entry,) = json.loads(command("status", "--json").stdout)
    assert entry["not_indexed"] == {
        "binary": {".py": 1},
        "link": {".py": 1},
        "minified": {".js": 1},
        "too large": {".js": 1},
    }
    assert entry["languages"]["python"] == 4
    warned = [line.split(":")[0] for line in entry["warnings"]]
    assert warned.count("huge.js") == 1
    assert set(warned) <= {"huge.js", "deep.js", "deep.py", "bad.py", "latin.py"}
    assert done.stderr.splitlines() == [f"warning: {line}" for line in entry["warnings"]]
    found = command("query", "--all", "résumé", "good", "--vimgrep", "--mode", "lexical", "--path", "*.py")
    assert found.stdout.splitlines()[0] == "odd/good.py:1:1:def good()"


def test_a_file_that_may_not_be_read_costs_a_warning(command, indexed):
    path = indexed / "go" / "reader.go"
    if os.geteuid():
        path.chmod(0)
        start = command.line("index", "tiny", "--rebuild")
    elif subprocess.run(["setpriv", "--version"], capture_output=True, check=False).returncode == 0:
        path.chmod(0)  # Root can read every file, unless it drops its privileges.
        drop = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--securebits=+noroot,+no_setuid_fixup"]
        start = [*drop, *command.line("index", "tiny", "--rebuild", "--model", model_of(command))]
    else:
        pytest.skip("runs as root, who can read everything")
    done = subprocess.run(
        start, cwd=command.folder, env=command.environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == "warning: go/reader.go: Permission denied: left out\n"
    assert done.stdout.startswith("tiny: 11 documents from 6 files")
    assert done.stdout.endswith("  not indexed\n    1 file that cannot be read (.go 1)\n")


def model_of(command: Command) -> str:
    (manifest,) = command.home.glob("indexes/*/manifest.json")
    return json.loads(manifest.read_text())["model"]["folder"]


def test_index_and_query_need_no_network(command, tiny_repo, tiny_bundle):
    isolate = ["unshare", "-rn"]
    try:
        subprocess.run([*isolate, sys.executable, "-c", ""], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("unshare -rn is not allowed here")

    def offline(*arguments: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*isolate, *command.line(*arguments)],
            cwd=command.folder,
            env=command.environment,
            capture_output=True,
            text=True,
            check=False,
        )

    assert offline("index", "tiny", "--model", tiny_bundle).returncode == 0
    done = offline("query", "--all", "pop", "-k", "1", "--vimgrep")
    assert (done.returncode, done.stdout) == (0, "tiny/python/convert.py:21:1:def pop(self)\n")


def test_nothing_is_written_outside_the_home(command, tiny_repo, tiny_bundle, tmp_path):
    user = tmp_path / "user"
    user.mkdir()
    outside = {**command.environment, "HOME": str(user)}
    outside.pop("XDG_CACHE_HOME", None)
    outside.pop("ORT_DISABLE_TELEMETRY", None)
    for arguments in (("index", "tiny", "--model", tiny_bundle), ("query", "--all", "pop")):
        subprocess.run(
            command.line(*arguments), cwd=command.folder, env=outside, capture_output=True, check=True
        )
    assert list(user.rglob("*")) == [], "a library wrote files (telemetry?)"
