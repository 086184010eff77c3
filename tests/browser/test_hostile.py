"""Names, paths, code and queries that contain markup are shown as text, and invisible characters as escapes."""

from collections.abc import Callable
from typing import Any

import pytest

from codesearch.visible import visible
from tests.command import until

pytestmark = pytest.mark.browser
Open = Callable[..., Any]


def test_hostile_names_paths_and_code_are_text(open_page):
    page = open_page("?q=renderHostile")
    page.wait_for_selector(".hit")
    assert (
        "<img src=x onerror=document.title='owned'>/<script>.js:2"
        in page.locator(".hit .place").first.text_content()
    )
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_selector("#file h1")
    assert page.locator("#file h1").inner_text() == "<img src=x onerror=document.title='owned'>/<script>.js"
    code = page.locator("#file .code").inner_text()
    assert "<script>document.title='owned'</script>" in code
    assert r'const reversed = "\u202e\u2066";' in code
    page.keyboard.press("s")
    page.wait_for_selector("#list .about:not(.hidden-text)")
    assert "<script>.js" in page.locator("#list-title").inner_text()
    assert page.locator("main img, main script").count() == 0
    assert "owned" not in page.title().replace(page.locator("#list-title code").inner_text(), "")


def test_a_hostile_query_is_text(open_page):
    page = open_page("?q=" + "%3Cimg src=x onerror=alert(1)%3E `code` <b>bold</b>")
    page.wait_for_selector(".hit")
    assert page.locator("main img, main b").count() == 0
    assert page.title() == "<img src=x onerror=alert(1)> `code` <b>bold</b> – codesearch"


def test_no_inline_script_runs(open_page):
    page = open_page()
    page.evaluate(
        """() => {
            const script = document.createElement("script");
            script.textContent = "window.inline = true";
            document.head.append(script);
        }"""
    )
    assert page.evaluate("window.inline") is None
    until(lambda: page.watched.errors, pause=lambda: page.wait_for_timeout(10))
    assert any("Content Security Policy" in error for error in page.watched.errors)
    page.watched.errors.clear()


def test_the_page_escapes_the_same_characters_as_the_terminal(open_page):
    codes = [*range(0x20000), *range(0xDFF00, 0xE1100)]  # The other planes are letters, or are not assigned.
    page = open_page()
    shown = page.evaluate(
        """async (codes) => {
            const { el } = await import("/dom.js");
            return codes.filter((code) => el("p", {}, String.fromCodePoint(code)).textContent.length > 2);
        }""",
        codes,
    )
    kept = {ord(character) for character in "\t\n\r"}
    assert set(shown) == {code for code in codes if len(visible(chr(code))) > 1} - kept
