"""Written questions and fetched packages -> `written.train.jsonl.zst` and `written.valid.jsonl.zst`, files of pairs.

A line of a file of questions says in which package, file and line a function begins, and for questions about a passage
also its lines. The code is in the fetched package.
"""

from __future__ import annotations

import json
import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from codesearch.languages import language_named
from codesearch.parsing.extract import extract
from codesearch.parsing.passages import LineRange, lines_around
from codesearch.types import Document
from training.corpus.decontaminate import Forbidden, read_projects
from training.corpus.fetch import read_marker
from training.corpus.recipe import SourcePackage, read_recipe
from training.corpus.rows import write_lines
from training.files import TrainingError

_LINE = re.compile(
    r"""([^\t]+)\t([^\t]+)\t(\w+)\t           # style, what the question is about, language
    ([^\t]+)\t([^\t]+)\t(\d+)\t([^\t]+)\t    # package URL, path, first line and qualified name of the function
    (?:(\d+)\t(\d+)\t)?([^\t]+)              # first and last line of a passage; the question
    """,
    re.VERBOSE,
)
NOT_FETCHED, NOT_THERE = "package not fetched", "function not there"
EVALUATED = "project of an evaluation set"
"""Reasons to leave out a question."""


@dataclass(frozen=True, slots=True)
class WrittenQuestion:
    """A line of a file of questions: a package URL with its version, the function's first line, its qualified name.

    `passage` is the first and last line of the passage that the question is about, or None.
    """

    style: str
    about: str
    language: str
    package: str
    path: str
    line: int
    name: str
    text: str
    passage: LineRange | None = None


def read_written(path: Path) -> list[WrittenQuestion]:
    """Read the written questions."""
    questions = []
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise TrainingError(f"{path}: {error}: give a file of written questions") from None
    for number, line in enumerate(lines, start=1):
        match = _LINE.fullmatch(line)
        if not match:
            raise TrainingError(f"{path}:{number}: not a written question: see docs/dev/corpus.md")
        style, about, language, package, file, at, name, first, last, text = match.groups()
        passage = (int(first), int(last)) if first else None
        questions.append(WrittenQuestion(style, about, language, package, file, int(at), name, text, passage))
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
            lines = _pairs(asked, *_functions(*packages[url], path))
            left_out[NOT_THERE] += len(asked) - len(lines)
            pairs["train" if zlib.crc32(url.encode()) % 10 else "valid"] += lines
    counts = {name: write_lines(out / f"written.{name}.jsonl.zst", lines) for name, lines in pairs.items()}
    return Counter(counts), left_out


def _functions(root: Path, package: SourcePackage, path: str) -> tuple[dict[int, Document], list[str]]:
    """Return the documents of a file by their first line, and its lines; nothing if there is no such file."""
    spec = language_named(package.language)
    if spec is None or not (root / path).is_file():
        return {}, []
    source = (root / path).read_bytes()
    documents = {document.start_line: document for document in extract(source, path, spec).documents}
    return documents, source.decode("utf-8", "replace").split("\n")


def _pairs(
    questions: Sequence[WrittenQuestion], functions: Mapping[int, Document], lines: Sequence[str]
) -> list[bytes]:
    """Return the questions that have a function as lines of JSON."""
    records = (
        {
            "query": question.text,
            "func_name": document.qualified_name,
            "path": question.path,
            "language": question.language,
            "repo": question.package,
            **_embedded(question, document, lines),
        }
        for question in questions
        if (document := functions.get(question.line))
    )
    return [json.dumps(record, ensure_ascii=False).encode("utf-8", "replace") + b"\n" for record in records]


def _embedded(question: WrittenQuestion, document: Document, lines: Sequence[str]) -> dict[str, str]:
    """Return what an index embeds with path and name: of a passage its lines alone."""
    if question.passage:
        above, below = lines_around(document, question.passage)
        return {"code": "\n".join(lines[above.start : below.stop])}
    return {"code": document.code, "docstring": document.docstring, "context": document.context}
