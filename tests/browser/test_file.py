"""A file: its outline, links to lines, long files, and more lines of a hit."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, urlencode, urlsplit

import pytest

from codesearch.engine.engine import Engine
from tests.browser.reading import focused, names, opened, wait_for
from tests.browser.service import running_site
from tests.conftest import write_tree

pytestmark = pytest.mark.browser
Open = Callable[..., Any]
COUNT = 3_000
"""Lines of the long file."""


def file_address(root: Path, path: str, lines: str = "", **params: str) -> str:
    return f"file?{urlencode({'root': str(root), 'path': path, **params})}{lines}"


def selected(page: Any) -> list[str]:
    return [line.get_attribute("id") for line in page.locator(".line.selected").all()]


def test_a_link_to_lines_shows_them_with_their_definition_and_the_words_of_the_query(open_page, tree):
    page = open_page(file_address(tree, "shop/numbers.py", "#L10-L11", q="summing prices"))
    opened(page, "Basket.total_price")
    assert selected(page) == ["L10", "L11"]
    assert page.locator("#selection .facts").inner_text() == "method · 3 lines"
    assert page.locator("#L12 mark").all_inner_texts() == ["sum", "price"]
    assert page.title() == "shop/numbers.py:10 – codesearch"
    page.keyboard.press("Escape")
    wait_for(page, "summing prices")


def test_the_outline_nests_members_and_leads_to_them(open_page, tree):
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


def test_numbers_of_lines_are_links_and_shift_extends_them(open_page, tree):
    page = open_page(file_address(tree, "shop/copying.py"))
    page.locator("#L6 .number").click()
    assert (selected(page), page.url.rpartition("#")[2]) == (["L6"], "L6")
    page.locator("#L4 .number").click(modifiers=["Shift"])
    assert (selected(page), page.url.rpartition("#")[2]) == (["L4", "L5", "L6"], "L4-L6")
    assert page.locator("#L4 .number").evaluate("link => link.href") == page.url.replace("#L4-L6", "#L4")
    again = open_page(page.url)
    opened(again, "copy_tree")
    assert selected(again) == ["L4", "L5", "L6"]


def test_hits_of_the_file_are_marked_in_the_outline(open_page):
    page = open_page("?q=copy")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    opened(page, "copy_tree")
    assert page.locator(".outline a.found").all_inner_texts() == ["copy_tree", "copy_file"]
    assert page.locator(".line.found").count() == 2


def test_names_in_code_lead_to_their_usages(open_page, tree):
    page = open_page(file_address(tree, "shop/copying.py", q="copy"))
    page.locator("#L4 .use", has_text="copy_tree").click()
    page.wait_for_selector("#list .about:not(.hidden-text)")
    assert page.locator("#list-title").inner_text() == "Usages of copy_tree"
    assert page.locator("#summary").inner_text() == "No usages"
    assert names(page) == ["copy_tree"]
    assert page.locator(".hit .facts").inner_text() == "definition · function · 5 lines"
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    opened(page, "copy_tree")
    page.locator("#L7 .use", has_text="target").click()
    page.wait_for_function("() => document.querySelector('#hits').dataset.query === 'target'")
    assert page.locator(".hit mark").count() > 3
    assert page.locator(".grade h2").all_inner_texts() == ["no definition"]
    assert page.locator("#summary").inner_text() == "6 usages in 1 file: 6 no definition"
    page.locator(".hit .number").first.click()
    page.wait_for_selector("#file:not([hidden])")
    page.keyboard.press("Escape")
    page.wait_for_selector("#list:not([hidden])")
    assert page.locator("#list-title").inner_text() == "Usages of target"
    page.goto(f"?view=usages&in={quote(str(tree))}&name=Basket.target")
    page.wait_for_function("() => document.querySelector('#hits').dataset.query === 'Basket.target'")
    note = "Basket does not define target: these are all lines with the name."
    assert page.locator("#notes").inner_text() == note


def test_usages_of_a_hit_are_those_of_its_definition(open_page):
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


def test_the_tree_has_the_files_around_and_leads_to_them(open_page, tree):
    page = open_page(file_address(tree, "shop/numbers.py"))
    files = page.get_by_role("navigation", name="Files")
    page.wait_for_selector(".tree a[aria-current]")
    assert files.locator("[aria-current]").inner_text() == "numbers.py"
    assert files.locator("a:visible").all_inner_texts() == ["copying.py", "numbers.py"]
    files.get_by_text("docs", exact=True).click()
    files.get_by_role("link", name="guide.md").click()
    page.wait_for_function("() => document.querySelector('#file h1').innerText === 'docs/guide.md'")
    assert files.locator("[aria-current]").inner_text() == "guide.md"


def test_a_link_on_a_phone_shows_the_path_and_the_way_back(open_page, long_site):
    site, root = long_site
    page = open_page(file_address(root, "long.py", "#L700"), base=site, width=390, height=844)
    opened(page, "f700")
    assert page.evaluate("document.querySelector('#L700').getBoundingClientRect().top") > 120
    for selector in ("#file h1", "#file .back"):
        box = page.locator(selector).bounding_box()
        assert 80 < box["y"] < 140
    page.get_by_role("button", name="Back").click()
    page.wait_for_selector("#home:not([hidden])")


def test_back_returns_to_the_hits_with_their_filters(open_page):
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
    assert len([url for url in page.watched.requests if "/api/v1/file" in url and "last=" not in url]) == 2


def test_a_file_that_is_not_indexed_is_an_error_in_one_line(open_page, tree):
    page = open_page()
    page.goto(file_address(tree, "../secret.py"))
    page.wait_for_selector("#error:not([hidden])")
    assert "../secret.py is not in the index of" in page.locator("#error").inner_text()
    page.watched.errors.clear()


@pytest.fixture(scope="module")
def long_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    text = "".join(f"def f{number}(): return {number}\n" for number in range(1, COUNT + 1))
    root = write_tree(tmp_path_factory.mktemp("long") / "project", {"long.py": text, "README.md": "# Long\n"})
    home = tmp_path_factory.mktemp("long-home")
    engine = Engine(home)
    engine.index(root)
    engine.close()
    with running_site(home) as address:
        yield address, root


def test_a_long_file_is_all_there_for_the_search_of_the_browser(open_page, long_site):
    site, root = long_site
    page = open_page(file_address(root, "long.py", "#L1500"), base=site)
    page.wait_for_selector("#L1500 .t-keyword")  # Lines get their colours when they are seen.
    assert (page.locator(".line").count(), selected(page)) == (COUNT, ["L1500"])
    assert page.locator("#L1 .t-keyword").count() == 0
    line = "find('f2999') && getSelection().anchorNode.parentElement.closest('.line').id"
    assert page.evaluate(line) == "L2999"
    page.wait_for_selector("#L2999 .t-keyword")


def test_the_lines_of_a_huge_file_that_are_shown_are_named(open_page, tree):
    page = open_page()

    def huge(route: Any) -> None:
        route.fulfill(json={**route.fetch().json(), "line_count": 90_000})

    page.route("**/api/v1/file?*", huge)
    page.goto(file_address(tree, "shop/copying.py"))
    page.wait_for_selector("#file .note")
    assert page.locator("#file .note").inner_text() == "Lines 1 to 14 are shown."


def test_the_outline_has_a_filter(open_page, long_site):
    site, root = long_site
    page = open_page(file_address(root, "long.py"), base=site)
    page.wait_for_selector("#file h1")
    assert page.locator(".outline .hint").inner_text() == "1,000 more definitions not listed"
    page.get_by_role("textbox", name="Filter the outline").fill("F199")
    shown = page.locator(".outline li:visible").all_inner_texts()
    assert shown == ["f199", *(f"f{number}" for number in range(1990, 2000))]


def test_text_that_is_not_indexed_can_be_opened_and_is_in_the_tree(open_page, long_site):
    site, root = long_site
    page = open_page(file_address(root, "README.md"), base=site)
    page.wait_for_selector(".tree a[aria-current]")
    assert page.locator(".tree a").all_inner_texts() == ["README.md", "long.py"]
    assert page.locator("#file .line").all_inner_texts() == ["# Long\n"]
    assert page.locator(".outline").count() == 0


def test_folders_of_a_path_are_links_to_what_the_query_finds_there(open_page, tree):
    page = open_page(file_address(tree, "shop/copying.py", q="copy"))
    page.locator("#file h1").get_by_role("link", name="shop/").click()
    wait_for(page, "copy")
    place = parse_qs(urlsplit(page.url).query)
    assert (place["q"], place["path"]) == (["copy"], ["shop/"])
    assert {text[:5] for text in page.locator(".hit .place").all_text_contents()} == {"shop/"}


def test_the_history_of_a_file_keeps_the_query_and_shows_diffs_in_place(open_page, tree):
    page = open_page(file_address(tree, "shop/copying.py", q="copy"))
    commit = {
        "rank": 1,
        "id": "a" * 40,
        "date": "2026-01-02",
        "author": "Ada <ada@x>",
        "subject": "Copy files",
    }
    commit |= {"body": "", "paths": ["shop/copying.py"]}
    found = {"hits": [commit], "commits": 5, "shallow": False, "top": "/x"}
    page.route("**/api/v1/history?*", lambda route: route.fulfill(json=found))
    head = ["diff --git a/a b/a", "--- a/a", "+++ b/a", "@@ -1 +1 @@"]
    diff = ["2026-01-02  aaa  Ada", *head, "-old", "+new <b>", " same"]
    page.route("**/api/v1/diff?*", lambda route: route.fulfill(json={"lines": diff}))
    page.get_by_role("link", name="History of shop/copying.py").click()
    page.wait_for_selector("#list:not([hidden]) .hit")
    assert page.locator("#list-title").inner_text() == "History of shop/copying.py"
    assert page.locator("#query").input_value() == "copy"
    (asked,) = [url for url in page.watched.requests if "/api/v1/history" in url]
    sent = parse_qs(urlsplit(asked).query)
    assert (sent["path"], "q" in sent) == (["shop/copying.py"], False)
    page.locator(".hit summary").click()
    page.wait_for_selector(".diff .line")
    assert page.locator(".diff .line").all_inner_texts() == [f"{line}\n" for line in diff[1:]]
    assert page.locator(".diff .added").inner_text() == "+new <b>\n"
    assert page.locator(".diff .hunk").count() == len(head)
    (asked,) = [parse_qs(urlsplit(url).query) for url in page.watched.requests if "/api/v1/diff" in url]
    assert (asked["id"], asked["path"]) == (["a" * 40], ["shop/copying.py"])
    diff[1:] = ["Copy files"]
    page.reload()
    page.locator(".hit summary").click()
    page.locator(
        ".diff", has_text="No diff: this is the first commit, or it changed nothing here."
    ).wait_for()
    page.keyboard.press("Escape")
    opened_path = "() => document.querySelector('#file h1')?.checkVisibility()"
    page.wait_for_function(opened_path)


def test_n_leads_through_the_names_of_the_selected_lines(open_page, tree):
    page = open_page(file_address(tree, "shop/copying.py", "#L13"))
    opened(page, "copy_file")
    for name in ("target", "write", "source"):
        page.keyboard.press("n")
        assert focused(page) == name
    page.keyboard.press("N")
    assert focused(page) == "write"
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelector('#list-title code')?.textContent === 'write'")


def test_a_very_long_name_of_a_definition_does_not_widen_a_phone(open_page, tree):
    page = open_page(width=390, height=844)

    def long(route: Any) -> None:
        answer = route.fetch().json()
        answer["definitions"][0]["qualified_name"] = "LONGNAME" * 20
        route.fulfill(json=answer)

    page.route("**/api/v1/file?*", long)
    page.goto(file_address(tree, "shop/numbers.py", "#L2"))
    opened(page, "LONGNAME" * 20)
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") == 0


def test_a_line_behind_the_end_of_a_file_is_not_there(open_page, tree):
    page = open_page(file_address(tree, "shop/copying.py", "#L99999"))
    page.wait_for_selector("#selection .note")
    assert page.locator("#selection .note").inner_text() == "There is no line 99999: the file has 14 lines."
    assert (selected(page), page.locator(".line").count()) == ([], 14)


def test_an_unknown_address_says_so_as_a_page(open_page):
    page = open_page()
    page.goto("./nothing/here")
    page.wait_for_selector("h1")
    assert page.locator("h1").inner_text() == "There is no page at this address"
    page.get_by_role("link", name="Search code").click()
    page.wait_for_selector("#home:not([hidden])")
    page.watched.errors.clear()
