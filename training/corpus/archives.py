"""Downloaded archives (deb, zip, wheel, jar, tarball) -> the source files of one language in them."""

from __future__ import annotations

import io
import subprocess
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath

from codesearch.config import WalkConfig
from codesearch.languages import language_named

_LIMITS = WalkConfig()
_ZIPS = (".zip", ".whl", ".jar")
_TARS = (".tar", ".tgz", ".tar.gz", ".tar.xz", ".tar.bz2", ".tar.zst")
_SKIPPED_PARTS = frozenset({"node_modules", "test", "tests", "__tests__", "spec", "vendor", "third_party"})


def source_files(archive: Path, language: str) -> Iterator[tuple[str, bytes]]:
    """Yield (path, content) of the files in `language` in an archive and in zip files inside it.

    Skip tests, vendored copies, minified files and files over the product's size limit.
    """
    if archive.suffix == ".deb":
        unpack = ["dpkg-deb", "--fsys-tarfile", str(archive)]
        with subprocess.Popen(unpack, stdout=subprocess.PIPE) as process:
            with tarfile.open(fileobj=process.stdout, mode="r|") as opened:
                yield from _from_tar(opened, language)
            process.communicate()  # The padding at the end.
    elif archive.name.endswith(_ZIPS):
        with zipfile.ZipFile(archive) as opened:
            yield from _from_zip(opened, language)
    elif archive.name.endswith(_TARS):
        with tarfile.open(archive) as opened:
            yield from _from_tar(opened, language)


def is_wanted(path: str, size: int, language: str) -> bool:
    """Return whether a file inside a package is a source file of `language` that is not skipped."""
    spec = language_named(language)
    pure = PurePosixPath(path)
    if spec is None or pure.suffix.lower() not in spec.extensions or size > _LIMITS.max_file_bytes:
        return False
    return ".min." not in pure.name and _SKIPPED_PARTS.isdisjoint(pure.parts[:-1])


def _from_tar(opened: tarfile.TarFile, language: str) -> Iterator[tuple[str, bytes]]:
    for member in opened:
        if not member.isfile():
            continue
        wanted = is_wanted(member.name, member.size, language)
        if not wanted and not member.name.endswith(".zip"):
            continue
        stream = opened.extractfile(member)
        content = stream.read() if stream else b""
        if wanted:
            yield member.name.removeprefix("./"), content
        else:
            with suppress(zipfile.BadZipFile):  # Some packages have broken archives as test data.
                yield from list(_from_zip(zipfile.ZipFile(io.BytesIO(content)), language))


def _from_zip(opened: zipfile.ZipFile, language: str) -> Iterator[tuple[str, bytes]]:
    for info in opened.infolist():
        if is_wanted(info.filename, info.file_size, language):
            yield info.filename, opened.read(info)
