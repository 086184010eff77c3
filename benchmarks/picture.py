"""A real query in a real tree -> the pictures of the documentation.

`docs/query.svg` is a terminal. It needs no external font, because the width of each run of text is fixed.
The others are the web page in headless Chromium, in wide and narrow windows, light and dark.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import subprocess
import sysconfig
from pathlib import Path
from urllib.parse import urlencode

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from benchmarks.publish import DOCS
from codesearch.processes import python_command

QUERY = ("copy a directory tree", "-n", "3")
PICTURE = DOCS / "query.svg"
_WIDE, _PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
_EXACT = {"q": "os.(scandir|fwalk)\\(", "mode": "exact", "regex": "yes"}
PAGES: dict[str, tuple[dict[str, int], str, dict[str, str], str]] = {
    "web.png": (_WIDE, "light", {}, ".hit .head > .facts"),
    "web-lines.png": (_WIDE, "light", _EXACT, ""),
    "web-file.png": (_WIDE, "dark", {}, ".hit .name"),
    "web-phone.png": (_PHONE, "dark", {}, ""),
    "web-phone-file.png": (_PHONE, "light", {}, ".hit .name"),
}
"""Picture -> size of the window, theme, what the address has besides the query, and what is clicked."""
_COLOURS = 128
_FONT = "monospace"
_WIDTH = 92
_THEME = TerminalTheme(
    (30, 32, 40),
    (214, 219, 230),
    [
        (60, 64, 76),
        (236, 116, 116),
        (140, 200, 120),
        (226, 190, 110),
        (110, 160, 240),
        (200, 140, 220),
        (90, 200, 210),
        (214, 219, 230),
    ],
    [
        (120, 126, 142),
        (240, 140, 140),
        (160, 215, 140),
        (240, 205, 130),
        (130, 180, 250),
        (215, 160, 235),
        (110, 215, 225),
        (245, 247, 250),
    ],
)


def svg(query: tuple[str, ...], output: str) -> str:
    """Return the picture of a terminal with a query and what it printed, with colours as ANSI codes."""
    console = Console(record=True, width=_WIDTH, file=io.StringIO(), force_terminal=True)
    text, *options = query
    console.print(Text.assemble(("$ ", "dim"), " ".join(["codesearch query", f'"{text}"', *options])))
    console.print(Text.from_ansi(output))
    form = re.sub(r"@font-face \{\{.*?\}\}\n", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
    form = form.replace("Fira Code, monospace", _FONT)
    picture = console.export_svg(title="", theme=_THEME, code_format=form, unique_id="terminal")
    return "".join(f"{line.rstrip()}\n" for line in picture.splitlines())


def printed(tree: Path, *words: str, home: Path) -> str:
    """Return what `codesearch WORDS` prints in a folder; a query's notes come first, and its text has colours."""
    command = python_command("codesearch", *words, "--home", str(home.absolute()))
    if words[0] == "query":
        command += ["--color", "always"]
    variables = {"COLUMNS": str(_WIDTH), "TERM": "xterm-256color", "CODESEARCH_NO_SERVICE": "1"}
    done = subprocess.run(
        command, cwd=tree, env={**os.environ, **variables}, capture_output=True, text=True, check=True
    )
    return done.stderr + done.stdout


def take_pages(home: Path, query: str) -> None:
    """Write the pictures of the web page."""
    from PIL import Image
    from playwright.sync_api import sync_playwright

    from tests.browser.conftest import CHROMIUM, FLAGS
    from tests.browser.service import running_site

    with running_site(home) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for name, (size, scheme, address_of, clicked) in PAGES.items():
            page = browser.new_page(viewport=size, color_scheme=scheme)
            page.goto(f"{address}?{urlencode({'q': query, **address_of})}")
            page.wait_for_selector(".hit")
            if clicked:
                page.locator(clicked).first.click()
                page.wait_for_selector("#preview .line, .tree a[aria-current]", state="attached")
            page.screenshot(path=DOCS / name)
            Image.open(DOCS / name).quantize(_COLOURS).save(DOCS / name, optimize=True)
        browser.close()


def main() -> None:
    """Index the tree, ask, write the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tree", type=Path, default=Path(sysconfig.get_path("stdlib")))
    parser.add_argument("--home", type=Path, default=Path("build/picture"), help="folder of the index")
    arguments = parser.parse_args()
    home = arguments.home
    printed(arguments.tree, "index", ".", "--exclude", "site-packages", "--exclude", "/test/", home=home)
    output = printed(arguments.tree, "query", *QUERY, home=home)
    PICTURE.write_text(svg(QUERY, output), encoding="utf-8")
    take_pages(home, QUERY[0])


if __name__ == "__main__":
    main()
