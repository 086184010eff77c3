"""Questions about functions of the corpus -> what the product finds for each, with the right answer marked.

The packages that have questions are indexed in groups, as a user would index them, but with at most `MAX_FILES` files
each. A question then gets the product's first results in its own package. The first sentences of documentation
are questions too. The candidates of these have no documentation, because it would repeat the question.
"""

from __future__ import annotations

import json
import random
import shutil
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path

from codesearch.engine.engine import Engine
from codesearch.engine.scope import Scope
from codesearch.engine.session import AS_INDEXED
from codesearch.evaluation.judge import FUNCTIONS
from codesearch.parsing.extract import extract
from codesearch.parsing.languages import language_named
from codesearch.search.request import Filters
from codesearch.search.searcher import Searcher
from codesearch.store.snapshot import Snapshot
from codesearch.store.source import Ref
from codesearch.types import HEADER_KINDS
from training.corpus.archives import is_wanted
from training.corpus.docstrings import split_docstring
from training.corpus.fetch import read_marker
from training.corpus.filters import documentation_reason
from training.corpus.recipe import SourcePackage
from training.errors import TrainingError
from training.pools import CANDIDATES, DOCUMENTATION, Candidate, Pool

MAX_FILES = 200
"""Largest number of indexed files of a package: those of its questions, and others drawn by seed."""
DEPTH = 50
"""Candidates of a question."""
_GROUP = 24
_DOCUMENTED = 6
"""Documented functions and classes of a package whose first sentence becomes a question."""
_MAX_FILE_BYTES = 300_000
_MAX_CODE_CHARS = 4_000
ANSWERS = frozenset({*FUNCTIONS, *HEADER_KINDS})
"""Kinds of documents that a question is about: written ones about functions, documentation also about classes."""


@dataclass(frozen=True, slots=True)
class WrittenQuestion:
    """A line of `questions.tsv`.

    Attributes:
        package: package URL with its version.
        line: 1-based, of the function's first line.
        name: qualified name of the function.
    """

    style: str
    about: str
    language: str
    package: str
    path: str
    line: int
    name: str
    text: str


def read_written(path: Path) -> list[WrittenQuestion]:
    """Read the written questions.

    Raises:
        TrainingError: a line does not have eight fields.
    """
    questions = []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        fields = line.split("\t")
        if len(fields) != len(WrittenQuestion.__dataclass_fields__) or not fields[5].isdecimal():
            raise TrainingError(f"{path}:{number}: not a written question: see docs/corpus.md")
        style, about, language, package, file, at, name, text = fields
        questions.append(WrittenQuestion(style, about, language, package, file, int(at), name, text))
    return questions


def index_groups(
    files: Mapping[str, Sequence[str]], sources: Sequence[tuple[Path, SourcePackage]], out: Path
) -> Iterator[tuple[Path, list[str]]]:
    """Index the packages in groups; yield the folder of each group, with its packages in order.

    A group that exists is not made again.

    Args:
        files: package URL -> paths of files that must be indexed.
        sources: corpus folders, and the packages that may be in them.
        out: gets a folder for each group.
    """
    trees = {}
    for corpus, package in sources:
        if found := read_marker(corpus / package.folder):
            trees[package.url(found.version)] = (corpus / package.folder, package)
    known = sorted(url for url in files if url in trees)
    for start in range(0, len(known), _GROUP):
        group, packages = out / f"{start // _GROUP:03d}", known[start : start + _GROUP]
        if not (group / "packages.json").exists():
            shutil.rmtree(group, ignore_errors=True)
            for number, url in enumerate(packages):
                _copy(*trees[url], set(files[url]), group / "tree" / f"{number:02d}")
            Engine(group / "home").index(group / "tree")
            (group / "packages.json").write_text(json.dumps(packages), "utf-8")
        yield group, packages


