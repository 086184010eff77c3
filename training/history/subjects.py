"""The message of a commit -> a question that somebody could ask, or the reason why it is none."""

from __future__ import annotations

import re

from codesearch.history.log import Commit

BOT, UPKEEP, FOREIGN = "by a bot", "release, formatting, tests or documentation", "not English"
MAX_QUERY = 200


def _one_of(alternatives: str) -> str:
    """Return a group of alternatives that are written with ";" between them."""
    return "(?:" + "|".join(" ".join(alternatives.split()).split("; ")) + ")"


def _pattern(expression: str) -> re.Pattern[str]:
    return re.compile(expression, re.IGNORECASE)


_BOTS = _pattern(
    _one_of(
        r"""\[bot\]; \bbot\b; -bot\b; dependabot; renovate; greenkeeper; weblate; transifex; crowdin; github-actions;
        pre-commit-ci; pyup; snyk; imgbot; allcontributors; semantic-release; jenkins; buildbot; translatewiki;
        root@; localhost"""
    )
)
_UPKEEP = _one_of(
    r"""docs?; documentation; tests?; testing; chore; build; ci; style; releases?; deps; dependencies; i18n; l10n;
    changelog; typos?; lint; merge; revert; wip; fixup; squash; bench; benchmarks?; examples?; sponsors; manual;
    news; readme; packag(?:e|ing); infra; gha; travis; github; tools?; scripts?; website; site; translations?; t;
    contrib; refactor; cleanup"""
)
_TYPE = _pattern(
    rf"\W*{_UPKEEP}(?:\s*\([^)]*\)|[/,][^:]*)?!?\s*[:\]]|\W*(?:docs|tests?|chore|ci|style|refactor|build)\([^)]*\)"
)
"""What stands before a message and says that the commit does not change what a program does."""
_FIRST = _pattern(
    _one_of(
        r"""merged?; revert\w*; re-?apply; back ?out; back-?port\w*; cherry; releas\w+; bump\w*; prepare; version;
        tag\w*; prepar\w+ (?:for )?(?:release|version); publish; post-?release; start \w+ development;
        refactor\w*; renam\w+; mov(?:e|ed|es|ing); clean(?:ed|ing|s)?(?: |-)?up\w*; cleanups?; clean;
        tid(?:y|ied); reorgani[sz]\w+; reorder\w*; extract\w*; simplif\w+; moderni[sz]\w+; reformat\w*;
        re-?indent\w*; wip; temp; tmp; oops; who?ops; todo; initial; import(?:ed)? from; sync\w*; updated? for
        version; addresse?d? ; more ; misc; minor; various; some; small; update[sd]? to; upgrade; typos?; lint;
        polish; style; format; formatted; nits?; docs?; documentation; comments?; tests?; changelog; another;
        further; squash\w*; fixup\w*; v?\d[\w.-]*$"""
    )
    + r"\b"
)
"""How the messages of upkeep begin."""
_VERB = _one_of(
    r"""add(?:ed|s|ing)?; fix(?:ed|es|ing)?; updat(?:e|ed|es|ing); improv(?:e|ed|es|ing); correct(?:ed|s)?;
    remov(?:e|ed|es|ing); expand; extend; clarif\w+; tweak(?:ed|s)?; adjust(?:ed|s)?; enable; disable; skip;
    re-?enable; use; better; missing; new; simplify; speed up; unbreak; repair; split; convert"""
)
_OBJECT = _one_of(
    r"""tests?; testing; specs?; docs?; docstrings?; documentation; comments?; builds?; ci; formatting; indentation;
    styles?; styling; imports?; warnings?; versions?; dependenc\w+; examples?; benchmarks?; licen[cs]es?; headers;
    translations?; readme; changelog; annotations; assertions; fixtures?; mocks?; scripts?; logs?; logging; log
    messages?; todos?; merge; conflicts?; compile; compilation; compiler; types?; typings?; nits?; grammar;
    wording; lints?"""
)
_SECOND = _pattern(
    rf"{_VERB}\s+(?:(?!(?:for|in|of|to|from|when|if|with)\b)[\w'`./-]+\s+){{0,3}}{_OBJECT}(?:\W|$)"
)
"""A verb of any commit, and soon an object of upkeep."""
_ANYWHERE = _pattern(
    r"\b"
    + _one_of(
        r"""typos?; misspell\w*; spelling; white-?spaces?; copyrights?; change-?logs?; readme; gofmt; goimports;
        rustfmt; clang-format; clang-tidy; clippy; rubocop; phpstan; psalm; eslint; tslint; jshint; jscs; pep-?8;
        flake8; pylint; mypy; pyright; coverity; cppcheck; sonar\w*; lint(?:er|ing)?; code ?style; coding style;
        release notes?; docstrings?; javadocs?; phpdocs?; kdocs?; scaladocs?; haddocks?; godocs?; rustdocs?;
        jsdocs?; doxygen; unit ?tests?; test cases?; test suites?; failing tests?;
        (?:compiler|build|compilation|deprecation) (?:warnings?|errors?|failures?); unused; dead code; type
        hints?; type annotations?; dependabot; cherry[- ]pick\w*; translations?; code review; review
        (?:comments?|feedback); feedback; ci; travis; appveyor; circleci; github actions?; gitignore; dockerfile;
        makefile; no functional changes?; nfc; cosmetics?; indentation; refactor\w*; clean ?ups?; signed-off; log
        message; commented; boilerplate; black; isort; prettier; commit message; pull request; rc\d; alpha\d;
        beta\d"""
    )
    + r"\b|\b(?:test|spec|doc|comment)s?\W*$"
)
_AREA = _pattern(
    _one_of(
        r"""[-*+;•]\s+; :\w+:\s*; \[[^\]]{0,40}\]\s*:?\s*; \(\d+/\d+\)\s*; [A-Z][A-Z0-9]+-\d+\s*[:,.-]?\s*;
        (?:patch|version|bug|issue|ticket|bz)\s*#?[\d.]+\s*[:,-]\s*; (?:gh-?)?#?\d{2,}\s*[:,-]\s*;
        (?:fix(?:ed|es)?|close[sd]?|resolve[sd]?)\s+(?:issue\s*)?#\d+\s*[:,.-]?\s*;
        [\w./+*@{}$-]{1,40}\s?(?:\([^)]{0,40}\))?!?:\s+; [\w./+*-]{1,30}(?:,\s*[\w./+*-]{1,30}){1,3}:\s+;
        \w[\w./-]{0,20} [\w./-]{1,20}:\s+; (?:feat|fix|perf|feature|hotfix|bugfix)\s?(?:\([^)]{0,40}\)\s?|/)"""
    )
)
"""What stands before a message: the kind of change, its place, an issue."""
_VIA = _one_of(
    r"""fix(?:e[sd])?; close[sd]?; resolve[sd]?; refs?; references?; see; re; related to; part of; towards; for; from;
    in; per; via; due to; bug; issues?; ticket; pr; gh; backport of; thanks to \w+"""
)
_ISSUE = (
    rf"(?:(?:this |and )?{_VIA}[\s:]*)*"
    r"(?:https?://\S+|[\w.-]*/?[\w.-]*(?:#|gh-|!|bug |issue |bsc#|bz#|ticket:\s?)\d+|[A-Z][A-Z0-9]+-\d{2,}|\d{4,})"
)
_REFERENCE = _pattern(
    rf"\s*[\[(]\s*{_ISSUE}(?:\s*(?:,|and|&|;)?\s*{_ISSUE})*\s*[\])]|"
    rf"[\s,.;:-]+{_ISSUE}(?:\s*(?:,|and|&)?\s*{_ISSUE})*\.?\s*$"
)
_LEFT = _pattern(r"https?://\S+|\s*[\[(]?#\d+[\])]?|\s*[\[(]\s*[\])]")
_BY = (
    r"(?:\w+ )?(?:patch|reported|suggested|found|spotted|contributed|approved|reviewed|noticed)\s(?:\w+ )?by"
)
_CREDIT = re.compile(
    rf"[\s,.;(\[-]*(?i:{_BY}|thanks to|thanks,|thx|based on a patch|h/t)\b.*$|\s*\([A-Z][\w.-]+ [A-Z][\w. -]+\)\.?$"
)
_HANGING = _pattern(r"[\s,.;:(\[-]*(?:\b(?:fix(?:es)?|closes?|resolves?|refs?|see|issue|bug))?[\s,.;:(\[-]*$")
_TRAILER = _pattern(r"[A-Z][\w-]+(?:-[\w-]+)*: |git-svn-id|\(?cherry.picked|https?://|[#*+-]|\d+[.)]\s|@\w")
_SENTENCE = re.compile(r"(?<=[a-z)\]`'\"])\.\s+(?=[A-Z])")


