"""Typing, superseded requests, filters and what the page says when there are no hits."""

import json
from collections.abc import Callable
from functools import partial
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.browser.reading import names, opened, parameters, search, settle, wait_for
from tests.command import until

pytestmark = pytest.mark.browser
Open = Callable[..., Any]


def test_hits_appear_while_the_query_is_typed(open_page):
    page = open_page()
    page.keyboard.type("copy_tree", delay=20)
    wait_for(page, "copy_tree")
    assert names(page)[0] == "copy_tree"
    assert page.locator(".hit .place").first.text_content() == "shop/copying.py:4"
    assert page.locator(".hit .facts").first.inner_text() == "function · 5 lines"
    assert page.locator("#summary").inner_text().startswith(f"{len(names(page))} hits from ")
    search(page, "Basket")
    assert page.locator(".hit .facts").first.inner_text() == "class · 6 lines"


def test_code_is_highlighted_with_its_line_numbers(open_page):
    page = open_page("?q=copy_tree")
    line = page.locator(".hit .line").first
    assert line.locator(".number").get_attribute("data-line") == "4"
    assert line.inner_text().strip() == "def copy_tree(source, target):"
    assert line.locator(".t-keyword").first.inner_text() == "def"


def test_words_of_the_query_are_marked_as_keywords_match_them(open_page):
    page = open_page("?q=copied trees")
    page.wait_for_selector(".hit")
    line = page.locator(".hit", has_text="copy_tree").locator(".line").first
    assert line.locator("mark").all_inner_texts() == ["copy", "tree"]
    assert line.locator("mark.t-function").count() == 2


def held_request(page: Any, query: str) -> Callable[[], Any]:
    """Hold back the request for a query. The function that is returned waits for the request and returns it."""
    held: list[Any] = []
    page.route(f"**/api/v1/search?q={query}&*", lambda route: held.append(route))

    def request() -> Any:
        until(lambda: held, pause=lambda: page.wait_for_timeout(10))  # Playwright calls back while it waits.
        return held[0]

    return request


def test_an_answer_that_is_late_does_not_replace_a_newer_one(open_page):
    page = open_page()
    page.evaluate(
        """() => {
            window.shown = [];
            const hits = document.querySelector("#hits");
            new MutationObserver(() => shown.push(hits.dataset.query)).observe(hits, { attributes: true });
        }"""
    )
    held = held_request(page, "median")
    page.locator("#query").fill("median")
    request = held()
    assert page.locator("body.waiting").count() == 1
    page.locator("#query").fill("copy_file")
    request.continue_()
    wait_for(page, "copy_file")
    assert page.locator("body.waiting").count() == 0
    assert names(page)[0] == "copy_file"
    assert "median" not in page.evaluate("shown")
    assert len(page.watched.searches()) == 2


def test_a_slow_request_is_cancelled_by_a_newer_one(open_page):
    page = open_page()
    held = held_request(page, "median")
    page.locator("#query").fill("median")
    request = held()
    with page.expect_event("requestfailed") as failed:
        search(page, "copy_file")
    assert ("q=median&" in failed.value.url, failed.value.failure) == (True, "net::ERR_ABORTED")
    assert names(page)[0] == "copy_file"
    request.abort()


def test_quick_typing_does_not_send_a_request_for_each_key(open_page):
    page = open_page()
    held = held_request(page, "c")
    page.locator("#query").fill("c")
    request = held()
    page.evaluate(
        """() => {
            const query = document.querySelector("#query");
            for (const end of "copy_file".split("").keys()) {
                query.value = "copy_file".slice(0, end + 1);
                query.dispatchEvent(new InputEvent("input", { bubbles: true }));
            }
        }"""
    )
    request.continue_()
    wait_for(page, "copy_file")
    assert len(page.watched.searches()) == 2  # Those of the first key and the last.


def test_old_hits_stay_until_new_ones_arrive(open_page):
    page = open_page("?q=copy_tree")
    before = names(page)
    held = held_request(page, "median")
    page.locator("#query").fill("median")
    request = held()
    assert names(page) == before
    request.continue_()
    wait_for(page, "median")
    assert names(page) != before


