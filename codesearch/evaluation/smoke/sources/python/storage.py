"""Reading and writing files."""

import csv
import gzip
import hashlib
import json
import os
import shutil
import tempfile
import zipfile
from collections import deque
from pathlib import Path


def read_json(path, default=None):
    """Parse a JSON file; a missing file gives the default."""
    try:
        with open(path, encoding="utf-8") as stream:
            return json.load(stream)
    except FileNotFoundError:
        return default


def write_json(path, value):
    """Save a value as indented JSON, creating parent folders on the way."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False)
    target.write_text(text + "\n", encoding="utf-8")


def load_table(path, delimiter=","):
    """Read a CSV file into a list of dictionaries, one a row, keyed by the header."""
    with open(path, newline="", encoding="utf-8-sig") as stream:
        rows = csv.DictReader(stream, delimiter=delimiter)
        return [dict(row) for row in rows if any(row.values())]


def save_table(path, rows):
    if not rows:
        raise ValueError("a table without rows has no header")
    with open(path, "w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def gzip_file(source, level=6):
    """Compress a file and remove the original, as the gzip command does."""
    target = f"{source}.gz"
    with open(source, "rb") as plain, gzip.open(target, "wb", compresslevel=level) as packed:
        shutil.copyfileobj(plain, packed)
    os.remove(source)
    return target


def gunzip_file(source):
    """Decompress a .gz file next to itself and return the new path."""
    if not source.endswith(".gz"):
        raise ValueError(f"{source} does not end in .gz")
    target = source[:-3]
    with gzip.open(source, "rb") as packed, open(target, "wb") as plain:
        shutil.copyfileobj(packed, plain)
    return target


def pack_folder(folder, archive):
    """Put everything below a folder into a new zip archive."""
    base = Path(folder)
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as bundle:
        for path in sorted(base.rglob("*")):
            if path.is_file():
                bundle.write(path, path.relative_to(base))


def unpack_archive(archive, folder):
    """Extract a zip archive, refusing members that would land outside the folder."""
    base = Path(folder).resolve()
    with zipfile.ZipFile(archive) as bundle:
        for member in bundle.namelist():
            if not (base / member).resolve().is_relative_to(base):
                raise ValueError(f"unsafe member {member}")
        bundle.extractall(base)


def file_checksum(path, algorithm="sha256"):
    """Hash a file's content block by block, so its size does not matter."""
    digest = hashlib.new(algorithm)
    with open(path, "rb") as stream:
        while block := stream.read(1 << 16):
            digest.update(block)
    return digest.hexdigest()


def tail(path, count=10):
    """Return the last lines of a text file."""
    with open(path, encoding="utf-8", errors="replace") as stream:
        last = deque(stream, maxlen=count)
    return [line.rstrip("\n") for line in last]


def split_file(path, part_bytes):
    """Cut a large file into numbered parts and return their paths."""
    parts = []
    with open(path, "rb") as stream:
        while block := stream.read(part_bytes):
            part = f"{path}.{len(parts):03d}"
            Path(part).write_bytes(block)
            parts.append(part)
    return parts


def join_parts(parts, target):
    with open(target, "wb") as whole:
        for part in sorted(parts):
            with open(part, "rb") as piece:
                shutil.copyfileobj(piece, whole)
    return target


def replace_atomically(path, data):
    """Write bytes so that readers see the old content or the new, never half of it."""
    folder = os.path.dirname(os.path.abspath(path))
    handle, temporary = tempfile.mkstemp(dir=folder)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def find_duplicates(folder):
    """Group the files below a folder that have the same content."""
    groups = {}
    for path in Path(folder).rglob("*"):
        if path.is_file():
            groups.setdefault(file_checksum(path), []).append(path)
    return [paths for paths in groups.values() if len(paths) > 1]


def load_env(path=".env"):
    """Set environment variables from KEY=value lines; what is set already stays."""
    with open(path, encoding="utf-8") as stream:
        for line in stream:
            line = line.strip()
            if line and not line.startswith("#"):
                key, _, value = line.partition("=")
                os.environ.setdefault(key.strip(), value.strip().strip("\"'"))
