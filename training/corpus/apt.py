"""Debian's archive through `apt-get`, with separate package lists. It writes no files of the system.

The system's source file is copied, with `deb-src` in addition to `deb`. So source packages are found too, and no root
rights are needed.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from threading import Lock

from training.errors import TrainingError

DEFAULT_SOURCES = Path("/etc/apt/sources.list.d/debian.sources")
TIMEOUT_S = 900
_TYPES = re.compile(r"^Types:.*$", re.MULTILINE)


class AptLists:
    """Package lists in a separate folder, fetched on first use; safe to share between threads."""

    def __init__(self, folder: Path, sources: Path = DEFAULT_SOURCES) -> None:
        self._folder = folder
        self._sources = sources
        self._lock = Lock()
        self._options: list[str] = []

    def command(self, name: str, version: str, *, source: bool) -> list[str]:
        """Return the command that downloads a package, or the upstream tarballs of a source package."""
        what = ["source", "--download-only", "--tar-only"] if source else ["download"]
        return ["apt-get", *self._ready(), *what, f"{name}={version}" if version else name]

    def version(self, name: str, *, source: bool) -> str:
        """Return the newest version of a binary or source package in the archive, or "" if there is none."""
        listed = run_client(["apt-cache", *self._ready(), "madison", name], self._folder)
        wanted = "Sources" if source else "Packages"
        versions = [line.split("|")[1].strip() for line in listed.splitlines() if line.endswith(wanted)]
        return versions[0] if versions else ""

    def _ready(self) -> list[str]:
        with self._lock:
            if not self._options:
                self._options = self._update()
        return self._options

    def _update(self) -> list[str]:
        if not self._sources.exists():
            raise TrainingError(f"{self._sources} is not there: give --apt-sources")
        parts, lists, cache = self._folder / "parts", self._folder / "lists", self._folder / "cache"
        for folder in (parts, lists / "partial", cache / "archives" / "partial"):
            folder.mkdir(parents=True, exist_ok=True)
        text = _TYPES.sub("Types: deb deb-src", self._sources.read_text("utf-8"))
        (parts / "archive.sources").write_text(text, "utf-8")
        settings = {
            "Dir::Etc::sourcelist": "/dev/null",
            "Dir::Etc::sourceparts": parts,
            "Dir::State::lists": lists,
            "Dir::Cache": cache,
            # Containers turn these caches off; without them every call would read all lists again.
            "Dir::Cache::pkgcache": "pkgcache.bin",
            "Dir::Cache::srcpkgcache": "srcpkgcache.bin",
        }
        options = [word for key, value in settings.items() for word in ("-o", f"{key}={value}")]
        run_client(["apt-get", *options, "update"], self._folder)
        return options


def run_client(command: list[str], folder: Path) -> str:
    """Run an archive's client in a folder; return its output."""
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=TIMEOUT_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise TrainingError(f"{command[0]}: {error}: is it installed?") from None
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise TrainingError(f"{command[0]}: {reason}")
    return done.stdout