def test_an_answer_that_arrives_leaves_the_focus_on_its_hit(open_page):
    page = open_page("?q=copy_tree")
    held = held_request(page, "copy_file")
    page.locator("#query").fill("copy_file")
    request = held()
    page.keyboard.press("ArrowDown")
    file = page.locator(".hit.current").get_attribute("data-file")
    request.continue_()
    wait_for(page, "copy_file")
    assert page.evaluate("document.activeElement.closest('.hit').dataset.file") == file
    assert page.locator(".hit.current").get_attribute("data-file") == file


def test_hits_do_not_move_after_they_appear(open_page):
    page = open_page()
    page.evaluate(
        """() => {
            window.tops = {};
            const watch = () => {
                const hits = [...document.querySelectorAll(".hit .name")].slice(0, 4);
                const places = hits.map((hit) => hit.getBoundingClientRect().top).join();
                const query = document.querySelector("#hits").dataset.query;  // Two queries may have the same hits.
                (window.tops[[query, ...hits.map((hit) => hit.textContent)].join()] ??= new Set()).add(places);
                requestAnimationFrame(watch);
            };
            watch();
        }"""
    )
    page.keyboard.type("copy a file", delay=60)
    wait_for(page, "copy a file")
    frames = "() => new Promise((done) => { let n = 15; (step = () => n-- ? requestAnimationFrame(step) : done())(); })"
    page.evaluate(frames)
    seen = page.evaluate("Object.entries(tops).map(([names, places]) => [names, places.size])")
    assert len(seen) > 1
    assert [names for names, places in seen if places > 1] == []


def numbers(page: Any) -> dict[str, str]:
    """Return the numbers beside the filters."""
    rows = page.locator("#filters fieldset label").all()
    return {row.locator(".value").inner_text(): row.locator(".count").inner_text() for row in rows}


def test_the_numbers_of_filters_count_all_lines_of_an_exact_text_and_no_ranked_hits(open_page):
    page = open_page()
    before = numbers(page)
    assert (before["python"], before["method"]) == ("5", "1")
    search(page, "copy")
    assert numbers(page) == dict.fromkeys(before, "")
    page.goto("?q=target&mode=exact")
    wait_for(page, "target")
    counted = {name: count for name, count in numbers(page).items() if count}
    assert counted == {"python": "6", "function": "6"}
    assert page.locator("#summary").inner_text() == "6 lines in 1 file"
    page.get_by_role("checkbox", name="javascript").check()
    wait_for(page, "target")
    assert parameters(page)["lang"] == ["javascript"]


def test_languages_after_the_first_eight_are_folded(open_page):
    page = open_page()
    languages = ["c", "cpp", "go", "java", "kotlin", "lua", "php", "ruby", "rust", "scala", "swift", "zig"]

    def many(route: Any) -> None:
        answer = route.fetch().json()
        answer["roots"][0]["languages"] = dict.fromkeys(languages, 1)
        route.fulfill(json=answer)

    page.route("**/api/v1/status*", many)
    page.goto("./?q=copy")
    wait_for(page, "copy")
    assert page.locator("#languages summary").inner_text() == "4 more"
    assert page.locator("#languages label:visible").count() == 8
    page.locator("#languages summary").click()
    page.get_by_role("checkbox", name="zig").check()
    settle(page)
    assert parameters(page)["lang"] == ["zig"]
    assert page.get_by_role("checkbox", name="zig").is_visible()
    tall = "document.querySelector('#filters').scrollHeight > document.querySelector('#filters').clientHeight"
    assert not page.evaluate(tall)


def test_each_filter_is_a_chip_above_the_hits_and_a_click_removes_it(open_page):
    page = open_page("?q=copy&lang=python&kind=function&path=shop/&mode=lexical")
    wait_for(page, "copy")
    chips = page.get_by_role("group", name="Active filters").get_by_role("button")
    assert chips.all_inner_texts() == [
        "Language: python",
        "Kind: function",
        "Path: shop/",
        "Match: Words only",
        "Clear filters",
    ]
    page.get_by_role("button", name="Remove Kind function").click()
    settle(page)
    assert parameters(page) == {"q": ["copy"], "lang": ["python"], "path": ["shop/"], "mode": ["lexical"]}
    assert chips.count() == 4
    chips.last.click()
    settle(page)
    assert parameters(page) == {"q": ["copy"]}
    assert not chips.first.is_visible()


