"""Suite `applications`: questions to fifteen applications and libraries, about functions that are known.

The questions were written by readers of single functions, before any result was looked at. No encoder was trained on
these packages. Two thirds of the functions have no documentation, and a question has few words of their names. A line
of `applications/HALF.tsv` has the package, the style of the question (keywords, question or symptom), whether the
function is documented, its file, its first line and its name, and the question.

The data is a folder of packages, `packages/LANGUAGE/NAME`, as `python -m training corpus fetch` makes it from
`applications/sources.toml`. Each package is indexed separately, and everything in it competes. `mrr` counts answers
among the first 100.

`applications` asks the half for development. The other half is suite `applications-end`. It is only for final figures,
so nothing is chosen by it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from codesearch.errors import ConfigError
from codesearch.evaluation.data import query_id
from codesearch.evaluation.judge import BenchOptions, Collection, Questions, Tree, answered_questions, judge
from codesearch.evaluation.result import SuiteResult
from codesearch.evaluation.suites import KNOWN_AT, KNOWN_DEPTH
from codesearch.store.database import DocumentRow, FileRecord

HALVES = ("development", "end")
FOLDER = Path(__file__).parents[1] / "applications"


def run(
    data: Path, options: BenchOptions, suite: str = "applications", half: str = "development"
) -> SuiteResult:
    """Run the suite with one half of the questions."""
    folder = data / "packages"
    trees = [_tree(folder / package, package, asked) for package, asked in read_questions(half).items()]
    return judge(suite, trees, options)


def run_end(data: Path, options: BenchOptions) -> SuiteResult:
    """Run the suite with the questions for the end, which nothing is chosen by."""
    return run(data, options, "applications-end", "end")


def _tree(root: Path, package: str, questions: Mapping[str, str]) -> Tree:
    def ask(collection: Collection) -> Questions:
        answers = {text: _answer(written, collection.names) for text, written in questions.items()}
        if missing := [questions[text] for text, answer in answers.items() if not answer]:
            raise ConfigError(f"{root}: {missing[0]} is not in this version", fetch_cure(FOLDER))
        queries = {query_id(package, text): text for text in questions}
        qrels = {query: {answers[text]: 1.0} for query, text in queries.items()}
        return answered_questions(queries, qrels, KNOWN_AT, KNOWN_DEPTH)

    return package_tree(root, package, ask, fetch_cure(FOLDER))


def package_tree(root: Path, package: str, ask: Callable[[Collection], Questions], cure: str) -> Tree:
    """Make the tree of a fetched package, in which everything competes."""
    if not root.is_dir():
        raise ConfigError(f"{root}: no such folder", cure)
    return Tree(root.resolve(), ask, key=document_key, everything=True, details={"package": package})


def fetch_cure(folder: Path) -> str:
    """Say how to fetch the packages of a recipe."""
    recipe = folder / "sources.toml"
    return f"run `python -m training corpus fetch --recipe {recipe} --out DIR` and give --data DIR"


def _answer(written: str, names: Iterable[str]) -> str:
    """Return the definition with the path and name of an answer whose first line is nearest, or ""."""
    path, first_line, name = written.split(":", 2)
    same = [key.split(":", 2) for key in names if key.startswith(f"{path}:") and key.endswith(f":{name}")]
    lines = [line for _, line, its_name in same if its_name == name]
    nearest = min(lines, key=lambda line: abs(int(line) - int(first_line)), default="")
    return f"{path}:{nearest}:{name}" if nearest else ""


def document_key(file: FileRecord, row: DocumentRow) -> str:
    """Return path:line:name of a document as its name."""
    return f"{file.path}:{row.start_line}:{row.qualified_name}"


def read_questions(half: str) -> dict[str, dict[str, str]]:
    """Read the questions of a half: package -> question -> path:line:name of its function."""
    questions: dict[str, dict[str, str]] = defaultdict(dict)
    for line in (FOLDER / f"{half}.tsv").read_text("utf-8").splitlines():
        package, _style, _about, path, first_line, name, text = line.split("\t")
        questions[package][text] = f"{path}:{first_line}:{name}"
    return questions
