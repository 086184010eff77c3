"""The suites of `codesearch bench`: their data, their questions, and the names of documents in their judgements.

A suite is a function from `BenchOptions` to a `SuiteResult`. It gives its folders and questions to `judge`, which
indexes, asks every system and scores. The id of a query is its group, usually a language, and its text. A metric has
the name under which it is printed, written to JSON and compared; higher is better.
"""

from __future__ import annotations

import csv
import re
import sysconfig
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from codesearch.config import IndexOptions
from codesearch.errors import ConfigError
from codesearch.evaluation.data import QueryId, document_url, query_id, read_annotations, read_queries, unpack
from codesearch.evaluation.judge import (
    BenchOptions,
    Collection,
    Questions,
    Tree,
    answered_questions,
    graded_questions,
    judge,
)
from codesearch.evaluation.metrics import reciprocal_rank
from codesearch.evaluation.result import SuiteResult
from codesearch.files import scratch_folder
from codesearch.store.database import DocumentRow, FileRecord
from codesearch.types import KINDS

_HERE = Path(__file__).parent
SMOKE, DIRECTION, KNOWN_ITEMS = _HERE / "smoke", _HERE / "direction", _HERE / "known_items"
"""Folders of the data in the package."""
QUERIES, ANNOTATIONS, SOURCES, PACK = "queries.csv", "annotations.csv", "sources", "sources.jsonl.zst"
"""Files of the data of `csn99`."""
LANGUAGES = ("go", "java", "javascript", "php", "python", "ruby")
"""In which each query of `csn99` is asked."""
LIBRARIES = ("go", "python", "ruby")
"""With questions of `known-items`, which looks for an answer among the first `KNOWN_DEPTH` results."""
KNOWN_DEPTH, KNOWN_AT = 100, (1, 10, 50)
_EXCLUDED = {"python": ("site-packages",), "go": ("testdata", "cmd")}
"""Folders that do not belong to a library: installed packages, sources that tests read, and commands."""
_MODULE = KINDS.index("module")
_DATA_CURE = "give --data the folder of the benchmark's data"
PUBLISHED = {
    "ndcg_all": {"ElasticSearch": 0.205, "NBoW": 0.164, "1D-CNN": 0.108, "biRNN": 0.041, "SelfAtt": 0.113},
    "ndcg_within": {"ElasticSearch": 0.337, "NBoW": 0.247, "1D-CNN": 0.252, "biRNN": 0.126, "SelfAtt": 0.211},
}
"""Metric -> system -> average of Husain et al. 2019, over all 6.4 million functions of their corpus."""


def smoke(options: BenchOptions) -> SuiteResult:
    """Ask the queries of the package, each only in the languages that it has judgements for."""
    texts = {query_id("", text)[1]: text for text in read_queries(SMOKE / QUERIES)}
    qrels = read_annotations(SMOKE / ANNOTATIONS, "Path", "Name")
    questions = graded_questions({query: texts.get(query[1], query[1]) for query in qrels}, qrels)
    with sample_tree(SMOKE, options.home) as root:
        return judge("smoke", [Tree(root, lambda _: questions, named_document)], options)


@contextmanager
def sample_tree(suite: Path, home: Path) -> Iterator[Path]:
    """Lend a folder with the sources of a suite as LANGUAGE/FILE.

    They are in `sources/LANGUAGE.txt`, each after a line "=== FILE".
    """
    with scratch_folder(home) as scratch:
        for packed in sorted((suite / SOURCES).glob("*.txt")):
            (scratch / packed.stem).mkdir()
            _, *parts = re.split(r"^=== (.+)\n", packed.read_text("utf-8"), flags=re.MULTILINE)
            for name, text in zip(parts[::2], parts[1::2], strict=True):
                (scratch / packed.stem / name).write_bytes(text.encode())
        yield scratch


def named_document(file: FileRecord, row: DocumentRow) -> str:
    """Return the path and qualified name of a document as its name."""
    return f"{file.path} {row.qualified_name}"


@dataclass(frozen=True, slots=True)
class Conversion:
    """A query for a conversion as it is asked, the name of its function, and the name of the inverse function."""

    text: str
    right: str
    inverse: str