def add_folder(page: Any, root: str = "/elsewhere/other") -> None:
    """Let the page believe that a second folder is indexed."""

    def with_another(route: Any) -> None:
        answer = route.fetch().json()
        answer["roots"].append({**answer["roots"][0], "root": root})
        route.fulfill(json=answer)

    page.route("**/api/v1/status*", with_another)


def test_two_folders_of_one_name_are_told_apart(open_page, tree):
    page = open_page()
    add_folder(page, f"/elsewhere/{tree.name}")
    page.goto("./?q=copy_tree")
    wait_for(page, "copy_tree")
    folders = page.locator("#roots .value").all_inner_texts()
    assert sorted(folders) == sorted([f"{tree.parent.name}/{tree.name}", f"elsewhere/{tree.name}"])


def rows(page: Any) -> list[str]:
    """Return the files, definitions and lines of the list, in its order."""
    found = page.locator("#hits").locator("h2, h3, .line")
    return [text.strip() for text in found.all_text_contents()]


def test_exact_text_lists_every_line_by_file_and_definition(open_page):
    page = open_page("?q=target.")
    page.get_by_label("Match", exact=True).select_option("exact")
    wait_for(page, "target.")
    assert parameters(page)["mode"] == ["exact"]
    assert (
        rows(page)
        == "shop/copying.py copy_tree target.append(entry) copy_file target.write(source.read())".split()
    )
    assert page.locator("#summary").inner_text() == "2 lines in 1 file"
    assert "".join(page.locator(".hit mark").all_inner_texts()) == "target.target."
    page.locator(".hit .number").first.click()
    opened(page, "copy_tree")
    assert page.url.endswith("#L7")
    assert page.locator(".line.found").evaluate_all("lines => lines.map(({ id }) => id)") == ["L7", "L13"]
    assert "".join(page.locator("#file mark").all_inner_texts()) == "target.target."


def test_switches_ignore_case_and_match_regular_expressions(open_page):
    page = open_page("?q=DEEPCOPY&mode=exact")
    assert rows(page) == []
    page.get_by_role("checkbox", name="Ignore case").check()
    wait_for(page, "DEEPCOPY")
    page.wait_for_selector(".hit")
    assert rows(page) == ["web/copy.js", "deepCopy", "function deepCopy(value) {"]
    search(page, "^def COPY_(tree|file)")
    page.get_by_role("checkbox", name="Regular expression").check()
    page.wait_for_selector(".hit")
    assert "".join(page.locator(".hit mark").all_text_contents()) == "def copy_treedef copy_file"
    assert parameters(page) == {
        "q": ["^def COPY_(tree|file)"],
        "mode": ["exact"],
        "regex": ["yes"],
        "ignore_case": ["yes"],
    }
    page.locator("#query").fill("copy(")
    page.wait_for_selector("#error:not([hidden])")
    assert "'copy(' is no regular expression: missing )" in page.locator("#error").inner_text()
    page.get_by_role("button", name="Remove Regular expression").click()
    wait_for(page, "copy(")
    assert not page.locator("#error").is_visible()
    page.watched.errors.clear()


