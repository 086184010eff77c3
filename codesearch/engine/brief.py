"""A question -> one answer that an agent can conclude from: a few definitions with the lines that answer it.

Definitions that rank far below the best one are left out, and tests unless the question asks for them. If the question
is a name, only what has the name is shown. Each idea of a question has a definition, or is named as not covered.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

from codesearch.engine.excerpts import LEAST_LINES, Excerpt, excerpts_of
from codesearch.errors import CodeSearchError
from codesearch.parsing.flags import is_test
from codesearch.search.forms import has_identifier, is_code, is_long, parse_asked
from codesearch.search.request import SearchRequest
from codesearch.text.terms import query_terms, terms_of
from codesearch.types import FUNCTIONS, Definition, Hit

if TYPE_CHECKING:
    from codesearch.engine.answer import Answer
    from codesearch.engine.session import Session
    from codesearch.structure.usages import Usage

_WITH_CODE, _WITH_CODE_IF_NAMED = 8, 5
"""Definitions with code, in general and if the question has a name of the code, which tells more than words.

The request can say another number, and there can be too few lines.
"""
_FURTHER = 7
"""Definitions behind them that are named."""
_NEAR = 0.7
"""The share of the best score that a definition with code has."""
_JOIN = r"(?:and|but|when|while|after|before|because|then)\s+"
_BETWEEN_IDEAS = re.compile(rf"[;.,?]\s+(?:{_JOIN})?|\s+{_JOIN}", re.IGNORECASE)
_MOST_IDEAS, _LEAST_TERMS, _COVERED, _HARDLY_COVERED = 3, 2, 0.5, 0.3
_MOST_USAGES = 200
_CALLING, _MOST_NAMES, _MOST_CALLED, _RARE, _FEW_FILES = 3, 12, 4, 2, 6
_CALL = re.compile(r"([A-Za-z_]\w{3,})\s*\(")
"""A name that is called in a line of code."""


@dataclass(frozen=True, slots=True)
class Brief:
    """What an agent reads of an answer.

    Attributes:
        answer: all of it.
        excerpts: the best definitions with code.
        others: definitions behind them, without tests.
        called: definitions that the shown lines of the first three call, if few have the name.
        callers: certain usages of the first definition, one for each definition around them.
        tests: usages of the first definition, one for each test.
        uncovered: ideas of the question that no definition covers.
        is_name: the question is the name of the first definition.
        is_list: so many definitions are asked for that none has code.
    """

    answer: Answer
    excerpts: list[Excerpt]
    others: list[Hit]
    called: list[Definition]
    callers: list[Usage]
    tests: list[Usage]
    uncovered: list[str]
    is_name: bool
    is_list: bool


def make_brief(session: Session, request: SearchRequest, lines: int, *, with_usages: bool) -> Brief:
    """Search, and choose about so many lines of code that answer the question."""
    fewer = has_identifier(request.query)
    most = request.top_k or max(min(_WITH_CODE_IF_NAMED if fewer else _WITH_CODE, lines // LEAST_LINES), 1)
    answer = session.search(replace(request, top_k=most + _FURTHER, by_file=False))
    hits = [hit for hit in answer.hits if hit.parts.get("test", 0.0) >= 0.0] or answer.hits
    is_list = lines < LEAST_LINES * most
    near = [hit for hit in hits if is_list or hit is hits[0] or hit.score >= _NEAR * hits[0].score]
    if is_name := bool(hits) and hits[0].is_named:
        near = [hit for hit in hits if hit.is_named]
    ideas = [] if is_name or is_list else ideas_of(request.query)
    shown, uncovered = _cover(session, replace(request, top_k=most, by_file=False), near[:most], ideas)
    excerpts = excerpts_of(shown, answer.query, 0 if is_list else lines)
    is_used = with_usages and shown and not is_list and shown[0].kind in FUNCTIONS
    callers, tests = _used(session, shown[0]) if is_used else ([], [])
    others = [hit for hit in (near if is_name else hits) if hit not in shown]
    called = list(islice(_called(session, excerpts[:_CALLING]), _MOST_CALLED))
    return Brief(answer, excerpts, others, called, callers, tests, uncovered, is_name, is_list)


def _cover(
    session: Session, request: SearchRequest, shown: list[Hit], ideas: Iterable[str]
) -> tuple[list[Hit], list[str]]:
    """Show the best definition of each idea that no hit covers, not the last hit; return the ideas without one too."""
    uncovered: list[str] = []
    for idea in ideas:
        covered = max((_covered(hit, idea) for hit in shown), default=0.0)
        if covered < _COVERED:
            answer = session.search(replace(request, query=idea))
            hits = [] if answer.low_confidence else answer.hits
            if hit := next((hit for hit in hits if _covered(hit, idea) >= _COVERED), None):
                shown = [*shown[:-1], hit] if len(shown) == request.top_k else [*shown, hit]
            elif covered < _HARDLY_COVERED:
                uncovered.append(idea)
    return shown, uncovered


def ideas_of(query: str) -> list[str]:
    """Return the parts of a question that each say something; none if it is one idea, a name, code or a report.

    >>> ideas_of("the rule is saved, but tried again after the token expired"), ideas_of("parse a date")
    (['the rule is saved', 'tried again', 'the token expired'], [])
    """
    if is_code(query) or is_long(query) or parse_asked(query).names:
        return []
    parts = [part.strip(" .?;,") for part in _BETWEEN_IDEAS.split(query)]
    ideas = [part for part in parts if len(query_terms(part)) >= _LEAST_TERMS]
    return ideas if 1 < len(ideas) <= _MOST_IDEAS else []


def _covered(hit: Hit, idea: str) -> float:
    """Return the share of the terms of an idea that a definition has."""
    terms = query_terms(idea)
    known = terms_of(f"{hit.path} {hit.qualified_name} {hit.code}")
    return sum(term in known for term in terms) / len(terms)


def _called(session: Session, excerpts: Sequence[Excerpt]) -> Iterator[Definition]:
    """Yield the functions that the lines of some excerpts call, in their order: only those with a rare name."""
    known = {excerpt.hit.name for excerpt in excerpts}
    lines = (text for excerpt in excerpts for number, text in excerpt.lines if number)
    names = dict.fromkeys(name for line in lines for name in _CALL.findall(line) if name not in known)
    for name in islice(names, _MOST_NAMES):
        with suppress(CodeSearchError), session.spots(name, only_definitions=True) as spots:
            of_name = [spot for spot in spots if spot.row and spot.row.name == name]
            is_rare = len(of_name) <= _RARE and all(
                spot.segment and spot.segment.name_counts[name, ""][0] <= _FEW_FILES for spot in of_name
            )
            functions = [spot.definition for spot in of_name if is_rare and not is_test(spot.path)]
            yield from (function for function in functions if function and function.kind in FUNCTIONS)


def _used(session: Session, hit: Hit) -> tuple[list[Usage], list[Usage]]:
    """Return the certain usages of a definition in source code, and its usages in tests."""
    place = f"{os.path.join(hit.root, hit.path)}:{hit.start_line}"
    try:
        usages = session.usages(place, limit=_MOST_USAGES, all_code=True, with_derived=False).found.usages
    except CodeSearchError:  # Such as a place at the top of a file, or a path that cannot be given.
        return [], []
    sure = [usage for usage in usages if usage.grade == "certain" and not _is_inside(usage, hit)]
    likely = [usage for usage in usages if usage.grade in ("certain", "likely") and is_test(usage.path)]
    tests = [usage for usage in likely if usage.inside and usage.inside.kind != "module"]
    return _firsts(usage for usage in sure if not usage.other_code), _firsts(tests)


def _is_inside(usage: Usage, hit: Hit) -> bool:
    return (usage.root, usage.path) == (hit.root, hit.path) and hit.start_line <= usage.line <= hit.last_line


def _firsts(usages: Iterable[Usage]) -> list[Usage]:
    """Return the first usage in each definition."""
    first: dict[Sequence[object], Usage] = {}
    for usage in usages:
        line = usage.inside.start_line if usage.inside else 0
        first.setdefault((usage.root, usage.path, line), usage)
    return list(first.values())
