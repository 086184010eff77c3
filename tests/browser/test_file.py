"""A file: its outline, links to lines, long files, and more lines of a hit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from codesearch.engine.engine import Engine
from tests.browser.reading import focused, names, opened, wait_for
from tests.browser.service import running_site
from tests.conftest import write_tree

pytestmark = pytest.mark.browser
Open = Callable[..., Any]
COUNT = 9_000
"""Lines of the long file."""


def file_address(root: Path, path: str, lines: str = "", **params: str) -> str:
    return f"file?{urlencode({'root': str(root), 'path': path, **params})}{lines}"


def selected(page: Any) -> list[str]:
    return [line.get_attribute("id") for line in page.locator(".line.selected").all()]


def test_a_link_to_lines_shows_them_with_their_definition_and_the_words_of_the_query(
    open_page: Open, tree: Path
) -> None:
    page = open_page(file_address(tree, "shop/numbers.py", "#L10-L11", q="summing prices"))
    opened(page, "Basket.total_price")
    assert selected(page) == ["L10", "L11"]
    assert page.locator("#selection .facts").inner_text() == "method · 3 lines"
    assert page.locator("#L12 mark").all_inner_texts() == ["sum", "price"]
    assert page.title() == "shop/numbers.py:10 – codesearch"
    page.keyboard.press("Escape")
    wait_for(page, "summing prices")


def test_the_outline_nests_members_and_leads_to_them(open_page: Open, tree: Path) -> None:
    page = open_page(file_address(tree, "shop/numbers.py"))
    outline = page.get_by_role("navigation", name="Outline")
    assert outline.locator("a").all_inner_texts() == ["median", "Basket", "total_price"]
    assert outline.locator(".depth-1").all_inner_texts() == ["total_price"]
    assert page.locator("#selection .name").count() == 0
    outline.get_by_role("link", name="total_price").click()
    opened(page, "Basket.total_price")
    assert page.url.endswith("#L10-L12")
    assert outline.locator("[aria-current]").inner_text() == "total_price"
    assert len([url for url in page.watched.requests if "/api/v1/file" in url]) == 1


def test_numbers_of_lines_are_links_and_shift_extends_them(open_page: Open, tree: Path) -> None:
    page = open_page(file_address(tree, "shop/copying.py"))
    page.locator("#L6 .number").click()
    assert (selected(page), page.url.rpartition("#")[2]) == (["L6"], "L6")
    page.locator("#L4 .number").click(modifiers=["Shift"])
    assert (selected(page), page.url.rpartition("#")[2]) == (["L4", "L5", "L6"], "L4-L6")
    assert page.locator("#L4 .number").evaluate("link => link.href") == page.url.replace("#L4-L6", "#L4")
    again = open_page(page.url)
    opened(again, "copy_tree")
    assert selected(again) == ["L4", "L5", "L6"]


def test_hits_of_the_file_are_marked_in_the_outline(open_page: Open) -> None:
    page = open_page("?q=copy")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    opened(page, "copy_tree")
    assert page.locator(".outline a.found").all_inner_texts() == ["copy_tree", "copy_file"]
    assert page.locator(".line.found").count() == 2


def test_names_in_code_lead_to_their_usages(open_page: Open, tree: Path) -> None:
    page = open_page(file_address(tree, "shop/copying.py", q="copy"))
    page.locator("#L4 .use", has_text="copy_tree").click()
    page.wait_for_selector("#list .about:not(.hidden-text)")
    assert page.locator("#list-title").inner_text() == "Usages of copy_tree"
    assert page.locator("#summary").inner_text().startswith("0 usages in 0 files")
    assert names(page) == ["copy_tree"]
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    opened(page, "copy_tree")
    page.locator("#L7 .use", has_text="target").click()
    page.wait_for_function("() => document.querySelector('#hits').dataset.query === 'target'")
    assert page.locator(".others mark").count() > 3
    page.locator(".others a").first.click()
    page.wait_for_selector("#file h1")
    page.keyboard.press("Escape")
    page.wait_for_selector("#list:not([hidden])")
    assert page.locator("#list-title").inner_text() == "Usages of target"


def test_usages_of_a_hit_are_those_of_its_definition(open_page: Open) -> None:
    page = open_page("?q=copy+a+folder")
    page.locator(".hit", has=page.locator(".name", has_text="copy_tree")).get_by_role(
        "link", name="Usages"
    ).click()
    page.wait_for_selector("#list-title .every")
    assert page.locator("#list-title code").inner_text() == "copy_tree"
    place = parse_qs(urlsplit(page.url).query)
    assert (place["name"], place["file"], place["line"]) == (["copy_tree"], ["shop/copying.py"], ["4"])
    assert any("name=shop%2Fcopying.py%3A4" in url for url in page.watched.requests)
    page.locator("#list-title .every").click()
    page.wait_for_selector("#list-title:not(:has(.every))")
    assert "file=" not in page.url


def test_the_tree_has_the_files_around_and_leads_to_them(open_page: Open, tree: Path) -> None:
    page = open_page(file_address(tree, "shop/numbers.py"))
    files = page.get_by_role("navigation", name="Files")
    page.wait_for_selector(".tree a[aria-current]")
    assert files.locator("[aria-current]").inner_text() == "numbers.py"
    assert files.locator("a:visible").all_inner_texts() == ["copying.py", "numbers.py"]
    files.get_by_text("docs", exact=True).click()
    files.get_by_role("link", name="guide.md").click()
    page.wait_for_function("() => document.querySelector('#file h1').innerText === 'docs/guide.md'")
    assert files.locator("[aria-current]").inner_text() == "guide.md"


def test_a_link_on_a_phone_shows_the_path_and_the_way_back(
    open_page: Open, long_site: tuple[str, Path]
) -> None:
    site, root = long_site
    page = open_page(file_address(root, "long.py", "#L700"), base=site, width=390, height=844)
    opened(page, "f700")
    assert page.evaluate("document.querySelector('#L700').getBoundingClientRect().top") > 120
    for selector in ("#file h1", "#file .back"):
        box = page.locator(selector).bounding_box()
        assert 80 < box["y"] < 140
    page.get_by_role("button", name="Back").click()
    page.wait_for_selector("#home:not([hidden])")


def test_back_returns_to_the_hits_with_their_filters(open_page: Open) -> None:
    page = open_page("?q=copy&lang=python")
    page.locator(".name").first.click()
    page.wait_for_selector("#file h1")
    page.get_by_role("navigation", name="Outline").get_by_role("link").last.click()
    page.go_back()
    page.wait_for_selector("#list:not([hidden])")
    assert page.get_by_role("checkbox", name="python").is_checked()
    assert focused(page) == names(page)[0]
    page.keyboard.press("Enter")  # The file may have changed, so it is read again.
    opened(page, names(page)[0])
    assert len([url for url in page.watched.requests if "/api/v1/file" in url]) == 2


def test_a_file_that_is_not_indexed_is_an_error_in_one_line(open_page: Open, tree: Path) -> None:
    page = open_page()
    page.goto(file_address(tree, "../secret.py"))
    page.wait_for_selector("#error:not([hidden])")
    assert "../secret.py is not in the index of" in page.locator("#error").inner_text()
    page.watched.errors.clear()


@pytest.fixture(scope="module")
def long_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    text = "".join(f"def f{number}(): return {number}\n" for number in range(1, COUNT + 1))
    root = write_tree(tmp_path_factory.mktemp("long") / "project", {"long.py": text})
    home = tmp_path_factory.mktemp("long-home")
    engine = Engine(home)
    engine.index(root)
    engine.close()
    with running_site(home) as address:
        yield address, root


def test_a_long_file_is_shown_in_parts(open_page: Open, long_site: tuple[str, Path]) -> None:
    site, root = long_site
    page = open_page(file_address(root, "long.py", "#L5000"), base=site)
    opened(page, "f5000")
    assert (page.locator(".line").count(), selected(page)) == (2_000, ["L5000"])
    assert page.locator(".outline .hint").inner_text() == "7,000 more definitions not listed"
    page.get_by_role("link", name="2,201 lines after").click()
    page.wait_for_selector("#L8599", state="attached")
    assert selected(page) == ["L6800"]
    page.get_by_role("link", name="6,599 lines before").click()
    page.wait_for_selector("#L4600", state="attached")
    assert page.locator(".line").last.get_attribute("id") == "L6599"


def test_a_very_long_name_of_a_definition_does_not_widen_a_phone(open_page: Open, tree: Path) -> None:
    page = open_page(width=390, height=844)

    def long(route: Any) -> None:
        answer = route.fetch().json()
        answer["definitions"][0]["qualified_name"] = "LONGNAME" * 20
        route.fulfill(json=answer)

    page.route("**/api/v1/file?*", long)
    page.goto(file_address(tree, "shop/numbers.py", "#L2"))
    opened(page, "LONGNAME" * 20)
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") == 0


def test_a_line_behind_the_end_of_a_file_is_not_there(open_page: Open, tree: Path) -> None:
    page = open_page(file_address(tree, "shop/copying.py", "#L99999"))
    assert (selected(page), page.locator(".line").count()) == ([], 14)
