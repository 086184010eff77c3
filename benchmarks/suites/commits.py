"""Suite `commits`: the first sentence of a commit's body -> the commit.

The data is a folder with `tasks.jsonl` of suite `histories` and a folder `clones` with a clone of each repository. A
clone has the name that the tasks give it and may be bare. All commits before its HEAD compete. The groups are the
commits of the tasks, which changed functions, and up to 100 commits of each clone, drawn by a hash of their ids.

The sentence is cut out of the text that is indexed, so a commit is found by its subject, the rest of its body, and the
paths that it changed. Some commits have no question: merges, commits by bots, and those whose body begins
with a list, a heading or a trailer. The sentence must have four words or more, one of them must not be in the subject,
and no other message may contain it.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from benchmarks.suites.histories import TASKS
from codesearch.errors import ConfigError
from codesearch.evaluation.data import Qrels, QueryId, Run, query_id, read_jsonl
from codesearch.evaluation.judge import DEFAULT, BenchOptions
from codesearch.evaluation.metrics import score_answers
from codesearch.evaluation.result import SuiteResult, distinct_queries, summarise
from codesearch.files import scratch_folder
from codesearch.history.search import CommitFilters, rank_commits
from codesearch.history.table import Commit, commit_ids, find_history, read_commits, table_at_head
from codesearch.text.terms import query_terms

CLONES = "clones"
OF_TASKS, ANY = "changed functions", "any commit"
_DEPTH = 100
_FOUND_AT = (1, 5, 10)
_LEAST_WORDS = 4
_MOST = 100
_UNASKED = re.compile(r"Merge[sd]? |Revert ")
_BOT = re.compile(r"\[bot\]|\bbot\b", re.IGNORECASE)
_SENTENCE = re.compile(r"(?P<sentence>.+?[.!?])(?:\s|$)|(?P<rest>.+)", re.DOTALL)
_NO_PROSE = re.compile(r"\s*(?:[#*+>|`<-]|\d+[.)]\s|[A-Z][\w-]*: |git-svn-id|https?:|\(cherry)")


@dataclass(frozen=True, slots=True)
class _Question:
    """A sentence as it stands in the body of a commit."""

    group: str
    commit: str
    sentence: str

    @property
    def text(self) -> str:
        """The sentence in one line."""
        return " ".join(self.sentence.split())


def run(data: Path, options: BenchOptions) -> SuiteResult:
    """Run the suite."""
    tasks: dict[str, set[str]] = defaultdict(set)
    for _, task in read_jsonl(data / TASKS, "tree", "commit"):
        tasks[task["tree"].partition("@")[0]].add(task["commit"])
    asked = _Asked(options)
    for number, (name, of_tasks) in enumerate(tasks.items(), 1):
        clone = data / CLONES / name
        if not clone.exists():
            raise ConfigError(f"{clone} does not exist", f"clone each repository of {TASKS} into {CLONES}")
        asked.add(name, clone.resolve(), of_tasks)
        options.on_progress("repositories", number, len(tasks))
    qrels: Qrels = {query: {query[1].split()[1]: 1.0} for query in asked.queries}
    systems = {DEFAULT: summarise(score_answers(asked.run, qrels, _FOUND_AT))}
    return SuiteResult(
        suite="commits",
        systems=systems,
        judged_queries=distinct_queries(systems),
        documents=sum(counts["commits"] for counts in asked.repositories.values()),
        seconds=options.clock.seconds,
        details={"repositories": asked.repositories},
        runs={DEFAULT: asked.run},
        queries=asked.queries,
    )


class _Asked:
    """Repositories that were indexed and asked.

    Attributes:
        queries: id -> sentence; the id ends in the id of the commit.
        run: what was found.
        repositories: name -> numbers of commits and questions.
    """

    def __init__(self, options: BenchOptions) -> None:
        self._options = options
        self.queries: dict[QueryId, str] = {}
        self.run: Run = {}
        self.repositories: dict[str, dict[str, int]] = {}

    def add(self, name: str, clone: Path, of_tasks: Collection[str]) -> None:
        """Index the commits of a clone without the sentences that are asked, and ask every system."""
        clock = self._options.clock
        with scratch_folder(self._options.home) as home:
            history = find_history(str(clone), home)
            repository = history.repository
            commits = list(read_commits(repository, commit_ids(repository, history.head)))
            questions = _questions(commits, of_tasks)
            cut = {question.commit: question.sentence for question in questions}
            with clock.stage("index"), table_at_head(history, cut=cut) as table:
                self.repositories[name] = {"commits": len(table), "questions": len(questions)}
            with clock.stage("query"), table_at_head(history) as table:
                for question in questions:
                    query = query_id(question.group, f"{name} {question.commit}")
                    self.queries[query] = question.text
                    ranked = rank_commits(table, str(clone), question.text, CommitFilters())
                    self.run[query] = [commit for commit, _ in islice(ranked, _DEPTH)]


def _questions(commits: Sequence[Commit], of_tasks: Collection[str]) -> list[_Question]:
    """Return the questions to the commits of tasks, given as beginnings of ids, and to some others of a repository."""
    messages = [" ".join(f"{commit.subject} {commit.body}".split()) for commit in commits]
    length = len(min(of_tasks, key=len))
    found: dict[str, list[_Question]] = {OF_TASKS: [], ANY: []}
    for commit in sorted(commits, key=lambda commit: hashlib.sha256(commit.id.encode()).digest()):
        group = OF_TASKS if commit.id[:length] in of_tasks else ANY
        question = _question(commit, group) if group == OF_TASKS or len(found[ANY]) < _MOST else None
        if question and sum(question.text in message for message in messages) == 1:
            found[group].append(question)
    return [*found[OF_TASKS], *found[ANY]]


def _question(commit: Commit, group: str) -> _Question | None:
    """Return the first sentence of a body, if it is prose and says something else than the subject."""
    paragraph = re.split(r"\n\s*\n", commit.body)[0]
    match = _SENTENCE.match(paragraph)
    if (
        not match
        or _NO_PROSE.match(paragraph)
        or _UNASKED.match(commit.subject)
        or _BOT.search(commit.author)
    ):
        return None
    question = _Question(group, commit.id, (match["sentence"] or match["rest"]).strip())
    is_new = not set(query_terms(question.text)) <= set(query_terms(commit.subject))
    return question if is_new and len(question.text.split()) >= _LEAST_WORDS else None
