"""Written questions and fetched packages -> `written.train.jsonl.zst` and `written.valid.jsonl.zst`, files of pairs.

A line of `questions.tsv` says in which package, file and line a function begins; its code is in the fetched package.
"""

from __future__ import annotations

import json
import zlib
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from codesearch.languages import language_named
from codesearch.parsing.extract import extract
from codesearch.types import Document
from training.corpus.decontaminate import Forbidden, read_projects
from training.corpus.fetch import read_marker
from training.corpus.recipe import SourcePackage, read_recipe
from training.corpus.rows import write_lines
from training.files import TrainingError

NOT_FETCHED, NOT_THERE = "package not fetched", "function not there"
EVALUATED = "project of an evaluation set"
"""Reasons to leave out a question."""


@dataclass(frozen=True, slots=True)
class WrittenQuestion:
    """A line of `questions.tsv`: a package URL with its version, the function's first line, its qualified name."""

    style: str
    about: str
    language: str
    package: str
    path: str
    line: int
    name: str
    text: str


def read_written(path: Path) -> list[WrittenQuestion]:
    """Read the written questions."""
    questions = []
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise TrainingError(f"{path}: {error}: give a file of written questions") from None
    for number, line in enumerate(lines, start=1):
        fields = line.split("\t")
        if len(fields) != len(WrittenQuestion.__dataclass_fields__) or not fields[5].isdecimal():
            raise TrainingError(f"{path}:{number}: not a written question: see docs/dev/corpus.md")
        style, about, language, package, file, at, name, text = fields
        questions.append(WrittenQuestion(style, about, language, package, file, int(at), name, text))
    return questions


def write_pairs(
    questions: Path, corpora: Sequence[tuple[Path, Path]], evaluation_sets: Path | None, out: Path
) -> tuple[Counter[str], Counter[str]]:
    """Write a pair for each question whose function is found; the questions of one package in ten are for validation.

    Each of `corpora` is a folder of fetched packages and its recipe. Return the number of pairs by partition, and of
    questions left out by reason.
    """
    forbidden = Forbidden(projects=read_projects(evaluation_sets))
    packages = {
        package.url(fetched.version): (corpus / package.folder, package)
        for corpus, recipe in corpora
        for package in read_recipe(recipe)
        if (fetched := read_marker(corpus / package.folder))
    }
    by_file: dict[tuple[str, str], list[WrittenQuestion]] = defaultdict(list)
    for question in read_written(questions):
        by_file[question.package, question.path].append(question)
    pairs: dict[str, list[bytes]] = {"train": [], "valid": []}
    left_out: Counter[str] = Counter()
    for (url, path), asked in by_file.items():
        if url not in packages:
            left_out[NOT_FETCHED] += len(asked)
        elif forbidden.is_package_of_project(packages[url][1]):
            left_out[EVALUATED] += len(asked)
        else:
            lines = _pairs(asked, _functions(*packages[url], path))
            left_out[NOT_THERE] += len(asked) - len(lines)
            pairs["train" if zlib.crc32(url.encode()) % 10 else "valid"] += lines
    counts = {name: write_lines(out / f"written.{name}.jsonl.zst", lines) for name, lines in pairs.items()}
    return Counter(counts), left_out


def _functions(root: Path, package: SourcePackage, path: str) -> dict[int, Document]:
    """Return the documents of a file by their first line; none if there is no such file."""
    spec = language_named(package.language)
    if spec is None or not (root / path).is_file():
        return {}
    return {
        document.start_line: document
        for document in extract((root / path).read_bytes(), path, spec).documents
    }


def _pairs(questions: Sequence[WrittenQuestion], functions: Mapping[int, Document]) -> list[bytes]:
    """Return the questions that have a function as lines of JSON."""
    records = (
        {
            "query": question.text,
            "code": document.code,
            "func_name": document.qualified_name,
            "path": question.path,
            "docstring": document.docstring,
            "context": document.context,
            "language": question.language,
            "repo": question.package,
        }
        for question in questions
        if (document := functions.get(question.line))
    )
    return [json.dumps(record, ensure_ascii=False).encode("utf-8", "replace") + b"\n" for record in records]