def test_more_lines_are_shown_and_what_was_not_read_is_said(open_page):
    page = open_page()
    line = {"root": "/x", "path": "a.py", "text": "import copy", "tokens": [["text", "import copy"]]}

    def listed(route: Any) -> None:
        limit = int(parse_qs(urlsplit(route.request.url).query)["limit"][0])
        lines = [{**line, "line": number, "inside": None} for number in range(1, limit + 1)]
        left = {"reasons": {"not read": 12}, "text": "12 files not read, because there are too many"}
        totals = {"line_count": 300, "file_count": 50, "counts": {}, "is_pattern": False}
        route.fulfill(json={**totals, "lines": lines, "roots": ["/x"], "freshness": [], "coverage": left})

    page.route("**/api/v1/lines?*", listed)
    page.goto("./?q=copy&mode=exact")
    wait_for(page, "copy")
    summary = page.locator("#summary")
    assert summary.inner_text() == "300 lines in 50 files, the first 200 lines are shown"
    left = "Not seen: 12 files not read, because there are too many."
    assert page.locator(".note").all_inner_texts() == [left]
    page.get_by_role("button", name="More lines").click()
    page.wait_for_selector(".line:nth-child(400)", state="attached")


def test_filters_typed_in_the_search_are_completed_and_apply(open_page):
    page = open_page()
    page.keyboard.type("copy lang:")
    options = page.locator("#completions li")
    page.wait_for_selector("#completions:not([hidden])")
    assert options.all_inner_texts()[0] == "python"
    page.keyboard.type("ja")
    page.wait_for_selector("#completions li:first-child:last-child")
    assert options.all_inner_texts() == ["javascript"]
    page.keyboard.press("ArrowDown")
    assert options.get_attribute("aria-selected") == "true"
    page.keyboard.press("Enter")
    assert page.locator("#query").input_value() == "copy lang:javascript "
    wait_for(page, "copy lang:javascript")
    assert ".py" not in page.locator("#hits").text_content()
    sent = parse_qs(urlsplit(page.watched.searches()[-1]).query)
    assert (sent["q"], sent["lang"]) == (["copy"], ["javascript"])
    page.locator("#query").fill("copy -path:we")
    page.wait_for_selector("#completions:not([hidden])")
    assert options.all_inner_texts() == ["web/"]
    page.keyboard.press("Tab")
    wait_for(page, "copy -path:web/")
    assert "copy.js" not in page.locator("#hits").text_content()
    page.keyboard.press("Escape")  # Completes `copy.js`, which is below the folder.
    page.get_by_label("Match", exact=True).select_option("exact")
    page.locator("#query").fill("    for path: lang:")
    wait_for(page, "for path: lang:")
    sent = [parse_qs(urlsplit(url).query) for url in page.watched.requests if "/api/v1/lines" in url]
    assert sent[-1]["q"] == ["    for path: lang:"]
    page.get_by_label("Match", exact=True).select_option("")
    search(page, "copy kind:me")
    assert {fact[:6] for fact in page.locator(".hit .head .facts").all_inner_texts()} == {"method"}
    page.wait_for_url("**/?q=copy+kind*")
    assert parameters(page) == {"q": ["copy kind:me"]}


def test_commits_of_several_folders_need_a_choice(open_page, tree):
    page = open_page()
    add_folder(page)
    page.goto("./?mode=history")
    page.wait_for_selector("#error .choice")
    assert page.locator("#error").inner_text().startswith("Commits are searched in one folder: choose it")
    assert page.locator("#error .choice").all_inner_texts() == [tree.name, "other"]
    assert not [url for url in page.watched.requests if "/api/v1/history" in url]
    page.locator("#error .choice").last.click()
    page.wait_for_url("**/?mode=history&root=%2Felsewhere%2Fother")
    page.wait_for_function("() => document.querySelector('#error').textContent.includes('is not indexed')")
    page.watched.errors.clear()


def test_filters_limit_the_hits_and_are_in_the_address(open_page):
    page = open_page("?q=copy")
    assert any("web/copy.js" in place for place in page.locator(".hit .place").all_text_contents())
    page.get_by_role("checkbox", name="javascript").check()
    settle(page)
    assert parameters(page) == {"q": ["copy"], "lang": ["javascript"]}
    assert ".py" not in page.locator("#hits").text_content()
    page.get_by_role("textbox", name="Path").fill("web/, !shop/")
    settle(page)
    assert names(page) == ["deepCopy"]
    page.wait_for_url("**/?*path=web*")  # What is typed comes into the address when typing pauses.
    assert parameters(page)["path"] == ["web/", "!shop/"]
    page.get_by_role("button", name="Clear filters").click()
    settle(page)
    assert len(names(page)) > 1
    assert parameters(page) == {"q": ["copy"]}
    assert not page.get_by_role("checkbox", name="javascript").is_checked()


