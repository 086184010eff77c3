"""Questions whose answers are definitions -> how often a terminal, the web page and an agent see the right one.

    python -m benchmarks.screen --applications DIR

The questions are those of the suites `applications` (both halves) and `known-items` (Python). Each is asked as
`codesearch query` asks it, and its answer is rendered for a terminal. A definition is visible if a row has its
line, below or beside the name of its file. `page` is the web page in Chromium, in a window of 1280 x 800, without
scrolling. What agents read is measured by `benchmarks.agents`.
"""

from __future__ import annotations

import argparse
import re
import sysconfig
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from statistics import fmean
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from benchmarks.publish import record
from benchmarks.suites import applications
from codesearch.cli.invocation import Terminal
from codesearch.cli.render import columns_of, render, screen_rows
from codesearch.config import IndexOptions
from codesearch.engine.answer import Answer as EngineAnswer
from codesearch.engine.engine import Engine
from codesearch.engine.scope import Scope
from codesearch.engine.session import AS_INDEXED, Session
from codesearch.evaluation.suites import read_questions
from codesearch.search.request import SearchRequest

_SIZES = ((80, 24), (120, 40))
_PAGE = {"width": 1280, "height": 800}
_ON_PAGE = r"""() => [...document.querySelectorAll('#hits a[href*="#L"]')].filter((link) => {
    const { bottom, width } = link.getBoundingClientRect();
    return width && bottom <= innerHeight;
}).map((link) => [link.href, link.textContent.split(/\W/).pop()])"""
_HEADING = re.compile(r"(\S*?)([^/\s]+):(\d+)(?:  |-\d+ )")
_OTHERS = re.compile(r" *\d+(?:  |-\d+ )\S")
_OTHER = re.compile(r"(?:^ *|  )(\d+)(?:  |-\d+ )(?=\S)")

Answer = tuple[str, int | str]
"""The path of a definition, and its first line or its name."""


def main() -> None:
    """Measure each half and each size of a terminal."""
    parser = argparse.ArgumentParser(description=__doc__)
    from playwright.sync_api import sync_playwright

    from tests.browser.conftest import CHROMIUM, FLAGS
    from tests.browser.service import running_site

    parser.add_argument("--applications", type=Path, required=True, help="data of the suite applications")
    found: dict[str, list[dict[str, bool]]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as homes, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(viewport=_PAGE)
        for half, root, exclude, questions in _asked(parser.parse_args().applications):
            home = Path(homes, root.name)
            with closing(Engine(home, device="cpu")) as engine, running_site(home) as address:
                engine.index(root, IndexOptions(exclude=exclude))
                session = engine.session(Scope((root,)), AS_INDEXED)
                for text, answers in questions.items():
                    on_page = bool(_definitions_on(page, address, text) & answers)
                    found[half].append({**_visible(session, root, text, answers), "page": on_page})
    rows = {
        half: {
            "questions": len(of_half),
            **{name: round(fmean(one[name] for one in of_half), 3) for name in of_half[0]},
        }
        for half, of_half in found.items()
    }
    record("screen", rows, flat=True)


def _asked(data: Path) -> Iterator[tuple[str, Path, tuple[str, ...], dict[str, set[Answer]]]]:
    for half in applications.HALVES:
        for package, questions in applications.read_questions(half).items():
            answers = {}
            for text, answer in questions.items():
                path, line, _ = answer.split(":", 2)
                answers[text] = {(path, int(line))}
            yield f"applications, {half}", (data / "packages" / package).resolve(), (), answers
    queries, right = read_questions("python")
    answers = {text: {tuple(one.rsplit(":", 1)) for one in right[query]} for query, text in queries.items()}
    yield "known-items", Path(sysconfig.get_path("stdlib")).resolve(), ("site-packages",), answers


def _visible(session: Session, root: Path, text: str, answers: set[Answer]) -> dict[str, bool]:
    found = {}
    for width, height in _SIZES:
        terminal = Terminal(root, is_terminal=True, width=width, height=height)
        rows, columns = screen_rows(terminal), columns_of(terminal)
        answer = session.search(SearchRequest(text, by_file=True, screen=rows, columns=columns))
        shown = render(answer, "text", terminal, color="never").splitlines()[: height - 2]
        found[f"{width} x {height}"] = _shows(answer, shown, answers)
    return found


def _definitions_on(page: Any, address: str, text: str) -> set[Answer]:  # noqa: ANN401 - playwright is an extra.
    """Return the definitions that the page shows for a query, by their lines and by their names."""
    page.goto(f"{address}?{urlencode({'q': text})}")
    page.wait_for_function("(text) => document.querySelector('#hits').dataset.query === text", arg=text)
    shown = set[Answer]()
    for href, name in page.evaluate(_ON_PAGE):
        path = parse_qs(urlsplit(href).query)["path"][0]
        shown |= {(path, int(href.rpartition("#L")[2].partition("-")[0])), (path, name)}
    return shown


def _shows(answer: EngineAnswer, rows: list[str], answers: set[Answer]) -> bool:
    right = {
        (Path(one.path).name, one.start_line)
        for one in answer.screen
        if answers & {(one.path, one.start_line), (one.path, one.name)}
    }
    return not right.isdisjoint(_places(rows))


def _places(rows: list[str]) -> Iterator[tuple[str, int]]:
    """Yield the name of the file and the line of each definition that some rows show."""
    file = ""
    for row in rows:
        if heading := _HEADING.match(row):
            file = heading[2]
            yield file, int(heading[3])
        elif _OTHERS.match(row):
            yield from ((file, int(line)) for line in _OTHER.findall(row))


if __name__ == "__main__":
    main()
