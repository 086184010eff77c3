"""Questions of users to their own index -> where the answers rank.

A line of the file is an object with `query` and `answers`. An answer is `path` (every hit in this file is right),
`path:line` (the innermost definition at this line) or `path::name`; paths are relative to the root of the index.

`mrr` and `hit_at_k` are by the first right hit of ten: definitions as `query --flat` ranks them, and files as `query`
does for answers that are files. `screen` is 1 if `query` shows an answer on a terminal of 80 x 24.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from codesearch.engine.session import Session
from codesearch.errors import CodeSearchError, ConfigError
from codesearch.evaluation.data import QueryScores, read_jsonl
from codesearch.evaluation.judge import COLUMNS, SCREEN
from codesearch.evaluation.metrics import AVERAGE
from codesearch.evaluation.result import SuiteResult, summarise
from codesearch.search.forms import parse_asked
from codesearch.search.lookup import live_paths
from codesearch.types import Hit
from codesearch.visible import visible

DEPTH = 10
_CURE = 'write {"query": "parse a date", "answers": ["src/dates.py::parse"]}'


@dataclass(frozen=True, slots=True)
class Question:
    """A line of the file, which `at` names in messages."""

    at: str
    query: str
    answers: tuple[str, ...]


def read_own_questions(path: Path) -> list[Question]:
    """Read the questions, of which no two are the same."""
    questions: dict[str, Question] = {}
    for at, record in read_jsonl(path):
        query, answers = record.get("query"), record.get("answers")
        if not isinstance(query, str) or not re.search(r"\w", query):
            raise ConfigError(f"{at}: query is no text with words", _CURE)
        if not isinstance(answers, list) or not answers:
            raise ConfigError(f"{at}: answers is no list of places", _CURE)
        if wrong := [answer for answer in answers if not isinstance(answer, str) or not answer.strip()]:
            raise ConfigError(f"{at}: answer {wrong[0]!r} is no text", "write path, path:line or path::name")
        if query in questions:
            same = questions[query].at
            raise ConfigError(f"{at}: the same query as {same}", "write all answers into one line")
        questions[query] = Question(at, query, tuple(answer.removeprefix("./") for answer in answers))
    if not questions:
        raise ConfigError(f"{path}: no questions", _CURE)
    return list(questions.values())


def score_questions(
    session: Session, questions: Sequence[Question], on_progress: Callable[[str, int, int], None]
) -> SuiteResult:
    """Ask the questions in an index, and score the hits."""
    scores: QueryScores = {}
    unknown: list[str] = []
    with session.indexes() as (index,):
        root, files = index.manifest.root, {path for path, *_ in live_paths(index)}
    for number, question in enumerate(questions, 1):
        answer = session.search(question.query, top_k=DEPTH, by_file=True)
        definitions = session.search(question.query, top_k=DEPTH).hits
        shown = session.search(question.query, by_file=True, screen=SCREEN, columns=COLUMNS).screen
        right = {known: set(_places(session, root, files, known)) for known in question.answers}
        unknown += [f"{question.at}: {known}" for known, places in right.items() if not places]
        every = set().union(*right.values())
        scores["questions", question.query] = _score(definitions, answer.hits, shown, every)
        on_progress("query", number, len(questions))
    details = {"root": root, "model": answer.model, "unknown_answers": unknown}
    systems = {"default": summarise(scores)}
    return SuiteResult("questions", systems, len(questions), answer.documents, details=details)


def _places(session: Session, root: str, files: Collection[str], answer: str) -> list[str]:
    """Return an answer as `path`, or as `path:line` of each definition that it names; nothing if it names nothing."""
    asked = parse_asked(answer)
    if not (asked.first or asked.inside):
        return [answer] if answer in files else []
    try:
        places = session.find(os.path.join(root, answer))
    except CodeSearchError:
        return []
    return [f"{place.path.relative_to(root).as_posix()}:{place.line}" for place in places]


def _score(
    definitions: Sequence[Hit], files: Sequence[Hit], shown: Sequence[Hit], right: Collection[str]
) -> dict[str, float]:
    """Score what three searches returned; `right` has paths and path:line of definitions."""

    def answers(hit: Hit, *, as_file: bool) -> bool:
        places = (f"{hit.path}:{hit.start_line}", *hit.copies)
        return any((place.rpartition(":")[0] if as_file else place) in right for place in places)

    ranks = [
        rank
        for as_file, hits in ((False, definitions), (True, files))
        for rank, hit in enumerate(hits, 1)
        if answers(hit, as_file=as_file)
    ]
    rank = min(ranks, default=0)
    return {
        "mrr": 1 / rank if rank else 0.0,
        **{f"hit_at_{k}": float(0 < rank <= k) for k in (1, 5, DEPTH)},
        "screen": float(any(answers(hit, as_file=as_file) for hit in shown for as_file in (True, False))),
    }


def questions_text(path: Path, result: SuiteResult) -> str:
    """Return the scores, the answers that name nothing, and the questions without an answer in the first ten hits."""
    system, documents = result.systems["default"], f"{result.documents:,} documents"
    lines = [f"{result.judged_queries} questions of {path} in {result.details['root']}, {documents}", ""]
    lines.append(f"{'':12}{'mean':>8}   95% interval")
    for metric, means in system.metrics.items():
        low, high = system.ci95[metric][AVERAGE]
        lines.append(f"{metric:12}{means[AVERAGE]:8.3f}   {low:.3f} to {high:.3f}")
    missed = [query[:100] for (_, query), of_query in system.queries.items() if not of_query["mrr"]]
    for title, entries in (
        ("not in the index, so these answers count as misses:", result.details["unknown_answers"]),
        (f"without an answer in the first {DEPTH} hits:", missed),
    ):
        if entries:
            lines += ["", title, *(f"  {entry}" for entry in entries)]
    return "".join(f"{visible(line)}\n" for line in lines)
