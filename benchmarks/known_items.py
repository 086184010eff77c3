"""Known items in whole standard libraries: is what somebody would look for found? -> `results/known_items.json`.

    python -m benchmarks.known_items --go GO/src --ruby RUBY_LIB

`known_questions/LANGUAGE.tsv` holds questions as people put them, each with the definitions that answer it. All of the
tree competes: tests, classes, and most of it without documentation, as in trees that people search. Python's is the
running interpreter's; Go's and Ruby's come with the Debian packages `golang-1.19-src` (`usr/share/go-1.19/src`) and
`libruby3.1` (`usr/lib/ruby/3.1.0`), or from elsewhere.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Mapping
from pathlib import Path
from statistics import mean

from benchmarks.record import record
from benchmarks.speed import standard_library
from codesearch.config import IndexConfig, WalkConfig
from codesearch.errors import ConfigError
from codesearch.evaluation.metrics import reciprocal_rank
from codesearch.evaluation.options import BenchOptions
from codesearch.evaluation.pool import Pool, open_pool
from codesearch.evaluation.stages import StageClock
from codesearch.evaluation.systems import SYSTEMS, System
from codesearch.search.searcher import Searcher
from codesearch.segments.store import DocumentRow, FileRecord

QUESTIONS = Path(__file__).parent / "known_questions"
DEPTH = 100
_LEFT_OUT = ("testdata", "cmd")
"""Of Go: sources that are input of tests, and the commands."""


def main() -> None:
    """Index each tree and ask its questions of each system."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", type=Path, help="default: the running interpreter's standard library")
    parser.add_argument("--go", type=Path)
    parser.add_argument("--ruby", type=Path)
    options = parser.parse_args()
    trees = {
        "python": options.python or standard_library(),
        "go": options.go,
        "ruby": options.ruby,
    }
    record("known_items", {language: measure(language, tree) for language, tree in trees.items() if tree})


def read_questions(language: str) -> dict[str, set[str]]:
    """Read question -> what answers it, each as path:name."""
    lines = (QUESTIONS / f"{language}.tsv").read_text("utf-8").splitlines()
    rows = (line.split("\t") for line in lines)
    return {question: set(answers.split(",")) for question, answers in rows}


def measure(language: str, tree: Path) -> dict[str, object]:
    """Ask a tree's questions.

    Raises:
        ConfigError: the tree has no answer to one, so it is another version.
    """
    questions = read_questions(language)
    with tempfile.TemporaryDirectory() as home:
        index = IndexConfig(walk=WalkConfig(exclude=_LEFT_OUT if language == "go" else ()))
        options = BenchOptions(home=Path(home), device="cpu", index=index)
        with open_pool(tree.resolve(), options, StageClock(), document_key) as pool:
            known = set(pool.keys)
            if missing := [question for question, right in questions.items() if known.isdisjoint(right)]:
                raise ConfigError(
                    f"{tree}: nothing answers {missing[0]!r}: give the tree of benchmarks/known_items.py"
                )
            return {
                "documents": len(pool.keys),
                "questions": len(questions),
                **{system.name: figures(ask(pool, system, questions)) for system in SYSTEMS},
            }


def document_key(file: FileRecord, row: DocumentRow) -> str:
    """Call a document by its file and its own name."""
    return f"{file.path}:{row[1]}"


def ask(pool: Pool, system: System, questions: Mapping[str, set[str]]) -> list[float]:
    """Return the reciprocal rank of the first answer to each question, 0 below `DEPTH`."""
    searcher = Searcher([pool.index], pool.encoder, system.config)
    return [
        reciprocal_rank(
            [pool.keys[place.doc_id] for place in searcher.rank(question, DEPTH, mode=system.mode)], right
        )
        for question, right in questions.items()
    ]


def figures(ranks: list[float]) -> dict[str, float]:
    """Return MRR, and the shares of questions answered first and among the first ten."""
    return {
        "mrr": round(mean(ranks), 4),
        "first": round(mean(rank == 1 for rank in ranks), 4),
        "in_ten": round(mean(rank >= 0.1 for rank in ranks), 4),
    }


if __name__ == "__main__":
    main()