def _copy(root: Path, package: SourcePackage, wanted: set[str], to: Path) -> None:
    """Copy the wanted files of a package, and others up to `MAX_FILES`."""
    paths = sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())
    random.Random(package.key).shuffle(paths)
    paths.sort(key=lambda path: path not in wanted)
    for path in paths[:MAX_FILES]:
        size = (root / path).stat().st_size
        if path in wanted or (size <= _MAX_FILE_BYTES and is_wanted(path, size, package.language)):
            (to / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(root / path, to / path)


def write_group(
    group: Path, packages: Sequence[str], questions: Mapping[str, Sequence[WrittenQuestion]]
) -> int:
    """Ask the questions of a group of packages, and the first sentences of its documentation; return their number.

    Writes `candidates.jsonl` and, last, `pools.jsonl`.
    """
    engine = Engine(group / "home")
    engine.index(group / "tree")  # The index may be of another model or format.
    with engine.session(Scope(), AS_INDEXED).indexes() as indexes:
        searcher = Searcher(indexes, engine.encoder(indexes[0].manifest.model_folder))
        snapshot = Snapshot(indexes)
        by_package = _documents_of(snapshot)
        pools, numbers = [], dict[int, int]()
        for number, url in enumerate(packages):
            documents = by_package.get(f"{number:02d}", {})
            asked = [*questions.get(url, ()), *_documented(documents, url)]
            filters = Filters(within=(group.absolute() / "tree" / f"{number:02d}",))
            for question in asked:
                if (answer := documents.get((question.path, question.line))) is not None:
                    pools.append(_pool(searcher, question, answer.doc_id, filters, numbers))
        _write_lines(group / CANDIDATES, _candidates(snapshot, list(numbers)))
    _write_lines(group / "pools.jsonl", pools)
    return len(pools)


def _candidates(snapshot: Snapshot, doc_ids: Sequence[int]) -> Iterator[Candidate]:
    for ref in snapshot.refs(doc_ids):
        file, row, excerpt = ref.file, ref.row, ref.code()
        code = excerpt.code[:_MAX_CODE_CHARS] if excerpt else ""
        place = Path(ref.root, ref.path)
        yield Candidate(
            file.language,
            row.kind,
            file.path.partition("/")[2],
            row.qualified_name,
            row.docstring,
            code,
            _contexts(place, file.language).get(row.start_byte, ""),
        )


@lru_cache(maxsize=1_000)
def _contexts(path: Path, language: str) -> dict[int, str]:
    """Parse a file, because an index does not store contexts; return them by the first byte of their definitions."""
    spec = language_named(language)
    found = extract(path.read_bytes(), path.name, spec).documents if spec else []
    return {document.start_byte: document.context for document in found}


_Documents = dict[tuple[str, int], Ref]
"""(path in the package, first line) -> document."""


def _documents_of(snapshot: Snapshot) -> dict[str, _Documents]:
    found: dict[str, _Documents] = defaultdict(dict)
    for ref in snapshot.refs(range(snapshot.size)):
        folder, _, path = ref.path.partition("/")
        if ref.row.kind in ANSWERS:
            found[folder][path, ref.row.start_line] = ref
    return found


def _documented(documents: _Documents, url: str) -> Iterator[WrittenQuestion]:
    """Yield the first sentences of some documented functions and classes of a package."""
    places = sorted(documents)
    random.Random(url).shuffle(places)
    count = 0
    for path, line in places:
        file, row = documents[path, line].file, documents[path, line].row
        first, _ = split_docstring(row.docstring)
        if not documentation_reason(row.docstring, first):
            count += 1
            yield WrittenQuestion(
                DOCUMENTATION, "documented", file.language, url, path, line, row.qualified_name, first
            )
            if count == _DOCUMENTED:
                return


def _pool(
    searcher: Searcher, question: WrittenQuestion, answer: int, filters: Filters, numbers: dict[int, int]
) -> Pool:
    ranked = searcher.ranking(searcher.analyse(question.text, reports=True), filters).best(DEPTH)
    doc_ids = [place.doc_id for place in ranked]
    found = answer in doc_ids
    if not found:
        doc_ids.append(answer)
    return Pool(
        question=question.text,
        style=question.style,
        about=question.about,
        language=question.language,
        package=question.package,
        answer=doc_ids.index(answer),
        found=found,
        candidates=[numbers.setdefault(doc_id, len(numbers)) for doc_id in doc_ids],
        parts=_columns([place.parts for place in ranked]),
        signals=_columns([place.signals for place in ranked]),
    )


def _columns(rows: Sequence[Mapping[str, float]]) -> dict[str, list[float]]:
    names = sorted({name for row in rows for name in row})
    return {name: [round(row.get(name, 0.0), 5) for row in rows] for name in names}


def _write_lines(path: Path, records: Iterable[Pool | Candidate]) -> None:
    """Write records as JSON lines to a new file; an interrupted write leaves no file."""
    part = path.with_suffix(".part")
    with part.open("w", encoding="utf-8") as file:
        for record in records:
            file.write(json.dumps(asdict(record), ensure_ascii=False) + "\n")
    part.replace(path)
