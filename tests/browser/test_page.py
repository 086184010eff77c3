"""The page in headless Chromium: searching, filters, keyboard, addresses, definitions and similar code."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

pytestmark = pytest.mark.browser
Open = Callable[..., Any]


def names(page: Any) -> list[str]:
    return page.locator("#hits .name").all_inner_texts()


def search(page: Any, text: str) -> None:
    """Type a query and wait for its hits."""
    page.locator("#query").fill(text)
    wait_for(page, text)


def wait_for(page: Any, query: str) -> None:
    page.wait_for_function("query => document.querySelector('#hits').dataset.query === query", arg=query)


def focused(page: Any) -> str:
    return page.evaluate("document.activeElement.id || document.activeElement.textContent")


def parameters(page: Any) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query)


def test_hits_appear_while_the_query_is_typed(open_page: Open) -> None:
    page = open_page()
    page.keyboard.type("copy_tree", delay=20)
    wait_for(page, "copy_tree")
    assert names(page)[0] == "copy_tree"
    assert page.locator(".hit .place").first.inner_text() == "shop/copying.py:4"
    assert page.locator(".hit .facts").first.inner_text() == "function · python · 5 lines"
    assert page.locator("#summary").inner_text().startswith(f"{len(names(page))} hits from ")


def test_code_is_highlighted_with_its_line_numbers(open_page: Open) -> None:
    page = open_page("?q=copy_tree")
    line = page.locator(".hit .line").first
    assert line.get_attribute("data-line") == "4"
    assert line.inner_text().strip() == "def copy_tree(source, target):"
    assert line.locator(".t-keyword").first.inner_text() == "def"


def test_each_hit_says_why_it_is_one(open_page: Open) -> None:
    page = open_page("?q=copy_tree")
    assert page.locator(".hit").first.locator(".reasons li").count() >= 1


def test_an_answer_that_is_late_does_not_replace_a_newer_one(open_page: Open) -> None:
    page = open_page()
    held = []
    page.route("**/api/v1/search?q=median*", lambda route: held.append(route))
    page.locator("#query").fill("median")
    page.wait_for_function("() => true")
    page.wait_for_timeout(100)
    assert len(held) == 1
    search(page, "copy_file")
    try:
        held[0].continue_()
    except Exception:  # noqa: BLE001, S110 - Chromium may have forgotten the cancelled request.
        pass
    page.wait_for_timeout(150)
    assert names(page)[0] == "copy_file"


def test_a_newer_query_cancels_the_request_of_the_older_one(open_page: Open) -> None:
    page = open_page()
    failed = []
    page.on("requestfailed", lambda request: failed.append((request.url, request.failure)))
    page.route("**/api/v1/search?q=median*", lambda route: None)
    page.locator("#query").fill("median")
    page.wait_for_timeout(100)
    search(page, "copy_file")
    assert [("q=median&" in url, reason) for url, reason in failed] == [(True, "net::ERR_ABORTED")]


def test_quick_typing_does_not_send_a_request_for_each_key(open_page: Open) -> None:
    page = open_page()
    page.evaluate(
        """() => {
            const query = document.querySelector("#query");
            for (const end of "copy_file".split("").keys()) {
                query.value = "copy_file".slice(0, end + 1);
                query.dispatchEvent(new InputEvent("input", { bubbles: true }));
            }
        }"""
    )
    wait_for(page, "copy_file")
    assert len(page.watched.searches()) == 1


def test_old_hits_stay_until_new_ones_arrive(open_page: Open) -> None:
    page = open_page("?q=copy_tree")
    before = names(page)
    page.route("**/api/v1/search?q=median*", lambda route: None)
    page.locator("#query").fill("median")
    page.wait_for_timeout(100)
    assert names(page) == before


def test_filters_limit_the_hits_and_stand_in_the_address(open_page: Open) -> None:
    page = open_page("?q=copy")
    assert any("web/copy.js" in place for place in page.locator(".hit .place").all_inner_texts())
    page.get_by_role("checkbox", name="javascript").check()
    page.wait_for_function("() => !document.querySelector('#hits').textContent.includes('.py')")
    assert parameters(page) == {"q": ["copy"], "lang": ["javascript"]}
    page.get_by_role("textbox", name="Path").fill("web/, !shop/")
    page.wait_for_function("() => document.querySelectorAll('.hit').length === 1")
    page.wait_for_url("**/?*path=web*")
    assert parameters(page)["path"] == ["web/", "!shop/"]
    assert names(page) == ["deepCopy"]
    page.get_by_role("button", name="Clear filters").click()
    page.wait_for_function("() => document.querySelectorAll('.hit').length > 1")
    assert parameters(page) == {"q": ["copy"]}
    assert not page.get_by_role("checkbox", name="javascript").is_checked()


def test_kind_content_and_mode_are_filters_too(open_page: Open) -> None:
    page = open_page("?q=copy")
    page.get_by_role("checkbox", name="method").check()
    page.wait_for_function("() => document.querySelectorAll('.hit').length === 1")
    assert names(page) == ["Basket.total_price"]
    page.get_by_role("button", name="Clear filters").click()
    page.get_by_label("Content").select_option("docs")
    page.wait_for_function("() => document.querySelector('.name')?.textContent === 'Copying files'")
    page.get_by_label("Content").select_option("")
    page.get_by_label("Match").select_option("lexical")
    page.wait_for_url("**/?q=copy&mode=lexical")


def test_filters_of_an_address_are_shown_also_if_nothing_has_them(open_page: Open) -> None:
    page = open_page("?q=copy&lang=go&path=shop/")
    assert page.get_by_role("checkbox", name="go").is_checked()
    assert page.get_by_role("textbox", name="Path").input_value() == "shop/"
    assert "filters" in page.locator("#notes").inner_text()


def test_the_keyboard_reaches_every_hit(open_page: Open) -> None:
    page = open_page("?q=copy")
    found = names(page)
    page.keyboard.press("ArrowDown")
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


def test_letters_typed_in_a_field_are_no_commands(open_page: Open) -> None:
    page = open_page()
    page.keyboard.type("sojky?/")
    assert page.locator("#query").input_value() == "sojky?/"
    page.get_by_role("textbox", name="Path").focus()
    page.keyboard.type("s/")
    assert page.get_by_role("textbox", name="Path").input_value() == "s/"
    assert not page.locator("#help").is_visible()


def test_enter_opens_the_definition_and_escape_leads_back(open_page: Open) -> None:
    page = open_page()
    page.keyboard.type("copy_tree")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.activeElement.textContent === 'copy_tree'")
    page.keyboard.press("Enter")
    page.wait_for_selector("#document h1")
    assert page.locator("#document h1").inner_text() == "copy_tree"
    lines = page.locator("#document .line")
    assert lines.count() == 5
    assert lines.last.get_attribute("data-line") == "8"
    assert lines.last.inner_text().rstrip() == "    return target"
    page.keyboard.press("Escape")
    page.wait_for_selector("#list:not([hidden])")
    assert focused(page) == "copy_tree"
    page.keyboard.press("Escape")
    assert focused(page) == "query"


def test_j_and_k_go_through_definitions(open_page: Open) -> None:
    page = open_page("?q=copy")
    found = names(page)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_function("name => document.querySelector('#document h1')?.textContent === name", arg=found[0])
    page.keyboard.press("j")
    page.wait_for_function("name => document.querySelector('#document h1')?.textContent === name", arg=found[1])
    page.keyboard.press("Escape")
    page.wait_for_selector("#list:not([hidden])")
    assert focused(page) == found[1]


def test_documentation_outside_of_the_code_is_shown_above_it(open_page: Open) -> None:
    page = open_page("?q=deepCopy")
    page.locator(".name", has_text="deepCopy").click()
    page.wait_for_selector("#document h1")
    assert page.locator("#document .docs").inner_text() == "Copy an object with everything in it."


def test_s_shows_similar_code_and_back_returns(open_page: Open) -> None:
    page = open_page("?q=copy_tree")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("s")
    page.wait_for_selector("#list-title:not(.hidden-text)")
    assert page.locator("#list-title").inner_text() == "Similar to shop/copying.py:4"
    assert "copy_tree" not in names(page)
    assert "copy_file" in names(page)[:2]
    assert parameters(page)["view"] == ["similar"]
    page.go_back()
    wait_for(page, "copy_tree")
    assert names(page)[0] == "copy_tree"
    assert page.locator("#list-title").get_attribute("class") == "hidden-text"


def test_an_address_shows_the_same_again(open_page: Open) -> None:
    page = open_page("?q=copy&kind=function")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_selector("#document h1")
    again = open_page(page.url)
    again.wait_for_selector("#document h1")
    assert again.locator("#document h1").inner_text() == page.locator("#document h1").inner_text()
    assert again.locator("#query").input_value() == "copy"
    assert again.get_by_role("checkbox", name="function").is_checked()
    again.keyboard.press("Escape")
    wait_for(again, "copy")


def test_back_returns_to_committed_queries_not_to_letters(open_page: Open) -> None:
    page = open_page()
    page.keyboard.type("copy_tree", delay=5)
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.activeElement.textContent === 'copy_tree'")
    page.keyboard.press("/")
    page.keyboard.type("median", delay=5)
    wait_for(page, "median")
    page.go_back()
    wait_for(page, "copy_tree")
    assert page.locator("#query").input_value() == "copy_tree"
    page.go_forward()
    wait_for(page, "median")


def test_y_copies_path_and_line(open_page: Open) -> None:
    page = open_page("?q=copy_tree", permissions=["clipboard-read", "clipboard-write"])
    page.keyboard.press("ArrowDown")
    page.keyboard.press("y")
    page.wait_for_selector("#toast:not([hidden])")
    assert page.evaluate("navigator.clipboard.readText()") == "shop/copying.py:4"


def test_o_follows_the_link_to_the_editor(open_page: Open, tree: Any) -> None:
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


def test_the_editor_is_a_setting_that_allows_only_schemes_of_editors(open_page: Open, tree: Any) -> None:
    page = open_page("?q=copy_tree")
    page.get_by_role("button", name="Settings").click()
    page.get_by_label("Editor", exact=True).select_option("PyCharm")
    link = page.locator('.hit [data-open="editor"]').first
    expected = f"pycharm://open?file={tree}/shop/copying.py&line=4"
    assert link.get_attribute("href") == expected
    template = page.get_by_label("Link to the editor")
    for wrong in ("javascript:alert('{path}')", "data:text/html,{path}", "javascript://%0aalert(1){path}", "https://x/{path}"):
        template.fill(wrong)
        assert template.get_attribute("aria-invalid") == "true"
        assert link.get_attribute("href") == expected
    template.fill("nvim://open?file={path}&line={line}")
    assert link.get_attribute("href") == f"nvim://open?file={tree}/shop/copying.py&line=4"
    page.reload()
    page.wait_for_selector(".hit")
    assert page.locator('.hit [data-open="editor"]').first.get_attribute("href").startswith("nvim://open?file=/")


def test_a_stored_template_with_another_scheme_is_ignored(open_page: Open) -> None:
    page = open_page()
    page.evaluate("localStorage.setItem('codesearch.editor', 'javascript://%0aalert(1){path}')")
    page.goto("./?q=copy_tree")
    page.wait_for_selector(".hit")
    assert page.locator('.hit [data-open="editor"]').first.get_attribute("href").startswith("vscode://file/")


def test_recent_searches_are_kept_and_can_be_cleared(open_page: Open) -> None:
    page = open_page()
    search(page, "median")
    page.keyboard.press("Enter")
    search(page, "copy_file")  # Not committed.
    page.locator("#start").click()
    assert page.locator("#recent li").all_inner_texts() == ["median"]
    page.locator("#recent a").click()
    wait_for(page, "median")
    page.locator("#start").click()
    page.get_by_role("button", name="Clear recent searches").click()
    assert page.locator("#recent").count() == 0
    assert page.evaluate("localStorage.getItem('codesearch.recent')") is None


def test_question_mark_lists_the_keys(open_page: Open) -> None:
    page = open_page("?q=copy")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("?")
    assert page.get_by_role("dialog", name="Keys").is_visible()
    page.keyboard.press("j")  # No command behind the dialog.
    page.keyboard.press("Escape")
    assert not page.locator("#help").is_visible()
    assert focused(page) == names(page)[0]


def test_hostile_names_paths_and_code_are_text(open_page: Open) -> None:
    page = open_page("?q=renderHostile")
    page.wait_for_selector(".hit")
    assert "<img src=x onerror=document.title='owned'>/<script>.js:2" in page.locator(".hit .place").first.inner_text()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_selector("#document h1")
    code = page.locator("#document .code").inner_text()
    assert "<script>document.title='owned'</script>" in code
    page.keyboard.press("s")
    page.wait_for_selector("#list-title:not(.hidden-text)")
    assert "<script>.js" in page.locator("#list-title").inner_text()
    assert page.locator("main img, main script").count() == 0
    assert "owned" not in page.title().replace(page.locator("#list-title code").inner_text(), "")


def test_a_hostile_query_is_text(open_page: Open) -> None:
    page = open_page("?q=" + "%3Cimg src=x onerror=alert(1)%3E `code` <b>bold</b>")
    page.wait_for_selector(".hit")
    assert page.locator("main img, main b").count() == 0
    page.keyboard.press("Enter")
    page.locator("#start").click()
    assert page.locator("#recent a").inner_text() == "<img src=x onerror=alert(1)> `code` <b>bold</b>"


def test_no_inline_script_runs(open_page: Open) -> None:
    page = open_page()
    page.evaluate(
        """() => {
            const script = document.createElement("script");
            script.textContent = "window.inline = true";
            document.head.append(script);
        }"""
    )
    assert page.evaluate("window.inline") is None
    assert any("Content Security Policy" in error for error in page.watched.errors)
    page.watched.errors.clear()


def test_nothing_indexed_says_what_to_do(open_page: Open, empty_site: str) -> None:
    page = open_page(base=empty_site)
    assert page.locator("#home h1").inner_text() == "Nothing is indexed yet"
    assert "codesearch index" in page.locator("#home").inner_text()


def test_no_hit_says_what_to_do(open_page: Open) -> None:
    page = open_page()
    page.route("**/api/v1/search?*", lambda route: route.fulfill(json={"hits": [], "documents": 9, "seconds": 0.001, "roots": ["/x"], "filters_match": True, "freshness": [], "confidence": None, "low_confidence": False}))
    search(page, "nothing at all")
    assert page.locator("#summary").inner_text() == "No hits from 9 documents in 1 ms"
    assert page.locator("#notes").inner_text().startswith("Try other words")


def test_low_confidence_and_changed_files_are_notes(open_page: Open) -> None:
    page = open_page()

    def doubt(route: Any) -> None:
        answer = route.fetch().json()
        stale = {"root": "/x", "state": "behind", "changes": {"to_parse": 2, "removed": 1}}
        route.fulfill(json={**answer, "low_confidence": True, "confidence": 0.004, "freshness": [stale]})

    page.route("**/api/v1/search?*", doubt)
    search(page, "copy")
    assert page.locator("#summary").inner_text().endswith(", confidence 1%")
    assert page.locator(".note").all_inner_texts() == [
        "Low confidence: probably none of these hits answers the query.",
        "3 changed files of /x not in the index yet: run codesearch index /x",
    ]


def test_an_error_of_the_service_is_one_line_with_its_cure(open_page: Open) -> None:
    page = open_page("?q=copy")
    error = {"error": {"message": "index format 3, expected 4", "cure": "run `codesearch index` again"}}
    page.route("**/api/v1/search?*", lambda route: route.fulfill(status=400, json=error))
    page.locator("#query").fill("median")
    page.wait_for_selector("#error:not([hidden])")
    alert = page.get_by_role("alert")
    assert alert.inner_text().startswith("index format 3, expected 4: run codesearch index again")
    assert alert.locator("code").inner_text() == "codesearch index"
    assert names(page)  # The old hits stay.
    page.watched.errors.clear()


def test_a_service_that_stopped_is_named_and_can_be_tried_again(open_page: Open) -> None:
    page = open_page("?q=copy")
    page.route("**/api/v1/*", lambda route: route.abort())
    page.locator("#query").fill("median")
    page.wait_for_selector("#error:not([hidden])")
    assert "codesearch serve --web" in page.locator("#error").inner_text()
    page.unroute("**/api/v1/*")
    page.get_by_role("button", name="Try again").click()
    wait_for(page, "median")
    assert not page.locator("#error").is_visible()
    page.watched.errors.clear()


def test_more_hits_are_added_to_the_first_ones(open_page: Open) -> None:
    page = open_page()

    def many(route: Any) -> None:
        limit = int(parse_qs(urlsplit(route.request.url).query)["limit"][0])
        answer = route.fetch().json()
        answer["hits"] = [{**answer["hits"][0], "rank": rank} for rank in range(1, limit + 1)]
        route.fulfill(body=json.dumps(answer), content_type="application/json")

    page.route("**/api/v1/search?*", many)
    search(page, "copy")
    assert len(names(page)) == 20
    page.get_by_role("button", name="More hits").click()
    page.wait_for_function("() => document.querySelectorAll('.hit').length === 40")
    assert page.evaluate("document.activeElement.closest('.hit').querySelector('h2').id") == "hit-21-name"