def test_kind_and_mode_are_filters_too(open_page):
    page = open_page("?q=total+price+to+copy")
    wait_for(page, "total price to copy")
    page.get_by_role("checkbox", name="method").check()
    settle(page)
    assert names(page) == ["Basket.total_price"]
    page.get_by_role("button", name="Clear filters").click()
    page.get_by_label("Match", exact=True).select_option("lexical")
    settle(page)
    assert parameters(page) == {"q": ["total price to copy"], "mode": ["lexical"]}
    assert parse_qs(urlsplit(page.watched.searches()[-1]).query)["mode"] == ["lexical"]


def test_filters_of_an_address_are_shown_even_if_nothing_matches_them(open_page):
    page = open_page("?q=copy&lang=go&path=shop/")
    assert page.get_by_role("checkbox", name="go").is_checked()
    assert page.get_by_role("textbox", name="Path").input_value() == "shop/"
    assert "filters" in page.locator("#notes").inner_text()


def test_with_several_folders_there_is_a_filter_for_them(open_page, tree):
    page = open_page()
    add_folder(page)
    page.goto("./?q=copy_tree")
    wait_for(page, "copy_tree")
    page.get_by_role("checkbox", name="project").check()
    settle(page)
    assert parameters(page)["root"] == [str(tree)]
    assert parse_qs(urlsplit(page.watched.searches()[-1]).query)["root"] == [str(tree)]
    assert names(page)[0] == "copy_tree"
    page.get_by_label("Group", exact=True).select_option("sales")
    settle(page)
    assert parameters(page) == {"q": ["copy_tree"], "group": ["sales"]}
    page.get_by_role("checkbox", name="project").check()  # A group and a folder exclude each other.
    settle(page)
    assert parameters(page) == {"q": ["copy_tree"], "root": [str(tree)]}
    assert page.get_by_label("Group", exact=True).input_value() == ""


def test_a_group_limits_the_hits_to_its_folders(open_page):
    page = open_page("?q=copy")
    assert "deepCopy" in names(page)
    page.get_by_label("Group", exact=True).select_option("sales")
    settle(page)
    assert "deepCopy" not in page.locator("#hits").text_content()
    assert parameters(page) == {"q": ["copy"], "group": ["sales"]}
    assert {place[:5] for place in page.locator(".hit .place").all_text_contents()} == {"shop/"}
    page.locator(".hit", has_text="copy_tree").get_by_role("link", name="Similar").click()
    settle(page)
    assert parameters(page)["view"] == ["similar"]
    assert parameters(page)["group"] == ["sales"]
    page.get_by_role("button", name="Clear filters").click()
    settle(page)
    assert "deepCopy" in page.locator("#hits").text_content()


def test_nothing_indexed_says_what_to_do(open_page, empty_site):
    page = open_page(base=empty_site)
    assert page.locator("#home h1").inner_text() == "Nothing is indexed yet"
    assert "codesearch index" in page.locator("#home").inner_text()


NO_HITS = {"hits": [], "documents": 9, "seconds": 0.001, "roots": ["/x"], "filters_match": True}


def test_folders_of_the_start_page_are_links(open_page, tree):
    page = open_page()
    page.get_by_role("link", name=str(tree)).click()
    page.wait_for_url("**/?root=*")
    assert page.evaluate("document.activeElement.id") == "query"


def test_no_hit_says_what_to_do(open_page):
    page = open_page()
    page.route("**/api/v1/search?*", lambda route: route.fulfill(json=NO_HITS))
    search(page, "nothing at all")
    assert page.locator("#summary").inner_text() == "No hits from 9 documents in 1 ms"
    assert page.locator("#notes").inner_text().startswith("Try other words")


def test_a_weak_answer_without_hits_shows_none(open_page):
    page = open_page()
    page.route("**/api/v1/search?*", lambda route: route.fulfill(json={**NO_HITS, "low_confidence": True}))
    search(page, "nothing at all")
    assert page.locator("#hits").text_content() == ""


