"""Check an index that another machine made, before anything uses it.

The readers of an index trust its numbers, because this program wrote them. A file from elsewhere may contain anything.
So all types, shapes and ranges are checked once, when a portable file is unpacked.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from codesearch.config import CONTENT, MAX_FILE_MB
from codesearch.errors import ConfigError
from codesearch.parsing.ignore import MOST_WEIGHT, BadPatternError, read_patterns
from codesearch.parsing.languages import language_name, language_named
from codesearch.store.arrays import OFFSETS, ROW, ROWS, SOURCES, load_array
from codesearch.store.database import DATABASE, StoreReader
from codesearch.store.manifest import FORMAT_VERSION, Manifest, SegmentEntry, Tally
from codesearch.store.postings import POSTINGS
from codesearch.store.source import is_inside
from codesearch.store.vectors import ROWS_FILE, SCALES_FILE
from codesearch.text.terms import FIELDS
from codesearch.types import KINDS

_ARRAYS: dict[str, DTypeLike] = {
    ROWS: ROW,
    f"{POSTINGS}/term_bytes.npy": "uint8",
    f"{POSTINGS}/term_offsets.npy": "uint64",
    f"{POSTINGS}/list_offsets.npy": "uint64",
    f"{POSTINGS}/doc_ids.npy": "uint32",
    f"{POSTINGS}/frequencies.npy": "uint8",
    f"{POSTINGS}/field_lengths.npy": "uint16",
}
_WITH_CODE: dict[str, DTypeLike] = {SOURCES: "uint8", OFFSETS: "int64"}
FILES = {DATABASE, ROWS_FILE, SCALES_FILE, *_ARRAYS}
"""The files of a segment that are exchanged. A graph is not, because hnswlib trusts the bytes of its file."""
_MOST = 1 << 40
_MOST_TEXT = 100_000
"""Most characters of a list in the settings, as in a settings file."""
_MAX_DIM = 1 << 16
_SHA256 = re.compile("[0-9a-f]{64}")


class UntrustedError(ValueError):
    """Something in a foreign index is wrong; the message says what."""


def checked_manifest(raw: Any) -> Manifest:  # noqa: ANN401 - it comes from JSON.
    """Return the manifest of a foreign index."""
    try:
        manifest = Manifest.of(raw)
    except (TypeError, KeyError) as error:
        raise UntrustedError(f"its manifest is not valid ({error})") from None
    for name, is_valid in _manifest_checks(manifest):
        if not is_valid:
            raise UntrustedError(f"the field {name!r} of its manifest is not valid")
    return manifest


def _manifest_checks(manifest: Manifest) -> Iterator[tuple[str, bool]]:
    """Yield the name of each field, and whether it is valid; a check relies on those before it."""
    model, segments = manifest.model, manifest.segments
    yield "root", is_name(manifest.root)
    yield "format", manifest.format == FORMAT_VERSION
    yield "complete", manifest.complete is True
    yield "created", _is_time(manifest.created)
    yield "config_digest", isinstance(manifest.config_digest, str)
    yield "seconds", isinstance(manifest.seconds, int | float)
    yield from (
        (name, _is_count(getattr(manifest, name))) for name in ("commit", "documents", "source_files")
    )
    yield from ((name, _are_counts(getattr(manifest, name))) for name in ("languages", "missing_grammars"))
    yield from ((name, _is_tally(getattr(manifest, name))) for name in ("walked", "parsed"))
    yield from ((name, _are_settings(getattr(manifest, name))) for name in ("settings", "options"))
    yield "model", isinstance(model, dict) and _is_model(model)
    yield "segments", all(map(_is_segment, segments))
    yield "segments", len({entry.number for entry in segments}) == len(segments)
    yield "documents", manifest.documents == sum(entry.live_documents for entry in segments)


def is_name(text: object) -> bool:
    """Say whether a text can be the name of an index without sources: one plain part of a path."""
    return (
        isinstance(text, str)
        and re.fullmatch(r"[^\W_][\w.+@ -]{0,99}", text) is not None
        and not text.endswith((".", " "))
    )


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value < _MOST


def _are_counts(value: object) -> bool:
    return isinstance(value, dict) and all(map(_is_count, value.values()))


def _is_time(value: object) -> bool:
    try:
        return isinstance(value, str) and datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False


def _is_tally(tally: Tally) -> bool:
    counts = (tally.skipped, tally.folders)
    return all(isinstance(one, dict) and all(map(_are_counts, one.values())) for one in counts) and (
        isinstance(tally.warnings, list) and all(isinstance(line, str) for line in tally.warnings)
    )


def _are_settings(settings: object) -> bool:
    if not isinstance(settings, dict):
        return False
    return all(name in _SETTINGS and _SETTINGS[name](value) for name, value in settings.items())


def _are_patterns(value: object) -> bool:
    if not isinstance(value, list) or not _are_texts(value, lambda line: read_patterns([line], strict=True)):
        return False
    return read_patterns(value, strict=True).weight <= MOST_WEIGHT


def _are_texts(value: object, check: Callable[[str], object]) -> bool:
    """Say whether a value is a short list of texts that pass a check."""
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        return False
    try:
        return sum(map(len, value)) + len(value) <= _MOST_TEXT and all(
            check(one) is not None for one in value
        )
    except (BadPatternError, ConfigError):
        return False


_SETTINGS: dict[str, Callable[[object], bool]] = {
    "max_file_bytes": lambda value: type(value) is int and 0 <= value <= MAX_FILE_MB * 1_000_000,
    "content": lambda value: isinstance(value, str) and value in CONTENT,
    "exclude": _are_patterns,
    "languages": lambda value: _are_texts(value, language_name),
    **dict.fromkeys(("hidden", "ignore_files", "follow_links"), lambda value: type(value) is bool),
}
"""Setting of a walk -> whether a value of it is valid."""


def _is_model(model: Mapping[str, object]) -> bool:
    if model.keys() != {"name", "id", "dim", "folder"}:
        return False
    texts = isinstance(model["name"], str) and isinstance(model["id"], str) and model["folder"] == ""
    dim = model["dim"]
    return texts and type(dim) is int and 0 < dim < _MAX_DIM


def _is_segment(entry: SegmentEntry) -> bool:
    counts = (entry.number, entry.source_files, entry.documents, entry.live_documents)
    if not all(map(_is_count, counts)) or not entry.number or entry.live_documents > entry.documents:
        return False
    dead = entry.dead_files
    if not isinstance(dead, list) or not all(_is_count(one) and one < entry.source_files for one in dead):
        return False
    for sums in (entry.field_sums, entry.field_counts):
        if not isinstance(sums, list) or len(sums) != len(FIELDS) or not all(map(_is_count, sums)):
            return False
    return isinstance(entry.files, dict) and all(map(_is_file, entry.files.values()))


def _is_file(file: object) -> bool:
    if not isinstance(file, dict) or file.keys() != {"bytes", "sha256"}:
        return False
    digest = file["sha256"]
    return _is_count(file["bytes"]) and isinstance(digest, str) and _SHA256.fullmatch(digest) is not None


def check_file_names(entry: SegmentEntry) -> None:
    """Check that a segment has exactly the files that are exchanged, with code or without."""
    names = entry.files.keys()
    if missing := sorted(FILES - names):
        raise UntrustedError(f"segment {entry.number} has no {missing[0]}")
    if unknown := sorted(names - FILES - _WITH_CODE.keys()):
        raise UntrustedError(f"{unknown[0]!r} is no file of a segment")
    if len(names & _WITH_CODE.keys()) == 1:
        raise UntrustedError(f"the code of segment {entry.number} is not complete")


def check_segment(folder: Path, entry: SegmentEntry, dim: int) -> None:
    """Check every number of an unpacked segment that a reader uses without a check."""
    count = entry.documents
    arrays = {
        name: _array(folder, name, dtype)
        for name, dtype in {**_ARRAYS, **_WITH_CODE}.items()
        if name in entry.files
    }
    rows = arrays[ROWS]
    _require(rows.shape == (count,), ROWS)
    for name, limit in (("kind", len(KINDS)), ("file_id", entry.source_files), ("flags", 256)):
        _require(_below(rows[name], limit), ROWS)
    _check_postings({name.split("/")[-1][:-4]: array for name, array in arrays.items()}, count)
    _check_vectors(folder, count, dim)
    if SOURCES in arrays:
        offsets = arrays[OFFSETS]
        _require(offsets.shape == (entry.source_files + 1,), OFFSETS)
        _check_offsets(offsets, len(arrays[SOURCES]), OFFSETS)
    _check_store(folder, entry, rows["file_id"])


def _array(folder: Path, name: str, dtype: DTypeLike) -> NDArray[Any]:
    array = load_array(folder / name, "")
    dimensions = 2 if name.endswith("field_lengths.npy") else 1
    _require(array.dtype == dtype and array.ndim == dimensions and array.flags.c_contiguous, name)
    return array


def _check_postings(arrays: Mapping[str, NDArray[Any]], count: int) -> None:
    text, starts, doc_ids = arrays["term_bytes"], arrays["term_offsets"], arrays["doc_ids"]
    _check_offsets(starts, len(text), "term_offsets.npy")
    begins = text[starts[:-1][np.diff(starts) > 0].astype(np.int64)]
    _require(not np.any((begins & 0xC0) == 0x80), "term_offsets.npy")
    try:
        text.tobytes().decode()
    except UnicodeDecodeError:
        raise UntrustedError("term_bytes.npy is not valid") from None
    lists = (len(starts) - 1) * len(FIELDS) + 1
    _require(len(arrays["list_offsets"]) == lists, "list_offsets.npy")
    _check_offsets(arrays["list_offsets"], len(doc_ids), "list_offsets.npy")
    _require(_below(doc_ids, count), "doc_ids.npy")
    _require(len(arrays["frequencies"]) == len(doc_ids), "frequencies.npy")
    _require(arrays["field_lengths"].shape == (count, len(FIELDS)), "field_lengths.npy")


def _check_vectors(folder: Path, count: int, dim: int) -> None:
    for name, expected in ((ROWS_FILE, count * dim), (SCALES_FILE, count * 4)):
        _require(os.path.getsize(folder / name) == expected, name)
    scales = np.fromfile(folder / SCALES_FILE, np.float32)
    _require(bool(np.isfinite(scales).all()), SCALES_FILE)


def _check_store(folder: Path, entry: SegmentEntry, files_of: NDArray[np.uint32]) -> None:
    with closing(StoreReader(folder, "")) as store:
        if fault := store.fault():
            raise UntrustedError(f"{DATABASE} is not valid: {fault}")
        next_doc = 0
        owners = np.empty(entry.documents, np.int64)
        for position, (file_id, record) in enumerate(store.numbered_files()):
            if not is_inside(record.path):
                raise UntrustedError(f"the path {record.path!r} leaves the folder")
            _require(file_id == position and record.first_doc == next_doc, DATABASE)
            _require(language_named(record.language) is not None, DATABASE)
            _require(0 <= record.size < _MOST and 0 <= record.doc_count <= entry.documents, DATABASE)
            owners[next_doc : next_doc + record.doc_count] = file_id
            next_doc += record.doc_count
        _require(
            store.counts() == (entry.source_files, entry.documents) and next_doc == entry.documents, DATABASE
        )
        _require(np.array_equal(owners, files_of), DATABASE)


def _check_offsets(offsets: NDArray[Any], size: int, name: str) -> None:
    """Check that offsets ascend from 0 to `size`."""
    _require(len(offsets) > 0 and offsets[0] == 0 and offsets[-1] == size, name)
    _require(bool(np.all(offsets[1:] >= offsets[:-1])), name)


def _below(numbers: NDArray[Any], limit: int) -> bool:
    return not len(numbers) or int(numbers.max()) < limit


def _require(condition: bool, name: str) -> None:
    if not condition:
        raise UntrustedError(f"{name} is not valid")
