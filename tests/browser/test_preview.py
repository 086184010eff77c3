"""The file of the selected hit, beside the list of a wide window."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from tests.browser.reading import focused, names, opened
from tests.browser.test_searching import BARE_HIT, EMPTY, answered
from tests.command import until

pytestmark = pytest.mark.browser
Open = Callable[..., Any]
LATER = "new Promise((done) => { setTimeout(done, 300); })"
"""Wait in the page for longer than it waits with its request."""


def files_asked(page: Any) -> list[str]:
    return [url for url in page.watched.requests if "/api/v1/file?" in url]


def numbers(page: Any, mark: str) -> list[int]:
    """Return the numbers of the lines of the preview with a mark."""
    numbers = page.locator(f"#preview .line.{mark} .number")
    return numbers.evaluate_all("all => all.map(({ dataset }) => Number(dataset.line))")


def previewed(page: Any, place: str) -> None:
    """Wait until the preview shows a place."""
    page.locator("#preview h2 a", has_text=place).wait_for()


def test_the_selected_hit_shows_its_file_beside_the_list(open_page):
    page = open_page("?q=copy")
    preview = page.get_by_role("region", name="Preview")
    page.locator(".hit").nth(1).hover()
    assert not preview.is_visible()
    assert files_asked(page) == []
    page.keyboard.press("ArrowDown")
    previewed(page, "shop/copying.py:4")
    assert numbers(page, "selected") == list(range(4, 9))
    assert preview.locator(".line").count() == 14
    right = page.locator("#list").bounding_box()["x"] + page.locator("#list").bounding_box()["width"]
    box = preview.bounding_box()
    assert right <= box["x"]
    assert box["x"] + box["width"] <= 1280
    other = page.locator(".others li").first
    other.locator("a").focus()
    previewed(page, f"shop/copying.py:{other.locator('.at').inner_text()}")
    preview.get_by_role("link").first.click()
    page.wait_for_selector("#file h1")
    assert not preview.is_visible()
    page.keyboard.press("Escape")
    page.wait_for_selector("#list:not([hidden])")
    assert preview.is_visible()
    page.locator("#query").fill("median")
    page.wait_for_selector("#preview", state="hidden")  # No hit of the new answer is selected.


def test_a_click_on_a_row_selects_it_and_the_list_does_not_move_below_a_click(open_page):
    page = open_page("?q=copy")
    last = page.locator(".hit").last
    last.locator(".unfold").first.click()
    link = last.locator(".name").bounding_box()
    page.mouse.move(link["x"] + 5, link["y"] + 5)
    page.mouse.down()
    assert last.get_attribute("class") == "hit current"
    assert not page.locator("#preview").is_visible()
    page.mouse.move(5, 5)
    page.mouse.up()
    assert files_asked(page)[1:] == []  # Only the code that is unfolded.
    last.locator(".head > .facts").click()
    previewed(page, last.locator(".place .file").inner_text())
    last.locator(".name").click()
    opened(page, names(page)[-1])


def test_a_window_that_is_not_wide_has_no_preview(open_page):
    page = open_page("?q=copy", width=1099)
    width = page.locator("#list").bounding_box()["width"]
    page.keyboard.press("ArrowDown")
    page.evaluate(LATER)
    assert not page.locator("#preview").is_visible()
    assert files_asked(page) == []
    assert page.locator("#list").bounding_box()["width"] == width


def test_only_the_file_of_the_last_selected_hit_is_shown(open_page):
    page = open_page("?q=copy")
    held: list[Any] = []
    failed: list[tuple[str, str]] = []
    page.on("requestfailed", lambda request: failed.append((request.url, request.failure)))
    page.route("**/api/v1/file?*", lambda route: route.continue_() if held else held.append(route))
    page.keyboard.press("ArrowDown")
    assert page.locator("#preview").inner_text() == "Loading …"
    until(lambda: held, pause=lambda: page.wait_for_timeout(10))
    assert page.locator("#preview").get_attribute("aria-busy") == "true"
    page.keyboard.press("j")
    until(lambda: failed, pause=lambda: page.wait_for_timeout(10))
    assert failed == [(held[0].request.url, "net::ERR_ABORTED")]
    held[0].abort()
    page.locator("#preview .line").first.wait_for()
    assert page.locator("#preview").get_attribute("aria-busy") == "false"
    file = page.locator(".hit .place .file").nth(1).inner_text()
    assert page.locator("#preview h2").inner_text().endswith(file)
    before = len(files_asked(page))
    page.evaluate(
        "document.querySelectorAll('.hit .name').forEach((name) => name.focus())"
    )  # As if a key is held.
    previewed(page, page.locator(".hit .place .file").last.inner_text())
    assert len(files_asked(page)) == before + 1


def test_a_long_definition_is_shown_at_its_passage(open_page):
    page = open_page("?q=copy")
    lines = [{"line": at, "text": "step", "tokens": [["text", "step"]]} for at in range(101, 701)]
    file = {**EMPTY["file"], "path": "a.py", "lines": lines, "line_count": 2_000}
    hit = {**BARE_HIT, "path": "a.py", "label": ["drain", ""], "start_line": 210, "end_line": 400}
    hit |= {"last_line": 400, "passages": [{"start_line": 301, "end_line": 312}]}
    page.route("**/api/v1/search?*", partial(answered, {**EMPTY["search"], "hits": [hit]}))
    page.route("**/api/v1/file?*", partial(answered, file))
    page.goto("./?q=drain")
    page.wait_for_selector(".hit")
    page.keyboard.press("j")
    previewed(page, "a.py:210")
    assert "first=101&last=700" in files_asked(page)[-1]
    assert page.locator("#preview .facts").inner_text() == "text · lines 101 to 700 of 2,000 lines"
    assert numbers(page, "selected") == list(range(210, 401))
    assert numbers(page, "found") == list(range(301, 313))
    first, code = (
        page.locator("#preview .found").first.bounding_box(),
        page.locator("#preview pre").bounding_box(),
    )
    assert code["y"] < first["y"] < code["y"] + 100
    assert page.evaluate("scrollY") == 0


def test_a_file_that_is_gone_is_named_in_the_preview_and_announced(open_page):
    page = open_page("?q=copy")
    error = {"error": {"message": "copying.py is not in the index", "cure": "run `codesearch index`"}}
    page.route("**/api/v1/file?*", lambda route: route.fulfill(status=404, json=error))
    page.keyboard.press("ArrowDown")
    previewed(page, "shop/copying.py:4")
    assert (
        page.locator("#preview .note").inner_text() == "copying.py is not in the index: run codesearch index"
    )
    assert page.locator("#preview pre").count() == 0
    page.get_by_role("status").get_by_text("copying.py is not in the index").wait_for()
    assert len(names(page)) > 1
    page.watched.errors.clear()


def test_keys_go_to_the_preview_and_back_and_it_stays_closed(open_page):
    page = open_page("?q=copy")
    page.keyboard.press("ArrowDown")
    previewed(page, "shop/copying.py:4")
    page.keyboard.press("p")
    assert page.evaluate("document.activeElement.ariaLabel") == "Code of shop/copying.py"
    page.keyboard.press("ArrowDown")  # It scrolls the code.
    page.keyboard.press("n")
    assert page.evaluate("document.activeElement.closest('#preview .selected') !== null")
    page.keyboard.press("Escape")
    assert focused(page) == names(page)[0]
    page.get_by_role("button", name="Close the preview").click()
    assert focused(page) == names(page)[0]
    page.keyboard.press("j")
    page.keyboard.press("k")
    assert not page.locator("#preview").is_visible()
    page.reload()
    page.wait_for_selector(".hit")
    page.keyboard.press("ArrowDown")
    assert not page.locator("#preview").is_visible()
    page.keyboard.press("p")
    previewed(page, "shop/copying.py:4")
