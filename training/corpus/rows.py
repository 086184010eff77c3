"""One documented function as a line of `*.jsonl.zst`, in CodeSearchNet's schema, and as a row to train on.

The fields of a record are `repo, path, func_name, original_string, language, code, code_tokens, docstring,
docstring_tokens, sha, url, package, partition`. They differ from CodeSearchNet in four fields: `code` has no docstring
inside, `sha` is the git blob id of the file, `url` is a package URL, and `package`, which is new, names the archive.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import IO, Any

import zstandard

from codesearch.evaluation.data import DAMAGED, read_lines
from codesearch.files import atomic_writer
from codesearch.languages import language_named
from codesearch.parsing.identifiers import split_qualified
from training.corpus.filters import split_docstring
from training.files import TrainingError, writing

PARTITIONS = ("train", "valid", "test")
MAX_REST_CHARS = 1_000


@dataclass(frozen=True, slots=True)
class Row:
    """A function with its documentation, as training reads it.

    Attributes:
        repo: `owner/name` of the upstream.
        func_name: qualified name; `identifier` is its last part.
        code: the function without its docstring.
        docstring: first paragraph, on one line, without mark-up.
        docstring_rest: the rest, at most `MAX_REST_CHARS`.
    """

    repo: str
    package: str
    path: str
    func_name: str
    identifier: str
    language: str
    code: str
    docstring: str
    docstring_rest: str
    partition: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True)
class CsnRow:
    """A row and what training does not read of a record: the function as in its file, and its whole docstring.

    `sha` identifies the version of the file; it is a commit in CodeSearchNet's rows.
    """

    row: Row
    original_string: str = ""
    documentation: str = ""
    code_tokens: tuple[str, ...] = ()
    docstring_tokens: tuple[str, ...] = ()
    sha: str = ""


def record_of(loaded: CsnRow) -> dict[str, object]:
    """Return the record of a row, `partition` last."""
    row = loaded.row
    return {
        "repo": row.repo,
        "path": row.path,
        "func_name": row.func_name,
        "original_string": loaded.original_string or row.code,
        "language": row.language,
        "code": row.code,
        "code_tokens": list(loaded.code_tokens),
        "docstring": loaded.documentation or f"{row.docstring}\n\n{row.docstring_rest}".strip(),
        "docstring_tokens": list(loaded.docstring_tokens),
        "sha": loaded.sha,
        "url": row.url,
        "package": row.package,
        "partition": row.partition,
    }


def row_of_record(record: Mapping[str, Any]) -> Row:
    """Read a record that `record_of` returned."""
    language, func_name = record["language"], record["func_name"]
    paragraph, rest = split_docstring(record["docstring"])
    spec = language_named(language)
    return Row(
        repo=record["repo"],
        package=record["package"],
        path=record["path"],
        func_name=func_name,
        identifier=split_qualified(func_name, spec.separator if spec else ".")[1],
        language=language,
        code=record["code"],
        docstring=paragraph,
        docstring_rest=rest[:MAX_REST_CHARS],
        partition=record["partition"],
        url=record["url"],
    )


def to_line(loaded: CsnRow) -> bytes:
    """Return the record of a row as a line of JSON."""
    return json.dumps(record_of(loaded), ensure_ascii=False).encode("utf-8", "replace") + b"\n"


@contextmanager
def new_rows(path: Path) -> Iterator[IO[bytes]]:
    """Open a new compressed file for lines, which replaces `path` at the end of the block."""
    compress = zstandard.ZstdCompressor(level=6).stream_writer
    with writing(path), atomic_writer(path) as file, compress(file) as stream:
        yield stream


def write_lines(path: Path, lines: Iterable[bytes]) -> int:
    """Write lines to a new compressed file; return their number."""
    path.parent.mkdir(parents=True, exist_ok=True)
    written = 0
    with new_rows(path) as stream:
        for line in lines:
            stream.write(line)
            written += 1
    return written


def read_rows(*paths: Path, numbers: Container[int] | None = None) -> Iterator[Row]:
    """Yield the rows of files, or of them those with these numbers, counted over all files; others are not parsed."""
    number = count()
    for path in paths:
        try:
            for line in read_lines(path):
                if numbers is None or next(number) in numbers:
                    yield row_of_record(json.loads(line))
        except FileNotFoundError:
            raise TrainingError(
                f"{path} is not there: run `python -m training corpus extract` first"
            ) from None
        except (KeyError, TypeError, AttributeError, *DAMAGED) as error:
            raise TrainingError(f"{path}: not a corpus file ({error}): run `corpus extract` again") from None
