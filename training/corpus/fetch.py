"""Named packages -> source trees under a corpus folder, through each archive's ordinary client.

`OUT/packages/LANGUAGE/NAME/` holds the files of that language and, written last, `package.json` with the
version, sizes and counts; a package that has one is not fetched again.
"""

from __future__ import annotations

import json
import logging
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from threading import Lock

from training.corpus.archives import source_files
from training.corpus.recipe import Pin, SourcePackage
from training.files import TrainingError, read_json, writing

GITHUB = "https://github.com/"
MARKER = "package.json"
DEFAULT_SOURCES = Path("/etc/apt/sources.list.d/debian.sources")
TIMEOUT_S = 900
_TYPES = re.compile(r"^Types:.*$", re.MULTILINE)
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class FetchedPackage:
    """The contents of `package.json`: version, size of the archives, and the unpacked files of the language."""

    version: str
    download_bytes: int
    files: int
    bytes: int


def fetch_all(
    packages: Sequence[SourcePackage], out: Path, apt: AptLists, *, pins: Mapping[str, Pin], jobs: int = 4
) -> tuple[dict[str, FetchedPackage], list[str]]:
    """Fetch every missing package, `jobs` at a time; return them by key, and the keys that could not be fetched."""
    from tqdm import tqdm

    fetched, missing, taken = {}, [], 0
    with ThreadPoolExecutor(jobs) as pool, tqdm(total=len(packages), unit="package") as bar:
        futures = {
            pool.submit(fetch, package, out, apt, pins.get(package.key, Pin())): package
            for package in packages
        }
        for future in as_completed(futures):
            package = futures[future]
            try:
                fetched[package.key] = future.result()
                taken += fetched[package.key].download_bytes
            except TrainingError as error:
                _log.warning("%s", error)
                missing.append(package.key)
            bar.set_postfix_str(f"{taken / 1e6:,.0f} MB")
            bar.update()
    return fetched, sorted(missing)


def fetch(package: SourcePackage, out: Path, apt: AptLists, pin: Pin) -> FetchedPackage:
    """Fetch one package unless it exists.

    If the archive no longer has the pinned version, log a warning and take the version that it has.
    """
    folder = out / package.folder
    if found := read_marker(folder):
        return found
    shutil.rmtree(folder, ignore_errors=True)
    with tempfile.TemporaryDirectory() as scratch:
        version = _download_pinned(package, Path(scratch), apt, pin)
        archives = sorted(path for path in Path(scratch).iterdir() if path.is_file())
        size = sum(path.stat().st_size for path in archives)
        if pin.bytes and version == pin.version and size != pin.bytes:
            raise TrainingError(f"{package.key}: {size} bytes, expected {pin.bytes}: fetch again")
        counts = [_unpack(archive, package.language, folder) for archive in archives]
    fetched = FetchedPackage(
        version, size, sum(count[0] for count in counts), sum(count[1] for count in counts)
    )
    if not fetched.files:
        raise TrainingError(f"{package.key}: no {package.language} file in it: remove it from the recipe")
    record = {**asdict(package), **asdict(fetched)}
    with writing(folder):
        (folder / MARKER).write_text(json.dumps(record, indent=1) + "\n", "utf-8")
    return fetched


def read_marker(folder: Path) -> FetchedPackage | None:
    """Read the record of a package's folder; return None if the package is not complete."""
    path = folder / MARKER
    return read_json(FetchedPackage, path, "delete its folder and fetch again") if path.exists() else None


def pins_of(fetched: Mapping[str, FetchedPackage]) -> dict[str, Pin]:
    """Return the pins that fetch the same archives again."""
    return {key: Pin(package.version, package.download_bytes) for key, package in fetched.items()}


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


def _download_pinned(package: SourcePackage, folder: Path, apt: AptLists, pin: Pin) -> str:
    try:
        try:
            return _download(package, folder, apt, pin.version)
        except TrainingError:
            if not pin.version:
                raise
            version = _download(package, folder, apt, "")
            _log.warning("%s: version %s is gone: took %s", package.key, pin.version, version)
            return version
    except TrainingError as error:
        raise TrainingError(f"{package.key}: {error}: check the name in the recipe") from None


def _download(package: SourcePackage, folder: Path, apt: AptLists, version: str) -> str:
    """Download one version, or the newest for ""; return the version."""
    name = package.name
    if package.kind in ("debian", "debian-source"):
        is_source = package.kind == "debian-source"
        version = version or apt.version(name, source=is_source)
        run_client(apt.command(name, version, source=is_source), folder)
        return version
    if package.kind == "npm":
        run_client(["npm", "pack", "--silent", f"{name}@{version or 'latest'}"], folder)
        return next(folder.iterdir()).stem.removeprefix(name.lstrip("@").replace("/", "-") + "-")
    if package.kind == "github":
        return _clone(GITHUB + name, version, folder)
    _pip_download(f"{name}=={version}" if version else name, folder)
    return _version_of_distribution(next(folder.iterdir()).name)


def _clone(url: str, commit: str, folder: Path) -> str:
    """Write the files of a commit, or of the newest one for "", to an archive; return the commit."""
    with tempfile.TemporaryDirectory() as scratch:
        git = ["git", "-C", scratch]
        run_client([*git, "init", "--quiet"], folder)
        run_client([*git, "fetch", "--quiet", "--depth", "1", url, commit or "HEAD"], folder)
        run_client([*git, "archive", "--output", str(folder / "source.tar"), "FETCH_HEAD"], folder)
        return run_client([*git, "rev-parse", "FETCH_HEAD"], folder).strip()


def _pip_download(requirement: str, folder: Path) -> None:
    command = [sys.executable, *"-m pip download --quiet --no-deps --dest".split(), str(folder), requirement]
    try:
        run_client([*command, "--only-binary", ":all:"], folder)
    except TrainingError:  # There is no wheel for this platform; a source archive needs a build backend.
        run_client([*command, "--no-binary", ":all:"], folder)


def _version_of_distribution(name: str) -> str:
    """Read the version out of the file name of a wheel or a source archive.

    >>> _version_of_distribution("a_b-1.2-py3-none-any.whl"), _version_of_distribution("a-b-1.2.tar.gz")
    ('1.2', '1.2')
    """
    if name.endswith(".whl"):
        return name.split("-")[1]
    stem = name.removesuffix(".zip").removesuffix(".gz").removesuffix(".bz2").removesuffix(".tar")
    return stem.rpartition("-")[2]


class AptLists:
    """Debian's package lists in a separate folder, fetched on first use; safe to share between threads.

    The system's source file is copied, with `deb-src` in addition to `deb`. So source packages are found too, and no
    root rights are needed.
    """

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
