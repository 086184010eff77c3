"""Source trees under a corpus folder -> functions to write questions about, in batches for their authors and readers.

A batch has ten functions of one folder. An author sees their code without documentation, and for each the style of the
question to write. A reader who knows only the questions then picks the function that each one means
(`write_checks`); a question stays if that is the function it was written for (`join_questions`).
`functions.jsonl` keeps where each function is.
"""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from string import ascii_uppercase

from codesearch.parsing.extract import extract
from codesearch.parsing.identifiers import subtokens
from codesearch.parsing.languages import language_named
from codesearch.text.terms import query_terms
from codesearch.types import GENERATED, STUB, TEST, VENDORED, Document
from training.corpus.archives import is_wanted
from training.corpus.decontaminate import Forbidden, allowed, read_forbidden
from training.corpus.dedupe import NearDuplicates, fingerprint, sketch_of
from training.corpus.docstrings import split_docstring
from training.corpus.fetch import read_marker
from training.corpus.filters import documentation_reason, drop_reason
from training.corpus.recipe import SourcePackage
from training.errors import TrainingError

STYLES = {"keywords": 0.5, "question": 0.3, "symptom": 0.2}
"""Style of a question -> its share."""
CLUSTER = 10
"""Functions of a batch."""
PER_REPOSITORY = 4
"""Batches of a repository, at most."""
_UNDOCUMENTED = 2 / 3
_LINES = range(5, 46)
_MIN_SUBTOKENS = 15
_MAX_CHARS = 2_000
_MAX_FILE_BYTES = 300_000
_MAX_FILES = 400
_SEED = 1
_PER_FILE = 4
_NONE = "-"
"""What an author writes for a function that nobody would search for."""
_UNWANTED = GENERATED | TEST | VENDORED | STUB


@dataclass(frozen=True, slots=True)
class SampledFunction:
    """A function to write a question about.

    `package` is a package URL with its version, and `style`, of the question, one of `STYLES`. The code has no
    documentation.
    """

    number: int
    batch: int
    package: str
    path: str
    line: int
    name: str
    language: str
    documented: bool
    style: str
    code: str


def sample_functions(
    packages: Sequence[SourcePackage],
    corpus: Path,
    evaluation_sets: Path | None,
    quotas: Mapping[str, int],
    *,
    first: int = 0,
) -> Iterator[SampledFunction]:
    """Yield the functions of batches, numbered from `first` on, from as many repositories as possible.

    `quotas` has the number of batches of each language. A function's number is ten times that of its batch, plus its
    place in it.
    """
    with get_context("spawn").Pool(1) as pool:
        forbidden = read_forbidden(evaluation_sets, pool)
    batch = first
    for language, quota in quotas.items():
        chosen = [package for package in packages if package.language == language]
        for documents, url in _batches(allowed(chosen, forbidden), corpus, forbidden, quota):
            for place, document in enumerate(documents):
                number = batch * CLUSTER + place
                style = random.Random(f"{_SEED} {number}").choices(list(STYLES), list(STYLES.values()))[0]
                yield SampledFunction(
                    number,
                    batch,
                    url,
                    document.path,
                    document.start_line,
                    document.qualified_name,
                    language,
                    _is_documented(document),
                    style,
                    document.code.strip(),
                )
            batch += 1


def _batches(
    packages: Sequence[SourcePackage], corpus: Path, forbidden: Forbidden, quota: int
) -> Iterator[tuple[list[Document], str]]:
    """Yield one batch after another from each repository in turn, until there are `quota` of them."""
    near = NearDuplicates()
    sources = [
        (_clusters(package, corpus, forbidden, near), package.url(found.version))
        for package in packages
        if (found := read_marker(corpus / package.folder))
    ]
    for _ in range(PER_REPOSITORY):
        for source, url in sources:
            if quota and (documents := next(source, None)):
                quota -= 1
                yield documents, url


def _clusters(
    package: SourcePackage, corpus: Path, forbidden: Forbidden, near: NearDuplicates
) -> Iterator[list[Document]]:
    """Yield `CLUSTER` functions of a folder at a time, at most `_PER_FILE` of a file, folders in random order."""
    chance = random.Random(f"{_SEED} {package.key}")
    root = corpus / package.folder
    folders = defaultdict(list)
    for path in sorted(path for path in root.rglob("*") if path.is_file()):
        size = path.stat().st_size
        if size <= _MAX_FILE_BYTES and is_wanted(path.relative_to(root).as_posix(), size, package.language):
            folders[path.parent].append(path)
    chosen = sorted(folders)
    chance.shuffle(chosen)
    read = 0
    for folder in chosen:
        paths = folders[folder]
        chance.shuffle(paths)
        found: list[Document] = []
        for path in paths:
            if read == _MAX_FILES:
                return
            read += 1
            found += _functions(path, path.relative_to(root).as_posix(), package, forbidden, near, chance)
            if len(found) >= CLUSTER:
                yield found[:CLUSTER]
                break


