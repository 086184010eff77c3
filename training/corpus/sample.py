"""Source trees under a corpus folder -> functions to write questions about, in batches for their authors.

An author sees the code of a function without its documentation, its language and path, and the style of the question
to write. `functions.jsonl` keeps where each function is, so that a question can be joined to it again.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from codesearch.parsing.extract import extract
from codesearch.parsing.identifiers import subtokens
from codesearch.parsing.languages import language_named
from codesearch.text.terms import query_terms
from codesearch.types import GENERATED, STUB, TEST, VENDORED, Document
from training.corpus.archives import is_wanted
from training.corpus.decontaminate import Forbidden, read_forbidden
from training.corpus.dedupe import NearDuplicates, fingerprint, sketch_of
from training.corpus.docstrings import split_docstring
from training.corpus.fetch import read_marker
from training.corpus.filters import documentation_reason, drop_reason
from training.corpus.recipe import SourcePackage
from training.errors import TrainingError

STYLES = {"keywords": 0.60, "question": 0.25, "symptom": 0.15}
"""Style of a question -> its share."""
UNDOCUMENTED = 2 / 3
"""Share of functions without documentation."""
_LINES = range(5, 46)
_MIN_SUBTOKENS = 15
_MAX_CHARS = 2_000
_MAX_FILE_BYTES = 300_000
_SEED = 1
_PER_FILE = 2
_UNWANTED = GENERATED | TEST | VENDORED | STUB


@dataclass(frozen=True, slots=True)
class SampledFunction:
    """A function to write a question about.

    Attributes:
        number: identifies the function in a batch.
        package: package URL with its version.
        path: of its file in the package.
        line: 1-based.
        style: of the question, one of `STYLES`.
    """

    number: int
    package: str
    path: str
    line: int
    name: str
    language: str
    documented: bool
    style: str


def sample_functions(
    packages: Sequence[SourcePackage],
    corpus: Path,
    evaluation_sets: Path | None,
    quotas: Mapping[str, int],
    *,
    first: int = 1,
) -> Iterator[tuple[SampledFunction, str]]:
    """Yield functions with their code: the quota of each language, from as many repositories as possible."""
    with get_context("spawn").Pool(1) as pool:
        forbidden = read_forbidden(evaluation_sets, pool)
    number = first - 1
    for language, quota in quotas.items():
        chosen = [package for package in packages if package.language == language]
        for document, package, version in _chosen(chosen, corpus, forbidden, quota, random.Random(_SEED)):
            number += 1
            style = random.Random(f"{_SEED} {number}").choices(list(STYLES), list(STYLES.values()))[0]
            sampled = SampledFunction(
                number=number,
                package=package.url(version),
                path=document.path,
                line=document.start_line,
                name=document.qualified_name,
                language=language,
                documented=_is_documented(document),
                style=style,
            )
            yield sampled, document.code


def _chosen(
    packages: Sequence[SourcePackage], corpus: Path, forbidden: Forbidden, quota: int, chance: random.Random
) -> Iterator[tuple[Document, SourcePackage, str]]:
    """Yield one function after another from each repository in turn, until the quota is reached."""
    wanted = {False: round(quota * UNDOCUMENTED), True: quota - round(quota * UNDOCUMENTED)}
    near = NearDuplicates()
    fetched = [
        (package, found.version) for package in packages if (found := read_marker(corpus / package.folder))
    ]
    chance.shuffle(fetched)
    sources = [(_functions(package, corpus, chance), package, version) for package, version in fetched]
    while sources and any(wanted.values()):
        left = []
        for source, package, version in sources:
            for document in source:
                print_ = fingerprint(document.language, document.name, document.docstring, document.code)
                sketch = sketch_of(print_.tokens)
                documented = _is_documented(document)
                if (
                    wanted[documented]
                    and not forbidden.reason(package.repository, document.language, print_.keys, sketch)
                    and not near.has(sketch)
                ):
                    near.add(sketch)
                    wanted[documented] -= 1
                    left.append((source, package, version))
                    yield document, package, version
                    break
        sources = left


def _functions(package: SourcePackage, corpus: Path, chance: random.Random) -> Iterator[Document]:
    """Yield at most `_PER_FILE` functions of each file of a package, in random order."""
    root = corpus / package.folder
    spec = language_named(package.language)
    assert spec is not None  # The recipe was checked.
    paths = sorted(path for path in root.rglob("*") if path.is_file())
    chance.shuffle(paths)
    for path in paths:
        relative = path.relative_to(root).as_posix()
        size = path.stat().st_size
        if size > _MAX_FILE_BYTES or not is_wanted(relative, size, package.language):
            continue
        documents = [
            document
            for document in extract(path.read_bytes(), relative, spec).documents
            if _is_worth(document)
        ]
        chance.shuffle(documents)
        yield from documents[:_PER_FILE]


def _is_worth(document: Document) -> bool:
    """Return whether somebody might look for a function: it is not trivial, not long, and not a test."""
    return (
        not drop_reason(document)
        and not document.flags & _UNWANTED
        and document.code.count("\n") + 1 in _LINES
        and len(document.code) <= _MAX_CHARS
        and len(set(subtokens(document.code))) >= _MIN_SUBTOKENS
        and " callback" not in document.name
    )


def _is_documented(document: Document) -> bool:
    return not documentation_reason(document.docstring, split_docstring(document.docstring)[0])


def write_batches(sampled: Iterator[tuple[SampledFunction, str]], out: Path, size: int) -> Counter[str]:
    """Write `functions.jsonl` and `batch-NNN.txt`, each with functions of all languages; return counts by language."""
    functions = list(sampled)
    out.mkdir(parents=True, exist_ok=True)
    lines = (json.dumps(asdict(function), ensure_ascii=False) + "\n" for function, _ in functions)
    (out / "functions.jsonl").write_text("".join(lines), "utf-8")
    random.Random(_SEED).shuffle(functions)
    for start in range(0, len(functions), size):
        texts = (
            f"=== {function.number} | {function.style} | {function.language} | {function.path}\n{code.strip()}\n\n"
            for function, code in functions[start : start + size]
        )
        (out / f"batch-{start // size:03d}.txt").write_text("".join(texts), "utf-8")
    return Counter(function.language for function, _ in functions)


def join_questions(folders: Sequence[Path], answers: Path) -> Iterator[str]:
    """Yield a line for each question that an author wrote, in the order of the functions' numbers.

    Skip functions that nobody would search for ("-"), and questions that another function has too, also in another
    order, with other inflections or other stop words.

    Args:
        folders: with `functions.jsonl`.
        answers: folder with the authors' files: the number of a function, a tab and the question in each line.

    Raises:
        TrainingError: a line is not of this form.
    """
    functions: dict[int, dict[str, Any]] = {}
    for folder in folders:
        for line in (folder / "functions.jsonl").read_text("utf-8").splitlines():
            function = json.loads(line)
            functions[function["number"]] = function
    questions: dict[int, str] = {}
    for path in sorted(answers.glob("*.tsv")):
        for line in path.read_text("utf-8").splitlines():
            asked, tab, question = line.partition("\t")
            if not tab or not asked.isdecimal() or int(asked) not in functions or "\t" in question:
                raise TrainingError(f"{path}: not a number, a tab and a question: {line[:80]!r}")
            questions[int(asked)] = " ".join(question.split())
    words = {number: frozenset(query_terms(question)) for number, question in questions.items()}
    counts = Counter(words.values())
    for number, question in sorted(questions.items()):
        if question != "-" and counts[words[number]] == 1:
            function = functions[number]
            place = [function[name] for name in ("language", "package", "path", "line", "name")]
            about = [function["style"], "documented" if function["documented"] else "undocumented"]
            yield "\t".join(map(str, [*about, *place, question]))
