"""A path -> rows, in any layout of CodeSearchNet. This is the only loader of existing corpora.

The path determines the layout:

- `rows/LANGUAGE.PARTITION.jsonl.zst`, our own, or any file ending in .jsonl, .jsonl.gz, .jsonl.zst
- `LANGUAGE/final/jsonl/{train,valid,test}/LANGUAGE_PARTITION_N.jsonl.gz`, the official one
- `*.parquet`, with the columns of the Hugging Face data set
- `LANGUAGE_dedupe_definitions_v2.pkl`, every function, also those without a docstring

If a folder has several, the first in this list is read. All except the pickle are streamed. A pickle with anything but
plain data is refused before it runs.
"""

from __future__ import annotations

import logging
import pickle
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, NoReturn

from tqdm import tqdm

from codesearch.errors import MissingExtraError
from codesearch.evaluation.data import read_jsonl
from codesearch.languages import language_named
from training.corpus.advtest import advtest_rows
from training.corpus.decontaminate import Forbidden, read_forbidden
from training.corpus.dedupe import fingerprint, sketch_of
from training.corpus.rows import PARTITIONS, CsnRow, new_rows, row_of_record, to_line
from training.evaluation.pairs import without_docstring
from training.files import TrainingError

_JSONL = (".jsonl", ".jsonl.gz", ".jsonl.zst")
_LAYOUTS = (
    ("rows/*.jsonl.zst",),
    ("**/final/jsonl/*/*.jsonl.gz",),
    tuple(f"**/*{suffix}" for suffix in _JSONL),
    ("**/*.parquet",),
    ("**/*_dedupe_definitions_v2.pkl",),
)
_EXPECTED = "expected .jsonl, .jsonl.gz, .jsonl.zst, .parquet or .pkl"
_IN_NAME = re.compile(r"(?<![a-z])(train|valid|validation|test)(?![a-z])")
_FOLDERS = (*PARTITIONS, "validation")
_PARQUET_ROWS = 1_000
_NAMES = {
    "repo": ("repo", "nwo", "repository_name"),
    "path": ("path", "func_path_in_repository"),
    "func_name": ("func_name", "identifier"),
    "original_string": ("original_string", "whole_func_string", "function"),
    "language": ("language",),
    "code": ("code", "func_code_string", "function"),
    "code_tokens": ("code_tokens", "func_code_tokens", "function_tokens"),
    "docstring": ("docstring", "func_documentation_string"),
    "docstring_tokens": ("docstring_tokens", "func_documentation_tokens"),
    "sha": ("sha",),
    "url": ("url", "func_code_url"),
    "partition": ("partition", "split_name"),
}
PARTITION_NAMES = {**{name: name for name in PARTITIONS}, "validation": "valid", "dev": "valid"}
_SHA = re.compile(r"/blob/([0-9a-f]{7,40})/")
_log = logging.getLogger(__name__)


def load_test(path: Path) -> Iterator[CsnRow]:
    """Yield the documented test rows of data in any layout, or all documented rows if it has no partitions."""
    for loaded in load(path, ("", "test")):
        if loaded.row.docstring:
            yield loaded


def load(path: Path, partitions: Container[str] | None = None) -> Iterator[CsnRow]:
    """Yield the rows of a file or folder, or of some partitions ("" for none), in natural order of the files."""
    for file in files_of(path):
        partition = _partition_of(file)
        if partitions and PARTITION_NAMES.get(partition, partition) not in partitions:
            continue
        place = ""
        for place, record in _records(file):
            try:
                loaded = from_record(record, partition)
            except ValueError as error:
                raise TrainingError(
                    f"{place}: {error}: see docs/dev/codesearchnet.md for the layouts"
                ) from None
            if not partitions or loaded.row.partition in partitions:
                yield loaded
        if not place:
            _log.warning("%s: no functions in this file", file)


