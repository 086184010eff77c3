"""Chromium, a service over a small tree with hostile names, and pages that record errors and requests."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from codesearch.config import IndexOptions
from codesearch.engine.engine import Engine
from tests.browser.service import running_site
from tests.command import TIMEOUT
from tests.conftest import write_tree

CHROMIUM = "/usr/bin/chromium"
FLAGS = (
    "--no-sandbox --disable-gpu --disable-background-networking --disable-component-update "
    "--disable-sync --no-first-run --process-per-site --renderer-process-limit=1"
).split()
HOSTILE = "<img src=x onerror=document.title='owned'>"
TREE = {
    "shop/copying.py": '''"""Copies."""


def copy_tree(source, target):
    """Copy a directory tree to another place."""
    for entry in source:
        target.append(entry)
    return target


def copy_file(source, target):
    """Copy one file and its permissions."""
    target.write(source.read())
    return target
''',
    "shop/numbers.py": '''def median(values):
    """Return the median of a list of numbers."""
    ordered = sorted(values)
    return ordered[len(ordered) // 2]


class Basket:
    """Hold items until the customer pays."""

    def total_price(self):
        """Add up the prices of all items."""
        return sum(item.price for item in self.items)
''',
    "web/copy.js": """// Copy an object with everything in it.
function deepCopy(value) {
  return JSON.parse(JSON.stringify(value));
}
""",
    "docs/guide.md": "# Copying files\n\nCopy a directory tree with the shop.\n",
    f"{HOSTILE}/<script>.js": """// Render </script><script>document.title='owned'</script> as a page.
function renderHostile(name) {
  const wide = "0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789";
  const reversed = "\u202e\u2066";
  return "<img src=x onerror=document.title='owned'><script>document.title='owned'</script>" + name + wide;
}
""",
}


@dataclass
class Watched:
    """Errors and warnings of a page, and the addresses that it requested."""

    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def searches(self) -> list[str]:
        return [url for url in self.requests if "/api/v1/search" in url]


@pytest.fixture(scope="package")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tree(tmp_path_factory.mktemp("web") / "project", TREE)


@pytest.fixture(scope="package")
def site(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the address of a service that searches the tree; its user has the group `sales`, a folder of the tree."""
    for package in ("pydantic", "starlette", "uvicorn"):
        pytest.importorskip(package, reason=f"{package} is not installed")
    home = tmp_path_factory.mktemp("web-home")
    engine = Engine(home)
    engine.index(tree, IndexOptions(content="all"))
    engine.close()
    config = tmp_path_factory.mktemp("web-config")
    write_tree(config, {"codesearch/config.toml": f'[groups]\nsales = ["{tree}/shop"]\n'})
    with running_site(home, XDG_CONFIG_HOME=str(config)) as address:
        yield address


@pytest.fixture(scope="package")
def empty_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the address of a service without an index."""
    with running_site(tmp_path_factory.mktemp("empty-home")) as address:
        yield address


# The scope is not the session: while Playwright runs, no other test can start an event loop.
@pytest.fixture(scope="package")
def browser() -> Iterator[Any]:
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if not os.access(CHROMIUM, os.X_OK):
        pytest.skip(f"no {CHROMIUM} here")
    with api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield running
        running.close()


class Tab:
    """A page in a context of its own, for the service at an address."""

    def __init__(self, browser: Any, base: str) -> None:
        self.context = browser.new_context(base_url=base)
        self.context.set_default_timeout(1_000 * TIMEOUT)
        self.page = self.context.new_page()
        self.page.on("console", self._log)
        self.page.on("pageerror", lambda error: self.page.watched.errors.append(str(error)))
        self.page.on("request", lambda request: self.page.watched.requests.append(request.url))

    def _log(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.page.watched.errors.append(message.text)

    def leave(self) -> None:
        """Leave nothing for the next test: no route, nothing stored, and a page without scripts."""
        self.page.unroute_all(behavior="ignoreErrors")
        self.page.evaluate("localStorage.clear()")
        self.page.goto("about:blank")


@pytest.fixture(scope="package")
def tabs(browser: Any) -> Iterator[dict[str, Tab]]:
    """Yield the tab of each service. All tests have the same one, because a new window takes a second."""
    made: dict[str, Tab] = {}
    yield made
    for tab in made.values():
        tab.context.close()


@pytest.fixture
def open_page(browser: Any, tabs: dict[str, Tab], site: str) -> Iterator[Callable[..., Any]]:
    """Open the page at an address below the site, and record in `watched`. No test may cause errors.

    A second page of one test is in another window, and so is one that `is_alone`, because of its clock.
    """
    used: list[tuple[str, Tab]] = []

    def open_at(address="", *, base=site, width=1280, height=800, color_scheme="light", is_alone=False):
        if base not in tabs:
            tabs[base] = Tab(browser, base)
        tab = Tab(browser, base) if used or is_alone else tabs[base]
        used.append((base, tab))
        page = tab.page
        page.watched = Watched()
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=color_scheme)
        page.goto(address or "./")
        page.wait_for_selector("main > section:not([hidden]), #error:not([hidden])")
        return page

    yield open_at
    for base, tab in used:
        tab.leave() if tab in tabs.values() else tab.context.close()
        assert tab.page.watched.errors == []
        assert [url for url in tab.page.watched.requests if not url.startswith(base)] == []