def clean_subject(subject: str) -> str:
    """Return the first line of a message without kind, place, numbers of issues and credits.

    >>> clean_subject("fix(core): don't read an empty file twice (#123)")
    "don't read an empty file twice"
    >>> clean_subject("lib/model: Print device when a block request fails (fixes #8) (#9)")
    'Print device when a block request fails'
    """
    text = " ".join(subject[: 4 * MAX_QUERY].split())
    for _ in range(3):
        text = text[found.end() :] if (found := _AREA.match(text)) else text
    for _ in range(2):
        text = _REFERENCE.sub(" ", text)
    text = _CREDIT.sub("", _LEFT.sub("", text))
    if len(text) > MAX_QUERY // 2:
        text = _SENTENCE.split(text)[0]
    return " ".join(_HANGING.sub("", text).split())[:MAX_QUERY]


def first_paragraph_of(body: str) -> str:
    """Return the first paragraph of the rest of a message; "" if it is a list, a trailer or shorter than five words."""
    for paragraph in re.split(r"\n\s*\n", body.strip()):
        lines = paragraph.split("\n")
        if any(_TRAILER.match(line.strip()) for line in lines[:2]):
            continue
        text = " ".join(_LEFT.sub("", " ".join(paragraph.split())).split())
        return text[: 3 * MAX_QUERY] if len(text.split()) >= 5 else ""
    return ""


def reason_of_author(commit: Commit) -> str:
    """Return why a commit is left out by its author, or ""."""
    return BOT if _BOTS.search(commit.author) else ""


def reason_of_subject(subject: str, query: str) -> str:
    """Return why a commit is left out by its first line, or "".

    Args:
        subject: as it was written.
        query: what `clean_subject` made of it.
    """
    if _TYPE.match(subject) or _FIRST.match(query) or _SECOND.match(query) or _ANYWHERE.search(query):
        return UPKEEP
    letters = sum(character.isascii() for character in query)
    return FOREIGN if letters < 0.95 * len(query) else ""
