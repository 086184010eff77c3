"""Keys, definitions, similar code, addresses, recent searches and the editor."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.browser.reading import focused, names, opened, parameters, wait_for

pytestmark = pytest.mark.browser
Open = Callable[..., Any]


def test_the_keyboard_reaches_every_hit(open_page):
    page = open_page("?q=copy")
    found = names(page)
    page.keyboard.press("j")  # The search in an address leaves the focus out of the field.
    assert focused(page) == found[0]
    page.keyboard.press("j")
    assert focused(page) == found[1]
    page.keyboard.press("ArrowDown")
    assert focused(page) == found[2]
    page.keyboard.press("k")
    page.keyboard.press("ArrowUp")
    assert focused(page) == found[0]
    page.keyboard.press("k")
    assert focused(page) == "query"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("/")
    assert focused(page) == "query"
    assert page.locator("#query").input_value() == "copy"


def test_the_search_is_the_first_tab_stop_and_a_link_leads_on_to_the_hits(open_page):
    page = open_page("?q=copy")
    page.keyboard.press("Tab")
    assert focused(page) == "query"
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert focused(page) == names(page)[0]
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.ariaLabel") == f"Code of {names(page)[0]}"


def test_letters_typed_in_a_field_are_not_commands(open_page):
    page = open_page()
    page.keyboard.type("sojky?/")
    assert page.locator("#query").input_value() == "sojky?/"
    page.get_by_role("textbox", name="Path").focus()
    page.keyboard.type("s/")
    assert page.get_by_role("textbox", name="Path").input_value() == "s/"
    assert not page.locator("#help").is_visible()


def test_enter_opens_the_file_at_its_definition_and_escape_returns(open_page):
    page = open_page()
    page.keyboard.type("copy_tree")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.activeElement.textContent === 'copy_tree'")
    page.keyboard.press("Enter")
    opened(page, "copy_tree")
    assert focused(page) == "shop/copying.py"
    selected = page.locator("#file .line.selected")
    assert [line.get_attribute("id") for line in selected.all()] == [f"L{number}" for number in range(4, 9)]
    assert selected.last.inner_text().rstrip() == "    return target"
    assert page.locator("#file .line").count() == 14
    page.keyboard.press("Escape")
    page.wait_for_selector("#list:not([hidden])")
    assert focused(page) == "copy_tree"
    page.keyboard.press("Escape")
    assert focused(page) == "query"


def test_j_and_k_go_through_hits_in_their_files(open_page):
    page = open_page("?q=copy")
    found = names(page)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    opened(page, found[0])
    page.keyboard.press("j")
    opened(page, found[1])
    page.keyboard.press("Escape")
    page.wait_for_selector("#list:not([hidden])")
    assert focused(page) == found[1]


def test_s_shows_similar_code_and_back_returns(open_page):
    page = open_page("?q=copy_tree")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("s")
    page.wait_for_selector("#list .about:not(.hidden-text)")
    assert page.locator("#list-title").inner_text() == "Similar to shop/copying.py:4"
    assert "copy_tree" not in names(page)
    assert "copy_file" in names(page)[:2]
    assert parameters(page)["view"] == ["similar"]
    page.go_back()
    wait_for(page, "copy_tree")
    assert names(page)[0] == "copy_tree"
    assert page.locator("#list .about").get_attribute("class") == "about hidden-text"


def test_an_address_shows_the_same_again(open_page):
    page = open_page("?q=copy&kind=function")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_selector("#selection .name")
    again = open_page(page.url)
    opened(again, page.locator("#selection .name").inner_text())
    assert again.locator("#query").input_value() == "copy"
    again.keyboard.press("Escape")
    wait_for(again, "copy")
    page.locator("#query").fill("copy_file")
    wait_for(page, "copy_file")
    assert parameters(page) == {
        "q": ["copy_file"],
        "kind": ["function"],
    }  # The filters are those of the list.


def test_back_returns_to_committed_queries_not_to_each_letter(open_page):
    page = open_page()
    page.keyboard.type("copy_tree", delay=5)
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.activeElement.textContent === 'copy_tree'")
    page.keyboard.press("/")
    page.keyboard.type("median", delay=5)
    wait_for(page, "median")
    page.wait_for_url("**/?q=median")
    page.go_back()
    wait_for(page, "copy_tree")
    assert page.locator("#query").input_value() == "copy_tree"
    page.go_forward()
    wait_for(page, "median")


def test_y_copies_path_and_line(open_page):
    page = open_page("?q=copy_tree")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.keyboard.press("ArrowDown")
    page.keyboard.press("y")
    page.wait_for_function("() => document.querySelector('.hit [data-copy]').textContent === 'Copied'")
    assert page.evaluate("navigator.clipboard.readText()") == "shop/copying.py:4"


def test_o_follows_the_link_to_the_editor(open_page, tree):
    page = open_page("?q=copy_tree")
    page.evaluate(
        """() => document.addEventListener("click", (event) => {
            const link = event.target.closest("[data-open=editor]");
            if (link) { event.preventDefault(); window.opened = link.href; }
        })"""
    )
    page.keyboard.press("ArrowDown")
    page.keyboard.press("o")
    assert page.evaluate("window.opened") == f"vscode://file{tree}/shop/copying.py:4"


def test_the_editor_is_a_setting(open_page, tree):
    page = open_page("?q=copy_tree")
    page.get_by_role("button", name="Settings").click()
    with page.expect_navigation():
        page.get_by_label("Editor", exact=True).select_option("PyCharm")
    page.wait_for_selector(".hit")
    link = page.locator('.hit [data-open="editor"]').first
    assert link.get_attribute("href") == f"pycharm://open?file={tree}/shop/copying.py&line=4"
    page.reload()
    page.wait_for_selector(".hit")
    assert link.get_attribute("href").startswith("pycharm://open?file=/")


def test_a_stored_template_with_another_scheme_is_ignored(open_page):
    page = open_page()
    page.evaluate("localStorage.setItem('codesearch.editor', 'javascript://%0aalert(1){path}')")
    page.goto("./?q=copy_tree")
    page.wait_for_selector(".hit")
    assert page.locator('.hit [data-open="editor"]').first.get_attribute("href").startswith("vscode://file/")


def test_question_mark_lists_the_keys(open_page):
    page = open_page("?q=copy")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("?")
    assert page.get_by_role("dialog", name="Keys").is_visible()
    page.keyboard.press("j")  # Keys are not commands while the dialog is open.
    page.keyboard.press("Escape")
    assert not page.locator("#help").is_visible()
    assert focused(page) == names(page)[0]
