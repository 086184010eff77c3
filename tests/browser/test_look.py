"""Light and dark, narrow screens, and what people with other senses and devices get."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.browser.reading import search, settle

pytestmark = pytest.mark.browser
Open = Callable[..., Any]
BROKEN_WORDS = """() => {
    for (const hit of document.querySelectorAll(".hit")) hit.style.contentVisibility = "visible";
    const broken = [];
    const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        if (!node.parentElement.checkVisibility()) continue;
        for (const word of node.data.matchAll(/[\\p{L}\\p{N}]+/gu)) {
            const range = document.createRange();
            range.setStart(node, word.index);
            range.setEnd(node, word.index + word[0].length);
            if (new Set([...range.getClientRects()].map(({ top }) => top)).size > 1) broken.push(word[0]);
        }
    }
    return broken;
}"""


def test_the_theme_follows_the_system(open_page):
    page = open_page(color_scheme="dark")
    background = "getComputedStyle(document.documentElement).backgroundColor"
    assert page.evaluate(background) == "rgb(15, 18, 22)"
    page.emulate_media(color_scheme="light")
    assert page.evaluate(background) == "rgb(255, 255, 255)"


def test_a_narrow_screen_never_scrolls_sideways(open_page):
    page = open_page("?q=renderHostile", width=360, height=700)
    overflow = "document.documentElement.scrollWidth - innerWidth"
    assert page.evaluate(overflow) == 0
    page.get_by_role("button", name="Filters").click()
    assert page.get_by_role("checkbox", name="python").is_visible()
    assert page.evaluate(overflow) == 0
    page.get_by_role("button", name="Filters").click()
    page.locator(".name").first.click()
    page.wait_for_selector("#file h1")
    assert page.evaluate(overflow) == 0
    assert page.evaluate(
        "(code => code.scrollWidth > code.clientWidth)(document.querySelector('#file .code'))"
    )
    page.locator("#start").click()
    page.wait_for_selector("#home:not([hidden])")
    assert page.evaluate(overflow) == 0
    for dialog in ("Settings", "Keys"):
        page.get_by_role("button", name=dialog).click()
        assert page.evaluate(overflow) == 0
        page.keyboard.press("Escape")


def test_a_long_path_in_one_of_two_folders_of_one_name_does_not_widen_a_narrow_screen(open_page):
    page = open_page(width=390, height=844)

    def long_paths(route: Any) -> None:
        answer = route.fetch().json()
        answer["roots"].append("/another-folder/project")
        for hit in answer["hits"]:
            hit |= {"path": "shop/tests/test_that_has_a_long_name.py", "root": "/another-folder/project"}
        route.fulfill(json=answer)

    page.route("**/api/v1/search?*", long_paths)
    page.goto("?q=copy")
    page.wait_for_selector(".hit .root")
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") == 0
    assert "another-folder/project" in page.locator(".hit .root").first.inner_text()


def test_a_narrow_screen_breaks_no_word(open_page):
    page = open_page(width=390, height=844)
    for address in ("?q=copy&lang=python", "?q=renderHostile", "./", "?q=copy&lang=go"):
        page.goto(address)
        page.wait_for_selector("main > section:not([hidden]), #error:not([hidden])")
        assert page.evaluate(BROKEN_WORDS) == []


@pytest.mark.parametrize("width", [390, 1280])
def test_a_very_long_name_and_path_stay_on_the_screen_and_break_between_words(open_page, width):
    page = open_page(width=width, height=844)
    name = "AbstractProxyFactoryBeanConfigurationManager.closeConnectionPools"

    def long(route: Any) -> None:
        answer = route.fetch().json()
        first, second, *_ = answer["hits"]
        first |= {"path": f"shop/{name.replace('.', '')}Implementation.java", "label": [name, "()"]}
        second |= {"label": ["LONGNAME" * 20, ""], "path": f"{'longfile' * 20}.py"}
        route.fulfill(json={**answer, "hits": [first, second]})

    page.route("**/api/v1/search?*", long)
    page.goto("?q=copy")
    page.wait_for_selector(".hit")
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") == 0
    words = page.locator(".hit").first.locator("h2 .word")
    assert words.all_text_contents() == [f"{name.partition('.')[0]}.", "closeConnectionPools"]
    one_line = "words => words.map((word) => word.getBoundingClientRect().height)"
    assert set(words.evaluate_all(one_line)) == {22}
    boxes = (
        page.locator(".hit")
        .first.locator(".head > *:not(.actions)")
        .evaluate_all(
            """all => all.map((one) => one.getBoundingClientRect())
            .map(({ left, right, top, bottom }) => [left, right, top, bottom])"""
        )
    )
    for at, (left, right, top, bottom) in enumerate(boxes):
        for other in boxes[at + 1 :]:
            assert right <= other[0] or other[1] <= left or bottom <= other[2] or other[3] <= top


def test_hits_are_a_list_of_articles_with_distinct_controls(open_page):
    page = open_page("?q=copy_tree")
    first = page.get_by_role("region", name="Results").get_by_role("article", name="copy_tree", exact=True)
    assert first.get_by_role("heading", level=2).inner_text() == "copy_tree"
    controls = [first.get_by_role("link").first, *first.locator(".actions > *").all()]
    assert [control.get_attribute("aria-label") for control in controls] == [
        "copy_tree",
        "Similar to copy_tree",
        "Usages of copy_tree",
        "Editor: open copying.py:4",
        "Copy copying.py:4",
    ]


def test_the_number_of_hits_is_announced_once_typing_stops(open_page):
    page = open_page(is_alone=True)
    page.evaluate(
        """() => {
            window.told = [];
            new MutationObserver(() => window.told.push(document.querySelector("#live").textContent))
                .observe(document.querySelector("#live"), { childList: true });
        }"""
    )
    page.clock.pause_at(page.evaluate("Date.now() + 3_600_000"))  # Only the test lets time pass for timers.
    search(page, "copy")
    search(page, "copy_file")
    assert page.evaluate("window.told.length") == 0
    page.clock.run_for(5_000)
    page.wait_for_function("() => window.told.length")
    assert page.evaluate("window.told.length") == 1
    assert " hits from " in page.get_by_role("status").first.inner_text()


def test_tab_reaches_every_control_in_order_and_shows_where_it_is(open_page):
    page = open_page("?q=median&lang=python&kind=function")
    reached = []
    for _ in range(60):
        page.keyboard.press("Tab")
        name, outline = page.evaluate(
            """() => {
                const element = document.activeElement;
                return [element === document.body ? "" : element.getAttribute("aria-label") || element.id
                    || element.value || element.textContent, getComputedStyle(element).outlineStyle];
            }"""
        )
        if not name:
            break
        reached.append(name)
        assert outline != "none", name
    controls = "open-settings open-help group python function path mode".split()
    of_hit = [
        "median",
        "Code of median",
        "Similar to median",
        "Usages of median",
        "Editor: open numbers.py:1",
        "Copy numbers.py:1",
    ]
    wanted = ["query", *controls, "Remove Kind function", "clear-filters", *of_hit]
    assert [name for name in reached if name in wanted] == wanted


AXE = """async rules => (await axe.run(rules)).violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`)"""


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
def test_axe_finds_no_violation(open_page, tree, width, scheme):
    """Contrasts, and the names and roles of controls, are among what it checks."""
    axe = pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")
    source = Path(axe.__path__[0], "axe.min.js").read_text("utf-8")
    page = open_page(width=width, height=844, color_scheme=scheme)
    found = {}

    def check(state: str) -> None:
        if page.evaluate("!window.axe"):
            page.evaluate(source)
        found[state] = page.evaluate(AXE, {})
        if scheme == "light":
            page.emulate_media(color_scheme="dark")
            found[f"{state}, dark"] = page.evaluate(AXE, {"runOnly": ["color-contrast"]})
            page.emulate_media(color_scheme=scheme)

    check("start")
    for dialog in ("Settings", "Keys"):
        page.get_by_role("button", name=dialog).click()
        check(dialog)
        page.keyboard.press("Escape")
    search(page, "copy")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    page.wait_for_selector(".unfolded .line")
    if width > 1100:
        page.wait_for_selector("#preview .line")
    check("unfolded hit, its file beside the list")
    page.locator("#query").fill("copy lang:")
    page.wait_for_selector("#completions:not([hidden])")
    check("completions")
    for state, address in {
        "no hit": "?q=copy&lang=go",
        "lines": "?q=target&mode=exact",
        "usages": f"?view=usages&in={tree}&name=target",
        "similar": f"?view=similar&in={tree}&file=shop/copying.py&line=4",
        "file": f"file?root={tree}&path=shop/copying.py&q=copy#L4-L8",
        "error": f"file?root={tree}&path=nothing",
    }.items():
        page.goto(f"./{address}")
        page.wait_for_selector(".hit, .note, #file h1, #error:not([hidden])")
        settle(page)
        check(state)
    page.watched.errors.clear()
    assert {state: violations for state, violations in found.items() if violations} == {}
