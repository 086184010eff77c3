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

from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from codesearch.errors import ConfigError
from codesearch.evaluation.judge import (
    BenchOptions,
    Collection,
    Questions,
    answered_questions,
    everything,
    judge,
    merge,
)
from codesearch.evaluation.qrels import QueryId, query_id
from codesearch.evaluation.result import SuiteResult
from codesearch.evaluation.suites.known_items import DEPTH, DEPTHS
from codesearch.types import KINDS

FOLDER = Path(__file__).parent.parent / "applications"
_FETCH = (
    f"run `python -m training corpus fetch --recipe {FOLDER / 'sources.toml'} --out DIR` and give --data DIR"
)


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the function that answers it.

    Attributes:
        package: `LANGUAGE/NAME`.
        style: keywords, question or symptom.
        about: documented or undocumented.
        answer: path:line:name of the function.
    """

    package: str
    style: str
    about: str
    answer: str
    text: str

    @property
    def id(self) -> QueryId:
        """The group of a question is its package."""
        return query_id(self.package, self.text)


def run(options: BenchOptions) -> SuiteResult:
    """Run the suite with the questions for development."""
    return _run_half("applications", "development", options)


def run_end(options: BenchOptions) -> SuiteResult:
    """Run the suite with the questions for the end, which nothing is chosen by."""
    return _run_half("applications-end", "end", options)


def _run_half(suite: str, half: str, options: BenchOptions) -> SuiteResult:
    """Run the suite with one half of the questions.

    Raises:
        ConfigError: a package is missing, or has another version than the questions.
    """
    if options.data is None:
        raise ConfigError(f"suite {suite} needs data: {_FETCH}")
    folder = options.data / "packages"
    packages = groupby(read_questions(half), lambda question: question.package)
    return merge(
        suite, [_judge(suite, folder / package, list(questions), options) for package, questions in packages]
    )


def _judge(suite: str, tree: Path, questions: list[Question], options: BenchOptions) -> SuiteResult:
    if not tree.is_dir():
        raise ConfigError(f"{tree}: no such folder: {_FETCH}")

    def ask(collection: Collection) -> Questions:
        qrels = {question.id: {question.answer: 1.0} for question in questions}
        if missing := [question for question in questions if question.answer not in collection.names]:
            raise ConfigError(f"{tree}: {missing[0].answer} is not in this version: {_FETCH}")
        queries = {question.id: question.text for question in questions}
        return answered_questions(queries, qrels, DEPTHS, DEPTH, everything)

    return judge(
        suite,
        tree.resolve(),
        ask,
        key=lambda file, row: f"{file.path}:{row.start_line}:{row.qualified_name}",
        options=options,
        details={"package": questions[0].package},
        kinds=KINDS,
    )


def read_questions(half: str) -> list[Question]:
    """Read the questions of a half, sorted by package."""
    questions = []
    for line in (FOLDER / f"{half}.tsv").read_text("utf-8").splitlines():
        package, style, about, path, first_line, name, text = line.split("\t")
        questions.append(Question(package, style, about, f"{path}:{first_line}:{name}", text))
    return questions
