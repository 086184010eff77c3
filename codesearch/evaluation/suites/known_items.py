"""Suite `known-items`: questions to whole standard libraries, whose answers are known definitions.

The questions are in the package (`known_items/LANGUAGE.tsv`: a question, and its answers as path:name). Everything in a
tree competes, also tests, classes, and code without documentation. The data is a folder with a tree for each language:

    python    CPython's `Lib`; without --data, the running interpreter's
    go        `src` of Go 1.19, as in Debian's `golang-1.19-src` (usr/share/go-1.19/src)
    ruby      Ruby 3.1's, as in Debian's `libruby3.1` (usr/lib/ruby/3.1.0)

A language without a tree has no questions. `mrr` counts answers among the first 100.
"""

from __future__ import annotations

import sysconfig
from pathlib import Path

from codesearch.config import IndexOptions
from codesearch.errors import ConfigError
from codesearch.evaluation.judge import BenchOptions, Collection, Questions, Tree, answered_questions, judge
from codesearch.evaluation.qrels import QueryId, query_id
from codesearch.evaluation.result import SuiteResult
from codesearch.types import KINDS

FOLDER = Path(__file__).parent.parent / "known_items"
LANGUAGES = ("go", "python", "ruby")
_MODULE = KINDS.index("module")
DEPTH = 100
DEPTHS = (1, 10, 50)
_EXCLUDED = {"python": ("site-packages",), "go": ("testdata", "cmd")}
"""Folders that do not belong to the library: installed packages, sources that tests read, and commands."""


def run(options: BenchOptions) -> SuiteResult:
    """Run the suite."""
    data = options.data
    roots = {"python": Path(sysconfig.get_path("stdlib"))}
    if data:
        roots = {language: data / language for language in LANGUAGES if (data / language).is_dir()}
    if not roots:
        raise ConfigError(
            f"{data}: no folder {', '.join(LANGUAGES)}", "give --data a folder with these trees"
        )
    return judge("known-items", [_tree(language, root) for language, root in roots.items()], options)


def _tree(language: str, root: Path) -> Tree:
    def ask(collection: Collection) -> Questions:
        queries, answers = read_questions(language)
        qrels = {query: dict.fromkeys(_places(collection, right), 1.0) for query, right in answers.items()}
        if missing := [query for query, right in qrels.items() if not right]:
            raise ConfigError(
                f"{root}: nothing answers {missing[0][1]!r}", "give the version that the suite asks about"
            )
        return answered_questions(queries, qrels, DEPTHS, DEPTH)

    return Tree(
        root.resolve(),
        ask,
        key=lambda file, row: f"{file.path}:{row.name}:{row.start_line}",
        everything=True,
        walk=IndexOptions(exclude=_EXCLUDED.get(language, ())),
        details={"language": language},
    )


def _places(collection: Collection, answers: set[str]) -> list[str]:
    """List the definitions with this path:name, on any line; a module may have the same name."""
    kinds = [kind for segment in collection.index.segments for kind in segment.rows.kinds.tolist()]
    return [
        key
        for key, kind in zip(collection.keys, kinds, strict=True)
        if kind != _MODULE and key.rpartition(":")[0] in answers
    ]


def read_questions(language: str) -> tuple[dict[QueryId, str], dict[QueryId, set[str]]]:
    """Read the questions about a language's tree, and path:name of the answers to each."""
    queries: dict[QueryId, str] = {}
    answers: dict[QueryId, set[str]] = {}
    for line in (FOLDER / f"{language}.tsv").read_text("utf-8").splitlines():
        text, right = line.split("	")
        queries[query_id(language, text)] = text
        answers[query_id(language, text)] = set(right.split(","))
    return queries, answers