@pytest.mark.parametrize(("confidence", "written"), [(0.004, "1%"), (1, "100%")])
def test_low_confidence_and_changed_files_are_notes(open_page, confidence, written):
    page = open_page()

    def doubt(route: Any) -> None:
        answer = route.fetch().json()
        stale = {"root": "/x", "state": "behind", "note": "3 files changed: run `codesearch index /x`"}
        route.fulfill(
            json={
                **answer,
                "low_confidence": True,
                "confidence": confidence,
                "roots": ["/x"],
                "freshness": [stale],
            }
        )

    page.route("**/api/v1/search?*", doubt)
    search(page, "copy")
    assert page.locator("#summary").inner_text().endswith(f", confidence {written}")
    assert page.locator(".note").all_inner_texts() == [
        "Probably nothing here does this.",
        "3 files changed: run codesearch index /x",
    ]


def test_an_error_of_the_service_is_one_line_with_its_cure(open_page):
    page = open_page()
    assert any(numbers(page).values())
    error = {"error": {"message": "index format 3, expected 4", "cure": "run `codesearch index` again"}}
    page.route("**/api/v1/search?*", lambda route: route.fulfill(status=400, json=error))
    page.locator("#query").fill("median")
    page.wait_for_selector("#error:not([hidden])")
    alert = page.get_by_role("alert")
    assert alert.inner_text().startswith("index format 3, expected 4: run codesearch index again")
    assert alert.locator("code").inner_text() == "codesearch index"
    assert not page.locator("#list").is_visible()  # Its hits are those of another query.
    assert not any(numbers(page).values())
    page.watched.errors.clear()


def test_a_service_that_stopped_is_named_and_can_be_tried_again(open_page):
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


def test_a_service_with_a_token_asks_for_it_once(open_page):
    page = open_page()
    token = "correct horse battery"
    refused = {"error": {"message": "the token is missing or wrong", "cure": "send it"}}

    def guarded(route: Any) -> None:
        given = route.request.headers.get("authorization") == f"Bearer {token}"
        route.fallback() if given else route.fulfill(status=401, json=refused)

    page.route("**/api/v1/*", guarded)
    page.once("dialog", lambda dialog: dialog.accept(token))
    page.goto("./?q=copy_tree")
    wait_for(page, "copy_tree")
    assert not page.locator("#error").is_visible()
    assert token not in page.url
    page.reload()
    wait_for(page, "copy_tree")
    page.watched.errors.clear()


def test_more_hits_are_appended_to_the_first_ones(open_page):
    page = open_page()

    def many(route: Any) -> None:
        limit = int(parse_qs(urlsplit(route.request.url).query)["limit"][0])
        answer = route.fetch().json()
        answer["hits"] = [{**answer["hits"][0], "rank": rank, "others": []} for rank in range(1, limit + 1)]
        route.fulfill(body=json.dumps(answer), content_type="application/json")

    page.route("**/api/v1/search?*", many)
    search(page, "copy")
    asked = len(names(page))
    assert asked >= 8
    page.get_by_role("button", name="More hits").click()
    settle(page)
    assert len(names(page)) == 2 * asked
    focused = page.evaluate("document.activeElement.closest('.hit').querySelector('h2').id")
    assert focused == f"hit-{asked + 1}-name"


def empty(lists: str = "", numbers: str = "", texts: str = "", **others: Any) -> dict[str, Any]:
    """Return an answer whose lists, numbers and texts are empty."""
    values = (lists, []), (numbers, 0), (texts, "")
    return {name: value for names, value in values for name in names.split()} | others