def _functions(
    path: Path,
    relative: str,
    package: SourcePackage,
    forbidden: Forbidden,
    near: NearDuplicates,
    chance: random.Random,
) -> list[Document]:
    """Return new functions of a file, at most `_PER_FILE`; of these, at most a third are documented."""
    spec = language_named(package.language)
    assert spec is not None  # The recipe was checked.
    documents = [each for each in extract(path.read_bytes(), relative, spec).documents if _is_worth(each)]
    chance.shuffle(documents)
    found: list[Document] = []
    for document in documents:
        print_ = fingerprint(document.language, document.name, document.docstring, document.code)
        sketch = sketch_of(print_.tokens)
        if (
            (_is_documented(document) and chance.random() < _UNDOCUMENTED)
            or forbidden.reason(package.repository, document.language, print_.keys, sketch)
            or near.has(sketch)
        ):
            continue
        near.add(sketch)
        found.append(document)
        if len(found) == _PER_FILE:
            break
    return found


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


def write_batches(sampled: Iterator[SampledFunction], out: Path) -> Counter[str]:
    """Write `functions.jsonl` and a file `NNNN.txt` for each batch; return the number of functions by language."""
    functions = list(sampled)
    out.mkdir(parents=True, exist_ok=True)
    lines = (json.dumps(asdict(function), ensure_ascii=False) + "\n" for function in functions)
    (out / "functions.jsonl").write_text("".join(lines), "utf-8")
    for batch, its in _by_batch(functions).items():
        texts = (
            f"=== {each.number} | {each.style} | {each.language} | {each.path}\n{each.code}\n\n"
            for each in its
        )
        (out / f"{batch:04d}.txt").write_text("".join(texts), "utf-8")
    return Counter(function.language for function in functions)


def write_checks(folder: Path, answers: Path, out: Path) -> int:
    """Write a file `NNNN.txt` for the reader of each answered batch: its functions, then its questions.

    The functions have letters, in an order of their own (`_lettered`). Returns the number of questions.
    """
    functions = _read_functions([folder])
    questions = _read_lines(answers, functions)
    out.mkdir(parents=True, exist_ok=True)
    for batch, its in _by_batch(functions.values()).items():
        asked = [f"{each.number}\t{questions[each.number]}\n" for each in its if _is_asked(each, questions)]
        random.Random(f"{_SEED} questions {batch}").shuffle(asked)
        texts = (f"=== {letter} | {each.path}\n{each.code}\n\n" for letter, each in _lettered(its).items())
        if asked:
            (out / f"{batch:04d}.txt").write_text("".join([*texts, "=== QUESTIONS\n", *asked]), "utf-8")
    return sum(_is_asked(each, questions) for each in functions.values())


def _is_asked(function: SampledFunction, questions: Mapping[int, str]) -> bool:
    return questions.get(function.number, _NONE) != _NONE


def _lettered(batch: Sequence[SampledFunction]) -> dict[str, SampledFunction]:
    """Give the functions of a batch letters, in random order."""
    shuffled = list(batch)
    random.Random(f"{_SEED} letters {batch[0].batch}").shuffle(shuffled)
    return dict(zip(ascii_uppercase, shuffled, strict=False))


def _by_batch(functions: Iterable[SampledFunction]) -> dict[int, list[SampledFunction]]:
    found: dict[int, list[SampledFunction]] = defaultdict(list)
    for function in functions:
        found[function.batch].append(function)
    return found


def _read_functions(folders: Sequence[Path]) -> dict[int, SampledFunction]:
    lines = (
        line for folder in folders for line in (folder / "functions.jsonl").read_text("utf-8").splitlines()
    )
    return {function.number: function for function in (SampledFunction(**json.loads(line)) for line in lines)}


def _read_lines(folder: Path, functions: Container[int]) -> dict[int, str]:
    """Read what authors or readers wrote: the number of a function, a tab and a text in each line."""
    found: dict[int, str] = {}
    for path in sorted(folder.glob("*.tsv")):
        for line in path.read_text("utf-8").splitlines():
            number, tab, text = line.partition("\t")
            if not tab or not number.isdecimal() or int(number) not in functions or "\t" in text:
                raise TrainingError(f"{path}: not a number, a tab and a text: {line[:80]!r}")
            found[int(number)] = " ".join(text.split())
    return found


def join_questions(folders: Sequence[Path], answers: Path, picks: Path) -> Iterator[str]:
    """Yield a line for each question for which a reader picked its function, in the order of the functions' numbers.

    Skip functions that nobody would search for ("-"), and questions that another function has too, also in another
    order, with other inflections or other stop words. A line of `answers` is the number of a function, a tab and the
    question; one of `picks` the number of a question, a tab and the letter of a function.
    """
    functions = _read_functions(folders)
    questions, picked = _read_lines(answers, functions), _read_lines(picks, functions)
    words = {number: frozenset(query_terms(question)) for number, question in questions.items()}
    counts = Counter(words.values())
    letters = {
        each.number: letter
        for its in _by_batch(functions.values()).values()
        for letter, each in _lettered(its).items()
    }
    for number, question in sorted(questions.items()):
        if question != _NONE and picked.get(number) == letters[number] and counts[words[number]] == 1:
            function = functions[number]
            place = [function.language, function.package, function.path, function.line, function.name]
            about = [function.style, "documented" if function.documented else "undocumented"]
            yield "\t".join(map(str, [*about, *place, question]))
