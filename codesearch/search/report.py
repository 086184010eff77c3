r"""A query that is a report, such as a bug report or the message of a commit -> what it says about the code.

A report has a title and more lines, or more than forty words, and is not pasted code. The title is ranked like any
query, and all of the text by keywords and the length prior. What the author marked or wrote as code is evidence for
definitions: names (`x.y`, `f()`, CamelCase, snake_case), and paths with lines, which the tracebacks of most languages
have. The best definitions of a file raise each other, because a change often concerns several of them.

    File "app/views.py", line 12, in get        Python
    at App.Views.get(Views.java:12)              Java, Kotlin, Scala
    at get (app/views.js:12:5)                   JavaScript
    app/views.rb:12:in `get'                     Ruby; with other words after the line Go, Rust, C, Swift
    in App.Views.Get() in app/Views.cs:line 12   C#
    #0 app/views.php(12): get()                  PHP
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from codesearch.languages import language_of_path
from codesearch.search.forms import CODE_LINE, Asked, is_long, split_name
from codesearch.search.heuristics import put_first
from codesearch.search.literals import literals_of
from codesearch.search.ranking import AnalysedQuery, Ranking, Report
from codesearch.store.database import DocumentRow
from codesearch.store.sorting import distinct, equal_before
from codesearch.text.terms import query_terms

_MOST_TITLE, _FEWEST_WORDS = 300, 3
_MOST_NAMES, _MOST_PLACES, _MOST_TERMS = 60, 20, 200
_COUNTED = 100
"""The candidate of this rank gets nothing for its score."""
_EXAMINED = 400
_OF_TITLE, _OF_TEXT = 0.5, 0.7
"""Weights of the two rankings."""
_SAME_FILE, _MOST_OF_FILE = 0.1, 6
"""Weight of the definitions of the same file, and how many of them count."""
_WEIGHTS = {"names": 0.2, "owner": 0.1, "file": 0.25, "line": 0.5}
"""Evidence -> its weight. Frames of tracebacks are certain, names are not."""
_DECAY = 0.8
"""A place in a traceback, or a definition of a file, counts this much of the one before it."""
_NOISE = re.compile(r"^\s*[-*] \[[ xX]\].*$|^#+\s.*$", re.MULTILINE)
"""Check boxes and headings of a template."""
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_TITLE = re.compile(r"^(?!\s*(?:```|~~~)).*\w\w")
_FENCE = re.compile(r"^\s*(?:```|~~~)", re.MULTILINE)
_NAME = re.compile(
    r"`([^`\n]{2,80})`|\", line \d+, in (\w+)|^\s+at ([\w.$]+) \(|\b([A-Za-z_][\w.:#]*)(?=\()"
    r"|\b([a-z]+[A-Z]\w*|[A-Z][a-z0-9]+[A-Z]\w*|[A-Za-z0-9]\w*_\w+|_\w+|[A-Za-z_]\w*(?:(?:\.|::)[A-Za-z_]\w*)+)\b",
    re.MULTILINE,
)
_PART = re.compile(r"[A-Za-z_]\w\w+")
_PLACE = re.compile(
    r"File \"(?P<python>[^\"\n]{1,300})\", line (?P<line>\d{1,7})"
    r"|(?P<path>[\w./\\@+-]{1,300}\.[A-Za-z]\w{0,9})(?:(?::line |[:(])(?P<at>\d{1,7})| on line (?P<on>\d{1,7}))?"
)
_ERROR = re.compile(
    r"^\s*(?:[\w.:]*(?:Error|Exception|Warning|Panic)\b|panic|error|fatal)\s*(?:\[\w+\])?:\s*(?P<text>.+)$",
    re.MULTILINE | re.IGNORECASE,
)


def read_report(query: str) -> Report | None:
    r"""Return the parts of a report; None if a query is none.

    >>> report = read_report("Dates are wrong\n\nSince 2.1 `parse_date` returns None, see app/dates.py:12.")
    >>> report.title, report.names, report.places
    ('Dates are wrong', ['parse_date'], [('app/dates.py', 12)])
    >>> read_report("parse a date"), read_report("def parse(x):\n    return x")
    (None, None)
    """
    if not is_long(query):
        return None
    query = _COMMENT.sub("", query)
    text = _NOISE.sub("", query)
    places = list(dict.fromkeys(_places(query)))
    if not any(line for _, line in places) and _is_code(query):
        return None
    error = next((match["text"].strip() for match in _ERROR.finditer(query)), "")
    title = next((line.strip(" #*\t") for line in query.splitlines() if _TITLE.search(line)), "")
    if not title:
        return None
    if title.startswith("Traceback ") and error:
        title = error
    if len(title) > _MOST_TITLE:
        title = re.split(r"(?<=[.!?])\s", title, maxsplit=1)[0][:_MOST_TITLE]
    return Report(
        title,
        f"{title}\n{text}",
        _names(query)[:_MOST_NAMES],
        places[:_MOST_PLACES],
        literals_of(error),
        error,
    )


def _is_code(query: str) -> bool:
    """Say whether a text is pasted code: its first line is or has few words, or most lines outside of fences are."""
    outside = "".join(_FENCE.split(query)[::2]).splitlines()
    lines = [line for line in outside if line.strip()]
    code = [CODE_LINE.search(line) is not None for line in lines]
    return (
        not lines
        or code[0]
        or 2 * sum(code) > len(code)
        or (any(code) and len(lines[0].split()) < _FEWEST_WORDS)
    )


def _names(text: str) -> list[str]:
    written = (next(filter(None, match.groups())) for match in _NAME.finditer(text))
    parts = (_PART.findall(name) for name in written if not language_of_path(name))
    return list(dict.fromkeys(part for of_name in parts for part in of_name))


def _places(text: str) -> Iterator[tuple[str, int]]:
    found = list(_PLACE.finditer(text))
    python = [(match["python"], int(match["line"])) for match in found if match["python"]]
    yield from reversed(python)
    for match in found:
        path = match["path"]
        if path and language_of_path(path):
            yield path, int(match["at"] or match["on"] or 0)


def of_text(report: Report) -> AnalysedQuery:
    """Return a query by keywords for all of the text."""
    return AnalysedQuery(
        "", query_terms(report.text)[:_MOST_TERMS], None, literals=report.literals, message=report.error
    )


def combined(report: Report, title: Ranking, text: Ranking) -> Ranking:
    """Return one ranking from those of the title and of the text of a report, with the evidence for definitions."""
    doc_ids = distinct(np.concatenate([title.doc_ids, text.doc_ids]))
    of_title, of_text = (np.searchsorted(doc_ids, ranking.doc_ids) for ranking in (title, text))
    rows, nothing = title.documents.rows(doc_ids), np.zeros(len(doc_ids), np.float32)
    whole = Ranking(title.documents, doc_ids, rows, {}, nothing, of_title=title)
    whole.literal = {**text.literal, **title.literal}
    text.scores = text.scores * text.signals["length_prior"]
    put_first(text)
    for name in ("name", "path", "literal"):
        whole.add_signal(name, of_title, title.signals[name])
    whole.add_signal("title", of_title, _spread(title), reward=_OF_TITLE)
    whole.add_signal("text", of_text, _spread(text), reward=_OF_TEXT)
    examined = whole.order()[:_EXAMINED]
    names = {name.lower() for name in report.names}
    refs = title.documents.refs(doc_ids[examined].tolist())
    # With a slash at the start, a path can be compared with the end of another.
    places = [(f"/{Asked(path).ending}", line) for path, line in report.places]
    evidence = [_evidence(f"/{ref.path}", ref.row, names, places) for ref in refs]
    for (name, weight), values in zip(_WEIGHTS.items(), zip(*evidence, strict=True), strict=False):
        whole.add_signal(name, examined, values, reward=weight)
    order, files = whole.order(), rows["file_id"]
    above = np.empty(len(order), np.int64)
    above[order] = equal_before(files[order])
    counted = np.where(above < _MOST_OF_FILE, _DECAY**above * np.maximum(whole.scores, 0), 0.0)
    file_ids = np.searchsorted(distinct(files), files)
    same_file = np.asarray(np.bincount(file_ids, counted)[file_ids], np.float32)
    whole.add_signal("same_file", np.arange(len(files)), same_file, reward=_SAME_FILE)
    return whole


def _spread(ranking: Ranking) -> NDArray[np.float32]:
    """Return the scores as 1 for the best candidate and 0 from the hundredth on: float32 [C]."""
    if not len(ranking.scores):
        return ranking.scores
    order = ranking.order()
    best, last = ranking.scores[order[0]], ranking.scores[order[:_COUNTED][-1]]
    spread: NDArray[np.float32] = np.clip((ranking.scores - last) / max(best - last, np.float32(1e-6)), 0, 1)
    return spread


def _evidence(
    path: str, row: DocumentRow, names: set[str], places: Sequence[tuple[str, int]]
) -> tuple[float, float, float, float]:
    """Return whether a report names a definition, also its owner, its file, and a line in it."""
    parts = [part.lower() for part in split_name(row.qualified_name)]
    # A report may have a path from another machine.
    of_file = [
        (depth, line)
        for depth, (other, line) in enumerate(places)
        if path.endswith(other) or other.endswith(path)
    ]
    named = parts[-1] in names
    # The lines of a traceback may be those of another version, which has the same names.
    inside = (
        _DECAY**depth for depth, line in of_file if line and (named or row.start_line <= line <= row.end_line)
    )
    return (
        float(named),
        float(len(parts) > 1 and names.issuperset(parts[-2:])),
        float(bool(of_file)),
        max(inside, default=0.0),
    )
