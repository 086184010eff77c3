"""Suite `ncs`: 287 questions about Android, answered from a folder of Java code that you give.

The data is a folder with `questions.jsonl*` (`query, code`: a question and the code of its accepted answer). The suite
searches the folder `corpus` in it, or a link of that name, because the data does not include the published corpus.
There are no judgements. A method counts as an answer if it has at least a quarter of the accepted answer's features
(`training.evaluation.aroma`).

- `answered_at_k`: share of the questions with such a method among the first k
- `mrr`: mean of 1 / FRank, the rank of the first such method, or 0 if none is among the first 50,
  as in the published score sheet

*Source*: Li et al. 2019, "Neural Code Search Evaluation Dataset". Its published ranks (`score_sheet.csv`) are over
another corpus, of 4.7 million methods, so they are not comparable.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from codesearch.errors import ConfigError
from codesearch.evaluation.jsonl import field, read_jsonl
from codesearch.evaluation.judge import BenchOptions, Questions, Tree, judge
from codesearch.evaluation.qrels import QueryId, QueryScores, Run, query_id
from codesearch.evaluation.result import SuiteResult
from training.cosqa import one_file
from training.evaluation.aroma import Features, features, similarity

GROUP = "java"
THRESHOLD = 0.25
DEPTH = 50
DEPTHS = (1, 5, 10)
CORPUS, QUESTIONS = "corpus", "questions.jsonl*"
PUBLISHED = {"mrr": {"NCS": 0.189, "NCS_postrank": 0.400, "UNIF_android": 0.178, "UNIF_SO": 0.465}}
"""Li et al. 2019."""
FRank = int | None
"""Rank of the first answer; None if there is none."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the code of its accepted answer."""

    text: str
    code: str


def run(options: BenchOptions) -> SuiteResult:
    """Run the suite.

    Raises:
        ConfigError: the data or the corpus is missing or has another format.
        MissingExtraError: the data is compressed and zstandard is not installed.
    """
    folder = options.data
    if folder is None or not (folder / CORPUS).is_dir():
        raise ConfigError(
            f"{folder or 'suite ncs'}: no {CORPUS} to search: give --data a folder with the questions and {CORPUS}/"
        )
    questions = {query_id(GROUP, question.text): question for question in read_questions(folder)}
    root = (folder / CORPUS).resolve()
    known: dict[str, Features] = {}
    asked = Questions(
        {query: question.text for query, question in questions.items()},
        lambda run_: score_run(run_, questions, root, known),
    )
    tree = Tree(
        root,
        lambda _: asked,
        key=lambda file, row: f"{file.path}#L{row.start_line}-L{row.end_line}",
        details={"threshold": THRESHOLD},
    )
    return replace(judge("ncs", [tree], options), published=PUBLISHED)


def read_questions(folder: Path) -> list[Question]:
    """Read the questions of a data folder.

    Raises:
        ConfigError: they are missing.
    """
    return [
        Question(*(field(place, record, name) for name in ("query", "code")))
        for place, record in read_jsonl(one_file(folder, QUESTIONS))
    ]


def score_run(
    run_: Run, questions: Mapping[QueryId, Question], root: Path, known: dict[str, Features]
) -> QueryScores:
    """Score the results of a system. Methods are read from the corpus at `root`; `known` keeps their features."""

    def features_of(document: str) -> Features:
        if document not in known:
            known[document] = features(_read_lines(root, document))
        return known[document]

    return {
        query: scores(first_rank(run_.get(query, []), features(question.code), features_of))
        for query, question in questions.items()
    }


def first_rank(found: Sequence[str], answer: Features, features_of: Callable[[str], Features]) -> FRank:
    """Return the 1-based rank of the first document that is similar to the answer, or None."""
    return next(
        (
            rank
            for rank, document in enumerate(found[:DEPTH], 1)
            if similarity(answer, features_of(document)) >= THRESHOLD
        ),
        None,
    )


def _read_lines(root: Path, document: str) -> str:
    path, _, lines = document.rpartition("#L")
    start, _, end = lines.partition("-L")
    text = (root / path).read_text("utf-8", errors="replace")
    return "\n".join(text.split("\n")[int(start) - 1 : int(end)])


def scores(frank: FRank) -> dict[str, float]:
    """Score one question.

    >>> scores(4)
    {'mrr': 0.25, 'answered_at_1': 0.0, 'answered_at_5': 1.0, 'answered_at_10': 1.0}
    """
    answered = {f"answered_at_{depth}": float(frank is not None and frank <= depth) for depth in DEPTHS}
    return {"mrr": 1 / frank if frank else 0.0, **answered}