def files_of(path: Path) -> list[Path]:
    """List the files that `load` reads."""
    if path.is_file():
        if path.name.endswith((*_JSONL, ".parquet", ".pkl")):
            return [path]
        raise TrainingError(f"{path}: unknown kind of file: {_EXPECTED}")
    if not path.exists():
        raise TrainingError(f"{path} is not there: give the folder or file of a corpus")
    for patterns in _LAYOUTS:
        if found := {file for pattern in patterns for file in path.glob(pattern) if file.is_file()}:
            return sorted(found, key=_natural)
    raise TrainingError(f"{path}: no corpus in this folder: {_EXPECTED}")


def load_corpus(
    path: Path, out: Path | None, evaluation_sets: Path | None, *, advtest: bool = False
) -> tuple[Counter[tuple[str, str]], Counter[str]]:
    """Load, filter and write rows, if `out` is given; count them by language and partition, dropped ones by reason."""
    dropped: Counter[str] = Counter()
    rows = tqdm(load(path), unit="row", unit_scale=True, desc="load", disable=None)
    if out is not None:
        rows = without_leaks(rows, read_forbidden(evaluation_sets), dropped)
    if advtest:
        rows = advtest_rows(rows, dropped)
    if out is None:
        counts = Counter((loaded.row.language, loaded.row.partition) for loaded in rows)
    else:
        counts = write_loaded(rows, out, dropped)
        for language in sorted({language for language, _ in counts}):
            if missing := [partition for partition in PARTITIONS if (language, partition) not in counts]:
                _log.warning("%s: no rows for %s", language, " and ".join(missing))
    if not counts:
        raise TrainingError(f"{path}: no rows there (dropped {counted(dropped)})")
    return counts, dropped


def counted(dropped: Counter[str]) -> str:
    """Return the number of dropped rows by reason, as text."""
    return ", ".join(f"{count:,} {reason}" for reason, count in dropped.most_common()) or "none"


def write_loaded(rows: Iterable[CsnRow], corpus: Path, dropped: Counter[str]) -> Counter[tuple[str, str]]:
    """Stream documented rows to `corpus/rows`, in the form that training reads. If it fails, nothing is left there.

    Return their number by language and partition; the others are counted in `dropped`.
    """
    folder = corpus / "rows"
    exists = TrainingError(f"{folder} has rows already: give another --out folder")
    if folder.is_dir() and any(folder.iterdir()):
        raise exists
    corpus.mkdir(parents=True, exist_ok=True)
    written: Counter[tuple[str, str]] = Counter()
    streams: dict[tuple[str, str], IO[bytes]] = {}
    with TemporaryDirectory(prefix="load-", dir=corpus) as scratch:
        unfinished = Path(scratch, "rows")
        unfinished.mkdir()
        with ExitStack() as stack:
            for loaded in rows:
                row = loaded.row
                if not row.docstring or row.partition not in PARTITIONS:
                    dropped["no partition" if row.docstring else "no docstring"] += 1
                    continue
                key = (row.language, row.partition)
                if key not in streams:
                    streams[key] = stack.enter_context(new_rows(unfinished / f"{'.'.join(key)}.jsonl.zst"))
                streams[key].write(to_line(loaded))
                written[key] += 1
        try:
            if written:
                unfinished.replace(folder)
        except OSError:  # Another run has written them meanwhile.
            raise exists from None
    return written


def without_leaks(rows: Iterable[CsnRow], forbidden: Forbidden, dropped: Counter[str]) -> Iterator[CsnRow]:
    """Yield all rows except training rows that are in an evaluation set; count these."""
    for loaded in rows:
        row = loaded.row
        reason = ""
        if row.partition == "train":
            found = fingerprint(row.language, row.identifier, row.docstring, row.code)
            reason = forbidden.reason(row.repo, row.language, found.keys, sketch_of(found.tokens))
        if reason:
            dropped[reason] += 1
        else:
            yield loaded


