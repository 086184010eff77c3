"""Check an index that another machine made, before anything uses it.

The readers of an index trust its numbers, because this program wrote them. A file from elsewhere may contain anything.
So all types, shapes and ranges are checked once, when a portable file is unpacked.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import is_dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import DTypeLike, NDArray

from codesearch.config import MAX_FILE_MB, IndexOptions, WalkConfig
from codesearch.errors import ConfigError
from codesearch.languages import language_name, language_named
from codesearch.parsing.ignore import MOST_WEIGHT, BadPatternError, read_patterns
from codesearch.store.arrays import NO_PASSAGES, OFFSETS, PASSAGES, ROW, ROWS, SOURCES, load_array
from codesearch.store.database import DATABASE, StoreReader
from codesearch.store.manifest import FORMAT_VERSION, Manifest, SegmentEntry
from codesearch.store.postings import POSTINGS, WORDS
from codesearch.store.source import is_inside
from codesearch.store.vectors import ENDINGS, PASSAGE_VECTORS, VECTORS
from codesearch.text.terms import FIELDS
from codesearch.types import KINDS

_ARRAYS: dict[str, DTypeLike] = {
    ROWS: ROW,
    PASSAGES: "uint32",
    WORDS: "uint64",
    f"{POSTINGS}/term_bytes.npy": "uint8",
    f"{POSTINGS}/term_offsets.npy": "uint64",
    f"{POSTINGS}/list_offsets.npy": "uint64",
    f"{POSTINGS}/doc_ids.npy": "uint32",
    f"{POSTINGS}/frequencies.npy": "uint8",
    f"{POSTINGS}/field_lengths.npy": "uint16",
}
_WITH_CODE: dict[str, DTypeLike] = {SOURCES: "uint8", OFFSETS: "int64"}
FILES = {DATABASE, *_ARRAYS, *(name + ending for name in (VECTORS, PASSAGE_VECTORS) for ending in ENDINGS)}
"""The files of a segment that are exchanged. A graph is not, because hnswlib trusts the bytes of its file."""
_MOST = 1 << 40
_MOST_TEXT = 100_000
"""Most characters of a list in the settings, as in a settings file."""
_MAX_DIM, _MOST_LINES = 1 << 16, 1 << 30


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
    for name, kind in get_type_hints(Manifest).items():
        yield name, _fits(getattr(manifest, name), kind)
    model, segments = manifest.model, manifest.segments
    yield "root", is_name(manifest.root)
    yield "format", manifest.format == FORMAT_VERSION
    yield "complete", manifest.complete
    yield "created", _is_time(manifest.created)
    yield "settings", _are_settings(manifest.settings)
    yield "options", _are_settings(manifest.options)
    yield "model", model.keys() == {"name", "id", "dim", "folder"}
    yield "model", all(_fits(model[name], str) for name in ("name", "id")) and model["folder"] == ""
    yield "model", _fits(model["dim"], int) and 0 < model["dim"] < _MAX_DIM
    yield "segments", all(map(_is_segment, segments))
    yield "segments", len({entry.number for entry in segments}) == len(segments)
    yield "documents", manifest.documents == sum(entry.live_documents for entry in segments)


def _fits(value: Any, kind: Any) -> bool:  # noqa: ANN401 - the value comes from JSON, the type may be generic.
    """Say whether a value has the type of a field; no count is negative or absurd, and a tuple is a list in JSON."""
    if kind is int:
        return type(value) is int and 0 <= value < _MOST
    if kind is float:
        return type(value) in (int, float)
    if is_dataclass(kind):
        return all(_fits(getattr(value, name), inner) for name, inner in get_type_hints(kind).items())
    if (origin := get_origin(kind)) is None:
        return kind is Any or type(value) is kind
    if origin is dict:
        return type(value) is dict and all(_fits(item, get_args(kind)[1]) for item in value.values())
    return type(value) is list and all(_fits(item, get_args(kind)[0]) for item in value)


def is_name(text: str) -> bool:
    """Say whether a text can be the name of an index without sources: one plain part of a path."""
    return re.fullmatch(r"[^\W_][\w.+@ -]{0,99}", text) is not None and not text.endswith((".", " "))


def _is_time(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


def _are_settings(settings: Mapping[str, Any]) -> bool:
    kinds = get_type_hints(WalkConfig)
    if not all(name in kinds and _fits(value, kinds[name]) for name, value in settings.items()):
        return False
    lists = settings.get("exclude", []), settings.get("languages", [])
    if any(sum(map(len, texts)) + len(texts) > _MOST_TEXT for texts in lists):
        return False
    try:
        walk = IndexOptions.of(settings).over(WalkConfig())
        patterns = read_patterns(walk.exclude, strict=True)
        for language in walk.languages:
            language_name(language)
    except (BadPatternError, ConfigError):
        return False
    return patterns.weight <= MOST_WEIGHT and walk.max_file_bytes <= MAX_FILE_MB * 1_000_000


def _is_segment(entry: SegmentEntry) -> bool:
    return (
        0 < entry.number
        and entry.live_documents <= entry.documents
        and all(file_id < entry.source_files for file_id in entry.dead_files)
        and len(entry.field_sums) == len(entry.field_counts) == len(FIELDS)
        and all(map(_is_file, entry.files.values()))
    )


def _is_file(file: Mapping[str, Any]) -> bool:
    return (
        file.keys() == {"bytes", "sha256"}
        and _fits(file["bytes"], int)
        and _fits(file["sha256"], str)
        and re.fullmatch("[0-9a-f]{64}", file["sha256"]) is not None
    )


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
    dtypes = {**_ARRAYS, **_WITH_CODE}
    arrays = {name: load_array(folder / name, "") for name in dtypes if name in entry.files}
    for name, array in arrays.items():
        dimensions = 2 if name.endswith(("field_lengths.npy", PASSAGES)) else 1
        _require(array.dtype == dtypes[name] and array.ndim == dimensions, name)
    rows = arrays[ROWS]
    _require(rows.shape == (count,), ROWS)
    limits = {"kind": len(KINDS), "file_id": entry.source_files, "flags": 256, "last_line": _MOST_LINES}
    for name, limit in limits.items():
        _require(_below(rows[name], limit), ROWS)
    _require(bool(np.all(rows["start_line"] <= rows["last_line"])), ROWS)
    _check_postings({name.split("/")[-1][:-4]: array for name, array in arrays.items()}, count)
    words = arrays[WORDS]
    _require(
        bool(np.all(words[1:] > words[:-1])) and _below(words.astype(np.uint32), entry.source_files), WORDS
    )
    passages = arrays[PASSAGES]
    _check_passages(passages, count)
    for name, rows_count in ((VECTORS, count), (PASSAGE_VECTORS, len(passages))):
        vectors, scales = (name + ending for ending in ENDINGS)
        _require(os.path.getsize(folder / vectors) == rows_count * dim, vectors)
        _require(os.path.getsize(folder / scales) == rows_count * 4, scales)
        _require(bool(np.isfinite(np.fromfile(folder / scales, np.float32)).all()), scales)
    if SOURCES in arrays:
        offsets = arrays[OFFSETS]
        _require(offsets.shape == (entry.source_files + 1,), OFFSETS)
        _check_offsets(offsets, len(arrays[SOURCES]), OFFSETS)
    _check_store(folder, entry, rows["file_id"])


def _check_passages(passages: NDArray[np.uint32], count: int) -> None:
    """Check that passages are in the order of their documents, and that each has lines."""
    _require(passages.shape[1:] == NO_PASSAGES.shape[1:] and _below(passages[:, 0], count), PASSAGES)
    _require(bool(np.all(passages[1:, 0] >= passages[:-1, 0])), PASSAGES)
    _require(bool(np.all((passages[:, 1] > 0) & (passages[:, 1] <= passages[:, 2]))), PASSAGES)


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


def _check_store(folder: Path, entry: SegmentEntry, files_of: NDArray[np.uint32]) -> None:
    with closing(StoreReader(folder, "")) as store:
        if fault := store.fault():
            raise UntrustedError(f"{DATABASE} is not valid: {fault}")
        next_doc, files = 0, list(store.numbered_files())
        owners = np.empty(entry.documents, np.int64)
        for position, (file_id, record) in enumerate(files):
            if not is_inside(record.path):
                raise UntrustedError(f"the path {record.path!r} leaves the folder")
            _require(file_id == position and record.first_doc == next_doc, DATABASE)
            _require(language_named(record.language) is not None, DATABASE)
            _require(0 <= record.size < _MOST and 0 <= record.doc_count <= entry.documents, DATABASE)
            owners[next_doc : next_doc + record.doc_count] = file_id
            next_doc += record.doc_count
        _require(len(files) == entry.source_files, DATABASE)
        _require(len(store.line_counts()) == next_doc == entry.documents, DATABASE)
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
