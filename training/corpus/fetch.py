"""Named packages -> source trees under a corpus folder, through each archive's ordinary client.

`OUT/packages/LANGUAGE/NAME/` holds the files of that language and, written last, `package.json` with the
version and counts; a package that has one is not fetched again.
"""

from __future__ import annotations

import json
import logging
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path, PurePosixPath

from tqdm import tqdm

from training.corpus.archives import source_files
from training.corpus.recipe import SourcePackage
from training.errors import TrainingError

MARKER = "package.json"
_TIMEOUT_S = 600
_log = logging.getLogger(__name__)


def fetch_all(packages: Iterable[SourcePackage], out: Path, apt_sources: Path) -> list[str]:
    """Fetch every package that is not there yet; return the names that could not be had.

    Args:
        packages: what to fetch.
        out: the corpus folder.
        apt_sources: a deb822 file of the system, read to find where source packages are; never written.
    """
    missing = []
    with tempfile.TemporaryDirectory() as scratch:
        apt = _AptSource(Path(scratch), apt_sources)
        for package in tqdm(list(packages), unit="package"):
            try:
                fetch(package, out, apt)
            except TrainingError as error:
                _log.warning("%s", error)
                missing.append(package.name)
    return missing


def fetch(package: SourcePackage, out: Path, apt: _AptSource) -> Path:
    """Fetch one package unless it is there; return its folder.

    Raises:
        TrainingError: the client failed, or the package holds no file of its language.
    """
    folder = out / package.folder
    if (folder / MARKER).exists():
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    with tempfile.TemporaryDirectory() as scratch:
        _download(package, Path(scratch), apt)
        archives = sorted(Path(scratch).iterdir())
        counts = [_unpack(archive, package.language, folder) for archive in archives]
    files, size = sum(count[0] for count in counts), sum(count[1] for count in counts)
    if not files:
        raise TrainingError(f"{package.name}: no {package.language} file in it: remove it from the recipe")
    record = {**asdict(package), "archives": [path.name for path in archives], "files": files, "bytes": size}
    (folder / MARKER).write_text(json.dumps(record, indent=1) + "\n", "utf-8")
    return folder


def _unpack(archive: Path, language: str, folder: Path) -> tuple[int, int]:
    files = size = 0
    for path, content in source_files(archive, language):
        parts = [part for part in PurePosixPath(path).parts if part not in ("/", "..", ".")]
        target = folder.joinpath(*parts)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        except OSError as error:
            _log.warning("%s: %s", target, error)
            continue
        files, size = files + 1, size + len(content)
    return files, size


def _download(package: SourcePackage, folder: Path, apt: _AptSource) -> None:
    version = package.version
    if package.kind == "debian":
        name = f"{package.name}={version}" if version else package.name
        _run(package, ["apt-get", "download", name], folder)
    elif package.kind == "debian-source":
        _run(package, apt.command(package), folder)
    elif package.kind == "npm":
        _run(package, ["npm", "pack", "--silent", f"{package.name}@{version or 'latest'}"], folder)
    else:
        _pip_download(package, folder)


def _pip_download(package: SourcePackage, folder: Path) -> None:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder)]
    requirement = f"{package.name}=={package.version}" if package.version else package.name
    try:
        _run(package, [*command, "--only-binary", ":all:", requirement], folder)
    except TrainingError:  # No wheel for this platform; a source archive asks for its build backend.
        _run(package, [*command, "--no-binary", ":all:", requirement], folder)


def _run(package: SourcePackage, command: list[str], folder: Path) -> None:
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=_TIMEOUT_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise TrainingError(f"{package.name}: {command[0]}: {error}: is it installed?") from None
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise TrainingError(f"{package.name}: {command[0]}: {reason}: check the name in the recipe")


class _AptSource:
    """A private apt source list with `deb-src` lines, made from the system's on first use."""

    def __init__(self, folder: Path, apt_sources: Path) -> None:
        self._folder = folder
        self._apt_sources = apt_sources
        self._options: list[str] = []

    def command(self, package: SourcePackage) -> list[str]:
        if not self._options:
            self._prepare(package)
        name = f"{package.name}={package.version}" if package.version else package.name
        return ["apt-get", *self._options, "source", "--download-only", name]

    def _prepare(self, package: SourcePackage) -> None:
        if not self._apt_sources.exists():
            raise TrainingError(f"{package.name}: {self._apt_sources} is not there: give --apt-sources")
        parts, lists = self._folder / "parts", self._folder / "lists"
        parts.mkdir()
        (lists / "partial").mkdir(parents=True)
        text = self._apt_sources.read_text("utf-8").replace("Types: deb\n", "Types: deb-src\n")
        (parts / "source.sources").write_text(text, "utf-8")
        options = {
            "Dir::Etc::sourcelist": "/dev/null",
            "Dir::Etc::sourceparts": parts,
            "Dir::State::lists": lists,
        }
        self._options = [word for key, value in options.items() for word in ("-o", f"{key}={value}")]
        _run(package, ["apt-get", *self._options, "update"], self._folder)
