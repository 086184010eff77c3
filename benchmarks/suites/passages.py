"""Suite `passages`: questions about a few lines inside a function, to twenty applications in ten languages.

A reader who saw only the function wrote the question, mostly in other words than those of its code, and never looked at
answers. The style is keywords, question or report. A line of `passages/HALF.tsv` has the package, the style, the
file, first and last line and name of the function, first and last line of the passage, and the question. A few passages
are entries of a long table or of a module instead. No encoder was trained on these packages.

The data is a folder of packages, `packages/LANGUAGE/NAME`, as `python -m training corpus fetch` makes it from
`passages/sources.toml`. Each package is indexed separately, and everything in it competes. Right is every function that
contains the passage. The groups of the questions are functions of up to 40 lines, and longer ones:

- `mrr` counts right definitions among the first 100, `mrr_alike` only among definitions of the same group. So a ranking
  that prefers long functions gains nothing by it. `mrr_file` is that of the right file.
- `passage` is the share of questions for which a hit with the function shows a line of the passage, wherever it ranks.
  It is the same for all systems. For `passage_at_10`, the function must also be among the first ten.

`passages` asks the half for development. The other half is suite `passages-end`. It is only for final figures, so
nothing is chosen by it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection as Names
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.suites.applications import fetch_cure, package_tree
from codesearch.errors import ConfigError
from codesearch.evaluation.data import QueryId, Run, query_id
from codesearch.evaluation.judge import BenchOptions, Collection, Questions, Tree, judge
from codesearch.evaluation.metrics import DEPTH, reciprocal_rank
from codesearch.evaluation.result import SuiteResult
from codesearch.evaluation.suites import KNOWN_DEPTH
from codesearch.search.request import Filters, SearchRequest
from codesearch.search.searcher import Searcher
from codesearch.search.snippets import SNIPPET_LINES, snippet_lines
from codesearch.store.database import DocumentRow, FileRecord
from codesearch.types import FUNCTIONS, Hit

FOLDER = Path(__file__).parents[1] / "passages"
SHORT, LONG = "up to 40 lines", "over 40 lines"
_MOST_SHORT = 40
_SCREENFUL = 10
_FETCH = fetch_cure(FOLDER)


@dataclass(frozen=True, slots=True)
class Definition:
    """The place of a definition, of which the name of a document in judgements is made."""

    path: str
    start_line: int
    end_line: int
    kind: str
    name: str

    @classmethod
    def parse(cls, key: str) -> Definition:
        """Read what `document_key` wrote."""
        path, start_line, end_line, kind, name = key.split(":", 4)
        return cls(path, int(start_line), int(end_line), kind, name)

    @property
    def group(self) -> str:
        """The group of the questions whose functions have this length."""
        return SHORT if self.end_line - self.start_line < _MOST_SHORT else LONG


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the lines that answer it, and the function that they are in, as it was when they were read."""

    text: str
    function: Definition
    first_line: int
    last_line: int

    @property
    def query(self) -> QueryId:
        """Its id."""
        return query_id(self.function.group, self.text)

    def is_in(self, path: str, start_line: int, end_line: int) -> bool:
        """Say whether a definition contains the whole passage."""
        return path == self.function.path and start_line <= self.first_line and self.last_line <= end_line


def run(data: Path, options: BenchOptions, suite: str = "passages", half: str = "development") -> SuiteResult:
    """Run the suite with one half of the questions."""
    folder = data / "packages"
    trees = [_tree(folder / package, package, asked) for package, asked in read_questions(half).items()]
    return judge(suite, trees, options)


def run_end(data: Path, options: BenchOptions) -> SuiteResult:
    """Run the suite with the questions for the end, which nothing is chosen by."""
    return run(data, options, "passages-end", "end")


def _tree(root: Path, package: str, questions: Sequence[Question]) -> Tree:
    def ask(collection: Collection) -> Questions:
        searcher = Searcher([collection.index], collection.encoder)
        right: dict[QueryId, Names[str]] = {}
        shown: dict[QueryId, bool] = {}
        of_path: dict[str, list[str]] = defaultdict(list)
        for key in collection.names:
            of_path[Definition.parse(key).path].append(key)
        for question in questions:
            right[question.query] = answers(question, of_path[question.function.path])
            shown[question.query] = _is_shown(question, searcher)
        return Questions(
            {question.query: question.text for question in questions},
            lambda found: {query: score(found, query, right[query], shown[query]) for query in right},
            {query: dict.fromkeys(keys, 1.0) for query, keys in right.items()},
        )

    return replace(package_tree(root, package, ask, _FETCH), key=document_key)


def answers(question: Question, keys: Names[str]) -> frozenset[str]:
    """Return the right ones among the definitions of a file: functions that contain the passage, and the named one."""
    around = [
        (key, definition)
        for key in keys
        if question.is_in(
            (definition := Definition.parse(key)).path, definition.start_line, definition.end_line
        )
    ]
    name = question.function.name
    if not any(definition.name == name for _, definition in around):
        place = f"{question.function.path}:{question.first_line}"
        raise ConfigError(f"{place}: not in a definition {name} in this version", _FETCH)
    return frozenset(
        key for key, definition in around if definition.name == name or definition.kind in FUNCTIONS
    )


def _is_shown(question: Question, searcher: Searcher) -> bool:
    """Say whether a hit with the function shows a line of the passage; only its file is searched."""
    request = SearchRequest(question.text, DEPTH, filters=Filters(paths=(question.function.path,)))
    passage = range(question.first_line, question.last_line + 1)
    return any(
        not shown_lines(hit, question.text).isdisjoint(passage)
        for hit in searcher.answer(request).hits
        if hit.qualified_name == question.function.name
        and question.is_in(hit.path, hit.start_line, hit.end_line)
    )


def shown_lines(hit: Hit, query: str) -> set[int]:
    """Return the lines of the file that a hit shows on a terminal."""
    return {hit.start_line + at for at in snippet_lines(hit, query, "hybrid", SNIPPET_LINES)}


def score(found: Run, query: QueryId, right: Names[str], is_shown: bool) -> Mapping[str, float]:
    """Score the results of a query."""
    ranked = found[query]
    definitions = [Definition.parse(key) for key in ranked]
    alike = [key for key, it in zip(ranked, definitions, strict=True) if it.group == query[0]]
    files = list(dict.fromkeys(it.path for it in definitions))
    at_10 = is_shown and not frozenset(right).isdisjoint(ranked[:_SCREENFUL])
    return {
        "mrr": reciprocal_rank(ranked, right, KNOWN_DEPTH),
        "mrr_alike": reciprocal_rank(alike, right, KNOWN_DEPTH),
        "mrr_file": reciprocal_rank(files, {Definition.parse(key).path for key in right}, KNOWN_DEPTH),
        "passage": float(is_shown),
        "passage_at_10": float(at_10),
    }


def document_key(file: FileRecord, row: DocumentRow) -> str:
    """Return path:first line:last line:kind:name of a document as its name."""
    return f"{file.path}:{row.start_line}:{row.end_line}:{row.kind}:{row.qualified_name}"


def read_questions(half: str) -> dict[str, list[Question]]:
    """Read the questions of a half: package -> questions."""
    questions: dict[str, list[Question]] = defaultdict(list)
    for line in (FOLDER / f"{half}.tsv").read_text("utf-8").splitlines():
        package, _style, path, start_line, end_line, name, first, last, text = line.split("\t")
        function = Definition(path, int(start_line), int(end_line), "", name)
        questions[package].append(Question(text, function, int(first), int(last)))
    return questions