def direction(options: BenchOptions) -> SuiteResult:
    """Ask for conversions: `accuracy` is the share of queries whose function ranks above its inverse."""
    asked = read_pairs(DIRECTION / "pairs.csv")
    questions = Questions(
        {query: pair.text for query, pair in asked.items()},
        lambda found: {query: score_direction(found[query], pair) for query, pair in asked.items()},
        {query: {pair.right: 1.0} for query, pair in asked.items()},
    )
    details = {"pairs": len(asked) // 2}
    with sample_tree(DIRECTION, options.home) as root:
        tree = Tree(root, lambda _: questions, lambda _, row: row.qualified_name, details=details)
        return judge("direction", [tree], options)


def read_pairs(path: Path) -> dict[QueryId, Conversion]:
    """Read both queries of each pair."""
    asked = {}
    with open(path, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            for text, right, inverse in (
                (row["query"], row["name"], row["inverse_name"]),
                (row["inverse"], row["inverse_name"], row["name"]),
            ):
                asked[query_id(row["language"], text)] = Conversion(text, right, inverse)
    return asked


def score_direction(ranking: list[str], asked: Conversion) -> dict[str, float]:
    """Score the results of one query; a function that was not found ranks last. `mrr` is over its language."""
    right, inverse = (
        ranking.index(name) if name in ranking else len(ranking) for name in (asked.right, asked.inverse)
    )
    return {"accuracy": float(right < inverse), "mrr": reciprocal_rank(ranking, {asked.right})}


def csn99(options: BenchOptions) -> SuiteResult:
    """Ask the 99 queries of the CodeSearchNet challenge in the files that its annotators judged.

    The sources are unpacked as `sources/` with `owner/name/commit/path` below, or in `sources.jsonl.zst` with `repo,
    sha, path, text` in each line. `python -m training download` makes them.
    """
    if not (folder := options.data):
        raise ConfigError(
            "the data of csn99 is not here",
            "give --data FOLDER, or download it in a checkout of codesearch with "
            "`python -m training download csn99 --out FOLDER`; `codesearch bench --suite smoke` needs no data",
        )
    for name in (QUERIES, ANNOTATIONS):
        if not (folder / name).is_file():
            raise ConfigError(f"{folder}: no {name} there", _DATA_CURE)
    texts = read_queries(folder / QUERIES)
    queries = {query_id(language, text): text for language in LANGUAGES for text in texts}
    questions = graded_questions(queries, read_annotations(folder / ANNOTATIONS))
    with ExitStack() as stack:
        root = folder / SOURCES
        if not root.is_dir():
            if not (folder / PACK).is_file():
                raise ConfigError(f"{folder}: neither {SOURCES} nor {PACK} there", _DATA_CURE)
            root = stack.enter_context(scratch_folder(options.home)) / SOURCES
            with options.clock.stage("unpack"):
                unpack(folder / PACK, root, options.on_progress)
        tree = Tree(
            root, lambda _: questions, lambda file, row: document_url(file.path, row.start_line, row.end_line)
        )
        return replace(judge("csn99", [tree], options), published=PUBLISHED)


def known_items(options: BenchOptions) -> SuiteResult:
    """Ask questions to whole standard libraries, whose answers are known definitions of any kind.

    `--data` has a tree for each language, of the versions that docs/dev/bench.md names. Without it, only the library of
    the running Python is asked.
    """
    roots = {"python": Path(sysconfig.get_path("stdlib"))}
    if data := options.data:
        roots = {language: data / language for language in LIBRARIES if (data / language).is_dir()}
    if not roots:
        cure = "give --data a folder with these trees"
        raise ConfigError(f"{data}: no folder {', '.join(LIBRARIES)}", cure)
    return judge("known-items", [_library(language, root) for language, root in roots.items()], options)


def _library(language: str, root: Path) -> Tree:
    def ask(collection: Collection) -> Questions:
        queries, answers = read_questions(language)
        qrels = {query: dict.fromkeys(_definitions(collection, one), 1.0) for query, one in answers.items()}
        if missing := [query for query, right in qrels.items() if not right]:
            cure = "give the version that the suite asks about"
            raise ConfigError(f"{root}: nothing answers {missing[0][1]!r}", cure)
        return answered_questions(queries, qrels, KNOWN_AT, KNOWN_DEPTH)

    return Tree(
        root.resolve(),
        ask,
        key=lambda file, row: f"{file.path}:{row.name}:{row.start_line}",
        everything=True,
        walk=IndexOptions(exclude=_EXCLUDED.get(language, ())),
        details={"language": language},
    )


def _definitions(collection: Collection, answers: set[str]) -> list[str]:
    """List the definitions with this path:name, on any line; a module may have the same name."""
    kinds = [kind for segment in collection.index.segments for kind in segment.rows["kind"].tolist()]
    return [
        key
        for key, kind in zip(collection.keys, kinds, strict=True)
        if kind != _MODULE and key.rpartition(":")[0] in answers
    ]


def read_questions(language: str) -> tuple[dict[QueryId, str], dict[QueryId, set[str]]]:
    """Read the questions about a language's library, and path:name of the answers to each."""
    queries: dict[QueryId, str] = {}
    answers: dict[QueryId, set[str]] = {}
    for line in (KNOWN_ITEMS / f"{language}.tsv").read_text("utf-8").splitlines():
        text, right = line.split("\t")
        queries[query_id(language, text)] = text
        answers[query_id(language, text)] = set(right.split(","))
    return queries, answers


SUITES: dict[str, tuple[str, Callable[[BenchOptions], SuiteResult]]] = {
    "csn99": ("99 queries of the CodeSearchNet challenge over the files that were judged; needs data", csn99),
    "smoke": ("a few hundred functions and queries in the package; answers anywhere, in seconds", smoke),
    "direction": (
        "conversions and their inverses in the package: is the one that was asked for found first",
        direction,
    ),
    "known-items": (
        "questions to the standard libraries of Python, Go and Ruby; Python's needs no data",
        known_items,
    ),
}
"""Name -> description and run."""


def run_suite(name: str, options: BenchOptions) -> SuiteResult:
    """Run a suite."""
    if name not in SUITES:
        raise ConfigError(f"suite {name!r}", f"choose one of {', '.join(SUITES)}")
    return SUITES[name][1](options)