def from_record(record: Mapping[str, object], partition: str = "") -> CsnRow:
    """Turn a record into a row; a ValueError says what is wrong with it. `partition` counts if the record has none."""
    language = _text(record, "language")
    if language.startswith("python"):  # Some data sets have `python-2.7` and `python-3`.
        language = "python"
    if language_named(language) is None:
        raise ValueError(f"language {language!r} is not known, so remove the rows of this language")
    docstring = _text(record, "docstring", "")
    # CodeSearchNet's code has the docstring inside only in Python; this project's code never has it.
    has_docstring_inside = language == "python" and bool(docstring) and "package" not in record
    code = _text(record, "code")
    named = _text(record, "partition", "") or partition
    url = _text(record, "url", "")
    found_sha = _SHA.search(url)
    fields = {
        **{name: _text(record, name) for name in ("repo", "path", "func_name")},
        "package": _text(record, "package", ""),
        "language": language,
        "code": without_docstring(code, docstring) if has_docstring_inside else code,
        "docstring": docstring,
        "partition": PARTITION_NAMES.get(named, named),
        "url": url,
    }
    return CsnRow(
        row=row_of_record(fields),
        original_string=_text(record, "original_string"),
        documentation=docstring,
        code_tokens=_tokens(record, "code_tokens"),
        docstring_tokens=_tokens(record, "docstring_tokens"),
        sha=_text(record, "sha", "") or (found_sha[1] if found_sha else ""),
    )


def _value(record: Mapping[str, object], name: str) -> object:
    for known in _NAMES.get(name, (name,)):
        if record.get(known) is not None:
            return record[known]
    return None


def _text(record: Mapping[str, object], name: str, default: str | None = None) -> str:
    value = _value(record, name)
    if value is None and default is None:
        raise ValueError(f"no field {' or '.join(_NAMES.get(name, (name,)))}")
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{name} is {type(value).__name__}, not text")
    return default or "" if value is None else value


def _tokens(record: Mapping[str, object], name: str) -> tuple[str, ...]:
    value = _value(record, name)
    if value is None:
        return ()
    if not isinstance(value, list | tuple) or not all(isinstance(token, str) for token in value):
        raise ValueError(f"{name} is not a list of texts")
    return tuple(value)


def _natural(path: Path) -> list[tuple[int, str]]:
    """Order `train_2` before `train_10`."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", str(path))]


def _partition_of(path: Path) -> str:
    if path.parent.name in _FOLDERS:
        return path.parent.name
    named = _IN_NAME.findall(path.name)
    return named[0] if named else ""


def _records(path: Path) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Yield (place, record) of each record of a file; `place` names the record in errors."""
    if path.suffix not in (".parquet", ".pkl"):
        yield from read_jsonl(path)
        return
    for number, record in enumerate(_of_parquet(path) if path.suffix == ".parquet" else _of_pickle(path), 1):
        if not isinstance(record, dict):
            raise TrainingError(f"{path}:{number}: not a function but {type(record).__name__}")
        yield f"{path}:{number}", record


def _of_parquet(path: Path) -> Iterator[object]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ModuleNotFoundError:
        raise MissingExtraError("pyarrow") from None
    try:
        with parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=_PARQUET_ROWS):
                yield from batch.to_pylist()
    except (pyarrow.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0]
        raise TrainingError(f"{path}: not a parquet file ({reason}): download it again") from None


class _PlainUnpickler(pickle.Unpickler):
    """Reads lists, tuples, dicts, sets, texts, bytes and numbers, and refuses every class and function.

    A pickle must name a global before it can call it, so nothing can run.
    """

    def find_class(self, module_name: str, global_name: str, /) -> NoReturn:
        raise TrainingError(f"it asks for {module_name}.{global_name}, which plain data never needs")


def _of_pickle(path: Path) -> Iterator[object]:
    broken = (EOFError, ValueError, LookupError, TypeError, AttributeError, OverflowError, MemoryError)
    try:
        with path.open("rb") as file:
            found = _PlainUnpickler(file).load()
    except TrainingError as error:
        raise TrainingError(f"{path}: refused, nothing of it was run: {error}") from None
    except (pickle.UnpicklingError, *broken) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise TrainingError(f"{path}: not a pickle ({reason}): download it again") from None
    if not isinstance(found, list):
        raise TrainingError(f"{path}: holds {type(found).__name__}, not a list of functions")
    yield from found