SEEN = {"coverage": {"text": ""}}
LINE = {"line": 1, "text": "", "tokens": []}
EMPTY = {
    "search": {**NO_HITS, "confidence": None, **empty("freshness outside"), **SEEN},
    "lines": empty(
        "lines freshness", "line_count file_count", roots=["/x"], counts={}, is_pattern=False, **SEEN
    ),
    "usages": empty(
        *("definitions derived usages near", "usage_count file_count unread_files", "not_in"),
        **{"name": "x", "grades": {}, **SEEN},
    ),
    "history": empty("hits", "commits added", shallow=False, top="/x", **SEEN),
    "file": empty(
        *("definitions", "definition_count"),
        **{"root": "/x", "path": "a", "language": "text", "stale": False, "line_count": 1, "lines": [LINE]},
    ),
    "tree": empty("folders files", "", "path", root="/x"),
    "status": {"version": "1", "groups": {}, "roots": []},
}
BARE_HIT = empty(
    *("snippet others passages copies", "copy_count", "path name qualified_name signature language"),
    **{"root": "/x", "kind": "module", "label": ["", ""], "stale": False},
    **dict.fromkeys(("start_line", "end_line", "last_line", "rank"), 1),
)


def answered(answer: Any, route: Any) -> None:
    route.fulfill(json=answer)


def test_a_hit_unfolds_its_passage_and_then_all_of_it(open_page):
    page = open_page("?q=copy", width=1000)  # A wide window also asks for a preview.
    asked = []

    def code(route: Any) -> None:
        query = parse_qs(urlsplit(route.request.url).query)
        first, last = int(query["first"][0]), int(query["last"][0])
        asked.append((query["path"], query["q"]))
        lines = [
            {"line": at, "text": f"step {at}", "tokens": [["text", "step"]]} for at in range(first, last + 1)
        ]
        route.fulfill(json={"lines": lines, "stale": False})

    long = {**BARE_HIT, "path": "a.py", "label": ["drain", ""], "start_line": 10, "last_line": 90}
    hits = [
        {
            **long,
            "passages": [{"start_line": 30, "end_line": 41}],
            "others": [{**long, "label": ["fill", ""]}],
        }
    ]
    page.route("**/api/v1/search?*", partial(answered, {**EMPTY["search"], "hits": hits}))
    page.route("**/api/v1/file?*", code)
    page.goto("./?q=drain")
    wait_for(page, "drain")
    page.keyboard.press("j")
    page.keyboard.press("ArrowRight")
    page.wait_for_selector(".unfolded .line")
    shown = "lines => lines.map(({ firstChild }) => Number(firstChild.dataset.line))"
    assert page.locator(".unfolded .line").evaluate_all(shown) == list(range(30, 42))
    page.keyboard.press("ArrowRight")
    page.wait_for_selector(".unfolded .line:nth-child(81)")
    assert page.locator(".unfolded .line").evaluate_all(shown) == list(range(10, 91))
    assert asked == 2 * [(["a.py"], ["drain"])]
    page.keyboard.press("ArrowLeft")
    assert page.locator(".unfolded").count() == 0
    page.get_by_role("button", name="Code of fill").click()
    page.wait_for_selector(".others .unfolded .line:nth-child(81)")
    assert page.get_by_role("button", name="Code of fill").get_attribute("aria-expanded") == "true"


def test_an_empty_answer_never_shows_undefined(open_page):
    page = open_page()
    for name, answer in {**EMPTY, "similar": EMPTY["search"]}.items():
        page.route(f"**/api/v1/{name}?*", partial(answered, answer))
    ranked = ["?q=a", "?q=a&flat=yes", "?q=a&at=b&root=/x", "?view=similar&in=/x&file=a&line=1"]
    rest = (
        "? ?q=a&mode=exact&lang=c ?mode=history&root=/x ?view=usages&in=/x&name=x file?root=/x&path=a".split()
    )

    def check(address: str) -> None:
        page.goto(f"./{address}")
        page.wait_for_selector("main > section:not([hidden])")
        shown = page.locator("body").inner_html() + page.title()
        assert [word for word in ("undefined", "NaN", "null", "[object") if word in shown] == [], address

    for address in rest:
        check(address)
    for listed in ({"low_confidence": True}, {"hits": [BARE_HIT], "low_confidence": False}):
        for name in ("search", "similar"):
            page.route(f"**/api/v1/{name}?*", partial(answered, {**EMPTY["search"], **listed}))
        for address in ranked:
            check(address)
